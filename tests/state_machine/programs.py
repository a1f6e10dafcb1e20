"""Programs under test: shell scripts, which the machines run in their own process.

A session reads and hashes the script, as it would any program's; only who runs it differs. So a
step costs milliseconds, and `test_programs.py` holds both to the same verdicts.
"""

import signal
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from reducekit.executors.executor import Executor, Finished
from reducekit.oracle.criterion import Oracle
from reducekit.oracle.stack import is_debugger
from reducekit.run import Limits, Outcome

SECONDS = 0.001
"""What each run takes: the same on all machines, as limits follow it."""


@dataclass(frozen=True)
class Program:
    """Fails on the texts that hold all of its words."""

    words: tuple[str, ...]
    kind: Literal["oracle", "command"] = "oracle"
    """An interestingness test, or a program that dies by a signal."""
    number: int = signal.SIGSEGV

    def fails(self, text: bytes) -> bool:
        return all(word.encode() in text for word in self.words)

    @property
    def script(self) -> str:
        tests = [f"grep -qF -- '{word}' \"$1\" || exit {self._passed}" for word in self.words]
        failed = "exit 0" if self.kind == "oracle" else f"kill -{int(self.number)} $$"
        return "\n".join(["#!/bin/sh", *tests, failed, ""])

    @property
    def _passed(self) -> int:
        return 1 if self.kind == "oracle" else 0

    def write(self, path: Path) -> None:
        path.write_text(self.script)
        path.chmod(stat.S_IRWXU)
        _PROGRAMS[self.script] = self

    def run(self, text: bytes, *, lucky: bool = False) -> Outcome:
        """Return how a run ends; if `lucky`, that of one that passes."""
        if lucky or not self.fails(text):
            return Outcome(self._passed, None, b"", b"", None, SECONDS)
        if self.kind == "oracle":
            return Outcome(0, None, b"", b"", None, SECONDS)
        return Outcome(None, int(self.number), b"", b"", None, SECONDS)


_PROGRAMS: dict[str, Program] = {}
"""What each script does that was written."""


class InThisProcess(Executor):
    """Runs scripts, as they are at that moment, in this process.

    `at_check` is called before each check, and says whether the failure does not show this time.
    """

    def __init__(
        self, oracle: Oracle, jobs: int, at_check: Callable[[], bool], *, latest_first: bool = True
    ) -> None:
        self.runs = 0
        self._oracle = oracle
        self._jobs = jobs
        self._at_check = at_check
        self._latest_first = latest_first
        self._waiting: dict[int, bytes] = {}

    @property
    def free(self) -> int:
        return self._jobs - len(self._waiting)

    def submit(self, ticket: int, text: bytes, limits: Limits) -> None:
        self._waiting[ticket] = text

    def wait(self, timeout: float | None = None) -> list[Finished]:
        if not self._waiting:
            return []
        tickets = list(self._waiting)
        ticket = tickets[-1 if self._latest_first else 0]
        lucky = self._at_check()
        text = self._waiting.pop(ticket)
        outcomes: list[Outcome] = []
        judged = None
        for command in self._oracle.commands:
            if is_debugger(command):  # these programs are no processes, so it shows nothing
                outcomes.append(Outcome(0, None, b"", b"", None, 0.0))
            else:
                script = Path(command.words[0]).read_text()
                outcomes.append(_PROGRAMS[script].run(text, lucky=lucky))
            self.runs += 1
            judged = self._oracle.criterion.judge(outcomes)
            if judged is not None:
                break
        return [Finished(ticket, bool(judged), tuple(outcomes))]

    def cancel(self, ticket: int) -> None:
        self._waiting.pop(ticket, None)

    def close(self) -> None:
        self._waiting.clear()
