"""Every call of the models of SAT solvers, in a lawful trace on a real library.

A step is a call, with `=RESULT` where the answer follows from the formula. An empty line
ends a trace.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from reducekit.frontends.trace.calls import Call, Value
from reducekit.frontends.trace.model.loader import load_model
from reducekit.frontends.trace.model.machine import Machine, run
from reducekit.frontends.trace.replay import ReplayServer, find_library
from tests.frontends.trace.replay.test_stock_cadical import stock

TRACES = {
    "cadical": """
init; configure plain=1; set seed 3=1; trace_proof NAME=1; add 1; add 2; add 0; add -1; add 0;
vars=2; active=0; redundant=0; solve=10; val 1=-1; val 2=2; conclude; flush_proof_trace;
close_proof_trace; fixed 1=-1; stats; statistics; resources; dump; reset

init; resize 4; add 1; add 2; add 0; irredundant=1; phase -1; unphase 1; solve=10; flippable
3=1; flip 3=1; is_witness 1=0; reset

init; declare_more_variables 2=2; declare_one_more_variable=3; vars=3; freeze 1; frozen 1=1; add
1; add 2; add 0; simplify 1=0; melt 1; frozen 1=0; reset

init; limit conflicts 100=1; optimize 1; add 1; add 2; add 0; assume -1; assume -2; solve=20;
failed -1=1; failed -2=1; solve=10; assume -1; reset_assumptions; solve=10; reset

init; add -1; add 0; constrain 1; constrain 0; solve=20; constraint_failed=1; solve=10;
constrain 1; constrain 0; reset_constraint; solve=10; reset

init; add 1; add 2; add 0; assume -1; propagate; implied; lookahead; cubing 2; solve=10; reset

init; add 1; add 2; add 0; connect mock-propagator; observe 1; observe 2; observed 1=1;
is_decision 1=0; lemma -1; lemma 0; solve=10; val 1=-1; val 2=2; unobserve 1; observed 1=0;
reset_observed_vars; observed 2=0; disconnect mock-propagator; reset
""",
    "lingeling": """
init; option seed 3; add 1; add 2; add 0; maxvar=2; freeze 1; frozen 1=1; frozen 2=0; freeze 2;
setphase 1; resetphase 1; setimportant 2; chkclone; inconsistent=0; sat=10; deref 1; setphases;
changed=0; usable 1=1; reusable 1=1; reduce; flush; stats; assume -1; assume -2; sat=20; failed
-1=1; failed -2=1; melt 1; frozen 1=0; release

init; add 1; add -2; add 0; add -1; add 2; add 0; incvar=3; freeze 1; freeze 2; simp 1; repr 2;
assume -1; fixate; fixed 1=-1; sat=10; deref 1=-1; deref 2=-1; release

init; add 1; add 2; add 0; add -1; add -2; add 0; lkhd; release

init; add 1; add 2; add 0; add -1; add -2; add 0; sat=10; reusable 1; release

init; option plain 1; add 1; add 2; add 0; add -1; add 2; add 0; sat=10; deref 2=1; reusable
1=1; reuse 1; add 1; add 0; sat=10; deref 1=1; release
""",
    "ipasir": """
signature; init; signature; set_terminate; set_learn 3; add 1; add 2; add 0; add -1; add 0;
solve=10; val 1=-1; val 2=2; assume -2; solve=20; failed -2=1; release; signature
""",
    "picosat": """
init; set_verbosity 0; set_plain 1; set_seed 3; set_propagation_limit 1000;
set_global_default_phase 1; enable_trace_generation=0; save_original_clauses; measure_all_calls;
inc_max_var=1; adjust 4; variables=4; set_default_phase_lit 3 -1; set_more_important_lit 3;
set_less_important_lit 4; add 1; add 2; add 0; add -1; add 0; added_original_clauses=2; sat
-1=10; res=10; deref 1=-1; deref 2=1; deref 3=-1; deref_partial 2=1; deref_toplevel 1=-1;
changed; remove_learned 50; sat -1=10; simplify; reset_phases; reset_scores; inconsistent=0;
assume -2; sat -1=20; failed_assumption -2=1; failed_assumptions; reset

init; set_default_phase_lit 1 1; set_default_phase_lit 2 -1; add 1; add 2; add 0; sat -1=10;
deref 1=1; deref 2=-1; reset

init; add 1; add 2; add 0; push=3; context=3; add -1; add 0; add -2; add 0; sat -1=20;
failed_context 3=1; pop=0; context=0; sat -1=10; reset
""",
}  # fmt: skip

NOT_PLAYED = {
    "cadical": {
        "reserve": "3.0 has `resize` in its place; the last test plays it on 1.9.5",
        "propagate_assumptions": "the library does not export it",
        "lookahead_cubes": "the library does not export it",
        "continue": "mobical's own, the library has no such method",
        "force_backtrack": "only a propagator's callback may call it, and ours does not",
        "max_alloc": "mobical's own, a limit for its process",
        "leak_alloc": "mobical's own, a limit for its process",
    },
    "lingeling": dict.fromkeys(
        ("meltall", "cassume", "negass", "reconstk"),
        "recorded by Lingeling, read by none of its interpreters",
    ),
}


def _value(word: str) -> Value:
    return int(word) if word.lstrip("-").isdigit() else word


def _trace(line: str) -> list[Call]:
    calls = []
    for step in line.split(";"):
        text, _, result = step.strip().partition("=")
        name, *words = text.split()
        calls.append(Call(name, tuple(map(_value, words)), 0, int(result) if result else None))
    return calls


CASES = [(api, line) for api, text in TRACES.items() for line in text.split("\n\n")]


@pytest.mark.parametrize(("api", "line"), CASES)
def test_a_call_gives_the_true_answer(
    api: str, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    calls = _trace(line)
    assert run(Machine(load_model(api)), calls) is None
    library = find_library(api, stock("bitwuzla") if api == "cadical" else None)
    with ReplayServer(library) as server:
        outcome = server.replay(calls)
    assert (outcome.kind, outcome.reason) == ("ok", "")
    wrong = {
        (at, call.name): (call.result, got)
        for at, (call, got) in enumerate(zip(calls, outcome.results, strict=True))
        if call.result is not None and got != call.result
    }
    assert not wrong
    assert os.listdir(tmp_path) == []  # trace_proof writes no file


@pytest.mark.parametrize("api", TRACES)
def test_no_call_of_a_model_is_without_a_trace(api: str) -> None:
    played = {call.name for each, line in CASES if each == api for call in _trace(line)}
    left_out = NOT_PLAYED.get(api, {})
    assert set(load_model(api).calls) - played == set(left_out)
    interface = find_library(api, stock("bitwuzla") if api == "cadical" else None).interface
    assert not set(left_out) & set(interface.calls)


def test_reserve_is_played_by_a_library_that_has_it() -> None:
    calls = _trace("init; reserve 4; vars=4; add -4; add 0; solve=10; val 4=-4; reset")
    with ReplayServer(find_library("cadical", "cadical195")) as server:
        outcome = server.replay(calls)
    assert (outcome.kind, outcome.results[2], outcome.results[5]) == ("ok", 4, 10)
