"""The interface of every executor."""

from __future__ import annotations

from dataclasses import dataclass
from types import TracebackType
from typing import Protocol, Self

from reducekit.errors import ResourceError
from reducekit.oracle.limits import Limits
from reducekit.oracle.outcome import Outcome


class ExecutorError(ResourceError):
    """No check can run: the machine lacks a resource, or the executor's helpers are gone."""


@dataclass(frozen=True, slots=True)
class Finished:
    """A finished check: the outcomes of its commands, as many as the criterion asked for."""

    ticket: int
    interesting: bool
    outcomes: tuple[Outcome, ...]
    unresolved: bool = False
    """Whether the candidate, which is not interesting, cannot be said to pass either."""


class Closing(Protocol):
    """A context manager that calls `close` at its end: inherit from it, and implement `close`."""

    def close(self) -> None:
        """Release all resources; a second call does nothing."""

    def __enter__(self) -> Self:
        """Return the object itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close it."""
        self.close()


class Executor(Closing, Protocol):
    """Runs checks of one oracle, several at a time."""

    runs: int = 0
    """The number of command runs started so far: a check may take several."""

    @property
    def free(self) -> int:
        """How many checks may be submitted now."""

    @property
    def steady(self) -> bool:
        """Whether a check that runs alone always has the same outcome.

        Then a success that cannot be reproduced was due to a run with others, not to chance.
        """
        return False

    def lookahead(self, text: bytes) -> int:
        """Return how many candidates, each about as large as `text`, one run can check.

        They are checked in the order of submission, up to the first interesting one. The number
        must depend only on the text and on what `wait` has returned so far: the search depends on
        it, and must not depend on timing.
        """
        return 1

    def build_on(self, text: bytes) -> None:
        """Note the text that the next candidates are made from, if they are sent as edits."""
        return

    def submit(self, ticket: int, text: bytes, limits: Limits) -> None:
        """Start a check of `text`; the caller chooses `ticket`, a number not in use."""

    def wait(self, timeout: float | None = None) -> list[Finished]:
        """Wait for at least one check to finish, at most `timeout` seconds; return all finished."""

    def cancel(self, ticket: int) -> None:
        """Cancel a check and forget it; tickets of no running check are ignored."""

    def close(self) -> None:
        """Cancel all checks."""
