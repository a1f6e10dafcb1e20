"""The live block in a real terminal that is made narrower, and below a shell that stops it."""

import re
import subprocess
import time
import uuid
from collections.abc import Iterator

import pytest

from tests.cli.tool import PATIENCE, PROGRAM, Tool

pytestmark = [pytest.mark.debian("tmux"), pytest.mark.slow]
SCRIPT = "(set-logic ALL)\n" + "".join(f"(assert (= {n} {n}))\n" for n in range(300)) + "(exit)\n"


class Tmux:
    """A shell in a terminal of 100 columns."""

    def __init__(self, tool: Tool) -> None:
        self.name = f"reducekit-{uuid.uuid4().hex}"
        shell = ("env", "-u", "COLUMNS", "-u", "LINES", "sh")
        self.run("new-session", "-d", "-x", "100", "-y", "30", "-c", str(tool.folder), *shell)

    def run(self, *words: str) -> str:
        line = ["tmux", "-L", self.name, "-f", "/dev/null", *words]
        return subprocess.run(line, capture_output=True, text=True, check=True).stdout

    def type(self, words: str) -> None:
        self.run("send-keys", words, "Enter")

    @property
    def rows(self) -> list[str]:
        """What is on the screen and above it."""
        return [
            row for row in self.run("capture-pane", "-p", "-S", "-99").splitlines() if row.strip()
        ]

    def see(self, pattern: str) -> list[str]:
        """Wait until a row matches; return all."""
        until = time.monotonic() + PATIENCE
        rows = self.rows
        while not any(re.search(pattern, row) for row in rows):
            assert time.monotonic() < until, rows
            time.sleep(0.05)
            rows = self.rows
        return rows
        return rows


@pytest.fixture
def terminal(tool: Tool) -> Iterator[Tmux]:
    found = Tmux(tool)
    try:
        yield found
    finally:
        found.run("kill-server")


def test_no_row_stays_and_none_of_the_shell_goes(tool: Tool, terminal: Tmux) -> None:
    tool.write("in.smt2", SCRIPT)
    script = tool.folder / "slow.sh"
    script.write_text('#!/bin/sh\nsleep 0.3\ngrep -q "= 17" "$1" && grep -q "= 290" "$1"\n')
    script.chmod(0o755)
    terminal.type("PS1='ready> '; clear; echo before")
    terminal.type(f"{' '.join(PROGRAM)} smt2 in.smt2 --oracle ./slow.sh")
    terminal.see("1 worker  .*left: ")
    terminal.run("resize-window", "-x", "40")
    rows = terminal.see(r"^\d+ checks?  \d+/s  \d:\d\d, left: ")  # and nothing but what has room
    assert sum(re.match(r"\d+ checks?  ", row) is not None for row in rows) == 1
    assert rows.count("p pause  n skip  q stop  t full  ? help") == 1
    assert sum(row.startswith("round ") for row in rows) == 1
    assert "before" in rows
    terminal.run("resize-window", "-x", "100")
    terminal.run("send-keys", "C-z")
    rows = terminal.see("^ready>$")
    assert not any("p pause" in row or " checks" in row for row in rows)
    terminal.type("echo meanwhile")
    terminal.see("^meanwhile")
    terminal.type("fg")
    rows = terminal.see("p pause")
    assert "meanwhile" in rows
    assert sum(re.match(r"\d+ checks?  ", row) is not None for row in rows) == 1
    terminal.run("send-keys", "q")
    rows = terminal.see("stopped by q")
    assert "meanwhile" in rows
    assert not any("p pause" in row for row in rows)


def test_messages_break_between_words(tool: Tool, terminal: Tmux) -> None:
    tool.write("in.smt2", SCRIPT)
    words = "the answer of this solver is certainly wrong"
    test = tool.script(
        "solver.sh", f'grep -q "= 17" "$1" || exit 0; echo "(error {words})"; exit 1'
    )
    terminal.run("resize-window", "-x", "40")
    terminal.type("PS1='ready> '; clear")
    terminal.see("^ready>$")
    terminal.type(f"{' '.join(PROGRAM)} smt2 in.smt2 --cmd '{test} {{}}'; echo exit $?")
    terminal.see("^exit 0")
    rows = terminal.rows
    begin = next(at for at, row in enumerate(rows) if row.startswith("keeping this failure"))
    said = [word for row in rows[begin : begin + 4] for word in row.split()]
    assert set(words.split()) <= {word.strip("()'\"") for word in said}
