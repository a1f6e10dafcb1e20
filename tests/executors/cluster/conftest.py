"""A real scheduler and two worker processes, with two slots each, for all tests of a module."""

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
def relayed(connection: Connection) -> Connection:
    """A connection whose client talks to the workers through the scheduler only."""
    connection.client.direct_to_workers = False
    return connection


@pytest.fixture
def connection(address: str) -> Iterator[Connection]:
    with Connection(ClusterSpec(address=address, wait=20.0)) as found:
        while len(found.links) < 2:  # one that a test has killed comes back
            time.sleep(0.05)
        yield found
