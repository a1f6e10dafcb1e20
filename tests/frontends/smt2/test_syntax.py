"""Perses and Vulcan over scripts: by the syntax alone, with exact counts."""

import pytest

from reducekit.api import reduce
from reducekit.errors import ParseError
from reducekit.frontends.smt2 import Smt2
from reducekit.frontends.smt2.language.parser import parse
from reducekit.frontends.smt2.language.validity import problems
from reducekit.frontends.smt2.language.view import ScriptView
from reducekit.frontends.smt2.passes.syntax import SyntaxTree, identifiers, local, sub_trees, syntax
from reducekit.strategies.perses import perses
from reducekit.strategies.vulcan import vulcan
from tests.frontends.smt2.test_passes import candidates

SCRIPT = b"""(declare-fun a () Int)
(declare-fun b () Int)
(declare-fun f (Int Bool) Int)
(assert (= (+ a (f (* a b 2) true)) (ite (< a b) 7 (f b (> a 1)))))
(assert (forall ((x Int) (y Int)) (< x (+ y b))))
(check-sat)
"""


def is_sorted(text: bytes) -> bool:
    """Tell whether a text is a script in which all terms have sorts."""
    try:
        return problems(Smt2().parse(text)) == []
    except ParseError:
        return False


@pytest.mark.parametrize(
    ("name", "checks", "after"),
    [
        (
            "perses",
            81,
            b"(declare-fun a () Int)\n(declare-fun b () Int)\n(declare-fun f (Int Bool) Int)\n"
            b"(assert (= a (ite (< a b) 7 (f b (> a 1)))))\n",
        ),
        ("vulcan", 267, b"(declare-fun f (Int Bool) Int)\n(assert (= 7 (f 7 (< 7 7))))\n"),
    ],
)
def test_a_script_that_has_to_stay_one(name: str, checks: int, after: bytes) -> None:
    tested: list[bytes] = []

    def check(text: bytes) -> bool:
        tested.append(text)
        return b"(f " in text and b"(< " in text and is_sorted(text)

    assert reduce(SCRIPT, check, strategy=name).text == after
    assert len(tested) == checks  # the input and the empty text included


def test_a_list_is_minimised_and_a_term_becomes_one_below_it() -> None:
    tree = SyntaxTree(ScriptView(parse(b"(assert (f a (g b)))(check-sat)")))
    assert tree.roots == (0,)
    script = tree.parts(0)
    assert script is not None
    assert list(script.weights) == [8, 2]
    application = 3
    shown = [tree.document.render(dict(m.change.edits)) for m in tree.moves(application)]
    assert shown == [
        b"(assert a)(check-sat)",
        b"(assert (g b))(check-sat)",
        b"(assert b)(check-sat)",
    ]
    arguments = tree.parts(application)
    assert arguments is not None
    assert len(arguments.weights) == 2
    assert arguments.change(frozenset((0, 1)), frozenset()).edits == ()


def test_names_are_not_replaced_in_a_circle() -> None:
    text = b"(declare-const a Int)(declare-const b Int)(declare-const p Bool)(assert (< a b 3))"
    found = set(candidates(text, vulcan, identifiers, 1.0))
    assert found == {b"(declare-const b Int)(declare-const p Bool)(assert (< b b 3))"}
    assert len([*candidates(text, vulcan, identifiers, 0.0)]) == 2


def test_a_term_becomes_any_smaller_closed_term_of_its_sort() -> None:
    text = b"(declare-const a Int)(assert (forall ((x Int)) (= (+ x a 2) (* a 5))))"
    found = {each.partition(b"(= ")[2] for each in candidates(text, vulcan, sub_trees, 0.0)}
    assert b"2 (* a 5))))" in found
    assert b"(* a 5) (* a 5))))" in found
    assert not any(each.startswith(b"x ") for each in found)


def test_windows_go_over_all_nodes() -> None:
    text = b"(assert (f a b))"
    found = {*candidates(text, vulcan, local, 0.0)}
    assert b"(assert (f ))" in found or b"(assert (f))" in found
    assert b"" in found
    assert len(found) < 8 * 7


def test_a_reduction_with_perses_has_one_pass() -> None:
    schedule = Smt2().schedule(perses.passes)
    assert list(schedule.rounds) == [syntax]
    assert schedule.closing == ()
    assert [each.name for each in Smt2().schedule(vulcan.passes).closing] == [
        "identifiers",
        "sub-trees",
        "windows",
    ]
