"""The report of a session: the result, what was removed, what it cost, how to reproduce it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import Any, Generic, TypeVar, cast

from reducekit.oracle.outcome import Outcome
from reducekit.reduction import Counts
from reducekit.session.progress import stop_in_words
from reducekit.session.runs.fresh import Ends, Shown
from reducekit.session.runs.places import Places
from reducekit.text import excerpt, printable, printable_lines

Text = TypeVar("Text", bound=bytes | str)

SCHEMA = 1
ENCODING = "utf-8", "surrogateescape"
"""How a `str` is written as bytes and back: any bytes come back as they were."""
_LINES, _COLUMNS = 40, 200
"""Maximum size of a result that a notebook shows."""


@dataclass(frozen=True, slots=True)
class Reproducer:
    """A run of a command on the result, as a user can repeat it; the outcome if it was run."""

    command: str
    outcome: Outcome | None


@dataclass(frozen=True, slots=True)
class OtherFailure:
    """Another failure that was met: how often, its smallest size in bytes, and the file that holds
    it."""

    failure: str
    count: int
    size: int
    file: Path | None


@dataclass(frozen=True, slots=True)
class FailureChanged:
    """The accepted text from which on the failure was a different one."""

    before: str
    after: str
    size: int
    step: int


@dataclass(frozen=True, slots=True)
class Remaining:
    """A part of the input that is left, such as an axiom of a verifier."""

    name: str
    """Its name in the input; '' if it has none."""
    line: int | None
    """Its first line in the input; None if unknown."""
    now: int
    """Its first line in the result."""
    good: int | None = None
    bad: int | None = None
    """How often a good and a bad run on the result instantiated it, if the solver prints that."""

    def json(self) -> Mapping[str, str | int | None]:
        """Return it for programs."""
        return {
            "name": self.name,
            "line": self.line,
            "result_line": self.now,
            "good": self.good,
            "bad": self.bad,
        }


@dataclass(frozen=True, slots=True)
class Report(Generic[Text]):
    """The end of a session: with texts as bytes, or as `str` if the input was given as one.

    `counts.checks` are runs of the oracle on candidates; `runs` are all runs of commands: a check
    may take two, and there are those on the input, the empty file and the result. `seconds` is
    wall time and covers all of them. `verified` says whether the result showed the failure once
    more at the end; None if it was not checked. `tries` is the number of runs that took.
    """

    text: Text
    """The smallest interesting text."""
    input: Path | None
    output: Path | None
    before: Mapping[str, int]
    """What the format counts in the input, such as bytes, commands, terms."""
    after: Mapping[str, int]
    counts: Counts
    runs: int
    seconds: float
    failure: str
    reproducers: Sequence[Reproducer]
    stopped: str | None
    """Why it ended early; None: nothing is left to try."""
    early: bool
    """Whether a limit, a request or a signal ended it, so that the same session can be resumed."""
    verified: bool | None
    tries: int = 1
    changed: Sequence[FailureChanged] = ()
    others: Sequence[OtherFailure] = ()
    passing: Text | None = None
    """The passing text closest to the result, if the format compares the two."""
    fresh: tuple[Ends | Shown, Ends | Shown] | None = None
    """For a failure about answers or costs: how fresh variants of input and result ended."""
    places: Places | None = None
    """For a crash: where input and result crash, if they were compared."""
    left: Sequence[Remaining] = ()
    """For a failure about answers or costs: the assertions left."""

    @property
    def interrupted(self) -> bool:
        """Whether a signal ended it."""
        return self.stopped == INTERRUPTED

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the outcome, the result, how to reproduce the failure."""
        text = self.text.encode(*ENCODING) if isinstance(self.text, str) else self.text
        before, after = self.before.get("bytes", 0), len(text)
        said = f"{self.failure}, {self.counts.checks:,} checks"
        if self.stopped is not None:
            said += f"; {stop_in_words(self.stopped)}"
        blocks = [excerpt(text, _LINES, _COLUMNS), [each.command for each in self.reproducers]]
        return "\n".join(
            (
                f"<p><b>{before:,} → {after:,} bytes</b>: {escape(printable(said))}</p>",
                *(f"<pre>{escape(printable_lines(chr(10).join(each)))}</pre>" for each in blocks),
            )
        )

    def decoded(self) -> Report[str]:
        """Return the report with texts as `str`."""
        texts: dict[str, Any] = {
            name: text.decode(*ENCODING)
            for name in ("text", "passing")
            if isinstance(text := getattr(self, name), bytes)
        }
        return cast("Report[str]", replace(self, **texts))

    def json(self) -> str:
        """Return the report as one line of JSON."""
        return json.dumps(
            {
                "schema": SCHEMA,
                "input": None if self.input is None else str(self.input),
                "output": None if self.output is None else str(self.output),
                "before": dict(self.before),
                "after": dict(self.after),
                "checks": self.counts.checks,
                "cache_hits": self.counts.cache_hits,
                "void": self.counts.discarded,
                "accepted": self.counts.accepted,
                "runs": self.runs,
                "seconds": round(self.seconds, 3),
                "failure": self.failure,
                "see_again": [each.command for each in self.reproducers],
                "stopped": self.stopped,
                "done": not self.early,
                "verified": self.verified,
                "changed": [
                    {"from": each.before, "to": each.after, "bytes": each.size, "step": each.step}
                    for each in self.changed
                ],
                "other_failures": [
                    {
                        "failure": each.failure,
                        "count": each.count,
                        "bytes": each.size,
                        "file": None if each.file is None else str(each.file),
                    }
                    for each in self.others
                ],
                **({} if self.fresh is None else {"fresh": _fresh(*self.fresh)}),
                **(
                    {"places": _places(self.places)} if self.places and not self.places.same else {}
                ),
                **({"left": [each.json() for each in self.left]} if self.left else {}),
            }
        )


def _fresh(before: Ends | Shown, after: Ends | Shown) -> Mapping[str, Mapping[str, int]]:
    return {"before": before._asdict(), "after": after._asdict()}


def _places(places: Places) -> Mapping[str, Any]:
    return {
        "before": places.before.describe(),
        "after": places.after.describe(),
        "step_bytes": None if places.step is None else len(places.step),
        "step": None if places.file is None else str(places.file),
    }


INTERRUPTED = "interrupted"
"""The reason for the end of a session after a signal."""


def error_json(message: str, exit_code: int) -> str:
    """Return, as one line of JSON, why there is no report."""
    return json.dumps({"schema": SCHEMA, "error": message, "exit_code": exit_code})
