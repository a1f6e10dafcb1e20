"""What every executor can do."""

from __future__ import annotations

from dataclasses import dataclass
from types import TracebackType
from typing import Protocol, Self

from reducekit.errors import ReducekitError
from reducekit.oracle.limits import Limits
from reducekit.oracle.outcome import Outcome


class ExecutorError(ReducekitError):
    """The machine cannot run a check: no room, no memory, no processes left."""


@dataclass(frozen=True, slots=True)
class Finished:
    """A check that has run: the commands' outcomes, as many as the criterion asked for."""

    ticket: int
    interesting: bool
    outcomes: tuple[Outcome, ...]


class Closing(Protocol):
    """What is closed at the end of a `with`, however that ends: inherit, and write `close`."""

    def close(self) -> None:
        """Give back what is held; a second time it does nothing."""

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
    """How many runs of commands were started so far: a check may take several."""

    @property
    def free(self) -> int:
        """How many checks may be submitted now."""

    @property
    def steady(self) -> bool:
        """Whether a check that runs by itself always ends in the same way.

        A success that does not show again was then found in a run with others, not by chance.
        """
        return False

    def lookahead(self, text: bytes) -> int:
        """Return how many candidates, each about as large as `text`, one run can check.

        They are checked in the order in which they were submitted, up to the first that is
        interesting. It must depend on nothing but the text and what `wait` has returned so far:
        the search depends on it, and must not on timing.
        """
        return 1

    def build_on(self, text: bytes) -> None:
        """Take note of the text that the next candidates are made from, if they travel as edits."""
        return

    def submit(self, ticket: int, text: bytes, limits: Limits) -> None:
        """Start a check of `text`; `ticket` is a number of the caller's, not in use."""

    def wait(self, timeout: float | None = None) -> list[Finished]:
        """Wait for at least one check to finish, at most `timeout` seconds; return all finished."""

    def cancel(self, ticket: int) -> None:
        """End a check and forget it; one that is not running is ignored."""

    def close(self) -> None:
        """End all checks."""
