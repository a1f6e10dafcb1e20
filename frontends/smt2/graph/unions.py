"""Classes of what has to be alike: joined two at a time, and frozen where they have to stay."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from reducekit.frontends.smt2.graph.moves import Candidate, Moves
from reducekit.frontends.smt2.sorts import Sort

_DECLARES = (b"declare-fun", b"declare-const")


class Unions:
    """Classes by number. What holds of one of them holds of all that are joined."""

    def __init__(self) -> None:
        self._above: list[int] = []
        self._frozen: list[bool] = []

    def add(self) -> int:
        """Return the number of a new class."""
        self._above.append(len(self._above))
        self._frozen.append(False)
        return len(self._above) - 1

    def find(self, number: int) -> int:
        """Return the class that stands for one."""
        above = self._above
        while above[number] != number:
            above[number] = above[above[number]]
            number = above[number]
        return number

    def join(self, one: int, other: int) -> None:
        """Make two classes one."""
        one, other = self.find(one), self.find(other)
        self._above[one] = other
        self._frozen[other] = self._frozen[other] or self._frozen[one]

    def freeze(self, number: int) -> None:
        """Let a class stay as it is."""
        self._frozen[self.find(number)] = True

    def is_frozen(self, number: int) -> bool:
        """Tell whether a class has to stay as it is."""
        return self._frozen[self.find(number)]

    def largest(self, members: Iterable[int]) -> list[int]:
        """Return the classes of these that are not frozen, those that are met most often first."""
        size = Counter(map(self.find, members))
        free = (number for number in size if not self.is_frozen(number))
        return sorted(free, key=lambda number: (-size[number], number))


def redeclarable(moves: Moves) -> set[int]:
    """Return the definitions whose declaring command can be written anew."""
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
