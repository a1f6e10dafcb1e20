"""When the failure was last seen, and when to check for it again.

If the solver is replaced, its licence or disk is gone, or the machine is overloaded, candidates
stop failing. That looks like a reduction that has nothing left to remove. So the best text is run
again when the verdicts look suspicious, and after every pause.

A streak is a number of consecutive checks that did not show the failure. When is it suspicious? If
checks succeeded independently and at a constant rate, then the longest streak among s successes
would be about ln(s) / ln(1/q) checks, where q is the share of unsuccessful checks (Erdos and Renyi
1970, on the longest run of heads). A streak of twice that length has probability
q^(2 ln(s) / ln(1/q)) = 1/s^2 after each success, so about 1/s within the next s successes. Hence
the run's own record defines what is unlikely: a streak more than twice as long as any before.

Near the end of a reduction successes do become rare, and such streaks occur. If the best text still
fails, the streak joins the record, and the next one has to be twice as long: there are at most
log2(checks) such reruns. None happens in the first `_LEAST` checks of a streak, when there is
little to lose: so there is less than one in `_LEAST` checks, whatever the record. A rerun of what
turns out to be the result replaces one of the reruns of the result.

All of this is a function of the sequence of verdicts, never of time.
"""

from __future__ import annotations

from dataclasses import dataclass

_LEAST = 32
"""Checks per rerun of the best text, at least: a rerun adds at most 1/32 = 3 % to their cost."""


@dataclass(slots=True)
class Sightings:
    """Counts the checks since the failure was last seen.

    Unless `active`, the best text is never due: for tests that are deterministic by definition,
    such as functions.
    """

    active: bool
    streak: int = 0
    longest: int = 0
    """The longest streak after which the failure was seen again."""
    paused: bool = False
    """Whether there was a pause since then."""

    @property
    def due(self) -> bool:
        """Whether to run the best text again."""
        # Twice the record: probability 1/s by the argument above.
        suspicious = self.streak > max(_LEAST, 2 * self.longest)
        return self.active and (self.paused or suspicious)

    def take(self, interesting: bool, *, replayed: bool) -> None:
        """Record a verdict. A rerun that was due in a replayed run was made by that run."""
        self.streak += not interesting
        # The earlier run looked again at this very check, as it saw the same verdicts: no run is
        # repeated.
        if interesting or (replayed and self.due):
            self.seen()

    def seen(self) -> None:
        """Record that the failure was seen."""
        self.longest = max(self.longest, self.streak)
        self.streak, self.paused = 0, False
