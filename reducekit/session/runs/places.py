"""Does the result crash at the same place in the code as the input?

A signal names no place, so a search can drift to another bug that has the same one. At the end the
stacks of input and result are compared. If they differ, the smallest earlier step that crashes as
the input does is kept as well.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from reducekit.oracle.outcome import Outcome
from reducekit.oracle.stack import Stack

_CRASHES = (
    signal.SIGSEGV,
    signal.SIGABRT,
    signal.SIGBUS,
    signal.SIGFPE,
    signal.SIGILL,
    signal.SIGSYS,
)
UNTRACED = (
    "gdb cannot run the command here, or is not installed: `match_stack` has no effect. The result "
    "may crash at another place in the code"
)


@dataclass(frozen=True, slots=True)
class Places:
    """Where input and result crash."""

    before: Stack
    after: Stack
    step: bytes | None = None
    """The smallest step that crashes as the input does, if it is neither input nor result."""
    file: Path | None = None
    """The file that holds it."""

    @property
    def same(self) -> bool:
        """Whether that is the same place."""
        return self.before.same_place(self.after)

    def describe(self) -> str:
        """Say in which functions they crash, if these differ, and which file crashes as the input
        does."""
        said = f"the input crashes in {self.before.describe()}, the result in "
        said += self.after.describe()
        if self.step is None:
            return said
        where = "" if self.file is None else f": {self.file}"
        return f"{said}; an earlier step of {len(self.step):,} bytes crashes as the input{where}"


def crashes(outcome: Outcome) -> bool:
    """Return whether a run ended by a crash, or a shell says so of its last command."""
    number = outcome.signal or (outcome.status or 0) - 128
    return outcome.limit is None and number in _CRASHES


def last_same(texts: Sequence[bytes], same: Callable[[bytes], bool]) -> bytes | None:
    """Return the last of `texts`, which begin with the input, that is the same; not the input.

    By bisection, as the place seldom comes back once it is lost.
    """
    low, high = 0, len(texts)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if same(texts[middle]) else (low, middle)
    return texts[low] if low else None
