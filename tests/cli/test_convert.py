"""`reducekit convert`: what it writes, and what it refuses."""

import subprocess
import sys

import pytest

from tests.cli.tool import Tool

SMALL = "1 var 4 a\n2 array 4 2\n3 var 2\n4 read 4 2 3\n5 eq 1 -1 4\n6 root 1 5\n"


@pytest.mark.slow
def test_the_suffix_names_the_format(tool: Tool) -> None:
    tool.write("in.btor", "; a comment\n" + SMALL)
    for name, first in (("out.btor2", "1 sort bitvec 4"), ("out.smt2", "(set-logic QF_ABV)")):
        done = tool("convert", "in.btor", name)
        assert (done.code, done.out, done.err) == (0, "", "")
        assert (tool.folder / name).read_text().splitlines()[0] == first
    assert tool("convert", "out.btor2", "back.btor").code == 0
    assert (tool.folder / "back.btor").read_text() == SMALL


@pytest.mark.slow
def test_smtlib_is_read(tool: Tool) -> None:
    tool.write("in.smt2", "(declare-const p Bool)(assert (not p))(check-sat)")
    assert tool("convert", "in.smt2", "out.btor").code == 0
    assert (tool.folder / "out.btor").read_text() == "1 var 1 p\n2 root 1 -1\n"
    tool.write("in", "(assert true)")
    assert tool("convert", "in", "out.btor2", "--from", "smt2").code == 0
    tool.write("bad.smt2", "(set-logic QF_LIA)\n(declare-const i Int)\n")
    done = tool("convert", "bad.smt2", "bad.btor")
    assert done.code == 3
    assert "bad.smt2, line 2, column 18: the sort Int cannot be said in BTOR" in done.err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "arguments", "code", "said"),
    [
        ("1 var 4\n2 add 4 1 3\n", ["out.btor2"], 3, "in.btor, line 2, column 11: node 2 (add): 3"),
        ("\n", ["out.btor2"], 3, "in.btor, line 1, column 1: the input is empty"),
        (
            "1 var 4\n",
            ["out.txt"],
            2,
            "cannot tell the format of out.txt from its suffix: give --to",
        ),
        ("1 var 4\n", ["out.btor", "--to", "btor-2007"], 2, "'btor-2007' is not one of"),
        ("1 var 4\n", ["no/out.btor"], 2, "there is no folder no"),
        ("1 var 4\n", ["./in.btor", "--to", "btor2"], 2, "in.btor is the input"),
        ("1 var 4\n2 next 4 1 1\n", ["out.smt2"], 2, "SMT-LIB has nothing like init"),
        (
            "1 sort bitvec 1\n2 state 1\n3 one 1\n4 next 1 2 3\n5 justice 1 2\n",
            ["out.btor"],
            2,
            "BTOR1 has nothing like justice (node 5)",
        ),
    ],
)
def test_what_is_refused_writes_nothing(
    tool: Tool, text: str, arguments: list[str], code: int, said: str
) -> None:
    tool.write("in.btor", text)
    before = tool.files()
    done = tool("convert", "in.btor", *arguments)
    assert done.code == code
    assert said in done.err
    assert "Traceback" not in done.err
    assert tool.files() == before


def test_a_missing_input(tool: Tool) -> None:
    done = tool("convert", "none.btor", "out.btor2")
    assert (done.code, done.err) == (2, "reducekit: the input none.btor does not exist\n")


TRACE = "init\nadd 1\nadd -2\nadd 0\nsetprefix x\nassume 2\nsat\nreturn 10\nderef 1\nrelease\n"


@pytest.mark.slow
def test_traces_of_three_apis_and_cnf(tool: Tool) -> None:
    tool.write("in.trace", TRACE)
    done = tool("convert", "in.trace", "out.ipasir")
    assert (done.code, done.out) == (0, "")
    assert "ipasir has nothing like 1 of the calls, left out: setprefix (1)" in done.err
    text = (tool.folder / "out.ipasir").read_text()
    assert text.splitlines() == [
        "init", "add 1", "add -2", "add 0", "assume 2", "solve", "return 10", "val 1", "release",
    ]  # fmt: skip
    assert tool("convert", "out.ipasir", "out.mobical").code == 0
    assert "solve 10\n" in (tool.folder / "out.mobical").read_text()
    assert tool("convert", "out.mobical", "back.trace").code == 0
    assert (tool.folder / "back.trace").read_text() == TRACE.replace("setprefix x\n", "")
    assert tool("convert", "in.trace", "out.cnf").code == 0
    assert (tool.folder / "out.cnf").read_text() == "p cnf 2 2\n1 -2 0\n2 0\n"
    assert tool("convert", "out.cnf", "cnf.trace").code == 0
    played = tool("replay", "cnf.trace", "--results")
    assert (played.code, played.out) == (0, "7: sat: 10\n")


@pytest.mark.slow
def test_a_program_of_a_trace_plays_its_calls(tool: Tool) -> None:
    tool.write("in.trace", TRACE.replace("setprefix x\n", ""))
    for name in ("bug.c", "bug.cpp", "bug.py"):
        done = tool("convert", "in.trace", name)
        assert (done.code, done.err) == (0, "")
        assert "lglassume(solver, 2)" in (tool.folder / name).read_text()
    ran = subprocess.run([sys.executable, "bug.py"], cwd=tool.folder, check=False)
    assert ran.returncode == 0
    tool.write("in.cnf", "p cnf 2 1\n1 -2 0\n")
    assert tool("convert", "in.cnf", "cnf.c").code == 0
    assert "ipasir_add(solver, -2)" in (tool.folder / "cnf.c").read_text()
    tool.write("bad.trace", "init\nadd 1\nfoo\n")
    done = tool("convert", "bad.trace", "bad.c")
    assert (done.code, done.out) == (2, "")
    assert "cannot write a program: line 3: foo: there is no call 'foo'" in done.err


def test_a_file_without_a_suffix_is_looked_at(tool: Tool) -> None:
    tool.write("in", "c comment\np cnf 1 1\n1 0\n")
    assert tool("convert", "in", "out", "--to", "mobical").code == 0
    assert (tool.folder / "out").read_text().endswith("add 1\nadd 0\nsolve\nreset\n")


def test_what_no_format_converts(tool: Tool) -> None:
    tool.write("in.trace", TRACE)
    done = tool("convert", "in.trace", "out.btor2")
    assert (done.code, done.err) == (2, "reducekit: cannot convert in.trace to btor2\n")
    done = tool("convert", "in.trace", "out.btor2", "--from", "lgl")
    assert (done.code, done.err) == (2, "reducekit: cannot convert lgl to btor2\n")
    done = tool("convert", "in.trace", "out.smt2")
    said = "the model lingeling does not say what its calls are in SMT-LIB"
    assert (done.code, done.err) == (2, f"reducekit: {said}\n")


def test_the_help_lists_the_conversions(tool: Tool) -> None:
    shown = " ".join(tool("convert", "--help").out.split())
    assert "to btor1, btor2, btor-old, btor1+fun, smt2" in shown
    assert "lgl, mobical, ipasir, cnf to lgl, mobical, ipasir, cnf, icnf, c, cpp, py" in shown
