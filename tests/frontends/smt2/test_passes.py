"""Every candidate of every pass parses again, and a solver finds nothing wrong with it."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reducekit.api import reduce
from reducekit.change import Template
from reducekit.format import Pass, Schedule
from reducekit.frontends.smt2 import Smt2
from reducekit.frontends.smt2.language.parser import parse
from reducekit.frontends.smt2.language.view import ScriptView
from reducekit.frontends.smt2.passes.drop import (
    CommandItems,
    DropBackward,
    beside_assert,
    idle,
    runs,
    single_assert,
)
from reducekit.frontends.smt2.passes.phases import paper_schedule
from reducekit.frontends.smt2.passes.sorts import (
    Sorts,
    abbreviations,
    instances,
    sort_parameters,
    unused,
)
from reducekit.frontends.smt2.passes.spelling import Layout
from reducekit.frontends.smt2.passes.syntax import Untyped
from reducekit.search.problem import Closure, Search, Selection
from reducekit.search.strategy import Strategy
from reducekit.strategies.adaptive import adaptive
from reducekit.strategies.halving import halving
from tests.frontends.smt2.make_scripts import script


def passes_of(schedule: Schedule) -> list[Pass]:
    """Return all passes of a schedule, each once."""
    each = (*schedule.prepare, *schedule.once, *schedule.rounds, *schedule.closing)
    return list({(one.name, str(getattr(one, "__dict__", one))): one for one in each}.values())


PASSES: list[tuple[Strategy, Pass]] = [
    *((adaptive, each) for each in passes_of(Smt2().schedule("own"))),
    *((halving, each) for each in passes_of(paper_schedule())),
]

SEEDS = range(100, 115)
SAMPLE = 8
"""Candidates of each pass that Z3 is asked about."""


def candidates(
    text: bytes, strategy: Strategy, each: Pass, share: float, seed: int = 0
) -> Iterator[bytes]:
    """Yield what a search over a pass proposes when that share of the smaller texts succeeds.

    Only smaller ones may: that is why every search ends.
    """
    chance = Random(seed)
    order = Smt2().order
    best = text
    view = ScriptView(parse(text))
    problem = each.problem(view)
    if problem is None:
        return
    search = strategy.start(problem)
    accepted: dict[int, Template] = {}
    while (change := search.propose()) is not None:
        edits = accepted | dict(change.edits)
        ok = False
        if change.edits:
            candidate = view.document.render(edits)
            yield candidate
            ok = order(candidate) < order(best) and chance.random() < share
        if ok:
            accepted, best = edits, candidate
        search = search.after(ok)


def unsolved(text: bytes) -> bytes:
    """Return a script that says the same and asks for no solving."""
    document = parse(text)
    lines = []
    for command in document.children(0):
        name, *arguments = (*document.children(command), command)
        word = document.source(name)
        if word in (b"get-value", b"check-sat-assuming"):
            lines += [
                b"(simplify %b)" % document.source(n) for n in document.children(arguments[0])
            ]
        elif word not in (b"check-sat", b"exit"):
            lines.append(document.source(command))
    return b"\n".join(lines)


def complaints(text: bytes) -> list[bytes]:
    """Return what Z3 has to say against a script."""
    # A process for each: Z3 5.4.0 does not survive a few hundred (reset).
    program = Path(sys.executable).parent / "z3"
    run = subprocess.run([program, "-in"], input=unsolved(text), capture_output=True, check=False)
    assert run.returncode in (0, 1), run
    return [line for line in run.stdout.splitlines() if line.startswith(b"(error")]


@pytest.mark.slow
@given(st.randoms(use_true_random=False), st.floats(0, 1))
@settings(max_examples=10, deadline=None)
def test_every_candidate_parses(choose: Random, share: float) -> None:
    text = script(choose)
    for strategy, each in PASSES:
        for candidate in candidates(text, strategy, each, share):
            parse(candidate)


def test_z3_takes_the_scripts_themselves() -> None:
    for seed in SEEDS:
        assert complaints(script(Random(seed))) == []


SORTED = [(strategy, each) for strategy, each in PASSES if each.name != "untyped"]
"""The passes that look at sorts."""


@pytest.mark.parametrize(
    ("strategy", "each"), SORTED, ids=lambda value: getattr(value, "name", str(value))
)
def test_z3_takes_the_candidates(strategy: Strategy, each: Pass) -> None:
    """A candidate with a dangling name or of wrong sorts wastes a run of the oracle."""
    found: list[bytes] = []
    for seed in SEEDS:
        for share in (0.0, 0.4):
            found += candidates(script(Random(seed)), strategy, each, share, seed)
    sample = Random(0).sample(found, min(SAMPLE, len(found)))
    said = {text: complaints(text) for text in sample}
    assert {text: lines for text, lines in said.items() if lines} == {}


NAMED_SORTS = b"""(declare-sort P 2)
(declare-sort U 1)
(define-sort Word () (_ BitVec 8))
(define-sort Mem (X) (Array X Word))
(define-sort Both (X Y) (Array (Mem X) (P Y Word)))
(define-sort Spare (X) (Array X (Array Int X)))
(declare-datatypes ((L 1) (T 2)) ((par (X) ((nil) (cons (hd X) (tl (L X)))))
  (par (X Y) ((leaf) (node (left (T X Y)) (at X) (many Y) (right (T X Y)))))))
(declare-fun f ((Mem Int) (P Int (U Bool))) (Both Int Word))
(declare-fun unused (Word (Array Int (Mem Bool)) (T Int (L Int))) (Seq (Both Int Int)))
(declare-const m (Mem Int))
(declare-const p (P Int (U Bool)))
(declare-const l (L Int))
(declare-const t (T Int (L Int)))
(assert (= (f m p) (f ((as const (Mem Int)) #x00) p)))
(assert (= (tl l) (as nil (L Int)) (many t)))
(assert (forall ((x (Both Int Word)) (y (L Int))) (or (= x (f m p)) ((_ is cons) y))))
(check-sat)
"""


def test_z3_takes_the_candidates_of_scripts_that_name_sorts() -> None:
    passes = (abbreviations, Sorts(b"Int"), sort_parameters, instances, unused)
    for each in passes:
        assert complaints(NAMED_SORTS) == []
        found = [*candidates(NAMED_SORTS, adaptive, each, 0.0)]
        found += candidates(NAMED_SORTS, adaptive, each, 0.6)
        assert len(found) > 1
        for text in Random(0).sample(found, min(SAMPLE, len(found))):
            assert complaints(text) == [], text.decode()


@pytest.mark.parametrize(
    "user",
    [
        b"(define-fun f ((x Bool) (y Bool)) Bool x)\n",
        b"(assert (forall ((x Bool)) (or x true)))\n",
        b"(assert (let ((x true)) x))\n",
    ],
)
def test_a_declaration_goes_whose_name_means_something_bound_below(user: bytes) -> None:
    result = reduce(b"(declare-const x Bool)\n" + user, lambda text: user.strip() in text)
    assert result.text == user


@pytest.mark.parametrize("question", [b"(check-sat)\n", b"(check-sat-assuming (p))\n"])
def test_where_an_answer_is_needed_no_naked_term_is_tried(question: bytes) -> None:
    script = b"(declare-fun p () Bool)\n(assert (not p))\n"
    probe = b"(declare-fun p () Bool)\n(not p)\n"
    assert [*candidates(script, adaptive, Untyped(unchecked=False), 0.0)] == [probe]
    assert [*candidates(script + question, adaptive, Untyped(unchecked=False), 0.0)] == []
    assert probe + question in candidates(script + question, adaptive, Untyped(), 0.0)


COMMENTED = b"(check-sat) ; a comment\n"
BROKEN = b"(assert\n(p))\n(check-sat)\n"
"""A layout that costs no bytes."""


def test_layout_may_be_left_alone_where_it_costs_little() -> None:
    for text, laid_out in ((COMMENTED, b"(check-sat)\n"), (BROKEN, BROKEN.replace(b"t\n", b"t "))):
        assert [*candidates(text, adaptive, Layout(), 1.0)] == [laid_out]
    assert [*candidates(COMMENTED, adaptive, Layout(least=0.1), 1.0)] == [b"(check-sat)\n"]
    assert [*candidates(BROKEN, adaptive, Layout(least=0.1), 1.0)] == []


def test_a_layout_that_costs_nothing_is_mended_without_a_check_of_its_own() -> None:
    script = b"(declare-fun p () Bool)\n(assert\n(and p (not\np)))\n"
    asked: list[bytes] = []

    def check(text: bytes) -> bool:
        asked.append(b" ".join(text.split()))
        return all(word in text for word in (b"(declare-fun", b"(assert", b"(not"))

    assert (
        reduce(script, check, format="smt2").text == b"(declare-fun p () Bool)\n(assert (not p))\n"
    )
    assert asked.count(b" ".join(script.split())) == 1  # the input


def test_a_single_assertion_is_tried_first_then_what_stands_beside_it() -> None:
    used = b"(declare-fun a () Int)\n(assert (> a 1))\n"
    text = b"(set-logic QF_LIA)\n(declare-fun b () Int)\n" + used + b"(check-sat)\n(exit)\n"
    others = b"(set-logic QF_LIA)\n(declare-fun b () Int)\n(check-sat)\n(exit)\n"
    assert [*candidates(text, adaptive, single_assert, 1.0)] == [others]
    assert [*candidates(text, adaptive, beside_assert, 1.0)] == [used]
    for other in (text + b"(assert (< a 1))\n", b"(check-sat)\n"):
        assert [*candidates(other, adaptive, single_assert, 1.0)] == []
        assert [*candidates(other, adaptive, beside_assert, 1.0)] == []


def test_keep_names_keeps_symbols_bound_variables_and_attributes() -> None:
    text = b"""(declare-fun balance (Int) Int)
(declare-fun idle (Int) Int)
(assert (! (forall ((purse Int)) (! (> (balance purse) 0) :qid positive)) :named known))
(assert (! (forall ((coin Int)) (! (< (balance coin) 9) :qid small)) :named bound))
(assert (> (idle 1) 0))
"""

    axiom = rb"\(forall \(\(\S+ Int\)\) .*\(%s \(\S+ \S+\) %s\)"

    def check(candidate: bytes) -> bool:
        return all(re.search(axiom % each, candidate) for each in ((b">", b"0"), (b"<", b"9")))

    kept = reduce(text, check, format=Smt2(strict=True, keep_names=True)).text
    for word in (b"(balance ", b"(purse Int)", b"(coin Int)", b":qid positive", b":qid small"):
        assert word in kept
    assert b"idle" not in kept
    renamed = reduce(text, check, format=Smt2(strict=True)).text
    assert b"balance" not in renamed
    assert b":qid" not in renamed


def test_declarations_that_say_nothing_go_in_one_check() -> None:
    """Those that only such ones use, too; where not all can go, halves, quarters and eighths."""
    used = b"(declare-sort S 0)\n(declare-fun a () S)\n(define-fun b () S a)\n"
    asserted = b"(assert (distinct b a))\n(check-sat)\n(get-value (c))\n"
    chain = b"".join(
        b"(define-fun d%d () S %s)\n" % (k, b"d%d" % (k - 1) if k else b"a") for k in range(40)
    )
    text = used + b"(declare-const c Int)\n" + chain + asserted
    assert [*candidates(text, adaptive, idle, 1.0)] == [
        used + b"(declare-const c Int)\n" + asserted
    ]
    apart = b"".join(b"(declare-const e%d Int)\n" % k for k in range(64))
    lines = [
        each.count(b"declare-const e") for each in candidates(apart + text, adaptive, idle, 0.0)
    ]
    assert (len(lines), min(lines), max(lines)) == (15, 0, 64)
    few = used + b"(declare-const c Int)\n" + b"".join(chain.splitlines(True)[:31]) + asserted
    assert [*candidates(few, adaptive, idle, 1.0)] == []


def test_some_commands_go_at_a_time_where_none_can_go_alone() -> None:
    text = b"(declare-fun a () Int)\n" + b"(minimize a)\n" * 16 + b"(check-sat)\n"

    def check(text: bytes) -> bool:
        count = text.count(b"(minimize")
        return count % 3 == 1 and count > 5 and b"check" in text

    assert reduce(text, check, format="smt2").text.count(b"(minimize") == 7
    for few_or_many in (6, 100):
        other = text.replace(b"(minimize a)\n" * 16, b"(minimize a)\n" * few_or_many)
        assert [*candidates(other, adaptive, runs, 0.0)] == []


def test_an_assertion_is_tried_without_its_declarations_the_last_time_around_only() -> None:
    text = b"(declare-fun a () Int)\n(assert (> a 1))\n(check-sat)\n"
    alone = b"(declare-fun a () Int)\n(check-sat)\n"
    assert alone not in [*candidates(text, adaptive, DropBackward(), 0.0)]
    assert alone in [*candidates(text, adaptive, DropBackward(last=True), 0.0)]


def test_what_requires_a_command_that_was_refuted_is_not_closed() -> None:
    names = [b"(define-fun n%d () Int (+ 1 n%d))\n" % (at, at - 1) for at in range(1, 300)]
    text = b"".join((b"(define-fun n0 () Int 1)\n", *names, b"(assert (> n299 0))\n"))
    closed: list[int] = []

    class Counted(CommandItems):
        def close(self, chosen: Selection, taken: Selection) -> Closure:
            closed.append(len(chosen))
            return super().close(chosen, taken)

    view = Smt2().parse(text)
    items = Counted(view.document, view.commands, range(len(view.commands.nodes)))
    search: Search = adaptive.start(items)
    proposed = []
    while (change := search.propose()) is not None:
        proposed.append(change)
        search = search.after(False)
    assert len(proposed) > 300
    assert len(closed) < 20  # each of them may be of all commands


def test_what_a_command_left_of_itself_goes_with_its_line() -> None:
    script = b"(declare-fun p () Bool)\n(simplify p)\n"
    first = reduce(script, lambda text: b"p)" in text, format="smt2").text
    assert first == b"(p)\n"
    assert reduce(first, lambda text: b"p)" in text, format="smt2").text == first
