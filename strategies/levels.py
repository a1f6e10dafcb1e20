"""A tree level by level: the nodes of a level are items, and those that stay open the next level.

The frame of hierarchical delta debugging (Misherghi and Su, HDD, ICSE 2006, figure 5), for any
algorithm over items. Taking a node applies its first substitution, the paper's minimal replacement
(section 3.2). `by_selector` makes a strategy of an algorithm that knows only indices.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property

from reducekit.change import Change
from reducekit.search.problem import (
    NOTHING,
    Graph,
    IndependentItems,
    Items,
    Move,
    Search,
    Selection,
    Tree,
)
from reducekit.search.selecting import Selecting, Selector
from reducekit.search.strategy import Strategy
from reducekit.strategies.graph import GraphAlgorithm, Selected, strategy


class Level(IndependentItems):
    """The nodes of one level as items: taking one applies its first move."""

    def __init__(self, tree: Tree, nodes: Sequence[int]) -> None:
        moves = [(node, next(iter(tree.moves(node)), None)) for node in nodes]
        self.nodes: list[int] = [node for node, move in moves if move is not None]
        self.moves: list[Move] = [move for _, move in moves if move is not None]
        self.fixed = [node for node, move in moves if move is None]
        self.tree = tree

    @cached_property
    def weights(self) -> Sequence[int]:
        return [self.tree.weight(node) for node in self.nodes]

    def change(self, chosen: Selection, taken: Selection) -> Change:
        """Return all first moves of the chosen nodes together."""
        changes = [self.moves[item].change for item in sorted(chosen)]
        what = ", ".join(sorted({each.what for each in changes if each.what}))
        return Change(tuple(edit for each in changes for edit in each.edits), what or "level")

    def below(self, taken: Selection) -> list[int]:
        """Return the nodes of the next level."""
        found: list[int] = []
        for item, node in enumerate(self.nodes):
            found.extend(
                self.moves[item].rest if item in taken else self.tree.children(node, NOTHING)
            )
        # Without a move they stay, and what is below them is still to be searched.
        for node in self.fixed:
            found.extend(self.tree.children(node, NOTHING))
        return found


@dataclass(frozen=True, slots=True)
class LevelByLevel(Search):
    """The state: a level and the search over it."""

    over_items: Callable[[Items], Selecting]
    level: Level
    search: Selecting

    def propose(self) -> Change | None:
        return self.search.propose()

    def after(self, ok: bool) -> LevelByLevel:
        """Go on within the level, or with the next one when it is done."""
        return replace(self, search=self.search.after(ok))._settle()

    def _settle(self) -> LevelByLevel:
        level, search = self.level, self.search
        # A level may have nothing to try, as where no node has a move; the next one may.
        while search.propose() is None:
            nodes = level.below(search.taken)
            if not nodes:
                break
            level = Level(level.tree, nodes)
            search = self.over_items(level)
        return replace(self, level=level, search=search)


def level_by_level(tree: Tree, over_items: Callable[[Items], Selecting]) -> Search:
    """Return the search of a tree's levels, each with `over_items`."""
    level = Level(tree, tree.roots)
    return LevelByLevel(over_items, level, over_items(level))._settle()


# Cached: the page says which strategies are alike by whether their functions are the same.
@cache
def items_by(selector: Callable[[int], Selector]) -> Callable[[Items], Selecting]:
    """Return the search of items with `selector(n)`, an algorithm over n indices."""
    return lambda items: Selecting(items, selector(len(items.weights)))


@cache
def graph_by(selector: Callable[[int], Selector]) -> Callable[[Graph], GraphAlgorithm]:
    """Return that algorithm over the nodes of a graph, in depth-first order."""

    def over_graph(graph: Graph) -> GraphAlgorithm:
        nodes = tuple(graph.nodes())
        return Selected(nodes, selector(len(nodes)))

    return over_graph


def by_selector(name: str, selector: Callable[[int], Selector]) -> Strategy:
    """Return the strategy that searches with that algorithm; trees are searched level by level."""
    items = items_by(selector)
    return strategy(name, graph_by(selector), items, tree=lambda tree: level_by_level(tree, items))
