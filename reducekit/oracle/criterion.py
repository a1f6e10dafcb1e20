"""What makes the end of a run interesting: small pieces, each for one kind of failure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from reducekit.oracle.outcome import Outcome
from reducekit.oracle.responses import read_answers
from reducekit.oracle.signature import Signature, failure_line, is_failure, signature


class Criterion(Protocol):
    """Judges the outcomes of an oracle's commands."""

    @property
    def captures(self) -> bool:
        """Whether the outputs are looked at; if not, they are thrown away unread."""

    @property
    def wall(self) -> float | None:
        """The wall limit in seconds that belongs to the criterion; None: any will do."""

    def judge(self, outcomes: Sequence[Outcome]) -> bool | None:
        """Say whether the candidate is interesting; None asks for the next command's outcome."""

    def describe(self) -> str:
        """Say in words what is kept alive."""


def verdict(criterion: Criterion, outcomes: Sequence[Outcome]) -> bool:
    """Judge a complete list of outcomes, one after the other as an executor does."""
    for count in range(1, len(outcomes) + 1):
        judged = criterion.judge(outcomes[:count])
        if judged is not None:
            return judged
    return False


@dataclass(frozen=True, slots=True)
class Everything:
    """Whatever happens: has all commands run, and keeps what they print."""

    commands: int
    captures: bool = True
    wall: float | None = None

    def judge(self, outcomes: Sequence[Outcome]) -> bool | None:
        """Ask for all outcomes."""
        return True if len(outcomes) == self.commands else None

    def describe(self) -> str:
        """Say in words what is kept alive."""
        return "whatever happens"


@dataclass(frozen=True, slots=True)
class ExitZero:
    """Exit status 0: the command is an interestingness test."""

    captures: bool = False
    wall: float | None = None

    def judge(self, outcomes: Sequence[Outcome]) -> bool:
        """Look at the exit status only."""
        return outcomes[0].status == 0 and outcomes[0].limit is None

    def describe(self) -> str:
        """Say in words what is kept alive."""
        return "exit status 0"


@dataclass(frozen=True, slots=True)
class SameSignature:
    """The same exit status or signal, and the same normalised failure line.

    Of a stream that is not used (`out`, `err`) nothing is looked at.
    """

    expected: Signature
    out: bool = True
    err: bool = True
    wall: float | None = None

    @property
    def captures(self) -> bool:
        """Whether any stream is used."""
        return self.out or self.err

    def judge(self, outcomes: Sequence[Outcome]) -> bool:
        """Compare the signatures."""
        outcome, expected = outcomes[0], self.expected
        if outcome.limit is None and (outcome.status, outcome.signal) != (
            expected.status,
            expected.signal,
        ):
            return False  # spares the look at the texts
        return signature(outcome, out=self.out, err=self.err) == expected

    def describe(self) -> str:
        """Say in words what is kept alive."""
        return self.expected.describe()


@dataclass(frozen=True, slots=True)
class Matches:
    """An exit status, and patterns found in the outputs; each only if given.

    An `exit_code` above 128 also stands for the signal that a shell reports so,
    a negative one for the signal of that number.
    """

    exit_code: int | None = None
    out: tuple[re.Pattern[bytes], ...] = ()
    err: tuple[re.Pattern[bytes], ...] = ()
    wall: float | None = None

    @property
    def captures(self) -> bool:
        """Whether there is any pattern."""
        return bool(self.out or self.err)

    def judge(self, outcomes: Sequence[Outcome]) -> bool:
        """Look at the exit status and search the patterns. A run out of time never matches."""
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
        return all(p.search(outcome.stdout) for p in self.out) and all(
            p.search(outcome.stderr) for p in self.err
        )

    def describe(self) -> str:
        """Say in words what is kept alive."""
        parts = [] if self.exit_code is None else [f"exit status {self.exit_code}"]
        for name, patterns in (("stdout", self.out), ("stderr", self.err)):
            parts += [f"{name} matching {_show(pattern.pattern)}" for pattern in patterns]
        return " and ".join(parts)


_SILENT = {10: (b"sat",), 20: (b"unsat",)}  # exit codes of the SAT competitions
# A model checker's answer names its property, and Pono says `unsat` with exit status 1.
_PROPERTY = re.compile(rb"^(?:un)?sat[ \t\r]*\n[bj][0-9]+(?![^ \t\r\n])", re.MULTILINE)


def answers(outcome: Outcome) -> tuple[bytes, ...] | None:
    """Return the `sat` and `unsat` answers of a run that answered everything.

    None if there is none, if one is `unknown`, or if the run failed. An exit
    status of 10 or 20 is the answer of a run without answer lines. One of 1 is no failure
    if the answer is one of a model checker on a property (`b0`, as in a BTOR2 witness).
    """
    status = outcome.status
    if outcome.limit is not None:
        return None
    if status not in (0, 10, 20) and not (status == 1 and _PROPERTY.search(outcome.stdout)):
        return None
    if failure_line(outcome.stdout, outcome.stderr) is not None:
        return None
    found = read_answers(outcome.stdout) or _SILENT.get(status, ())
    return found if found and b"unknown" not in found else None


def difference(first: Outcome, second: Outcome) -> tuple[bytes, bytes] | None:
    """Return the first two answers that differ, of the common prefix; None if there are none."""
    mine, other = answers(first), answers(second)
    if mine is None or other is None:
        return None
    return next((pair for pair in zip(mine, other, strict=False) if pair[0] != pair[1]), None)


_UNSUPPORTED = re.compile(rb"^unsupported[ \t\r]*$", re.MULTILINE)


def understands(outcome: Outcome) -> bool:
    """Say whether a program knows all commands of the script, as far as it says."""
    return _UNSUPPORTED.search(outcome.stdout) is None


@dataclass(frozen=True, slots=True)
class Disagree:
    """Two commands answer differently, in the same direction as in the golden run.

    `expected` are the first and the second command's first differing answers;
    None accepts either direction and is for the golden run. `understood`: neither says
    `unsupported`, which is how some pass over a command that is none.
    """

    expected: tuple[bytes, bytes] | None = None
    understood: bool = field(default=False, compare=False)
    captures: bool = True
    wall: float | None = None

    def judge(self, outcomes: Sequence[Outcome]) -> bool | None:
        """Compare the answers; the second command does not run if the first gave none."""
        if self.understood and not all(map(understands, outcomes)):
            return False
        if len(outcomes) == 1:
            given = answers(outcomes[0])
            if given is None or (self.expected is not None and self.expected[0] not in given):
                return False
            return None
        found = difference(outcomes[0], outcomes[1])
        return found is not None and self.expected in (None, found)

    def describe(self) -> str:
        """Say in words what is kept alive."""
        if self.expected is None:
            return "the answers of the command and its reference differ"
        mine, other = (answer.decode() for answer in self.expected)
        return f"the command answers {mine}, its reference {other}"


@dataclass(frozen=True, slots=True)
class SlowerThan:
    """The run takes at least that many seconds of wall time."""

    seconds: float
    captures: bool = False

    @property
    def wall(self) -> float:
        """The run is stopped as soon as it is slow enough."""
        return self.seconds

    def judge(self, outcomes: Sequence[Outcome]) -> bool:
        """Look at the time only."""
        return outcomes[0].seconds >= self.seconds

    def describe(self) -> str:
        """Say in words what is kept alive."""
        return f"takes {self.seconds:g} s or more"


@dataclass(frozen=True, slots=True)
class SlowerThanReference:
    """The first command is slow where the second, on the same file, is not.

    Either it takes at least `seconds` and the other one does not, or it takes at least `ratio`
    times as long; what ends within a tenth of a second tells nothing.
    """

    seconds: float | None = None
    ratio: float | None = None
    captures: bool = False

    @property
    def wall(self) -> float | None:
        """The runs are stopped as soon as they are slow enough."""
        return self.seconds

    def judge(self, outcomes: Sequence[Outcome]) -> bool | None:
        """Compare the times; the second command is not run where the first one is quick."""
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
        """Say in words what is kept alive."""
        if self.seconds is not None:
            return f"takes {self.seconds:g} s or more, and the reference less"
        return f"takes {self.ratio:g} times as long as the reference, or more"


_TELLING = 0.1  # seconds


def accepts(outcome: Outcome) -> bool:
    """Say whether a program has read its input and ended without a failure of its own."""
    return outcome.limit is None and not is_failure(outcome)


@dataclass(frozen=True, slots=True)
class AlsoPasses:
    """Another criterion holds of the first commands, and the programs after them accept the text.

    The other programs run last, and only on what is interesting without them.
    """

    inner: Criterion
    first: int
    """How many commands the inner criterion looks at."""
    others: int
    """How many programs have to accept the text."""
    captures: bool = True
    understood: bool = field(default=False, compare=False)
    """None of them says `unsupported`."""

    @property
    def wall(self) -> float | None:
        """The wall limit that goes with the inner criterion."""
        return self.inner.wall

    def judge(self, outcomes: Sequence[Outcome]) -> bool | None:
        """Ask the inner criterion first, then each program."""
        count = len(outcomes)
        if count <= self.first:
            judged = self.inner.judge(outcomes)
            return None if judged is True or (judged is None and count < self.first) else False
        if not accepts(outcomes[-1]) or (self.understood and not understands(outcomes[-1])):
            return False
        return True if count == self.first + self.others else None

    def describe(self) -> str:
        """Say in words what is kept alive."""
        programs = "another program accepts" if self.others == 1 else f"{self.others} others accept"
        return f"{self.inner.describe()}, and {programs} the file"


@dataclass(frozen=True, slots=True)
class TimesOut:
    """The run does not end within the time limit, which stays as it was in the golden run."""

    wall: float | None
    captures: bool = False

    def judge(self, outcomes: Sequence[Outcome]) -> bool:
        """Look whether the time limit ended the run."""
        return outcomes[0].limit == "time"

    def describe(self) -> str:
        """Say in words what is kept alive."""
        return "does not end in time" + ("" if self.wall is None else f" ({self.wall:g} s)")


def _show(pattern: bytes) -> str:
    return repr(pattern.decode("utf-8", "backslashreplace"))
