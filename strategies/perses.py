"""Perses: the heaviest node of a syntax tree first (Sun, Li, Zhang, Gu, Su, ICSE 2018).

A queue holds the nodes by their weight, the number of tokens. The heaviest is taken out: a
node that is a list of any number of others is minimised by ddmin over these; any other is
replaced by nodes below it that may stand in its place. The remaining nodes below go into the queue.
That is the search of `topdown`, with ddmin for the lists. What the nodes of a text are, and
the tree of the format says which node may replace which: by the syntax alone.
"""

from __future__ import annotations

from reducekit.search.strategy import Strategy
from reducekit.strategies.ddmin import ddmin, over_items
from reducekit.strategies.topdown import top_down

perses = Strategy(
    "perses", over_items, lambda tree: top_down(tree, over_items), ddmin.graph, "syntax"
)
