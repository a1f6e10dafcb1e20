"""One oracle for several sessions in threads: each text runs once, whichever session asks.

A verdict is a fact about a text, so the compared algorithms can share it: a text that one has tried
costs the next nothing, and all get the same verdicts. Each session still counts its own checks, so
its counts are as if it ran alone, whatever the number of threads.
"""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import dataclass, replace
from typing import NamedTuple

from reducekit.executors.executor import Executor, Finished
from reducekit.journal import digest
from reducekit.oracle.criterion import Everything, verdict
from reducekit.oracle.limits import Limits
from reducekit.oracle.oracle import Oracle
from reducekit.session.options import Opener


class _Key(NamedTuple):
    """Identifies a text. The golden run checks one text several times: those are numbered."""

    text: bytes
    golden_run: int | None


@dataclass(frozen=True, slots=True)
class _Check:
    """What a session waits for."""

    ticket: int
    key: _Key
    text: bytes
    limits: Limits


class SharedOracle:
    """Stores the verdicts of one case; `opener` opens the executor that runs unknown texts.

    Invariant: for each key in `_running`, exactly one client has a check in its own executor.
    """

    def __init__(self, opener: Opener) -> None:
        self._opener = opener
        self._changed = threading.Condition()
        self._known: dict[_Key, Finished] = {}
        self._running: set[_Key] = set()

    def open(self, oracle: Oracle, jobs: int = 1) -> Executor:
        """Open an executor for one session; it runs one check at a time."""
        return _Client(self, oracle)


class _Client(Executor):
    """The view of one session: its own executor, which is opened for the first unknown text."""

    def __init__(self, shared: SharedOracle, oracle: Oracle) -> None:
        self._shared = shared
        self._oracle = oracle
        self._golden = isinstance(oracle.criterion, Everything)
        self._asked = Counter[bytes]()
        self._inner: Executor | None = None
        self._check: _Check | None = None
        self._mine = False
        """Whether the check was submitted to the inner executor."""

    @property
    def free(self) -> int:
        return int(self._check is None)

    def submit(self, ticket: int, text: bytes, limits: Limits) -> None:
        stands_for = digest(text)
        number = self._asked[stands_for] if self._golden else None
        self._asked[stands_for] += 1
        self._check = _Check(ticket, _Key(stands_for, number), text, limits)

    def wait(self, timeout: float | None = None) -> list[Finished]:
        check = self._check
        if check is None:
            return []
        if not self._mine:
            known = self._known_or_claimed(check.key, timeout)
            if known is not None:
                self._check = None
                return [replace(known, ticket=check.ticket)]
            if not self._mine:
                return []
        try:
            finished = self._started(check).wait(timeout)
        except BaseException:
            self.cancel(check.ticket)
            raise
        if finished:
            self._release(check.key, finished[0])
            self.runs = self._inner.runs if self._inner else 0
        return finished

    def cancel(self, ticket: int) -> None:
        """Forget the check; another session that waits for it then runs it."""
        check = self._check
        if check is None or check.ticket != ticket:
            return
        if self._inner is not None:
            self._inner.cancel(ticket)
        self._release(check.key, None)

    def close(self) -> None:
        if self._check is not None:
            self.cancel(self._check.ticket)
        if self._inner is not None:
            self._inner.close()

    def _started(self, check: _Check) -> Executor:
        """Return the executor that runs the check; starts the check if necessary."""
        if self._inner is None:
            self._inner = self._shared._opener(self._oracle, 1)
        if self._inner.free:
            self._inner.submit(check.ticket, check.text, check.limits)
        return self._inner

    def _known_or_claimed(self, key: _Key, timeout: float | None) -> Finished | None:
        """Return the verdict; None if this session is to run the check, or on timeout."""
        shared = self._shared
        with shared._changed:
            if key in shared._running:
                shared._changed.wait(timeout)
            known = shared._known.get(key) or self._from_golden_run(key)
            if known is None and key not in shared._running:
                shared._running.add(key)
                self._mine = True
            return known

    def _from_golden_run(self, key: _Key) -> Finished | None:
        """Judge the first golden run on a text, if there was one, instead of running it again."""
        found = self._shared._known.get(_Key(key.text, 0))
        if found is None or self._golden:
            return None
        interesting = verdict(self._oracle.criterion, found.outcomes)
        return replace(found, interesting=interesting)

    def _release(self, key: _Key, finished: Finished | None) -> None:
        """Give up the claim on a check, with its verdict if there is one."""
        self._check = None
        if not self._mine:
            return
        self._mine = False
        shared = self._shared
        with shared._changed:
            shared._running.discard(key)
            if finished is not None:
                shared._known[key] = finished
            shared._changed.notify_all()
