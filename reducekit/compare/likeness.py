"""Which algorithms search a file as another does: racing them would show one curve twice.

Every algorithm works on every format, but many only have an idea of their own for trees or for
graphs: on a file of clauses, which is a list, HDD is ddmin.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

from reducekit import registry
from reducekit.frontend import Frontend
from reducekit.passes import Pass
from reducekit.search.problem import Graph, Items, Problem, Tree
from reducekit.search.strategy import Strategy

_PLAIN = (registry.DEFAULT, "ddmin", "halving", "bfs")
"""What others are compared with."""


def likenesses(frontend: Frontend, text: bytes) -> Mapping[str, str]:
    """Return the strategies that search a text as another one does, and the name of that one."""
    view = frontend.parse(text)

    groups: dict[tuple[str, ...], list[Strategy]] = {}
    passes: dict[tuple[str, ...], Sequence[Pass]] = {}
    for strategy in map(
        registry.strategy, dict.fromkeys((*_PLAIN, *registry.names(registry.STRATEGIES)))
    ):
        found = frontend.schedule(strategy.passes)
        phases = (found.prepare, found.once, found.rounds, found.closing, found.sweep)
        searched = list(chain.from_iterable(phases))
        names = tuple(each.name for each in searched)
        passes[names] = searched
        groups.setdefault(names, []).append(strategy)

    alike = {}
    for names, strategies in groups.items():
        if len(strategies) == 1:
            continue  # what passes find may take long
        problems = [each.problem(view) for each in passes[names]]
        first: dict[Any, str] = {}
        for strategy in strategies:
            known = first.setdefault(
                tuple(_way(strategy, each) for each in problems), strategy.name
            )
            if known != strategy.name:
                alike[strategy.name] = known
    return alike


def _way(strategy: Strategy, problem: Problem | None) -> Any:
    """Return what a strategy makes a search of for a problem; None if all make the same."""
    match problem:
        case Items():
            return strategy.items
        case Tree():
            return strategy.tree
        case Graph():
            return strategy.graph or ("items", strategy.items)
    return None
