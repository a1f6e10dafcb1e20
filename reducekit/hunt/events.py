"""What a hunt reports: the result of a test, bugs and counts, events in chronological order.

For other programs there are JSON, and JUnit XML for CI servers.
"""

from __future__ import annotations

import contextlib
import json
import time
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from reducekit import events
from reducekit.hunt.findings import Finding
from reducekit.hunt.inputs import Input
from reducekit.oracle.command import Command
from reducekit.reduction.control import POLL
from reducekit.text import shortened

_MESSAGE = 200  # characters
MANY_REJECTED = 0.2  # the share of rejected inputs above which a hunt gives a notice
_NEARLY_ALL = 0.9  # the share of rejected inputs above which a hunt has tested practically nothing
_SEVERAL = 10  # inputs that have to fail as an empty file does: one or two may do so by chance
FAILS_WHEN_EMPTY = "an empty file fails in the same way"  # why a bug is not reduced
_KEPT = ("name", "title", "runs", "count", "known_before", "not_reduced", "mark")
"""What the state of a hunt has of a bug, besides its file."""
SCHEMA = 1  # the version of the JSON; it grows when a key is removed or changes its meaning


@dataclass(frozen=True, slots=True)
class Rejection:
    """A program rejected an input that it need not accept, with these words."""

    program: str
    message: str


@dataclass(frozen=True, slots=True)
class InputResult:
    """An input that was tested, with the bugs that it shows."""

    input: Input
    findings: tuple[Finding, ...] = ()
    run_by: tuple[Command, ...] | None = None  # what shows them; None: the commands of each finding
    timed_out: bool = False
    counts: Mapping[str, int] = field(default_factory=dict)
    rejection: Rejection | None = None  # set if a program refused to read the input

    def commands(self, finding: Finding) -> tuple[Command, ...]:
        """Return the commands that reproduce one of the bugs."""
        return finding.commands if self.run_by is None else self.run_by


@dataclass(frozen=True, slots=True)
class Control:
    """What a hunt currently wants from testers."""

    waiting: Callable[[], bool]  # whether a new bug is waiting to be reduced
    left: Callable[[], float | None]
    """Returns the seconds left: 0 also if the hunt is to stop, None if there is no limit."""

    def patience(self) -> float:
        """Return the seconds to wait before checking again."""
        left = self.left()
        return POLL if left is None else min(POLL, left)


@dataclass(slots=True)
class Bug:
    """A bug that is kept: how often it was found, in which file, and its reduced size."""

    name: str  # the name of its files without suffix, which is that of its finding
    title: str  # what fails, on one line
    runs: tuple[str, ...]  # the shell lines that reproduce it
    path: Path  # the first input that showed it
    size: int  # the size of that input in bytes
    count: int = 1
    known_before: bool = False  # whether the folder had it from an earlier hunt
    reduced_size: int | None = None  # the size of the reduced input in bytes; None if not reduced
    not_reduced: str = ""  # why a reduction failed
    unwritten: bool = False  # whether one of its files could not be written
    mark: str = ""
    """What distinguishes it from other bugs that fail in the same words; empty if nothing does."""

    @property
    def reduced_path(self) -> Path:
        """The path of the reduced input."""
        return self.path.with_suffix(f".reduced{self.path.suffix}")

    @property
    def note_path(self) -> Path:
        """The path of the note on how to make and run the input."""
        return self.path.with_suffix(".how.txt" if self.path.suffix == ".txt" else ".txt")

    def measure(self) -> bool:
        """Set the sizes from the files; return whether the input exists."""
        try:
            self.size = self.path.stat().st_size
        except OSError:
            return False
        with contextlib.suppress(OSError):
            self.reduced_size = self.reduced_path.stat().st_size
        return True

    def cannot_be_written(self, why: str) -> None:
        """Record a failed write for the summary and the exit code; the hunt continues."""
        self.reduced_size, self.not_reduced, self.unwritten = None, why, True


@dataclass(slots=True)
class HuntStats:
    """The state of a hunt, and its result at the end.

    Each input is counted once, and each bug is in `bugs` once, by the name of its finding.
    """

    noun: str = "input"  # the noun for an input
    inputs: int = 0
    timeouts: int = 0  # the number of inputs with a timeout
    bugs: dict[str, Bug] = field(default_factory=dict)
    rejected: int = 0  # the number of inputs that a program rejected
    rejection: Rejection | None = None  # the first rejection
    counts: Counter[str] = field(default_factory=Counter)  # others of the format, such as calls
    samples: Counter[str] = field(default_factory=Counter)
    """The number of inputs reduced to tell bugs apart, by the name of their finding."""
    details: tuple[str, ...] = ()  # sentences of the format about these counts at the end
    stopped: str | None = None
    """Why it ended early: "interrupted" by a signal, or the reason given to `Hunt.stop`."""
    begin: float = field(default_factory=time.monotonic)
    seconds: float = 0.0  # wall time of earlier runs of this hunt; at the end, of all runs

    def count(self, result: InputResult) -> None:
        """Count an input that was tested."""
        self.inputs += 1
        self.timeouts += result.timed_out
        self.counts.update(result.counts)
        self.rejected += result.rejection is not None
        self.rejection = self.rejection or result.rejection

    @property
    def elapsed(self) -> float:
        """Seconds since this run began."""
        return time.monotonic() - self.begin

    @property
    def rejected_share(self) -> float:
        """The share of the inputs that a program rejected."""
        return self.rejected / self.inputs if self.inputs else 0.0

    @property
    def tested_nothing(self) -> bool:
        """Whether nearly all inputs were rejected, or failed as an empty file does."""
        alike = [b.count for b in self.bugs.values() if b.not_reduced == FAILS_WHEN_EMPTY]
        refused = max(alike, default=0) if self.inputs >= _SEVERAL else 0
        return max(self.rejected, refused) >= _NEARLY_ALL * max(1, self.inputs)

    @property
    def complete(self) -> bool:
        """Whether all findings could be written."""
        return not any(each.unwritten for each in self.bugs.values())


def rejections(stats: HuntStats) -> str:
    """Return a sentence on how many inputs were rejected, by which program, and how."""
    first = stats.rejection
    assert first is not None
    message = shortened(first.message, _MESSAGE)
    return f'{stats.rejected:,} of {stats.inputs:,} were rejected by {first.program}: "{message}"'


def as_state(stats: HuntStats) -> dict[str, Any]:
    """Return the results of a hunt as data for JSON; `restore` reads it."""
    first = stats.rejection
    return {
        "inputs": stats.inputs,
        "timeouts": stats.timeouts,
        "rejected": stats.rejected,
        "rejection": None if first is None else [first.program, first.message],
        "counts": dict(stats.counts),
        "samples": dict(stats.samples),
        "seconds": round(stats.seconds + stats.elapsed, 3),
        "bugs": [
            {"file": bug.path.name, **{name: getattr(bug, name) for name in _KEPT}}
            for bug in stats.bugs.values()
            if not bug.unwritten
        ],
    }


def restore(stats: HuntStats, state: Mapping[str, Any], folder: Path) -> None:
    """Restore the results of an earlier run of a hunt; a bug without its file is dropped.

    Raises ValueError, KeyError, TypeError or AttributeError if the state is damaged.
    """
    stats.inputs, stats.timeouts = int(state["inputs"]), int(state["timeouts"])
    stats.rejected, stats.seconds = int(state["rejected"]), float(state["seconds"])
    if state["rejection"] is not None:
        stats.rejection = Rejection(*map(str, state["rejection"]))
    stats.counts.update({str(name): int(count) for name, count in state["counts"].items()})
    stats.samples.update({str(name): int(count) for name, count in state["samples"].items()})
    for each in state["bugs"]:
        bug = Bug(
            str(each["name"]),
            str(each["title"]),
            tuple(map(str, each["runs"])),
            folder / Path(each["file"]).name,
            0,
            int(each["count"]),
            bool(each["known_before"]),
            not_reduced=str(each["not_reduced"]),
            mark=str(each["mark"]),
        )
        if bug.measure():
            stats.bugs[bug.name] = bug


class HuntStarted(NamedTuple):
    """The options are valid, and the first input is about to be tested."""

    folder: Path


class InputTested(NamedTuple):
    """Another input was tested."""

    stats: HuntStats


class NewBug(NamedTuple):
    """A bug that is new to both this hunt and the folder."""

    bug: Bug
    which: str  # names the input that shows it, such as `seed 7`; empty if its name is enough


class KnownBug(NamedTuple):
    """A known bug was found again."""

    bug: Bug


class Reducing(NamedTuple):
    """An event of the reduction of a bug."""

    bug: Bug
    event: events.Event


class Reduced(NamedTuple):
    """A bug was reduced; the sizes are in `unit`."""

    bug: Bug
    before: int
    after: int
    unit: str


class HuntNotice(NamedTuple):
    """A notice to the user, in a sentence."""

    text: str


class HuntFinished(NamedTuple):
    """The hunt is over."""

    stats: HuntStats


HuntEvent: TypeAlias = (
    HuntStarted | InputTested | NewBug | KnownBug | Reducing | Reduced | HuntNotice | HuntFinished
)


def to_json(stats: HuntStats) -> str:
    """Return a hunt as one line of JSON. Sizes are in bytes, times in seconds."""
    return json.dumps(
        {
            "schema": SCHEMA,
            "inputs": stats.inputs,
            "timeouts": stats.timeouts,
            "seconds": round(stats.seconds, 3),
            "stopped": stats.stopped,
            "counts": dict(stats.counts),
            "rejected": {
                "count": stats.rejected,
                "program": None if stats.rejection is None else stats.rejection.program,
                "message": None if stats.rejection is None else stats.rejection.message,
            },
            "bugs": [
                {
                    "failure": bug.title,
                    "count": bug.count,
                    "known_before": bug.known_before,
                    "file": str(bug.path),
                    "bytes": bug.size,
                    "reduced_file": None if bug.reduced_size is None else str(bug.reduced_path),
                    "reduced_bytes": bug.reduced_size,
                    "not_reduced": bug.not_reduced or None,
                    "run": list(bug.runs),
                }
                for bug in stats.bugs.values()
            ],
        }
    )


def to_junit(stats: HuntStats, name: str) -> bytes:
    """Return a hunt as a test suite of that name: a failed test per bug, or a passed one if none.

    The elements are those that CI servers read: `testsuite`, `testcase`, `failure`, `system-out`
    (the schema of Ant's JUnit task, which has no other definition).
    """
    bugs = list(stats.bugs.values())
    seconds = f"{stats.seconds:.3f}"
    counts = {"name": name, "tests": str(max(1, len(bugs))), "failures": str(len(bugs))}
    suite = ElementTree.Element("testsuite", counts, errors="0", skipped="0", time=seconds)
    for bug in bugs:
        case = ElementTree.SubElement(suite, "testcase", classname=name, name=bug.name, time="0")
        failure = ElementTree.SubElement(case, "failure", message=_printable(bug.title))
        best = bug.path if bug.reduced_size is None else bug.reduced_path
        failure.text = _printable(f"{bug.title}\nfound {bug.count} times\nfile: {best}")
    if not bugs:
        said = f"{stats.inputs} inputs without a bug"
        ElementTree.SubElement(suite, "testcase", classname=name, name=said, time=seconds)
    ElementTree.indent(suite)
    text: bytes = ElementTree.tostring(suite, encoding="utf-8", xml_declaration=True)
    return text + b"\n"


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() or c == "\n" else "?" for c in text)
