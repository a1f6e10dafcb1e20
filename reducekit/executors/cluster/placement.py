"""Which check is on which worker: plain state, no input and output, so that nothing is lost.

Every check that was submitted is in exactly one of these states: queued, placed on one worker
or two, or gone (finished or cancelled). A worker that is lost gives its checks back.
"""

from __future__ import annotations

import math
from collections import Counter, deque
from dataclasses import dataclass, field
from threading import Lock
from typing import NamedTuple

AHEAD = 4
"""One of so many slots has a check that waits on the worker, so that it never idles."""
TOGETHER = 2
"""So many checks are placed on a worker one after the other, if it has room."""
_LATE = 4.0
"""A check that takes so many times as long as the others is made elsewhere, too."""
_SOON = 1.0  # seconds within which that does not matter


class Load:
    """How many checks each worker has, those of all executors of a connection together."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._checks: Counter[str] = Counter()

    def add(self, worker: str, number: int) -> None:
        """Count checks that a worker has been given, or (below 0) has no longer."""
        with self._lock:
            self._checks[worker] += number

    def __getitem__(self, worker: str) -> int:
        return self._checks[worker]


class Placed(NamedTuple):
    """A check to be sent to a worker."""

    ticket: int
    worker: str


@dataclass(slots=True)
class _Worker:
    """A worker, how many checks it can run at a time, and those that it has since when."""

    slots: int
    most: int
    """With those that wait there."""
    checks: dict[int, float] = field(default_factory=dict)


@dataclass(slots=True)
class Placement:
    """Places checks on workers; times are those of the caller's clock."""

    load: Load = field(default_factory=Load)
    workers: dict[str, _Worker] = field(default_factory=dict)
    _queue: deque[int] = field(default_factory=deque)
    _at: dict[int, list[str]] = field(default_factory=dict)
    """The workers of each check that is not gone: none if it is queued."""
    _mean: float = 0.0
    """Seconds that a check takes, by those of late."""

    def __len__(self) -> int:
        """Return how many checks are not gone."""
        return len(self._at)

    @property
    def queued(self) -> int:
        """How many checks are to be placed."""
        return len(self._queue)

    @property
    def slots(self) -> int:
        """How many checks can run at a time."""
        return sum(each.slots for each in self.workers.values())

    def add_worker(self, name: str, slots: int, *, ahead: bool = True) -> None:
        """Take in a worker; `ahead`: some more checks than it has slots may wait there."""
        self.workers[name] = _Worker(slots, slots + math.ceil(slots / AHEAD) * ahead)

    def remove_worker(self, name: str) -> int:
        """Let a worker go; return how many checks are queued again for that, before others."""
        worker = self.workers.pop(name, None)
        if worker is None:
            return 0
        self.load.add(name, -len(worker.checks))
        again = []
        for ticket in worker.checks:
            self._at[ticket].remove(name)
            if not self._at[ticket]:
                again.append(ticket)
        self._queue.extendleft(reversed(again))
        return len(again)

    def submit(self, ticket: int) -> None:
        """Queue a check."""
        self._queue.append(ticket)
        self._at[ticket] = []

    def cancel(self, ticket: int) -> list[str]:
        """Forget a check; return the workers that have it."""
        places = self._at.pop(ticket, [])
        if ticket in self._queue:
            self._queue.remove(ticket)
        for each in places:
            self._take(ticket, each)
        return places

    def finish(self, ticket: int, worker: str, now: float) -> list[str] | None:
        """Take in that a worker has finished a check; return the others that have it, too.

        None if the check was gone already.
        """
        if worker not in self._at.get(ticket, ()):
            return None
        seconds = now - self.workers[worker].checks[ticket]
        self._mean = seconds if not self._mean else 0.95 * self._mean + 0.05 * seconds
        return [each for each in self.cancel(ticket) if each != worker]

    def put_back(self, ticket: int, worker: str) -> None:
        """Queue a check again that a worker has finished without a verdict to rely on."""
        if worker in self._at.get(ticket, ()):
            self._take(ticket, worker)
            self._at[ticket].remove(worker)
            if not self._at[ticket]:
                self._queue.appendleft(ticket)

    def place(self, now: float, spared: dict[int, str] | None = None) -> list[Placed]:
        """Place what is queued: on idle slots first, then a few to wait on busy workers.

        Where slots stay idle, checks that are late are placed a second time. `spared` names
        checks with a worker that is not to have them.
        """
        found: list[Placed] = []
        if not self.workers:
            return found
        spared = spared or {}
        kept = []
        while self._queue:
            ticket = self._queue.popleft()
            # Some after the other go to the same worker: they share a message.
            worker: str | None = found[-1].worker if len(found) % TOGETHER else None
            if worker is None or self._room(worker) < 1 or spared.get(ticket) == worker:
                worker = self._roomiest(ticket, spared)
            if worker is None:
                kept.append(ticket)
                break
            found.append(self._put(ticket, worker, now))
        self._queue.extendleft(reversed(kept))
        if not self._queue and self._mean:
            found += self._late(now)
        return found

    def _roomiest(self, ticket: int, spared: dict[int, str]) -> str | None:
        """Return the worker with the most idle slots, or with the least that waits on it."""
        avoided = spared.get(ticket) if len(self.workers) > 1 else None
        name = max(
            (each for each in self.workers if each != avoided),
            key=lambda each: self._room(each) / self.workers[each].slots,
        )
        worker = self.workers[name]
        return name if len(worker.checks) < worker.most else None

    def _room(self, name: str) -> int:
        """Return how many slots of a worker are idle; below 0: how many checks wait there."""
        return self.workers[name].slots - self.load[name]

    def _take(self, ticket: int, name: str) -> None:
        del self.workers[name].checks[ticket]
        self.load.add(name, -1)

    def _put(self, ticket: int, name: str, now: float) -> Placed:
        self.workers[name].checks[ticket] = now
        self.load.add(name, 1)
        self._at[ticket].append(name)
        return Placed(ticket, name)

    def _late(self, now: float) -> list[Placed]:
        """Place a second time what takes much longer than usual on one worker."""
        idle = [name for name in self.workers if self._room(name) > 0]
        if not idle:
            return []
        since = now - max(_SOON, _LATE * self._mean)
        late = [
            (begin, ticket, name)
            for name, worker in self.workers.items()
            for ticket, begin in worker.checks.items()
            if begin < since and len(self._at[ticket]) == 1
        ]
        found = []
        for _, ticket, name in sorted(late):
            others = [each for each in idle if each != name and self._room(each) > 0]
            if others:
                found.append(self._put(ticket, others[0], now))
        return found
