"""The live block of a reduction: five lines that say how far it is. Pure: from numbers to text."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from reducekit.events import Accepted, Checked, Event, FailureFound, RolledBack, Started
from reducekit.reports.steps import glimpse
from reducekit.session.eta import in_words
from reducekit.session.progress import Progress
from reducekit.text import printable

Style: TypeAlias = Literal["", "strong", "quiet", "good", "gone", "come", "warn"]
Part: TypeAlias = tuple[str, Style]
Row: TypeAlias = Sequence[Part]

SLOW = 3.0
"""Seconds without a verdict from which on it is said what runs."""
_MOST = 1000  # sizes that are kept for the curve
_LARGE = 1 << 18  # bytes of a text whose changes are not shown: to compare it takes too long
_BARS = "▁▂▃▄▅▆▇█"
_PLAIN_BARS = "_.:-=+*#"
_WIDEST = 60  # columns of the curve

HELP = (
    "p pauses: no more checks are started, those that run go on",
    "n leaves the present pass, as if it had nothing left to try",
    "q ends the reduction; the best file so far is in the output",
    "? hides this",
)


@dataclass(slots=True)
class Watched:
    """What has been seen of a session, as the block shows it. Times are monotonic seconds."""

    progress: Progress
    jobs: int = 1
    command: str = ""
    """What the checks run, for when one takes long."""
    clock: Callable[[], float] = time.monotonic
    output: str = ""
    failure: str = ""
    interesting: int = 0
    hits: int = 0
    sizes: list[tuple[int, int]] = field(default_factory=list)
    """Checks and bytes of each accepted text, thinned where there are many."""
    last: tuple[str, bytes, bytes] | None = None
    """The last accepted change: what, the text before, the text after."""
    succeeded: float | None = None
    heard: float = 0.0
    """When the last verdict or the last sign of anything came."""
    paused: bool = False
    help: bool = False
    on_cluster: bool = False
    _text: bytes = b""
    _compared: tuple[bytes, Sequence[tuple[str, str, int]]] = (b"", ())

    def __post_init__(self) -> None:
        self.heard = self.clock()

    def see(self, event: Event) -> None:
        """Take an event in."""
        self.progress.see(event)
        self.heard = self.clock()
        match event:
            case Started(output=output):
                self.output = "" if output is None else str(output)
            case FailureFound(failure=failure):
                self.failure = failure
            case Checked(remembered=True):
                self.hits += 1
            case Checked(interesting=interesting):
                self.interesting += interesting
            case Accepted(text=text, what=what):
                self.last = (what, self._text, text)
                self._text = text
                self.succeeded = self.heard
                self._point(len(text))
            case RolledBack(text=text):
                self._text = text
                self._point(len(text))

    def change(self) -> Sequence[tuple[str, str, int]]:
        """Return what the last accepted change removed and added (see `glimpse`)."""
        if self.last is None:
            return ()
        _, old, new = self.last
        if not old or max(len(old), len(new)) > _LARGE:
            return ()
        if self._compared[0] is not new:
            self._compared = (new, glimpse(old, new))
        return self._compared[1]

    def _point(self, size: int) -> None:
        self.sizes.append((self.progress.checks, size))
        if len(self.sizes) > _MOST:
            self.sizes = [*self.sizes[:-1:2], self.sizes[-1]]


def rows(watched: Watched, width: int, *, unicode: bool = True) -> list[Row]:
    """Return the lines of the block, none wider than `width` columns.

    The number of lines stays the same during a run, so that nothing jumps: but for a slow
    check, and the help.
    """
    progress = watched.progress
    now = watched.clock()
    seconds = now - progress.begin
    if not progress.size:
        return [_cut([("reading the input", "quiet")], width)]
    found = [_head(watched, width, unicode=unicode)]
    if progress.round < 0:
        found.append([("running the command on the input ", ""), (f"for {seconds:.0f} s", "quiet")])
        return [_cut(row, width) for row in found]
    rate = progress.checks / seconds if seconds > 0 else 0.0
    share = 100 * watched.interesting / progress.checks if progress.checks else 0.0
    workers = f"{watched.jobs} worker{'s' if watched.jobs > 1 else ''}"
    if watched.on_cluster:
        workers = "on a cluster"
    middle: list[Part] = [
        (f"{progress.checks:,} checks", "strong"),
        (f"  {rate:.0f}/s  {share:.0f} % succeed  {watched.hits:,} known  {workers}", ""),
        (f"  {_clock(seconds)}, left: {in_words(progress.left())}", "quiet"),
    ]
    found.append(middle)
    since = "" if watched.succeeded is None else f"  last success {_ago(now - watched.succeeded)}"
    found.append(
        [
            (f"round {progress.round}: {printable(progress.pass_name)}", "strong"),
            (f"  {progress.accepted:,} accepted", ""),
            (since, "quiet"),
        ]
    )
    found.append(_changed(watched, width))
    waited = now - watched.heard
    if watched.paused:
        found.append([("paused", "warn"), ("  p goes on", "quiet")])
    elif waited >= SLOW:
        words = f"a check has been running for {waited:.0f} s: {printable(watched.command)}"
        found.append([(words, "warn")])
    else:
        found.append([("p pause  n next pass  q stop  ? help", "quiet")])
    if watched.help:
        found += [[(line, "quiet")] for line in HELP]
    return [_cut(row, width) for row in found]


def _head(watched: Watched, width: int, *, unicode: bool) -> Row:
    """Return the first line: the output, its size, and the curve in what is left of the line."""
    progress = watched.progress
    size, before = progress.size, progress.size_before
    numbers = f"{before:,} -> {size:,} bytes ({100 * size / max(1, before):.1f} %)"
    room = width - len(numbers) - 2
    name = printable(watched.output)
    if len(name) > room // 2 > 8:
        name = f"..{name[2 - room // 2 :]}"
    parts: list[Part] = [(f"{name}  " if name and len(name) + 2 <= room else "", "")]
    parts.append((numbers, "strong"))
    left = width - sum(len(text) for text, _ in parts) - 2
    if left >= 8 and watched.sizes:
        parts.append(("  " + curve(watched, min(left, _WIDEST), unicode=unicode), "good"))
    return parts


def curve(watched: Watched, columns: int, *, unicode: bool) -> str:
    """Return the size over the checks as a row of bars, one a column; each halving counts alike."""
    progress = watched.progress
    bars = _BARS if unicode else _PLAIN_BARS
    points = [(0, progress.size_before), *watched.sizes]
    most, whole = max(1, progress.checks), math.log(max(2, progress.size_before))
    shown = []
    at = 0
    for column in range(columns):
        checks = most * (column + 1) / columns
        while at + 1 < len(points) and points[at + 1][0] <= checks:
            at += 1
        share = math.log(max(1, points[at][1])) / whole
        shown.append(bars[min(len(bars) - 1, int(share * len(bars)))])
    return "".join(shown)


def _changed(watched: Watched, width: int) -> Row:
    """Return the last accepted change as a short diff."""
    if watched.last is None:
        return [("no success yet", "quiet")]
    what, old, new = watched.last
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
