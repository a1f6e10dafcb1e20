"""Kinds of items that the passes of several formats offer."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import cached_property

from reducekit.change import Change, Edit
from reducekit.document import Document
from reducekit.search.problem import NOTHING, Closure, IndependentItems, Items, Selection


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
