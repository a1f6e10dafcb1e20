"""How a session ended: a note in its journal, with what reports need beyond the steps."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from reducekit.journal import Contents

NOTE = "report"
"""The name of the note."""
SUBJECT = "subject"
"""The name of the note on what fails, which is made when a session starts."""


LEFT = ("name", "line", "result_line", "good", "bad")
"""What is noted of each part that is left."""


@dataclass(frozen=True, slots=True)
class Run:
    """A run on the result: the command as a user would type it, its ending and its output."""

    command: str
    ended: str | None
    stdout: str
    stderr: str


@dataclass(frozen=True, slots=True)
class Ending:
    """What was known at the end of a session; of one that was killed, `subject` at most."""

    input: str | None = None
    output: str | None = None
    failure: str | None = None
    stopped: str | None = None
    verified: bool | None = None
    checks: int | None = None
    """The checks of the search; the journal also has other verdicts."""
    runs: int | None = None
    """All runs of commands."""
    seconds: float | None = None
    """Of the whole session."""
    before: Mapping[str, int] = field(default_factory=dict)
    after: Mapping[str, int] = field(default_factory=dict)
    last_runs: Sequence[Run] = ()
    other_failures: Sequence[tuple[str, int, int]] = ()
    """For each: the failure, how often it occurred, the size of the smallest such file in bytes."""
    left: Sequence[Mapping[str, Any]] = ()
    """What is left of the input: `name`, `line`, `result_line`, and the instances in a `good` and
    in a `bad` run."""
    places: tuple[str, str] | None = None
    """Where input and result of a crash fail, if these differ."""
    versions: Mapping[str, str] = field(default_factory=dict)
    """Of Python and the system."""
    subject: Mapping[str, str] | None = None
    """`name` and `version` of the program that fails, if it is not the command's program."""


def ending(found: Contents) -> Ending:
    """Read the note of a journal; missing and malformed values are left out."""
    try:
        said: Any = json.loads(found.notes.get(NOTE, "{}"))
        subject: Any = json.loads(found.notes.get(SUBJECT, "null"))
        return Ending(
            input=said.get("input"),
            output=said.get("output"),
            failure=said.get("failure"),
            stopped=said.get("stopped"),
            verified=said.get("verified"),
            checks=said.get("checks"),
            runs=said.get("runs"),
            seconds=said.get("seconds"),
            before=dict(said.get("before", {})),
            after=dict(said.get("after", {})),
            last_runs=[Run(**each) for each in said.get("last_runs", ())],
            other_failures=[
                (each["failure"], each["count"], each["bytes"])
                for each in said.get("other_failures", ())
            ],
            left=[{name: each[name] for name in LEFT} for each in said.get("left", ())],
            places=_places(said.get("places")),
            versions=dict(said.get("versions", {})),
            subject=subject and {name: str(subject[name]) for name in ("name", "version")},
        )
    except (ValueError, TypeError, KeyError, AttributeError):
        return Ending()


def _places(said: Any) -> tuple[str, str] | None:
    return None if said is None else (str(said["before"]), str(said["after"]))
