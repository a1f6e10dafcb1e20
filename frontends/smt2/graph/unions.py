"""Union-find of terms that must change together; classes that must not change are frozen."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from reducekit.frontends.smt2.graph.containers import is_array, joined, roles
from reducekit.frontends.smt2.graph.moves import Candidate, Moves
from reducekit.frontends.smt2.language.sorts import Sort

_DECLARES = (b"declare-fun", b"declare-const")


_ACCESSES = {b"select": 2, b"store": 3}
"""Operators on arrays, with their numbers of arguments."""


class Unions(ABC):
    """Numbered classes, which can be joined and frozen."""

    def __init__(self) -> None:
        self._above: list[int] = []
        self._frozen: list[bool] = []

    def add(self) -> int:
        """Return the number of a new class."""
        self._above.append(len(self._above))
        self._frozen.append(False)
        return len(self._above) - 1

    def find(self, number: int) -> int:
        """Return the representative of a class."""
        # Path halving (Tarjan and van Leeuwen, JACM 1984): no second pass, no recursion.
        above = self._above
        while above[number] != number:
            above[number] = above[above[number]]
            number = above[number]
        return number

    def join(self, one: int, other: int) -> None:
        """Join two classes."""
        # Without ranks: path halving alone makes operations logarithmic (amortized).
        one, other = self.find(one), self.find(other)
        self._above[one] = other
        self._frozen[other] = self._frozen[other] or self._frozen[one]

    @abstractmethod
    def _unify(self, first: Any, second: Any) -> None:
        """Join the classes in two skeletons: sorts in which numbers stand for what may change."""

    def unify_elements(self, head: bytes, given: Sequence[Any], own: Any) -> bool:
        """Join what an operator on arrays (theory ArraysEx), sets, bags or sequences says.

        Takes the skeletons of the arguments and of the term; returns whether it is one of these.
        """
        if _ACCESSES.get(head) == len(given) and is_array(given[0]):
            _, index, element = given[0]
            self._unify(index, given[1])
            self._unify(element, own if head == b"select" else given[2])
            if head == b"store":
                self._unify(own, given[0])
            return True
        found = roles(head, (*given, own))
        for one, other in joined(found, (*given, own)) if found else ():
            self._unify(one, other)
        return bool(found)

    def freeze(self, number: int) -> None:
        """Mark a class as not to be changed."""
        self._frozen[self.find(number)] = True

    def is_frozen(self, number: int) -> bool:
        """Return whether a class must not be changed."""
        return self._frozen[self.find(number)]

    def largest(self, members: Iterable[int]) -> list[int]:
        """Return the classes of these members that are not frozen, the most frequent first."""
        # Largest first: a class with many members removes the most text, and is the least special.
        size = Counter(map(self.find, members))
        free = (number for number in size if not self.is_frozen(number))
        return sorted(free, key=lambda number: (-size[number], number))


def redeclarable(moves: Moves) -> set[int]:
    """Return the definitions whose declaring command can be rewritten."""
    graph, found = moves.graph, set()
    definitions = moves.material.terms.script.definitions
    for command, root in enumerate(graph.roots):
        numbers = graph.around.defines[command]
        if len(numbers) == 1 and graph.shape[root].head in _DECLARES:
            definition = definitions[numbers[0]]
            if definition.sort is not None and "" not in definition.parameters:
                found.add(numbers[0])
    return found


def redeclared(
    what: str,
    moves: Moves,
    new: Mapping[int, int],
    signatures: Mapping[int, Sequence[Sort | None]],
) -> Candidate | None:
    """Return a graph with new nodes for its roots, and with other sorts of definitions.

    None if nothing is different.
    """
    graph = moves.graph
    replaced = {root: new[root] for root in graph.roots if new[root] != root}
    after = dict(graph.signatures)
    for definition, sorts in signatures.items():
        if list(sorts) != list(moves.sorts_of(definition)):
            after[definition] = tuple(sorts)
            command, _ = graph.around.visible[definition]
            declared = moves.declaration(definition, sorts)
            replaced[graph.roots[command]] = graph.add(declared, (), None)
    return Candidate(what, replace(graph, signatures=after), replaced, -1) if replaced else None
