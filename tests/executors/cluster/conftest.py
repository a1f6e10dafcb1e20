"""A real scheduler and two worker processes, with two slots each, for all tests of a module."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from reducekit.executors.cluster.connection import Connection
from reducekit.executors.cluster.spec import ClusterSpec
from tests.clusters import local_cluster
from tests.executors.runner import marked


@pytest.fixture(autouse=True)
def _nothing_stays() -> Iterator[None]:
    """No check is left after a test; the workers themselves are."""
    yield
    give_up = time.monotonic() + 10
    while marked() and time.monotonic() < give_up:
        time.sleep(0.01)
    assert marked() == []


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with local_cluster(2, 2) as cluster:
        yield cluster.scheduler_address


@pytest.fixture
def relayed(connection: Connection, monkeypatch: pytest.MonkeyPatch) -> Connection:
    """A connection whose client reaches the workers through the scheduler only."""

    async def refused(address: str, *others: object) -> None:
        raise ConnectionError(f"{address} is behind a firewall")

    monkeypatch.setattr(connection, "_connected", refused)
    return connection


@pytest.fixture
def connection(address: str) -> Iterator[Connection]:
    with Connection(ClusterSpec(address=address, wait=20.0)) as found:
        while len(found.workers) < 2:  # one that a test has killed comes back
            found.refresh()
        yield found
