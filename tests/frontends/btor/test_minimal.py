"""Each algorithm by name ends 1-minimal in its own sense, whatever the oracle.

ddmin tries each node of its list alone in the end, HDD each node of a level before it leaves
the level; HDD+, HDD* and deltabtor go on until none of all nodes can become a leaf, and combine,
which ends with changeref, until no edge can be pointed elsewhere. BFS, LW, changeref and
changeref+ by themselves try what there is once, and promise nothing about what a later success
makes possible.
"""

import hashlib
import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import cast

import pytest

from reducekit.document import Patched
from reducekit.frontends.btor import Btor
from reducekit.frontends.btor.generate.generator import Parameters, generate_text
from reducekit.frontends.btor.model.operators import Dialect
from reducekit.frontends.btor.model.reader import read
from reducekit.frontends.btor.model.view import view_of
from reducekit.frontends.btor.passes.line_graph import LineGraph
from reducekit.registry import strategy
from reducekit.search.problem import KINDS, Redirect, Step, Substitute
from reducekit.strategies.graph import Walk
from reducekit.strategies.thesis import Levels

Verdict = Callable[[bytes], bool]
SEEDS = range(4)
DIALECTS = (Dialect.BTOR1, Dialect.BTOR2)
LEAVES = frozenset(
    (b"root", b"var", b"array", b"const", b"zero", b"one", b"ones", b"sort", b"input", b"state")
)


@dataclass(frozen=True)
class Moment:
    """A state of a search: its graph, what leads on from there, and the text so far."""

    walk: Walk
    base: Patched

    @property
    def graph(self) -> LineGraph:
        return cast(LineGraph, self.walk.graph)

    def possible(self, steps: Iterable[Step], verdict: Verdict) -> list[Step]:
        """Return the steps that lead to a smaller text that is interesting."""
        found = []
        for step in steps:
            after = self.graph.apply(step)
            if after is not None and verdict(self.base.render_with(dict(after.change.edits))):
                found.append(step)
        return found


def needs(seed: int, text: bytes) -> Verdict:
    """Return an oracle that wants two operators to be there."""
    operators = {line.split()[1] for line in text.splitlines()} - LEAVES
    wanted = random.Random(seed).sample(sorted(operators), 2)
    return lambda text: all(b" %s " % each in text for each in wanted)


def whim(seed: int, text: bytes) -> Verdict:
    """Return an oracle that says of each text always the same, and nothing else can be known."""
    return lambda text: hashlib.sha256(b"%d" % seed + text).digest()[0] < 90


def moments(name: str, text: bytes, dialect: Dialect, simplify: bool, ok: Verdict) -> list[Moment]:
    """Run an algorithm on a file; return the state before each candidate, and that in the end."""
    view = view_of(read(text, dialect))
    (each,) = Btor(simplify=simplify).schedule(strategy(name).passes).once
    problem = each.problem(view)
    assert problem is not None
    search, base = cast(Walk, strategy(name).start(problem)), Patched(view.document)
    found = [Moment(search, base)]
    while (change := search.propose()) is not None:
        good = ok(base.render_with(dict(change.edits)))
        if good:
            base = base.with_(dict(change.edits))
        search = search.after(good)
        found.append(Moment(search, base))
    return found


def inputs() -> Iterator[tuple[bytes, Dialect, int]]:
    for seed in SEEDS:
        for dialect in DIALECTS:
            yield generate_text(Parameters(seed=seed, nodes=60, dialect=dialect)), dialect, seed


def single(nodes: Iterable[int]) -> list[Step]:
    return [Substitute((node,), kind) for node in nodes for kind in range(KINDS)]


@pytest.mark.parametrize("simplify", [True, False])
@pytest.mark.parametrize("oracle", [needs, whim])
@pytest.mark.parametrize("name", ["hdd+", "hdd*", "deltabtor"])
def test_no_node_can_become_a_leaf(
    name: str, oracle: Callable[[int, bytes], Verdict], simplify: bool
) -> None:
    for text, dialect, seed in inputs():
        ok = oracle(seed, text)
        end = moments(name, text, dialect, simplify, ok)[-1]
        assert end.possible(single(end.graph.nodes()), ok) == []


@pytest.mark.parametrize("simplify", [True, False])
@pytest.mark.parametrize("oracle", [needs, whim])
def test_no_node_with_operands_is_left_that_ddmin_could_cut(
    oracle: Callable[[int, bytes], Verdict], simplify: bool
) -> None:
    """Leaves that it has made may become others: those are no nodes of its list."""
    for text, dialect, seed in inputs():
        ok = oracle(seed, text)
        end = moments("ddmin", text, dialect, simplify, ok)[-1]
        inner = [node for node in end.graph.nodes() if end.graph.degree(node)]
        assert end.possible(single(inner), ok) == []


@pytest.mark.parametrize("oracle", [needs, whim])
def test_hdd_leaves_each_level_1_minimal(oracle: Callable[[int, bytes], Verdict]) -> None:
    levels = 0
    for text, dialect, seed in inputs():
        ok = oracle(seed, text)
        found = moments("hdd", text, dialect, False, ok)
        for here, following in pairwise(found):
            source = here.walk.algorithm
            assert isinstance(source, Levels)
            if _depth(following) == source.depth:
                continue
            # The last candidate of a level may have been a success: look at what came of it.
            graph = following.graph
            members = [node for node in _members(here) if graph.alive(node) and graph.degree(node)]
            assert following.possible(single(members), ok) == []
            levels += bool(members)
    assert levels > len(DIALECTS) * len(SEEDS)


def _depth(moment: Moment) -> int:
    source = moment.walk.algorithm
    return source.depth if isinstance(source, Levels) else -1


def _members(moment: Moment) -> tuple[int, ...]:
    source = moment.walk.algorithm
    assert isinstance(source, Levels)
    return cast(tuple[int, ...], source.inner.members)  # type: ignore[attr-defined]  # Selected


@pytest.mark.parametrize("simplify", [True, False])
@pytest.mark.parametrize("oracle", [needs, whim])
def test_combine_leaves_no_edge_that_could_be_pointed_elsewhere(
    oracle: Callable[[int, bytes], Verdict], simplify: bool
) -> None:
    for text, dialect, seed in inputs():
        ok = oracle(seed, text)
        end = moments("combine", text, dialect, simplify, ok)[-1]
        graph = end.graph
        steps = [
            Redirect(node, position, target)
            for node in graph.lines
            for position in range(graph.degree(node))
            for target in graph.targets(node, position)
        ]
        assert end.possible(steps, ok) == []
