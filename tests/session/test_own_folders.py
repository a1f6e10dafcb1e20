"""Which commands are run in a folder of the candidate's own."""

from pathlib import Path

import pytest

from reducekit.oracle.command import Command
from reducekit.session.phases.search import in_own_folders


@pytest.mark.parametrize(
    ("words", "moved"),
    [
        (["z3", "in.smt2"], True),
        (["sh", "-c", "z3 in.smt2 | grep -q sat"], True),
        (["z3"], False),
        (["z3", "{}", "in.smt2"], False),
        (["z3", "other.smt2"], False),
    ],
)
def test_a_command_that_names_the_file(words: list[str], moved: bool) -> None:
    found = in_own_folders([Command.of(words)], Path("folder/in.smt2"))
    assert (found is not None) is moved
    if found is not None:
        (command,) = found
        assert command.in_folder == "in.smt2"
        assert command.words[1:] == tuple(words[1:])


def test_a_script_that_names_the_file(tmp_path: Path) -> None:
    test = tmp_path / "t.sh"
    test.write_text("#!/bin/sh\ngrep -q x in.smt2\n")
    other = tmp_path / "no.sh"
    other.write_text("grep -q x in.smt2\n")
    for each in (test, other):
        each.chmod(0o755)
    assert in_own_folders([Command.of([str(test)])], Path("in.smt2")) is not None
    assert in_own_folders([Command.of([str(other)])], Path("in.smt2")) is None
    assert in_own_folders([Command.of([str(test)])], b"text") is None
    both = in_own_folders([Command.of(["z3"]), Command.of([str(test)])], Path("a/in.smt2.gz"))
    assert both is not None
    assert [each.in_folder for each in both] == ["in.smt2", "in.smt2"]
