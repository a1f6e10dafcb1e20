"""The interface of every executor, and two: one calls a Python function, one repeats checks."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from reducekit.errors import ResourceError, Unresolved, UsageError
from reducekit.run import Closing, Limits, Outcome


class ExecutorError(ResourceError):
    """No check can run: the machine lacks a resource, or the executor's helpers are gone."""


class Finished(NamedTuple):
    """A finished check: the outcomes of its commands, as many as the criterion asked for."""

    ticket: int
    interesting: bool
    outcomes: tuple[Outcome, ...]
    unresolved: bool = False  # whether a candidate that is not interesting need not pass either


class Executor(Closing, Protocol):
    """Runs checks of one oracle, several at a time."""

    runs: int = 0  # the number of command runs started so far: a check may take several

    @property
    def free(self) -> int:
        """How many checks may be submitted now."""

    @property
    def steady(self) -> bool:
        """Whether a check that runs alone always has the same outcome.

        Then a success that cannot be reproduced was due to a run with others, not to chance.
        """
        return False

    def lookahead(self, text: bytes) -> int:
        """Return how many candidates, each about as large as `text`, one run can check.

        They are checked in the order of submission, up to the first interesting one. The number
        must depend only on the text and on what `wait` has returned so far: the search depends on
        it, and must not depend on timing.
        """
        return 1

    def build_on(self, text: bytes) -> None:
        """Note the text that the next candidates are made from, if they are sent as edits."""
        return

    def submit(self, ticket: int, text: bytes, limits: Limits) -> None:
        """Start a check of `text`; the caller chooses `ticket`, a number not in use."""

    def wait(self, timeout: float | None = None) -> list[Finished]:
        """Wait for at least one check to finish, at most `timeout` seconds; return all finished."""

    def cancel(self, ticket: int) -> None:
        """Cancel a check and forget it; tickets of no running check are ignored."""

    def close(self) -> None:
        """Cancel all checks."""


class InProcess(Executor):
    """Checks a candidate by calling `interesting(text)`; limits have no effect."""

    def __init__(self, interesting: Callable[[bytes], bool], jobs: int = 1) -> None:
        self._interesting = interesting
        self._jobs = jobs
        self.runs = 0
        self._waiting: dict[int, bytes] = {}

    @property
    def free(self) -> int:
        return self._jobs - len(self._waiting)

    def submit(self, ticket: int, text: bytes, limits: Limits) -> None:
        self._waiting[ticket] = text

    def wait(self, timeout: float | None = None) -> list[Finished]:
        """Run the latest check first: the order of verdicts must not matter.

        Raises TypeError if the function does not return a bool.
        """
        if not self._waiting:
            return []
        ticket, text = self._waiting.popitem()
        self.runs += 1
        try:
            answer = self._interesting(text)
        except Unresolved:
            return [Finished(ticket, interesting=False, outcomes=(), unresolved=True)]
        except TypeError as error:
            if "bytes" in str(error):
                error.add_note("the predicate receives bytes: compare with b'...', or decode() it")
            raise
        return [Finished(ticket, _as_bool(answer), ())]

    def cancel(self, ticket: int) -> None:
        self._waiting.pop(ticket, None)

    def close(self) -> None:
        self._waiting.clear()


def _as_bool(answer: object) -> bool:
    """Return the predicate's answer. Raises TypeError for anything but a bool.

    A merely truthy value is usually a mistake: a coroutine is truthy, and so is "no".
    """
    kind = type(answer)
    if kind is bool or (kind.__module__ == "numpy" and kind.__name__ in ("bool", "bool_")):
        return bool(answer)
    if isinstance(answer, Awaitable):
        if isinstance(answer, Coroutine):
            answer.close()  # otherwise Python warns that it was never awaited
        hint = "it must be a plain function, not `async def`"
    elif answer is None:
        hint = "return True or False; is there a path without `return`?"
    else:
        hint = "return True or False"
    shown = f" ({answer!r:.60})" if isinstance(answer, str | bytes | int | float) else ""
    said = "None" if answer is None else f"a value of type {kind.__name__}{shown}"
    raise TypeError(f"the predicate returned {said}: {hint}")


_MOST = 1000
_SPELLING = re.compile(r"\s*([0-9]+)\s*(?:(?:-?\s*of\s*-?|/)\s*([0-9]+)\s*)?", re.IGNORECASE)


class Repeat(NamedTuple):
    """A candidate is interesting if at least `needed` of `runs` runs are: k of n."""

    needed: int
    runs: int

    @classmethod
    def parse(cls, text: str | Repeat) -> Repeat:
        """Parse `3-of-5` or `3/5`; a single number `5` means all of five. Raises UsageError."""
        if isinstance(text, Repeat):
            return text
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


@dataclass(slots=True, eq=False)
class _Check:
    """The runs of one text so far, numbered from 0 in the order of their start."""

    text: bytes
    limits: Limits
    started: int = 0
    good: int = 0
    bad: int = 0
    last: Finished | None = None  # the finished run with the highest number, which is `latest`
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
