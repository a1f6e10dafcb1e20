"""Workers that stop, schedulers that go and come back, disks that are full: no verdict is wrong."""

import json
import os
import pickle
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from multiprocessing import Pipe
from pathlib import Path
from typing import Any

import pytest

from reducekit.errors import UsageError
from reducekit.executors.cluster import checking
from reducekit.executors.cluster import connection as connection_module
from reducekit.executors.cluster.checking import LEASE, Check, NewText, Server, Setup
from reducekit.executors.cluster.connection import Connection
from reducekit.executors.cluster.executor import ClusterExecutor
from reducekit.executors.cluster.spec import ClusterSpec, start
from reducekit.executors.executor import Executor, ExecutorError, Finished
from reducekit.oracle.criterion import Oracle
from reducekit.oracle.printed import ExitZero
from reducekit.run import Limits
from tests.acceptance.torture import command_line
from tests.clusters import below, on_workers
from tests.executors.runner import NAP, marked, sh

LIMITS = Limits(wall=60.0)
ORACLE = Oracle((sh('grep -q x "$1"'),), ExitZero())


def until(it: Executor, count: int) -> dict[int, bool]:
    found: list[Finished] = []
    while len(found) < count:
        found += it.wait(30)
    return {each.ticket: each.interesting for each in found}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["connection", "relayed"])
def test_a_worker_that_is_stopped_loses_its_checks(
    kind: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection: Connection = request.getfixturevalue(kind)
    monkeypatch.setattr(connection_module, "PATIENCE", 1.0)
    monkeypatch.setattr(connection_module, "_RENEWING", 0.3)
    pid = next(iter(on_workers(connection.address, os.getpid).values()))
    with ClusterExecutor(connection, ORACLE, 4) as it:
        it.ready(2)
        os.kill(pid, signal.SIGSTOP)
        try:
            for ticket in range(4):
                it.submit(ticket, b"x" if ticket % 2 else b"y", LIMITS)
            assert until(it, 4) == {0: False, 1: True, 2: False, 3: True}
        finally:
            os.kill(pid, signal.SIGCONT)


@pytest.mark.slow
def test_a_killed_checking_process_is_started_again(connection: Connection) -> None:
    oracle = Oracle((sh(f'grep -q x "$1" || sleep {NAP}'),), ExitZero())
    with ClusterExecutor(connection, oracle, 2) as it:
        it.submit(0, b"y", LIMITS)
        while not marked():
            it.wait(0.05)
        killed = _checking_processes(connection)
        assert killed
        for pid in killed:
            os.kill(pid, signal.SIGKILL)
        while marked():  # what it ran ends with it
            time.sleep(0.02)
        it.cancel(0)
        it.submit(1, b"x", LIMITS)
        assert until(it, 1) == {1: True}


def _checking_processes(connection: Connection) -> list[int]:
    """Return those below our workers: tests that run at the same time have theirs."""
    workers = on_workers(connection.address, os.getpid).values()
    found = [pid for each in workers for pid in below(each)]
    return [pid for pid in found if "cluster.checking" in command_line(pid)]


def test_a_full_disk_is_no_verdict(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(checking, "_FREE", 1 << 62)
    orders, give = Pipe(duplex=False)
    take, reports = Pipe(duplex=False)
    whole = NewText.of(b"y", None)
    setup = Setup(ORACLE, 1, "", "", str(tmp_path))
    with orders, give, take, reports:
        serving = threading.Thread(target=served, args=(orders, reports, str(tmp_path)))
        serving.start()
        give.send((1, [setup, whole, Check(7, whole, LIMITS)]))
        number, report = take.recv()
        give.close()
        serving.join()
    report = pickle.loads(report)
    assert number == 7
    assert report.finished is None
    assert "is full" in report.failed


def served(*arguments: Any) -> None:
    with suppress(EOFError):
        Server(*arguments).run()


class Machine:
    """A scheduler at a fixed port with a worker; both can be killed and started again."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.address = f"tcp://127.0.0.1:{probe.getsockname()[1]}"
        self._folder = folder
        self._processes: list[subprocess.Popen[bytes]] = []

    def start(self) -> None:
        port = self.address.rpartition(":")[2]
        for words in (
            ["scheduler", "--host", "127.0.0.1", "--port", port, "--no-dashboard"],
            ["worker", self.address, "--nthreads", "2", "--no-nanny", "--no-dashboard"],
        ):
            self._processes.append(
                subprocess.Popen(
                    [sys.executable, "-m", "dask", *words],
                    cwd=self._folder,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                )
            )

    def kill(self) -> None:
        for each in self._processes:
            each.kill()
            each.wait()
        self._processes.clear()


@contextmanager
def machine(folder: Path) -> Iterator[Machine]:
    with ExitStack() as stack:
        made = Machine(folder)
        stack.callback(made.kill)
        made.start()
        yield made


@pytest.mark.slow
def test_a_scheduler_that_comes_back(tmp_path: Path) -> None:
    told: list[str] = []
    oracle = Oracle((sh('sleep 0.3; grep -q x "$1"'),), ExitZero())
    with (
        machine(tmp_path) as made,
        Connection(ClusterSpec(address=made.address, wait=60.0)) as connection,
        ClusterExecutor(connection, oracle, 2, tell=told.append) as it,
    ):
        it.submit(0, b"x", LIMITS)
        it.submit(1, b"y", LIMITS)
        it.wait(0.1)
        made.kill()
        made.start()
        assert until(it, 2) == {0: True, 1: False}
    assert any("made elsewhere" in each for each in told)


@pytest.mark.slow
def test_a_scheduler_that_does_not_come_back(tmp_path: Path) -> None:
    told: list[str] = []
    with (
        machine(tmp_path) as made,
        Connection(ClusterSpec(address=made.address, wait=20.0)) as connection,
    ):
        object.__setattr__(connection.spec, "wait", 1.0)
        with ClusterExecutor(connection, ORACLE, 2, tell=told.append) as it:
            made.kill()
            it.submit(0, b"x", LIMITS)
            with pytest.raises(ExecutorError, match="no worker of the cluster came back in 1 s"):
                until(it, 1)
    assert any("waiting for 1 s" in each for each in told)


def test_where_no_scheduler_is(tmp_path: Path) -> None:
    spec = ClusterSpec(address="tcp://127.0.0.1:9", wait=0.5)
    with pytest.raises(UsageError, match=r"the cluster at tcp://127\.0\.0\.1:9 cannot be used"):
        Connection(spec)


def test_a_cluster_file(tmp_path: Path) -> None:
    path = tmp_path / "cluster.yaml"
    described = {"cluster": "distributed.LocalCluster", "workers": 2, "wait": 5}
    path.write_text(json.dumps({**described, "arguments": {"n_workers": 0}}))  # JSON is YAML
    spec = ClusterSpec.parse(str(path))
    assert (spec.make, spec.workers, spec.wait) == ("distributed.LocalCluster", 2, 5.0)
    assert spec.arguments == {"n_workers": 0}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no fields"),
        ("cluster: [", "is no YAML"),
        ("queue: x", "has a field 'queue': known are address, cluster"),
        ("cluster: 3", "'cluster' in the cluster file .* cannot be 3"),
        ("workers: 3", "needs one of `address`"),
        ("{address: 'tcp://x:1', cluster: a.B}", "needs one of `address`"),
    ],
)
def test_a_cluster_file_that_cannot_be_used(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "cluster.yaml"
    path.write_text(text)
    with pytest.raises(UsageError, match=message):
        ClusterSpec.parse(str(path))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        ("dask_nowhere.SLURMCluster", "there is no Dask cluster .* pip install dask-nowhere"),
        ("distributed.NoCluster", "there is no Dask cluster"),
        ("distributed.LocalCluster", "cannot be started: .*[Uu]nknown"),
    ],
)
def test_a_cluster_that_cannot_be_started(make: str, message: str) -> None:

    arguments = {"protocol": "unknown", "n_workers": 1, "silence_logs": 50}
    with pytest.raises(UsageError, match=message):
        start(ClusterSpec(make=make, arguments=arguments))


CLIENT = """
import sys
from reducekit.session import Options, Session
options = Options(input=b"x", format="text", oracle=sys.argv[2:], cluster=sys.argv[1])
Session(options).run()
"""


@pytest.mark.slow
def test_no_check_outlives_a_killed_client_for_long(connection: Connection) -> None:
    words = [sys.executable, "-c", CLIENT, connection.address, "sh", "-c", f"exec sleep {NAP}"]
    client = subprocess.Popen(words)
    while not any(line.startswith("sleep") for line in marked()):
        assert client.poll() is None
        time.sleep(0.05)
    client.kill()
    client.wait()
    end = time.monotonic() + 60
    while marked() and time.monotonic() < end:
        time.sleep(0.1)
    assert marked() == []


def test_a_checker_without_a_check_ends_at_once_with_its_client(connection: Connection) -> None:
    before = set(_checking_processes(connection))
    words = [sys.executable, "-c", IDLE, connection.address]
    client = subprocess.Popen(words, stdout=subprocess.PIPE)
    assert client.stdout is not None
    assert client.stdout.readline() == b"there\n"
    its = set(_checking_processes(connection)) - before
    assert len(its) == 2
    client.kill()
    client.wait()
    begin = time.monotonic()
    while set(_checking_processes(connection)) & its:
        time.sleep(0.05)
    assert time.monotonic() - begin < LEASE / 2  # not by its end


IDLE = """
import sys, time
from reducekit.executors.cluster.connection import Connection
from reducekit.executors.cluster.spec import ClusterSpec
connection = Connection(ClusterSpec(address=sys.argv[1]))
while len(connection.links) < 2:
    time.sleep(0.05)
print("there", flush=True)
time.sleep(600)
"""


@pytest.mark.slow
def test_a_client_that_is_stopped_for_a_while_gives_up_no_worker(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection_module, "PATIENCE", 1.0)
    monkeypatch.setattr(connection_module, "_RENEWING", 0.0)
    links = dict(connection.links)
    connection._loop.call_soon_threadsafe(time.sleep, 4.0)
    with ClusterExecutor(connection, ORACLE, 2) as it:
        it.submit(0, b"x", LIMITS)
        assert until(it, 1) == {0: True}
        assert connection.links == links


@pytest.mark.slow
def test_a_client_that_was_not_heard_of_starts_its_checkers_again(connection: Connection) -> None:
    told: list[str] = []
    links = dict(connection.links)
    with ClusterExecutor(connection, ORACLE, 2, tell=told.append) as it:
        connection._loop.call_soon_threadsafe(time.sleep, LEASE + 3)
        it.submit(0, b"x", LIMITS)
        it.submit(1, b"y", LIMITS)
        assert until(it, 2) == {0: True, 1: False}
        assert connection.links != links
    assert not any("killed" in each for each in told)
