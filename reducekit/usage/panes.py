"""What the panes of the full screen say of a reduction. Pure: from numbers to text."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rich.text import Text

from reducekit.events import Finished
from reducekit.session.progress import Progress, in_words
from reducekit.text import printable, printable_lines
from reducekit.usage.block import SLOW, Watched, sizes
from reducekit.usage.screenful import Controlled, Ran

_BARS = " ▁▂▃▄▅▆▇█"


def head(watched: Watched) -> Text:
    """Return the name of the output, the state, and the failure that is kept."""
    progress = watched.progress
    found = Text(printable(progress.output) or "reducekit", style="bold")
    found.append("  ")
    if progress.finished is not None:
        found.append(*_ended(progress.finished))
    elif watched.paused:
        found.append(" Paused ", "black on yellow")
    else:
        found.append(" Running ", "black on green")
    if progress.failure:
        found.append(f"  keeps: {printable(progress.failure)}", "dim")
    return found


def _ended(finished: Finished) -> tuple[str, str]:
    """Return the state of a finished run and its colours."""
    if finished.verified is False:
        return " Unstable ", "white on red"
    if finished.stopped is not None:
        return " Stopped ", "black on yellow"
    return " Done ", "black on green"


def numbers(watched: Watched, session: Controlled | None) -> Text:
    """Return sizes, checks, the pass and times."""
    progress = watched.progress
    seconds = progress.elapsed
    found = Text()
    if not progress.size:
        return Text("reading the input")
    gone = progress.size_before - progress.size
    removed = 100 * gone / max(1, progress.size_before)
    found.append(f"{progress.size:,} bytes", "bold green")
    found.append(f" of {progress.size_before:,}, {removed:.2f} % removed\n")
    finished = progress.finished
    current = f"{printable(progress.pass_name)}, round {progress.round}"
    if finished is not None:
        current = printable(finished.stopped or "none helps any more")
        if finished.verified is False:
            current = "none: the result did not fail again"
    elif progress.round < 0:
        current = "none yet: running the command on the input"
    share = 100 * progress.interesting / progress.checks if progress.checks else 0.0
    unused = 100 * max(0, progress.interesting - progress.accepted) / max(1, progress.checks)
    rate = progress.rate(seconds)
    told = (
        f"  {rate:.0f}/s  {share:.0f} % succeed  {unused:.0f} % unused" if progress.checks else ""
    )
    ago = progress.since
    since = "no success yet" if ago is None else f"last success {ago:.0f} s ago"
    left = "" if finished else f"  left: {in_words(progress.left())}"
    for name, value in (
        ("checks", f"{progress.checks:,}{told}"),
        ("known", f"{progress.remembered:,} verdicts needed no check"),
        (
            "accepted",
            f"{progress.accepted:,}  {progress.accepted / max(1.0, seconds):.1f}/s  {since}",
        ),
        ("removed", f"{max(0, gone) / max(1.0, seconds):,.0f} bytes a second"),
        ("pass", current),
        ("workers", _workers(watched, session)),
        ("time", f"{seconds:.0f} s{left}"),
    ):
        found.append(f"{name:>9} ", "dim")
        found.append(f"{value}\n")
    waited = progress.clock() - watched.heard
    if waited >= SLOW and not watched.paused and finished is None:
        words = printable(watched.command)
        found.append(f"a check has been running for {waited:.0f} s: {words}", "yellow")
    return found


def _workers(watched: Watched, session: Controlled | None) -> str:
    found = "a cluster" if watched.on_cluster else f"{watched.jobs}"
    if session is None:
        return found
    busy = session.busy / max(1e-9, watched.progress.elapsed)
    limit = "" if session.time_limit is None else f" ({session.time_limit:.1f} s)"
    return f"{found}  {busy:.1f} busy on average  {session.timeouts:,} timeouts{limit}"


def output(outcomes: Sequence[Ran]) -> Text:
    """Return what the commands of a check printed, and how they ended."""
    found = Text()
    for each in outcomes:
        found.append(printable_lines(each.stdout[-4000:]))
        found.append(printable_lines(each.stderr[-4000:]), "red")
        found.append(f"({each.describe()})\n", "dim")
    return found or Text("nothing so far", "dim")


def plot(progress: Progress, width: int, height: int) -> list[str]:
    """Return the size over the checks as rows of characters, on a log scale."""
    margin = 9
    columns, rows = width - margin, height - 1
    points = progress.curve
    if columns < 8 or rows < 2 or not points:
        return []
    largest = max(2, *(each.size for each in points))
    smallest = max(1, min(each.size for each in points))
    low, high = math.log(smallest / 2 if smallest > 1 else 1), math.log(largest)
    heights = [
        max(1, round(8 * rows * (math.log(max(1, size)) - low) / max(1e-9, high - low)))
        for size in sizes(progress, columns)
    ]
    found = []
    for row in range(rows, 0, -1):
        label = {rows: f"{largest:,}", 1: f"{smallest:,}"}.get(row, "")
        cells = "".join(_BARS[max(0, min(8, each - 8 * (row - 1)))] for each in heights)
        found.append(f"{label:>{margin - 1}} {cells}")
    found.append(f"{'0':>{margin}}{max(1, progress.checks):>{columns},}")
    return found
