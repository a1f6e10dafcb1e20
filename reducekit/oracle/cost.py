"""Costs: counters that solvers print, such as z3's `rlimit-count`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from reducekit.errors import UsageError
from reducekit.oracle.answers import answers, given, in_common
from reducekit.oracle.criterion import Criterion
from reducekit.oracle.limits import Limits
from reducekit.oracle.outcome import Outcome

_NUMBER = r"[0-9]+(?:\.[0-9]+)?"
_SHARE = 0.1
"""The share of the input's cost that stays."""
_SHARE_OF_SEVERAL = 0.5
"""The same for several queries: solvers count for all of them, so that many cheap ones of a log
have a tenth of its cost together, without the expensive one."""


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
    """The cost of the first `runs` commands is high with every seed, and the answers are kept.

    It is at least `at_least`, and at least `times` as high as that of each remaining command, the
    reference, whose cost counts as `floor` if it is less. If neither bound is given, `at_least` is
    a tenth of what the cost is on the input (a half, if that has several queries): else a search
    finds a small file on which two solvers differ by a few steps. The least of several seeds
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
    kept: tuple[frozenset[bytes], frozenset[bytes]] = (frozenset(), frozenset())
    """The answers of the command and of the reference on the input: those of a candidate are among
    them. Empty: any will do, or none."""
    free: bool = False
    """Whether the command may answer in any way, as patterns say what it prints."""
    captures: bool = True
    wall: float | None = None
    counts_steps: bool = True

    def judge(self, outcomes: Sequence[Outcome]) -> bool | None:
        """Stop at the first seed whose cost is too low, or whose answer is another.

        A reference that a limit has stopped may not have printed its cost: it counts as too high.
        """
        own, others = outcomes[: self.runs], outcomes[self.runs :]
        if any(each.limit is not None for each in others):
            return False
        if self.answered and any(answers(each) is None for each in others):
            return False
        for wanted, some in zip(self.kept, (own, others), strict=True):
            if wanted and any(not _among(given(each), wanted) for each in some):
                return False
        if self._least(outcomes) > min(self._costs(own)):
            return False
        return True if len(outcomes) == self.runs + self.references else None

    def shown_by(self, run: Sequence[Outcome], limits: Limits) -> Criterion | None:
        """Return this with the answers of the run, and the least cost if that is not given."""
        if Criterion.shown_by(self, run, limits) is None:
            return None
        own, others = run[: self.runs], run[self.runs :]
        kept = frozenset() if self.free else _words(own)
        found = replace(self, kept=(kept, _words(others)))
        if self.at_least is not None or self.floor is not None:
            return found
        share = _SHARE_OF_SEVERAL if any(len(given(each)) > 1 for each in own) else _SHARE
        return replace(found, at_least=rounded_down(max(1.0, share * min(self._costs(own)))))

    def describe(self) -> str:
        least = [] if self.times is None else [f"{self.times:g} times that of the reference"]
        least += [] if self.at_least is None else [f"{self.at_least:,.12g}"]
        more = ", or more" if self.times is not None else " or more"
        said = f"{self.name} is {' and '.join(least)}{more}" if least else f"{self.name} is high"
        for who, words in zip(("the command answers", "its reference"), self.kept, strict=True):
            if words:
                said += f", {who} {b' or '.join(sorted(words)).decode()}"
        return said

    def missing_in(self, run: Sequence[Outcome]) -> str:
        own, others = run[: self.runs], run[self.runs :]
        numbers = ", ".join(f"{each:g}" for each in self._costs(own))
        if self.answered and any(answers(each) is None for each in others):
            return f"{self.describe()}; the reference gives no answer"
        said = f"{self.describe()}; it is {numbers}, and {self._least(run):g} is wanted"
        common = in_common(own) if not any(self._costs(own)) else ""
        return f"{said}; {common}" if common else said

    def _least(self, outcomes: Sequence[Outcome]) -> float:
        """Return the least cost to keep, by the runs of the reference so far."""
        least = 1.0 if self.at_least is None else self.at_least
        if self.times is None:
            return least
        others = self._costs(outcomes[self.runs :])
        return max(least, self.times * max([self.floor or 1.0, *others]))

    def _costs(self, outcomes: Sequence[Outcome]) -> list[float]:
        pattern = counter(self.name)
        return [cost(pattern, each) for each in outcomes]


def rounded_down(number: float) -> float:
    """Return the number with its first two digits, as people would give it."""
    unit = 10 ** max(0, len(str(int(number))) - 2)
    return float(number // unit * unit)


def _among(said: Sequence[bytes], wanted: frozenset[bytes]) -> bool:
    """Return whether there are answers, and only wanted ones."""
    return bool(said) and wanted.issuperset(said)


def _words(run: Sequence[Outcome]) -> frozenset[bytes]:
    """Return the answers of some runs; none if one of them gives none that can be trusted."""
    found = [given(each) for each in run]
    return frozenset().union(*found) if all(found) else frozenset()
