"""Real Dask clusters for tests: a scheduler and worker processes on this machine."""

from __future__ import annotations

import os
import random
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
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


def worker_pids(cluster: Any) -> list[int]:
    """Return the processes of the workers that are there."""
    pids = [each.pid for each in cluster.workers.values()]
    return [each for each in pids if each]


class Killer:
    """Kills workers at random moments while it is open, at most `most`."""

    def __init__(self, cluster: Any, most: int, pause: float) -> None:
        self.kills = 0
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
            pids = worker_pids(self._cluster)
            if pids:
                try:
                    os.kill(self._choose.choice(pids), signal.SIGKILL)
                except ProcessLookupError:
                    continue
                self.kills += 1
