"""An incremental CNF asks what the trace asks: each of its lines has the answer of the trace."""

import subprocess
from collections.abc import Sequence

import pytest

from reducekit.errors import UsageError
from reducekit.frontends.trace.formats.convert import to_cnf, to_icnf
from reducekit.frontends.trace.formats.rounds import names_of
from reducekit.frontends.trace.generate.generator import Generator
from reducekit.frontends.trace.language.calls import Call
from reducekit.frontends.trace.model.loader import load_model
from reducekit.frontends.trace.player import ReplayServer, find_library
from reducekit.frontends.trace.player.live_replay import LiveReplay
from reducekit.frontends.trace.player.target import fitted
from tests.frontends.trace.player.test_every_call import calls_of
from tests.frontends.trace.player.test_stock_cadical import stock

HEADER = "p inccnf"


def solved(lines: Sequence[str]) -> int:
    """Return what CaDiCaL says of an incremental CNF: 10 if any of its lines is satisfiable."""
    text = "\n".join([HEADER, *lines, ""])
    done = subprocess.run(["cadical", "-q"], input=text.encode(), capture_output=True, check=False)
    assert done.returncode in (10, 20), done.stderr
    return done.returncode


def answers(text: bytes) -> list[int]:
    """Return the answer to each line of assumptions, with the clauses before it."""
    header, *lines = text.decode().splitlines()
    assert header == HEADER
    clauses: list[str] = []
    found = []
    for line in lines:
        if line.startswith("a "):
            found.append(solved([*clauses, line]))
        else:
            clauses.append(line)
    asked = [line.startswith("a ") for line in lines]
    if found and asked == sorted(asked):  # the solver itself reads solves at the end only
        assert solved(lines) == min(found)
    return found


@pytest.mark.debian("cadical")
@pytest.mark.parametrize("api", ["lingeling", "ipasir", "cadical"])
def test_20_generated_traces_have_the_same_answers(api: str) -> None:
    library = find_library(api, stock("bitwuzla") if api == "cadical" else None)
    generator = Generator(fitted(load_model(api), library), variables=10)
    names = names_of(api)
    known = {names[what] for what in ("solve", "simplify", "lookahead") if what in names}
    agreed, seed = 0, -1
    with LiveReplay(library) as live:
        while agreed < 20:
            seed += 1
            live.begin()
            calls = generator.generate(seed, live.play).recorded()
            assert live.finish().kind == "ok"
            said = [call.result for call in calls if call.name in known]
            if any(call.name == "lemma" for call in calls):
                with pytest.raises(UsageError):
                    to_icnf(calls, api)
            elif 10 in said or 20 in said:
                found = answers(to_icnf(calls, api))
                assert len(found) == len(said)
                for result, answer in zip(said, found, strict=True):
                    assert result == answer or result not in (10, 20), (seed, said, found)
                agreed += 1


@pytest.mark.debian("cadical")
def test_constraints_and_assumptions_hold_as_long_as_in_the_trace() -> None:
    calls = calls_of(
        """init; add 1; add 2; add 0; assume -1; reset_assumptions; constrain -1; constrain 0;
        assume -2; solve=20; constrain 1; constrain 0; constrain -2; constrain 0; solve=10; assume
        -1; constrain -2; constrain 0; reset_constraint; solve=10; constrain 0; solve=20; solve=10;
        reset"""
    )
    with ReplayServer(find_library("cadical", "cadical195"), check_results=True) as server:
        assert server.replay(calls).kind == "ok"
    text = to_icnf(calls, "cadical")
    assert text == (
        b"p inccnf\n1 2 0\n-1 3 0\n-2 4 0\n5 0\na -2 -3 0\na -4 0\na -1 0\na -5 0\na 0\n"
    )
    assert answers(text) == [20, 10, 10, 20, 10]
    assert to_cnf(calls, "cadical", 0) == b"p cnf 2 3\n1 2 0\n-2 0\n-1 0\n"
    assert to_cnf(calls, "cadical", 3) == b"p cnf 2 2\n1 2 0\n0\n"


@pytest.mark.debian("cadical")
def test_what_is_assumed_before_a_lookahead_is_asked_by_the_solve_after_it() -> None:
    calls = calls_of(
        "init; add -1; add -4; add 0; add 2; add 3; add 0; assume 1; lookahead; assume 4;"
        "solve=20; lookahead; assume 4; solve=10; reset"
    )
    for name in ("cadical153", "cadical195"):
        with ReplayServer(find_library("cadical", name), check_results=True) as server:
            assert server.replay(calls).kind == "ok"
    text = to_icnf(calls, "cadical")
    assert text == b"p inccnf\n-1 -4 0\n2 3 0\na 1 0\na 1 4 0\na 0\na 4 0\n"
    assert answers(text) == [10, 20, 10, 10]


def test_clauses_of_a_propagator_are_refused() -> None:
    calls = [Call("init", ()), Call("lemma", (1,), 7)]
    for convert in (to_cnf, to_icnf):
        with pytest.raises(UsageError, match="line 7: lemma 1: a CNF has no propagator"):
            convert(calls, "cadical")
