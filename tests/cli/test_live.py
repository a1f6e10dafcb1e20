"""The terminal: the live block and its keys in a real pseudo-terminal, plain lines without one."""

import fcntl
import io
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from reducekit.cli import live
from reducekit.session.progress import Progress
from tests.cli.tool import PATIENCE, PROGRAM, Tool

SCRIPT = "(set-logic ALL)\n" + "".join(f"(assert (= {n} {n}))\n" for n in range(300)) + "(exit)\n"
_CODES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]")


class Terminal:
    """reducekit on a pseudo-terminal of that width."""

    def __init__(self, tool: Tool, *arguments: str, columns: int = 80, **environment: str) -> None:
        self.side, other = pty.openpty()
        fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        self.before = termios.tcgetattr(other)
        self.raw = ""
        self.process = subprocess.Popen(
            [*PROGRAM, *arguments],
            cwd=tool.folder,
            stdin=other,
            stdout=other,
            stderr=other,
            env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "", **environment},
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        self.other = other

    def read(self, seconds: float = 0.1) -> bool:
        ready, _, _ = select.select([self.side], [], [], seconds)
        if ready:
            self.raw += os.read(self.side, 65536).decode("utf-8", "replace")
        return bool(ready)

    @property
    def text(self) -> str:
        return _CODES.sub("", self.raw)

    def see(self, words: str) -> None:
        """Wait until something is shown."""
        until = time.monotonic() + PATIENCE
        while words not in self.text:
            self.read()
            assert time.monotonic() < until, self.text[-3000:]

    def press(self, key: str) -> None:
        self.raw = ""
        os.write(self.side, key.encode())

    def end(self) -> int:
        """Wait for the end; return the exit code."""
        until = time.monotonic() + PATIENCE
        while self.process.poll() is None:
            self.read()
            assert time.monotonic() < until
        while self.read(0):
            pass
        after = termios.tcgetattr(self.other)
        assert after == self.before, "the terminal was not put back"
        os.close(self.side)
        os.close(self.other)
        return self.process.returncode


@pytest.fixture
def slow(tool: Tool) -> str:
    tool.write("in.smt2", SCRIPT)
    script = tool.folder / "slow.sh"
    script.write_text('#!/bin/sh\nsleep 0.1\ngrep -q "= 17" "$1" && grep -q "= 290" "$1"\n')
    script.chmod(0o755)
    return str(script)


@pytest.mark.slow
def test_keys_pause_go_on_skip_help_and_stop(tool: Tool, slow: str) -> None:
    terminal = Terminal(tool, "smt2", "in.smt2", "--oracle", slow)
    terminal.see("p pause  n skip pass  q stop  t full screen  ? help")
    terminal.press("p")
    terminal.see("paused  p resumes")
    time.sleep(0.5)
    terminal.raw = ""
    time.sleep(1)
    while terminal.read(0):
        pass
    checks = re.findall(r"([\d,]+) checks?\b", terminal.text)
    assert len(set(checks)) == 1
    terminal.press("?")
    terminal.see("skips this pass")
    terminal.press("p")
    terminal.see("p pause")
    terminal.press("n")
    terminal.press("q")
    terminal.see("stopped by q; this is the best so far")
    assert terminal.end() == 5
    assert (tool.folder / "in.reduced.smt2").exists()


def test_a_plain_line_comes_even_if_nothing_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "ALIVE_EVERY", 0.2)
    stream = io.StringIO()
    plain = live._Plain(Progress(), stream)
    over = threading.Event()
    thread = threading.Thread(target=plain.beat, args=[over])
    thread.start()
    until = time.monotonic() + PATIENCE
    while stream.getvalue().count("\n") < 3 and time.monotonic() < until:
        time.sleep(0.05)
    over.set()
    thread.join()
    lines = stream.getvalue().splitlines()
    assert len(lines) >= 3
    assert all("running the command on it" in line for line in lines)


@pytest.mark.slow
def test_a_hung_command_is_heard_of(tool: Tool) -> None:
    """The whole way, with the real clock shortened in a process of its own."""
    tool.write("in.smt2", SCRIPT)
    code = (
        "import sys; from reducekit.cli import live, main; live.ALIVE_EVERY = 0.3; "
        "sys.argv[0] = 'reducekit'; sys.exit(main())"
    )
    hang = tool.folder / "hang.sh"
    hang.write_text("#!/bin/sh\nsleep 2\nexit 1\n")
    hang.chmod(0o755)
    arguments: list[Any] = [sys.executable, "-c", code, "smt2", "in.smt2", "--oracle", str(hang)]
    done = subprocess.run(
        arguments, cwd=tool.folder, capture_output=True, text=True, timeout=PATIENCE
    )
    assert "running the command on it" in done.stderr
    assert Path(tool.folder / "in.smt2").read_text() == SCRIPT


def test_the_end_shows_a_short_result_and_what_is_next(tool: Tool) -> None:
    tool.write("in.smt2", SCRIPT)
    tool.script("test.sh", 'grep -q "= 17" "$1"')
    words = ("smt2", "in.smt2", "--oracle", "./test.sh", "--restart")
    for plain in ("", "1"):
        terminal = Terminal(tool, *words, NO_COLOR=plain)
        assert terminal.end() == 0
        rows = [row.rstrip() for row in terminal.text.split("\n")]
        assert rows[-2] == "next: reducekit report in.reduced.smt2 --issue"
        result = (tool.folder / "in.reduced.smt2").read_text().splitlines()
        assert rows[-3 - len(result) : -3] == result
        assert ("\x1b[1;32m  bytes " in terminal.raw) == (not plain)
    piped = tool(*words).out
    assert "next:" not in piped
    assert "\x1b" not in piped
