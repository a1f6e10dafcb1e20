"""Completion, the manual page, and what the documents say of options and of JSON."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

from reducekit.cli.about import Section, manual
from reducekit.cli.group import reducekit
from reducekit.usage.habits import HABITS, OTHER_NAMES, answer
from tests.cli.inprocess import Shell, shell
from tests.cli.tool import NEEDLE, problem

__all__ = ["shell"]

DOCS = Path(__file__).resolve().parents[2] / "docs"
DOCUMENT = "".join((DOCS / name).read_text() for name in ("migrating.md", "reference.md"))


def options_of(*names: str) -> set[str]:
    context = click.Context(reducekit, info_name="reducekit")
    command: click.Command = reducekit
    for name in names:
        assert isinstance(command, click.Group)
        found = command.get_command(context, name)
        assert found is not None
        command = found
    return {each for param in command.params for each in param.opts if each.startswith("-")}


COMPLETING = {
    "bash": """. ./script; COMP_WORDS=(reducekit smt2 in.smt2 --strat); COMP_CWORD=3
        _reducekit_completion reducekit; echo ${COMPREPLY[@]}""",
    "zsh": """compdef() { found=$1 }; _describe() { print -r -- ${(P)3} }; . ./script
        words=(reducekit smt2 in.smt2 --strat) CURRENT=4; $found""",
    "fish": "source script; complete -C 'reducekit smt2 in.smt2 --strat'",
}
SHELLS = ["bash", *(pytest.param(each, marks=pytest.mark.debian(each)) for each in ("zsh", "fish"))]


@pytest.mark.parametrize("name", SHELLS)
def test_shells_complete(shell: Shell, tmp_path: Path, name: str) -> None:
    (tmp_path / "script").write_text(shell("completion", name).out)
    folder = Path(sys.executable).parent  # with the program `reducekit`
    done = subprocess.run(
        [name, *(["-f"] if name == "zsh" else []), "-c", COMPLETING[name]], cwd=tmp_path,
        env={"PATH": f"{folder}:{os.environ['PATH']}", "HOME": str(tmp_path)},
        capture_output=True, text=True,
    )  # fmt: skip
    assert "--strategy" in done.stdout, done


@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("reducekit s", "plain,smt2"),
        ("reducekit smt2 in.smt2 --str", "plain,--strategy"),
        ("reducekit smt2 in.smt2 --strategy dd", "plain,ddmin"),
        ("reducekit hunt b", "plain,btor"),
        ("reducekit smt2 in.smt2 --cmd ./s", "file,./s"),
        ("reducekit in", "file,in"),
    ],
)
def test_what_is_completed(typed: str, completed: str) -> None:
    count = len(typed.split()) - 1
    done = subprocess.run(
        [sys.executable, "-m", "reducekit"],
        env={
            **os.environ,
            "COMP_WORDS": typed,
            "COMP_CWORD": str(count),
            "_REDUCEKIT_COMPLETE": "bash_complete",
        },
        capture_output=True,
        text=True,
        check=True,
    )
    assert completed in done.stdout.splitlines()


def test_the_manual_page_has_every_option(shell: Shell) -> None:
    page = shell("man").out.replace("\\-", "-")
    for names in (("smt2",), ("btor",), ("trace",), ("history",), ("hunt", "btor"), ("convert",)):
        for option in options_of(*names) - {"--help"}:
            assert re.search(rf"^\\fB.*{re.escape(option)}\b", page, re.MULTILINE), option
    assert page.startswith('.TH REDUCEKIT 1 "" "reducekit ')


def test_a_page_has_no_stray_requests() -> None:
    page = manual("x", "1", [Section("NAME", [".so /etc/passwd", "a \\ b - c"], [("-o", "'x")])])
    assert page.splitlines()[2:] == [
        r"\&.so /etc/passwd",
        ".PP",
        r"\&a \e b \- c",
        ".TP",
        r"\fB\-o\fR",
        r"\&'x",
    ]


def test_the_table_of_other_tools_is_complete() -> None:
    for each in HABITS:
        theirs = ", ".join(f"`{name}`" for name in each.theirs)
        table = DOCUMENT.partition(f"\n## {each.tool}\n")[2].partition("\n## ")[0]
        assert f"| {theirs} | {each.ours} |" in table


def test_what_is_named_instead_is_there() -> None:
    known = options_of("smt2")
    for each in HABITS:
        for option in re.findall(r"(?<!\S)--[a-z-]+", each.ours):
            assert option in known | options_of("history"), option
    assert set(OTHER_NAMES.values()) <= known
    assert not set(OTHER_NAMES) & known
    assert not {name for each in HABITS for name in each.theirs if name != "-n"} & known


def test_an_answer_only_names_what_the_command_has() -> None:
    assert answer("--threads", ["--jobs"]) == "Did you mean --jobs?"
    assert answer("--threads", ["--count"]) is None
    assert answer("-jobs", ["--jobs"]) == "Did you mean --jobs?"


def keys(title: str) -> set[str]:
    """Return the keys of a table of the document."""
    table = DOCUMENT.partition(f"{title}:\n\n")[2].partition("\n\n")[0]
    rows = [line.split("|")[1] for line in table.splitlines()[2:]]
    return {key for row in rows for key in re.findall(r"`(\w+)`", row)}


def test_the_keys_of_json_are_documented(shell: Shell) -> None:
    shell.write("in.smt2", problem(3, (1,)))
    shell.script("test.sh", f"{NEEDLE} $1")
    done = shell("smt2", "in.smt2", "--oracle", "./test.sh", "--json")
    of_answers = {"fresh", "left"}  # of --unstable, --cost and the like only
    of_answers |= {"places"}  # of crashes only
    assert set(json.loads(done.out)) == keys("A reduction") - of_answers
    done = shell("smt2", "in.smt2", "--json", "--jobs", "x")
    assert set(json.loads(done.out)) == keys("On failure")
    history = json.loads(shell("history", "in.reduced.smt2", "--json").out)
    said = DOCUMENT.partition("`reducekit history --json`")[2].partition("\n## ")[0]
    assert set(history) | set(history["steps"][0]) == set(re.findall(r"`(\w+)`", said))
