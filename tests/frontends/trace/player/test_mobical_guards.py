"""Traces of mobical ask for values after any solve: what is not allowed is passed over."""

import pytest

from reducekit.frontends.trace.language.calls import Call
from reducekit.frontends.trace.language.text import read_trace
from reducekit.frontends.trace.player import ReplayServer, find_library
from reducekit.frontends.trace.programs import program
from tests.frontends.trace.player.test_stock_cadical import stock

TRACE = b"""init
set factor 0
add 1
add 0
val 1
conclude
solve
val -1
failed 1
conclude
melt 1
add -1
add 2
add 0
freeze 2
melt 2
assume -2
solve
failed -2
val 1
flip 1
reset
"""


@pytest.mark.parametrize("name", ["cadical195", "cadical300", "cvc5", "bitwuzla"])
def test_what_the_answer_does_not_allow_is_passed_over(name: str) -> None:
    choice = name if "cadical" in name else stock(name)
    trace = read_trace(TRACE, "mobical")
    calls = [
        call for call in trace.calls if call.name != "set" or name in ("cadical300", "bitwuzla")
    ]
    with ReplayServer(find_library("mobical", choice)) as server:
        outcome = server.replay(calls)
        played_in_python = ReplayServer(find_library("mobical", choice), native=False)
    with played_in_python:
        again = played_in_python.replay(calls)
    assert (outcome.kind, outcome.reason) == ("ok", "")
    assert list(outcome.results) == list(again.results)
    found = [
        (call.name, result)
        for call, result in zip(calls, outcome.results, strict=True)
        if call.name in ("val", "solve", "failed", "flip")
    ]
    assert [result for name, result in found if name == "solve"] == [10, 20]
    assert [result for name, result in found if name == "failed"] == [0, 1]
    (before, after, refuted) = [result for name, result in found if name == "val"]
    assert (before, refuted) == (0, 0)
    assert after
    with ReplayServer(find_library("cadical", choice)) as strict:
        assert strict.replay(calls).kind == "contract"


@pytest.mark.parametrize("native", [True, False])
def test_variables_need_not_be_declared(native: bool) -> None:
    """mobical of 2.2 declares none, and from 3.0 on the library refuses such without this."""
    calls = read_trace(b"init\nadd 3\nadd -1\nadd 0\nassume 2\nsolve 10\nreset\n", "mobical").calls
    with ReplayServer(find_library("mobical", "cadical300"), native=native) as server:
        outcome = server.replay(calls)
        asked = [calls[0], Call("set", ("factorcheck", 1)), *calls[1:]]
        insisting = server.replay(asked)
    assert (outcome.kind, outcome.reason) == ("ok", "")
    assert 10 in outcome.results
    assert insisting.kind == "contract"  # where the trace asks for it
    with ReplayServer(find_library("cadical", "cadical300"), native=native) as strict:
        assert strict.replay(calls).kind == "contract"


def test_a_program_passes_over_nothing() -> None:
    trace = read_trace(b"init\nadd 1\nadd 0\nsolve 10\nval 1\nreset\n", "mobical")
    assert b"memchr" not in program(trace, "cpp", "mobical")[0]
    assert b"memchr" not in program(trace, "py", "mobical")[0]
