"""Runs real checks, and looks in /proc for what they leave behind."""

import os
import resource
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from reducekit.executors.executor import Finished
from reducekit.executors.local import LocalExecutor
from reducekit.oracle.command import Command
from reducekit.oracle.criterion import Criterion, Oracle
from reducekit.run import Limits, Outcome

SECRET = f"REDUCEKIT_TEST_{os.getpid()}"
NAP = f"99.{os.getpid():010d}"
"""Seconds to sleep; the number marks who sleeps so, whatever it did to its environment."""

LIMITS = Limits(wall=30)


@dataclass(frozen=True)
class Captured(Criterion):
    """Exit status 0, with the outputs to look at."""

    captures: bool = True
    wall: float | None = None

    def judge(self, outcomes: Sequence[Outcome]) -> bool:
        return outcomes[0].status == 0 and outcomes[0].limit is None

    def describe(self) -> str:
        return "captured"


def marked() -> list[str]:
    """Return the command lines of all running processes that carry a mark, but ours."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            environment = Path(f"/proc/{pid}/environ").read_bytes()
            line = Path(f"/proc/{pid}/cmdline").read_bytes()
            marked = SECRET.encode() in environment or NAP.encode() in line
            if marked and int(pid) != os.getpid():
                found.append(line.decode())
        except OSError:
            continue
    return found


def sh(script: str, *, stdin: bool = False) -> Command:
    return Command.of(["sh", "-c", script, "sh"], stdin=stdin)


def python(script: str) -> Command:
    return Command.of([sys.executable, "-c", script])


def local(*commands: Command, criterion: Criterion | None = None, jobs: int = 1) -> LocalExecutor:
    oracle = Oracle(commands, criterion or Captured())
    return LocalExecutor(oracle, jobs, ".txt")


def until(executor: LocalExecutor, count: int = 1) -> list[Finished]:
    found: list[Finished] = []
    while len(found) < count:
        found += executor.wait(30)
    return found


def check(command: Command, text: bytes = b"text", limits: Limits = LIMITS) -> Outcome:
    with local(command) as executor:
        executor.submit(7, text, limits)
        (finished,) = until(executor)
        assert finished.ticket == 7
        assert marked() == []  # before the close
        return finished.outcomes[0]


@contextmanager
def lowered(kind: int, soft: int) -> Iterator[None]:
    before = resource.getrlimit(kind)
    resource.setrlimit(kind, (soft, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(kind, before)
