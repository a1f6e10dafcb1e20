"""Costs: counters that solvers print, such as z3's `rlimit-count`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from reducekit.errors import UsageError
from reducekit.oracle.answers import answers
from reducekit.oracle.criterion import Criterion
from reducekit.oracle.limits import Limits
from reducekit.oracle.outcome import Outcome

_NUMBER = r"[0-9]+(?:\.[0-9]+)?"
_SHARE = 0.01


@lru_cache(maxsize=16)
def counter(text: str) -> re.Pattern[bytes]:
    """Return a pattern whose first group is the number. Raises UsageError.

    A name finds what z3 (`:conflicts 12`), cvc5 (`sat::conflicts = 12`) and CaDiCaL
    (`conflicts: 12`) print; of several, separated by `|`, each. It must be the whole name: z3's
    `:arith-conflicts` is another counter than its `:conflicts`, and `sat::conflicts` another than
    `theory::arith::conflicts`.
    """
    try:
        asked = re.compile(text.encode("utf-8", "surrogateescape"), re.MULTILINE)
    except re.error as error:
        raise UsageError(f"`cost`: {text!r} is not a regular expression: {error}") from None
    if asked.groups:
        return asked
    names = "|".join(re.escape(each.lstrip(":")) for each in text.split("|"))
    before = r"(?<![\w.-])(?<![\w)]::)"
    return re.compile(rf"{before}(?:{names})[ \t]*[:=]?[ \t]*({_NUMBER})".encode())


def cost(pattern: re.Pattern[bytes], outcome: Outcome) -> float:
    """Return the largest number that a run printed for the counter; 0 if there is none.

    z3 prints no counter that is 0, and a solver with several queries prints several numbers.
    """
    found = [0.0]
    for stream in (outcome.stdout, outcome.stderr):
        for match in pattern.finditer(stream):
            try:
                found.append(float(match[1] or b"0"))
            except ValueError:
                continue
    return max(found)


@dataclass(frozen=True, slots=True)
class CostAtLeast(Criterion):
    """The cost of the first `runs` commands is high with every seed.

    It is at least `at_least`, or at least `times` as high as that of each remaining command, the
    reference, whose cost counts as `floor` if it is less (None: as a hundredth of what it is on the
    input: on an empty script, any two solvers differ by a few steps). The least of several seeds
    counts, so that no candidate is kept for one unlucky seed.
    """

    name: str
    """The counter as the user gave it: a name or a pattern."""
    runs: int
    references: int = 0
    """How many runs each of the two has."""
    at_least: float | None = None
    times: float | None = None
    floor: float | None = None
    answered: bool = False
    """Whether the reference must answer `sat` or `unsat`."""
    captures: bool = True
    wall: float | None = None
    counts_steps: bool = True

    def judge(self, outcomes: Sequence[Outcome]) -> bool | None:
        """Stop at the first seed whose cost is too low.

        A reference that a limit has stopped may not have printed its cost: it counts as too high.
        """
        others = outcomes[self.runs :]
        if any(each.limit is not None for each in others):
            return False
        if self.answered and any(answers(each) is None for each in others):
            return False
        if self._least(outcomes) > min(self._costs(outcomes[: self.runs])):
            return False
        return True if len(outcomes) == self.runs + self.references else None

    def shown_by(self, run: Sequence[Outcome], limits: Limits) -> Criterion | None:
        """Return this with its floor."""
        if Criterion.shown_by(self, run, limits) is None:
            return None
        if self.floor is not None or self.times is None:
            return self
        return replace(self, floor=max(1.0, _SHARE * max(self._costs(run[self.runs :]))))

    def describe(self) -> str:
        """Describe the preserved failure."""
        if self.at_least is not None:
            return f"{self.name} is {self.at_least:g} or more"
        return f"{self.name} is {self.times:g} times that of the reference, or more"

    def missing_in(self, run: Sequence[Outcome]) -> str:
        """Report the numbers."""
        own = ", ".join(f"{each:g}" for each in self._costs(run[: self.runs]))
        if self.answered and any(answers(each) is None for each in run[self.runs :]):
            return f"{self.describe()}; the reference gives no answer"
        return f"{self.describe()}; it is {own}, and {self._least(run):g} is wanted"

    def _least(self, outcomes: Sequence[Outcome]) -> float:
        """Return the least cost to keep, by the runs of the reference so far."""
        if self.at_least is not None:
            return self.at_least
        return (self.times or 1.0) * max([self.floor or 1.0, *self._costs(outcomes[self.runs :])])

    def _costs(self, outcomes: Sequence[Outcome]) -> list[float]:
        pattern = counter(self.name)
        return [cost(pattern, each) for each in outcomes]
