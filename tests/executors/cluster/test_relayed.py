"""Workers that only the scheduler reaches: the same verdicts, and nothing stays."""

import os
import signal

import pytest

from reducekit.executors.cluster.connection import Connection
from reducekit.executors.cluster.executor import ClusterExecutor
from reducekit.executors.executor import Executor
from reducekit.oracle.criterion import Oracle
from reducekit.oracle.printed import ExitZero
from reducekit.run import Limits
from tests.clusters import on_workers
from tests.executors.runner import NAP, marked, sh

LIMITS = Limits(wall=60.0)
TEXTS = {ticket: b"x" if ticket % 2 else b"y" for ticket in range(4)}
EXPECTED = {ticket: bool(ticket % 2) for ticket in TEXTS}


def opened(connection: Connection, line: str) -> ClusterExecutor:
    made = ClusterExecutor(connection, Oracle((sh(line),), ExitZero()), 4, suffix=".txt")
    made.ready(2)
    return made


def verdicts(executor: Executor, texts: dict[int, bytes]) -> dict[int, bool]:
    for ticket, text in texts.items():
        executor.submit(ticket, text, LIMITS)
    found: dict[int, bool] = {}
    while len(found) < len(texts):
        found |= {each.ticket: each.interesting for each in executor.wait(30)}
    return found


@pytest.mark.slow
def test_verdicts(relayed: Connection) -> None:
    with opened(relayed, 'grep -q x "$1"') as executor:
        for _ in range(5):
            assert verdicts(executor, TEXTS) == EXPECTED
    assert not relayed.client.direct_to_workers


@pytest.mark.slow
def test_cancelled_and_closed(relayed: Connection) -> None:
    with opened(relayed, f'grep -q x "$1" || exec sleep {NAP}') as executor:
        for ticket in range(3):
            executor.submit(ticket, b"y", LIMITS)
        while len(marked()) < 3:
            executor.wait(0.05)
        executor.cancel(0)
        while len(marked()) > 2:
            executor.wait(0.05)
        assert verdicts(executor, {3: b"x"}) == {3: True}
    assert marked() == []


@pytest.mark.slow
def test_a_worker_that_is_killed(relayed: Connection) -> None:
    first = next(iter(on_workers(relayed.address, os.getpid).values()))
    with opened(relayed, 'sleep 1; grep -q x "$1"') as executor:
        for ticket, text in TEXTS.items():
            executor.submit(ticket, text, LIMITS)
        executor.wait(0.1)
        os.kill(first, signal.SIGKILL)
        found: dict[int, bool] = {}
        while len(found) < len(TEXTS):
            found |= {each.ticket: each.interesting for each in executor.wait(30)}
        assert found == EXPECTED
