"""Lines with several alternative texts, as items: shared by `ranks` and `literals`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from reducekit.change import Change, Edit
from reducekit.search.problem import NOTHING, Closure, Items, Selection


class RankedSpellings(Items):
    """Texts that can stand for nodes of the document, each node's from the least one on.

    The items of the least texts come last, so that a search from the back begins with them,
    all nodes at once; of a node's texts the least that is taken counts, and the others go
    along. Weights are ranks: how many texts of the node are as great or greater.
    """

    def __init__(self, texts: Mapping[int, Sequence[bytes]], what: str) -> None:
        self.what = what
        found = [
            (rank, node, text) for node, each in texts.items() for rank, text in enumerate(each)
        ]
        found.sort(key=lambda step: (-step[0], step[1]))
        self.steps = found
        self.weights: Sequence[int] = [len(texts[node]) - rank for rank, node, _ in found]
        self._items: dict[int, list[int]] = {}
        for item, (_, node, _) in enumerate(found):
            self._items.setdefault(node, []).append(item)

    def close(self, chosen: Selection, taken: Selection) -> Closure:
        idle = {
            item
            for each in chosen
            for item in self._items[self.steps[each][1]]
            if item < each and item not in chosen and item not in taken
        }
        return Closure(NOTHING, idle)

    def change(self, chosen: Selection, taken: Selection) -> Change:
        """Return the least text that is chosen of each node. (A lesser one is not taken yet.)"""
        least = {self.steps[item][1]: self.steps[item][2] for item in sorted(chosen)}
        return Change(tuple(Edit(node, (text,)) for node, text in least.items()), self.what)


def ranked_spellings(texts: Mapping[int, Sequence[bytes]], what: str) -> RankedSpellings | None:
    """Return the items, None if there are none."""
    texts = {node: each for node, each in texts.items() if each}
    return RankedSpellings(texts, what) if texts else None
