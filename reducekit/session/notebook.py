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


def in_words(progress: Progress | None) -> str:
    """Return the state of a session as one line; without any progress it has not started."""
    if progress is None:
        return "not started"
    if progress.finished is None:
        return progress.line()
    numbers, _, _ = progress.line().partition(", round ")
    stopped = progress.finished.stopped
    ended = "done" if stopped is None else printable(stopped)
    return f"{ended}: {numbers}, {progress.elapsed:.0f} s"


def in_html(progress: Progress | None, best: bytes) -> str:
    """Return the state, the failure and the first lines of the best text."""
    failure = "" if progress is None else progress.failure
    said = f": {escape(printable(failure))}" if failure else ""
    lines = "\n".join(excerpt(best, _LINES, _COLUMNS))
    text = f"<pre>{escape(printable_lines(lines))}</pre>" if lines else ""
    return f"<p><b>{escape(in_words(progress))}</b>{said}</p>{text}"


def below_the_cell(shown: Callable[[], dict[str, str]]) -> Callable[[Event], None]:
    """Show something below the running cell, by its media types; call what returns to update it."""
    handle: Any = sys.modules["IPython"].display.display(shown(), raw=True, display_id=True)
    due = 0.0

    def update(event: Event) -> None:
        nonlocal due
        if isinstance(event, Finished) or time.monotonic() >= due:
            handle.update(shown(), raw=True)
            due = time.monotonic() + _EVERY

    return update
