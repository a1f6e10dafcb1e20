"""Output of a session in a notebook: progress while it runs, without any set-up."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from html import escape
from typing import Any

from reducekit.events import Event, Finished
from reducekit.session.progress import Progress
from reducekit.text import excerpt, printable, printable_lines

_EVERY = 0.5  # seconds between two updates
_LINES, _COLUMNS = 12, 120  # of the best text


def in_notebook() -> bool:
    """Return whether this process is the kernel of a notebook that has loaded IPython."""
    ipython = sys.modules.get("IPython")
    return ipython is not None and getattr(ipython.get_ipython(), "kernel", None) is not None


class View:
    """The progress of a session. `best` returns its best text so far."""

    def __init__(self, best: Callable[[], bytes]) -> None:
        self._best = best
        self._progress: Progress | None = None
        self._ended = ""
        self._update: Callable[[], None] = lambda: None
        self._next = 0.0

    def begin(self, *, live: bool) -> None:
        """Start counting; with `live`, a notebook shows the progress below the running cell."""
        self._progress, self._ended = Progress(), ""
        if live and in_notebook():
            handle: Any = sys.modules["IPython"].display.display(self, display_id=True)
            self._update = lambda: handle.update(self)

    def see(self, event: Event) -> None:
        """Record an event."""
        if self._progress is None:
            return
        self._progress.see(event)
        if isinstance(event, Finished):
            numbers, _, _ = self._progress.line().partition(", round ")
            ended = "done" if event.stopped is None else printable(event.stopped)
            self._ended = f"{ended}: {numbers}, {self._progress.elapsed:.0f} s"
        if self._ended or time.monotonic() >= self._next:
            self._update()
            self._next = time.monotonic() + _EVERY

    def __repr__(self) -> str:
        """Return the state as one line."""
        if self._progress is None:
            return "not started"
        return self._ended or self._progress.line()

    def _repr_html_(self) -> str:
        """Return the state, the failure and the first lines of the best text."""
        failure = "" if self._progress is None else self._progress.failure
        said = f": {escape(printable(failure))}" if failure else ""
        lines = "\n".join(excerpt(self._best(), _LINES, _COLUMNS))
        text = f"<pre>{escape(printable_lines(lines))}</pre>" if lines else ""
        return f"<p><b>{escape(repr(self))}</b>{said}</p>{text}"
