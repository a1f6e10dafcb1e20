"""Trees: level by level (hdd and the other classics) and from the top down (adaptive)."""

from collections.abc import Callable, Mapping, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reducekit.change import Change, Edit
from reducekit.search.problem import NOTHING, Items, Move, Selection, Tree, independent
from reducekit.search.strategy import Strategy
from reducekit.strategies.adaptive import adaptive
from reducekit.strategies.ddmin import ddmin
from reducekit.strategies.halving import halving
from reducekit.strategies.perses import perses
from reducekit.strategies.thesis import hdd
from reducekit.strategies.vulcan import vulcan

STRATEGIES = (adaptive, ddmin, halving, hdd, perses, vulcan)
every = pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda strategy: strategy.name)


class Nodes(Tree):
    """A tree by the children of each node; a node can go with all below it."""

    def __init__(self, below: Mapping[int, Sequence[int]], roots: Sequence[int] = (0,)) -> None:
        self.below = below
        self.roots = roots
        self.opened: list[int] = []

    def subtree(self, node: int) -> list[int]:
        found = [node]
        for each in found:
            found.extend(self.below.get(each, ()))
        return found

    def weight(self, node: int) -> int:
        return len(self.subtree(node))

    def moves(self, node: int) -> Sequence[Move]:
        return [Move(Change((Edit(node, ()),)), ())]

    def parts(self, node: int) -> Items | None:
        return None

    def children(self, node: int, dropped: Selection = NOTHING) -> Sequence[int]:
        self.opened.append(node)
        return self.below.get(node, ())


def reduce(
    tree: Nodes, strategy: Strategy, interesting: Callable[[frozenset[int]], bool]
) -> tuple[frozenset[int], int]:
    """Search a tree; return the nodes that stay, and how often the oracle ran."""
    gone: set[int] = set()
    whole = {node for root in tree.roots for node in tree.subtree(root)}
    verdicts: dict[frozenset[int], bool] = {frozenset(whole): False}  # nothing wins nothing
    search = strategy.start(tree)
    while (change := search.propose()) is not None:
        more = {below for edit in change.edits for below in tree.subtree(edit.node)}
        kept = frozenset(whole - gone - more)
        if kept not in verdicts:
            verdicts[kept] = interesting(kept)
        ok = verdicts[kept] and not more <= gone
        gone |= more if ok else set()
        search = search.after(ok)
    return frozenset(whole - gone), len(verdicts) - 1


# 0 ( 1 ( 2 3 ) 4 ( 5 ( 6 7 ) 8 ) 9 ( 10 11 ) )
SMALL = {0: (1, 4, 9), 1: (2, 3), 4: (5, 8), 5: (6, 7), 9: (10, 11)}


@pytest.mark.parametrize(
    ("strategy", "runs"),
    [(adaptive, 10), (ddmin, 11), (halving, 12), (hdd, 11), (perses, 10)],
    ids=lambda value: value.name if isinstance(value, Strategy) else "",
)
def test_only_the_paths_to_what_is_needed_stay(strategy: Strategy, runs: int) -> None:
    left, count = reduce(Nodes(SMALL), strategy, lambda kept: kept >= {7, 9})
    assert left == {0, 4, 5, 7, 9}
    assert count == runs


@every
def test_nothing_stays_when_nothing_is_needed(strategy: Strategy) -> None:
    tree = Nodes(SMALL)
    assert reduce(tree, strategy, lambda kept: True) == (frozenset(), 1)
    assert tree.opened == []


@every
def test_a_level_is_left_before_the_next_is_opened(strategy: Strategy) -> None:
    """Nothing below a node that went is looked at."""
    tree = Nodes(SMALL)
    left, _ = reduce(tree, strategy, lambda kept: kept >= {10})
    assert left == {0, 9, 10}
    assert {1, 4, 2, 5}.isdisjoint(tree.opened)


class Shelves(Nodes):
    """A tree whose nodes cannot go, but drop what is directly below them."""

    def moves(self, node: int) -> Sequence[Move]:
        return ()

    def parts(self, node: int) -> Items | None:
        below = [Change((Edit(each, ()),)) for each in self.below.get(node, ())]
        return independent(below)

    def children(self, node: int, dropped: Selection = NOTHING) -> Sequence[int]:
        below = super().children(node)
        return [each for number, each in enumerate(below) if number not in dropped]


def test_a_node_that_stays_drops_its_parts_before_it_is_opened() -> None:
    tree = Shelves(SMALL)
    left, runs = reduce(tree, adaptive, lambda kept: kept >= {0, 7, 9})
    assert left == {0, 4, 5, 7, 9}
    assert tree.opened == [0, 4, 9, 5, 7]  # never 1, which went as a part of 0
    assert runs == 10


@every
def test_several_roots_and_a_tree_without_any(strategy: Strategy) -> None:
    left, _ = reduce(Nodes(SMALL, (1, 4, 9)), strategy, lambda kept: 3 in kept)
    assert left == {1, 3}
    assert reduce(Nodes({}, ()), strategy, lambda kept: True) == (frozenset(), 0)


@every
@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_any_tree_comes_down_to_the_needed_paths(strategy: Strategy, data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 25))
    above = [data.draw(st.integers(0, node - 1)) for node in range(1, count)]
    below: dict[int, list[int]] = {}
    for node, parent in enumerate(above, 1):
        below.setdefault(parent, []).append(node)
    needed = data.draw(st.frozensets(st.integers(0, count - 1)))
    paths = set()
    for each in needed:
        node = each
        while node not in paths:
            paths.add(node)
            node = above[node - 1] if node else 0
    left, _ = reduce(Nodes(below), strategy, lambda kept: kept >= needed)
    assert left == paths
