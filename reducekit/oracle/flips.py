"""Unstable answers: a solver answers some variants or seeds of a file, and not others."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

from reducekit.errors import UsageError
from reducekit.oracle.answers import answers, given, in_common
from reducekit.oracle.command import Command
from reducekit.oracle.cost import STEPS, _seeded, bound_of, cost, counter, counting, solver_of
from reducekit.oracle.criterion import Criterion, Making, OfCommand, verdict
from reducekit.oracle.responses import read_answers
from reducekit.run import Limits, Outcome

ROOM = 1.5  # how many times as many steps bad runs are given as good ones may take
_UNKNOWN = b"unknown"
_REASON = re.compile(rb'\(:reason-unknown "?([^)"\n]*)')


@dataclass(frozen=True, slots=True)
class Flips(Criterion):
    """Of some runs, on variants or with seeds, at least `good` are answered and `bad` are not.

    Whichever those are: a change of the text changes which runs are good, so that a criterion
    that names two of them refuses most texts that are just as unstable.

    The first run must not fail, and is always the first: so the verdict does not depend on the
    order of the others. Of those, a failed one is neither good nor bad.
    """

    runs: int
    good: int = 1
    bad: int = 1
    answer: bytes | None = None
    """What good runs answer; None: `sat` or `unsat`, before a run has shown which."""
    unknown: bytes | None = None
    """How bad runs end, as `_unknown` tells: incomplete is not the same as out of resources."""
    steps: str = ""  # the counter of the solver's steps; empty: it has none
    bound: int | None = None
    """The most steps of a run. Good runs take two thirds of it at most: without room between the
    two ends, a search finds texts that one run just solves and another just does not."""
    option: str = field(default="", compare=False)  # begins the option that sets such a bound
    counts_steps: ClassVar[bool] = True
    about_answers: ClassVar[bool] = True
    by_chance: ClassVar[bool] = True

    def judge(self, outcomes: Sequence[Outcome]) -> bool | None:
        """Count; stop once both ends are found, or can no longer be found."""
        if self._unknown(outcomes[0]) is None and answers(outcomes[0]) is None:
            return False  # an error, or nothing was asked
        good, bad = self.ends(outcomes)
        left = self.runs - len(outcomes)
        if good >= self.good and bad >= self.bad:
            return True
        if max(0, self.good - good) + max(0, self.bad - bad) > left:
            return False
        return None

    def ends(self, outcomes: Sequence[Outcome]) -> tuple[int, int]:
        """Return how many runs are good, and how many are bad."""
        found = [self._is_good(each) for each in outcomes]
        return found.count(True), found.count(False)

    def _is_good(self, outcome: Outcome) -> bool | None:
        unknown, given = self._unknown(outcome), answers(outcome)
        if unknown is not None:
            return False if self.unknown in (None, unknown) else None
        if given is None or self.answer not in (None, given[-1]):
            return None
        return True if self.bound is None or self._steps(outcome) * ROOM <= self.bound else None

    def _steps(self, outcome: Outcome) -> float:
        """Return the steps of a run of one query; 0 if they are not known.

        Solvers bound each query, and count for all of them.
        """
        if not self.steps or len(read_answers(outcome.stdout)) != 1:
            return 0
        return cost(counter(self.steps), outcome)

    def _unknown(self, outcome: Outcome) -> bytes | None:
        """Return why a run gave no answer; None if it gave one. The solver's reason, if known.

        The solver tells if it was asked; else its steps tell whether it ran out of them.
        """
        ended = _end(outcome)
        if ended != _UNKNOWN or self.bound is None or not (spent := self._steps(outcome)):
            return ended
        return _UNKNOWN + (b" (out of steps)" if spent >= self.bound else b" (incomplete)")

    def advice(self, run: Sequence[Outcome]) -> str | None:
        """Return the step limit to suggest, if none is set and the solver has one."""
        if not self.steps or self.bound is not None:
            return None
        most = max((self._steps(each) for each in run if answers(each) is not None), default=0)
        if not most:
            return None
        return (
            f"no bound of steps: how runs end may depend on the machine. Answered runs took up to "
            f"{most:,.0f} steps: try `{self.option}{_rounded(ROOM * most)}`"
        )

    def next_order(self, order: Sequence[int], run: Sequence[Outcome]) -> Sequence[int]:
        """Put the runs that decided after the first one, as far as they were needed."""
        missing: dict[bool | None, int] = {True: self.good, False: self.bad}
        deciding = []
        for number, outcome in zip(order, run, strict=False):
            end = self._is_good(outcome)
            if missing.get(end, 0):
                missing[end] -= 1
                deciding.append(number)
        rest = [each for each in order if each not in deciding]
        return sorted((*deciding, *rest), key=lambda each: each != order[0])

    def describe(self) -> str:
        good = "answer" if self.answer is None else f"answer {self.answer.decode()}"
        if self.bound is not None:
            good += f" within {self.bound / ROOM:,.0f} steps"
        bad = "do not" if self.unknown is None else f"end with {self.unknown.decode()}"
        return f"of {self.runs} runs at least {self.good} {good} and {self.bad} {bad}"

    def shown_by(self, run: Sequence[Outcome], limits: Limits) -> Criterion | None:
        """Return the same with the most frequent answer, and the most frequent bad end."""
        good = [given[-1] for each in run if self._is_good(each) and (given := answers(each))]
        bad = [ended for each in run if (ended := self._unknown(each)) is not None]
        if not good or not bad:
            return None
        pinned = replace(
            self,
            answer=max(sorted(set(good)), key=good.count),
            unknown=max(sorted(set(bad)), key=bad.count),
        )
        return pinned if verdict(pinned, run) else None

    def missing_in(self, run: Sequence[Outcome]) -> str:
        good, bad = self.ends(run)
        late = sum(answers(each) is not None for each in run) - good
        said = f"{self.describe()}; {good} were answered, {bad} were not"
        if common := in_common(run):
            said += f"; {common}"
        if self.bound is None or not late:
            return said
        most = max(self._steps(each) for each in run if answers(each) is not None)
        higher = f"{self.option}{_rounded(ROOM * most)}"
        return f"{said}, and {late} were answered with more steps: try `{higher}`"


def _end(outcome: Outcome) -> bytes | None:
    """Return how a run failed to answer: the solver's reason, if it was asked; None if it did not.

    A crash and an error are no such end.
    """
    if outcome.limit == "time":
        return b"the time limit"
    if _UNKNOWN not in given(outcome):
        return None
    reason = _REASON.search(outcome.stdout, outcome.stdout.find(_UNKNOWN))
    return _UNKNOWN if reason is None else _UNKNOWN + b" (" + reason[1].strip() + b")"


def _rounded(number: float) -> int:
    """Return the next number of two digits and zeros."""
    unit = 10 ** max(0, len(str(int(number))) - 2)
    return int(-(-number // unit) * unit)


@dataclass(frozen=True, kw_only=True)
class Unstable(OfCommand):
    """Some variants of the file are answered and others are not, each with a seed of its own."""

    unstable: int | None = None
    good: int = 1
    bad: int = 1

    def commands(self, made: Making) -> tuple[Command, ...]:
        count, needed = self.unstable or 1, self.good + self.bad
        if count < needed:
            raise UsageError(f"`unstable` {count} is too few for `good` and `bad`: give {needed}")
        return self._on(range(count), made)

    def fresh(self, count: int, made: Making) -> tuple[Command, ...]:
        used = self.unstable or 1
        return self._on(range(used, used + count), made)

    def _on(self, numbers: Sequence[int], made: Making) -> tuple[Command, ...]:
        command = self.command or ""
        solver = solver_of(command)
        if solver is not None and solver.bound:
            command = counting(command)
        found = _seeded(command, [str(seed) for seed in numbers], always=True)
        return tuple(
            made(words)._replace(variant=number)
            for number, words in zip(numbers, found, strict=True)
        )

    def criterion(self) -> Criterion:
        """Return how many runs end in which way, and within how many steps, if that is known."""
        found = Flips(self.unstable or 1, self.good, self.bad)
        solver = solver_of(self.command or "")
        if solver is None or not solver.bound:
            return found
        return replace(
            found,
            steps=solver.counters[STEPS],
            bound=bound_of(self.command or ""),
            option=solver.bound,
        )
