"""Makes a strategy of an algorithm that knows only indices: over items, trees and graphs."""

from __future__ import annotations

from collections.abc import Callable

from reducekit.search.problem import Graph, Items, Search, Tree
from reducekit.search.selecting import Selecting, Selector
from reducekit.search.strategy import Strategy
from reducekit.strategies.graph import GraphAlgorithm, Selected, strategy
from reducekit.strategies.levels import level_by_level


def by_selector(name: str, selector: Callable[[int], Selector]) -> Strategy:
    """Return the strategy that searches with `selector(n)`, an algorithm over n indices.

    Trees are searched level by level, graphs over their nodes in depth-first order.
    """

    def over_items(items: Items) -> Selecting:
        return Selecting(items, selector(len(items.weights)))

    def over_tree(tree: Tree) -> Search:
        return level_by_level(tree, over_items)

    def over_graph(graph: Graph) -> GraphAlgorithm:
        nodes = tuple(graph.nodes())
        return Selected(nodes, selector(len(nodes)))

    return strategy(name, over_graph, over_items, tree=over_tree, passes="classic")
