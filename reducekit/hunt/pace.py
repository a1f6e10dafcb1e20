"""How long the runs of a hunt may take: a few long ones must not take nearly all of the time.

Most random inputs are solved in milliseconds, some not within any time limit: where 8 of 100 run
into a limit of 2 s, these are nine tenths of the time. So what runs take beyond 20 times the
median may be a quarter of all time. Once it is more, runs that are that long are stopped.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from statistics import median

from reducekit.oracle.limits import Limits

_LONG = 20
"""How many times the median a long run takes."""
_LEAST = 0.2
"""Seconds that no run is too long for: a busy machine makes some of milliseconds that slow."""
_SHARE = 0.25
"""The share of all time that long runs may take beyond that."""
_RECENT = 100
"""The inputs of which the median is taken."""
_FEW = 10
"""Inputs before which nothing is known."""


class Pace:
    """Limits for the runs on the next input, from the seconds of those before."""

    def __init__(self, limits: Limits) -> None:
        """Take the limits that hold in any case."""
        self._limits = limits
        # Of each input the slowest program: programs may be more than 20 times apart.
        self._recent: deque[float] = deque(maxlen=_RECENT)
        self._all = self._beyond = 0.0
        self._long = limits.wall
        """The seconds above which a run is long; the time limit while nothing is known."""

    def limits(self) -> Limits:
        """Return the limits of the next runs."""
        if self._beyond <= _SHARE * self._all:
            return self._limits
        return replace(self._limits, wall=self._long)

    def note(self, seconds: Sequence[float]) -> None:
        """Note how long the runs on an input took; there are none where nothing could run."""
        if not seconds:
            return
        self._all += sum(seconds)
        if self._long is not None:
            self._beyond += sum(max(0.0, each - self._long) for each in seconds)
        self._recent.append(max(seconds))
        if len(self._recent) >= _FEW:
            long, wall = max(_LEAST, _LONG * median(self._recent)), self._limits.wall
            self._long = long if wall is None else min(long, wall)
