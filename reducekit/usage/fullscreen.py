"""The full screen of a reduction: numbers, curve, text or last change, output; history and passes.

Built on Textual. It runs in the thread that reads the keyboard; the session keeps the main thread,
where Ctrl-C arrives as usual. What the panes say is pure: from numbers to text.
"""

from __future__ import annotations

import math
import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from rich.text import Text
from textual import events
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.coordinate import Coordinate
from textual.drivers import linux_driver
from textual.geometry import Size
from textual.screen import ModalScreen
from textual.widgets import DataTable, Digits, Footer, Static

from reducekit.reports.account import changes
from reducekit.session.progress import SLOW, Progress, in_words
from reducekit.text import counted, excerpt, printable, printable_lines
from reducekit.usage.block import LARGE, Watched, sizes

_BARS = " ▁▂▃▄▅▆▇█"
_EVERY = 0.25  # seconds between two pictures
_LINES, _COLUMNS = 400, 300  # of a text that is shown
_SHORT, _LOW, _NARROW = 30, 20, 70  # rows and columns below which there is less
_INKS = ((r"(?<=\()[^\s()]+|(?<=^)[a-z]\w*|(?<=\d )[a-z]\w*", "bright_blue"),
         (r"#[xb][\da-fA-F]+|\"[^\"]*\"", "yellow"), (";.*", "dim"))  # fmt: skip
"""Keywords, constants and comments of a text."""


def head(watched: Watched) -> Text:
    """Return the name of the output, the state, and the failure that is kept."""
    progress, ended = watched.progress, watched.progress.finished
    found = Text(printable(progress.output) or "reducekit", style="bold")
    found.append("  ")
    if ended is None:
        state = (" Paused ", "yellow") if watched.paused else (" Running ", "green")
    elif ended.verified is False:
        state = (" Unstable ", "red")
    else:
        state = (" Done ", "green") if ended.stopped is None else (" Stopped ", "yellow")
    said, colour = state
    found.append(said, f"{'white' if colour == 'red' else 'black'} on {colour}")
    if progress.failure:
        found.append(f"  keeps: {printable(progress.failure)}", "dim")
    return found


def numbers(watched: Watched) -> Text:
    """Return sizes, checks, the pass and times."""
    progress, finished, session = watched.progress, watched.progress.finished, watched.session
    seconds = progress.elapsed
    if not progress.size:
        return Text("reading the input")
    gone = progress.size_before - progress.size
    removed = 100 * gone / max(1, progress.size_before)
    found = Text()
    found.append(f"{progress.size:,} bytes", "bold green")
    found.append(f" of {progress.size_before:,}, {removed:.2f} % removed\n")
    current = f"{printable(progress.pass_name)}, round {progress.round}"
    if finished is not None:
        current = printable(finished.stopped or "none helps any more")
        if finished.verified is False:
            current = "none: the result did not fail again"
    elif progress.round < 0:
        current = "none yet: running the command on the input"
    checks = f"{progress.checks:,}"
    if progress.checks:
        unused = 100 * max(0, progress.interesting - progress.accepted) / progress.checks
        checks += f"  {progress.rate(seconds):.0f}/s  {progress.succeeding:.0f} % succeed"
        checks += f"  {unused:.0f} % unused"
    ago = progress.since
    since = "no success yet" if ago is None else f"last success {ago:.0f} s ago"
    accepted = progress.accepted
    workers = "a cluster" if watched.on_cluster else f"{watched.jobs}"
    if session is not None:
        busy = session.busy / max(1e-9, seconds)
        limit = "" if session.time_limit is None else f" ({session.time_limit:.1f} s)"
        workers += f"  {busy:.1f} busy on average  {session.timeouts:,} timeouts{limit}"
    left = "" if finished else f"  left: {in_words(progress.left())}"
    for name, value in (
        ("checks", checks),
        ("known", f"{progress.remembered:,} verdicts needed no check"),
        ("accepted", f"{accepted:,}  {accepted / max(1.0, seconds):.1f}/s  {since}"),
        ("removed", f"{max(0, gone) / max(1.0, seconds):,.0f} bytes a second"),
        ("pass", current),
        ("workers", workers),
        ("time", f"{seconds:.0f} s{left}"),
    ):
        found.append(f"{name:>9} ", "dim")
        found.append(f"{value}\n")
    if progress.waited >= SLOW and not watched.paused and finished is None:
        words = printable(watched.command)
        found.append(f"a check has been running for {progress.waited:.0f} s: {words}", "yellow")
    return found


def brief(watched: Watched) -> Text:
    """Return three lines for low screens, which show the size in large digits next to them."""
    progress, finished = watched.progress, watched.progress.finished
    if not progress.size:
        return Text("reading the input")
    seconds, size = progress.elapsed, progress.size_before
    found = Text(no_wrap=True, overflow="ellipsis")
    found.append(f"bytes of {size:,}, {100 * (size - progress.size) / max(1, size):.2f} % removed")
    found.append(f"\n{counted(progress.checks, 'check')}  {seconds:.0f} s")
    if progress.checks:
        said = f"{progress.rate(seconds):.0f}/s  {progress.succeeding:.0f} % succeed"
        found.append(f"  {said}", "dim")
    found.append("" if finished else f"  left: {in_words(progress.left())}", "dim")
    if progress.waited >= SLOW and not watched.paused and finished is None:
        found.append(f"\na check has been running for {progress.waited:.0f} s", "yellow")
    else:
        said = progress.pass_name if finished is None else finished.stopped or "none helps any more"
        found.append(f"\n{printable(said)}", "dim")
    return found


def output(watched: Watched) -> Text:
    """Return what the commands of the last check printed, and how they ended."""
    found = Text()
    for each in () if watched.session is None else watched.session.last_run:
        found.append(printable_lines(each.stdout[-4000:]))
        found.append(printable_lines(each.stderr[-4000:]), "red")
        found.append(f"({each.describe()})\n", "dim")
    return found or Text("nothing so far", "dim")


def plot(progress: Progress, width: int, height: int) -> list[str]:
    """Return the size over the checks as rows of characters, on a log scale: a filled curve."""
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


class Fullscreen(App[None]):
    """The screen itself."""

    CSS = """
    #head { height: auto; padding: 0 1; }
    Horizontal { height: 1fr; }
    #upper { height: 14; }
    #size { width: auto; height: 3; margin: 0 2 0 0; color: $success; text-style: bold; }
    #run { height: 100%; }
    .short #upper { layout: vertical; height: auto; }
    .short #run { layout: horizontal; width: 100%; height: 3; border: none; }
    .short #curve { width: 100%; height: 6; border: none; }
    .short #head { height: 1; }
    .low #curve { height: 4; }
    .narrow #right, .narrow .without-text #text-pane { display: none; }
    .narrow .without-text #right { display: block; }
    Footer { background: $panel; }
    VerticalScroll { scrollbar-size: 1 1; scrollbar-color: $panel-lighten-2; }
    #right { width: 1fr; }
    #change-pane, #output-pane { height: 1fr; width: 100%; }
    .only #right, .without-text #text-pane { display: none; }
    .pane { border: round $primary; width: 1fr; height: 100%; padding: 0 1; }
    .pane:focus { border: heavy $accent; }
    ModalScreen { align: center middle; }
    ModalScreen DataTable { width: 90%; height: 80%; border: round $accent; background: $surface; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("t", "close", "Lines"),
        Binding("p", "pause", "Pause"),
        Binding("n", "skip", "Skip pass"),
        Binding("v", "view", "Panes"),
        Binding("h", "history", "History"),
        Binding("x", "passes", "Passes"),
        Binding("q", "stop", "Stop"),
        Binding("q,enter,escape,t", "leave", "Close", key_display="q"),
        Binding("ctrl+c", "interrupt", show=False, priority=True),
        Binding("ctrl+z", "background", show=False, priority=True),
    ]
    ENABLE_COMMAND_PALETTE = False

    def __init__(self, shown: Watched) -> None:
        super().__init__(driver_class=_Driver if threading.current_thread() is not
                         threading.main_thread() else None)  # fmt: skip
        self.shown = shown
        self._drawn: bytes | None = None
        self._finished = False

    def compose(self) -> ComposeResult:
        """Make the panes."""
        yield Static(id="head")
        with Horizontal(id="upper"):
            with Vertical(id="run", classes="pane"):
                yield Digits(id="size")
                yield Static(id="numbers")
            yield Static(id="curve", classes="pane")
        with Horizontal(id="lower"):
            with VerticalScroll(id="text-pane", classes="pane"):
                yield Static(id="text")
            with Vertical(id="right"):
                with VerticalScroll(id="change-pane", classes="pane"):
                    yield Static(id="change")
                with VerticalScroll(id="output-pane", classes="pane"):
                    yield Static(id="output")
        yield Footer()

    def on_mount(self) -> None:
        """Begin to draw."""
        self.query_one("#run").border_title = "Run"
        self.query_one("#curve").border_title = "Bytes (log) by checks"
        self.query_one("#change-pane").border_title = "Last change"
        self.query_one("#output-pane").border_title = "Last output of the program"
        self.set_interval(_EVERY, self.draw)
        self.draw()

    def on_resize(self) -> None:
        """Redraw the curve in its new size."""
        self.call_after_refresh(self.draw)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return whether a key has an effect: some only during the run, some only afterwards."""
        if action in ("close", "pause", "skip", "stop"):
            return not self._finished
        return self._finished if action == "leave" else True

    def draw(self) -> None:
        """Show the state; close once that is asked for."""
        shown = self.shown
        if shown.over.is_set():
            self.exit()
            return
        progress = shown.progress
        if not self._finished and progress.finished is not None:
            self._finished = True
            self.refresh_bindings()
        if isinstance(self._driver, _Driver):  # the signal only reaches the main thread
            size = Size(*os.get_terminal_size(self._driver.fileno))
            if size != self.size:
                self.post_message(events.Resize(size, size))
        if not self.screen_stack:
            return
        main = self.screen_stack[0]
        main.query_one("#head", Static).update(head(shown))
        short = self.size.height < _SHORT
        main.set_class(short, "short")
        main.set_class(self.size.height < _LOW, "low")
        main.set_class(self.size.width < _NARROW, "narrow")
        main.query_one("#size", Digits).update(f"{progress.size:,}" if progress.size else "")
        main.query_one("#numbers", Static).update((brief if short else numbers)(shown))
        curve = main.query_one("#curve", Static)
        rows = plot(progress, curve.content_size.width, curve.content_size.height)
        styles = (
            f"rgb({70 - 3 * row},{200 - 9 * row},{120 - 4 * row})" for row in range(len(rows))
        )
        curve.update(Text("\n", no_wrap=True).join(map(Text, rows, styles)))
        self._draw_text(main.query_one("#text", Static), main.query_one("#change", Static))
        main.query_one("#output", Static).update(output(shown))

    def _draw_text(self, pane: Static, changed: Static) -> None:
        """Show the best text, and what the last step changed in it, if that is new."""
        step = self.shown.progress.last
        text = b"" if self.shown.session is None else self.shown.session.best
        if text is self._drawn:
            return
        self._drawn = text
        main = self.screen_stack[0]
        main.query_one("#text-pane").border_title = f"Text, {len(text):,} bytes"
        inked = Text("\n".join(excerpt(text, _LINES, _COLUMNS)))
        for pattern, style in _INKS:
            inked.highlight_regex(pattern, style)
        pane.update(inked)
        if step is None or max(len(step.before), len(step.after)) > LARGE or not step.before:
            changed.update(Text("" if step is None else printable(step.what)))
            return
        styles = {"-": "red", "+": "green"}
        found = Text(f"{printable(step.what)}: {len(step.after) - len(step.before):+,} bytes\n")
        for line in changes(step.before, step.after)[:_LINES]:
            found.append(f"{line.sign} {printable_lines(line.text)[:_COLUMNS]}\n",
                         styles.get(line.sign, "dim"))  # fmt: skip
        changed.update(found)

    def action_close(self) -> None:
        """Return to the live lines."""
        self.exit()

    def action_pause(self) -> None:
        """Pause or go on."""
        self.shown.pause()

    def action_skip(self) -> None:
        """Leave the current pass."""
        self.shown.skip()

    def action_view(self) -> None:
        """Give all columns to the text, then to last change and output, then show all."""
        lower = self.query_one("#lower")
        if lower.has_class("only"):
            lower.set_classes("without-text")
        else:
            lower.set_classes("" if lower.has_class("without-text") else "only")

    def action_stop(self) -> None:
        """Stop with the best so far."""
        self.shown.left = self.shown.session is not None
        self.shown.stop()

    def action_leave(self) -> None:
        """Close the screen of a finished run."""
        self.exit()

    def action_interrupt(self) -> None:
        """Do what Ctrl-C does outside of the full screen; a finished run has nothing to stop."""
        if self._finished:
            self.exit()
        else:
            os.kill(os.getpid(), signal.SIGINT)

    def action_background(self) -> None:
        """Do what Ctrl-Z does outside of the full screen."""
        with self.suspend():
            os.kill(os.getpid(), signal.SIGTSTP)

    def action_history(self) -> None:
        """List the accepted steps."""
        rows = [
            (f"{checks:,}", f"{size:,}", name, printable(what))
            for checks, size, name, what in reversed(self.shown.steps)
        ]
        self.push_screen(_Table("Accepted steps", ("checks", "bytes", "pass", "change"), rows))

    def action_passes(self) -> None:
        """List the passes, to switch them on or off."""
        totals = self.shown.progress.passes
        rows = []
        for name, each in totals.items():
            checks = each.checks or 0
            share = f"{100 * each.accepted / max(1, checks):.0f} %"
            counts = (f"{number:,}" for number in (each.runs, checks, each.accepted))
            gain = (share, f"{each.removed:,}", f"{each.seconds or 0:.0f} s")
            rows += [(self._switch(name), name, *counts, *gain)] if name else []
        columns = ("", "pass", "runs", "checks", "accepted", "of checks", "bytes removed", "time")
        title = "Passes" if self._finished else "Passes: Enter switches one off or on"
        toggle = None if self._finished else self.toggle
        self.push_screen(_Table(title, columns, rows, toggle))

    def _switch(self, name: str) -> str:
        return "off" if name in self.shown.off else "on"

    def toggle(self, row: Sequence[str]) -> str:
        """Switch a pass off or on; return which one."""
        self.shown.off ^= {row[1]}
        if row[1] in self.shown.off and row[1] == self.shown.progress.pass_name:
            self.shown.skip()
        return self._switch(row[1])


class _Table(ModalScreen[None]):
    """A table above the panes; `chosen` returns the new first cell of a row."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,h,x,q", "dismiss", "Back"),
        Binding("t", "dismiss", show=False),
    ]

    def __init__(
        self,
        title: str,
        columns: Sequence[str],
        rows: Sequence[Sequence[str]],
        chosen: Callable[[Sequence[str]], str] | None = None,
    ) -> None:
        super().__init__()
        self._title, self._columns, self._rows, self._chosen = title, columns, rows, chosen

    def compose(self) -> ComposeResult:
        """Make the table."""
        table: DataTable[Any] = DataTable(cursor_type="row", zebra_stripes=True)
        table.border_title = self._title
        table.add_columns(*self._columns)
        for row in self._rows:
            table.add_row(*map(Text, row))
        yield table
        yield Footer()

    def on_data_table_row_selected(self, event: DataTable.RowSelected) -> None:
        """Let the row be chosen."""
        if self._chosen is not None:
            said = self._chosen(self._rows[event.cursor_row])
            event.data_table.update_cell_at(Coordinate(event.cursor_row, 0), Text(said))


class _Signals:
    """The module `signal` for a driver outside the main thread, where no handler can be set."""

    def __getattr__(self, name: str) -> Any:
        return getattr(signal, name)

    def signal(self, number: int, handler: object) -> None:
        """Set no handler."""
        if threading.current_thread() is threading.main_thread():
            signal.signal(number, handler)  # type: ignore[arg-type]


class _Driver(linux_driver.LinuxDriver):
    """Textual's driver, adapted to run outside the main thread."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        vars(linux_driver)["signal"] = _Signals()
        super().__init__(*args, **kwargs)
        # The process may have replaced the stream that Python opened.
        stream: Any = sys.stderr
        self._file = getattr(stream, "styled", stream)
