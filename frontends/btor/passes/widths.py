"""Narrows bit-vectors and arrays, by classes of nodes that must have the same width."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from reducekit.change import Change, Edit
from reducekit.frontends.btor.model.operators import Dialect
from reducekit.frontends.btor.model.view import BtorView
from reducekit.frontends.btor.model.width_classes import (
    Narrowed,
    WidthClasses,
    narrow,
    width_classes,
)
from reducekit.frontends.btor.model.writer import canonical
from reducekit.passes import pass_
from reducekit.search.problem import NOTHING, Closure, Items, Selection

# Lines; each candidate is built from the whole graph.
_MOST = 5000
_MANY = 50_000


class WidthItems(Items):
    """Widths to which classes can be narrowed, as items: the narrowest come last.

    An item narrows one class or several. So a search from the back starts with all classes at
    width 1, and continues with halves of them. If several widths of a class are taken, the
    narrowest counts; items that would change nothing any more are orphaned.
    """

    def __init__(
        self,
        view: BtorView,
        classes: WidthClasses,
        steps: Sequence[Mapping[int, int]],
        keep: bool,
    ) -> None:
        self.view = view
        self.classes = classes
        self.steps = steps
        self.keep = keep
        self.two = view.dag.dialect is Dialect.BTOR2
        width = classes.width
        self.weights: Sequence[int] = [
            sum(width[each] - target for each, target in step.items()) for step in steps
        ]
        self._whole = self._texts({})
        self._last: tuple[dict[int, int], list[bytes]] = ({}, self._whole)

    def close(self, chosen: Selection, taken: Selection) -> Closure:
        least = self._targets([*taken, *chosen])
        widths = self.classes.width
        idle = {
            item
            for item, step in enumerate(self.steps)
            if item not in chosen
            and item not in taken
            and all(least.get(each, widths[each]) <= target for each, target in step.items())
        }
        return Closure(NOTHING, idle)

    def change(self, chosen: Selection, taken: Selection) -> Change:
        """Return the lines of the graph with all classes narrowed that are chosen or taken."""
        before = self._edited(self._targets(taken))
        after = self._edited(self._targets([*taken, *chosen]))
        whole, nodes, source = self._whole, self.view.line_nodes, self.view.document.source
        edits = []
        if after == before:
            return Change(())
        for line, text in enumerate(after):
            old = source(nodes[line])
            # In BTOR2 new sorts move all ids; else a line that has not changed keeps its words.
            if text != (old if self.two else whole[line]):
                edits.append(Edit(nodes[line], (text,) if text else ()))
            elif text != before[line]:
                edits.append(Edit(nodes[line], (old,)))
        return Change(tuple(edits), "narrow")

    def _targets(self, items: Selection | Sequence[int]) -> dict[int, int]:
        targets: dict[int, int] = {}
        for item in items:
            for each, target in self.steps[item].items():
                targets[each] = min(target, targets.get(each, target))
        return targets

    def _edited(self, targets: dict[int, int]) -> list[bytes]:
        if not targets:
            return self._whole
        if self._last[0] != targets:
            self._last = targets, self._texts(targets)
        return self._last[1]

    def _texts(self, targets: Mapping[int, int]) -> list[bytes]:
        """Return what each line becomes, newline and new `sort` lines before it included."""
        found = narrow(self.classes, targets, self.keep)
        return line_texts(found, self.two)


def line_texts(found: Narrowed, two: bool) -> list[bytes]:
    """Return the text of each old line in its new form; empty if it is gone.

    In BTOR2 (`two`) lines are numbered anew, and have the `sort` lines before them that they
    are the first to need.
    """
    dag = found.dag
    lines = canonical(dag, renumber=two).splitlines(keepends=True)
    texts = lines
    if two:
        texts, sorts = [], []
        for text in lines:
            sorts.append(text)
            if text.split(b" ", 2)[1] != b"sort":
                texts.append(b"".join(sorts))
                sorts.clear()
    return [texts[at] if at >= 0 else b"" for at in found.place]


def _powers(width: int) -> list[int]:
    """Return the powers of two below a width."""
    return [1 << each for each in range((width - 1).bit_length())]


class Widths:
    """Narrows width classes, one at a time: to 1, 2 or 4 bits and so on, or by one bit.

    With `keep` the operators between classes stay, and classes only become as narrow as that
    allows (see `narrow`).
    """

    def __init__(self, name: str = "widths", keep: bool = False) -> None:
        self.name = name
        self.keep = keep

    def problem(self, view: BtorView) -> WidthItems | None:
        """Return the classes and widths; None if all have one bit, or the graph is large."""
        dag = view.dag
        if len(dag) > _MOST or dag.dialect is Dialect.BTOR_2007:
            return None
        classes = width_classes(dag)
        width = classes.width
        # In BTOR2 a width that there is already costs no `sort` line.
        known = set(width.values()) if dag.dialect is Dialect.BTOR2 else set()
        found = [
            (-target, width[each], each)
            for each in classes.reducible
            for target in {*_powers(width[each]), width[each] - 1, *known}
            if target < width[each]
        ]
        if not found:
            return None
        steps = [{each: -target} for target, _, each in sorted(found)]
        return WidthItems(view, classes, steps, self.keep)


@pass_("all widths")
def all_widths(view: BtorView) -> WidthItems | None:
    """Limits all widths to 1, 2, 4 and so on, in a few checks even for large graphs."""
    # Widths, an item each; None if all classes have one bit.
    dag = view.dag
    if len(dag) > _MANY or dag.dialect is Dialect.BTOR_2007:
        return None
    classes = width_classes(dag)
    reducible = classes.reducible
    if not reducible:
        return None
    width = classes.width
    steps = [
        {each: target for each in reducible if width[each] > target}
        for target in reversed(_powers(width[reducible[0]]))
    ]
    return WidthItems(view, classes, steps, keep=False)
