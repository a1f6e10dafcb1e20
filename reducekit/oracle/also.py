"""Criteria around others: other programs accept the candidate, no run warns or is unresolved."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from reducekit.oracle.answers import understands
from reducekit.oracle.criterion import Around, AroundFirst, Criterion
from reducekit.oracle.printed import Matches
from reducekit.oracle.signature import is_failure
from reducekit.run import Limits, Outcome

_WARNING = re.compile(rb"^warning:", re.IGNORECASE | re.MULTILINE)


def accepts(outcome: Outcome) -> bool:
    """Return whether a program read its input and ended without a failure."""
    return outcome.limit is None and not is_failure(outcome)


@dataclass(frozen=True, slots=True)
class Accepts(Criterion):
    """A program reads the file and ends without a failure.

    `understood`: it must not print `unsupported` either, which is how some solvers skip a command
    that they do not know.
    """

    understood: bool = field(default=False, compare=False)

    def judge(self, outcomes: Sequence[Outcome]) -> bool:
        """Look at how the program ended and at what it printed."""
        return accepts(outcomes[0]) and not (self.understood and not understands(outcomes[0]))

    def describe(self) -> str:
        return "another program accepts the file"

    def shown_by(self, run: Sequence[Outcome], limits: Limits) -> Criterion | None:
        """Ask for no `unsupported` if there is none on the input."""
        return replace(self, understood=understands(run[0])) if accepts(run[0]) else None


@dataclass(frozen=True, slots=True)
class Also(AroundFirst):
    """A criterion holds for the first commands, and one criterion for each remaining command.

    The remaining programs run last, and only if the text is interesting without them.
    """

    others: tuple[Criterion, ...]
    names: tuple[str, ...] = field(default=(), compare=False)
    """What the remaining commands are called in messages: option and program."""
    captures: bool = True

    @property
    def about_answers(self) -> bool:
        return self.inner.about_answers or any(isinstance(each, Matches) for each in self.others)

    @property
    def compares_answers(self) -> bool:
        return self.inner.compares_answers or self.about_answers

    def judge(self, outcomes: Sequence[Outcome]) -> bool | None:
        count = len(outcomes)
        if count <= self.first:
            judged = self.inner.judge(outcomes)
            return None if judged is True or (judged is None and count < self.first) else False
        if not self.others[count - self.first - 1].judge(outcomes[-1:]):
            return False
        return True if count == self.first + len(self.others) else None

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


@dataclass(frozen=True, slots=True)
class Resolved(Around):
    """The inner criterion, except for runs that end with the status for `unresolved`."""

    status: int  # an exit status, or a signal's number below 0

    @property
    def is_test(self) -> bool:
        return self.inner.is_test

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
