"""The command's own failure: a crash, an error, or that it does not end in time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from reducekit.oracle.criterion import Criterion, OfCommand
from reducekit.oracle.signature import Signature, is_failure, is_memory_fault, signature
from reducekit.run import Limits, Outcome


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

    found: Signature = field(compare=False, repr=False)  # how it was first seen
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
class TimesOut(Criterion):
    """The run does not end within the time limit, which stays that of the golden run."""

    wall: float | None
    captures: bool = False

    def judge(self, outcomes: Sequence[Outcome]) -> bool:
        """Check whether the time limit ended the run."""
        return outcomes[0].limit == "time"

    def describe(self) -> str:
        return "does not end in time" + ("" if self.wall is None else f" ({self.wall:g} s)")


OWN_FAILURE = "the command's own failure"


@dataclass(frozen=True, slots=True)
class OwnFailure(Criterion):
    """The command's own failure, before a run has shown what that is.

    A stream that is switched off (`out`, `err`) is ignored.
    """

    out: bool = True
    err: bool = True

    def judge(self, outcomes: Sequence[Outcome]) -> bool:
        return self.shown_by(outcomes, Limits()) is not None

    def describe(self) -> str:
        return OWN_FAILURE

    def shown_by(self, run: Sequence[Outcome], limits: Limits) -> Criterion | None:
        """Return how the run failed: its signature, or that it ran into the time limit."""
        outcome = run[0]
        if outcome.limit == "time":
            return TimesOut(limits.wall)
        seen = outcome._replace(
            stdout=outcome.stdout if self.out else b"",
            stderr=outcome.stderr if self.err else b"",
        )
        return SameSignature(signature(seen), self.out, self.err) if is_failure(seen) else None


@dataclass(frozen=True, kw_only=True)
class Own(OfCommand):
    """The command's own failure, whatever it is: asked for by nothing else than the command."""

    crashes: ClassVar[bool] = True
    ignore_out: bool = False
    ignore_err: bool = False

    def criterion(self) -> Criterion:
        """Return the criterion that the runs on the input specialise."""
        return OwnFailure(out=not self.ignore_out, err=not self.ignore_err)
