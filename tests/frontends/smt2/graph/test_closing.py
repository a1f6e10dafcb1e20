"""What each closing move makes of a small script."""

import pytest

from reducekit.api import reduce
from reducekit.events import Checked, Event
from reducekit.frontends.smt2 import Smt2
from reducekit.frontends.smt2.graph.build import build
from reducekit.frontends.smt2.graph.closing import CLOSING, LATE, RARE
from reducekit.frontends.smt2.graph.listing import list_commands
from reducekit.frontends.smt2.graph.moves import to_declared
from reducekit.frontends.smt2.graph.printing import Style
from reducekit.frontends.smt2.graph.resort import narrowed
from reducekit.frontends.smt2.graph.site import Material, Site
from reducekit.frontends.smt2.language.validity import problems
from tests.frontends.smt2.test_passes import complaints

INTS = "(declare-fun a () Int)\n"
VECTORS = "(declare-fun v () (_ BitVec 8))\n(declare-fun w () (_ BitVec 8))\n"
FUNCTION = "(define-fun f ((x Int) (y Int)) Int (+ x (* y x)))\n"


def made(name: str, text: str) -> list[str]:
    """Return what the candidates of a closing move make of a script."""
    view = Smt2().parse(text.encode())
    graph = build(view)
    moves = Site(graph, Material(view))
    listing = list_commands(graph, Style.SHORTEST)
    everything = range(len(listing.commands))
    return [
        listing.printed_again(candidate.graph, Style.SHORTEST, candidate.replaced, everything)[0]
        .whole()
        .decode()
        for candidate in dict((*CLOSING, *LATE, *RARE))[name](moves)
    ]


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("edge", INTS + "(assert (< a (* 77 5)))", "(assert (< a (* a 5)))"),
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
            "nested",
            "(assert (forall ((x Int) (y Int) (p Bool)) (=> p (< x y))))",
            "(assert (forall ((x Int) (p Bool)) (=> p (< x x))))",
        ),
        (
            "nested",
            "(assert (forall ((x Int) (y Int)) (=> (= (+ x 1) y) (exists ((z Int)) (< y z)))))",
            "(assert (forall ((x Int)) (=> (= (+ x 1) (+ x 1)) (exists ((z Int)) (< (+ x 1) z)))))",
        ),
        ("exist", INTS + "(assert (< (* a (+ a 1)) (- a)))", "(assert (< (- a) (- a)))"),
        (
            "eliminate",
            "(declare-fun s () (Seq Int))\n(declare-fun t () (Seq Int))\n"
            "(assert (seq.prefixof s t))\n(assert (= (seq.len s) 0))",
            "(declare-fun t () (Seq Int))\n(assert (seq.prefixof (as seq.empty (Seq Int)) t))\n"
            "(assert true)",
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
        ("nested", "(assert (forall ((x Int)) (exists ((y Int)) (< x y))))"),
        ("indices", "(assert (= #b1 ((_ extract 0 0) #b11)))"),
        (
            "widths",  # an ill-sorted script: neither of the two widths is the right one
            "(declare-fun v () (_ BitVec 8))\n(declare-fun w () (_ BitVec 4))\n(assert (= v w))",
        ),
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
        ("shorter", "(= #b1 (ite (= v w) #b1 #b0))", "(= #b1 (bvcomp v w))"),
        ("shorter", "(= v (bvsub w #x01))", "(= v (bvneg w))"),
        ("shorter", "(= v (bvnand w w))", "(= v (bvnot w))"),
        ("shorter", "(= ((_ zero_extend 8) v) ((_ zero_extend 8) w))", "(= v w)"),
        ("shorter", "(= #b1 ((_ extract 9 9) (concat v w)))", "(= #b1 ((_ extract 1 1) v))"),
        ("shorter", "(= v ((_ extract 7 0) (concat v w)))", "(= v w)"),
        ("shorter", "(= #b1 ((_ extract 0 0) ((_ extract 5 3) v)))", "(= #b1 ((_ extract 3 3) v))"),
        (
            "shorter",
            '(str.in_re "x" (re.++ (re.range "a" "b") re.all))',
            '(str.in_re "x" (re.++ re.allchar re.all))',
        ),
        ("eliminate", "(and (= v #x01) (bvult v w))", "(and (= #x01 #x01) (bvult #x01 w))"),
        ("eliminate", "(and (= (bvmul v w) v) (bvult v w))", "(and true (bvult (bvmul #x00 w) w))"),
        ("widths", "(bvugt (bvashr v #x02) #x85)", "(bvugt (bvashr v #x2) #x5)"),
        ("widths", "(bvugt (bvashr v #x02) #x85)", "(bvugt (bvashr v #x2) #xd)"),
        (
            "widths",
            "(= (bv2nat (bvadd v #x03)) (bv2nat ((_ int2bv 8) 7)))",
            "(= (bv2nat (bvadd v #b1)) (bv2nat ((_ int2bv 8) 7)))",
        ),
        (
            "widths",
            "(= v ((_ fp.to_sbv 8) RTZ ((_ to_fp_unsigned 5 11) RNE w)))",
            "(= v ((_ fp.to_sbv 1) RTZ ((_ to_fp_unsigned 5 11) RNE w)))",
        ),
        (
            "widths",
            "(= v ((_ fp.to_sbv 8) RTZ ((_ to_fp_unsigned 5 11) RNE #x0000)))",
            "(= v ((_ fp.to_sbv 8) RTZ ((_ to_fp_unsigned 5 11) RNE #b0)))",
        ),
        (
            "widths",
            "(= (bv2nat (bvadd v #x03)) (bv2nat ((_ int2bv 8) 7)))",
            "(= (bv2nat (bvadd v #x03)) (bv2nat ((_ int2bv 1) 7)))",
        ),
    ],
)
def test_a_rewrite(name: str, before: str, after: str) -> None:
    """Declarations that are not used any more have gone."""
    found = [text.splitlines()[-1] for text in made(name, f"{VECTORS}(assert {before})")]
    assert f"(assert {after})" in found, found


FLOAT = "(declare-fun x () %s)\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        # A relation with a literal goes, and so do the literal and the relation's other sort.
        (
            "(declare-fun f (Int) Int)\n(assert (= 0 (f (f 1))))",
            "(declare-fun f (Bool) Bool)\n(assert (f (f false)))",
        ),
        # A literal that stands elsewhere too may keep its sort there.
        (
            "(declare-fun f (Int) Int)\n(assert (= 0 (f 0)))",
            "(declare-fun f (Int) Bool)\n(assert (f 0))",
        ),
        # What the new sort has no operator for is one of its arguments.
        (
            INTS + "(declare-fun b () Int)\n(assert (< (* a 3) b))",
            "(declare-fun a () Bool)\n(declare-fun b () Bool)\n(assert (= a b))",
        ),
        ("(declare-fun r () Real)\n(assert (> r 1.0))", "(declare-fun r () Int)\n(assert (> r 1))"),
        (
            "(declare-sort S 0)\n(declare-fun s () S)\n(assert (forall ((z S)) (= s z)))",
            "(declare-fun s () Bool)\n(assert (forall ((z Bool)) (= s z)))",
        ),
        # Only the elements of the array.
        (
            INTS + "(declare-fun m () (Array Int Real))\n(assert (= (select m a) (select m 0)))",
            INTS + "(declare-fun m () (Array Int Bool))\n(assert (= (select m a) (select m 0)))",
        ),
        # An array that is only ever an index.
        (
            "(declare-fun m () (Array (Array Int Int) Int))\n"
            "(declare-fun n () (Array Int Int))\n(assert (= (select m n) 7))",
            "(declare-fun m () (Array Bool Int))\n"
            "(declare-fun n () Bool)\n(assert (= (select m n) 7))",
        ),
        # What a sequence holds, at each place.
        (
            "(declare-fun s () (Seq (Seq Real)))\n(declare-fun t () (Seq Real))\n"
            "(assert (= (seq.nth (seq.++ s (seq.unit t) s) 0) (as seq.empty (Seq Real))))",
            "(declare-fun s () (Seq (Seq Bool)))\n(declare-fun t () (Seq Bool))\n"
            "(assert (= (seq.nth (seq.++ s (seq.unit t) s) 0) (as seq.empty (Seq Bool))))",
        ),
        # Whole sequences within a sequence.
        (
            "(declare-fun s () (Seq (Seq Int)))\n"
            "(assert (= (seq.nth s 0) (as seq.empty (Seq Int))))",
            "(declare-fun s () (Seq Bool))\n(assert (seq.nth s 0))",
        ),
        # An array within an array, though nothing is declared.
        (
            "(assert (= (select ((as const (Array Int (Array Int Int))) ((as const (Array Int Int))"
            " 7)) 1) ((as const (Array Int Int)) 8)))",
            "(assert (select ((as const (Array Int Bool)) false) 1))",
        ),
        # A format of fewer bits: about the same values.
        (
            FLOAT % "(_ FloatingPoint 11 53)"
            + "(assert (= x (fp #b1 #b10000000001 (_ bv1 52))))\n(assert (fp.lt x (_ -oo 11 53)))",
            FLOAT % "Float32"
            + "(assert (= x (fp #b1 #x81 (_ bv0 23))))\n(assert (fp.lt x (_ -oo 8 24)))",
        ),
        (
            "(assert (fp.lt (_ +zero 8 24) (fp.neg (_ NaN 8 24))))",
            "(assert (fp.lt (_ +zero 3 5) (fp.neg (_ NaN 3 5))))",
        ),
        (
            '(declare-fun s () String)\n(assert (= s (str.++ s "a")))',
            "(declare-fun s () Int)\n(assert (= s s))",
        ),
        (
            FLOAT % "Float32" + "(assert (forall ((y Float32)) (= y ((_ to_fp 8 24) RNE x))))",
            FLOAT % "(_ FloatingPoint 3 5)"
            + "(assert (forall ((y (_ FloatingPoint 3 5))) (= y ((_ to_fp 3 5) RNE x))))",
        ),
        (
            "(declare-fun v () (_ BitVec 32))\n(declare-fun x () Float32)\n"
            "(assert (= x ((_ to_fp 8 24) v)))",
            "(declare-fun v () (_ BitVec 32))\n(declare-fun x () Float16)\n"
            "(assert (= x ((_ to_fp 5 11) ((_ extract 15 0) v))))",
        ),
    ],
)
def test_terms_of_one_sort_get_another_one_together(before: str, after: str) -> None:
    found = [text for text in made("resort", before) if text == after]
    assert found, made("resort", before)
    assert problems(Smt2().parse(found[0].encode()), extensions=True) == []


HOLDING = """(declare-sort U 0)
(declare-fun s () (Seq (Seq (_ BitVec 8))))
(declare-fun t () (Seq (_ BitVec 8)))
(declare-fun v () (_ BitVec 8))
(declare-fun u () (Seq U))
(declare-fun i () Int)
(declare-fun m () (Array Int (Seq (Array Int Int))))
(assert (= (seq.nth s 0) (seq.extract t 1 i)))
(assert (= (seq.++ s (seq.unit t)) (seq.at s (seq.len s))))
(assert (seq.prefixof (seq.unit (bvadd v #x03)) (seq.nth s i)))
(assert (= (seq.indexof s (seq.replace s s (as seq.empty (Seq (Seq (_ BitVec 8))))) 0) i))
(assert (seq.contains u (as seq.empty (Seq U))))
(assert (= (select (seq.nth (select m 3) 1) i) 7))
(assert (forall ((x (Seq Int)) (y Int)) (=> (seq.contains x (seq.unit y)) (> y (seq.nth x 0)))))
"""


@pytest.mark.parametrize("name", ["resort", "widths"])
def test_what_sequences_hold_gets_another_sort_everywhere(name: str) -> None:
    assert complaints(HOLDING.encode()) == []
    found = made(name, HOLDING)
    assert len(found) > 2
    for text in found:
        assert problems(Smt2().parse(text.encode()), extensions=True) == []
        assert complaints(text.encode()) == [], text


@pytest.mark.parametrize(
    "text",
    [
        "(declare-fun p () Bool)\n(assert p)",
        "(define-fun f ((x Int)) Int x)\n(assert (= (f 1) 2))",  # the command says the sort
        "(declare-fun v () (_ BitVec 8))\n(assert (= v #x00))",  # widths come first
        "(declare-fun a () Int)\n(minimize a)",
    ],
)
def test_where_sorts_stay(text: str) -> None:
    assert made("resort", text) == []


@pytest.mark.parametrize(
    ("bits", "after", "expected"),
    [
        ([0, 127, 0], (5, 11), [0, 15, 0]),  # one
        ([1, 128, 1 << 22], (5, 11), [1, 16, 1 << 9]),  # minus three
        ([0, 255, 0], (3, 5), [0, 7, 0]),  # infinity
        ([0, 255, 1], (3, 5), [0, 7, 1]),  # not a number
        ([0, 254, 5], (3, 5), [0, 6, 15]),  # too large
        ([1, 1, 7], (3, 5), [1, 0, 0]),  # too small
    ],
)
def test_literals_of_a_smaller_format(
    bits: list[int], after: tuple[int, int], expected: list[int]
) -> None:
    assert narrowed(bits, (8, 24), after) == expected


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "(not (exists ((x Int)) (=> (> x a) (< a 3))))",
            "(forall ((x Int)) (and (> x a) (>= a 3)))",
        ),
        ("(not (and p (or q (not (= a 0)))))", "(or (not p) (and (not q) (= a 0)))"),
        ("(not (bvult #x1 #x2))", "(bvuge #x1 #x2)"),
        ("(not (ite p q (distinct a 1)))", "(ite p (not q) (= a 1))"),
        ("(= false (or p q))", "(and (not p) (not q))"),
        ("(= p true)", "p"),
        ("(xor p true)", "(not p)"),
        ("(or (not p) q)", "(=> p q)"),
    ],
)
def test_a_negation_goes_where_it_costs_little(before: str, after: str) -> None:
    head = "(declare-fun a () Int)\n(declare-fun p () Bool)\n(declare-fun q () Bool)\n"
    found = [text.splitlines()[-1] for text in made("negations", f"{head}(assert {before})")]
    assert f"(assert {after})" in found, found


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("(set.member 1 (set.insert 1 2 s))", "(set.member 1 (set.insert 2 s))"),
        ("(set.member 1 (set.insert 1 2 s))", "(set.member 1 (set.insert 1 s))"),
        ("(= 1 (seq.nth (seq.unit 7) 0))", "(= 1 7)"),
    ],
)
def test_sets_and_sequences_get_shorter(before: str, after: str) -> None:
    found = made("shorter", f"(declare-fun s () (Set Int))\n(assert {before})")
    assert f"(assert {after})" in [text.splitlines()[-1] for text in found]


def test_a_quantifier_that_stands_twice_is_not_turned_over() -> None:
    """Its variables would belong to two binders."""
    both = "(assert (let ((e (exists ((x Int)) (= x 1)))) (xor (not e) e)))"
    assert made("negations", both) == []


def test_wide_literals_get_narrower_too() -> None:
    found = made("widths", "(declare-fun v () (_ BitVec 64))\n(assert (= v (_ bv3 64)))")
    assert "(declare-fun v () (_ BitVec 2))\n(assert (= v #b11))" in found


def test_a_variable_of_another_width_is_not_taken_for_one_of_the_old_width() -> None:
    view = Smt2().parse((VECTORS + "(assert (= v #x01))\n(assert (= w #x02))").encode())
    graph = build(view)
    material = Material(view)
    narrow = next(iter(dict(CLOSING)["widths"](Site(graph, material))))
    moves = Site(narrow.graph.rebuilt(narrow.replaced), material)
    for node in moves.nodes:
        for candidate in to_declared(moves, node):
            (other,) = candidate.replaced.values()
            (definition,) = graph.shape[other].uses
            assert moves.sorts_of(definition) == (graph.sort[other],)
    assert {graph.sort[node] for node in moves.nodes} >= {("BitVec", 1), ("BitVec", 8)}


def test_functions_go_together_where_all_can() -> None:
    lines = [f"(define-fun f{n} ((a Int)) Int (+ (* a a) {n}))\n" for n in range(8)]
    calls = " ".join(f"(f{n} {n})" for n in range(8))
    inlined: list[bool] = []

    def listen(event: Event) -> None:
        if isinstance(event, Checked) and event.what == "inline":
            inlined.append(event.interesting)

    def interesting(text: bytes) -> bool:
        return text.count(b"(* ") == 8 and b"(assert (> (" in text

    found = reduce(f"{''.join(lines)}(assert (> {calls}))\n".encode(), interesting, listen=listen)
    assert inlined == [True]
    assert b"define-fun" not in found.text
