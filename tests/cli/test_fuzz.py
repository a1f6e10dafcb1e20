"""No traceback and no hang, whatever is typed: a part of the cases of `tests.cli.fuzz`."""

from __future__ import annotations

import shlex

import pytest

from reducekit.cli import replay
from tests.cli.fuzz import case

_CHUNK = 30
_QUICK = 8
_ALL = 68
"""Chunks: 2,040 cases."""


@pytest.mark.parametrize(
    "chunk",
    [
        *range(_QUICK),
        *(pytest.param(each, marks=pytest.mark.slow) for each in range(_QUICK, _ALL)),
    ],
)
def test_there_is_an_answer(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replay, "_die_by", lambda number: None)  # it would kill this process
    for number in range(_CHUNK * chunk, _CHUNK * (chunk + 1)):
        words, wrong = case(number)
        assert wrong is None, f"case {number}: reducekit {shlex.join(words)}: {wrong}"


@pytest.mark.parametrize("command", ["hunt", "generate"])
def test_an_option_in_the_place_of_a_format(command: str) -> None:
    from tests.cli.fuzz import run

    code, said = run([command, "--", "--count", "2"])
    assert code == 2
    assert "Unknown command '--count'. Commands: btor" in said


@pytest.mark.parametrize("place", [".", "/", ".."])
def test_a_folder_in_place(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.cli.fuzz import run

    code, said = run(["smt2", place, "--oracle", "true", "--in-place"])
    assert code == 2
    assert f"the input {place} is a directory: name a file" in said
