"""The live block of a reduction: five lines on its progress. Pure: from numbers to text."""

from __future__ import annotations

import math
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias

from reducekit.events import Accepted, Event, PassStarted
from reducekit.reports.steps import glimpse
from reducekit.session.progress import Progress, in_words
from reducekit.text import printable

Style: TypeAlias = Literal["", "strong", "quiet", "good", "gone", "come", "warn"]
Part: TypeAlias = tuple[str, Style]
Row: TypeAlias = Sequence[Part]

SLOW = 3.0
"""Seconds without a verdict after which the running command is shown."""
_LARGE = 1 << 18  # bytes of a text whose changes are not shown: to compare it takes too long
_BARS = "▁▂▃▄▅▆▇█"
_PLAIN_BARS = "_.:-=+*#"
_WIDEST = 60  # columns of the curve

HELP = (
    "p pauses: no more checks start, running ones finish",
    "n skips this pass",
    "q stops; the output file holds the smallest failing file so far",
    "t shows the full screen: text, last change, output, history, passes",
    "? hides this help",
)


@dataclass(slots=True)
class Watched:
    """A session as the block shows it."""

    progress: Progress
    jobs: int = 1
    command: str = ""
    """What the checks run, shown if one takes long."""
    heard: float = 0.0
    """When the last verdict or other sign of life arrived."""
    paused: bool = False
    help: bool = False
    on_cluster: bool = False
    _compared: tuple[bytes, Sequence[tuple[str, str, int]]] = (b"", ())

    def __post_init__(self) -> None:
        self.heard = self.progress.clock()

    def see(self, event: Event) -> None:
        """Take an event in."""
        self.progress.see(event)
        self.heard = self.progress.clock()

    def change(self) -> Sequence[tuple[str, str, int]]:
        """Return what the last accepted change removed and added (see `glimpse`)."""
        if self.progress.last is None:
            return ()
        _, old, new = self.progress.last
        if not old or max(len(old), len(new)) > _LARGE:
            return ()
        if self._compared[0] is not new:
            self._compared = (new, glimpse(old, new))
        return self._compared[1]


def rows(watched: Watched, width: int, *, unicode: bool = True) -> list[Row]:
    """Return the lines of the block, each at most `width` columns wide.

    The number of lines stays the same during a run, so that nothing jumps, except for a slow check
    and the help.
    """
    progress = watched.progress
    seconds = progress.elapsed
    if not progress.size:
        return [_cut([("reading the input", "quiet")], width)]
    found = [_head(watched, width, unicode=unicode)]
    if progress.round < 0:
        found.append([("running the command on the input ", ""), (f"for {seconds:.0f} s", "quiet")])
        return [_cut(row, width) for row in found]
    rate = progress.rate(seconds)
    share = 100 * progress.interesting / progress.checks if progress.checks else 0.0
    workers = _workers(watched)
    said = [f"{rate:.0f}/s", f"{share:.0f} % succeed", f"{progress.remembered:,} known", workers]
    found.append(
        _fitting(
            (f"{progress.checks:,} checks", "strong"),
            [(f"  {each}", "") for each in said],
            [(f"  {_clock(seconds)}, left: {in_words(progress.left())}", "quiet")],
            width,
        )
    )
    since = "" if progress.since is None else f"  last success {_ago(progress.since)}"
    found.append(
        [
            (f"round {progress.round}: {printable(progress.pass_name)}", "strong"),
            (f"  {progress.accepted:,} accepted", ""),
            (since, "quiet"),
        ]
    )
    found.append(_changed(watched, width))
    found.append(_state(watched))
    if watched.help:
        found += [[(line, "quiet")] for line in HELP]
    return [_cut(row, width) for row in found]


def _head(watched: Watched, width: int, *, unicode: bool) -> Row:
    """Return the first line: the output, its size, and the curve in the remaining columns."""
    progress = watched.progress
    size, before = progress.size, progress.size_before
    numbers = f"{before:,} -> {size:,} bytes ({100 * size / max(1, before):.1f} %)"
    room = width - len(numbers) - 2
    name = printable(progress.output)
    if len(name) > room // 2 > 8:
        name = f"..{name[2 - room // 2 :]}"
    parts: list[Part] = [(f"{name}  " if name and len(name) + 2 <= room else "", "")]
    parts.append((numbers, "strong"))
    left = width - sum(len(text) for text, _ in parts) - 2
    if left >= 8 and len(progress.curve) > 1:
        parts.append(("  " + curve(progress, min(left, _WIDEST), unicode=unicode), "good"))
    return parts


def curve(progress: Progress, columns: int, *, unicode: bool) -> str:
    """Return the size over the checks as a row of bars, one per column, on a log scale."""
    bars = _BARS if unicode else _PLAIN_BARS
    whole = math.log(max(2, progress.size_before))
    shares = (math.log(max(1, size)) / whole for size in sizes(progress, columns))
    return "".join(bars[min(len(bars) - 1, int(share * len(bars)))] for share in shares)


def sizes(progress: Progress, columns: int) -> Iterator[int]:
    """Yield the size of the best text at the checks of each column of a curve."""
    points, most, at = progress.curve, max(1, progress.checks), 0
    for column in range(columns):
        checks = most * (column + 1) / columns
        while at + 1 < len(points) and points[at + 1].checks <= checks:
            at += 1
        yield points[at].size


def _changed(watched: Watched, width: int) -> Row:
    """Return the last accepted change as a short diff."""
    if watched.progress.last is None:
        return [("no success yet", "quiet")]
    what, old, new = watched.progress.last
    parts: list[Part] = [(printable(what), ""), (f"  {len(new) - len(old):+,} bytes  ", "quiet")]
    if not old:
        parts[1] = ("  ", "quiet")
    styles: dict[str, Style] = {"-": "gone", "+": "come"}
    for sign, line, others in watched.change():
        left = width - sum(len(text) for text, _ in parts)
        room = max(12, left // 2 if sign == "-" else left)
        more = f" (+{others:,})" if others else ""
        first = printable(" ".join(line.split()))
        if len(first) + len(more) + 3 > room:
            first = first[: max(4, room - len(more) - 6)] + "..."
        parts.append((f"{sign}{first}{more}  ", styles[sign]))
    return parts


def _fitting(first: Part, middle: list[Part], last: list[Part], width: int) -> Row:
    """Return a row without those parts of the middle that do not fit; the first ones are kept."""
    room = width - sum(len(text) for text, _ in (first, *last))
    kept = list[Part]()
    for part in middle:
        room -= len(part[0])
        if room >= 0:
            kept.append(part)
    return [first, *kept, *last]


def _cut(row: Row, width: int) -> Row:
    """Return a row of at most `width` columns."""
    found: list[Part] = []
    for text, style in row:
        if width <= 0:
            break
        found.append((text[:width], style))
        width -= len(text)
    return found


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _ago(seconds: float) -> str:
    return f"{seconds:.0f} s ago" if seconds < 120 else f"{_clock(seconds)} ago"


def _state(watched: Watched) -> list[Part]:
    """Return the row that says why nothing happens, otherwise the keys."""
    waited = watched.progress.clock() - watched.heard
    if watched.paused:
        return [("paused", "warn"), ("  p resumes", "quiet")]
    if waited >= SLOW:
        words = f"a check has been running for {waited:.0f} s: {printable(watched.command)}"
        return [(words, "warn")]
    return [("p pause  n skip pass  q stop  t full screen  ? help", "quiet")]


def _workers(watched: Watched) -> str:
    if watched.on_cluster:
        return "on a cluster"
    return f"{watched.jobs} worker{'s' if watched.jobs > 1 else ''}"


_STEPS = 1000  # in the history


class Ran(Protocol):
    """How a command ended."""

    @property
    def stdout(self) -> bytes:
        """What it printed."""

    @property
    def stderr(self) -> bytes:
        """What the last check printed as errors."""

    def describe(self) -> str:
        """Say how it ended."""


class Controlled(Protocol):
    """What the keys control: a session."""

    @property
    def best(self) -> bytes:
        """The smallest failing text so far."""

    @property
    def last_run(self) -> Sequence[Ran]:
        """How the commands of the last check ended."""

    @property
    def busy(self) -> float:
        """Seconds that the commands of all checks ran, in sum."""

    @property
    def timeouts(self) -> int:
        """Checks of which a command reached a time limit."""

    @property
    def time_limit(self) -> float | None:
        """Seconds of wall time that a run may take."""

    def stop(self, reason: str = ...) -> None:
        """Stop with the best so far."""

    def pause(self) -> None:
        """Start no more checks."""

    def resume(self) -> None:
        """Go on."""

    def skip_pass(self) -> None:
        """Leave the current pass."""


@dataclass(slots=True)
class Screenful:
    """What the full screen shows and controls; kept while it is closed."""

    watched: Watched
    session: Controlled | None = None
    off: set[str] = field(default_factory=set)
    """The passes to skip."""
    steps: deque[tuple[int, int, str, str]] = field(default_factory=lambda: deque(maxlen=_STEPS))
    """Checks, bytes, pass and change of each accepted text."""
    over: threading.Event = field(default_factory=threading.Event)
    """Set when the screen has to close."""
    left: bool = False
    """The user has stopped the run here: the screen closes at its end."""

    def see(self, event: Event) -> None:
        """Record an event, after `watched` has."""
        match event:
            case Accepted(text=text, what=what, pass_name=name):
                self.steps.append((self.watched.progress.checks, len(text), name, what))
            case PassStarted(name=name) if name in self.off and self.session is not None:
                self.session.skip_pass()
