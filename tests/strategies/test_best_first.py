"""Trees by weight: how many checks it takes, and that what is needed stays."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cached_property

import pytest

from reducekit.change import Change, Edit
from reducekit.search.problem import IndependentItems, Items, Move, Search, Selection, WeightedTree
from reducekit.strategies.adaptive import adaptive
from reducekit.strategies.best_first import best_first


class Children(IndependentItems):
    def __init__(self, tree: Numbers, node: int) -> None:
        self.tree, self.nodes = tree, tree.below[node]

    @cached_property
    def weights(self) -> Sequence[int]:
        return [self.tree.size[each] for each in self.nodes]

    def change(self, chosen: Selection, taken: Selection) -> Change:
        return Change(tuple(Edit(self.nodes[at], ()) for at in sorted(chosen)))


class Numbers(WeightedTree):
    """Nodes by number; each can become one of those that `shorter` names."""

    def __init__(
        self, below: Sequence[Sequence[int]], shorter: dict[int, Sequence[int]] | None = None
    ) -> None:
        self.below = below
        self.shorter = shorter or {}
        self.size = [1] * len(below)
        for node in reversed(range(len(below))):
            self.size[node] += sum(self.size[each] for each in below[node])

    @cached_property
    def roots(self) -> Sequence[int]:
        return (0,)

    def weight(self, node: int) -> int:
        return self.size[node]

    def moves(self, node: int) -> Sequence[Move]:
        return [
            Move(Change((Edit(node, (each,)),)), (each,)) for each in self.shorter.get(node, ())
        ]

    def parts(self, node: int) -> Items:
        return Children(self, node)

    def child(self, node: int, position: int) -> int:
        return self.below[node][position]

    def children(self, node: int, dropped: Selection) -> Sequence[int]:
        return [each for at, each in enumerate(self.below[node]) if at not in dropped]


def within(tree: Numbers, node: int) -> set[int]:
    found, todo = set[int](), [node]
    while todo:
        found.add(each := todo.pop())
        todo += tree.below[each]
    return found


def searched(tree: Numbers, needed: set[int]) -> tuple[set[int], int]:
    """Return the nodes that stay, and the number of checks; no change may be tried twice."""
    search: Search = best_first(tree)
    left, tried = within(tree, 0), 0
    while (change := search.propose()) is not None:
        tried += 1
        gone: set[int] = set()
        for node, template in change.edits:
            kept = {
                each for part in template if isinstance(part, int) for each in within(tree, part)
            }
            gone |= within(tree, node) - kept
        ok = not gone & needed
        left -= gone if ok else set()
        search = search.after(ok)
    return left, tried


def flat(count: int) -> Numbers:
    return Numbers([range(1, count + 1), *[()] * count])


@pytest.mark.parametrize(
    ("needed", "checks"), [(set(), 1), ({7}, 11), ({100}, 13), ({40, 41}, 12), ({1, 64, 100}, 29)]
)
def test_runs_are_halved(needed: set[int], checks: int) -> None:
    left, tried = searched(flat(100), needed | {0})
    assert left == needed | {0}
    assert tried == checks


def test_the_other_half_of_a_failing_run_is_not_tried_as_a_whole() -> None:
    """Of two items of which one is needed: both, the second; the first is known to be needed."""
    assert searched(flat(2), {0, 1}) == ({0, 1}, 2)


def test_heavy_parts_come_first_wherever_they_are() -> None:
    """A large element deep in the text is opened before small ones at the top."""
    deep = [range(1, 12), *[()] * 10, range(12, 15), (), range(15, 60), (), *[()] * 45]
    tree = Numbers(deep)
    search: Search = best_first(tree)
    sizes: list[int] = []
    while (change := search.propose()) is not None and len(sizes) < 8:
        sizes.append(sum(tree.size[each.node] for each in change.edits))
        search = search.after(False)
    assert sizes == sorted(sizes, reverse=True)


def test_a_node_that_stays_is_replaced_by_one_within() -> None:
    tree = Numbers([(1,), (2, 3), (4,), (), ()], {1: (2,)})
    assert searched(tree, {0, 4}) == ({0, 2, 4}, 3)


class Used(Numbers):
    """A flat tree in which each element of the second half needs one of the first."""

    def without(self, gone: bytes, node: int, positions: Collection[int]) -> bytes:
        return bytes(at - 1 in positions or (at < len(gone) and gone[at]) for at in range(101))

    def free(self, node: int, positions: Sequence[int], gone: bytes) -> Sequence[int]:
        return [
            at for at in positions if at + 50 in positions or at >= 50 or (gone and gone[at + 51])
        ]


@pytest.mark.parametrize(("make", "checks"), [(Numbers, 51), (Used, 39)])
def test_what_is_needed_elsewhere_goes_after_that(make: type[Numbers], checks: int) -> None:
    """Users 60, 70 and 80 stay, and what they need: 10, 20 and 30."""
    tree = make([range(1, 101), *[()] * 100])
    search: Search = best_first(tree)
    left, tried = set(range(1, 101)), 0
    while (change := search.propose()) is not None:
        tried += 1
        after = left - {each.node for each in change.edits}
        ok = {60, 70, 80} <= after and all(at - 50 in after for at in after if at > 50)
        left = after if ok else left
        search = search.after(ok)
    assert left == {10, 20, 30, 60, 70, 80}
    assert tried == checks


def test_the_default_searches_such_trees_so() -> None:
    tree = flat(9)
    assert type(adaptive.start(tree)) is type(best_first(tree))
