"""The phases of the ddSMT paper: its own example step by step, and each step by itself."""

import pytest

from reducekit.document import Document
from reducekit.events import Accepted, Event
from reducekit.executors.executor import InProcess
from reducekit.format import Pass, Schedule
from reducekit.frontends.smt2 import Smt2
from reducekit.frontends.smt2.language.parser import parse
from reducekit.frontends.smt2.language.script import analyse
from reducekit.frontends.smt2.language.view import ScriptView
from reducekit.frontends.smt2.passes.phases import (
    FreshItems,
    applies,
    is_constant,
    paper_schedule,
    terms_of,
)
from reducekit.reduction import Reduction
from reducekit.run import Limits
from reducekit.search.problem import NOTHING, IndependentChanges
from reducekit.search.strategy import Passes
from reducekit.strategies.halving import halving
from tests.frontends.smt2.paper import FIGURE_1

HEAD = b"(set-logic UFNIA) (declare-sort sort1 0) (declare-fun x () sort1) (declare-fun y () sort1)"

ASKED = {"bitvectors", "ints", "int differences", "reals", "real differences", "arrays"}


class Paper(Smt2):
    """The frontend with the paper's passes and no other."""

    def schedule(self, passes: Passes) -> Schedule:
        return paper_schedule()


def words(text: bytes) -> bytes:
    """Return a text with single blanks."""
    return b" ".join(text.split()).replace(b" )", b")")


def test_the_example_of_the_paper_goes_through_its_figures() -> None:
    steps: list[tuple[str, bytes]] = []

    def listen(event: Event) -> None:
        if isinstance(event, Accepted):
            steps.append((event.pass_name, words(event.text)))

    executor = InProcess(lambda text: b"get-value" in text)
    reduction = Reduction(Paper(), halving, executor, lambda seconds: Limits(), listen=listen)
    result = reduction.run(FIGURE_1.encode(), 0.0)
    tail = b" (check-sat) (get-value (%s)) (exit)"
    let = b"(let ((x 1) (y 1)) (= x y))"
    asserts = b" (assert (= x y)) (assert (forall ((z Int)) (exists ((zz Int)) (= z zz))))"
    assert steps[:5] == [
        ("scopes", HEAD + asserts + tail % let),  # figure 5a
        ("asserts", HEAD + tail % let),  # figure 5b
        ("get-value: Ints to 0", HEAD + tail % b"(let ((x 1) (y 1)) (= 0 0))"),  # figure 6a
        ("get-value: let to body", HEAD + tail % b"(= 0 0)"),  # figure 6b
        ("get-value: Booleans to false", HEAD + tail % b"false"),  # figure 6c
    ]
    assert {name for name, _ in steps[5:]} == {"commands"}
    # Figure 7, and without its check-sat, which the script of figure 4 does not ask for.
    assert words(result.text) == b"(set-logic UFNIA) (get-value (false)) (exit)"


def test_the_order_of_phases() -> None:
    schedule = paper_schedule()
    first, later = ([each.name for each in passes] for passes in (schedule.once, schedule.rounds))
    assert first[:2] == ["scopes", "asserts"]
    assert later[:2] == ["scopes", "commands"]
    assert first[2:] == later[2:]
    assert len(set(later)) == len(later)
    kinds = [name.partition(":")[0] for name in later[2:]]
    assert list(dict.fromkeys(kinds)) == ["define-fun", "assert", "get-value"]
    steps = [name.partition(": ")[2] for name in later if name.startswith("assert:")]
    assert steps == [
        "bit-vectors to 0",
        "bit-vectors to variables",
        "bvor of 0",
        "bvand of ones",
        "Ints to 0",
        "Ints to variables",
        "Reals to 0",
        "Reals to variables",
        "let to body",
        "Booleans to false",
        "Booleans to true",
        "Booleans to variables",
        "or of false",
        "and of true",
        "store to array",
        "ite to left",
        "ite to right",
    ]


def phase(name: str) -> Pass:
    (found,) = (each for each in paper_schedule().rounds if each.name == name)
    return found


def each_change(name: str, text: bytes) -> list[bytes]:
    """Return the text after each single substitution of a phase."""
    view = ScriptView(parse(text))
    items = phase(name).problem(view)
    if items is None:
        return []
    assert isinstance(items, IndependentChanges | FreshItems)
    changes = (items.change(frozenset((item,)), NOTHING) for item in range(len(items.weights)))
    return [view.document.render(dict(change.edits)) for change in changes]


def variants(template: str, *fillings: str) -> list[bytes]:
    return [template.replace("@", filling).encode() for filling in fillings]


BV = "(declare-fun a () (_ BitVec 4))(assert (= a @))"


@pytest.mark.parametrize(
    ("step", "template", "term", "results"),
    [
        ("bit-vectors to 0", BV, "(bvadd #x1 #xf)", ["#x0"]),
        ("bvor of 0", BV, "(bvor #b0000 a)", ["a"]),
        ("bvor of 0", BV, "(bvor a #x0)", ["a"]),
        ("bvor of 0", BV, "(bvor (_ bv0 4) a)", ["a"]),
        ("bvor of 0", BV, "(bvor #x1 a)", []),
        ("bvor of 0", BV, "(bvor #x0 a a)", []),
        ("bvor of 0", BV, "(bvor #x0 #x0)", ["#x0"]),
        ("bvand of ones", BV, "(bvand #xF a)", ["a"]),
        ("bvand of ones", BV, "(bvand a #b1111)", ["a"]),
        ("bvand of ones", BV, "(bvand (_ bv15 4) a)", ["a"]),
        ("bvand of ones", BV, "(bvand (_ bv1 4) a)", []),
        ("bvand of ones", BV, "(bvand #b0111 a)", []),
        ("Ints to 0", "(assert (= 7 @))", "(+ 1 2)", ["0"]),
        ("Ints to 0", "(assert (= 7 @))", "(- 5)", []),
        ("Reals to 0", "(assert (= 7.5 @))", "(+ 1.5 2.5)", ["0.0"]),
        ("let to body", "(assert @)", "(let ((p true)) false)", ["false"]),
        ("let to body", "(assert @)", "(let ((p true)) (not p))", ["(not false)"]),
        (
            "let to body",
            "(declare-sort U 0)(declare-fun u () U)(assert @)",
            "(let ((v u)) (= v v))",
            ["(= u u)"],
        ),
        ("Booleans to false", "(assert @)", "(not true)", ["false"]),
        ("Booleans to true", "(assert @)", "(not true)", ["true"]),
        ("Booleans to false", "(assert @)", "true", []),
        ("or of false", "(assert @)", "(or false (= 1 1))", ["(= 1 1)"]),
        ("or of false", "(assert @)", "(or (= 1 1) false false)", ["(= 1 1)"]),
        ("or of false", "(assert @)", "(or true (= 1 1))", []),
        ("and of true", "(assert @)", "(and true (= 1 1))", ["(= 1 1)"]),
        ("and of true", "(assert @)", "(and true)", []),
        (
            "store to array",
            "(declare-fun m () (Array Int Int))(assert (= m @))",
            "(store m 1 2)",
            ["m"],
        ),
        ("ite to left", "(assert (= 7 @))", "(ite true 1 2)", ["1"]),
        ("ite to right", "(assert (= 7 @))", "(ite true 1 2)", ["2"]),
    ],
)
def test_what_a_step_does(step: str, template: str, term: str, results: list[str]) -> None:
    (text,) = variants(template, term)
    found = each_change(f"assert: {step}", text)
    assert set(variants(template, *results)) <= set(found)
    assert bool(found) == bool(results)


@pytest.mark.parametrize("kind", ["define-fun", "assert", "get-value"])
def test_each_kind_of_command_by_itself(kind: str) -> None:
    text = b"(define-fun f () Int (+ 1 2))(assert (= f (+ 3 4)))(check-sat)(get-value ((+ 5 6)))"
    term = {"define-fun": b"(+ 1 2)", "assert": b"(+ 3 4)", "get-value": b"(+ 5 6)"}[kind]
    found = each_change(f"{kind}: Ints to 0", text)
    assert text.replace(term, b"0") in found
    others = {b"(+ 1 2)", b"(+ 3 4)", b"(+ 5 6)"} - {term}
    assert all(other in each for each in found for other in others)


def test_a_term_that_is_used_by_its_name_stays() -> None:
    text = b"(assert (! (not true) :named n))(assert (not n))"
    assert each_change("assert: Booleans to false", text) == [
        b"(assert (! false :named n))(assert (not n))",
        b"(assert (! (not true) :named n))(assert false)",
        b"(assert (! (not true) :named n))(assert (not false))",
    ]
    alone = b"(assert (! (not true) :named n))"
    assert each_change("assert: Booleans to false", alone)[0] == b"(assert false)"


def test_patterns_are_left_alone() -> None:
    text = b"(declare-fun f (Int) Int)(assert (forall ((x Int)) (! (= (f x) 7) :pattern ((f x)))))"
    found = each_change("assert: Ints to 0", text)
    assert len(found) == 2
    assert all(b":pattern ((f x))" in each for each in found)


def fresh(text: bytes) -> tuple[Document, FreshItems]:
    view = ScriptView(parse(text))
    items = phase("assert: Ints to variables").problem(view)
    assert isinstance(items, FreshItems)
    return view.document, items


@pytest.mark.timeout(30)
def test_a_pattern_that_is_an_atom_is_passed_over() -> None:
    """In damaged scripts: it ends where the next node begins, and the search went on there."""
    text = b"(assert (! x :pattern z y))(assert ((:pattern z y) x))(assert (:pattern z))"
    script = Smt2().parse(text).script
    found = [script.document.source(node) for node in terms_of(script, (b"assert",))]
    assert b"y" in found
    assert b"z" not in found


def test_fresh_variables_of_one_command_are_declared_together() -> None:
    text = b"(declare-fun v0 () Int)\n(assert (= (+ v0 1) (* (- v0) 2)))\n"
    document, items = fresh(text)
    sum_, product, minus = range(3)
    edits = dict(items.change(frozenset((sum_,)), NOTHING).edits)
    assert document.render(edits) == (
        b"(declare-fun v0 () Int)\n(declare-fun v1 () Int)\n(assert (= v1 (* (- v0) 2)))\n"
    )
    edits |= dict(items.change(frozenset((minus,)), frozenset((sum_,))).edits)
    assert document.render(edits) == (
        b"(declare-fun v0 () Int)\n(declare-fun v1 () Int)\n(declare-fun v3 () Int)\n"
        b"(assert (= v1 (* v3 2)))\n"
    )
    # The variable within a term that goes is not declared any more.
    edits |= dict(items.change(frozenset((product,)), frozenset((sum_, minus))).edits)
    assert document.render(edits) == (
        b"(declare-fun v0 () Int)\n(declare-fun v1 () Int)\n(declare-fun v2 () Int)\n"
        b"(assert (= v1 v2))\n"
    )


def test_the_variable_of_a_get_value_is_declared_before_the_check_sat() -> None:
    text = b"(push 1)(check-sat)(get-value ((+ 1 2)))(pop 1)(get-value ((+ 3 4)))"
    assert each_change("get-value: Ints to variables", text) == [
        b"(push 1)(declare-fun v0 () Int)\n(check-sat)(get-value (v0))(pop 1)(get-value ((+ 3 4)))",
        b"(push 1)(check-sat)(get-value ((+ 1 2)))(pop 1)(declare-fun v1 () Int)\n(get-value (v1))",
    ]


@pytest.mark.parametrize(
    ("logic", "theories"),
    [
        (b"UFNIA", {"ints"}),
        (b"QF_AUFBV", {"bitvectors", "arrays"}),
        (b"QF_IDL", {"int differences"}),
        (b"AUFLIRA", {"ints", "reals", "arrays"}),
        (b"QF_UF", set()),
        (b"HORN", ASKED),
        (b"\xff", ASKED),
    ],
)
def test_theories_of_logics(logic: bytes, theories: set[str]) -> None:
    script = analyse(parse(b"(set-logic %s)" % logic))
    assert {each for each in ASKED if applies(script, (each,))} == theories


@pytest.mark.parametrize(
    ("term", "expected"),
    [
        (b"true", True),
        (b"#x0F", True),
        (b"(_ bv3 8)", True),
        (b"-5.5", True),
        (b"(- 5)", True),
        (b"(- 5 3)", True),
        (b"(/ 1.0 (- 3.0))", True),
        (b"(+ 1 2)", False),
        (b"(- x)", False),
        (b"(- (- (- 1)))", False),
        (b"(- 1 1 1 1)", False),
        (b"x", False),
        (b"7", False),
        (b"()", False),
        (b"(-)", False),
    ],
)
def test_is_constant(term: bytes, expected: bool) -> None:
    script = analyse(parse(b"(declare-const 7 Int)(get-value (%s))" % term))
    assert is_constant(script, script.commands[-1] + 3) is expected


def test_steps_of_theories_that_the_logic_lacks_are_skipped() -> None:
    term = b"(assert (= (+ 1 2) 3))"
    assert each_change("assert: Ints to 0", b"(set-logic QF_BV)" + term) == []
    assert each_change("assert: Ints to 0", b"(set-logic QF_LIA)" + term) != []
    assert each_change("assert: Ints to 0", b"(set-logic ALL)" + term) != []
    assert each_change("assert: Ints to 0", b"(set-logic)" + term) != []
    assert each_change("assert: Ints to 0", term) != []
