"""The live block of a reduction: five lines on its progress. Pure: from numbers to text."""

from __future__ import annotations

import math
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from reducekit.events import Accepted, Event, PassStarted
from reducekit.session.progress import SLOW, Progress, in_words
from reducekit.text import counted, printable

if TYPE_CHECKING:
    from reducekit.session import Session

Style: TypeAlias = Literal["", "strong", "quiet", "good", "gone", "come", "warn"]
Part: TypeAlias = tuple[str, Style]
Row: TypeAlias = Sequence[Part]

LARGE = 1 << 18  # bytes of a text whose changes are not shown: to compare it takes too long
_BARS = "▁▂▃▄▅▆▇█"
_PLAIN_BARS = "_.:-=+*#"
_WIDEST = 60  # columns of the curve
_STEPS = 1000  # in the history

KEYS = (
    "p pause  n skip pass  q stop  t full screen  ? help",
    "p pause  n skip  q stop  t full  ? help",  # on 40 columns
)
HELP = (
    "p pauses: no more checks start, running ones finish",
    "n skips this pass",
    "q stops; the output file holds the smallest failing file so far",
    "t shows the full screen: text, last change, output, history, passes",
    "? hides this help",
)


@dataclass(slots=True)
class Watched:
    """A session as the live block and the full screen show and control it."""

    progress: Progress
    jobs: int = 1
    command: str = ""
    """What the checks run, shown if one takes long."""
    on_cluster: bool = False
    session: Session | None = None
    paused: bool = False
    help: bool = False
    off: set[str] = field(default_factory=set)
    """The passes to skip."""
    steps: deque[tuple[int, int, str, str]] = field(default_factory=lambda: deque(maxlen=_STEPS))
    """Checks, bytes, pass and change of each accepted text."""
    over: threading.Event = field(default_factory=threading.Event)
    """Set when the full screen has to close."""
    left: bool = False
    """The user has stopped the run in the full screen: it closes at the end of the run."""
    _compared: tuple[bytes, Sequence[tuple[str, str, int]]] = (b"", ())

    def see(self, event: Event) -> None:
        """Take an event in."""
        self.progress.see(event)
        match event:
            case Accepted(text=text, what=what, pass_name=name):
                self.steps.append((self.progress.checks, len(text), name, what))
            case PassStarted(name=name) if name in self.off:
                self.skip()

    def pause(self) -> None:
        """Pause or go on."""
        if self.session is not None:
            self.paused = not self.paused
            (self.session.pause if self.paused else self.session.resume)()

    def skip(self) -> None:
        """Leave the current pass."""
        if self.session is not None:
            self.session.skip_pass()

    def stop(self) -> None:
        """Stop with the best so far."""
        if self.session is not None:
            self.session.stop("stopped by q")

    def change(self) -> Sequence[tuple[str, str, int]]:
        """Return what the last accepted change removed and added (see `glimpse`)."""
        if self.progress.last is None:
            return ()
        _, old, new = self.progress.last
        if not old or max(len(old), len(new)) > LARGE:
            return ()
        if self._compared[0] is not new:
            from reducekit.reports.account import glimpse  # not for plain lines

            self._compared = (new, glimpse(old, new))
        return self._compared[1]


def rows(watched: Watched, width: int, *, unicode: bool = True) -> list[Row]:
    """Return the lines of the block, each at most `width` columns wide.

    Their number stays the same, so that nothing jumps, except for a slow check and the help.
    """
    progress = watched.progress
    seconds = progress.elapsed
    if not progress.size:
        return [_cut([("reading the input", "quiet")], width)]
    found = [_head(watched, width, unicode=unicode)]
    if progress.round < 0:
        found.append([("running the command on the input ", ""), (f"for {seconds:.0f} s", "quiet")])
        return [_cut(row, width) for row in found]
    workers = f"{watched.jobs} worker{'s' if watched.jobs > 1 else ''}"
    said = (
        f"{progress.rate(seconds):.0f}/s",
        f"{progress.succeeding:.0f} % succeed",
        f"{progress.remembered:,} known",
        "on a cluster" if watched.on_cluster else workers,
    )
    first: Part = (counted(progress.checks, "check"), "strong")
    last: Part = (f"  {_clock(seconds)}, left: {in_words(progress.left())}", "quiet")
    room, middle = width - len(first[0]) - len(last[0]), list[Part]()
    for each in said:  # what does not fit is left out
        room -= len(each) + 2
        if room >= 0:
            middle.append((f"  {each}", ""))
    ago = progress.since
    since = ""
    if ago is not None:
        since = f"  last success {f'{ago:.0f} s' if ago < 120 else _clock(ago)} ago"
    found += [
        [first, *middle, last],
        [
            (f"round {progress.round}: {printable(progress.pass_name)}", "strong"),
            (f"  {progress.accepted:,} accepted", ""),
            (since, "quiet"),
        ],
        _changed(watched, width),
    ]
    if watched.paused:
        found.append([("paused", "warn"), ("  p resumes", "quiet")])
    elif progress.waited >= SLOW:
        command = printable(watched.command)
        words = f"a check has been running for {progress.waited:.0f} s: {command}"
        found.append([(words, "warn")])
    else:
        found.append([(KEYS[width < len(KEYS[0])], "quiet")])
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
