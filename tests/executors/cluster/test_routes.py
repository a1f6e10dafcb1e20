"""Workers that are reached directly, and those that only the scheduler reaches."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Callable
from typing import Any

import pytest

from reducekit.executors.cluster import remote, routes
from reducekit.executors.cluster.connection import Connection
from reducekit.executors.cluster.executor import ClusterExecutor
from reducekit.executors.cluster.spec import ClusterSpec
from reducekit.executors.executor import Executor, Finished
from reducekit.oracle.criterion import ExitZero
from reducekit.oracle.limits import Limits
from reducekit.oracle.oracle import Oracle
from tests.executors.runner import NAP, marked, sh

LIMITS = Limits(wall=60.0)


def opened(connection: Connection, line: str, told: list[str] | None = None) -> ClusterExecutor:
    said = [] if told is None else told
    oracle = Oracle((sh(line),), ExitZero())
    made = ClusterExecutor(connection, oracle, 4, suffix=".txt", tell=said.append)
    made.ready(2)
    return made


def verdicts(executor: Executor, texts: dict[int, bytes]) -> dict[int, bool]:
    for ticket, text in texts.items():
        executor.submit(ticket, text, LIMITS)
    found: dict[int, bool] = {}
    while len(found) < len(texts):
        found |= {each.ticket: each.interesting for each in executor.wait(30)}
    return found


TEXTS = {ticket: b"x" if ticket % 2 else b"y" for ticket in range(4)}
EXPECTED = {ticket: bool(ticket % 2) for ticket in TEXTS}


def running(count: int, executor: Executor) -> None:
    """Wait until so many checks run."""
    while len(marked()) < count:
        executor.wait(0.05)


def on_worker(connection: Connection, function: Callable[..., Any], *arguments: object) -> Any:
    """Call a function on one of the workers that have a room."""
    address = next(iter(connection.rooms.values()))
    return connection.call(address, function, *arguments, seconds=10).result()


def test_workers_are_reached_directly_where_that_can_be(connection: Connection) -> None:
    with opened(connection, 'grep -q x "$1"') as executor:
        assert connection.direct == set(connection.workers)
        assert verdicts(executor, TEXTS) == EXPECTED
        assert not any(on_worker(connection, _relayed))


def test_otherwise_the_scheduler_relays(relayed: Connection) -> None:
    with opened(relayed, 'grep -q x "$1"') as executor:
        assert relayed.direct == set()
        for _ in range(5):
            assert verdicts(executor, TEXTS) == EXPECTED
        assert all(on_worker(relayed, _relayed))


def _relayed() -> list[bool]:
    return [isinstance(each, remote._RelayedRoom) for each in remote._rooms.values()]


def test_more_workers_than_files_that_may_be_open(connection: Connection) -> None:
    connection._most = 1
    with opened(connection, 'sleep 0.05; grep -q x "$1"') as executor:
        kinds = {type(room.route) for room in executor._rooms.values()}
        assert kinds == {routes.Direct, routes.Relayed}
        assert verdicts(executor, TEXTS) == EXPECTED


def test_cancelled_and_closed_where_the_scheduler_relays(relayed: Connection) -> None:
    with opened(relayed, f'grep -q x "$1" || exec sleep {NAP}') as executor:
        for ticket in range(3):
            executor.submit(ticket, b"y", LIMITS)
        running(3, executor)
        executor.cancel(0)
        while len(marked()) > 2:
            executor.wait(0.05)
        assert verdicts(executor, {3: b"x"}) == {3: True}
    assert marked() == []


def test_a_worker_that_is_killed_where_the_scheduler_relays(relayed: Connection) -> None:
    with opened(relayed, 'sleep 0.2; grep -q x "$1"') as executor:
        for ticket, text in TEXTS.items():
            executor.submit(ticket, text, LIMITS)
        executor.wait(0.1)
        os.kill(on_worker(relayed, os.getpid), signal.SIGKILL)
        found: dict[int, bool] = {}
        while len(found) < 4:
            found |= {each.ticket: each.interesting for each in executor.wait(30)}
        assert found == EXPECTED


def test_a_direct_connection_that_breaks_is_relayed_the_next_time(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    comms: list[Any] = []
    serve = routes.Direct._serve

    async def recorded(self: routes.Direct, comm: Any) -> None:
        comms.append(comm)
        await serve(self, comm)

    monkeypatch.setattr(routes.Direct, "_serve", recorded)
    with opened(connection, 'sleep 0.2; grep -q x "$1"', told) as executor:
        for ticket, text in TEXTS.items():
            executor.submit(ticket, text, LIMITS)
        executor.wait(0.1)
        for each in comms:
            connection.soon(each.abort)
        found: dict[int, bool] = {}
        while len(found) < 4:
            found |= {each.ticket: each.interesting for each in executor.wait(30)}
        assert found == EXPECTED
        assert connection.direct == set()
    assert any("the connection was closed" in each for each in told)


def test_a_worker_that_does_not_know_us_is_not_the_one_that_was_meant(
    connection: Connection,
) -> None:
    with Connection(ClusterSpec(address=connection.address, wait=20.0)) as stranger:
        for address in stranger.workers:
            asyncio.run_coroutine_threadsafe(stranger._reach(address), stranger._loop).result(20)
        assert stranger.direct == set()


def test_checks_end_at_once_when_a_direct_connection_closes(connection: Connection) -> None:
    with opened(connection, f"exec sleep {NAP}") as executor:
        for ticket in range(4):
            executor.submit(ticket, b"y", LIMITS)
        running(4, executor)
        begin = time.monotonic()
        for room in executor._rooms.values():
            room.route.close()
        while marked():
            time.sleep(0.02)
        assert time.monotonic() - begin < remote.LEASE / 2  # not by its end


def test_a_room_without_a_word_from_the_client_is_closed_and_opened_again(
    connection: Connection,
) -> None:
    told: list[str] = []
    with opened(connection, 'grep -q x "$1"', told) as executor:
        assert verdicts(executor, TEXTS) == EXPECTED
        for address in connection.workers:
            connection.call(address, _let_go, seconds=10).result()
        executor.submit(7, b"x", LIMITS)
        found: list[Finished] = []
        while not found:
            found = executor.wait(30)
        assert found[0].interesting
        assert executor.workers
    assert not any("killed" in each for each in told)


async def _let_go() -> None:
    for each in remote._rooms.values():
        each._heard -= remote.LEASE
        each._look()


def test_a_silent_worker_is_given_up_by_looks_not_by_the_clock(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(routes, "PATIENCE", 0.05)
    monkeypatch.setattr(routes, "SLOWNESS", 0.08)
    words: list[routes.Word] = []

    class Silent:
        async def read(self) -> bytes:
            await asyncio.sleep(60)
            return b""

    class Loop:
        """Stands in for a connection: all is in one thread."""

        name, sent = "client", 0

        def attend(self, address: str, opening: object, serve: Any) -> Any:
            return asyncio.get_running_loop().create_task(serve(Silent()))

    async def main() -> None:
        route = routes.Direct(Loop(), "tcp://a", "room", b"", words.append)  # type: ignore[arg-type]
        with pytest.raises(TimeoutError, match="nothing for"):
            await route._serving  # type: ignore[misc]

    asyncio.run(main())
    (word,) = words
    assert isinstance(word.error, TimeoutError)
