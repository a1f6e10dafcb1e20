"""The accepted steps of runs, from their journals."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

from reducekit.errors import UsageError
from reducekit.journal import Contents, journal_path, load
from reducekit.reports.steps import changes


class Journals:
    """Reads journals; the last one is parsed again only when it has grown. For any thread."""

    def __init__(self) -> None:
        self._known: dict[Path, tuple[tuple[int, int], Contents]] = {}
        self._lock = threading.Lock()

    def of(self, output: Path | None) -> Contents:
        """Return the journal of the run that writes this output. Raises UsageError."""
        if output is None:
            raise UsageError("this run keeps no history")
        path = journal_path(output)
        try:
            status = path.stat()
        except OSError:
            raise UsageError("there is no history yet") from None
        stamp = (status.st_size, status.st_mtime_ns)
        with self._lock:
            known = self._known.get(path)
            if known is not None and known[0] == stamp:
                return known[1]
        found = load(path)
        if not found.steps:
            raise UsageError("there is no history yet")
        with self._lock:
            self._known = {path: (stamp, found)}
        return found


def text_of(journal: Contents, step: int) -> bytes:
    """Return the text of a step. Raises UsageError if there is no such step."""
    if not 0 <= step < len(journal.steps):
        raise UsageError(f"there is no step {step}")
    return journal.text(step)


def rows(journal: Contents) -> dict[str, Any]:
    """Return all steps, and which one is the best."""
    return {
        "current": journal.current,
        "steps": [
            [step.number, step.base, step.size, step.checks, round(step.seconds, 2),
             step.pass_name, step.what[:200]]
            for step in journal.steps
        ],
    }  # fmt: skip


def difference(before: bytes, after: bytes) -> dict[str, Any]:
    """Return the sizes of two texts, and the lines in which they differ."""
    return {
        "old": len(before),
        "new": len(after),
        "lines": [[line.sign, line.text] for line in changes(before, after)],
    }
