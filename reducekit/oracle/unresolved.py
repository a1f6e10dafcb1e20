"""The third outcome of a test: a candidate that can be judged neither way.

Zeller and Hildebrandt, Simplifying and Isolating Failure-Inducing Input, TSE 28(2), 2002, section
2.2: a test passes, fails, or is unresolved. To minimise a failure, unresolved is as good as passed
(section 3); to isolate a difference it is not (section 4).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reducekit.oracle.criterion import Around, Criterion, Matches
from reducekit.oracle.limits import Limits
from reducekit.oracle.outcome import Outcome


@dataclass(frozen=True, slots=True)
class Resolved(Around):
    """The inner criterion, except for runs that end with the status for `unresolved`."""

    status: int
    """An exit status, or a signal's number below 0."""

    def gives_up(self, outcome: Outcome) -> bool:
        """Return whether a run ended with that status."""
        return Matches(exit_code=self.status).judge([outcome])

    def judge(self, outcomes: Sequence[Outcome]) -> bool | None:
        return False if self.gives_up(outcomes[-1]) else self.inner.judge(outcomes)

    def unresolved(self, outcomes: Sequence[Outcome]) -> bool:
        return any(map(self.gives_up, outcomes)) or self.inner.unresolved(outcomes)

    def shown_by(self, run: Sequence[Outcome], limits: Limits) -> Criterion | None:
        return None if any(map(self.gives_up, run)) else Around.shown_by(self, run, limits)

    def missing_in(self, run: Sequence[Outcome]) -> str:
        ended = next((each.describe() for each in run if self.gives_up(each)), None)
        if ended is None:
            return self.inner.missing_in(run)
        return f"it ended with {ended}, which `unresolved` takes for no answer"
