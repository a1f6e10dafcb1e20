"""Items that do not depend on each other, each with a change of its own."""

from __future__ import annotations

from collections.abc import Sequence

from reducekit.change import Change, Edit
from reducekit.search.problem import IndependentItems, Selection


class IndependentChanges(IndependentItems):
    """A list of changes as items; taking several applies all their edits."""

    def __init__(self, changes: Sequence[Change], weights: Sequence[int] | None = None) -> None:
        self.changes = changes
        self.weights: Sequence[int] = weights or [1] * len(changes)

    def change(self, chosen: Selection, taken: Selection) -> Change:
        """Return the edits of all chosen changes together."""
        if len(chosen) == 1:
            (item,) = chosen
            return self.changes[item]
        edits: list[Edit] = []
        what = ""
        for item in sorted(chosen):
            edits.extend(self.changes[item].edits)
            what = self.changes[item].what
        return Change(tuple(edits), what)


def independent(changes: Sequence[Change]) -> IndependentChanges | None:
    """Return the changes as items, None if there are none."""
    return IndependentChanges(changes) if changes else None
