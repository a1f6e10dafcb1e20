"""A kind of failure: what one asks for it by, what runs on a candidate, and what judges that.

A kind of failure stands in one file, with its options and commands (`Kind`) and its judge
(`Criterion`). The table of kinds and the help of their options are in `reducekit.session.failure`.
Which options exclude each other is declared nowhere: options go together if there is a kind that
has both.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple, Protocol, TypeAlias, TypeVar

from reducekit.errors import UsageError
from reducekit.oracle.command import Command, Words
from reducekit.run import Limits, Outcome


class Criterion(Protocol):
    """Judges the outcomes of an oracle's commands."""

    @property
    def captures(self) -> bool:
        """Whether the criterion looks at the outputs; if not, they are discarded unread."""
        return True

    @property
    def wall(self) -> float | None:
        """The wall time limit in seconds that the criterion needs; None if it needs none."""
        return None

    def judge(self, outcomes: Sequence[Outcome]) -> bool | None:
        """Return whether the candidate is interesting; None asks for the next command's outcome."""

    def unresolved(self, outcomes: Sequence[Outcome]) -> bool:
        """Return whether a candidate that is not interesting cannot be said to pass either.

        A run that was stopped by a limit says neither.
        """
        return any(outcome.limit is not None for outcome in outcomes)

    @property
    def counts_steps(self) -> bool:
        """Whether the solver's steps decide: a time limit that is too short would, too."""
        return False

    @property
    def about_answers(self) -> bool:
        """Whether it wants a query answered, and more: in other runs, or what the answer costs."""
        return False

    @property
    def compares_answers(self) -> bool:
        """Whether it wants runs answered: in two ways, or `about_answers`."""
        return self.about_answers

    @property
    def by_chance(self) -> bool:
        """Whether small changes of a text decide as if by chance."""
        return False

    @property
    def is_test(self) -> bool:
        """Whether the command is a test, whose exit status is the verdict."""
        return False

    def describe(self) -> str:
        """Describe the preserved failure."""

    def shown_by(self, run: Sequence[Outcome], limits: Limits) -> Criterion | None:
        """Return what a run on the input shows of the failure; None if it does not show it.

        What is returned judges the candidates: it may be more precise than what was asked for,
        such as in which direction two answers differ. `limits` are those of the run.
        """
        return self if verdict(self, run) else None

    def next_order(self, order: Sequence[int], run: Sequence[Outcome]) -> Sequence[int]:
        """Return in which order to run the commands after an interesting `run` in `order`.

        It must not matter to the verdict: it may save runs, where the last ones are not needed.
        """
        return order

    def missing_in(self, run: Sequence[Outcome]) -> str:
        """Explain what is wanted and why a run on the input does not show it."""
        return self.describe()

    def advice(self, run: Sequence[Outcome]) -> str | None:
        """Return how the command could be asked better; None if it is asked well."""
        return None


def verdict(criterion: Criterion, outcomes: Sequence[Outcome]) -> bool:
    """Judge a complete list of outcomes one by one, as an executor does."""
    for count in range(1, len(outcomes) + 1):
        judged = criterion.judge(outcomes[:count])
        if judged is not None:
            return judged
    return False


@dataclass(frozen=True, slots=True)
class Around(Criterion):
    """Leaves to an inner criterion what a class around it says nothing of."""

    inner: Criterion

    @property
    def captures(self) -> bool:
        return self.inner.captures

    @property
    def wall(self) -> float | None:
        return self.inner.wall

    @property
    def counts_steps(self) -> bool:
        return self.inner.counts_steps

    @property
    def about_answers(self) -> bool:
        return self.inner.about_answers

    @property
    def compares_answers(self) -> bool:
        return self.inner.compares_answers

    def judge(self, outcomes: Sequence[Outcome]) -> bool | None:
        return self.inner.judge(outcomes)

    def unresolved(self, outcomes: Sequence[Outcome]) -> bool:
        """Return whether the inner criterion cannot tell."""
        return self.inner.unresolved(outcomes)

    def describe(self) -> str:
        return self.inner.describe()

    def shown_by(self, run: Sequence[Outcome], limits: Limits) -> Criterion | None:
        """Return this around the inner criterion specialised by the run."""
        inner = self.inner.shown_by(run, limits)
        return None if inner is None else replace(self, inner=inner)

    def next_order(self, order: Sequence[int], run: Sequence[Outcome]) -> Sequence[int]:
        return self.inner.next_order(order, run)

    def missing_in(self, run: Sequence[Outcome]) -> str:
        return self.inner.missing_in(run)


@dataclass(frozen=True, slots=True)
class AroundFirst(Around):
    """A criterion around that of the first commands; the others run last, if they have to."""

    first: int  # the number of commands that the inner criterion judges

    def unresolved(self, outcomes: Sequence[Outcome]) -> bool:
        return len(outcomes) > self.first or self.inner.unresolved(outcomes[: self.first])

    def next_order(self, order: Sequence[int], run: Sequence[Outcome]) -> Sequence[int]:
        first = self.inner.next_order(order[: self.first], run[: self.first])
        return (*first, *order[self.first :])


_C = TypeVar("_C", bound="Criterion")


def within(criterion: Criterion, kind: type[_C]) -> _C | None:
    """Return the one of a class that a criterion is, or is around; None if there is none."""
    found: Criterion = criterion
    while not isinstance(found, kind):
        if not isinstance(found, Around):
            return None
        found = found.inner
    return found


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
class Everything(Criterion):
    """Accepts anything: has all commands run, and captures their output."""

    commands: int

    def judge(self, outcomes: Sequence[Outcome]) -> bool | None:
        return True if len(outcomes) == self.commands else None

    def describe(self) -> str:
        return "whatever happens"


class Oracle(NamedTuple):
    """Commands, run in order on the same candidate, and the criterion that judges their outcomes.

    The criterion is asked after each command; its answer may save the remaining ones.
    """

    commands: tuple[Command, ...]
    criterion: Criterion
    resolves: bool = False  # whether to distinguish unresolved candidates from passing ones


Making: TypeAlias = Callable[[Words], Command]
"""Makes a command as the options say, such as with a shell or standard input."""


@dataclass(frozen=True, kw_only=True)
class Kind(ABC):
    """A kind of failure: inherit, have options of `Failure` as fields, and say what they mean.

    Messages name an option `like_this`, as in Python; a face spells it in its own way.
    """

    crashes: ClassVar[bool] = False
    """Whether it may be a crash, whose place in the code can be kept."""

    @abstractmethod
    def commands(self, made: Making) -> tuple[Command, ...]:
        """Return the commands of a check, in order. Raises UsageError if one cannot be run."""

    @abstractmethod
    def criterion(self) -> Criterion:
        """Return what judges their outcomes. Raises UsageError for values that contradict."""

    def fresh(self, count: int, made: Making) -> tuple[Command, ...]:
        """Return the command on as many variants that no check uses, if this kind has variants."""
        return ()


@dataclass(frozen=True, kw_only=True)
class OfCommand(Kind):
    """A failure of one command: for most kinds the only one that runs."""

    command: Words | None = None

    def commands(self, made: Making) -> tuple[Command, ...]:
        return (made(self.command or ""),)


@dataclass(frozen=True, kw_only=True)
class Compared(OfCommand):
    """Two programs run on the same file."""

    reference: Words | None = None

    def commands(self, made: Making) -> tuple[Command, ...]:
        return (
            *super().commands(made),
            *(() if self.reference is None else (made(self.reference),)),
        )


def regex(option: str, text: str) -> re.Pattern[bytes]:
    """Compile a pattern for an output. Raises UsageError."""
    try:
        return re.compile(text.encode("utf-8", "surrogateescape"), re.MULTILINE)
    except re.error as error:
        raise UsageError(
            f"`{option}`: {text!r} is not a regular expression: {error}; to match the text as it "
            f"is, write '{re.escape(text)}'"
        ) from None
