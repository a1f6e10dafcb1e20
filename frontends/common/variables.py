"""What Boolean variables may become, in any format of constraints: constants, or other literals.

A literal is a number as in DIMACS: a variable from 1 on, or its negation.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Generic, Protocol, TypeAlias, TypeVar

from reducekit.change import Change, Edit
from reducekit.search.problem import IndependentItems, Items, Selection

TRUE = 1 << 31
"""A literal that is true; -TRUE is false."""
Image: TypeAlias = Mapping[int, int]
"""What variables become: literals, TRUE or -TRUE."""
Rewrite: TypeAlias = Callable[[int, Image], bytes | None]
"""Returns a constraint after a replacement of variables; None if nothing is left of it."""
_T = TypeVar("_T")


class Constraints(Protocol):
    """A parsed file of constraints, which have numbers from 0 on."""

    @property
    def nodes(self) -> Sequence[int]:
        """The node of each constraint."""

    @property
    def literals(self) -> Sequence[int]:
        """Those of all constraints."""

    @property
    def variables(self) -> Sequence[int]:
        """All variables, sorted."""

    @property
    def occurrences(self) -> Mapping[int, Sequence[int]]:
        """The constraints of each variable."""

    def counts(self, constraint: int, /) -> bool:
        """Return whether a header counts a constraint."""

    def head(self, fewer: int, /) -> list[Edit]:
        """Return the edit of the header for `fewer` constraints less, if there is one."""


def image_of(literal: int, image: Image) -> int:
    """Return what a literal becomes."""
    return image.get(literal, literal) if literal > 0 else -image.get(-literal, -literal)


class Dropped(IndependentItems):
    """Constraints, and whatever else has a line, as items to be dropped."""

    free = 0

    def __init__(self, view: Constraints, weights: Sequence[int], what: str) -> None:
        self.view, self.weights, self.what = view, weights, what
        self._all_count = all(map(view.counts, range(len(view.nodes))))

    def change(self, chosen: Selection, taken: Selection) -> Change:
        view = self.view
        edits = (Edit(view.nodes[item], ()) for item in chosen)
        return Change((*view.head(self._counted(chosen) + self._counted(taken)), *edits), self.what)

    def _counted(self, items: Selection) -> int:
        return len(items) if self._all_count else sum(map(self.view.counts, items))


class Replaced(IndependentItems, Generic[_T]):
    """Replacements as items; `image` says what variables become by some of them, in order."""

    def __init__(
        self, view: Constraints, rewrite: Rewrite, items: Sequence[_T],
        image: Callable[[Iterable[_T]], Image], what: str, weights: Sequence[int] | None = None,
    ) -> None:  # fmt: skip
        self.view, self.items, self.what = view, items, what
        self._image, self._rewrite = image, rewrite
        self.weights: Sequence[int] = weights or b"\1" * len(items)
        self._earlier: tuple[Selection | None, Image, frozenset[int]] = (None, {}, frozenset())

    def change(self, chosen: Selection, taken: Selection) -> Change:
        view = self.view
        before, gone = self._after(taken)
        image = self._image(self.items[item] for item in sorted({*chosen, *taken}))
        changed = [each for each, becomes in image.items() if before.get(each) != becomes]
        dropped = set(gone)
        edits: list[Edit] = []
        for at in sorted({at for each in changed for at in view.occurrences[each]}):
            text = self._rewrite(at, image)
            edits.append(Edit(view.nodes[at], () if text is None else (text,)))
            if view.counts(at):
                (dropped.add if text is None else dropped.discard)(at)
        return Change((*view.head(len(dropped)), *edits), self.what)

    def _after(self, taken: Selection) -> tuple[Image, frozenset[int]]:
        """Return what variables have become, and the constraints gone that a header counts."""
        if self._earlier[0] is not taken:
            view = self.view
            image = self._image(self.items[item] for item in sorted(taken))
            touched = {at for each in image for at in view.occurrences[each]}
            gone = (at for at in touched if view.counts(at) and self._rewrite(at, image) is None)
            self._earlier = (taken, image, frozenset(gone))
        return self._earlier[1:]


def constant(view: Constraints, rewrite: Rewrite, *, against: bool) -> Items | None:
    """Return items that make variables constant: most of their literals true, or `against` that."""
    if not view.variables:
        return None
    surplus = dict.fromkeys(view.variables, 0)
    for literal in view.literals:
        surplus[abs(literal)] += 1 if literal > 0 else -1

    def image(variables: Iterable[int]) -> Image:
        return {each: TRUE if (surplus[each] >= 0) != against else -TRUE for each in variables}

    weights = [len(view.occurrences[each]) for each in view.variables]
    return Replaced(view, rewrite, view.variables, image, "set variables", weights)


def joined(pairs: Iterable[tuple[int, int]]) -> dict[int, int]:
    """Map variables to literals so that both sides of each pair become equal.

    All of a class become literals of its smallest variable. A pair that contradicts earlier ones
    is ignored.
    """
    parent: dict[int, int] = {}

    def root(literal: int) -> int:
        variable = abs(literal)
        way, sign = [], 1
        while variable in parent:
            way.append((variable, sign))
            sign *= 1 if parent[variable] > 0 else -1
            variable = abs(parent[variable])
        for each, before in way:
            parent[each] = before * sign * variable
        return sign * variable if literal > 0 else -sign * variable

    for pair in pairs:
        one, other = sorted(map(root, pair), key=abs)
        if abs(one) != abs(other):
            parent[abs(other)] = one if other > 0 else -one
    return {each: root(each) for each in [*parent]}
