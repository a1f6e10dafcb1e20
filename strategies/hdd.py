"""HDD: ddmin on each level of a tree, from the roots down (Misherghi and Su, ICSE 2006)."""

from __future__ import annotations

from reducekit.search.problem import Strategy
from reducekit.strategies.ddmin import over_items
from reducekit.strategies.levels import level_by_level

hdd = Strategy("hdd", over_items, lambda tree: level_by_level(tree, over_items))
