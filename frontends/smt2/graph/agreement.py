"""Which parts of a graph's sorts must be the same: classes to change together, read off the terms.

`widths` and `resort` read their operators themselves; here is what both know: containers (which
arguments of an operator are containers, and which are elements) and declared functions.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeGuard

from reducekit.frontends.classes import Classes, Pattern
from reducekit.frontends.smt2.graph.site import Candidate, Site
from reducekit.frontends.smt2.language.sorts import Sort, print_sort

_DECLARES = (b"declare-fun", b"declare-const")
_CONST = re.compile(rb"\(as const .*\)", re.DOTALL)
_ACCESSES = {b"select": 2, b"store": 3}
"""Operators on arrays, with their numbers of arguments."""
_HOLDING_ONE = frozenset(("Seq", "Set", "Bag"))
_EMPTY = re.compile(
    rb"\(as ((?:seq|set|bag)\.empty|set\.universe|emptyset|emptybag) .*\)", re.DOTALL
)
WHOLE, ELEMENT, OTHER = "wxo"


def _roles(names: str, roles: str) -> dict[bytes, str]:
    return dict.fromkeys(names.encode().split(), roles)


# By the documentation of cvc5 (sets, bags, sequences) and Z3 (sequences); `union`, `member` and the
# like without a prefix are the spelling of CVC4.
_ROLES: Mapping[bytes, str] = {
    **_roles("seq.unit set.singleton singleton", "xw"),
    **_roles("seq.++ seq.rev set.union set.inter set.minus set.complement", "ww"),
    **_roles("union intersection setminus bag.setof bag.duplicate_removal", "ww"),
    **_roles("bag.union_max bag.union_disjoint bag.inter_min", "ww"),
    **_roles("bag.difference_subtract bag.difference_remove", "ww"),
    **_roles("seq.len set.card card set.is_empty set.is_singleton bag.card bag.is_singleton", "wo"),
    **_roles("seq.at", "wow"),
    **_roles("seq.nth", "wox"),
    **_roles("seq.extract", "woow"),
    **_roles("seq.contains seq.prefixof seq.suffixof seq.last_indexof", "wwo"),
    **_roles("set.subset subset bag.subbag", "wwo"),
    **_roles("seq.indexof", "wwoo"),
    **_roles("seq.replace seq.replace_all", "wwww"),
    **_roles("seq.update", "woww"),
    **_roles("set.member member bag.member bag.count", "xwo"),
    **_roles("set.insert insert", "xww"),
    **_roles("set.choose choose bag.choose", "wx"),
    **_roles("bag bag.make", "xow"),
}
"""For each parameter and the result: whether it is the container, an element, or of another sort.

Arguments beyond the number of roles have the role of the first parameter.
"""


def is_array(pattern: Any) -> TypeGuard[tuple[Any, ...]]:
    """Return whether a sort is an array of one index."""
    return isinstance(pattern, tuple) and pattern[0] == "Array" and len(pattern) == 3


def is_container(pattern: Any) -> TypeGuard[tuple[Any, ...]]:
    """Return whether a sort is a container, whose element sort may change."""
    if not isinstance(pattern, tuple):
        return False
    if pattern[0] == "Array":
        return is_array(pattern)
    return pattern[0] in _HOLDING_ONE and len(pattern) == 2


def roles(head: bytes, patterns: Sequence[Any]) -> str:
    """Return the roles of the arguments and the result of an operator; empty if it has none.

    `patterns` are their sorts, the result's last.
    """
    found = _ROLES.get(head, "")
    if not found:
        return ""
    found = found[0] * (len(patterns) - len(found)) + found
    if len(found) != len(patterns):
        return ""
    wholes = [each for role, each in zip(found, patterns, strict=True) if role == WHOLE]
    return found if all(is_container(each) and each[0] != "Array" for each in wholes) else ""


def is_empty_container(text: bytes) -> bool:
    """Return whether a term is the empty set, or another constant of a container sort."""
    return _EMPTY.fullmatch(text) is not None


def with_sort(text: bytes, sort: Sort) -> bytes:
    """Return such a constant with another sort."""
    match = _EMPTY.fullmatch(text)
    assert match is not None
    return b"(as %b %b)" % (match[1], print_sort(sort))


def is_constant_array(head: bytes) -> bool:
    """Return whether an operator is `(as const SORT)`."""
    return _CONST.fullmatch(head) is not None


class Reading(ABC):
    """The classes of what must be the same in a graph, as its operators say."""

    def __init__(self, site: Site, classes: Classes) -> None:
        self.site = site
        self.graph = site.graph
        self.classes = classes
        self.pattern: dict[int, Pattern] = {}
        """By node: its sort, with variables for what may change."""
        self._signatures: dict[int, tuple[Pattern, ...]] = {}
        self.declared = self._redeclarable()
        """The definitions whose declaring command can be rewritten."""

    @abstractmethod
    def new(self, sort: Sort | None) -> Pattern:
        """Return the pattern of a sort, with new variables."""

    def _redeclarable(self) -> set[int]:
        graph, definitions = self.graph, self.site.material.view.script.definitions
        found = set()
        for numbers, root in zip(graph.around.defines, graph.roots, strict=True):
            if len(numbers) == 1 and graph.shape[root].head in _DECLARES:
                definition = definitions[numbers[0]]
                if definition.sort is not None and "" not in definition.parameters:
                    found.add(numbers[0])
        return found

    def signature(self, definition: int) -> tuple[Pattern, ...]:
        """Return the patterns of the parameters and the result of a declared function."""
        known = self._signatures.get(definition)
        if known is None:
            sorts = self.site.sorts_of(definition)
            known = self._signatures[definition] = tuple(map(self.new, sorts))
        return known

    def elements(self, head: bytes, given: Sequence[Pattern], own: Pattern) -> bool:
        """Unify what an operator on arrays (theory ArraysEx), sets, bags or sequences says.

        Takes the patterns of the arguments and of the term; returns whether it is one of these.
        """
        unify = self.classes.unify
        if is_constant_array(head) and is_array(own) and len(given) == 1:
            unify(own[2], given[0])
            return True
        if _ACCESSES.get(head) == len(given) and is_array(given[0]):
            _, index, element = given[0]
            unify(index, given[1])
            unify(element, own if head == b"select" else given[2])
            if head == b"store":
                unify(own, given[0])
            return True
        places = (*given, own)
        found = roles(head, places)
        for role, each in zip(found, places, strict=False):
            if role != OTHER:
                whole = places[found.index(WHOLE)]
                unify(whole[1] if role == ELEMENT else whole, each)
        return bool(found)

    def rebuilt(
        self, what: str, new: Mapping[int, int], changed: int, value: Any
    ) -> Candidate | None:
        """Return a graph with new nodes for its roots, in which a class has another value.

        None if nothing is different.
        """
        site, graph = self.site, self.graph
        replaced = {root: new[root] for root in graph.roots if new[root] != root}
        after = dict(graph.signatures)
        for definition, signature in self._signatures.items():
            sorts = tuple([self.classes.instance(each, changed, value) for each in signature])
            if sorts != tuple(site.sorts_of(definition)):
                after[definition] = sorts
                command, _ = graph.around.visible[definition]
                declared = site.declaration(definition, sorts)
                replaced[graph.roots[command]] = graph.add(declared, (), None)
        return Candidate(what, replace(graph, signatures=after), replaced, -1) if replaced else None


def constant_array(site: Site, node: int, args: tuple[int, ...], sort: Sort) -> int | None:
    """Add the constant array of another sort in place of one; None for other operators."""
    graph = site.graph
    if not is_constant_array(graph.shape[node].head) or not is_array(sort):
        return None
    written = print_sort(sort)
    uses = site.material.uses_of(written)
    shape = graph.shapes.application(b"(as const %b)" % written, 1, uses)
    return graph.add(shape, args, sort)
