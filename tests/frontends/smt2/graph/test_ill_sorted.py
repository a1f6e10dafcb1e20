"""Scripts with undeclared names and ill-sorted terms: every move still makes a script."""

import pytest

from reducekit.frontends.smt2 import Smt2
from reducekit.frontends.smt2.graph.build import build
from reducekit.frontends.smt2.graph.closing import CLOSING, LATE, RARE
from reducekit.frontends.smt2.graph.listing import list_commands
from reducekit.frontends.smt2.graph.moves import on_node
from reducekit.frontends.smt2.graph.printing import Style
from reducekit.frontends.smt2.graph.site import Candidate, Material, Site


def printed(text: str) -> list[bytes]:
    """Return what all candidates make of a script."""
    view = Smt2().parse(text.encode())
    graph = build(view)
    moves = Site(graph, Material(view))
    listing = list_commands(graph, Style.SHORTEST)
    everything = range(len(listing.commands))
    found: list[Candidate] = [each for node in moves.nodes for each in on_node(moves, node)]
    found += [each for _, move in (*CLOSING, *LATE, *RARE) for each in move(moves)]
    return [
        listing.printed_again(each.graph, Style.SHORTEST, each.replaced, everything)[0].whole()
        for each in found
    ]


@pytest.mark.parametrize(
    "term",
    [
        # Undeclared: what the width of an operator is to follow from is unknown.
        "(= ((_ extract 1 0) x) (_ bv1 2))",
        "(bvslt ((_ extract 9 0) ((_ zero_extend 29) x)) (_ bv898 10))",
        "(= ((as const (Array Unknown Int)) (ite (= (_ bv3 8) (_ bv1 8)) 1 2)) q)",
        # Operators with more operands than they take, fewer, or none.
        "(= ((_ extract 1 0) #b011 #b011) #b01)",
        "(= ((_ extract 1 0) (_ extract 3 1)) #b01)",
        "(= ((_ extract 0 0) (_ zero_extend 2)) #b1)",
        "(= #b1 (bvcomp (_ zero_extend 3) (_ zero_extend 3)))",
        "(= (seq.nth seq.unit 1) 2)",
        "(= #b1 (ite c))",
        "(= #b1 (bvnot (ite c #b1)))",
        # A quantifier without a body, and an annotation without a term.
        "(forall ((x Int)))",
        "(forall ((x Int)) (!))",
        "(forall ((x Int) (y Inv) (ite z (div x y) 1)))",
        # A let without a body, without bindings, with several values or bodies, or with no name.
        "(let ((x (= 1 2))))",
        "(let x (= 1 2))",
        "(let ((x 1 2)) (= x 2))",
        "(let ((x 1)) (= x 2) (= x 3))",
        "(let (((f y) 1)) (= 1 2))",
        "(let ((x (let ((y 1))))) (= x x))",
        "(exists ((x Unknown) (y Int)) (= x y))",
        "(not (exists ((x Unknown) (y Int)) (= x y)))",
    ],
)
def test_a_term_without_a_sort(term: str) -> None:
    for text in printed(f"(assert {term})\n(assert (or {term} (= (_ bv3 8) (_ bv5 8))))\n"):
        Smt2().parse(text)


def test_an_array_access_without_an_index() -> None:
    declared = "(declare-const a (Array (_ BitVec 8) (_ BitVec 8)))\n"
    assert printed(declared + "(assert (= (select a) (store a #x01) #x02))\n")


def test_a_sort_of_the_users_that_is_called_bitvec() -> None:
    text = "(declare-sort BitVec 1)\n(declare-const x (BitVec Int))\n(assert (= x x #b01))\n"
    assert printed(text)


@pytest.mark.parametrize("digits", ["(_ bv3 20000)", "#x" + "f" * 5000, "(_ bv77 2147483648)"])
def test_a_literal_wider_than_python_prints_numbers(digits: str) -> None:
    assert all(len(each) < 50_000 for each in printed(f"(assert (= x (bvnot {digits})))\n"))


def test_a_name_that_is_no_utf8() -> None:
    text = b"(\xff\xfe 1)\n"
    assert "not a command of the standard" in (Smt2(strict=True).refuses(text) or "")
