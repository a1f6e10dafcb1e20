"""Notices that this process did not run for a while: stopped (Ctrl-Z), frozen, or starved."""

from __future__ import annotations

import time

_SHORTEST = 0.5  # seconds; less may be a busy machine


class Suspensions:
    """Compares the time that has passed with what this process did in it.

    Time neither computed in nor asked to sleep was taken from us. That needs no signal:
    a frozen control group or a halted virtual machine sends none. (The monotonic clock
    itself stands still while the machine is suspended, clock_gettime(2).)
    """

    def __init__(self) -> None:
        self._wall = time.monotonic()
        self._busy = time.process_time()

    def look(self, slept: float) -> float:
        """Return the seconds lost since the last look; at most `slept` of them were a sleep."""
        wall, busy = time.monotonic(), time.process_time()
        lost = (wall - self._wall) - (busy - self._busy) - slept
        self._wall, self._busy = wall, busy
        return lost if lost >= _SHORTEST else 0.0
