"""Where an interrupt may be raised, and where it has to wait.

Ctrl-C must take effect within a second, even while a text of 100 MB is parsed, and must never leave
a half-written file or a running solver. So a frontend that receives signals raises
KeyboardInterrupt only inside `allowed`, and the session wraps what must not be interrupted in
`held`. Callers without signals use `NoSignals` below, which does nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol


class Guard(Protocol):
    """Controls when KeyboardInterrupt may be raised."""

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
