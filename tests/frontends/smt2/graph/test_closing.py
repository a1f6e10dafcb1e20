"""What each closing move makes of a small script."""

from __future__ import annotations

import pytest

from reducekit.frontends.smt2 import Smt2
from reducekit.frontends.smt2.graph.build import build
from reducekit.frontends.smt2.graph.closing import CLOSING
from reducekit.frontends.smt2.graph.listing import list_commands
from reducekit.frontends.smt2.graph.moves import Material, Moves
from reducekit.frontends.smt2.graph.printing import Style

INTS = "(declare-fun a () Int)\n"
VECTORS = "(declare-fun v () (_ BitVec 8))\n(declare-fun w () (_ BitVec 8))\n"
FUNCTION = "(define-fun f ((x Int) (y Int)) Int (+ x (* y x)))\n"


def made(name: str, text: str) -> list[str]:
    """Return what the candidates of a closing move make of a script."""
    view = Smt2().parse(text.encode())
    graph = build(view)
    assert graph is not None
    moves = Moves(graph, Material(view.terms))
    listing = list_commands(graph, Style.SHORTEST)
    everything = range(len(listing.commands))
    return [
        listing.printed_again(candidate.graph, Style.SHORTEST, candidate.replaced, everything)[0]
        .whole()
        .decode()
        for candidate in dict(CLOSING)[name](moves)
    ]


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("inline", FUNCTION + INTS + "(assert (= (f 1 a) 2))", "(assert (= (+ 1 (* a 1)) 2))"),
        (
            "inline",
            FUNCTION + "(assert (= (f (f 1 2) 3) 4))",
            FUNCTION + "(assert (= (f (+ 1 (* 2 1)) 3) 4))",
        ),
        (
            "inline",
            "(define-fun g ((x Int)) Bool (exists ((y Int)) (= x y)))\n"
            "(assert (forall ((y Int)) (g y)))",
            "(assert (forall ((y Int)) (exists ((a Int)) (= y a))))",
        ),
        (
            "nested",
            "(assert (forall ((x Int)) (forall ((y Int)) (< x y))))",
            "(assert (forall ((x Int) (y Int)) (< x y)))",
        ),
        (
            "indices",
            "(declare-fun v () (_ BitVec 8))\n(assert (= v ((_ rotate_left 5) v)))",
            "(declare-fun v () (_ BitVec 8))\n(assert (= v ((_ rotate_left 0) v)))",
        ),
        ("indices", "(assert ((_ divisible 9) 3))", "(assert ((_ divisible 4) 3))"),
    ],
)
def test_a_closing_move(name: str, before: str, after: str) -> None:
    found = made(name, before)
    assert (INTS + after if INTS in before else after) in found, found


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("inline", "(define-fun-rec f ((x Int)) Int (f x))\n(assert (= (f 1) 2))"),
        ("nested", "(assert (forall ((x Int)) (forall ((x Int)) (= x x))))"),
        ("nested", "(assert (forall ((x Int)) (exists ((y Int)) (= x y))))"),
        ("indices", "(assert (= #b1 ((_ extract 0 0) #b11)))"),
    ],
)
def test_where_there_is_no_such_move(name: str, text: str) -> None:
    assert made(name, text) == []


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("values", "(= v (bvadd #x07 #xff))", "(= v #x06)"),
        ("values", "(= v (concat #b0000 (bvnot #x3)))", "(= v (concat #b0000 #xc))"),
        ("values", "(= v ((_ zero_extend 4) #xf))", "(= v #x0f)"),
        ("values", "(and true (bvult #x3 #x2))", "(and true false)"),
        ("shorter", "(not (bvult v w))", "(bvuge v w)"),
        ("shorter", "(= #b1 (ite (= v w) #b1 #b0))", "(= #b1 (bvcomp v w))"),
        ("shorter", "(= v (bvnand w w))", "(= v (bvnot w))"),
        ("shorter", "(= ((_ zero_extend 8) v) ((_ zero_extend 8) w))", "(= v w)"),
        ("shorter", "(= #b1 ((_ extract 9 9) (concat v w)))", "(= #b1 ((_ extract 1 1) v))"),
        ("shorter", "(= v ((_ extract 7 0) (concat v w)))", "(= v w)"),
        (
            "shorter",
            "(= #b1 ((_ extract 0 0) ((_ extract 5 3) v)))",
            "(= #b1 ((_ extract 3 3) v))",
        ),
        ("eliminate", "(and (= v #x01) (bvult v w))", "(and (= #x01 #x01) (bvult #x01 w))"),
    ],
)
def test_a_rewrite(name: str, before: str, after: str) -> None:
    """Declarations that are not used any more have gone."""
    found = [text.splitlines()[-1] for text in made(name, f"{VECTORS}(assert {before})")]
    assert f"(assert {after})" in found, found
