"""Criteria for other programs that must accept a candidate, too."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from reducekit.oracle.answers import understands
from reducekit.oracle.cost import CostAtLeast
from reducekit.oracle.criterion import Around, Criterion, Disagree, Matches, rest_last
from reducekit.oracle.flips import Flips
from reducekit.oracle.limits import Limits
from reducekit.oracle.outcome import Outcome
from reducekit.oracle.signature import is_failure

_WARNING = re.compile(rb"^warning:", re.IGNORECASE | re.MULTILINE)


def accepts(outcome: Outcome) -> bool:
    """Return whether a program read its input and ended without a failure."""
    return outcome.limit is None and not is_failure(outcome)


def innermost(criterion: Criterion) -> Criterion:
    """Return the criterion of the first commands, without those around it."""
    while isinstance(criterion, Around):
        criterion = criterion.inner
    return criterion


def changed_innermost(criterion: Criterion, change: Callable[[Criterion], Criterion]) -> Criterion:
    """Return a criterion with that of the first commands changed by a function."""
    if isinstance(criterion, Around):
        return replace(criterion, inner=changed_innermost(criterion.inner, change))
    return change(criterion)


@dataclass(frozen=True, slots=True)
class Accepts(Criterion):
    """A program reads the file and ends without a failure.

    `understood`: it must not print `unsupported` either, which is how some solvers skip a command
    that they do not know.
    """

    understood: bool = field(default=False, compare=False)
    captures: bool = True
    wall: float | None = None

    def judge(self, outcomes: Sequence[Outcome]) -> bool:
        """Look at how the program ended and at what it printed."""
        return accepts(outcomes[0]) and not (self.understood and not understands(outcomes[0]))

    def describe(self) -> str:
        return "another program accepts the file"

    def shown_by(self, run: Sequence[Outcome], limits: Limits) -> Criterion | None:
        """Ask for no `unsupported` if there is none on the input."""
        return replace(self, understood=understands(run[0])) if accepts(run[0]) else None


@dataclass(frozen=True, slots=True)
class Also(Around):
    """A criterion holds for the first commands, and one criterion for each remaining command.

    The remaining programs run last, and only if the text is interesting without them.
    """

    first: int
    """The number of commands that the inner criterion judges."""
    others: tuple[Criterion, ...]
    names: tuple[str, ...] = field(default=(), compare=False)
    """What the remaining commands are called in messages: option and program."""
    captures: bool = True

    def judge(self, outcomes: Sequence[Outcome]) -> bool | None:
        count = len(outcomes)
        if count <= self.first:
            judged = self.inner.judge(outcomes)
            return None if judged is True or (judged is None and count < self.first) else False
        if not self.others[count - self.first - 1].judge(outcomes[-1:]):
            return False
        return True if count == self.first + len(self.others) else None

    def unresolved(self, outcomes: Sequence[Outcome]) -> bool:
        return len(outcomes) > self.first or self.inner.unresolved(outcomes[: self.first])

    def describe(self) -> str:
        programs = sum(isinstance(each, Accepts) for each in self.others)
        parts = [self.inner.describe()]
        parts += [
            f"{name} has {each.describe()}"
            for name, each in zip(self.names, self.others, strict=False)
            if not isinstance(each, Accepts)
        ]
        if programs:
            which = "another program accepts" if programs == 1 else f"{programs} others accept"
            parts.append(f"{which} the file")
        return ", and ".join(parts)

    def shown_by(self, run: Sequence[Outcome], limits: Limits) -> Criterion | None:
        inner = self.inner.shown_by(run[: self.first], limits)
        others = [
            each.shown_by([outcome], limits)
            for each, outcome in zip(self.others, run[self.first :], strict=True)
        ]
        found = tuple(each for each in others if each is not None)
        if inner is None or len(found) < len(others):
            return None
        return replace(self, inner=inner, others=found)

    def next_order(self, order: Sequence[int], run: Sequence[Outcome]) -> Sequence[int]:
        return rest_last(self.inner, self.first, order, run)

    def missing_in(self, run: Sequence[Outcome]) -> str:
        """Name the program that rejects the input, if the rest is as wanted."""
        if self.inner.shown_by(run[: self.first], Limits()) is None:
            return self.inner.missing_in(run[: self.first])
        rest = run[self.first :]
        at = next(n for n, each in enumerate(self.others) if not each.judge([rest[n]]))
        if isinstance(self.others[at], Accepts):
            return f"a program of `also_passes` does not accept it: {self.names[at]}"
        return f"{self.names[at]}: {self.others[at].missing_in([rest[at]])}"


@dataclass(frozen=True, slots=True)
class Printing(Around):
    """The inner criterion holds, and the first `runs` outcomes match patterns."""

    patterns: Matches
    runs: int = 1
    captures: bool = True

    def judge(self, outcomes: Sequence[Outcome]) -> bool | None:
        if len(outcomes) <= self.runs and not self.patterns.judge(outcomes[-1:]):
            return False
        return self.inner.judge(outcomes)

    def describe(self) -> str:
        return f"{self.inner.describe()}, and {self.patterns.describe()}"

    def shown_by(self, run: Sequence[Outcome], limits: Limits) -> Criterion | None:
        if not all(self.patterns.judge([each]) for each in run[: self.runs]):
            return None
        return Around.shown_by(self, run, limits)

    def missing_in(self, run: Sequence[Outcome]) -> str:
        for each in run[: self.runs]:
            if not self.patterns.judge([each]):
                return self.patterns.missing_in([each])
        return self.inner.missing_in(run)


@dataclass(frozen=True, slots=True)
class Quiet(Around):
    """The inner criterion holds, and no run warns, if none does on the input.

    z3 warns of a pattern without all variables and goes on without it: its answer is then one to
    another query.
    """

    captures: bool = True

    def judge(self, outcomes: Sequence[Outcome]) -> bool | None:
        return False if _warns(outcomes[-1]) else self.inner.judge(outcomes)

    def unresolved(self, outcomes: Sequence[Outcome]) -> bool:
        return _warns(outcomes[-1]) or self.inner.unresolved(outcomes)

    def shown_by(self, run: Sequence[Outcome], limits: Limits) -> Criterion | None:
        if any(map(_warns, run)):
            return self.inner.shown_by(run, limits)
        return Around.shown_by(self, run, limits)


def _warns(outcome: Outcome) -> bool:
    return _WARNING.search(outcome.stderr) is not None


def about_answers(criterion: Criterion) -> bool:
    """Return whether a criterion wants a query answered, and more: in other runs, or its cost."""
    while isinstance(criterion, Around):
        others = criterion.others if isinstance(criterion, Also) else ()
        if any(isinstance(each, Matches) for each in others):
            return True
        criterion = criterion.inner
    return isinstance(criterion, Flips | CostAtLeast)


def compares_answers(criterion: Criterion) -> bool:
    """Return whether a criterion wants runs answered: in two ways, or as `about_answers` tells."""
    return isinstance(innermost(criterion), Disagree) or about_answers(criterion)
