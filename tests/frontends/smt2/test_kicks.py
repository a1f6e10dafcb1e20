"""Thorough effort: random steps beyond a local minimum, the same ones each time."""

from random import Random

import pytest

from reducekit.api import reduce
from reducekit.events import Accepted, Checked, Event, PassStarted
from reducekit.format import Effort
from reducekit.frontends.smt2 import Smt2
from reducekit.frontends.smt2.graph.build import build
from reducekit.frontends.smt2.graph.listing import list_commands
from reducekit.frontends.smt2.graph.moves import to_fresh
from reducekit.frontends.smt2.graph.printing import Style
from reducekit.frontends.smt2.graph.site import Material, Site
from reducekit.frontends.smt2.language.parser import parse
from reducekit.frontends.smt2.language.validity import problems
from reducekit.frontends.smt2.language.view import ScriptView
from reducekit.frontends.smt2.passes.thorough import KICKS, _together, other_operator

SCRIPT = b"""(declare-fun a () (_ BitVec 4))
(declare-fun b () (_ BitVec 4))
(declare-fun p () Bool)
(assert (let ((x (bvadd a (bvmul b #x3))) (y (bvnot a)))
  (and (bvult (bvand x y) (bvor x b)) (or p (= (bvxor y x) (bvadd #x5 b))))))
(check-sat)
"""


def interesting(text: bytes) -> bool:
    """Accept what has no `or` but three operators, or an `or` below two others.

    From the second there is no way down to the first but over a larger text.
    """
    document = parse(text)
    depth: dict[int, int] = {0: 0}
    heads = {}
    for node in range(1, len(document)):
        depth[node] = depth[document.parent[node]] + 1
        if document.stop[node] > node + 1:
            heads[node] = document.source(node + 1)
    if b"xor" in heads.values():
        return len(text) < 40
    return any(head == b"or" and depth[node] >= 3 for node, head in heads.items())


def run(effort: Effort, width: int = 1) -> tuple[bytes, int, list[Event]]:
    events: list[Event] = []
    report = reduce(
        SCRIPT, interesting, format=Smt2(), effort=effort, width=width, listen=events.append
    )
    return report.text, report.counts.checks, events


def test_thorough_is_no_larger_and_the_same_each_time() -> None:
    normal, few, _ = run("normal")
    thorough, many, events = run("thorough")
    assert len(thorough) <= len(normal)
    assert many > few
    assert (thorough, many) == run("thorough")[:2]
    sizes = [len(event.text) for event in events if isinstance(event, Accepted)]
    assert sizes == sorted(sizes, reverse=True), "what is larger is never told"
    assert "kicks" in {event.name for event in events if isinstance(event, PassStarted)}


def test_kicks_that_succeed_are_not_the_best_text_unless_they_are_smaller() -> None:
    _, _, events = run("thorough")
    best, larger = len(SCRIPT), 0
    for event in events:
        if isinstance(event, Checked) and event.interesting and event.size > best:
            larger += 1
        if isinstance(event, Accepted):
            best = len(event.text)
    assert larger > 0


@pytest.mark.slow
def test_thorough_works_with_several_candidates_in_flight() -> None:
    first, second = run("thorough", width=3), run("thorough", width=3)
    assert first[:2] == second[:2]
    assert interesting(first[0])


@pytest.mark.parametrize("kick", KICKS, ids=lambda kick: kick.__name__)
def test_kicks_are_well_sorted(kick: object) -> None:
    view = Smt2().parse(SCRIPT)
    graph = build(view)
    moves = Site(graph, Material(view))
    listing = list_commands(graph, Style.SHORTEST)
    texts = set()
    for seed in range(60):
        candidate = kick(moves, Random(seed))  # type: ignore[operator]
        if candidate is not None:
            printed, _ = listing.printed_again(
                candidate.graph, Style.SHORTEST, candidate.replaced, range(len(listing.commands))
            )
            texts.add(printed.whole())
    assert texts
    assert [text for text in texts if problems(ScriptView(parse(text)))] == []


def test_a_minus_before_one_number_stays_one() -> None:
    graph = build(Smt2().parse(b"(declare-fun x () Int)\n(assert (= x (- x)))\n"))
    moves = Site(graph, Material(Smt2().parse(b"(declare-fun x () Int)\n")))
    heads = set()
    for seed in range(200):
        found = other_operator(moves, Random(seed))
        if found is not None:
            heads |= {found.graph.shape[new].head for new in found.replaced.values()}
    assert heads == {b"distinct"}


def test_two_steps_at_once_make_no_two_variables_of_one_name() -> None:
    text = b"(assert (= (concat #b01 #b10) #b0110))\n(assert (= (+ 7 8) (* 7 9)))\n"
    graph = build(Smt2().parse(text))
    moves = Site(graph, Material(Smt2().parse(text)))
    made = [found for node in moves.nodes for found in to_fresh(moves, node, 0)]
    assert len(made) > 2
    assert not any(_together(graph, one, other) for one in made for other in made)
