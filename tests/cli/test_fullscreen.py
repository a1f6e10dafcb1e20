"""The full screen: in a real pseudo-terminal, and by Textual's own pilot on a real session."""

import asyncio
import importlib.util
import os
import re
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import DataTable, Static

from reducekit.cli.process import Interrupts
from reducekit.events import Accepted, Event, Finished, Started
from reducekit.session import Options, Session
from reducekit.session.progress import Progress
from reducekit.usage.block import Watched
from reducekit.usage.fullscreen import Fullscreen, head, numbers, plot
from tests.cli.test_live import SCRIPT, Terminal
from tests.cli.test_redrawing import Tmux
from tests.cli.tool import PROGRAM, Tool


@pytest.fixture
def slow(tool: Tool) -> str:
    tool.write("in.smt2", SCRIPT)
    script = tool.folder / "slow.sh"
    script.write_text(
        '#!/bin/sh\nsleep 0.6\necho "solver says hello"\n'
        'grep -q "= 17" "$1" && grep -q "= 290" "$1"\n'
    )
    script.chmod(0o755)
    return str(script)


@pytest.mark.slow
def test_it_shows_the_run_and_leaves_the_terminal_as_it_was(tool: Tool, slow: str) -> None:
    terminal = Terminal(tool, "smt2", "in.smt2", "--oracle", slow, "--tui", columns=120)
    terminal.see("succeed")
    terminal.press("p")
    terminal.see("Paused")
    terminal.press("t")
    terminal.see("p resumes")
    terminal.press("t")
    for words in ("Last output of the program", "solver says hello", "(exit status", "% removed"):
        terminal.see(words)
    terminal.press("h")
    terminal.see("Accepted steps")
    terminal.press("h")
    terminal.press("q")
    terminal.see("stopped by q; this is the best so far")
    assert terminal.end() == 5


@pytest.mark.slow
def test_ctrl_c_ends_it_with_the_best_so_far(tool: Tool, slow: str) -> None:
    terminal = Terminal(tool, "smt2", "in.smt2", "--oracle", slow, "--tui")
    terminal.see("succeed")
    terminal.press("\x03")
    terminal.see("interrupted")
    assert terminal.end() == 130
    assert (tool.folder / "in.reduced.smt2").exists()


@pytest.fixture
def short(tool: Tool) -> str:
    """The options of a run of a moment, in the full screen."""
    tool.write("in.smt2", SCRIPT)
    test = tool.script("test.sh", 'echo "solver says hello"; grep -q "= 17" "$1"')
    return f"smt2 in.smt2 --oracle {test} --effort quick --tui"


@pytest.fixture
def terminal(tool: Tool) -> Iterator[Tmux]:
    found = Tmux(tool)
    try:
        yield found
    finally:
        found.run("kill-server")


def begin(terminal: Tmux, options: str, after: str = "") -> None:
    terminal.type("PS1='ready> '; clear")
    terminal.type(f"{' '.join(PROGRAM)} {options} {after}; echo exit $?")


@pytest.mark.slow
@pytest.mark.debian("tmux")
def test_a_finished_run_stays_until_a_key(terminal: Tmux, short: str) -> None:
    begin(terminal, short)
    rows = terminal.see("q Close")
    seen = "\n".join(rows)
    for pattern in (
        r"in\.reduced\.smt2   Done ", r" \d+ bytes of \d,\d{3}, 9\d\.\d\d % removed", "█",
        r"pass none helps any more", r"┃ .*= 17", "solver says hello",
        r"Last change",
    ):  # fmt: skip
        assert re.search(pattern, seen), (pattern, seen)
    assert "  left:" not in seen
    assert "Pause" not in seen
    terminal.run("send-keys", "x")
    terminal.see("of checks .*bytes removed")
    terminal.run("send-keys", "q")  # back to the panes
    terminal.see("Last change")
    assert not any(row.startswith("exit ") for row in terminal.rows)
    terminal.run("send-keys", "q")
    rows = terminal.see("^exit 0")
    assert any(row.startswith("  checks ") for row in rows)  # the summary
    assert not any("Last change" in row for row in rows)


@pytest.mark.slow
@pytest.mark.debian("tmux")
@pytest.mark.parametrize(("columns", "rows", "least"), [(80, 24, 10), (50, 15, 3)])
def test_a_low_screen_has_room_for_the_text(
    terminal: Tmux, short: str, columns: int, rows: int, least: int
) -> None:
    terminal.run("resize-window", "-x", str(columns), "-y", str(rows))
    begin(terminal, short)
    seen = terminal.see("q Close")
    assert sum(row.startswith("┃ ") for row in seen) >= least
    assert any("┃ (assert" in row for row in seen)
    [size] = (row for row in seen if re.search(r"  bytes of \d,\d{3}, 9\d\.\d\d % removed", row))
    assert re.search("[┏┓━╺╸┃╻╹]", size)  # the size in large digits
    assert any("none helps any more" in row for row in seen)
    styled = terminal.run("capture-pane", "-p", "-e", "-N").splitlines()
    colours = {
        found for row in styled if "█" in row for found in re.findall(r"38;[25];[\d;]+", row)
    }
    assert len(colours) >= 3  # the curve is shaded
    keyword = next(row for row in styled if "assert" in row)
    assert re.search(r"\x1b\[[\d;]+massert", keyword)
    assert len(re.sub(r"\x1b\[[\d;]*m", "", styled[-1])) == columns  # and so wide is the footer


@pytest.mark.slow
@pytest.mark.debian("tmux")
@pytest.mark.parametrize("key", ["C-c", "Enter", "Escape"])
def test_other_keys_close_a_finished_run_too(terminal: Tmux, short: str, key: str) -> None:
    begin(terminal, short)
    terminal.see("q Close")
    terminal.run("send-keys", key)
    terminal.see("^exit 0")
    assert not any("interrupted" in row for row in terminal.rows)


@pytest.mark.slow
@pytest.mark.debian("tmux")
def test_it_does_not_stay_where_a_program_reads_the_summary(terminal: Tmux, short: str) -> None:
    begin(terminal, short, "| tail -n 2")
    rows = terminal.see("^exit 0")
    assert "(exit status 0)" in rows


@pytest.mark.slow
def test_a_signal_closes_a_finished_run(tool: Tool, short: str) -> None:
    terminal = Terminal(tool, *short.split(), columns=120)
    terminal.see("q Close")
    os.kill(terminal.process.pid, signal.SIGTERM)
    assert terminal.end() == 0
    assert "runs of commands in all" in terminal.text


def test_where_it_cannot_be_shown_that_is_said(
    tool: Tool, slow: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = tool("smt2", "in.smt2", "--oracle", slow, "--tui")
    assert ended.code == 2
    assert "--tui needs a terminal" in ended.err
    ended = tool("smt2", "in.smt2", "--oracle", slow, "--tui", "--quiet")
    assert ended.code == 2
    assert "mutually exclusive" in ended.err
    from reducekit.cli import live
    from reducekit.errors import UsageError

    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with (
        pytest.raises(UsageError, match="pip install textual"),
        live.watch(
            Options(input=b"", format="text", oracle="true"), Interrupts(), quiet=False, tui=True
        ),
    ):
        pass


def shown(app: Fullscreen, name: str) -> str:
    found: Any = app.screen_stack[0].query_one(name, Static).render()
    return str(found)


@pytest.mark.slow
def test_text_change_history_and_passes() -> None:
    gate = threading.Semaphore(3)

    def interesting(text: bytes) -> bool:
        assert gate.acquire(timeout=60)
        return b"(= 17 17)" in text

    screen = Watched(Progress())
    done = threading.Event()

    def see(event: Event) -> None:
        screen.see(event)
        if isinstance(event, Accepted):
            done.set()

    options = Options(input=SCRIPT.encode(), format="smt2", interesting=interesting, jobs=1)
    screen.session = session = Session(options, see)
    thread = threading.Thread(target=session.run)
    thread.start()

    async def use() -> None:
        app = Fullscreen(screen)
        async with app.run_test(size=(120, 36)) as pilot:
            gate.release(6)
            await asyncio.to_thread(done.wait, 60)
            app.draw()
            await pilot.pause()
            assert "bytes of" in shown(app, "#numbers")
            assert "█" in shown(app, "#curve")
            assert "(= 17 17)" in shown(app, "#text")
            assert "- (assert" in shown(app, "#change")
            for words in (" bytes a second", "busy on average", " timeouts"):
                assert words in shown(app, "#numbers")
            seen = []
            for _ in range(3):
                await pilot.press("v")
                panes = ("#text-pane", "#change-pane", "#output-pane")
                seen.append([app.query_one(each).region.area > 0 for each in panes])
            assert seen == [[True, False, False], [False, True, True], [True, True, True]]
            await pilot.press("x")
            table = app.screen.query_one(DataTable)
            name = str(table.get_row_at(0)[1])
            await pilot.press("enter")
            assert str(table.get_row_at(0)[0]) == "off"
            assert screen.off == {name}
            await pilot.press("escape", "h")
            assert app.screen.query_one(DataTable).row_count == len(screen.steps) > 0
            await pilot.press("escape", "p")
            assert screen.paused
            await pilot.press("p", "q")
            gate.release(1000)
            await asyncio.to_thread(thread.join, 60)
            screen.over.set()
            await pilot.pause(0.6)
        assert not app.is_running

    asyncio.run(use())
    assert not thread.is_alive()


def test_a_run_without_a_success_yet_says_so_once() -> None:
    progress = Progress()
    progress.see(Started(4096, Path("x")))
    said = str(numbers(Watched(progress)))
    assert "accepted 0  0.0/s  no success yet\n" in said
    progress.see(Accepted(b"x", "", ""))
    assert "1.0/s  last success 0 s ago\n" in str(numbers(Watched(progress)))


@pytest.mark.parametrize(
    ("end", "state", "why"),
    [
        (Finished(None, 8, verified=True), "Done", "none helps any more"),
        (Finished("time limit", 8, verified=True), "Stopped", "time limit"),
        (Finished(None, 8, verified=False), "Unstable", "none: the result did not fail again"),
    ],
)
def test_a_finished_run_says_how_it_ended(end: Finished, state: str, why: str) -> None:
    watched = Watched(Progress())
    watched.see(Started(4096, Path("x")))
    watched.see(end)
    watched.progress.heard -= 60
    assert f" {state} " in str(head(watched))
    said = str(numbers(watched))
    assert f"pass {why}\n" in said
    assert "a check has been running" not in said
    assert "8 bytes of 4,096" in said


def test_the_curve_has_its_labels_and_its_size() -> None:
    progress = Progress()
    progress.see(Started(4096, Path("x")))
    for size in (1024, 64, 8):
        progress.checks += 10
        progress.see(Accepted(b"x" * size, "", ""))
    rows = plot(progress, 60, 10)
    assert len(rows) == 10
    assert all(len(row) == 60 for row in rows)
    assert rows[0].split()[0] == "4,096"
    assert rows[-2].split()[0] == "8"
    assert rows[-1].split() == ["0", "30"]
    assert plot(progress, 5, 2) == []
