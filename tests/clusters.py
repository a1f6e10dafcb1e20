"""Real Dask clusters for tests: a scheduler and worker processes on this machine."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any


@contextmanager
def local_cluster(workers: int, slots: int) -> Iterator[Any]:
    """Start so many worker processes with so many slots each; a killed one comes back."""
    from distributed import LocalCluster

    with LocalCluster(  # type: ignore[no-untyped-call]
        n_workers=workers,
        threads_per_worker=slots,
        dashboard_address=":0",
        memory_limit=0,
        silence_logs=50,
    ) as cluster:
        yield cluster


class Machines:
    """A scheduler and workers in processes of their own; each worker that is killed comes back.

    Dask's own supervisors do that, too, but give up on a worker that is killed while it starts.
    """

    def __init__(self, folder: Path, workers: int) -> None:
        self._folder = folder
        self._about = folder / "scheduler.json"
        self._scheduler = self._start("scheduler", "--host", "127.0.0.1", "--port", "0")
        self._workers = [self._start_worker() for _ in range(workers)]
        self.address = self._address()

    def _address(self) -> str:
        """Wait until the scheduler has written where it is, and not only begun to."""
        while True:
            assert self._scheduler.poll() is None
            with suppress(FileNotFoundError, json.JSONDecodeError):
                return str(json.loads(self._about.read_text())["address"])
            time.sleep(0.05)

    def kill_one(self, choose: random.Random) -> None:
        """Kill a worker, and start another one in its place."""
        at = choose.randrange(len(self._workers))
        self._workers[at].kill()
        self._workers[at].wait()
        self._workers[at] = self._start_worker()

    def add_one(self) -> int:
        """Start another worker; return its PID."""
        self._workers.append(self._start_worker())
        return self._workers[-1].pid

    def kill_all_but_the_last(self) -> None:
        """Kill the workers that were there before the one that was started last."""
        *others, last = self._workers
        for each in others:
            each.kill()
            each.wait()
        self._workers = [last]

    def kill_scheduler(self) -> None:
        self._scheduler.kill()
        self._scheduler.wait()

    def close(self) -> None:
        for each in (*self._workers, self._scheduler):
            each.send_signal(signal.SIGKILL)
            each.wait()

    def _start_worker(self) -> subprocess.Popen[bytes]:
        return self._start("worker", "--no-nanny", "--nthreads", "1", "--memory-limit", "0")

    def _start(self, *words: str) -> subprocess.Popen[bytes]:
        about = ("--scheduler-file", str(self._about), "--no-dashboard")
        return subprocess.Popen(
            [sys.executable, "-m", "dask", *words, *about],
            cwd=self._folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )


@contextmanager
def machines(workers: int) -> Iterator[Machines]:
    """Start a scheduler and workers with a slot each."""
    with tempfile.TemporaryDirectory(prefix="machines-", ignore_cleanup_errors=True) as folder:
        made = Machines(Path(folder), workers)
        try:
            yield made
        finally:
            made.close()


class Killer:
    """Kills workers at random moments while it is open, at most `most`.

    Before each kill it waits until `due`, which takes the number of kills so far: where workers
    take longer to start than from kill to kill, there would be no work to lose.
    """

    def __init__(
        self,
        cluster: Machines,
        most: int,
        pause: float,
        due: Callable[[int], bool] = lambda kills: True,
    ) -> None:
        self.kills = 0
        self._due = due
        self._cluster = cluster
        self._most = most
        self._pause = pause
        self._choose = random.Random(0)
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> Killer:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._stopped.set()
        self._thread.join()

    def _run(self) -> None:
        while self.kills < self._most:
            if self._stopped.wait(self._choose.uniform(0.5, 1.5) * self._pause):
                return
            if not self._due(self.kills):
                continue
            self._cluster.kill_one(self._choose)
            self.kills += 1


def on_workers(address: str, function: Callable[..., Any], *arguments: object) -> dict[str, Any]:
    """Call a function on each worker; return what comes of it by their addresses."""
    from distributed import Client

    with Client(address, set_as_default=False) as client:  # type: ignore[no-untyped-call]
        return dict(client.run(function, *arguments))


def below(pid: int) -> list[int]:
    """Return the processes below one, whichever of its threads has started them."""
    parents: dict[int, list[int]] = {}
    for each in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):
            fields = Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split()
            parents.setdefault(int(fields[1]), []).append(int(each))
    found, waiting = [], [pid]
    while waiting:
        children = parents.get(waiting.pop(), [])
        found += children
        waiting += children
    return found


def processes_with(word: str) -> list[str]:
    """Return the command lines with a word that run, those that end within seconds left out."""
    end = time.monotonic() + 5
    while (found := _running(word)) and time.monotonic() < end:
        time.sleep(0.05)
    return found


def _running(word: str) -> list[str]:
    found = []
    for each in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):
            line = Path(f"/proc/{each}/cmdline").read_bytes()
            if word.encode() in line and int(each) != os.getpid():
                found.append(line.decode(errors="replace"))
    return found
