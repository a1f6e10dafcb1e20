"""The report of a session: the result, what was removed, what it cost, how to reproduce it.

Also what a notebook shows of it, and of the session before.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar, cast

from reducekit.events import Event, Finished
from reducekit.reduction import Counts
from reducekit.run import Outcome
from reducekit.session.progress import Progress, stop_in_words
from reducekit.text import counted, excerpt, printable, printable_lines

if TYPE_CHECKING:
    from reducekit.oracle.stack import Stack

Text = TypeVar("Text", bound=bytes | str)

SCHEMA = 1
ENCODING = "utf-8", "surrogateescape"
"""How a `str` is written as bytes and back: any bytes come back as they were."""
_LINES, _COLUMNS = 40, 200  # maximum size of a result that a notebook shows
INTERRUPTED = "interrupted"  # the reason for the end of a session after a signal


class Reproducer(NamedTuple):
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


class FailureChanged(NamedTuple):
    """The accepted text from which on the failure was a different one."""

    before: str
    after: str
    size: int
    step: int


class Remaining(NamedTuple):
    """A part of the input that is left, such as an axiom of a verifier."""

    name: str  # its name in the input; '' if it has none
    line: int | None  # its first line in the input; None if unknown
    now: int  # its first line in the result
    good: int | None = None
    bad: int | None = None
    """How often a good and a bad run on the result instantiated it, if the solver prints that."""


def _rarer(own: int, other: int, share: float) -> bool:
    # By at least 3, too: 7 and 5 of 16 may well be chance.
    return own < share * other and own + 3 <= other


class Ends(NamedTuple):
    """How many of the fresh variants were answered, and how many were lost."""

    good: int
    bad: int

    def rarer_than(self, other: tuple[int, ...]) -> bool:
        """Return whether the rarer of the two ends has become rare, or being lost has.

        A query that is nearly always lost may be so by chance on the variants of the checks, and
        solved on all others.
        """
        pairs = ((min(self), min(other)), (self.bad, other[1]))
        return any(_rarer(own, others, 0.5) for own, others in pairs)


class Shown(NamedTuple):
    """On how many of the fresh variants the failure shows, if no check runs on several."""

    shown: int

    def rarer_than(self, other: tuple[int, ...]) -> bool:
        """Return whether it shows on less than three quarters as many.

        More than half, as 16 variants do not tell half of all variants from slightly less.
        """
        return _rarer(self.shown, other[0], 0.75)


class Places(NamedTuple):
    """Where input and result crash."""

    before: Stack
    after: Stack
    step: bytes | None = None
    """The smallest step that crashes as the input does, if it is neither input nor result."""
    file: Path | None = None  # the file that holds it

    @property
    def same(self) -> bool:
        """Whether that is the same place."""
        return self.before.same_place(self.after)

    def describe(self) -> str:
        """Say in which functions they crash, if these differ, and which file crashes as the input
        does."""
        said = f"the input crashes in {self.before.describe()}, the result in "
        said += self.after.describe()
        if self.step is None:
            return said
        where = "" if self.file is None else f": {self.file}"
        return f"{said}; an earlier step of {len(self.step):,} bytes crashes as the input{where}"


@dataclass(frozen=True, slots=True)
class Report(Generic[Text]):
    """The end of a session: with texts as bytes, or as `str` if the input was given as one.

    `counts.checks` are runs of the oracle on candidates; `runs` are all runs of commands: a check
    may take two, and there are those on the input, the empty file and the result. `seconds` is
    wall time and covers all of them. `verified` says whether the result showed the failure once
    more at the end; None if it was not checked. `tries` is the number of runs that took.
    """

    text: Text  # the smallest interesting text
    input: Path | None
    output: Path | None
    before: Mapping[str, int]  # what the format counts in the input, such as bytes, commands, terms
    after: Mapping[str, int]
    counts: Counts
    runs: int
    seconds: float
    failure: str
    reproducers: Sequence[Reproducer]
    stopped: str | None  # why it ended early; None: nothing is left to try
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
    places: Places | None = None  # for a crash: where input and result crash, if they were compared
    left: Sequence[Remaining] = ()  # for a failure about answers or costs: the assertions left

    @property
    def interrupted(self) -> bool:
        """Whether a signal ended it."""
        return self.stopped == INTERRUPTED

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the outcome, the result, how to reproduce the failure."""
        from html import escape

        text = self.text.encode(*ENCODING) if isinstance(self.text, str) else self.text
        before, after = self.before.get("bytes", 0), len(text)
        said = f"{self.failure}, {counted(self.counts.checks, 'check')}"
        if self.stopped is not None:
            said += f"; {stop_in_words(self.stopped)}"
        blocks = [excerpt(text, _LINES, _COLUMNS), [each.command for each in self.reproducers]]
        shown = [printable_lines("\n".join(each)) for each in blocks if each]
        return "\n".join(
            (
                f"<p><b>{before:,} → {after:,} bytes</b>: {escape(printable(said))}</p>",
                *(f"<pre>{escape(each)}</pre>" for each in shown),
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
                "input": _path(self.input),
                "output": _path(self.output),
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
                        "file": _path(each.file),
                    }
                    for each in self.others
                ],
                **self._comparisons(),
            }
        )

    def _comparisons(self) -> Mapping[str, Any]:
        found: dict[str, Any] = {}
        if self.fresh is not None:
            before, after = self.fresh
            found["fresh"] = {"before": before._asdict(), "after": after._asdict()}
        places = self.places
        if places is not None and not places.same:
            found["places"] = {
                "before": places.before.describe(),
                "after": places.after.describe(),
                "step_bytes": None if places.step is None else len(places.step),
                "step": _path(places.file),
            }
        if self.left:
            found["left"] = [
                {
                    "name": each.name,
                    "line": each.line,
                    "result_line": each.now,
                    "good": each.good,
                    "bad": each.bad,
                }
                for each in self.left
            ]
        return found


def _path(path: Path | None) -> str | None:
    return None if path is None else str(path)


def error_json(message: str, exit_code: int) -> str:
    """Return, as one line of JSON, why there is no report."""
    return json.dumps({"schema": SCHEMA, "error": message, "exit_code": exit_code})


# What a notebook shows of a session that runs in it, without any set-up.


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
    from html import escape

    failure = "" if progress is None else progress.failure
    said = f": {escape(printable(failure))}" if failure else ""
    lines = "\n".join(excerpt(best, 12, 120))
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
            due = time.monotonic() + 0.5

    return update
