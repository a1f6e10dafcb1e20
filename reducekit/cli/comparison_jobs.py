"""Several runs at a time, one check of each: threads that take turns, and one executor."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from typing import Generic, TypeVar

from reducekit.executors.executor import Executor, Finished
from reducekit.journal import digest
from reducekit.oracle.limits import Limits

T = TypeVar("T")


class _Part(Executor, Generic[T]):
    """A run in a thread of its own, and the executor that it sees, for one check at a time.

    Either its thread works or the one that calls `resume`, never both: the thread works until
    it waits for its check, or ends.
    """

    def __init__(self, task: Callable[[Executor], T]) -> None:
        self._task = task
        self._mine, self._theirs = threading.Semaphore(0), threading.Semaphore(0)
        self._finished: list[Finished] = []
        self._stopped = False
        self.wanted: tuple[int, bytes, Limits] | None = None
        """The check that it waits for: ticket, text, limits."""
        self.result: list[T] = []
        self.failure: BaseException | None = None
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def _work(self) -> None:
        try:
            self._mine.acquire()
            if not self._stopped:
                self.result.append(self._task(self))
        except BaseException as failure:  # it is raised again where the turns are given
            self.failure = failure
        self.wanted = None
        self._theirs.release()

    def resume(self, finished: Finished | None = None) -> None:
        """Let the thread work, with the check that has finished, until it waits or ends."""
        self._finished = [] if finished is None else [finished]
        self._mine.release()
        self._theirs.acquire()

    def stop(self) -> None:
        """End the thread where it waits, or where it will next."""
        self._stopped = True
        self._mine.release()
        self._thread.join()

    @property
    def free(self) -> int:
        """How many checks may be submitted now."""
        return int(self.wanted is None)

    def submit(self, ticket: int, text: bytes, limits: Limits) -> None:
        """Ask for a check: it starts when this thread waits for it."""
        self.wanted = ticket, text, limits

    def wait(self, timeout: float | None = None) -> list[Finished]:
        """Let others work until the check has finished; `timeout` is not needed here."""
        if self.wanted is None:
            return []
        self._theirs.release()
        self._mine.acquire()
        if self._stopped:
            raise KeyboardInterrupt
        ticket, _, _ = self.wanted
        self.wanted = None
        return [replace(each, ticket=ticket) for each in self._finished]

    def cancel(self, ticket: int) -> None:
        """Forget a check that has not started."""
        self.wanted = None

    def close(self) -> None:
        """There is nothing to close."""


def side_by_side(
    executor: Executor, jobs: int, tasks: Sequence[Callable[[Executor], T]]
) -> Generator[tuple[int, T], None, None]:
    """Run tasks, at most `jobs` at a time; yield the number and result of each as it ends.

    A task gets an executor for one check at a time. A text is run once for all of them. The
    `executor` is only used by the thread that calls this.
    """
    waiting = deque(enumerate(tasks))
    active: dict[_Part[T], int] = {}
    known: dict[bytes, Finished] = {}
    running: dict[bytes, tuple[int, list[_Part[T]]]] = {}
    """By text: the ticket, and who waits for it."""
    tickets = 0
    ready: deque[tuple[_Part[T], Finished | None]] = deque()
    try:
        while waiting or active:
            while waiting and len(active) < jobs:
                number, task = waiting.popleft()
                part = _Part(task)
                active[part] = number
                ready.append((part, None))
            while ready:
                part, finished = ready.popleft()
                part.resume(finished)
                if part.failure is not None:
                    del active[part]
                    raise part.failure
                if part.result:
                    yield active.pop(part), part.result[0]
                    continue
                assert part.wanted is not None
                _, text, limits = part.wanted
                key = digest(text)
                if key in known:
                    ready.append((part, known[key]))
                elif key in running:
                    running[key][1].append(part)
                else:
                    tickets += 1
                    running[key] = tickets, [part]
                    executor.submit(tickets, text, limits)
            if running:
                ended = {each.ticket: each for each in executor.wait()}
                for key in [key for key, (ticket, _) in running.items() if ticket in ended]:
                    ticket, parts = running.pop(key)
                    known[key] = ended[ticket]
                    ready.extend((each, ended[ticket]) for each in parts)
    finally:
        for part in active:
            part.stop()
