"""A reduction as plain data, gathered from its journal; all reports are drawn from it.

Pure: works on a loaded journal. The journal of a killed run yields what it recorded. A step is also
summarised by the lines that differ, without their common parts.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reducekit.differences import changed
from reducekit.errors import UsageError
from reducekit.journal import Contents, Head, Step
from reducekit.oracle.own import OWN_FAILURE
from reducekit.oracle.signature import signature
from reducekit.session.progress import PassTotal, Point
from reducekit.text import printable_lines, without_middle

_LINES = 6  # on each side of a change
_COLUMNS = 160
_CHANGES = 4
_SHARED = 24
"""Number of common characters kept at either end of two lines."""
_LITTLE = 6
"""The same if everything has to fit on one line of a terminal."""
_LARGE = 1 << 21  # bytes; comparing larger texts would take too long
NOTE = "report"
"""The name of the note."""
SUBJECT = "subject"
"""The name of the note on what fails, which is made when a session starts."""
_PLAIN = ("input", "output", "failure", "stopped", "verified", "checks", "runs", "seconds")
"""What is noted as it is."""
LEFT = ("name", "line", "result_line", "good", "bad")
"""What is noted of each part that is left."""
SEARCH = "search"


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a diff: removed ("-"), added ("+"), or a remark (" ")."""

    sign: str
    text: str


def changes(old: bytes, new: bytes) -> list[Line]:
    """Return the removed and the added lines, about 50 at most."""
    if len(old) + len(new) > _LARGE:
        return [Line(" ", f"{len(old):,} bytes became {len(new):,}")]
    a, b = old.split(b"\n"), new.split(b"\n")
    regions = changed(a, b)
    found: list[Line] = []
    for begin, end, start, stop in regions[:_CHANGES]:
        found.append(Line(" ", f"line {begin + 1:,}"))
        removed, added = a[begin:end], b[start:stop]
        if len(removed) == len(added) == 1:
            before, after = _apart(printable_lines(removed[0]), printable_lines(added[0]), _SHARED)
            found += [Line("-", before), Line("+", after)]
            continue
        for sign, lines in (("-", removed), ("+", added)):
            shown = [without_middle(printable_lines(each), _COLUMNS) for each in lines[:_LINES]]
            found += [Line(sign, each) for each in shown]
            if len(lines) > _LINES:
                found.append(Line(sign, f"[{len(lines) - _LINES:,} more lines]"))
    if len(regions) > _CHANGES:
        found.append(Line(" ", f"[{len(regions) - _CHANGES:,} more places]"))
    return found


def glimpse(old: bytes, new: bytes) -> list[tuple[str, str, int]]:
    """Return "-" and "+", each with its first line and the number of its other lines."""
    a, b = old.split(b"\n"), new.split(b"\n")
    regions = changed(a, b)
    removed = [line for each in regions for line in a[each.begin : each.end]]
    added = [line for each in regions for line in b[each.start : each.stop]]
    if len(removed) == len(added) == 1:
        before, after = _apart(printable_lines(removed[0]), printable_lines(added[0]), _LITTLE)
        return [("-", before, 0), ("+", after, 0)]
    return [
        (sign, without_middle(printable_lines(lines[0]), _COLUMNS), len(lines) - 1)
        for sign, lines in (("-", removed), ("+", added))
        if lines
    ]


def _apart(old: str, new: str, shared: int) -> tuple[str, str]:
    """Return two lines, with `shared` characters of what they have in common at either end."""
    front = 0
    most = min(len(old), len(new))
    while front < most and old[front] == new[front]:
        front += 1
    back = 0
    while back < most - front and old[-1 - back] == new[-1 - back]:
        back += 1
    first, last = max(0, front - shared), max(0, back - shared)

    def cut(line: str) -> str:
        middle = without_middle(line[first : len(line) - last], 2 * _COLUMNS)
        return f"{'… ' if first else ''}{middle}{' …' if last else ''}"

    return cut(old), cut(new)


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
    """The remaining parts of the input: `name`, `line`, `result_line`, and the instances in a
    `good` and in a `bad` run."""
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
        places = said.get("places")
        return Ending(
            **{name: said.get(name) for name in _PLAIN},
            before=dict(said.get("before", {})),
            after=dict(said.get("after", {})),
            last_runs=[Run(**each) for each in said.get("last_runs", ())],
            other_failures=[
                (each["failure"], each["count"], each["bytes"])
                for each in said.get("other_failures", ())
            ],
            left=[{name: each[name] for name in LEFT} for each in said.get("left", ())],
            places=None if places is None else (str(places["before"]), str(places["after"])),
            versions=dict(said.get("versions", {})),
            subject=subject and {name: str(subject[name]) for name in ("name", "version")},
        )
    except (ValueError, TypeError, KeyError, AttributeError):
        return Ending()


@dataclass(frozen=True, slots=True)
class Account:
    """A reduction as recorded in its journal."""

    found: Contents
    name: str
    """The name of the output, or else of the journal."""
    curve: Sequence[Point]
    """From the input to the end; the last point repeats the size of its predecessor."""
    passes: Sequence[PassTotal]
    """In the order in which they first ran or first succeeded."""
    before: bytes
    after: bytes
    origin: int | None = None
    """Bytes of the file whose step the input is, if it is one of another reduction."""

    @property
    def head(self) -> Head:
        """What the journal says of the reduction at its start."""
        assert self.found.head is not None
        return self.found.head

    @property
    def size_before(self) -> int:
        """Bytes of what the reduction began with."""
        return len(self.before) if self.origin is None else self.origin

    @property
    def steps(self) -> Sequence[Step]:
        """The accepted texts, the input first."""
        return self.found.steps

    @property
    def checks(self) -> int:
        """The number of checks; for an unfinished reduction, the number of verdicts."""
        return self.curve[-1].checks

    @property
    def seconds(self) -> float:
        """The time of the last event in the journal."""
        return self.curve[-1].seconds

    @property
    def failure(self) -> str:
        """The failure that is preserved; the command's actual failure if none was specified."""
        said = ending(self.found).failure
        if said:
            return said
        head, golden = self.head, self.found.golden
        runs = () if golden is None or not golden.runs else golden.runs[0]
        if not runs or not head.criterion.startswith(OWN_FAILURE):
            return head.criterion
        return signature(runs[0]).without_quotes(self.found.text(0)).describe()

    @property
    def ended(self) -> bool:
        """Whether the search finished, rather than being stopped or killed."""
        return "ended" in self.found.notes


def account(found: Contents, path: Path) -> Account:
    """Gather the data of a loaded journal; `path` is its file. Raises UsageError if it is empty."""
    if found.head is None or not found.steps:
        raise UsageError(f"the journal {path} ends before the input: there is nothing to report")
    name = path.name.removesuffix(".journal")
    return Account(
        found, name, _curve(found), _passes(found), found.text(0), found.text(found.current)
    )


def _curve(found: Contents) -> list[Point]:
    """Return the sizes in chronological order; they rise where a step was given up."""
    returns = iter(found.returns)
    back = next(returns, None)
    points: list[Point] = []
    checks, seconds = 0, 0.0
    for step in found.steps:
        while back is not None and back.after == step.number:
            points.append(Point(checks, seconds, found.steps[back.step].size))
            back = next(returns, None)
        # Returning to a text that has no step of its own is recorded as a step without progress.
        checks, seconds = max(checks, step.checks), max(seconds, step.seconds)
        points.append(Point(checks, seconds, step.size))
    last = found.steps[found.current].size
    ended = [(each.checks, each.seconds) for each in found.passes]
    # A journal also has verdicts that the search did not request: of an empty file, of look-ahead.
    said = ending(found).checks
    all_checks = len(found.verdicts) if said is None else said
    checks = max([checks, all_checks, *(each for each, _ in ended)])
    seconds = max([seconds, *(each for _, each in ended)])
    return [*points, Point(checks, seconds, last)]


def _passes(found: Contents) -> list[PassTotal]:
    """Add up the costs and gains of each pass.

    A pass removed the bytes that its accepted steps removed; growth counts as negative. Costs are
    known if the journal records passes; a pass that was running when the run was killed has none.
    """
    accepted: Counter[str] = Counter()
    removed: Counter[str] = Counter()
    for step in found.steps[1:]:
        accepted[step.pass_name] += 1
        removed[step.pass_name] += found.steps[step.base].size - step.size
    checks: Counter[str] = Counter()
    seconds: dict[str, float] = {}
    before = (0, 0.0)
    for each in found.passes:
        checks[each.name] += max(0, each.checks - before[0])
        seconds[each.name] = seconds.get(each.name, 0.0) + max(0.0, each.seconds - before[1])
        before = (each.checks, each.seconds)
    names = list(dict.fromkeys([*checks, *accepted])) if checks else list(accepted)
    return [
        PassTotal(
            name or SEARCH, accepted[name], removed[name], checks.get(name), seconds.get(name)
        )
        for name in names
    ]
