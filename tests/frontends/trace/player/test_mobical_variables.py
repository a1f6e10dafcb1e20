"""mobical's variables are others than the solver's, once the solver has made some of its own."""

import pytest

from reducekit.frontends.trace.language.calls import Call
from reducekit.frontends.trace.language.text import read_trace
from reducekit.frontends.trace.player import Library, ReplayServer, find_library
from reducekit.frontends.trace.player import libraries as helpers
from reducekit.frontends.trace.player.live_replay import LiveReplay
from reducekit.frontends.trace.programs import program
from tests.frontends.trace.player.test_every_call import calls_of
from tests.frontends.trace.player.test_stock_cadical import stock

# 1 is the solver's first variable; then it has four, so 2 is its fifth, and 4 its ninth.
TRACE = """
init; set factor 0; add -1; add 0; declare_more_variables 3; vars=4; frozen 2=0; vars=4; add 2;
add 0; vars=5; freeze -3; vars=6; declare_more_variables 2; frozen 3=1; fixed 2=1; connect;
observe -4; lemma -4; lemma 0; vars=9; phase 4; solve=10; val 1=-1; val 2=5; val 4=-9; assume 1;
solve=20; failed 1=1; disconnect; constrain 5; constrain 0; solve=10; val 5=10; vars=10;
flippable 3=1; flip 3=1; melt 3; frozen 3=0; reset
"""


def libraries(name: str) -> tuple[Library, Library]:
    """Return a library as mobical plays it, and as what it is."""
    choice = name if "cadical" in name else stock(name)
    return find_library("mobical", choice), find_library("cadical", choice)


@pytest.mark.parametrize("name", ["cadical300", "bitwuzla"])
@pytest.mark.parametrize("native", [True, False])
def test_new_variables_come_after_those_of_the_solver(name: str, native: bool) -> None:
    mobical, cadical = libraries(name)
    calls = calls_of(TRACE)
    with ReplayServer(mobical, native=native) as server:
        first, second = server.replay(calls), server.replay(calls)
    assert (first.kind, first.reason) == ("ok", "")
    assert [*first.results] == [*second.results]
    said = [
        (call, result)
        for call, result in zip(calls, first.results, strict=True)
        if call.result is not None
    ]
    assert [result for _, result in said] == [call.result for call, _ in said]
    with ReplayServer(cadical) as server:
        results = server.replay(
            calls_of("init; set factor 0; resize 4; add 2; add 0; vars")
        ).results
    assert results[-1] == 4


def test_what_follows_from_assumptions_is_asked_for() -> None:
    mobical, cadical = libraries("bitwuzla")
    calls = calls_of(
        "init; set factor 0; add 1; add 2; add 0; assume 1; propagate=0; add -1; add 0; solve=10"
    )
    assert "reducekit_propagate" in mobical.interface.calls["propagate"]
    with ReplayServer(mobical, check_results=True) as server:
        assert server.replay(calls).kind == "ok"
    assert "reducekit" not in cadical.interface.calls["propagate"]


def test_queries_of_many_literals_are_mapped() -> None:
    mobical, _ = libraries("bitwuzla")
    calls = calls_of("init; set factor 0; resize 3; add 1; add 0; add -2; add 0; solve")
    with LiveReplay(mobical) as live:
        live.begin()
        assert live.play(calls)[-1] == 10
        asked = live.ask("val", [1, 2])
        live.play([Call("reset", ())])
        assert live.answer(asked) == [4, -5]


def test_without_a_compiler_variables_are_what_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(helpers, "_COMPILERS", {".c": ()})
    monkeypatch.setenv("XDG_CACHE_HOME", "/nowhere")
    helpers.compiled.cache_clear()
    try:
        mobical, _ = libraries("bitwuzla")
        with ReplayServer(mobical) as server:
            results = server.replay(
                calls_of("init; set factor 0; resize 3; add 1; add 0; vars")
            ).results
    finally:
        helpers.compiled.cache_clear()
    assert {"add", "propagate"} <= mobical.interface.calls.keys()
    assert results[-1] == 3


@pytest.mark.parametrize("language", ["cpp", "py"])
def test_a_program_maps_nothing(language: str) -> None:
    trace = read_trace(b"init\nadd 1\nadd 0\npropagate\nsolve 10\nval 1\nreset\n", "mobical")
    mobical, _ = libraries("bitwuzla")
    code, left_out = program(trace, language, "mobical", mobical if language == "py" else None)
    assert not left_out
    assert b"reducekit_" not in code
