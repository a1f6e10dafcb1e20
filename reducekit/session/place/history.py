"""The history of a reduction, as its journal tells it: steps, their changes, all as plain data."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from reducekit.errors import UsageError
from reducekit.journal import Contents as Contents
from reducekit.journal import Step, journal_path, load
from reducekit.session.place.inputs import reduced_path
from reducekit.text import shortened

_SCHEMA = 1  # of a history as JSON
_COLUMNS = 100  # of what a step did


def open_history(named: Path) -> tuple[Path, Contents]:
    """Return the journal for a file, and its contents; see `_journal_of`.

    The reduction may still be running. Raises UsageError if there is none.
    """
    path = _journal_of(named)
    found = load(path)
    if found.head is None or not found.steps:
        raise UsageError(f"the journal {path} ends before the input: it holds nothing yet")
    return path, found


def step_of(path: Path, found: Contents, number: int) -> Step:
    """Return a step by its number; 0 is the input. Raises UsageError if it does not exist."""
    last = len(found.steps) - 1
    if not 0 <= number <= last:
        there = f"the steps are 0 to {last}" if last else "there is only step 0, the input"
        raise UsageError(f"the journal {path} has no step {number}: {there}")
    return found.steps[number]


def diff_of(found: Contents, step: Step) -> Iterable[bytes]:
    """Yield the change of a step as lines of a unified diff."""
    from reducekit.differences import unified

    base = found.steps[step.base]
    words = ": ".join(shortened(each, _COLUMNS) for each in (step.pass_name, step.what) if each)
    return unified(
        found.text(base.number),
        found.text(step.number),
        f"step {base.number}, {base.size:,} bytes",
        f"step {step.number}, {step.size:,} bytes, {words}",
    )


def _journal_of(named: Path) -> Path:
    """Return the path of the journal for a file.

    That is the file itself if it is a journal, otherwise the journal next to it, otherwise the one
    next to its default output.
    """
    own = journal_path(named)
    for path in (own, journal_path(reduced_path(named))):
        if os.path.exists(path):  # not Path.exists, which raises what is no answer
            return path
    if not os.path.exists(named):
        raise UsageError(f"there is no file {named}, and no journal {own}")
    try:
        load(named)
    except UsageError as error:
        error.add_note(f"(and there is no journal {own})")
        raise
    return named


def as_json(path: Path, found: Contents) -> dict[str, Any]:
    """Return the history as plain data."""
    head = found.head
    assert head is not None
    return {
        "schema": _SCHEMA,
        "journal": str(path),
        "head": head._asdict(),
        "verdicts": len(found.verdicts),
        "interesting": sum(interesting for interesting, _ in found.verdicts.values()),
        "current": found.current,
        "steps": [
            {
                "number": step.number,
                "base": step.base,
                "bytes": step.size,
                "checks": step.checks,
                "seconds": round(step.seconds, 3),
                "pass": step.pass_name,
                "what": step.what,
            }
            for step in found.steps
        ],
        "returns": [back._asdict() for back in found.returns],
        "notes": found.notes,
        "unread": found.cut,
    }
