"""Where an interrupt may be raised, and where it has to wait.

Ctrl-C must be answered within a second, even while a text of 100 MB is parsed, and must never
leave a half-written file or a running solver. The idea is that a face which receives signals
raises KeyboardInterrupt only inside `allowed`, and that the session wraps what must stay whole
in `held`. Who has no signals uses the guard below, which does nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol


class Guard(Protocol):
    """Says when KeyboardInterrupt may be raised."""

    def allowed(self) -> AbstractContextManager[None]:
        """Let a signal raise KeyboardInterrupt inside, also one that came before."""

    def held(self) -> AbstractContextManager[None]:
        """Hold signals back inside; one that came is raised afterwards, where it is allowed."""

    def check(self) -> None:
        """Raise KeyboardInterrupt if a signal has come."""


class NoSignals:
    """The guard of who receives no signals."""

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
