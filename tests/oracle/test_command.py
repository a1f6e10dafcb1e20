import os
from pathlib import Path

import pytest

from reducekit.errors import UsageError
from reducekit.oracle.command import Command


def test_path_is_the_last_argument() -> None:
    command = Command.of("grep -q 'a b'")
    assert os.path.isabs(command.words[0])
    assert command.argv("/x/in put")[1:] == ["-q", "a b", "/x/in put"]
    assert command.shell_line("in put").endswith("grep -q 'a b' 'in put'")


def test_path_replaces_every_place() -> None:
    command = Command.of(["cmp", "--a={}", "{}"])
    assert command.argv("f")[1:] == ["--a=f", "f"]


def test_stdin() -> None:
    command = Command.of("cat -n", stdin=True)
    assert command.argv("f")[1:] == ["-n"]
    assert command.shell_line("my f").endswith("cat -n < 'my f'")


def test_no_shell_syntax() -> None:
    assert Command.of("echo $HOME '|' x").argv("f")[1:] == ["$HOME", "|", "x", "f"]


def test_relative_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    solver = tmp_path / "solver"
    solver.write_text("#!/bin/sh\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=r"not in PATH; did you mean \./solver"):
        Command.of("solver")
    with pytest.raises(UsageError, match="not executable"):
        Command.of("./solver")
    solver.chmod(0o755)
    assert Command.of("./solver").words == (str(solver),)


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("", "empty"),
        ([], "empty"),
        (["", "x"], "empty"),
        ("no-such-program-here x", "not in PATH$"),
        ("./no/such", "does not exist"),
        ("/", "is a directory"),
        ("grep 'x", "No closing quotation"),
        (["grep", "a\0b"], "NUL"),
    ],
)
def test_errors(line: str | list[str], text: str) -> None:
    with pytest.raises(UsageError, match=text):
        Command.of(line)
