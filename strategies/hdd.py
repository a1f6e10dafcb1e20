"""HDD: ddmin on each level of a tree, from the roots down (Misherghi and Su, ICSE 2006)."""

from __future__ import annotations

from reducekit.strategies.ddmin import over_items
from reducekit.strategies.graph import strategy
from reducekit.strategies.hierarchical import hierarchical
from reducekit.strategies.levels import level_by_level

hdd = strategy(
    "hdd",
    hierarchical,
    over_items,
    tree=lambda tree: level_by_level(tree, over_items),
    passes="tree",
)
