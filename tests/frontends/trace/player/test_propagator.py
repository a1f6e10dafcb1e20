"""A propagator is connected to CaDiCaL in a replay, and answers from the trace alone."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from reducekit.errors import UsageError
from reducekit.frontends.trace.generate.generator import Generator
from reducekit.frontends.trace.language.calls import Call
from reducekit.frontends.trace.language.text import read_trace
from reducekit.frontends.trace.model.loader import load_model
from reducekit.frontends.trace.player import Library, ReplayServer, find_library
from reducekit.frontends.trace.player import libraries as helpers
from reducekit.frontends.trace.player.live_replay import LiveReplay
from reducekit.frontends.trace.player.target import fitted
from reducekit.frontends.trace.programs import program
from tests.frontends.trace.player.test_stock_cadical import stock

TRACE = b"""init
set factor 0
add 1
add 2
add 0
connect mock-propagator
observe 1
observe -2
observe 3
lemma -1
lemma -2
lemma 0
lemma -1
lemma -3
lemma 0
lemma 1
lemma 3
lemma 0
solve 10
assume 1
assume 3
solve 20
lemma 1
lemma 0
assume 3
solve 20
failed 3
disconnect mock-propagator
reset
"""
ALWAYS = """
[api]
name = "always"
extends = "cadical"

[generate.before]
next = [{ to = "propagator", when = "not connected" }, { to = "lemmas" }]
"""


@pytest.mark.parametrize("name", ["cadical195", "cadical300", "bitwuzla", "cvc5"])
def test_lemmas_hold(name: str) -> None:
    library = find_library("cadical", name if "cadical" in name else stock(name))
    calls = [call for call in read_trace(TRACE, "mobical").calls if call.name != "set"]
    if name in ("cadical300", "bitwuzla"):  # with factoring, variables are to be declared
        calls.insert(1, Call("set", ("factor", 0)))
    with ReplayServer(library, check_results=True) as server:
        outcome = server.replay(calls)
        assert (outcome.kind, outcome.reason) == ("ok", "")
        # Without the propagator, the answer to the second solve is another one.
        dropped = [call for call in calls if call.name not in ("connect", "lemma", "observe")]
        assert server.replay(dropped).kind == "mismatch"


@pytest.fixture(scope="module")
def library() -> Library:
    """Return a library that also tells what its propagator was asked and has answered."""
    found = find_library("cadical", "cadical195")
    calls = {**found.interface.calls, "said": "int reducekit_said()"}
    return replace(found, interface=replace(found.interface, calls=calls))


def test_callbacks_are_the_same_in_each_replay(library: Library, tmp_path: Path) -> None:
    path = tmp_path / "always.toml"
    path.write_text(ALWAYS)
    model = fitted(load_model(str(path)), library)
    told: Counter[int] = Counter()
    with LiveReplay(library) as live, ReplayServer(library, check_results=True) as server:
        for seed in range(40):
            live.begin()
            made = Generator(model, variables=6).generate(seed, live.play)
            assert live.finish().kind == "ok", seed
            calls = [*made.recorded()[:-1], Call("said", ())]
            first, second = server.replay(calls), server.replay(calls)
            assert (first.kind, second.kind) == ("ok", "ok"), seed
            assert first.results[-1] == second.results[-1]
            told[first.results[-1] or 0] += 1
    assert told[0] < 10
    assert len(told) > 24


@pytest.mark.parametrize("name", ["cadical300", "bitwuzla", "cvc5"])
def test_the_propagator_backtracks_once_to_each_level(name: str) -> None:
    found = find_library("cadical", name if "cadical" in name else stock(name))
    interface = found.interface
    calls = {**interface.calls, "backtracks": "int reducekit_backtracks()"}
    library = replace(found, interface=replace(interface, calls=calls))
    declared = [Call("set", ("factor", 0))] if name != "cvc5" else []
    asked = [Call("init", ()), *declared, Call("connect", ())]
    for variable in range(1, 40, 2):  # each decision leaves the other variable of a clause open
        asked += [Call("add", (literal,)) for literal in (variable, variable + 1, 0)]
        asked += [Call("observe", (literal,)) for literal in (variable, variable + 1)]
    levels = [Call("force_backtrack", (level,)) for level in (3, 1, 5)]
    solved = [Call("solve", ()), Call("backtracks", ())]
    whole = [
        *asked,
        *solved,
        *levels,
        *solved,
        Call("force_backtrack", (0,)),
        Call("disconnect", ()),
    ]
    with ReplayServer(library) as server:
        first, second = server.replay(whole), server.replay(whole)
    assert first.kind == second.kind == "ok"
    assert [*first.results] == [*second.results]
    answers = [
        result
        for call, result in zip(whole, first.results, strict=True)
        if call.name in ("solve", "backtracks")
    ]
    assert answers == [10, 0, 10, 3]


def test_without_a_compiler_the_calls_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(helpers, "_COMPILERS", {".c": ()})
    monkeypatch.setenv("XDG_CACHE_HOME", "/nowhere")
    helpers.compiled.cache_clear()
    try:
        found = find_library("cadical", stock("cvc5"))
    finally:
        helpers.compiled.cache_clear()
    assert {"connect", "observe", "lemma", "disconnect"} <= set(found.interface.lacking)
    assert "lemma" in found.note


def test_a_program_has_no_propagator() -> None:
    trace = read_trace(TRACE, "mobical")
    assert "connect" in load_model("cadical").calls
    with pytest.raises(UsageError, match=r"line 6: connect .*the library has no function for it"):
        program(trace, "cpp")
