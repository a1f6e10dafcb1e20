"""Machines with addresses of their own, by network namespaces: one is cut off in the middle.

Each worker is in a namespace with its own network card and address, joined to ours by a bridge.
That needs root and iproute2, as CI has them.
"""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from reducekit.executors.cluster import connection as connection_module
from reducekit.executors.cluster.connection import Connection
from reducekit.executors.cluster.executor import ClusterExecutor
from reducekit.executors.cluster.spec import ClusterSpec
from reducekit.oracle.criterion import Oracle
from reducekit.oracle.printed import ExitZero
from reducekit.run import Limits
from reducekit.session import Options, Session
from tests.executors.runner import sh

WORKERS = 4
TEXT = b"".join(b"(assert (> x%d %d))\n" % (each, each * each % 97) for each in range(30))
ORACLE = ["sh", "-c", 'sleep 0.05; grep -q " x7 " "$1" && grep -q " x21 " "$1"', "sh"]


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)


def possible() -> bool:
    """Say whether namespaces can be made here."""
    if os.geteuid() or shutil.which("ip") is None:
        return False
    name = f"rk{os.getpid()}"
    try:
        ip("netns", "add", name)
        ip("link", "add", name, "type", "bridge")
    except (subprocess.CalledProcessError, OSError):
        return False
    finally:
        for words in (("link", "del", name), ("netns", "del", name)):
            with suppress(subprocess.CalledProcessError):
                ip(*words)
    return True


pytestmark = [
    pytest.mark.slow,
    pytest.mark.nightly,
    pytest.mark.skipif(not possible(), reason="needs root, iproute2 and network namespaces"),
]


@dataclass
class Network:
    """A scheduler at our end of a bridge, and workers behind it."""

    address: str
    cards: list[str]
    """Our ends of the workers' cables."""


@pytest.fixture
def network(tmp_path: Path) -> Iterator[Network]:
    number = os.getpid() % 250
    bridge, net = f"rkb{os.getpid()}", f"10.213.{number}"
    with ExitStack() as stack:

        def add(*words: str, undo: tuple[str, ...]) -> None:
            ip(*words)
            stack.callback(lambda: subprocess.run(["ip", *undo], capture_output=True))

        def start(*words: str) -> None:
            process = subprocess.Popen(
                words, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            stack.callback(process.wait)
            stack.callback(process.kill)

        dask = (sys.executable, "-m", "dask")
        add("link", "add", bridge, "type", "bridge", undo=("link", "del", bridge))
        ip("addr", "add", f"{net}.1/24", "dev", bridge)
        ip("link", "set", bridge, "up")
        address, cards = f"tcp://{net}.1:8786", []
        start(*dask, "scheduler", "--host", f"{net}.1", "--port", "8786", "--no-dashboard")
        for worker in range(WORKERS):
            space, card = f"rk{os.getpid()}-{worker}", f"rkv{os.getpid()}{worker}"
            add("netns", "add", space, undo=("netns", "del", space))
            peer = ("type", "veth", "peer", "name", "eth0", "netns", space)
            add("link", "add", card, *peer, undo=("link", "del", card))
            ip("link", "set", card, "master", bridge, "up")
            ip("-n", space, "addr", "add", f"{net}.{10 + worker}/24", "dev", "eth0")
            ip("-n", space, "link", "set", "eth0", "up")
            ip("-n", space, "link", "set", "lo", "up")
            words = ("worker", address, "--no-nanny", "--nthreads", "1", "--no-dashboard")
            start("ip", "netns", "exec", space, *dask, *words)
            cards.append(card)
        yield Network(address, cards)


def test_the_same_bytes_as_here_with_a_worker_cut_off(
    network: Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection_module, "PATIENCE", 1.5)
    monkeypatch.setattr(connection_module, "_RENEWING", 0.5)
    options = {"input": TEXT, "format": "text", "oracle": ORACLE, "width": 6}
    here = Session(Options(**options, jobs=2)).run()  # type: ignore[arg-type]
    with Connection(ClusterSpec(address=network.address)) as connection:
        while len(connection.workers) < WORKERS:
            time.sleep(0.05)
        hosts = {each.rpartition(":")[0] for each in connection.workers}
        assert len(hosts) == WORKERS
        oracle = Oracle((sh('sleep 0.2; grep -q x "$1"'),), ExitZero())
        with ClusterExecutor(connection, oracle, 8) as it:
            it.ready(WORKERS)
            for ticket in range(8):
                it.submit(ticket, b"x" if ticket % 2 else b"y", Limits(wall=60.0))
            it.wait(0.0)
            time.sleep(0.05)
            ip("link", "set", network.cards[0], "down")
            found: dict[int, bool] = {}
            while len(found) < 8:
                found |= {each.ticket: each.interesting for each in it.wait(30)}
        # Whether the worker was given up or only waited for in vain, its checks ran elsewhere.
        assert found == {ticket: bool(ticket % 2) for ticket in range(8)}
    there = Session(Options(**options, cluster=network.address)).run()  # type: ignore[arg-type]
    assert there.text == here.text
    assert there.counts.checks == here.counts.checks


CLIENT = """
import sys
from reducekit.executors.cluster.connection import Connection
from reducekit.executors.cluster.executor import ClusterExecutor
from reducekit.executors.cluster.spec import ClusterSpec
from reducekit.oracle.printed import ExitZero
from reducekit.run import Limits
from reducekit.oracle.criterion import Oracle
from tests.executors.runner import sh

with Connection(ClusterSpec(address=sys.argv[1])) as connection:
    oracle = Oracle((sh('grep -q x "$1"'),), ExitZero())
    with ClusterExecutor(connection, oracle, 2) as it:
        it.submit(0, b"x", Limits(wall=60.0))
        it.submit(1, b"y", Limits(wall=60.0))
        found = {}
        while len(found) < 2:
            found |= {each.ticket: each.interesting for each in it.wait(30)}
    print(sorted(found.items()), "direct" if connection.client.direct_to_workers else "relayed")
"""


def test_the_scheduler_relays_where_the_workers_cannot_be_reached(network: Network) -> None:
    space, card, net = f"rk{os.getpid()}-c", f"rkc{os.getpid()}", f"10.214.{os.getpid() % 250}"
    with ExitStack() as stack:
        ip("netns", "add", space)
        stack.callback(lambda: ip("netns", "del", space))
        ip("link", "add", card, "type", "veth", "peer", "name", "eth0", "netns", space)
        ip("addr", "add", f"{net}.1/30", "dev", card)
        ip("link", "set", card, "up")
        ip("-n", space, "addr", "add", f"{net}.2/30", "dev", "eth0")
        ip("-n", space, "link", "set", "eth0", "up")
        # To the scheduler, which is on this machine; the workers know no way back.
        ip("-n", space, "route", "add", "default", "via", f"{net}.1")
        words = ["ip", "netns", "exec", space, sys.executable, "-c", CLIENT, network.address]
        done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stdout == "[(0, True), (1, False)] relayed\n"
