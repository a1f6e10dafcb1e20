"""Kinds of items that the passes of several formats offer."""

from array import array
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import isqrt

from reducekit.change import Change, Edit
from reducekit.document import Document
from reducekit.search.problem import (
    NOTHING,
    Closure,
    IndependentItems,
    Items,
    LeafTree,
    Move,
    Search,
    Selection,
)

_PRECISION = 6
"""Numbers are searched up to a part in this power of 2."""


class NodeItems(IndependentItems):
    """Nodes that are changed one by one, each by an edit that is made when it is needed.

    There may be millions: an edit is some hundred bytes of memory, a node four.
    """

    def __init__(
        self, document: Document, nodes: Sequence[int], edit: Callable[[int], Edit], what: str
    ) -> None:
        self.document = document
        self.nodes = nodes
        self.edit = edit
        self.what = what

    @cached_property
    def weights(self) -> Sequence[int]:
        start, end = self.document.start, self.document.end
        return array("i", (end[node] - start[node] for node in self.nodes))

    def change(self, chosen: Selection, taken: Selection) -> Change:
        nodes, edit = self.nodes, self.edit
        return Change(tuple(edit(nodes[item]) for item in sorted(chosen)), self.what)


class NodeTree(LeafTree):
    """Nodes to be replaced from the top down, by functions of a node.

    `weight` returns its size, `moves` what may replace it, `children` the nodes below it.
    """

    def __init__(
        self,
        roots: Sequence[int],
        weight: Callable[[int], int],
        moves: Callable[[int], Sequence[Move]],
        children: Callable[[int], Sequence[int]] = lambda node: (),
    ) -> None:
        self.roots: Sequence[int] = roots
        self._weight, self._moves, self._children = weight, moves, children

    def weight(self, node: int) -> int:
        return self._weight(node)

    def moves(self, node: int) -> Sequence[Move]:
        return self._moves(node)

    def children(self, node: int, dropped: Selection) -> Sequence[int]:
        return self._children(node)


def replaced(node: int, parts: Iterable[int], texts: Iterable[bytes], what: str) -> Iterator[Move]:
    """Yield the replacements of a node by its parts, which are searched next, and by texts."""
    for part in parts:
        yield Move(Change((Edit(node, (part,)),), what), (part,))
    for text in texts:
        yield Move(Change((Edit(node, (text,)),), what), ())


class WholeItems(IndependentItems):
    """Items of weight 1 whose change depends on all that are chosen or taken.

    `change_all` makes the change of some items, in ascending order.
    """

    def __init__(self, count: int, change_all: Callable[[Sequence[int]], Change]) -> None:
        self.weights: Sequence[int] = b"\1" * count
        self._change_all = change_all

    def change(self, chosen: Selection, taken: Selection) -> Change:
        return self._change_all(sorted({*chosen, *taken}))


class Alternatives(Items):
    """Items where several change one thing: the last that is taken counts.

    The earlier ones lose their purpose then. `keys` says what each item changes.
    """

    def __init__(self, keys: Iterable[Hashable]) -> None:
        self._keys = list(keys)
        self._items: dict[Hashable, list[int]] = {}
        for item, key in enumerate(self._keys):
            self._items.setdefault(key, []).append(item)

    def close(self, chosen: Selection, taken: Selection) -> Closure:
        earlier = {item for each in chosen for item in self._items[self._keys[each]] if item < each}
        return Closure(NOTHING, earlier - set(chosen) - set(taken))


@dataclass(frozen=True, slots=True)
class Least(Search):
    """Searches the smallest number that will do, by halving: `low` will not, `high` will."""

    edits: Callable[[int], Iterable[Edit]]
    """Returns the edits that bring in a number instead of `high`."""
    what: str
    first: int
    """What is tried first: the least that makes sense."""
    low: int
    high: int

    def propose(self) -> Change | None:
        if self.high - self.low <= max(1, self.high >> _PRECISION):
            return None
        return Change(tuple(self.edits(self._next)), self.what)

    def after(self, ok: bool) -> Search:
        return replace(self, high=self._next) if ok else replace(self, low=self._next)

    @property
    def _next(self) -> int:
        if self.low < self.first:
            return self.first
        return max(self.low + 1, isqrt(self.low * self.high))
