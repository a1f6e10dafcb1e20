"""The interface of every executor, and the simplest one: it calls a Python function."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Protocol, Self

from reducekit.errors import ResourceError, Unresolved
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


class Guard(Protocol):
    """Controls when KeyboardInterrupt may be raised.

    Ctrl-C must take effect within a second, even while a text of 100 MB is parsed, and must never
    leave a half-written file or a running solver. So a frontend that receives signals raises
    KeyboardInterrupt only inside `allowed`, and the session wraps what must not be interrupted in
    `held`. Callers without signals use `NoSignals`, which does nothing.
    """

    def allowed(self) -> AbstractContextManager[None]:
        """Let a signal raise KeyboardInterrupt inside, including one that came before."""

    def held(self) -> AbstractContextManager[None]:
        """Defer signals inside; a deferred one is raised afterwards, where that is allowed."""

    def check(self) -> None:
        """Raise KeyboardInterrupt if a signal has come."""


class NoSignals:
    """The guard of a caller that receives no signals."""

    @contextmanager
    def allowed(self) -> Iterator[None]:
        """Do nothing."""
        yield

    @contextmanager
    def held(self) -> Iterator[None]:
        """Do nothing."""
        yield

    def check(self) -> None:
        """Do nothing."""


class InProcess(Executor):
    """Checks a candidate by calling `interesting(text)`; limits have no effect."""

    def __init__(self, interesting: Callable[[bytes], bool], jobs: int = 1) -> None:
        self._interesting = interesting
        self._jobs = jobs
        self.runs = 0
        self._waiting: dict[int, bytes] = {}

    @property
    def free(self) -> int:
        return self._jobs - len(self._waiting)

    def submit(self, ticket: int, text: bytes, limits: Limits) -> None:
        self._waiting[ticket] = text

    def wait(self, timeout: float | None = None) -> list[Finished]:
        """Run the latest check first: the order of verdicts must not matter.

        Raises TypeError if the function does not return a bool.
        """
        if not self._waiting:
            return []
        ticket, text = self._waiting.popitem()
        self.runs += 1
        try:
            answer = self._interesting(text)
        except Unresolved:
            return [Finished(ticket, interesting=False, outcomes=(), unresolved=True)]
        except TypeError as error:
            if "bytes" in str(error):
                error.add_note("the predicate receives bytes: compare with b'...', or decode() it")
            raise
        return [Finished(ticket, _as_bool(answer), ())]

    def cancel(self, ticket: int) -> None:
        self._waiting.pop(ticket, None)

    def close(self) -> None:
        self._waiting.clear()


def _as_bool(answer: object) -> bool:
    """Return the predicate's answer. Raises TypeError for anything but a bool.

    A merely truthy value is usually a mistake: a coroutine is truthy, and so is "no".
    """
    kind = type(answer)
    if kind is bool or (kind.__module__ == "numpy" and kind.__name__ in ("bool", "bool_")):
        return bool(answer)
    if isinstance(answer, Awaitable):
        if isinstance(answer, Coroutine):
            answer.close()  # otherwise Python warns that it was never awaited
        hint = "it must be a plain function, not `async def`"
    elif answer is None:
        hint = "return True or False; is there a path without `return`?"
    else:
        hint = "return True or False"
    shown = f" ({answer!r:.60})" if isinstance(answer, str | bytes | int | float) else ""
    said = "None" if answer is None else f"a value of type {kind.__name__}{shown}"
    raise TypeError(f"the predicate returned {said}: {hint}")
