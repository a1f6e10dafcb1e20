"""Which selections of items become candidates."""

from collections.abc import Collection, Mapping

import pytest

from reducekit.change import Change, Edit
from reducekit.search.problem import Closure, Items, Selection
from reducekit.search.selecting import Selecting, Selector
from reducekit.strategies.adaptive import backward
from reducekit.strategies.adaptive import selector as in_free_order


class InTurn(Selector):
    """Proposes given selections, one after the other, whatever comes of them."""

    def __init__(self, *selections: Collection[int]) -> None:
        self.selections = selections

    def propose(self) -> Collection[int] | None:
        return self.selections[0] if self.selections else None

    def after(self, taken: Collection[int]) -> Selector:
        return InTurn(*self.selections[1:])


class Linked(Items):
    """Items that require others, and items that are orphaned when others go."""

    def __init__(
        self, required: Mapping[int, Selection], orphaned: Mapping[int, Selection]
    ) -> None:
        self.required = required
        self.orphaned = orphaned

    def close(self, chosen: Selection, taken: Selection) -> Closure:
        required = {each for item in chosen for each in self.required.get(item, ())}
        orphaned = {each for item in chosen for each in self.orphaned.get(item, ())}
        return Closure(required - taken, orphaned - taken)

    def change(self, chosen: Selection, taken: Selection) -> Change:
        return Change(tuple(Edit(item, ()) for item in sorted(chosen)))


def proposed(search: Selecting) -> list[int] | None:
    """Return the items that the candidate takes; empty if it is not worth a run."""
    change = search.propose()
    return None if change is None else [edit.node for edit in change.edits]


def tried(search: Selecting, *verdicts: bool) -> list[list[int] | None]:
    """Return the candidates, each after the verdict on the one before."""
    found = [proposed(search)]
    for ok in verdicts:
        search = search.after(ok)
        found.append(proposed(search))
    return found


def test_what_requires_a_refuted_item_is_not_tried() -> None:
    items = Linked({0: {1}, 2: {3}}, {})
    search = Selecting(items, InTurn([1], [0], [2]))
    assert tried(search, False, False, False) == [[1], [], [2, 3], None]


def test_only_what_failed_alone_counts_as_refuted() -> None:
    items = Linked({0: {1}}, {})
    search = Selecting(items, InTurn([1, 4], [0], [5], [0]))
    assert tried(search, False, True, True) == [[1, 4], [0, 1], [5], [0]]


def test_a_refuted_orphan_stays() -> None:
    items = Linked({}, {0: {1, 2}})
    search = Selecting(items, InTurn([1], [0]))
    assert tried(search, False) == [[1], [0, 2]]


def test_an_item_that_fails_with_its_orphans_is_tried_once_without_them() -> None:
    items = Linked({}, {0: {1}, 2: {3}})
    search = Selecting(items, InTurn([0], [0, 2], [4]))
    assert tried(search, False, False, False, True) == [[0, 1], [0], [0, 1, 2, 3], [4], None]
    items.bare = False
    assert tried(search, False, False, True) == [[0, 1], [0, 1, 2, 3], [4], None]


def test_a_selection_with_orphans_is_refuted_only_without_them() -> None:
    items = Linked({5: {0}}, {0: {1}})
    search = Selecting(items, InTurn([0], [5]))
    assert tried(search, False, True) == [[0, 1], [0], [5]]
    assert tried(search, False, False) == [[0, 1], [0], []]


@pytest.mark.parametrize(
    ("selector", "verdicts", "needed"),
    [
        # All fails, then 2 and 3 do, and 3 goes: so 2 is needed.
        (backward(4), "001", 2),
        # All fail, 10 to 15 do, as do 13 to 15; 15 goes, 11 and 12 fail, 12 goes, and 14 does.
        (in_free_order(16, 4), "0001011", 13),
        (in_free_order(16, 4), "000101", 11),
    ],
)
def test_what_requires_an_item_that_a_verdict_implies_is_not_tried(
    selector: Selector, verdicts: str, needed: int
) -> None:
    search = Selecting(Linked({0: {needed}}, {}), selector)
    for verdict in verdicts:
        search = search.after(verdict == "1")
    while (taken := proposed(search)) is not None:
        assert not {0, needed} & set(taken)
        search = search.after(True)
