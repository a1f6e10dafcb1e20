"""Seeds of a hunt that a cluster's worker tests: the order, the Dask task, and the results."""

from __future__ import annotations

import pickle
import select
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

from reducekit.executors.cluster.checker import checkers
from reducekit.hunt.events import InputResult
from reducekit.hunt.options import HuntOptions
from reducekit.interpreter import own_python
from reducekit.oracle.command import Command

_GLANCE = 0.5  # seconds between two looks whether the client is there


@dataclass(frozen=True, slots=True)
class Order:
    """Seeds to test: the hunt's options, with the client's commands."""

    options: HuntOptions
    commands: tuple[Command, ...]
    """The commands, with placeholders for shipped files; a reference is the last one."""
    known: tuple[Command, ...]
    """The same commands as on the client."""
    directory: str
    """The client's current directory; used here too if it exists."""


class Tested(NamedTuple):
    """The reply to an order: one result for each seed, in order."""

    results: tuple[InputResult, ...] = ()
    seconds: float = 0.0
    failed: str | None = None
    """Why the seeds could not be tested."""


def run(client: str, order: Order) -> Tested:
    """Have a process test the seeds, and end it when the client is gone."""
    folder = checkers[client].folder
    words = own_python("-c", "from reducekit.hunt.chunk_process import main; main()", folder)
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
