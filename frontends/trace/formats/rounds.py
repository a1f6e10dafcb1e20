"""What the calls of SAT solvers mean, whatever an API calls them, and what each solve is asked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from types import MappingProxyType
from typing import NamedTuple

from reducekit.frontends.trace.language.calls import Call, Value
from reducekit.frontends.trace.model.loader import load_model, shipped

WHOLE = "minisat"
"""Its calls take whole clauses, and all assumptions with the solve, which answers by a Boolean."""
BY_BOOLEAN: Mapping[Value | None, int] = MappingProxyType({1: 10, 0: 20, -1: 0})
"""The usual numbers for such answers."""
SOLVES = frozenset(("solve", "simplify", "lookahead"))
"""What ends a round."""
TAKES = frozenset(("add", "assume", "constrain"))
"""What takes a literal."""
_PROPAGATES = ("propagate", "propagate_assumptions")
DROP_ASSUMPTIONS = frozenset(("reset_assumptions", *_PROPAGATES))
DROP_CONSTRAINT = frozenset(("reset_constraint", *_PROPAGATES))
"""Calls of CaDiCaL after which assumptions or the constraint are gone."""
_DROP = DROP_ASSUMPTIONS | DROP_CONSTRAINT
_SOLVES = (*SOLVES, "limited")
_BEGINS = (*TAKES, *_SOLVES)


@cache
def names_of(api: str) -> Mapping[str, str]:
    """Return the names of an API's calls by what they mean; none if no model says so."""
    if api not in shipped():
        return {}
    return {call.means: name for name, call in load_model(api).calls.items() if call.means}


@cache
def meanings_of(api: str) -> Mapping[str, str]:
    """Return what the calls of an API mean, by name; none if no model says so."""
    return {name: what for what, name in names_of(api).items()} | {"constrain": "constrain"}


class Asked(NamedTuple):
    """What a solve is asked: the index `at` of its call, what it means, and what holds for it only.

    `end` is how many literals there are before it. A `fixate` of Lingeling is one, too: it makes
    units of what is assumed.
    """

    at: int
    what: str
    end: int
    assumed: tuple[int, ...]
    constraint: tuple[int, ...] | None


def asked(calls: Iterable[Call], api: str) -> tuple[list[int], list[Asked]]:
    """Return the literals of all clauses, each ended by a 0, and what the solves are asked."""
    meaning = meanings_of(api)
    literals: list[int] = []
    found: list[Asked] = []
    assumed: list[int] = []
    opened: list[int] = []  # of a constraint without its 0
    constraint: tuple[int, ...] | None = None
    solved = False
    for index, call in enumerate(calls):
        what = "fixate" if call.name == "fixate" else meaning.get(call.name, "")
        if solved and (what in _BEGINS or call.name in _DROP):
            assumed, constraint, solved = [], None, False  # they hold for one solve
        if call.name in _DROP:
            assumed = [] if call.name in DROP_ASSUMPTIONS else assumed
            constraint = None if call.name in DROP_CONSTRAINT else constraint
        elif what in TAKES:
            given = [each for each in call.arguments if isinstance(each, int)]
            if what == "add":
                literals += [*given, 0] if api == WHOLE else given
            elif what == "assume":
                assumed += given
            else:
                opened += filter(None, given)
                if 0 in given:
                    constraint, opened = tuple(opened), []
        elif what == "fixate" or what in _SOLVES:
            if api == WHOLE:
                assumed = [each for each in call.arguments if isinstance(each, int)]
            found.append(Asked(index, what, len(literals), tuple(assumed), constraint))
            solved = solved if what == "fixate" else what != "lookahead"
            if what == "fixate":
                # The units come ahead of a clause that is not closed yet.
                end = len(literals)
                while end and literals[end - 1]:
                    end -= 1
                literals[end:end] = [each for literal in assumed for each in (literal, 0)]
    return literals, found
