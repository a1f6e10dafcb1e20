"""The progress of a session: sums up its events in one place, for all displays and reports."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from reducekit import events
from reducekit.text import counted, printable, shortened

# How long a reduction may still take: a range that holds four times out of five, or nothing.
#
# The end cannot be computed: the rest of the work depends on what will succeed. The best
# predictors are the checks made so far, the bytes left and the round: in 46 recorded reductions of
# 20 to 1,000 checks with real solvers, the checks still to come were about the geometric mean of
# the first two, times a factor that falls from round to round. Neither the slope of the curve nor
# the time since the last success improves on that. With the factors below, each tried on
# reductions that it was not fitted on, the range held in 82 % of the moments, and in 84 to 89 % of
# those of 60 more with oracles in Python. It is wide, ten times from one end to the other in checks
# and 18 times in seconds: a narrower one would not hold as often.
_FACTORS = ((0.13, 1.25), (0.05, 0.55), (0.02, 0.28))
"""The checks still to come as a share of the geometric mean, the 8th and the 92nd percentile of
what was measured: before the rounds, in the first one, later."""
_PACES = (0.7, 1.2)
"""The time of a check to come as a share of the present one: files and their times shrink."""
_WINDOW = 4 / 3  # the last quarter of the checks gives the pace
_TOO_EARLY = 20  # checks
_MESSAGE = 500  # characters
SLOW = 3.0  # seconds without a verdict after which displays say that a check takes long


class Range(NamedTuple):
    """At least `low` and at most `high` are left, of checks or of seconds."""

    low: float
    high: float

    def limited(self, most: float | None) -> Range:
        """Return the range if a budget ends it after `most`; None: no budget."""
        if most is None:
            return self
        return Range(min(self.low, max(0.0, most)), min(self.high, max(0.0, most)))


def checks_left(checks: int, size: int, number: int) -> Range | None:
    """Return how many checks are left; None if that cannot be estimated.

    `checks` were made, `size` bytes are left, `number` is the round's.
    """
    if checks < _TOO_EARLY:
        return None
    mean = math.sqrt(checks * max(1, size))
    low, high = _FACTORS[min(max(number, 0), len(_FACTORS) - 1)]
    return Range(low * mean, high * mean)


@dataclass(slots=True, eq=False)
class Pace:
    """The time of a check, over the last quarter of the checks or slightly more."""

    checks: int = 0
    seconds: float = 0.0
    _marks: list[tuple[int, float]] = field(default_factory=lambda: [(0, 0.0)])
    """The checks and seconds, each time the checks had grown by a third."""

    def see(self, checks: int, seconds: float) -> None:
        """Record how many checks were made in how many seconds so far."""
        self.checks, self.seconds = checks, seconds
        if checks > _WINDOW * self._marks[-1][0]:
            self._marks.append((checks, seconds))

    @property
    def seconds_per_check(self) -> float | None:
        """The recent time from one check to the next; None before the first."""
        for checks, seconds in reversed(self._marks):
            if _WINDOW * checks <= self.checks and checks < self.checks:
                return (self.seconds - seconds) / (self.checks - checks)
        return None

    def time_for(self, checks: Range) -> Range | None:
        """Return the seconds that this many checks will take; None before the first check."""
        pace = self.seconds_per_check
        if pace is None:
            return None
        return Range(_PACES[0] * pace * checks.low, _PACES[1] * pace * checks.high)


def in_words(left: Range | None) -> str:
    """Format a range of seconds, rounded outward, such as `2-9 s`; `unknown` for None."""
    if left is None:
        return "unknown"
    if left.high <= 1:
        return "under 1 s"
    size, unit = next(
        ((size, unit) for size, unit in ((3600, "h"), (60, "min")) if left.high >= 2 * size),
        (1, "s"),
    )
    low, high = _rounded(left.low / size, math.floor), _rounded(left.high / size, math.ceil)
    return f"under {high} {unit}" if low == 0 else f"{low}-{high} {unit}"


def _rounded(value: float, to: Callable[[float], int]) -> int:
    """Round a value to a step that follows its size: hundreds to tens, and so on."""
    step = max(1, int(10 ** math.floor(math.log10(value) - 0.5))) if value > 0 else 1
    return to(value / step) * step


class Limit(NamedTuple):
    """The checks, seconds or size at which the reduction is stopped; None: never.

    `quick`: it ends after the first passes.
    """

    checks: int | None = None
    seconds: float | None = None
    size: int | None = None
    quick: bool = False


class Point(NamedTuple):
    """After `checks` checks and `seconds` seconds, the best text had `size` bytes."""

    checks: int
    seconds: float
    size: int


@dataclass(slots=True)
class PassTotal:
    """The totals of a pass over all rounds. Checks and seconds are None if a journal lacks them."""

    name: str
    accepted: int = 0
    removed: int = 0  # bytes removed; negative if the text grew
    checks: int | None = 0
    seconds: float | None = 0.0
    runs: int = 0  # how often the pass began


class Step(NamedTuple):
    """The last accepted change: description, text before (b"" if unknown), text after."""

    what: str
    before: bytes
    after: bytes


@dataclass(slots=True, eq=False)
class Progress:
    """The state of a reduction so far.

    Round -1 is before the first pass. Times are seconds by `clock`.
    """

    size_before: int = 1
    size: int = 0
    checks: int = 0
    accepted: int = 0
    pass_name: str = ""
    round: int = -1
    clock: Callable[[], float] = time.monotonic
    begin: float = -1.0  # now, if it is not given
    limit: Limit = Limit()  # noqa: RUF009  # it cannot change
    pace: Pace = field(default_factory=Pace)
    started: float | None = None  # when the first pass began
    replayed: int = 0  # how many of the checks were those of the resumed run
    replaying: bool = False  # whether the last check was one of those
    interesting: int = 0  # how many checks showed the failure
    remembered: int = 0  # how many verdicts needed no check
    output: str = ""
    failure: str = ""
    last: Step | None = None
    succeeded: float | None = None  # when the last step was accepted
    finished: events.Finished | None = None  # the time stands still from then on
    curve: list[Point] = field(default_factory=list)
    """One point for each accepted text, from the input on; sizes rise where one was given up."""
    passes: dict[str, PassTotal] = field(default_factory=dict)
    notices: list[str] = field(default_factory=list)
    heard: float = 0.0  # when the last verdict or other sign of life arrived
    _text: bytes = b""
    _pass_began: float = 0.0
    _ended: float | None = None

    def __post_init__(self) -> None:
        if self.begin < 0:
            self.begin = self.clock()
        self.heard = self.clock()

    def see(self, event: events.Event) -> None:
        """Take an event in."""
        self.heard = self.clock()
        match event:
            case events.Started(size=size, output=output):
                self.size_before = self.size = size
                self.output = "" if output is None else str(output)
                self._point(size)
            case events.FailureFound(failure=failure):
                self.failure = failure
            case events.Notice(text=said):
                self.notices.append(said)
            case events.Resumed(size=size):
                self.size = size
            case events.Checked(remembered=True):
                self.remembered += 1
            case events.Checked(interesting=interesting, replayed=replayed):
                self.checks += 1
                self.interesting += interesting
                self.replayed += replayed
                self.replaying = replayed
                self.pace.see(self.checks - self.replayed, self._searching())
                self._total(self.pass_name).checks += 1  # type: ignore[operator]
            case events.Accepted():
                self._accept(event)
            case events.RolledBack(text=text):
                self.size, self._text = len(text), text
                self._point(len(text))
            case events.PassStarted(name=name, round=number):
                self.pass_name, self.round = name, number
                self._pass_began = self.clock()
                self._total(name).runs += 1
                if self.started is None:
                    self.started = self._pass_began
            case events.PassEnded(name=name):
                self._total(name).seconds += self.clock() - self._pass_began  # type: ignore[operator]
            case events.Finished(size=size):
                self.finished, self.size, self._ended = event, size, self.clock()

    def _accept(self, event: events.Accepted) -> None:
        self.accepted += 1
        if not event.replayed:
            self.size = len(event.text)
        total = self._total(event.pass_name)
        total.accepted += 1
        total.removed += self.curve[-1].size - len(event.text) if self.curve else 0
        self.last = Step(event.what, self._text, event.text)
        self._text = event.text
        self.succeeded = self.clock()
        self._point(len(event.text))

    def _total(self, name: str) -> PassTotal:
        return self.passes.setdefault(name, PassTotal(name))

    def _point(self, size: int) -> None:
        self.curve.append(Point(self.checks, self.elapsed, size))

    @property
    def elapsed(self) -> float:
        """The seconds from the start until now, or until the end."""
        return self._now - self.begin

    @property
    def since(self) -> float | None:
        """The seconds since the last accepted step."""
        return None if self.succeeded is None else self._now - self.succeeded

    @property
    def waited(self) -> float:
        """The seconds without a sign of life."""
        return self.clock() - self.heard

    @property
    def _now(self) -> float:
        return self.clock() if self._ended is None else self._ended

    def left(self) -> Range | None:
        """Return how many seconds are left; None if that cannot be estimated."""
        checks = checks_left(self.checks, self.size, self.round)
        if checks is None:
            return None
        if self.limit.size is not None or self.limit.quick:
            # A single success can reach the size, and a quick schedule leaves out an unknown
            # share: only the upper end of an estimate for full reductions holds.
            checks = Range(0.0, checks.high)
        most = None if self.limit.checks is None else self.limit.checks - self.checks
        seconds = self.pace.time_for(checks.limited(most))
        if seconds is None or self.limit.seconds is None:
            return seconds
        return seconds.limited(self.limit.seconds - self._searching())

    @property
    def succeeding(self) -> float:
        """The share of the checks that showed the failure, in percent."""
        return 100 * self.interesting / self.checks if self.checks else 0.0

    def rate(self, seconds: float) -> float:
        """Return the checks per second, without those of the resumed run."""
        return (self.checks - self.replayed) / seconds if seconds > 0 else 0.0

    def _searching(self) -> float:
        return 0.0 if self.started is None else self.clock() - self.started

    def as_json(self, points: int = 0, messages: int = 0) -> dict[str, Any]:
        """Return the state as plain data, without the points and messages that are known."""
        since = self.since
        return {
            "size": self.size,
            "before": self.size_before,
            "checks": self.checks,
            "hits": self.remembered,
            "interesting": self.interesting,
            "accepted": self.accepted,
            "pass": self.pass_name,
            "round": self.round,
            "seconds": round(self.elapsed, 2),
            "left": in_words(self.left()),
            "since": None if since is None else round(since, 1),
            "what": "" if self.last is None else shortened(self.last.what, _MESSAGE),
            "failure": printable(self.failure),
            "points": [
                (each.checks, round(each.seconds, 3), each.size) for each in self.curve[points:]
            ],
            "messages": [shortened(each, _MESSAGE) for each in self.notices[messages:]],
            "passes": {
                name: [each.checks, each.accepted] for name, each in [*self.passes.items()] if name
            },
        }

    def line(self, width: int = 1000) -> str:
        """Return the state as one line of at most `width` columns; the rest is left out."""
        seconds = self.elapsed
        time_part = f"{seconds:.0f} s"
        size = f"{self.size:,} bytes"
        if self.round < 0:
            return f"{size}, running the command on it, {time_part}"[:width]
        share = f"{size} ({100 * self.size / self.size_before:.1f} %)"
        rate = self.rate(seconds)
        checks = counted(self.checks, "check")
        left = f"left: {in_words(self.left())}"
        forms = (
            (
                share,
                f"{checks} ({rate:.0f}/s)",
                f"{self.accepted:,} accepted",
                f"round {self.round}: {self.pass_name}",
                time_part,
                left,
            ),
            (share, f"{checks} ({rate:.0f}/s)", self.pass_name, time_part, left),
            (share, checks, time_part, left),
            (share, checks, time_part),
            (size, checks, time_part),
        )
        lines = [", ".join(parts) for parts in forms]
        return next((line for line in lines if len(line) <= width), lines[-1][:width])


def stop_in_words(reason: str) -> str:
    """Return the reason for an early end, as part of a sentence."""
    return reason if reason.startswith("stopped") else f"stopped: {reason}"
