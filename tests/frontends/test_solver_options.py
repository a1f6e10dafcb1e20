"""Options of solvers in scripts: read from a list, drawn, and known to the solver."""

import re
import subprocess
from collections import Counter
from itertools import combinations
from pathlib import Path
from random import Random

import pytest

from reducekit.errors import UsageError
from reducekit.frontends.smt2.generate.mutants import ScriptGenerator
from reducekit.frontends.solver_options import (
    Option,
    Options,
    drawn,
    in_commands,
    in_comments,
    known,
    parse,
    read_options,
)
from reducekit.hunt.inputs import generation_of
from reducekit.offers import with_defaults
from reducekit.oracle.command import Command, options_of


def generator(**values: object) -> ScriptGenerator:
    generation = generation_of("smt2")
    assert generation is not None
    made = generation.make(with_defaults(generation.options, {"logic": "QF_BV", **values}))
    assert isinstance(made, ScriptGenerator)
    return made


def test_lines_of_a_list() -> None:
    text = '# of mine\n\nsat.restart = luby ema\n :n=0..3 10\nname = "a b" x  \nd = -1..1 0.5\n'
    assert parse(text, "f").each == [
        Option("sat.restart", ["luby", "ema"]),
        Option("n", ["0", "1", "2", "3", "10"]),
        Option("name", ['"a b"', "x"]),
        Option("d", ["-1", "0", "1", "0.5"]),
    ]


@pytest.mark.parametrize(
    "line",
    [
        "a",
        "a =",
        "= 1",
        "a b = 1",
        "a = 2..1",
        "a = 1..1000000",
        "a = (",
        "a = x)(y",
        "a = b * 0",
        "a * 2",
    ],
)
def test_other_lines_are_named(line: str) -> None:
    with pytest.raises(UsageError, match=r"line 2 of my\.txt is not `name = values`, such as"):
        parse(f"# mine\n{line}\n", "my.txt")


def test_lists_that_cannot_be_used(tmp_path: Path) -> None:
    (tmp_path / "empty").write_text("# nothing\n")
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    for name, words in (
        ("empty", "has no options"),
        ("binary", "it is not UTF-8"),
        ("missing", "No such file or directory.*or one of cvc5, yices, z3"),
    ):
        with pytest.raises(UsageError, match=words):
            read_options(str(tmp_path / name), "smt2")


def test_one_to_three_options_of_a_script() -> None:
    options = read_options("z3", "smt2")
    scripts = [in_commands(Random(seed), options).decode() for seed in range(300)]
    assert {text.count("\n") for text in scripts} == {1, 2, 3}
    of = dict(options.each)
    for text in scripts:
        names = []
        for line in text.splitlines():
            match = re.fullmatch(r"\(set-option :(\S+) (\S+)\)", line)
            assert match is not None
            assert match[2] in of[match[1]]
            names.append(match[1])
        assert len(set(names)) == len(names)
    assert in_commands(Random(1), Options(options.each[:1], [1.0])).count(b"set-option") == 1


def test_they_come_first_in_random_scripts_and_mutants(tmp_path: Path) -> None:
    (tmp_path / "in.smt2").write_text("(set-logic QF_BV)\n(assert (= #b1 #b0))\n(check-sat)\n")
    for made in (generator(), generator(mutate=str(tmp_path), mix=1.0)):
        plain = made.generate(5).text
        assert b"set-option" not in plain
    made = generator(solver_options="z3")
    text = made.generate(5).text
    assert text == generator(solver_options="z3").generate(5).text
    assert text.startswith(b"(set-option :")
    assert text.splitlines()[-1] == b"(check-sat)"
    assert made.words(5)[-2:] == ["--solver-options", "z3"]
    mutant = generator(mutate=str(tmp_path), mix=1.0, solver_options="z3").generate(5).text
    assert mutant.startswith(b"(set-option :")


def test_lists_that_come_with_reducekit() -> None:
    assert known("smt2") == ["cvc5", "yices", "z3"]
    assert known("cnf") == ["cadical"]
    assert known("aiger") == []
    for format_name in ("smt2", "cnf"):
        for name in known(format_name):
            options = read_options(name, format_name)
            assert len(options.each) > 25
            assert all(len(values) > 1 for _, values in options.each)


def test_words_of_a_command() -> None:
    options = parse("-rwl0 -rwl1\n--block = true\n", "f")
    assert options.each == [Option("", ["-rwl0", "-rwl1"]), Option("--block", ["true"])]
    found = {options_of(in_comments(seed, options, "; "))[-1] for seed in range(20)}
    assert found == {"-rwl0", "-rwl1", "--block=true"}


LIST = """a = x y * 4
b = 0..1
c = z * 0.5
forbid a=x :b=0
-q -v
forbid c=z -v
"""


def test_weights_and_forbidden_combinations() -> None:
    options = parse(LIST, "f")
    assert [name for name, _ in options.each] == ["a", "b", "c", ""]
    sets = [drawn(Random(seed), options) for seed in range(2000)]
    counts = Counter(name for each in sets for name, _ in each)
    assert counts["a"] > 1.2 * counts["b"] > 1.5 * counts["c"] > 0
    alone = Counter(each[0][0] for each in sets)
    assert 3 < alone["a"] / alone["b"] < 5
    assert 1.6 < alone["b"] / alone["c"] < 2.5
    seen = {pair for each in sets for pair in combinations(sorted(each), 2)}
    assert not seen & {(("a", "x"), ("b", "0")), (("", "-v"), ("c", "z"))}
    assert seen >= {(("a", "x"), ("b", "1")), (("a", "y"), ("b", "0")), (("", "-q"), ("c", "z"))}
    unweighted = parse("a = x y\nb = 0..1\nc = z\n", "f")
    equal = parse("a = x y * 7\nb = 0..1 * 7\nc = z * 7\n", "f")
    assert all(drawn(Random(n), unweighted) == drawn(Random(n), equal) for n in range(20))


@pytest.mark.parametrize("word", ["a=z", "d=x", "-q", "a"])
def test_what_is_forbidden_has_to_be_offered(word: str) -> None:
    with pytest.raises(UsageError, match=rf"line 2 of f forbids {word}, which no line offers"):
        parse(f"a = x y\nforbid a=x {word}\n", "f")


def test_options_of_a_text_in_place_of_the_placeholder() -> None:
    text = b"c option -a\nc optional\np cnf 0 0\nc option --b=x y \n"
    command = Command.of(["/bin/echo", "{options}", "-q"])
    assert command.with_options_of(text).argv("f") == ["/bin/echo", "-a", "--b=x y", "-q", "f"]
    assert command.with_options_of(b"").argv("f") == ["/bin/echo", "-q", "f"]
    assert command.shell_line("f", text) == "/bin/echo -a '--b=x y' -q f"
    shell = Command.of("cat {} | tool {options}", shell=True)
    assert shell.shell_line("f", text) == "cat f | tool -a '--b=x y'"
    plain = Command.of(["/bin/echo"])
    assert plain.with_options_of(text) is plain


@pytest.mark.slow
@pytest.mark.debian("z3")
def test_z3_takes_its_options(tmp_path: Path) -> None:
    """A few, in a script each: `benchmarks.solver_options` has tried all."""
    options = read_options("z3", "smt2")
    path = tmp_path / "in.smt2"
    for seed in range(40):
        script = "(declare-const x Int)\n(assert (> x 1))\n(check-sat)\n"
        path.write_bytes(in_commands(Random(seed), options) + script.encode())
        done = subprocess.run(["z3", path], capture_output=True, text=True, check=False)
        assert done.stdout in ("sat\n", "unknown\n"), path.read_text()
