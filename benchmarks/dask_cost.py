"""What one task of Dask costs, and a message there and back: processor time of each side.

`python -m benchmarks.dask_cost`

A message is relayed by the scheduler (`Client.run`), or goes straight to the worker. By that it was
decided that checks are messages, which go straight where they can, and only the seeds of hunts are
tasks.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.cluster import cluster

WORKERS = 4
TASKS = 1000
IN_FLIGHT = 64
PAYLOAD = b"x" * 300


def same(payload: bytes) -> bytes:
    """Return what is given."""
    return payload


async def same_soon(payload: bytes) -> bytes:
    """Return what is given, in the event loop of a worker."""
    return payload


def answer_same(dask_worker: Any = None) -> None:
    """Have a worker answer each message of a connection by the same."""
    from distributed.core import Status

    async def handle(comm: Any) -> Any:
        with contextlib.suppress(OSError):
            while True:
                await comm.write(await comm.read())
        return Status.dont_reply

    dask_worker.handlers["same"] = handle


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
        if done + IN_FLIGHT < TASKS:
            waiting.add(client.submit(same, PAYLOAD, pure=False))


def messages(client: Any) -> None:
    """Send messages, one to each worker at a time."""

    async def send(address: str) -> None:
        for _ in range(TASKS // WORKERS):
            await client.run(same_soon, PAYLOAD, workers=[address])

    async def send_all() -> None:
        await asyncio.gather(*map(send, addresses))

    addresses = list(client.nthreads())
    client.sync(send_all)


def straight(client: Any) -> None:
    """Send messages by a connection to each worker, one at a time."""
    from distributed.comm import connect  # type: ignore[attr-defined]

    async def send(address: str) -> None:
        security = client.security.get_connection_args("client")
        comm = await connect(address, **security)  # type: ignore[no-untyped-call]
        await comm.write({"op": "same"})
        for _ in range(TASKS // WORKERS):
            await comm.write(PAYLOAD)
            await comm.read()
        await comm.close()

    async def send_all() -> None:
        await asyncio.gather(*map(send, addresses))

    addresses = list(client.nthreads())
    client.run(answer_same)
    client.sync(send_all)


def main() -> None:
    """Print the table."""
    from distributed import Client

    print("| ms of the processor | client | scheduler | workers | together |")
    print("|---|---:|---:|---:|---:|")
    with (
        cluster(WORKERS, WORKERS * 16) as connection,
        Client(connection.address) as client,  # type: ignore[no-untyped-call]
    ):
        workers = list(client.run(os.getpid).values())
        sides = [[os.getpid()], [client.run_on_scheduler(os.getpid)], workers]
        rows: dict[str, Callable[[Any], None]] = {
            "a task": tasks,
            "a message, relayed": messages,
            "a message, straight": straight,
        }
        for name, run in rows.items():
            before = [sum(map(used, side)) for side in sides]
            run(client)
            cost = [
                1000 * (sum(map(used, side)) - first) / TASKS
                for side, first in zip(sides, before, strict=True)
            ]
            print(f"| {name} | " + " | ".join(f"{each:.2f}" for each in (*cost, sum(cost))) + " |")


if __name__ == "__main__":
    main()
