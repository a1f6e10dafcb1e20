"""What makes outcomes interesting: one small class per kind of failure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from reducekit.oracle.answers import ORDINARY, answers, difference, found_in, in_common, understands
from reducekit.oracle.limits import Limits
from reducekit.oracle.outcome import Outcome, ended
from reducekit.oracle.signature import Signature, is_failure, is_memory_fault, signature


class Criterion(Protocol):
    """Judges the outcomes of an oracle's commands."""

    @property
    def captures(self) -> bool:
        """Whether the criterion looks at the outputs; if not, they are discarded unread."""

    @property
    def wall(self) -> float | None:
        """The wall time limit in seconds that the criterion needs; None if it needs none."""

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


def verdict(criterion: Criterion, outcomes: Sequence[Outcome]) -> bool:
    """Judge a complete list of outcomes one by one, as an executor does."""
    for count in range(1, len(outcomes) + 1):
        judged = criterion.judge(outcomes[:count])
        if judged is not None:
            return judged
    return False


def rest_last(
    inner: Criterion, first: int, order: Sequence[int], run: Sequence[Outcome]
) -> Sequence[int]:
    """Return the next order of commands of which `inner` judges the `first`: the rest runs last."""
    return (*inner.next_order(order[:first], run[:first]), *order[first:])


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
class Everything(Criterion):
    """Accepts anything: has all commands run, and captures their output."""

    commands: int
    captures: bool = True
    wall: float | None = None

    def judge(self, outcomes: Sequence[Outcome]) -> bool | None:
        return True if len(outcomes) == self.commands else None

    def describe(self) -> str:
        return "whatever happens"


@dataclass(frozen=True, slots=True)
class ExitZero(Criterion):
    """Exit status 0: the command is an interestingness test, or stands in for a predicate."""

    captures: bool = False
    wall: float | None = None
    words: str = field(default="the test accepts the file", compare=False)

    def judge(self, outcomes: Sequence[Outcome]) -> bool:
        return outcomes[0].status == 0 and outcomes[0].limit is None

    def describe(self) -> str:
        return self.words

    def missing_in(self, run: Sequence[Outcome]) -> str:
        if self.words == WRONG_MODEL.words and run[0].status in (1, 2):
            return _NO_WRONG_MODEL[run[0].status - 1]
        return f"the test said no: {run[0].describe()}; exit status 0 means yes"


WRONG_MODEL = ExitZero(words="a wrong model")
"""The test of models says that a model is wrong."""
_NO_WRONG_MODEL = (
    "the model is right, or there is none",
    "the model is not checked, for the reason below; `reference` names another solver to check it",
)


@dataclass(frozen=True, slots=True)
class SameSignature(Criterion):
    """The same exit status or signal, and the same normalised failure line.

    A stream that is switched off (`out`, `err`) is ignored.
    """

    expected: Signature
    out: bool = True
    err: bool = True
    wall: float | None = None

    @property
    def captures(self) -> bool:
        return self.out or self.err

    def judge(self, outcomes: Sequence[Outcome]) -> bool:
        outcome, expected = outcomes[0], self.expected
        if outcome.limit is None and (outcome.status, outcome.signal) != (
            expected.status,
            expected.signal,
        ):
            return False  # saves the comparison of the texts
        return expected.covers(signature(outcome, out=self.out, err=self.err))

    def unresolved(self, outcomes: Sequence[Outcome]) -> bool:
        """Return whether the run failed in another way, as on a text that is not of the format."""
        return is_failure(outcomes[0])

    def describe(self) -> str:
        return self.expected.describe()


@dataclass(frozen=True, slots=True)
class MemoryFault(Criterion):
    """A crash by a memory error: SIGSEGV without a message, or any abort for a corrupt heap."""

    found: Signature = field(compare=False, repr=False)
    """How it was first seen."""
    captures: bool = True
    wall: float | None = None

    def judge(self, outcomes: Sequence[Outcome]) -> bool:
        """Return whether the run ended in one of these ways."""
        return is_memory_fault(signature(outcomes[0]))

    def unresolved(self, outcomes: Sequence[Outcome]) -> bool:
        """Return whether the run failed in another way."""
        return is_failure(outcomes[0])

    def describe(self) -> str:
        return self.found.describe()


@dataclass(frozen=True, slots=True)
class Matches(Criterion):
    """An exit status, and patterns in the outputs; only those given count.

    An `exit_code` above 128 also matches the signal that a shell reports by that code; a negative
    one matches the signal of that number.
    """

    exit_code: int | None = None
    out: tuple[re.Pattern[bytes], ...] = ()
    err: tuple[re.Pattern[bytes], ...] = ()
    wall: float | None = None

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
        return all(found_in(p, outcome) for p in self.out) and all(
            p.search(outcome.stderr) for p in self.err
        )

    def describe(self) -> str:
        parts = [] if self.exit_code is None else [_named(self.exit_code)]
        for name, patterns in (("stdout", self.out), ("stderr", self.err)):
            parts += [f"{name} matching {_show(pattern.pattern)}" for pattern in patterns]
        return " and ".join(parts)

    def missing_in(self, run: Sequence[Outcome]) -> str:
        return f"{self.describe()}; it ended with {run[0].describe()}"


def _named(code: int) -> str:
    """Describe an exit code, including the signal that it may encode."""
    if code < 0:
        return ended(None, -code)
    return f"exit status {code}" + (f" or {ended(None, code - 128)}" if code > 128 else "")


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

    def judge(self, outcomes: Sequence[Outcome]) -> bool | None:
        """Compare the answers; the second command does not run if the first gave none."""
        if self.understood and not all(map(understands, outcomes)):
            return False
        if self.statuses and any(map(self._is_doubted, outcomes)):
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

    def _is_doubted(self, outcome: Outcome) -> bool:
        """Return whether a run ended as on the input neither command did, without a word."""
        return outcome.status not in (*ORDINARY, *self.statuses) and b"(error" not in outcome.stdout


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


_TELLING = 0.1  # seconds


@dataclass(frozen=True, slots=True)
class TimesOut(Criterion):
    """The run does not end within the time limit, which stays that of the golden run."""

    wall: float | None
    captures: bool = False

    def judge(self, outcomes: Sequence[Outcome]) -> bool:
        """Check whether the time limit ended the run."""
        return outcomes[0].limit == "time"

    def describe(self) -> str:
        return "does not end in time" + ("" if self.wall is None else f" ({self.wall:g} s)")


@dataclass(frozen=True, slots=True)
class OwnFailure(Criterion):
    """The command's own failure, before a run has shown what that is.

    A stream that is switched off (`out`, `err`) is ignored.
    """

    out: bool = True
    err: bool = True
    captures: bool = True
    wall: float | None = None

    def judge(self, outcomes: Sequence[Outcome]) -> bool:
        return self.shown_by(outcomes, Limits()) is not None

    def describe(self) -> str:
        return OWN_FAILURE

    def shown_by(self, run: Sequence[Outcome], limits: Limits) -> Criterion | None:
        """Return how the run failed: its signature, or that it ran into the time limit."""
        outcome = run[0]
        if outcome.limit == "time":
            return TimesOut(limits.wall)
        seen = replace(
            outcome,
            stdout=outcome.stdout if self.out else b"",
            stderr=outcome.stderr if self.err else b"",
        )
        return SameSignature(signature(seen), self.out, self.err) if is_failure(seen) else None


OWN_FAILURE = "the command's own failure"


def _show(pattern: bytes) -> str:
    """Return a pattern as it was typed."""
    return f"'{pattern.decode('utf-8', 'backslashreplace')}'"
