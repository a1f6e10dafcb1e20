"""What each of our own passes does by itself: a script, what has to stay, and what comes out."""

import re
from collections.abc import Mapping
from typing import Any

import pytest

from reducekit.executors.executor import InProcess
from reducekit.format import Frontend, Pass, Schedule
from reducekit.frontends.smt2 import Smt2
from reducekit.frontends.smt2.language.constants import shortest
from reducekit.frontends.smt2.language.view import ScriptView
from reducekit.frontends.smt2.passes.declarations import (
    declare,
    inline,
    members,
    parameters,
    recursive,
)
from reducekit.frontends.smt2.passes.drop import DropBackward, Scopes
from reducekit.frontends.smt2.passes.lists import (
    attributes,
    pattern_terms,
    queried_terms,
    queries,
    tactics,
)
from reducekit.frontends.smt2.passes.sorts import (
    Sorts,
    abbreviations,
    instances,
    sort_parameters,
    unused,
)
from reducekit.frontends.smt2.passes.spelling import Layout, Rename, spelling
from reducekit.frontends.smt2.passes.syntax import Untyped
from reducekit.reduction import Reduction
from reducekit.run import Limits
from reducekit.search.strategy import Passes
from reducekit.strategies.adaptive import adaptive


class Single(Frontend):
    """The frontend with one pass."""

    name = "smt2"
    suffix = ".smt2"
    strict = False

    def __init__(self, each: Pass) -> None:
        self.each = each

    def parse(self, text: bytes) -> ScriptView:
        return Smt2().parse(text)

    def schedule(self, passes: Passes) -> Schedule:
        if isinstance(self.each, Layout):
            return Schedule(rounds=(), prepare=(self.each,))
        return Schedule(rounds=(self.each,))

    def order(self, text: bytes) -> Any:
        return Smt2().order(text)

    def measure(self, view: ScriptView) -> Mapping[str, int]:
        return Smt2().measure(view)


CASES: list[tuple[Pass, str, str, str]] = [
    (
        Layout(),
        '; a comment\n( assert\n\t(= |a b| ; (\n "x  y" ) )\r\n(exit)\n',
        "=",
        '(assert (= |a b| "x  y"))\n(exit)\n',
    ),
    (
        DropBackward(),
        "(declare-fun a () Int)\n(declare-fun b () Int)\n(assert (> b 1))\n(assert (> a 1))\n",
        "> a",
        "(declare-fun a () Int)\n(assert (> a 1))\n",
    ),
    (
        DropBackward(),
        "(push 1)\n(declare-fun a () Int)\n(assert (> a 1))\n(pop 1)\n(check-sat)\n",
        "check-sat",
        "(check-sat)\n",
    ),
    (
        Scopes(),
        "(push 1)\n(push 1)\n(assert false)\n(pop 1)\n(check-sat)\n(pop 1)\n",
        "check-sat",
        "(push 1)\n(check-sat)\n(pop 1)\n",
    ),
    (
        Sorts(b"Int"),
        "(declare-sort Element 0)\n(declare-fun f (Element) Element)\n"
        "(assert (forall ((x Element)) (= (f x) x)))",
        "f x",
        "(declare-fun f (Int) Int)\n(assert (forall ((x Int)) (= (f x) x)))",
    ),
    (
        Sorts(b"Int"),
        "(declare-sort P 2)\n(declare-const a (P Int (P Bool Bool)))\n(assert (= a a))",
        "=",
        "(declare-const a Int)\n(assert (= a a))",
    ),
    (
        abbreviations,
        "(define-sort Word () Int)\n(define-sort Both (X) (Array X X))\n"
        "(define-sort Map (Y) (Array Y Word))\n(declare-fun f (Word (Both (Map Word))) Word)\n"
        "(assert (= f ((as const (Map Word)) 0)))",
        "f",
        "(declare-fun f (Int (Array (Array Int Int) (Array Int Int))) Int)\n"
        "(assert (= f ((as const (Array Int Int)) 0)))",
    ),
    (
        abbreviations,
        "(define-sort W () (_ BitVec 8))\n(declare-fun f (W W W W W) W)\n(assert (= f f))",
        "f",
        "(define-sort W () (_ BitVec 8))\n(declare-fun f (W W W W W) W)\n(assert (= f f))",
    ),
    (
        sort_parameters,
        "(declare-sort P 2)\n(declare-fun f ((P Int Bool)) (P Int (P Int Int)))\n",
        "P",
        "(declare-sort P 0)\n(declare-fun f (P) P)\n",
    ),
    (
        sort_parameters,
        "(define-sort M (X Y) (Array X Y))\n(declare-const m (M Int Bool))\n"
        "(declare-const n (M Bool Bool))\n(assert (= m m))",
        "M",
        "(define-sort M (X) (Array X Bool))\n(declare-const m (M Int))\n"
        "(declare-const n (M Bool))\n(assert (= m m))",
    ),
    (
        instances,
        "(declare-datatypes ((L 1)) ((par (X) ((nil) (cons (hd X) (tl (L X)))))))\n"
        "(assert ((_ is cons) (as nil (L Int))))",
        "cons",
        "(declare-datatypes ((L 0)) (((nil) (cons (hd Int) (tl L)))))\n"
        "(assert ((_ is cons) (as nil L)))",
    ),
    (
        instances,
        "(declare-datatype L (par (X) ((nil) (cons (hd X) (tl (L (Array X X)))))))\n"
        "(declare-datatype P (par (X Y) ((mk (one X) (two Y)))))\n"
        "(declare-const p (P Int Int))\n(declare-const q (P Int Bool))\n(assert (= p p))",
        "p p",
        "(declare-datatype L (par (X) ((nil) (cons (hd X) (tl (L (Array X X)))))))\n"
        "(declare-datatype P (par (X Y) ((mk (one X) (two Y)))))\n"
        "(declare-const p (P Int Int))\n(declare-const q (P Int Bool))\n(assert (= p p))",
    ),
    (
        unused,
        "(declare-fun f (Bool (Seq (Array Int Real))) (_ BitVec 3))\n"
        "(declare-const used (Seq (Array Int Real)))\n(assert (= used used))",
        "declare-fun f.*Array",
        "(declare-fun f (Bool (Array Int Int)) Int)\n"
        "(declare-const used (Seq (Array Int Real)))\n(assert (= used used))",
    ),
    (
        unused,
        "(define-sort S (X) (Array X (Array Int Int)))\n(check-sat)",
        "S",
        "(define-sort S (X) Int)\n(check-sat)",
    ),
    (
        Rename(),
        "(declare-fun |long name| () Int)\n(assert (let ((other |long name|)) (> other a)))",
        ">",
        "(declare-fun b () Int)\n(assert (let ((c b)) (> c a)))",
    ),
    (
        parameters,
        "(declare-fun f (Int Bool Int) Int)\n(assert (= (f 1 true 2) (f (f 3 false 4) true 5)))",
        r"f \(f|f \d",
        "(declare-fun f (Int) Int)\n(assert (= (f 1) (f (f 3))))",
    ),
    (
        parameters,
        "(define-fun g ((x Int) (y Int)) Int (+ x y))\n(assert (= (g 1 2) 3))",
        r"\+",
        "(define-fun g () Int (+ 0 0))\n(assert (= g 3))",
    ),
    (
        parameters,
        "(declare-rel r (Int Bool))\n(declare-var x Int)\n(rule (r x true))\n(query r)",
        "rule",
        "(declare-rel r (Int Bool))\n(declare-var x Int)\n(rule (r x true))\n(query r)",
    ),
    (
        parameters,
        "(declare-rel r (Int Bool))\n(rule (r 1 true))\n(query (r 2 false))",
        "rule",
        "(declare-rel r ())\n(rule r)\n(query r)",
    ),
    (
        parameters,
        "(define-funs-rec ((f ((x Int) (y Int)) Int) (g ((z Int)) Int)) ((g y) (f z 1)))\n"
        "(assert (= (f 1 2) 3))",
        r"= \(f \d\)",
        "(define-funs-rec ((f ((x Int)) Int) (g () Int)) (g (f 0)))\n(assert (= (f 1) 3))",
    ),
    (
        recursive,
        "(define-funs-rec ((f ((x Int)) Int) (g ((z Int)) Int) (h () Bool)) ((f x) (f z) true))\n"
        "(assert (= (f 1) 2))\n(define-fun-rec k () Int 1)\n(assert (= k 1))",
        "f",
        "(define-fun-rec f ((x Int)) Int (f x))\n"
        "(assert (= (f 1) 2))\n(define-fun k () Int 1)\n(assert (= k 1))",
    ),
    (
        recursive,
        "(define-funs-rec ((f ((x Int)) Int) (g ((z Int)) Int)) (0 (f 1)))",
        "define-funs-rec",
        "(define-funs-rec ((f ((x Int)) Int)) (0))",
    ),
    (
        inline,
        "(define-fun seven () Int 7)\n(assert (= seven (mod seven 2)))",
        "mod",
        "(assert (= 7 (mod 7 2)))",
    ),
    (
        declare,
        "(define-fun g ((x Int) (y Bool)) Int (ite y (+ x 1) (* 2 (+ x 17 x))))",
        "g",
        "(declare-fun g (Int Bool) Int)",
    ),
    (
        members,
        "(declare-datatypes ((T 0)) (((nil) (leaf (v Int)) (cons (hd Int) (tl T)))))\n"
        "(declare-const x T)\n(assert (= (hd x) 3))\n(assert (= x (cons 1 x)))",
        "cons 1",
        "(declare-datatypes ((T 0)) (((cons (hd Int)))))\n"
        "(declare-const x T)\n(assert (= (hd x) 3))\n(assert (= x (cons 1)))",
    ),
    (
        members,
        "(declare-datatypes ((E 0) (F 0) (G 0)) (((num (n Int)) (sum (l E) (r E)) (var (v Int)))"
        " ((some (f F)) (none)) ((g (e E)))))\n(declare-const x E)\n(assert ((_ is num) (num 3)))\n"
        "(assert (= 1 (match x (((num k) k) ((sum a b) 0) ((var w) 2)))))",
        "match.*num k.*var",
        "(declare-datatypes ((E 0)) (((num (n Int)) (var))))\n"
        "(declare-const x E)\n(assert ((_ is num) (num 3)))\n"
        "(assert (= 1 (match x (((num k) k) (var 2)))))",
    ),
    (
        members,
        "(declare-datatype T ((c (a Int) (b T)) (d)))\n(assert ((_ is c) (c 1 d)))",
        "is c",
        "(declare-datatype T ((c)))\n(assert ((_ is c) c))",
    ),
    (
        members,
        "(declare-datatypes () ((E a b c)))\n(assert (= a a))",
        "E",
        "(declare-datatypes () ((E a)))\n(assert (= a a))",
    ),
    (
        tactics,
        "(check-sat-using (then (using-params simplify :som true) (or-else qfbv smt)))",
        "smt",
        "(check-sat-using smt)",
    ),
    (
        tactics,
        "(check-sat-using (then (using-params propagate-values :max_rounds 2) (repeat qfnra 3)))",
        r"then [a-z(-]+ .*repeat [a-z]+ 3",
        "(check-sat-using (then skip (repeat skip 3)))",
    ),
    (
        spelling,
        "(set-logic QF_UFLIA)\n(declare-fun a () Int)\n(declare-fun f (Int) Int)",
        "f",
        "(set-logic ALL)\n(declare-const a Int)\n(declare-fun f (Int) Int)",
    ),
    (
        spelling,
        "(assert (= (_ bv5 8) #b00001111 (_ bv1 64)))",
        "=",
        "(assert (= #x05 #b00001111 (_ bv1 64)))",
    ),
    (
        attributes,
        "(assert (! (! true :named a) :named b :weight 3))\n(get-value (a))\n",
        "true",
        "(assert (! true :named a))\n(get-value (a))\n",
    ),
    (
        attributes,
        "(assert (! (exists ((x Int)) (! (= x 1) :pattern ((f x)) :qid q)) :weight 3))\n",
        "qid",
        "(assert (exists ((x Int)) (! (= x 1) :qid q)))\n",
    ),
    (
        pattern_terms,
        "(assert (exists ((x Int)) (! (= x 1) :pattern ((f x) (g x) (h x)) :pattern ((g x) x))))\n",
        r"pattern[^:]*\(h x",
        "(assert (exists ((x Int)) (! (= x 1) :pattern ((h x)) :pattern ((g x)))))\n",
    ),
    (
        queried_terms,
        "(declare-const a Bool)\n(check-sat-assuming (a (not a)))\n(get-value (true false a))\n",
        "get-value",
        "(declare-const a Bool)\n(check-sat-assuming ())\n(get-value (a))\n",
    ),
    (
        queries,
        "(declare-const a Bool)\n(assert-soft a :weight 2)\n(check-sat-assuming (a))\n",
        "check-sat",
        "(declare-const a Bool)\n(assert a)\n(check-sat)\n",
    ),
    (
        spelling,
        "(declare-const a Real)\n(assert (= a (/ 12.0 (+ a 2.50))))\n",
        "2.5",
        "(declare-const a Real)\n(assert (= a (/ 12 (+ a 2.50))))\n",
    ),
    (
        spelling,
        "(declare-fun f (Real) Real)\n(assert (to_int 1.0))\n(assert (= 1.5 (f 1.0)))\n",
        "f 1",
        "(declare-fun f (Real) Real)\n(assert (to_int 1))\n(assert (= 1.5 (f 1)))\n",
    ),
    (
        Scopes(close=False),
        "(push 1)\n(declare-fun a () Int)\n(assert (> a 1))\n(check-sat)\n(pop 1)\n",
        "push",
        "(push 1)\n(declare-fun a () Int)\n(assert (> a 1))\n(check-sat)\n",
    ),
    (
        Scopes(close=False),  # the second a would clash with the first
        "(push 1)\n(declare-fun a () Int)\n(pop 1)\n(push 1)\n(declare-fun a () Int)\n(pop 1)\n",
        r"push[^p]*Int\)\n.pop 1\)\n.push",
        "(push 1)\n(declare-fun a () Int)\n(pop 1)\n(push 1)\n(declare-fun a () Int)\n(pop 1)\n",
    ),
    (Untyped(), "(assert (= (bvudiv #x00 #x00) #x00))", "bvudiv", "bvudiv"),
]


@pytest.mark.parametrize(
    ("each", "before", "stays", "after"),
    CASES,
    ids=[f"{case[0].name}-{i}" for i, case in enumerate(CASES)],
)
def test_pass(each: Pass, before: str, stays: str, after: str) -> None:
    pattern = re.compile(stays.encode())
    with InProcess(lambda text: pattern.search(text) is not None) as executor:
        reduction = Reduction(Single(each), adaptive, executor, lambda seconds: Limits())
        assert reduction.run(before.encode(), 0.0).text.decode() == after


@pytest.mark.parametrize(
    ("value", "width", "text"),
    [
        (0, 1, b"#b0"),
        (5, 8, b"#x05"),
        (1, 64, b"(_ bv1 64)"),
        (300, 8, b"#x2c"),
        (3, 9, b"(_ bv3 9)"),
    ],
)
def test_shortest_literal(value: int, width: int, text: bytes) -> None:
    assert shortest(value, width) == text


@pytest.mark.parametrize(("wanted", "checks"), [(b"needle", 33), (b"(= needle 1)", 35)])
def test_what_is_not_declared_costs_its_neighbours_no_checks_of_their_own(
    wanted: bytes, checks: int
) -> None:
    """Its sort is not known, so neither is that it could stand for the whole `and`."""
    arguments = [b"(> x%d %d)" % (number, number) for number in range(250)]
    arguments[117] = wanted
    text = b"".join(b"(declare-fun x%d () Int)\n" % number for number in range(250))
    text += b"(assert (and %s))\n(check-sat)\n" % b" ".join(arguments)
    with InProcess(lambda each: b"needle" in each) as executor:
        reduction = Reduction(Smt2(), adaptive, executor, lambda seconds: Limits())
        result = reduction.run(text, 0.1)
    assert result.text == b"needle\n"
    assert result.counts.checks == checks
