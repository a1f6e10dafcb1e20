"""What a user should know of a result: lines in it that decide what a solver answers."""

from pathlib import Path
from typing import Any

import pytest

from reducekit import reduce
from reducekit.events import Event, Notice
from reducekit.frontends.smt2 import Smt2


def set_by(line: str, *words: str) -> list[str]:
    return Smt2().overrides(f"(set-logic ALL)\n{line}\n(check-sat)\n".encode(), words)


@pytest.mark.parametrize(
    "option",
    [
        "rlimit", "timeout", "smt.random_seed", "sat.random_seed", "random-seed",
        "reproducible-resource-limit", "tlimit-per", "tlimit", "rlimit-per", "seed", "smt.rlimit",
    ],
)  # fmt: skip
def test_a_bound_in_the_script(option: str) -> None:
    assert set_by(f"( set-option :{option} 1000)") == [option]
    assert set_by(f"; ( set-option :{option} 1000)") == []


@pytest.mark.parametrize("word", ["smt.mbqi=true", "--smt.mbqi", "--no-smt-mbqi", "-smt.mbqi:7"])
def test_an_option_of_the_command(word: str) -> None:
    line = "(set-option :smt.mbqi false)(set-option :produce-models true)"
    assert set_by(line) == []
    assert set_by(line, "z3", word) == ["smt.mbqi"]
    assert set_by(line, "z3", word.replace("mbqi", "mbq")) == []


def test_options_that_all_commands_set_are_left_to_them() -> None:
    text = (
        b'(set-option :rlimit 5)(set-option\n :smt.qi_cost "(+ weight)")\n'
        b"; (set-option :rlimit 6)\n(set-option :seed 7)\n"
    )
    commands = [["rlimit=9", "-smt.qi.cost=1"], ["--rlimit", "9", "smt.qi-cost=2"]]
    left, names = Smt2().yielding(text, commands)
    assert left == b"\n\n; (set-option :rlimit 6)\n(set-option :seed 7)\n"
    assert names == ["rlimit", "smt.qi_cost"]
    assert Smt2().yielding(text, [*commands, ["seed=1"]]) == (text, [])
    assert Smt2().yielding(text, []) == (text, [])


def test_it_is_said_what_was_left_to_the_commands(tmp_path: Path) -> None:
    said: list[str] = []

    def listen(event: Event) -> None:
        if isinstance(event, Notice):
            said.append(event.text)

    source = tmp_path / "in.smt2"
    source.write_text("(set-option :rlimit 9)\n(assert true)\n(check-sat)\n", encoding="utf-8")
    command = "sh -c 'grep -q check $1 && ! grep -q rlimit $1 && echo unsat' sh {} rlimit=8"
    other = [("sh -c 'echo unknown' sh {} rlimit=7", "unknown")]
    reduce(source, command=command, match_out="unsat", also_match=other, in_place=True,
           listen=listen)  # fmt: skip
    assert "left out, as the commands set them and the input would override that: :rlimit" in said
    assert b"rlimit" in source.with_name("in.smt2.orig").read_bytes()


def remark(line: str) -> str | None:
    return Smt2().remark(f"(set-logic ALL)\n{line}\n(check-sat)\n".encode())


def test_the_status() -> None:
    said = remark("(set-info :status sat)")
    assert said is not None
    assert "compare with another solver, without the line: `reference`" in said
    assert "remove" not in said
    assert remark("(set-info :source |x|)") is None


@pytest.mark.parametrize(
    "options",
    [{"unstable": 8}, {"match_out": "unsat", "also_match": [("sh -c 'echo unknown'", "unknown")]}],
)
def test_it_is_said_at_the_start_and_at_the_end(options: dict[str, Any]) -> None:
    said: list[str] = []

    def listen(event: Event) -> None:
        if isinstance(event, Notice):
            said.append(event.text)

    seed = "{seed}" if "unstable" in options else "4"
    # One command alone would have its own value of an option.
    command = (
        f"sh -c 'grep -q rlimit $1 || exit; test {seed} = 3 && echo unknown || echo unsat' "
        f"sh {{}}{'' if 'unstable' in options else ' -memory=9'}"
    )
    named = ":rlimit" if "unstable" in options else ":rlimit, :memory"
    text = b"(set-option :rlimit 9)\n(set-option :memory 8)\n(assert true)\n(check-sat)\n"
    reduce(text, command=command, listen=listen, **options)
    first, last = (each for each in said if "overrid" in each)
    assert first == (
        f"the input sets options itself, which override the command line: {named}. "
        "Remove these lines to reduce with those of the command"
    )
    assert last.startswith("the failure needs options in the file, which override the command line")
    assert ": :rlimit. " in last
