"""What one task of Dask costs, and a call of an actor: processor time of each side.

`python -m benchmarks.dask_cost`

A call of an actor goes straight to the worker, or is relayed by the scheduler. By that it was
decided that checks are calls of an actor, and only the seeds of hunts are tasks. The second table
has checks that only sleep, on as many local slots and on the cluster.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.cluster import cluster
from reducekit.executors.cluster.connection import Connection
from reducekit.executors.cluster.executor import ClusterExecutor
from reducekit.executors.executor import Executor
from reducekit.executors.local import LocalExecutor
from reducekit.oracle.command import Command
from reducekit.oracle.criterion import ExitZero
from reducekit.oracle.limits import Limits
from reducekit.oracle.oracle import Oracle

WORKERS = 4
CALLS = 1000
IN_FLIGHT = 64
PAYLOAD = b"x" * 300
SLOTS = 16
CHECKS = 400
TEXT = b"(assert true)\n" * 1500


def same(payload: bytes) -> bytes:
    """Return what is given."""
    return payload


class Same:
    """An actor that answers by what it is given."""

    async def same(self, payload: bytes) -> bytes:
        """Return what is given, in the event loop of a worker."""
        return payload


def used(pid: int) -> float:
    """Return the seconds of the processor that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def tasks(client: Any) -> None:
    """Run tasks, many of them at a time."""
    from distributed import as_completed

    waiting: Any = as_completed(  # type: ignore[no-untyped-call]
        [client.submit(same, PAYLOAD, pure=False) for _ in range(IN_FLIGHT)]
    )
    for done, _ in enumerate(waiting):
        if done + IN_FLIGHT < CALLS:
            waiting.add(client.submit(same, PAYLOAD, pure=False))


def calls(client: Any, actors: list[Any], *, direct: bool) -> None:
    """Call actors, as many at a time."""
    left = iter(range(CALLS))

    async def call() -> None:
        for number in left:
            await actors[number % len(actors)].same(PAYLOAD)

    async def call_all() -> None:
        await asyncio.gather(*(call() for _ in range(IN_FLIGHT)))

    client.direct_to_workers = direct
    client.sync(call_all)


def checks(executor: Executor, count: int) -> float:
    """Make checks, as many at a time as there are slots; return how many that are a second."""
    submitted = finished = 0
    begin = time.monotonic()
    while finished < count:
        while submitted < count and submitted - finished < SLOTS:
            executor.submit(submitted, TEXT + b"%d" % submitted, Limits(wall=60.0))
            submitted += 1
        finished += len(executor.wait())
    return count / (time.monotonic() - begin)


def print_checks(connection: Connection) -> None:
    """Print the second table."""
    print("\n| sleep, ms | checks a second, local | on Dask | share |")
    print("|---:|---:|---:|---:|")
    for sleep in (20, 50, 200):
        oracle = Oracle((Command.of(f"sleep {sleep / 1000}; :", shell=True),), ExitZero())
        rates = []
        for make in (
            lambda oracle: LocalExecutor(oracle, SLOTS),
            lambda oracle: ClusterExecutor(connection, oracle, SLOTS),
        ):
            with make(oracle) as executor:
                if isinstance(executor, ClusterExecutor):
                    executor.ready(WORKERS)
                checks(executor, 2 * SLOTS)  # so that all processes are there
                rates.append(checks(executor, CHECKS))
        here, there = rates
        print(f"| {sleep} | {here:.0f} | {there:.0f} | {100 * there / here:.0f} % |", flush=True)


def main() -> None:
    """Print the table."""
    from distributed import Client

    print("| ms of the processor | client | scheduler | workers | together | a second |")
    print("|---|---:|---:|---:|---:|---:|")
    with (
        cluster(WORKERS, WORKERS * 16) as connection,
        Client(connection.address) as client,  # type: ignore[no-untyped-call]
    ):
        actors = [
            client.submit(Same, actor=True, workers=[each]).result() for each in client.nthreads()
        ]
        workers = list(client.run(os.getpid).values())
        sides = [[os.getpid()], [client.run_on_scheduler(os.getpid)], workers]
        rows: dict[str, Callable[[], None]] = {
            "a task": lambda: tasks(client),
            "a call of an actor, relayed": lambda: calls(client, actors, direct=False),
            "a call of an actor, straight": lambda: calls(client, actors, direct=True),
        }
        for name, run in rows.items():
            before, begin = [sum(map(used, side)) for side in sides], time.monotonic()
            run()
            rate = CALLS / (time.monotonic() - begin)
            cost = [
                1000 * (sum(map(used, side)) - first) / CALLS
                for side, first in zip(sides, before, strict=True)
            ]
            cells = " | ".join(f"{each:.2f}" for each in (*cost, sum(cost)))
            print(f"| {name} | {cells} | {rate:,.0f} |", flush=True)
    with cluster(WORKERS, SLOTS) as connection:
        print_checks(connection)


if __name__ == "__main__":
    main()
