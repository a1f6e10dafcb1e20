"""No traceback and no hang, whatever is typed: a part of the cases of `tests.cli.fuzz`."""

import shlex
from pathlib import Path

import pytest

from reducekit.cli import replay
from tests.cli.fuzz import case, run

_CHUNK = 30
_QUICK = 8
_ALL = 24
"""Chunks: 720 cases; `python -m tests.cli.fuzz COUNT FIRST` runs others."""


@pytest.mark.parametrize(
    "chunk",
    [*range(_QUICK), *(pytest.param(each, marks=pytest.mark.slow) for each in range(_QUICK, _ALL))],
)
def test_there_is_an_answer(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replay, "_die_by", lambda number: None)  # it would kill this process
    for number in range(_CHUNK * chunk, _CHUNK * (chunk + 1)):
        words, wrong = case(number)
        assert wrong is None, f"case {number}: reducekit {shlex.join(words)}: {wrong}"


@pytest.mark.parametrize("command", ["hunt", "generate"])
def test_an_option_in_the_place_of_a_format(command: str) -> None:
    code, said = run([command, "--", "--count", "2"])
    assert code == 2
    assert "Unknown command '--count'. Commands: aiger, btor" in said


@pytest.mark.parametrize("more", [(), ("--in-place",), ("./test.sh",)])
def test_a_name_that_is_too_long(more: tuple[str, ...]) -> None:
    code, said = run(["smt2", "a" * 300, *more, "--oracle", "true"])
    assert code == 2
    assert "File name too long" in said or "not in PATH" in said or "does not exist" in said


@pytest.mark.parametrize(
    "line",
    [
        "show {}",
        "convert {} x.btor",
        "replay {}",
        "history {}",
        "report {}",
        "ui {} --no-browser",
        "generate btor -o {}",
        "hunt btor --cmd true --seeds {}",
        "trace x --model {}",
    ],
)
def test_such_a_name_anywhere(line: str) -> None:
    code, said = run(line.format("a" * 300).split())
    assert code == 2
    assert said.startswith("reducekit: ")


@pytest.mark.parametrize("place", [".", "/", ".."])
def test_a_folder_in_place(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    code, said = run(["smt2", place, "--oracle", "true", "--in-place"])
    assert code == 2
    assert f"the input {place} is a directory: name a file" in said


def test_a_trace_that_only_a_command_can_read(tmp_path: Path) -> None:
    """Calls without arguments, and unknown ones in great numbers."""
    lines = ["init", "add 1", "add", "add 0", *("nonsense 1" for _ in range(40)), "solve 10"]
    (tmp_path / "bad.trace").write_text("\n".join([*lines, "reset", ""]))
    path = str(tmp_path / "bad.trace")
    code, said = run(["trace", path, "--oracle", "grep -q solve", "--model", "mobical", "-q"])
    assert (code, said) == (0, "")
    assert (tmp_path / "bad.reduced.trace").read_text() == "init\nsolve\n"
