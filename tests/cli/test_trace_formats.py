"""Traces of other solvers and in other formats, reduced with the real libraries and programs."""

import json
import signal
import subprocess

import pytest

from tests.cli.tool import Tool

MELTS = "init\nadd 1\nadd 2\nadd 0\nfreeze 1\nsat\nmelt 1\nsat\n"
CADICAL = "init\nadd 1\nadd 2\nadd 0\nfreeze 1\nsolve\nval 1\nmelt 1\nsolve\nreset\n"
MELT = "_ZN10CaDiCaL1956Solver4meltEi:abort"
MOBICAL = "".join(f"{number} {line}\n" for number, line in enumerate(CADICAL.splitlines()))
BOOLECTOR = """\
new=b; bitvec_sort b 8=s; var b s x=x; var b s y=y; add b x y=t; and b t x=a; zero b s=z;
ne b a z=d; assert b d; sat b=10
"""


@pytest.mark.slow
@pytest.mark.parametrize("text", [CADICAL, MOBICAL], ids=["plain", "numbered"])
def test_a_trace_of_cadical(tool: Tool, text: str) -> None:
    path = tool.write("cadical.trace", text)
    done = tool.ok("trace", path, "--fault", MELT, "--json")
    reduced = path.with_name("cadical.reduced.trace")
    assert reduced.read_text() == "init\nfreeze 1\nmelt 1\n"
    (command,) = json.loads(done.out)["see_again"]
    assert tool(*command.split()[1:]).code == -signal.SIGILL, command


@pytest.mark.slow
def test_a_trace_of_boolector(tool: Tool) -> None:
    """What is left still makes its handles before it uses them."""
    calls = (step.strip().replace("=", "\nreturn ") for step in BOOLECTOR.split(";"))
    path = tool.write("btor.trace", "\n".join([*calls, ""]))
    fault = ("--fault", "boolector_and:abort")
    tool.ok("trace", path, *fault, "-q")
    reduced = path.with_name("btor.reduced.trace")
    lines = [line.split()[0] for line in reduced.read_text().splitlines()]
    names = [name for name in lines if name != "return"]
    assert names == ["new", "bitvec_sort", "var", "and"]  # of the variable with itself
    assert tool("replay", reduced, *fault).code == -signal.SIGILL


@pytest.mark.debian("cadical")
def test_mobical_says_what_a_trace_is(tool: Tool) -> None:
    path = tool.write("cadical.trace", MOBICAL)
    oracle = tool.folder / "oracle"
    oracle.write_text('#!/bin/sh\nmobical "$1" && grep -q melt "$1"\n')
    oracle.chmod(0o755)
    tool.ok("trace", path, "--oracle", oracle, "-q")
    assert path.with_name("cadical.reduced.trace").read_text() == "init\nfreeze 1\nmelt 1\n"


@pytest.mark.debian("cadical")  # the package that has mobical
def test_what_mobical_and_cadical_write_is_not_refused(tool: Tool) -> None:
    """Without results, `solve 0`, calls stand that are passed over where the answer is another."""
    unknown = "0 init\n1 add 3\n2 add 0\n3 assume -3\n4 solve 0\n5 failed -3\n6 reset\n"
    tool.write("unknown.trace", unknown)
    done = tool("trace", "unknown.trace", "--check")
    assert (done.code, done.err) == (0, "")
    for seed in range(4):
        # Those that were executed have results: whether it passed over calls cannot be seen.
        how, model = ([], ["--model", "mobical"]) if seed % 2 else (["--do-not-execute"], [])
        words = ("mobical", "--small", *how, str(seed), "made.trace")
        subprocess.run(words, cwd=tool.folder, capture_output=True, check=True)
        done = tool("trace", "made.trace", "--check", *model)
        assert (done.code, done.err) == (0, "")
        assert "as mobical allows them" in done.out
        done = tool("trace", "made.trace", "--library", "cadical153", "-o", "out")
        assert "does not fail: all its" in done.err
    # One whose answers are all known breaks the contract.
    tool.write("known.trace", unknown.replace("solve 0", "solve 10"))
    for words in (("known.trace",), ("unknown.trace", "--model", "cadical")):
        strict = tool("trace", *words, "--check")
        assert strict.code == 3
        assert "'failed -3' is allowed in 'unsat' only" in strict.err
