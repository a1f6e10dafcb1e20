"""Checks of a command that does not always end the same way: several runs make one verdict."""

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
    """A candidate is interesting when at least `needed` of `runs` runs are: k of n."""

    needed: int
    runs: int

    @classmethod
    def parse(cls, text: str) -> Repeat:
        """Read `3-of-5` or `3/5`; a single number `5` means all of five. Raises UsageError."""
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
            raise UsageError(f"{text!r}: {needed} of {runs} runs is never reached")
        if runs > _MOST:
            raise UsageError(f"{text!r}: more than {_MOST} runs for one candidate")
        return cls(needed, runs)

    def __str__(self) -> str:
        return f"{self.needed}-of-{self.runs}"

    def verdict(self, good: int, bad: int) -> bool | None:
        """Judge after so many interesting and other runs; None while either is possible."""
        if good >= self.needed:
            return True
        return False if bad > self.runs - self.needed else None

    def missing(self, good: int, bad: int) -> int:
        """Return the fewest further runs that can bring the verdict; 0 when it is there."""
        return max(0, min(self.needed - good, self.runs - self.needed + 1 - bad))


@dataclass(slots=True)
class _Check:
    """What has come of the runs of one text. Its runs are numbered from 0 as they start."""

    text: bytes
    limits: Limits
    started: int = 0
    good: int = 0
    bad: int = 0
    last: Finished | None = None
    """Of the finished runs the one with the highest number, which is `latest`."""
    latest: int = -1

    @property
    def in_flight(self) -> int:
        return self.started - self.good - self.bad


class Repeating(Executor):
    """Runs each check on another executor until its verdict is certain.

    No more runs of a check are in flight than are needed in any case. So where
    several go at the same time, they are the same as one after the other: their
    number, the verdict, and the run whose outcomes are told (the one that
    decided) are functions of what the runs say, in the order of their start,
    never of when they end. `runs` counts all that were started.

    A check has one run when it is submitted, so it holds at least one slot; more
    are started, for the checks submitted first, when nothing else has taken the
    slots by the time the caller waits. Closing this closes the other executor.
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
        """How many checks may be submitted now."""
        return self._executor.free

    def build_on(self, text: bytes) -> None:
        """Take note of the text that the next candidates are made from."""
        self._executor.build_on(text)

    def submit(self, ticket: int, text: bytes, limits: Limits) -> None:
        """Start the first run of `text`; `ticket` is a number of the caller's, not in use."""
        assert ticket not in self._checks, "the ticket is in use"
        self._checks[ticket] = _Check(text, limits)
        self._start(ticket)

    def wait(self, timeout: float | None = None) -> list[Finished]:
        """Wait for at least one verdict, at most `timeout` seconds; return all that are there."""
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
        """End the runs of a check and forget it; one that is not running is ignored."""
        self._ready = [done for done in self._ready if done.ticket != ticket]
        if self._checks.pop(ticket, None) is None:
            return
        for run in [run for run, (owner, _) in self._flight.items() if owner == ticket]:
            del self._flight[run]
            self._executor.cancel(run)

    def close(self) -> None:
        """End all checks."""
        self._checks.clear()
        self._flight.clear()
        self._ready.clear()
        self._executor.close()

    def _start(self, ticket: int) -> None:
        """Start another run of a check. If that cannot be, the check is forgotten."""
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
        """Count a run; go on with its check, in the slot it has left, or give the verdict."""
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
        self._ready.append(Finished(ticket, verdict, check.last.outcomes))

    def _fill(self) -> None:
        """Use free slots for runs that are needed whatever the others say."""
        room = self._executor.free
        for ticket, check in list(self._checks.items()):
            missing = self._repeat.missing(check.good, check.bad) - check.in_flight
            for _ in range(min(room, missing)):
                self._start(ticket)
                room -= 1
            if room <= 0:
                return
