"""Variants of scripts: the same query, in another order and with other names."""

import pickle
import re
import subprocess

import pytest

from reducekit.frontends.smt2 import Smt2
from reducekit.frontends.smt2.answers.variants import variant
from reducekit.frontends.smt2.language.parser import parse
from reducekit.frontends.smt2.language.validity import problems
from reducekit.frontends.smt2.language.view import ScriptView
from reducekit.oracle.command import Command

SCRIPT = b"""; first
(set-info :source |f of x|)
(declare-sort S 0)
(declare-datatype L ((nil) (cons (hd S) (tl L))))
(declare-fun |a b| () S)
(assert ((_ is cons) (cons |a b| nil))) ; a remark
(declare-fun f (Int) Int)
(define-fun g ((x Int)) Int (+ (f x) 1))
(assert (> (g 1) (f 1)))
(declare-const x Int)(assert (= x (f x)))
(push 1)
(declare-const y S)
(assert (forall ((x Int)) (! (> (f x) x) :pattern ((f x)) :qid f)))
(assert (= y |a b|))
(check-sat)
(pop 1)
(assert (< (g x) 0))
(assert (< x 7))
(check-sat) (echo "f") ; last
"""


def commands(text: bytes) -> list[bytes]:
    document = parse(text)
    return [document.source(each) for each in document.children(0)]


def test_a_number_makes_the_same_variant_each_time() -> None:
    assert variant(SCRIPT, 0) == SCRIPT
    found = [variant(SCRIPT, number) for number in range(8)]
    assert found == [variant(SCRIPT, number) for number in range(8)]
    assert len(set(found)) == 8
    assert Smt2().variant(SCRIPT, 3) == found[3]


def test_what_is_asked_stays() -> None:
    for number in range(1, 12):
        found = variant(SCRIPT, number)
        assert problems(ScriptView(parse(found)), extensions=True) == []
        names = re.findall(rb"\bv[0-9a-f]{10}\b", found)
        assert len(set(names)) == len({b"S", b"a b", b"f", b"g", b"x", b"y"})
        assert b"|a b|" not in found
        assert found.startswith(b"; first\n(set-info :source |f of x|)")
        assert found.endswith(b'(echo "f") ; last\n')
        asked = [each for each in commands(found) if not each.startswith((b"(assert", b"(de"))]
        assert asked == [
            each for each in commands(SCRIPT) if not each.startswith((b"(assert", b"(de"))
        ]
        first, second, third = re.split(rb"\(push 1\)|\(pop 1\)", found)
        assert [each.count(b"(assert") for each in (first, second, third)] == [3, 2, 2]
        assert re.search(rb":pattern \(\((v\w+) x", second.replace(names[-1], b"x")) is not None
        said = subprocess.run(["z3", "-in"], input=found, capture_output=True).stdout
        assert said == b"unsat\nsat\nf\n"


def test_each_order_of_two_assertions_is_made() -> None:
    text = b"(declare-const x Int)\n(assert (< x 1))\n(assert (> x 1))\n(check-sat)\n"
    orders = {re.findall(rb"[<>]", variant(text, number))[0] for number in range(1, 12)}
    assert orders == {b"<", b">"}


def test_what_is_left_stays_in_its_order() -> None:
    """So what made a run good or bad is likely to be there in a smaller candidate, too."""
    lines = [b"(assert (> x %d))" % number for number in range(20)]
    head, end = b"(declare-const x Int)", b"(check-sat)"
    whole = commands(variant(b"\n".join([head, *lines, end]), 5))
    fewer = commands(variant(b"\n".join([head, *lines[::3], end]), 5))
    assert [each for each in whole if each in fewer] == fewer


def test_names_of_terms_and_of_theories_stay() -> None:
    used = b"(declare-const p Bool)(assert (! p :named n))(assert (not n))(check-sat)"
    for number in range(1, 8):
        assert re.sub(rb"v\w{10}", b"p", variant(used, number)) == used
    text = b"(declare-fun select (Int) Int)(assert (= (select 1) 2))(check-sat)"
    assert variant(text, 1) == text
    tester = b"(declare-datatype T ((c)))(declare-const x T)(assert (is-c x))(check-sat)"
    assert b"(is-c v" in variant(tester, 1)


@pytest.mark.parametrize("text", [b"", b"(assert", b"x", b"(assert p))", b'(echo "', b"; \xff"])
def test_what_is_no_script_is_its_only_variant(text: bytes) -> None:
    assert variant(text, 1) == text


def test_a_deep_term() -> None:
    deep = b"(declare-const p Bool)(assert " + b"(not " * 200_000 + b"p" + b")" * 200_001
    assert len(variant(deep, 1)) == len(deep) + 2 * 10


def test_a_worker_of_a_cluster_makes_the_same_variant() -> None:
    command = Command(("/bin/cat",), variant=3, vary=Smt2().variant)
    assert pickle.loads(pickle.dumps(command)).text(SCRIPT) == variant(SCRIPT, 3)
