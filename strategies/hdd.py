"""HDD: ddmin on each level of a tree, from the roots down (Misherghi and Su, ICSE 2006)."""

from __future__ import annotations

from reducekit.strategies.ddmin import over_items, over_tree
from reducekit.strategies.graph import strategy
from reducekit.strategies.hierarchical import hierarchical

hdd = strategy("hdd", hierarchical, over_items, tree=over_tree, passes="tree")
