"""No bound variable escapes: not in print, and not in any candidate."""

from itertools import islice
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reducekit.frontends.smt2 import Smt2
from reducekit.frontends.smt2.graph.build import build
from reducekit.frontends.smt2.graph.closing import CLOSING, LATE, RARE
from reducekit.frontends.smt2.graph.listing import list_commands
from reducekit.frontends.smt2.graph.model import Graph
from reducekit.frontends.smt2.graph.moves import on_node
from reducekit.frontends.smt2.graph.printing import Style
from reducekit.frontends.smt2.graph.site import Candidate, Material, Site
from reducekit.frontends.smt2.passes.thorough import kick
from tests.frontends.smt2.graph.nests import meaning, script

FRONTEND = Smt2()


KINDS = ((False, 0), (True, 0), (True, 12))
"""Of a graph: whether it keeps the lets of the script, and its number of grains."""


def graph_of(text: bytes, *, as_written: bool = False, grains: int = 0) -> tuple[Graph, Material]:
    """Return the graph of a script."""
    view = FRONTEND.parse(text)
    graph = build(view, as_written=as_written, grains=grains)
    return graph, Material(view)


def ill_sorted(text: bytes) -> list[bytes]:
    """Return the terms of a script that have no sort, or a symbol that nothing declares."""
    view = FRONTEND.parse(text)
    found = view.script
    return [
        view.document.source(node)
        for node in range(len(view.document))
        if found.is_term[node] and found.sort[node] is None
    ]


def candidates(moves: Site) -> list[Candidate]:
    """Return all candidates for a small graph, of the descent and of the closing moves."""
    found = [candidate for node in moves.nodes for candidate in on_node(moves, node)]
    if moves.graph.coarse:
        return found
    for _, closing in (*CLOSING, *LATE, *RARE):
        found += islice(closing(moves), 200)
    for number in range(12):
        kicked = kick(moves, Random(number))
        if kicked is not None:
            found.append(kicked)
    return found


@pytest.mark.parametrize("style", Style)
@given(seed=st.integers(0, 1 << 32))
@settings(max_examples=40, deadline=None)
def test_print_means_what_the_input_means(style: Style, seed: int) -> None:
    text = script(seed)
    assert not ill_sorted(text)
    graph, _ = graph_of(text)
    printed = list_commands(graph, style).whole()
    assert meaning(printed) == meaning(text)
    again = list_commands(graph_of(printed)[0], style).whole()
    assert meaning(again) == meaning(text)


@given(seed=st.integers(0, 1 << 32), grains=st.sampled_from((0, 5, 20)))
@settings(max_examples=40, deadline=None)
def test_a_graph_with_the_lets_is_printed_as_the_script(seed: int, grains: int) -> None:
    text = script(seed)
    graph, _ = graph_of(text, as_written=True, grains=grains)
    printed = list_commands(graph, Style.AS_INPUT).whole()
    assert meaning(printed) == meaning(text)
    assert printed.count(b"(let ") == text.count(b"(let ")


@pytest.mark.slow
@pytest.mark.parametrize(("as_written", "grains"), KINDS)
@given(seed=st.integers(0, 1 << 32))
@settings(max_examples=8, deadline=None)
def test_every_candidate_is_closed_and_well_sorted(
    as_written: bool, grains: int, seed: int
) -> None:
    text = script(seed, depth=4)
    graph, material = graph_of(text, as_written=as_written, grains=grains)
    moves = Site(graph, material)
    style = Style.AS_INPUT if as_written else Style.SHORTEST
    listing = list_commands(graph, style)
    for candidate in candidates(moves):
        standing = moves.analysis.standing(candidate.printed.union(candidate.replaced))
        printed, _ = listing.printed_again(candidate.graph, style, candidate.replaced, standing)
        text = printed.whole()
        assert not ill_sorted(text), (candidate.what, text)


@given(seed=st.integers(0, 1 << 32), choice=st.integers(0, 1 << 16))
@settings(max_examples=25, deadline=None)
def test_what_follows_a_success_is_the_candidate_itself(seed: int, choice: int) -> None:
    """The graph after a success means what the candidate in print means, step after step."""
    graph, material = graph_of(script(seed, depth=4))
    listing = list_commands(graph, Style.SHORTEST)
    for turn in range(4):
        moves = Site(graph, material)
        found = candidates(moves)
        if not found:
            break
        candidate = found[(choice + turn) % len(found)]
        standing = moves.analysis.standing(candidate.printed.union(candidate.replaced))
        listing, _ = listing.printed_again(
            candidate.graph, Style.SHORTEST, candidate.replaced, standing
        )
        graph = candidate.graph.rebuilt(candidate.replaced)
        assert not ill_sorted(listing.whole())
        for command, printed in enumerate(listing.commands):
            if printed is not None:
                alone = list_commands(graph, Style.SHORTEST).commands[command]
                assert alone is not None
                assert meaning(alone.text) == meaning(printed.text)


def test_variables_are_bound_around_a_term_only_if_they_are_at_all_its_places() -> None:
    text = b"""(declare-fun p (Int Int) Bool)
(assert (forall ((x Int)) (and (exists ((y Int)) (p x y)) (exists ((z Int)) (! (p x z)
  :pattern ((p z z)))))))
(assert (= 1 (+ 1 1)))
"""
    graph, material = graph_of(text)
    analysis = Site(graph, material).analysis
    terms = {graph.shape[node].head: node for node in analysis.order}
    x, y, z = (graph.names.index(name) for name in (b"x", b"y", b"z"))
    whole, one = terms[b"and"], terms[b"1"]
    inner = [node for node in analysis.order if graph.shape[node].head == b"p"]
    assert sorted(sorted(analysis.outside(node, whole)) for node in inner) == [[y], [z], [z]]
    assert {frozenset(analysis.outside(node, one)) for node in inner} == {
        frozenset({x, y}),
        frozenset({x, z}),
        frozenset({z}),
    }
    assert all(analysis.outside(node, node) == set() for node in inner)
    assert analysis.free[whole] == {x}
    assert analysis.free[terms[b"forall"]] == frozenset()
    assert analysis.binders
