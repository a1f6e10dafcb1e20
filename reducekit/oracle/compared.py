"""Disagreement: two programs answer differently."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from reducekit.errors import UsageError
from reducekit.oracle.answers import ORDINARY, answers, difference, in_common, understands
from reducekit.oracle.criterion import Compared, Criterion, verdict
from reducekit.oracle.printed import Printed
from reducekit.run import Limits, Outcome


@dataclass(frozen=True, slots=True)
class Disagree(Criterion):
    """Two commands answer differently, in the same direction as in the golden run.

    `expected` are the first differing answers of the first and the second command; None accepts
    either direction, for the golden run. `understood` requires that neither prints `unsupported`,
    which is how some solvers skip a command that they do not know.
    """

    expected: tuple[bytes, bytes] | None = None
    understood: bool = field(default=False, compare=False)
    statuses: tuple[int | None, ...] = field(default=(), compare=False)
    """The exit statuses on the input: another one, without an error that explains it, is doubted.
    Empty: any will do."""
    captures: bool = True
    wall: float | None = None
    compares_answers: ClassVar[bool] = True

    def judge(self, outcomes: Sequence[Outcome]) -> bool | None:
        """Compare the answers; the second command does not run if the first gave none."""
        if self.understood and not all(map(understands, outcomes)):
            return False
        usual = (*ORDINARY, *self.statuses)
        # One that ended as on the input neither command did, without a word, is doubted.
        odd = (each for each in outcomes if each.status not in usual)
        if self.statuses and any(b"(error" not in each.stdout for each in odd):
            return False
        if len(outcomes) == 1:
            given = answers(outcomes[0])
            if given is None or (self.expected is not None and self.expected[0] not in given):
                return False
            return None
        found = difference(outcomes[0], outcomes[1])
        return found is not None and self.expected in (None, found)

    def describe(self) -> str:
        if self.expected is None:
            return "the answers of the command and its reference differ"
        mine, other = (answer.decode() for answer in self.expected)
        return f"the command answers {mine}, its reference {other}"

    def shown_by(self, run: Sequence[Outcome], limits: Limits) -> Criterion | None:
        if self.expected is not None:
            return self if verdict(self, run) else None
        pair = difference(run[0], run[1])
        if pair is None:
            return None
        statuses = tuple(each.status for each in run[:2])
        return Disagree(pair, all(map(understands, run[:2])), statuses)

    def missing_in(self, run: Sequence[Outcome]) -> str:
        how = [in_common([each]).removeprefix("it ") for each in run[:2]]
        ends = [said or each.describe() for said, each in zip(how, run, strict=False)]
        return f"{self.describe()}; the command {ends[0]}, its reference {ends[1]}"


@dataclass(frozen=True, kw_only=True)
class Disagreement(Compared, Printed):
    """Two programs answer differently."""

    def criterion(self) -> Criterion:
        """Return the criterion: their answers differ."""
        return self.printing(Disagree())


_TELLING = 0.1  # seconds


@dataclass(frozen=True, slots=True)
class SlowerThan(Criterion):
    """The run takes at least `seconds` of wall time."""

    seconds: float
    captures: bool = False

    @property
    def wall(self) -> float:
        """The run is stopped as soon as it is slow enough."""
        return self.seconds

    def judge(self, outcomes: Sequence[Outcome]) -> bool:
        return outcomes[0].seconds >= self.seconds

    def describe(self) -> str:
        return f"takes {self.seconds:g} s or more"


@dataclass(frozen=True, slots=True)
class SlowerThanReference(Criterion):
    """The first command is slow and the second, on the same file, is not.

    Either it takes at least `seconds` and the second does not, or it takes at least `ratio` times
    as long. Runs shorter than a tenth of a second do not count as slow.
    """

    seconds: float | None = None
    ratio: float | None = None
    captures: bool = False

    @property
    def wall(self) -> float | None:
        """The runs are stopped as soon as they are slow enough."""
        return self.seconds

    def judge(self, outcomes: Sequence[Outcome]) -> bool | None:
        """Compare the times; the second command does not run if the first is quick."""
        first = outcomes[0].seconds
        if first < (_TELLING if self.seconds is None else self.seconds):
            return False
        if len(outcomes) == 1:
            return None
        other = outcomes[1]
        if other.limit is not None:
            return False
        if self.seconds is not None:
            return other.seconds < self.seconds
        return first >= (self.ratio or 1.0) * max(other.seconds, _TELLING / 10)

    def describe(self) -> str:
        if self.seconds is not None:
            return f"takes {self.seconds:g} s or more, and the reference less"
        return f"takes {self.ratio:g} times as long as the reference, or more"


@dataclass(frozen=True, kw_only=True)
class Slow(Compared):
    """A run takes long, or longer than that of another program."""

    slower_than: float | None = None
    slower_ratio: float | None = None  # the least ratio of the time to that of the `reference`

    def criterion(self) -> Criterion:
        if self.slower_than is not None and self.slower_ratio is not None:
            raise UsageError("`slower_than` is a time or a ratio: give one")
        if self.reference is not None:
            return SlowerThanReference(self.slower_than, self.slower_ratio)
        if self.slower_than is None:
            raise UsageError("`slower_than` as a ratio needs `reference`: slower than what?")
        return SlowerThan(self.slower_than)
