"""How a session ended, as a note in its journal: what its report tells beyond the steps."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from reducekit.journal import Contents

NOTE = "report"
"""The name of the note."""


@dataclass(frozen=True, slots=True)
class Run:
    """A run on the result: the command as a user types it, how it ended, what it printed."""

    command: str
    ended: str | None
    stdout: str
    stderr: str


@dataclass(frozen=True, slots=True)
class Ending:
    """What was known at the end of a session; of one that was killed, nothing."""

    input: str | None = None
    output: str | None = None
    failure: str | None = None
    stopped: str | None = None
    verified: bool | None = None
    runs: int | None = None
    """Runs of commands in all."""
    seconds: float | None = None
    """Of the whole session."""
    before: Mapping[str, int] = field(default_factory=dict)
    after: Mapping[str, int] = field(default_factory=dict)
    last_runs: Sequence[Run] = ()
    other_failures: Sequence[tuple[str, int, int]] = ()
    """What failed, how often, the fewest bytes."""
    versions: Mapping[str, str] = field(default_factory=dict)
    """Of Python and the system."""


def ending(found: Contents) -> Ending:
    """Read the note of a journal; what is not there, or not as it should be, is left out."""
    try:
        said: Any = json.loads(found.notes.get(NOTE, "{}"))
        return Ending(
            input=said.get("input"),
            output=said.get("output"),
            failure=said.get("failure"),
            stopped=said.get("stopped"),
            verified=said.get("verified"),
            runs=said.get("runs"),
            seconds=said.get("seconds"),
            before=dict(said.get("before", {})),
            after=dict(said.get("after", {})),
            last_runs=[Run(**each) for each in said.get("last_runs", ())],
            other_failures=[
                (each["failure"], each["count"], each["bytes"])
                for each in said.get("other_failures", ())
            ],
            versions=dict(said.get("versions", {})),
        )
    except (ValueError, TypeError, KeyError, AttributeError):
        return Ending()
