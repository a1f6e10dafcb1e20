"""Seeds of a hunt that a worker of a cluster tests: the order, the Dask task, and the results."""

from __future__ import annotations

import pickle
import select
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

from reducekit.executors.cluster.checker import checkers
from reducekit.hunt.options import HuntOptions
from reducekit.hunt.results import InputResult
from reducekit.oracle.command import Command

_GLANCE = 0.5  # seconds between two looks whether the client is there


@dataclass(frozen=True, slots=True)
class Order:
    """Seeds to test: those that the options name, with the client's commands."""

    options: HuntOptions
    commands: tuple[Command, ...]
    """With placeholders for the files that are sent along; a reference is the last command."""
    known: tuple[Command, ...]
    """The same commands as the client has them."""
    directory: str
    """The client's current directory; used here too if it exists."""


class Tested(NamedTuple):
    """The result of an order: one result for each seed, in order."""

    results: tuple[InputResult, ...] = ()
    seconds: float = 0.0
    failed: str | None = None
    """Why the seeds could not be tested."""


def run(client: str, order: Order) -> Tested:
    """Have the seeds tested by a process for as long as the client is there."""
    folder = checkers[client].folder
    words = [sys.executable, "-c", "from reducekit.hunt.chunk_process import main; main()", folder]
    process = subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    )
    assert process.stdin is not None
    assert process.stdout is not None
    with process, suppress(BrokenPipeError):
        process.stdin.write(pickle.dumps(order))
        process.stdin.flush()
        while not select.select([process.stdout], [], [], _GLANCE)[0]:
            if client not in checkers:
                process.stdin.close()
        found = process.stdout.read()
        if found:
            results: Tested = pickle.loads(found)
            return results
    return Tested(failed="the process that tests ended without a result")
