"""Predicted answers are those of a real solver: so no trace is refused that keeps the contract."""

from __future__ import annotations

from random import Random

from reducekit.frontends.trace.language.calls import Call
from reducekit.frontends.trace.model.loader import load_model
from reducekit.frontends.trace.passes.predicted import doubted, may_be_allowed
from reducekit.frontends.trace.player import ReplayServer, find_library


def calls_of(dice: Random) -> list[Call]:
    """Return a tiny trace that asks for a failed assumption, or for a value."""
    calls = [Call("init", ())]
    for _ in range(dice.randint(1, 2)):
        for _ in range(dice.randint(0, 5)):
            clause = [dice.choice((1, -1, 2, -2)) for _ in range(dice.randint(1, 2))]
            calls += [Call("add", (literal,)) for literal in (*clause, 0)]
        assumed = dice.choice((1, -1)) * dice.randint(1, 2)
        calls += [Call("assume", (assumed,)), Call("sat", ())]
    return [*calls, dice.choice((Call("failed", (assumed,)), Call("deref", (assumed,))))]


def test_what_is_allowed_is_what_the_solver_allows() -> None:
    model = load_model("lingeling")
    allowed = refused = 0
    with ReplayServer(find_library("lingeling")) as server:
        for seed in range(300):
            calls = calls_of(Random(seed))
            said = may_be_allowed(model, calls)
            assert said == (server.replay(calls).kind == "ok"), [str(call) for call in calls]
            allowed += said
            refused += not said
    assert min(allowed, refused) >= 50


def test_what_cannot_be_predicted_may_be_allowed() -> None:
    model = load_model("lingeling")
    ask = [Call("sat", ()), Call("failed", (1,))]
    plain = [Call("init", ()), Call("assume", (1,))]
    assert not may_be_allowed(model, [*plain, *ask])
    assert may_be_allowed(model, [*plain, Call("simp", (1,)), Call("failed", (1,))])
    many = [Call("add", (literal,)) for variable in range(1, 10) for literal in (variable, 0)]
    assert may_be_allowed(model, [*plain, *many, *ask])
    assert not may_be_allowed(model, [*plain, *many[:4], *ask])
    long = [call for _ in range(30) for call in (Call("add", (1,)), Call("add", (0,)))]
    assert may_be_allowed(model, [*plain, *long, *ask])


def test_what_only_the_solver_could_allow_is_not_unless_it_was_there_before() -> None:
    """A look-ahead returns a literal that may be used from then on, nobody knows which."""
    model = load_model("lingeling")
    begin = [Call("init", ()), Call("add", (1,)), Call("add", (0,)), Call("lkhd", ())]
    freeze, other = Call("freeze", (1,)), Call("freeze", (2,))
    assert may_be_allowed(model, begin)
    assert not may_be_allowed(model, [*begin, freeze])
    assert may_be_allowed(model, [*begin, other])  # no variable of the formula
    assert doubted(model, [*begin, freeze, other]) == {freeze}
    assert may_be_allowed(model, [*begin, freeze], {freeze})
