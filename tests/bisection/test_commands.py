"""Where a version and the options of a file go in a command."""

from pathlib import Path

import pytest

from reducekit.bisect.options import Template, read_options
from reducekit.errors import UsageError
from reducekit.session import Failure

SOLVER = Path("/builds/my solver")


def test_words_other_than_places_are_options() -> None:
    template = Template.of(Failure(command="{solver} -t 5 --log={version}.log {} model=true"))
    assert template.options == ("-t", "5", "model=true")
    assert template.pairs() == [0]
    filled = template.filled("1.2", SOLVER, kept=[2])
    assert filled.command == [str(SOLVER), "--log=1.2.log", "{}", "model=true"]


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("{solver} a", [str(SOLVER), "x=1", "-y", "a"]),
        ("{solver} a {options} {}", [str(SOLVER), "a", "x=1", "-y", "{}"]),
        (["env", "{solver}", "{options}"], ["env", str(SOLVER), "x=1", "-y"]),
    ],
)
def test_options_of_a_file(command: str | list[str], expected: list[str]) -> None:
    template = Template.of(Failure(command=command), ["x=1", "-y"])
    assert template.filled("1", SOLVER).command == expected
    assert template.options[-2:] == ("x=1", "-y")


def test_a_line_for_a_shell_keeps_its_words() -> None:
    failure = Failure(command="X=1 {solver} -a {options} | tail", shell=True)
    template = Template.of(failure, ["b c"])
    assert template.options == ("b c",)
    assert template.filled("1", SOLVER).command == "X=1 '/builds/my solver' -a 'b c' | tail"
    assert template.filled("1", SOLVER, kept=[]).command == "X=1 '/builds/my solver' -a  | tail"


def test_every_command_gets_the_version() -> None:
    failure = Failure(
        command="ref",
        reference="{solver}",
        also_passes=["{solver} -p"],
        also_match=[("{solver}", "a")],
    )
    filled = Template.of(failure).filled("1", SOLVER)
    quoted = "'/builds/my solver'"
    assert filled.reference == quoted
    assert filled.also_passes == (f"{quoted} -p",)
    assert filled.also_match == ((quoted, "a"),)
    test = Template.of(Failure(oracle="./test.sh {solver} {version}")).filled("1", SOLVER)
    assert test.oracle == f"./test.sh {quoted} 1"


def test_what_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no command contains \{solver\}"):
        Template.of(Failure(command="z3"))
    with pytest.raises(UsageError, match=r"say with \{options\} where"):
        Template.of(Failure(oracle="./test.sh {solver}"), ["a"])
    file = tmp_path / "options"
    file.write_text("a=1 # why\n'b c'\n")
    assert read_options(file) == ["a=1", "b c"]
    file.write_text("'")
    with pytest.raises(UsageError, match="No closing quotation"):
        read_options(file)
    with pytest.raises(UsageError, match="cannot be read: No such file"):
        read_options(tmp_path / "none")
