"""How far a session is, as plain data: what its events add up to, and the time left."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from reducekit.events import Accepted, Checked, Event, PassStarted, RolledBack, Started
from reducekit.session.eta import Pace, Range, checks_left, in_words


@dataclass(frozen=True, slots=True)
class Limit:
    """After how many checks and seconds, and at what size, the reduction is stopped; None: never.

    `quick`: it ends after the first passes.
    """

    checks: int | None = None
    seconds: float | None = None
    size: int | None = None
    quick: bool = False

    @property
    def any_moment(self) -> bool:
        """Whether it may end long before a full reduction would.

        One success can reach the size, and a quick schedule ends sooner by an unknown
        share: of what full reductions took, only the upper end is still true.
        """
        return self.size is not None or self.quick


@dataclass(slots=True)
class Progress:
    """What has been seen of a reduction so far. Round -1 is before the first pass."""

    size_before: int = 1
    size: int = 0
    checks: int = 0
    accepted: int = 0
    pass_name: str = ""
    round: int = -1
    begin: float = field(default_factory=time.monotonic)
    limit: Limit = Limit()
    pace: Pace = field(default_factory=Pace)
    started: float | None = None
    """When the first pass began."""

    def see(self, event: Event) -> None:
        """Take an event in."""
        match event:
            case Started(size=size):
                self.size_before = self.size = size
            case Checked(remembered=False):
                self.checks += 1
                self.pace.see(self.checks, self._searching())
            case Accepted(text=text):
                self.size = len(text)
                self.accepted += 1
            case RolledBack(text=text):
                self.size = len(text)
            case PassStarted(name=name, round=number):
                self.pass_name, self.round = name, number
                if self.started is None:
                    self.started = time.monotonic()

    def left(self) -> Range | None:
        """Return how many seconds are left to the end; None if that cannot be known."""
        checks = checks_left(self.checks, self.size, self.round)
        if checks is None:
            return None
        if self.limit.any_moment:
            checks = checks.ended_early()
        most = None if self.limit.checks is None else self.limit.checks - self.checks
        seconds = self.pace.time_for(checks.limited(most))
        if seconds is None or self.limit.seconds is None:
            return seconds
        return seconds.limited(self.limit.seconds - self._searching())

    def _searching(self) -> float:
        return 0.0 if self.started is None else time.monotonic() - self.started

    def line(self, width: int = 1000) -> str:
        """Return the state in one line of at most `width` columns, as much as fits."""
        seconds = time.monotonic() - self.begin
        time_part = f"{seconds:.0f} s"
        size = f"{self.size:,} bytes"
        if self.round < 0:
            return f"{size}, running the command on it, {time_part}"[:width]
        share = f"{size} ({100 * self.size / self.size_before:.1f} %)"
        rate = self.checks / seconds if seconds > 0 else 0.0
        checks = f"{self.checks:,} checks"
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
