"""How many checks run at the same time where nothing is said about it."""

import shutil
from typing import Any

import pytest

from reducekit.cli.reduce import _usual_jobs
from tests.cli.inprocess import Shell, shell

pytestmark = pytest.mark.reduction

__all__ = ["shell"]

NOTHING: dict[str, Any] = {"command": None, "oracle": None, "shell": False, "slower_than": None}


@pytest.mark.parametrize(
    ("said", "words", "jobs"),
    [
        ({"command": "grep -q a"}, (), 2),
        ({}, ("grep", "-q", "a"), 2),
        ({"command": "grep a", "shell": True}, (), 1),
        ({"command": "grep a", "slower_than": (1.0, None)}, (), 1),
        ({"oracle": "grep a"}, (), 1),
        ({"command": "./script"}, (), 1),
        ({"command": "no-such-program"}, (), 1),
        ({"command": "'"}, (), 1),
        ({"command": " "}, (), 1),
        ({}, (), 1),
    ],
)
def test_a_compiled_program_runs_twice(
    shell: Shell, said: dict[str, Any], words: tuple[str, ...], jobs: int
) -> None:
    shell.script("script", "exit 0")
    assert _usual_jobs({**NOTHING, **said}, words) == jobs


def test_it_is_what_a_reduction_takes(shell: Shell) -> None:
    program = shutil.which("grep")
    shell.write("in.txt", "a\nb\n" * 5)
    arguments = ("text", "in.txt", "--cmd", f"{program} b", "--exit-code", "0", "-q")
    assert shell(*arguments).code == 0
    assert "width     2" in shell("history", "in.reduced.txt").out
    assert shell(*arguments, "--restart", "--jobs", "1").code == 0
    assert "width     1" in shell("history", "in.reduced.txt").out
