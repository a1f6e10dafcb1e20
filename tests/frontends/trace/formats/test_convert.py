"""Traces in the words of another API, and CNF."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reducekit.errors import ParseError, UsageError
from reducekit.frontends.trace.formats.convert import APIS, FORMAT_OF, convert, from_cnf, to_cnf
from reducekit.frontends.trace.generate.generator import Generator
from reducekit.frontends.trace.language.calls import Call
from reducekit.frontends.trace.language.text import print_trace, read_trace
from reducekit.frontends.trace.model.check import check
from reducekit.frontends.trace.model.loader import load_model
from reducekit.frontends.trace.player import ReplayServer, find_library
from reducekit.frontends.trace.player.live_replay import LiveReplay
from reducekit.frontends.trace.player.target import fitted
from tests.frontends.trace.player.test_every_call import calls_of
from tests.frontends.trace.player.test_stock_cadical import stock

RECORDED = Path(__file__).parents[1] / "recorded"


@pytest.mark.parametrize("target", APIS)
@pytest.mark.parametrize("source", ["lingeling", "cadical"])
def test_converted_recordings_keep_to_the_other_model(source: str, target: str) -> None:
    trace = read_trace((RECORDED / f"{source}.trace").read_bytes())
    calls, _ = convert(trace.calls, source, target)
    again = read_trace(print_trace(calls, FORMAT_OF[target]), FORMAT_OF[target])
    assert check(again, load_model(target)) == []
    # What is solved in the end is the same.
    assert to_cnf(again.calls, target) == to_cnf(trace.calls, source)


def test_values_are_said_as_the_target_says_them() -> None:
    calls = [Call("deref", (-3,), 0, 1), Call("deref", (3,), 0, -1), Call("deref", (4,), 0, 0)]
    there, _ = convert(calls, "lingeling", "cadical")
    assert [call.result for call in there] == [-3, -3, 0]
    back, _ = convert(there, "cadical", "lingeling")
    assert [call.result for call in back] == [1, -1, 0]


def test_what_has_no_counterpart_is_told() -> None:
    calls = [Call("option", ("plain", 1)), Call("add", (1,)), Call("chkclone", ())]
    kept, left_out = convert(calls, "lingeling", "ipasir")
    assert [call.name for call in kept] == ["add"]
    assert [call.name for call in left_out] == ["option", "chkclone"]
    with pytest.raises(UsageError, match="lingeling, cadical, ipasir"):
        convert(calls, "lingeling", "nosuch")


def test_fixate_becomes_units() -> None:
    calls = [Call("assume", (-2,)), Call("fixate", ()), Call("sat", ())]
    kept, _ = convert(calls, "lingeling", "ipasir")
    assert [str(call) for call in kept] == ["assume -2", "add -2", "add 0", "solve"]


@given(st.lists(st.lists(st.integers(-9, 9).filter(bool), max_size=4), max_size=9))
def test_cnf_round_trip(clauses: list[list[int]]) -> None:
    text = f"c a comment\np cnf 9 {len(clauses)}\n"
    text += "".join(" ".join(map(str, [*clause, 0])) + "\n" for clause in clauses)
    for api in APIS:
        calls = from_cnf(text.encode(), api)
        assert check(read_trace(print_trace(calls, FORMAT_OF[api])), load_model(api)) == []
        lines = to_cnf(calls, api).decode().splitlines()
        assert [[int(word) for word in line.split()][:-1] for line in lines[1:]] == clauses


def test_cnf_of_each_solve() -> None:
    calls = [
        *[Call("add", (literal,)) for literal in (1, 2, 0)],
        Call("assume", (-1,)),
        Call("solve", ()),
        *[Call("add", (literal,)) for literal in (-2, 0)],
        Call("solve", ()),
    ]
    assert to_cnf(calls, "ipasir", 0) == b"p cnf 2 2\n1 2 0\n-1 0\n"
    assert to_cnf(calls, "ipasir") == b"p cnf 2 2\n1 2 0\n-2 0\n"
    with pytest.raises(UsageError, match="2 calls that solve"):
        to_cnf(calls, "ipasir", 2)


@pytest.mark.parametrize(
    ("text", "line", "expected"),
    [
        (b"", 1, "p cnf VARIABLES CLAUSES"),
        (b"1 2 0\n", 1, "p cnf"),
        (b"p cnf x 1\n", 1, "p cnf"),
        (b"p cnf 2 1\n1 2\n", 2, "0 at the end"),
        (b"p cnf 2 1\n1 3 0\n", 2, "variables up to 2"),
        (b"p cnf 2 1\n1 two 0\n", 2, "a literal"),
        (b"p cnf 2 2\n1 0\n", 1, "expected 2 clauses"),
        (b"c\np cnf 1 1\np cnf 1 1\n1 0\n", 3, "one 'p cnf' line"),
        (b"p cnf 2 1\n1 99999999999999999999999 0\n", 2, "a literal"),
    ],
)
def test_bad_cnf_is_named(text: bytes, line: int, expected: str) -> None:
    with pytest.raises(ParseError, match=expected) as caught:
        from_cnf(text)
    assert caught.value.line == line


def test_constraints_and_dropped_assumptions_of_cadical() -> None:
    calls = calls_of(
        """init; limit conflicts 900000; add 1; add 2; add 0; assume -1; reset_assumptions;
        constrain -1; constrain 0; assume -2; solve=20; failed -2=1; constrain 1; constrain 0;
        constrain -2; constrain 0; solve=10; val 1=1; constrain -2; constrain 0;
        reset_constraint; solve=10; simplify 1=0; failed 1; reset"""
    )
    there, left_out = convert(calls, "cadical", "ipasir")
    assert [str(call) for call in there] == [
        *("init", "add 1", "add 2", "add 0", "assume -2", "add -1", "add 3", "add 0", "assume -3"),
        *("solve", "failed -2", "add -2", "add 4", "add 0", "assume -4", "solve", "val 1"),
        *("solve", "release"),
    ]
    assert [call.name for call in left_out] == ["limit", "reset_assumptions", "simplify", "failed"]
    with ReplayServer(find_library("ipasir"), check_results=True) as server:
        assert server.replay(there).kind == "ok"


@pytest.mark.parametrize("target", ["ipasir", "lingeling"])
def test_converted_traces_have_the_same_answers(target: str) -> None:
    library = find_library("cadical", stock("bitwuzla"))
    generator = Generator(fitted(load_model("cadical"), library), variables=10)
    solve = "sat" if target == "lingeling" else "solve"
    answers = 0
    with LiveReplay(library) as live, ReplayServer(find_library(target)) as server:
        for seed in range(25):
            live.begin()
            made = generator.generate(seed, live.play).recorded()
            live.finish()
            if any(call.name == "lemma" for call in made):
                continue
            calls, _ = convert(made, "cadical", target)
            outcome = server.replay(calls)
            assert (outcome.kind, outcome.reason) == ("ok", ""), seed
            for call, got in zip(calls, outcome.results, strict=True):
                if call.name == solve and call.result in (10, 20):
                    assert got == call.result, seed
                    answers += 1
    assert answers > 15


@pytest.mark.parametrize("drop", ["propagate", "propagate_assumptions", "reset_constraint"])
def test_what_drops_a_constraint(drop: str) -> None:
    asked = [Call("init", ()), *(Call("constrain", (each,)) for each in (3, 0))]
    calls = (*asked, Call(drop, ()), Call("solve", ()))
    made, _ = convert(calls, "cadical", "ipasir")
    assert [each.name for each in made] == ["init", "solve"]
