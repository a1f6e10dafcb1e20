"""Traces of MiniSat and PicoSAT ask the same in the words of IPASIR, and as a CNF."""

import pytest

from reducekit.errors import UsageError
from reducekit.frontends.trace.conversions import converted
from reducekit.frontends.trace.formats.convert import to_ipasir
from reducekit.frontends.trace.generate.generator import Generator
from reducekit.frontends.trace.language.text import print_trace
from reducekit.frontends.trace.model.check import first_violation
from reducekit.frontends.trace.model.loader import load_model
from reducekit.frontends.trace.player import ReplayServer, find_library
from reducekit.frontends.trace.player.live_replay import LiveReplay
from tests.frontends.trace.player.test_every_call import calls_of, marks

APIS = [pytest.param(api, marks=marks(api)) for api in ("minisat", "picosat")]
MINISAT = """new; new_var=1; new_var=2; add_clause 1 -2=1; solve_limited 2=1; model_value 1=1;
    model_value -2=-1; add_clause -1=1; solve 2=0; conflict 2=1; n_vars=2; delete"""
PICOSAT = """init; add 1; add -2; add 0; assume 2; sat -1=10; deref 1=1; deref -2=-1; add -1; add 0;
    assume 2; sat -1=20; failed_assumption 2=1; variables=2; reset"""
IPASIR = """init; add 1; add -2; add 0; assume 2; solve=10; val 1=1; val -2=2; add -1; add 0;
    assume 2; solve=20; failed 2=1; release"""


@pytest.mark.parametrize(
    ("api", "text", "count"), [("minisat", MINISAT, 3), ("picosat", PICOSAT, 1)]
)
def test_each_call(api: str, text: str, count: int) -> None:
    made, left_out = to_ipasir(calls_of(text), api)
    assert list(made) == calls_of(IPASIR)
    assert len(left_out) == count


@pytest.mark.parametrize(("api", "text"), [("minisat", MINISAT), ("picosat", PICOSAT)])
def test_as_a_cnf(api: str, text: str) -> None:
    trace = print_trace(calls_of(text), "words")
    assert converted(trace, None, "cnf").text == b"p cnf 2 3\n1 -2 0\n-1 0\n2 0\n"
    assert converted(trace, None, "icnf").text == b"p inccnf\n1 -2 0\na 2 0\n-1 0\na 2 0\n"
    assert b"solve" in converted(trace, None, "mobical").text


def test_what_cannot_be_converted() -> None:
    context = print_trace(calls_of("init; push=1; add 1; add 0; pop=0; sat -1"), "words")
    with pytest.raises(
        UsageError, match="line 2: push: IPASIR has no clauses that can be taken back"
    ):
        converted(context, None, "cnf")
    terms = print_trace(
        calls_of("new; boolean_sort=s; const s x=t1; assert t1; check_sat"), "words"
    )
    with pytest.raises(UsageError, match="traces of cvc5 cannot be converted to CNF"):
        converted(terms, None, "cnf")


@pytest.mark.parametrize("api", APIS)
def test_generated_traces_have_the_same_answers(api: str) -> None:
    compared = set()
    with LiveReplay(find_library(api)) as live, ReplayServer(find_library("ipasir")) as server:
        for seed in range(30):
            live.begin()
            calls = Generator(load_model(api)).generate(seed, live.play).recorded()
            if any(call.name in ("push", "pop") for call in calls):
                continue
            made, _ = to_ipasir(calls, api)
            assert first_violation(made, load_model("ipasir")) is None
            results = server.replay(made).results
            assert len(results) == len(made)
            for call, result in zip(made, results, strict=True):
                if call.name == "solve" and call.result:
                    assert call.result == result
                    compared.add((seed, result))
    assert len(compared) > 8
    assert {answer for _, answer in compared} == {10, 20}
