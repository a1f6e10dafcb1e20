"""Checks of flaky commands: several runs decide one verdict."""

from __future__ import annotations

import math
import re
import time
from dataclasses import dataclass

from reducekit.errors import UsageError
from reducekit.executors.executor import Executor, Finished
from reducekit.oracle.limits import Limits

_MOST = 1000
_SPELLING = re.compile(r"\s*([0-9]+)\s*(?:(?:-?\s*of\s*-?|/)\s*([0-9]+)\s*)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Repeat:
    """A candidate is interesting if at least `needed` of `runs` runs are: k of n."""

    needed: int
    runs: int

    @classmethod
    def parse(cls, text: str) -> Repeat:
        """Parse `3-of-5` or `3/5`; a single number `5` means all of five. Raises UsageError."""
        match = _SPELLING.fullmatch(text)
        if match is None or max(map(len, filter(None, match.groups()))) > 9:
            raise UsageError(
                f"{text!r} is not a number of runs: expected K-of-N, such as 3-of-5, or N"
            )
        needed = int(match[1])
        runs = needed if match[2] is None else int(match[2])
        if needed < 1:
            raise UsageError(f"{text!r}: at least one run has to be interesting")
        if needed > runs:
            raise UsageError(f"{text!r}: {runs} runs cannot reach {needed}")
        if runs > _MOST:
            raise UsageError(f"{text!r}: at most {_MOST} runs per candidate")
        return cls(needed, runs)

    def __str__(self) -> str:
        return f"{self.needed}-of-{self.runs}"

    def verdict(self, good: int, bad: int) -> bool | None:
        """Return the verdict after `good` interesting and `bad` other runs; None if undecided."""
        if good >= self.needed:
            return True
        return False if bad > self.runs - self.needed else None

    def missing(self, good: int, bad: int) -> int:
        """Return the least number of further runs that can decide; 0 if already decided."""
        return max(0, min(self.needed - good, self.runs - self.needed + 1 - bad))


@dataclass(slots=True)
class _Check:
    """The runs of one text so far, numbered from 0 in the order of their start."""

    text: bytes
    limits: Limits
    started: int = 0
    good: int = 0
    bad: int = 0
    last: Finished | None = None
    """The finished run with the highest number, which is `latest`."""
    latest: int = -1

    @property
    def in_flight(self) -> int:
        return self.started - self.good - self.bad


class Repeating(Executor):
    """Runs each check on another executor until its verdict is certain.

    A check never has more runs in flight than it needs in any case. So runs in parallel give the
    same results as sequential ones: their number, the verdict, and the run whose outcomes are
    returned (the deciding one) depend on the runs' outcomes in the order of their start, never on
    when they end. `runs` counts all runs that were started.

    A submitted check starts one run, so it holds at least one slot; more runs are started, for the
    oldest checks first, if slots are still free when the caller waits. Closing this closes the
    other executor.
    """

    def __init__(self, executor: Executor, repeat: Repeat) -> None:
        self.runs = 0
        self._executor = executor
        self._repeat = repeat
        self._checks: dict[int, _Check] = {}  # by ticket, in the order of submission
        self._flight: dict[int, tuple[int, int]] = {}  # run -> its check's ticket, its number there
        self._ready: list[Finished] = []

    @property
    def free(self) -> int:
        return self._executor.free

    def build_on(self, text: bytes) -> None:
        self._executor.build_on(text)

    def submit(self, ticket: int, text: bytes, limits: Limits) -> None:
        assert ticket not in self._checks, "the ticket is in use"
        self._checks[ticket] = _Check(text, limits)
        self._start(ticket)

    def wait(self, timeout: float | None = None) -> list[Finished]:
        give_up = math.inf if timeout is None else time.monotonic() + timeout
        while not self._ready and self._flight:
            self._fill()
            left = None if timeout is None else max(0.0, give_up - time.monotonic())
            for finished in self._executor.wait(left):
                self._take(finished)
            if time.monotonic() >= give_up:
                break
        ready, self._ready = self._ready, []
        return ready

    def cancel(self, ticket: int) -> None:
        self._ready = [done for done in self._ready if done.ticket != ticket]
        if self._checks.pop(ticket, None) is None:
            return
        for run in [run for run, (owner, _) in self._flight.items() if owner == ticket]:
            del self._flight[run]
            self._executor.cancel(run)

    def close(self) -> None:
        self._checks.clear()
        self._flight.clear()
        self._ready.clear()
        self._executor.close()

    def _start(self, ticket: int) -> None:
        """Start another run of a check. If that fails, the check is forgotten."""
        check = self._checks[ticket]
        run = self.runs + 1
        self._flight[run] = ticket, check.started
        try:
            self._executor.submit(run, check.text, check.limits)
        except BaseException:
            del self._flight[run]
            self.cancel(ticket)
            raise
        self.runs = run
        check.started += 1

    def _take(self, finished: Finished) -> None:
        """Count a run; continue its check in the freed slot, or return the verdict."""
        ticket, number = self._flight.pop(finished.ticket)
        check = self._checks[ticket]
        if finished.interesting:
            check.good += 1
        else:
            check.bad += 1
        if number > check.latest:
            check.latest, check.last = number, finished
        verdict = self._repeat.verdict(check.good, check.bad)
        if verdict is None:
            if not check.in_flight:
                self._start(ticket)
            return
        assert check.last is not None
        del self._checks[ticket]
        unresolved = not verdict and check.last.unresolved
        self._ready.append(Finished(ticket, verdict, check.last.outcomes, unresolved))

    def _fill(self) -> None:
        """Use free slots for runs that are needed whatever the outcomes of the others."""
        room = self._executor.free
        for ticket, check in list(self._checks.items()):
            missing = self._repeat.missing(check.good, check.bad) - check.in_flight
            for _ in range(min(room, missing)):
                self._start(ticket)
                room -= 1
            if room <= 0:
                return
