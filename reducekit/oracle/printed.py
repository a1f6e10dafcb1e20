"""How a command ends and what it prints; tests, whose exit status says what is wanted."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from reducekit.oracle.command import Command, Words
from reducekit.oracle.criterion import Around, Compared, Criterion, Kind, Making, OfCommand, regex
from reducekit.run import Limits, Outcome, ended


@dataclass(frozen=True, slots=True)
class Matches(Criterion):
    """An exit status, and patterns in the outputs; only those given count.

    An `exit_code` above 128 also matches the signal that a shell reports by that code; a negative
    one matches the signal of that number.
    """

    exit_code: int | None = None
    out: tuple[re.Pattern[bytes], ...] = ()
    err: tuple[re.Pattern[bytes], ...] = ()

    @property
    def captures(self) -> bool:
        return bool(self.out or self.err)

    def judge(self, outcomes: Sequence[Outcome]) -> bool:
        """Check the exit status and search for the patterns. A timeout never matches."""
        outcome = outcomes[0]
        if outcome.limit == "time":
            return False
        code = self.exit_code
        if code is not None:
            number = outcome.signal
            if number is None:
                if outcome.status != code:
                    return False
            elif outcome.limit is not None or code not in (-number, 128 + number):
                return False
        if not all(p.search(outcome.stderr) for p in self.err):
            return False
        from reducekit.oracle.answers import found_in

        return all(found_in(p, outcome) for p in self.out)

    def describe(self) -> str:
        parts = [] if self.exit_code is None else [_named(self.exit_code)]
        for name, patterns in (("stdout", self.out), ("stderr", self.err)):
            typed = (pattern.pattern.decode("utf-8", "backslashreplace") for pattern in patterns)
            parts += [f"{name} matching '{each}'" for each in typed]
        return " and ".join(parts)

    def missing_in(self, run: Sequence[Outcome]) -> str:
        return f"{self.describe()}; it ended with {run[0].describe()}"


def _named(code: int) -> str:
    if code < 0:
        return ended(None, -code)
    return f"exit status {code}" + (f" or {ended(None, code - 128)}" if code > 128 else "")


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


@dataclass(frozen=True, kw_only=True)
class Printed(OfCommand):
    """How the command ends, and what it prints."""

    exit_code: int | None = None
    match_out: Sequence[str] = ()
    match_err: Sequence[str] = ()

    def patterns(self) -> Matches:
        """Return the status and the patterns. Raises UsageError."""
        out = tuple(regex("match_out", each) for each in self.match_out)
        err = tuple(regex("match_err", each) for each in self.match_err)
        return Matches(self.exit_code, out, err)

    def printing(self, criterion: Criterion, runs: int = 1) -> Criterion:
        """Return a criterion together with the status and patterns that are given.

        The command has the first `runs` runs.
        """
        patterns = self.patterns()
        return criterion if patterns == Matches() else Printing(criterion, patterns, runs)


@dataclass(frozen=True, kw_only=True)
class Pattern(Printed):
    """A run ends with a certain status, or its output matches."""

    crashes: ClassVar[bool] = True

    def criterion(self) -> Criterion:
        return self.patterns()


@dataclass(frozen=True, slots=True)
class ExitZero(Criterion):
    """Exit status 0: the command is an interestingness test, or stands in for a predicate."""

    captures: bool = False
    wall: float | None = None
    words: str = field(default="the test accepts the file", compare=False)
    is_test: ClassVar[bool] = True

    def judge(self, outcomes: Sequence[Outcome]) -> bool:
        return outcomes[0].status == 0 and outcomes[0].limit is None

    def describe(self) -> str:
        return self.words

    def missing_in(self, run: Sequence[Outcome]) -> str:
        if self.words == WRONG_MODEL.words and run[0].status in (1, 2):
            return _NO_WRONG_MODEL[run[0].status - 1]
        return f"the test said no: {run[0].describe()}; exit status 0 means yes"


@dataclass(frozen=True, kw_only=True)
class Test(Kind):
    """An interestingness test says which files are interesting."""

    __test__ = False  # for pytest: its name begins with Test
    crashes: ClassVar[bool] = True
    oracle: Words | None = None

    def commands(self, made: Making) -> tuple[Command, ...]:
        return (made(self.oracle or ""),)

    def criterion(self) -> Criterion:
        return ExitZero()


@dataclass(frozen=True, kw_only=True)
class Predicate(Kind):
    """The same as a Python function: no command runs."""

    interesting: Callable[[bytes], bool] | None = None
    """The same as a function. It must always return the same for the same text."""

    def commands(self, made: Making) -> tuple[Command, ...]:
        return ()

    def criterion(self) -> Criterion:
        """Return the criterion in place of the function: exit status 0."""
        return ExitZero(words="the predicate holds")


WRONG_MODEL = ExitZero(words="a wrong model")  # the test of models says that a model is wrong
_NO_WRONG_MODEL = (
    "the model is right, or there is none",
    "the model is not checked, for the reason below; `reference` names another solver to check it",
)


@dataclass(frozen=True, kw_only=True)
class WrongModel(Compared):
    """A program prints a model that violates the input."""

    wrong_model: bool = False

    def criterion(self) -> Criterion:
        """Return the criterion: the test of models says so."""
        return WRONG_MODEL
