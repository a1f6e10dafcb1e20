"""Traces that libraries record themselves: made here, read, and printed byte by byte."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from reducekit.frontends.trace.generate.generator import Generator
from reducekit.frontends.trace.language.calls import Trace
from reducekit.frontends.trace.language.text import print_trace, read_trace
from reducekit.frontends.trace.model.check import check
from reducekit.frontends.trace.model.loader import load_model
from reducekit.frontends.trace.player import ReplayServer, find_library
from reducekit.frontends.trace.player.live_replay import LiveReplay

# Plays a trace on Lingeling through its C functions, with the library's own recorder on.
LINGELING = """
import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
names = {"option": "setopt", "lkhd": "ookahead", "reduce": "reducecache", "flush": "flushcache"}
library.lglinit.restype = ctypes.c_void_p
solver = None
for line in open(sys.argv[2]):
    name, *words = line.split()
    if name == "return":
        continue
    if name == "init":
        solver = library.lglinit()
        continue
    function = getattr(library, "lgl" + names.get(name, name))
    values = [word.encode() if name == "option" and not at else int(word)
              for at, word in enumerate(words)]
    function(ctypes.c_void_p(solver), *values)
"""
CADICAL = """
import sys
from pysat.solvers import Solver
solver = Solver(name=sys.argv[1], bootstrap_with=[[1, 2], [-1, 3], [-2, -3, 4]])
assert solver.solve()
solver.get_model()
assert not solver.solve(assumptions=[-1, -2])
solver.get_core()
solver.add_clause([5, -6])
assert solver.solve(assumptions=[6])
solver.delete()
"""
BOOLECTOR = """
from pyboolector import Boolector, BtorOption
solver = Boolector()
solver.Set_opt(BtorOption.BTOR_OPT_INCREMENTAL, 1)
solver.Set_opt(BtorOption.BTOR_OPT_MODEL_GEN, 1)
sort = solver.BitVecSort(8)
x, y = solver.Var(sort, "x"), solver.Var(sort, "y")
solver.Assert(x * y == solver.Const(42, 8))
solver.Assume(x == solver.Const(0, 8))
assert solver.Sat() == solver.UNSAT
assert solver.Sat() == solver.SAT
x.assignment
"""


def recorded(path: Path, variable: str, code: str, *arguments: str) -> bytes:
    """Return what a library records while the code runs."""
    subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env={**os.environ, variable: str(path)},
        check=True,
        capture_output=True,
    )
    return path.read_bytes()


def read_without_loss(text: bytes, form: str) -> Trace:
    """Read a trace; it prints as it was, and spelled anew reads the same."""
    trace = read_trace(text)
    assert trace.format == form
    assert print_trace(trace.calls, form, trace.tail) == text
    anew = print_trace([replace(call, raw=b"") for call in trace.calls], form, trace.tail)
    # Boolector writes two blanks, or one at the end, here and there.
    assert [line.split() for line in anew.splitlines()] == [
        line.split() for line in text.splitlines()
    ]
    assert form == "boolector" or anew == text
    return trace


@pytest.mark.parametrize("seed", [0, 3, 8])
def test_lingeling_records_what_was_generated(seed: int, tmp_path: Path) -> None:
    library, model = find_library("lingeling"), load_model("lingeling")
    with LiveReplay(library) as live:
        live.begin()
        made = Generator(model, variables=30).generate(seed, live.play)
        assert live.finish().kind == "ok"
    text = print_trace(made.recorded(), "lgl")
    generated = tmp_path / "generated.trace"
    generated.write_bytes(text)
    found = recorded(tmp_path / "trace", "LGLAPITRACE", LINGELING, library.path, str(generated))
    assert found == text
    assert check(read_without_loss(found, "lgl"), model) == []


@pytest.mark.parametrize("engine", ["cadical103", "cadical153", "cadical195"])
def test_cadical_in_python_sat(engine: str, tmp_path: Path) -> None:
    text = recorded(tmp_path / "trace", "CADICAL_API_TRACE", CADICAL, engine)
    trace = read_without_loss(text, "mobical")
    names = [call.name for call in trace.calls]
    assert (names[0], names[-1], names.count("solve")) == ("init", "reset", 3)
    assert check(trace, load_model("cadical")) == []
    with ReplayServer(find_library("cadical", engine), check_results=True) as server:
        outcome = server.replay(trace.calls)
    assert (outcome.kind, outcome.reason) == ("ok", "")
    answers = [
        result
        for call, result in zip(trace.calls, outcome.results, strict=True)
        if call.name == "solve"
    ]
    assert answers == [10, 20, 10]


@pytest.mark.debian("cadical")
def test_the_cadical_of_debian(tmp_path: Path) -> None:
    formula, path = tmp_path / "formula.cnf", tmp_path / "trace"
    formula.write_text("p cnf 3 4\n1 2 0\n-1 2 0\n-2 3 0\n-3 -1 0\n")
    run = subprocess.run(
        ["cadical", "-q", str(formula)],
        env={**os.environ, "CADICAL_API_TRACE": str(path)},
        capture_output=True,
    )
    assert run.returncode == 10
    trace = read_without_loss(path.read_bytes(), "mobical")
    assert "solve" in [call.name for call in trace.calls]
    assert check(trace, load_model("mobical")) == []


def test_boolector_in_pyboolector(tmp_path: Path) -> None:
    text = recorded(tmp_path / "trace", "BTORAPITRACE", BOOLECTOR)
    trace = read_without_loss(text, "boolector")
    assert [call.result for call in trace.calls if call.name == "sat"] == [20, 10]
    with ReplayServer(find_library("boolector"), check_results=True) as server:
        outcome = server.replay(trace.calls)
    assert (outcome.kind, outcome.reason) == ("ok", "")
