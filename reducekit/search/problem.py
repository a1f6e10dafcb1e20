"""What a strategy searches: items to take, or a tree of nodes with moves; and the Search it makes.

Everything here is pure. A Search proposes one change at a time and is told the
verdict; it never runs anything. Searches are immutable: `after` gives the next
one. So the candidates that would follow a failure are known before the verdict
is (speculation), and the same object serves one worker, many, and a simulator.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeGuard

from reducekit.change import Change

Selection = Set[int]
"""Indices of items."""

NOTHING: frozenset[int] = frozenset()


class Search(Protocol):
    """A search for changes that keep the failure alive."""

    def propose(self) -> Change | None:
        """Return the change to try next, on top of all accepted ones; None when done.

        A change without edits stands for a candidate that cannot be built: it
        counts as a failure and costs no run.
        """

    def after(self, ok: bool) -> Search:
        """Return the search that goes on after the verdict on `propose()`."""


class Divisible(Search, Protocol):
    """A search that can give out parts of itself, to be worked on at the same time.

    What is given out is no longer searched here; a part that has ended is
    joined again, with what it has found and what it has left over.
    """

    @property
    def left(self) -> int:
        """How much there is to give out; 0: nothing for now."""

    def worth_dividing(self, parts: int) -> bool:
        """Return whether so many are faster in parts than by looking ahead in the whole."""

    def divide(self, parts: int) -> tuple[Divisible, Search]:
        """Give out one of about so many parts; return the search without it, and the part."""

    def join(self, part: Search) -> Divisible:
        """Take back a part that has ended, or is broken off."""

    def whole(self) -> Search | None:
        """Return the search that goes on undivided, if parts are found to hinder each other.

        All that were given out have to be back then, unless the answer is None.
        """


def is_divisible(search: Search) -> TypeGuard[Divisible]:
    """Return whether parts of a search can be worked on at the same time."""
    return getattr(search, "left", None) is not None


class Closure(NamedTuple):
    """The items that go with a selection."""

    needed: Selection
    """Without these the text would not be valid: the users of a dropped declaration."""
    idle: Selection
    """These have lost their purpose: a declaration whose last user is dropped."""


class Items(Protocol):
    """A sequence of things that can be taken (dropped, substituted) in any combination."""

    @property
    def weights(self) -> Sequence[int]:
        """The gain of each item, in bytes or any other unit."""

    def close(self, chosen: Selection, taken: Selection) -> Closure:
        """Return what goes with `chosen`, where `taken` is taken already. Disjoint from both."""

    def change(self, chosen: Selection, taken: Selection) -> Change:
        """Return the change that takes the closed selection `chosen` on top of `taken`."""


class Move(NamedTuple):
    """A substitution for a node of a tree, and the nodes left to search if it succeeds."""

    change: Change
    rest: tuple[int, ...]


class Tree(Protocol):
    """Nodes to be made smaller from the top down."""

    @property
    def roots(self) -> Sequence[int]:
        """The nodes to begin with."""

    def weight(self, node: int) -> int:
        """Return the size of a node with all below it; heavier nodes come first."""

    def moves(self, node: int) -> Sequence[Move]:
        """Return the substitutions to try for a node, the most promising first."""

    def parts(self, node: int) -> Items | None:
        """Return what can be dropped from within the node while it stays, if anything."""

    def children(self, node: int, dropped: Selection) -> Sequence[int]:
        """Return the nodes to search below a node that has to stay, `dropped` of its parts gone."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A problem that brings its search along: that of a pass for which no strategy has a choice."""

    search: Search


Problem = Items | Tree | Prepared


class Unrelated:
    """Base of items that neither need each other nor lose their purpose together."""

    def close(self, chosen: Selection, taken: Selection) -> Closure:
        """Nothing goes along."""
        return Closure(NOTHING, NOTHING)


class Undivided:
    """Base of trees whose nodes have nothing to drop within; below them there is nothing either."""

    def parts(self, node: int) -> Items | None:
        """Nothing can be dropped from within a node."""
        return None

    def children(self, node: int, dropped: Selection) -> Sequence[int]:
        """Nothing is below a node."""
        return ()


@dataclass(frozen=True, slots=True)
class Strategy:
    """An algorithm by name: how it searches items, and how a tree."""

    name: str
    items: Callable[[Items], Search]
    tree: Callable[[Tree], Search]

    def start(self, problem: Problem) -> Search:
        """Return the search for a problem."""
        if isinstance(problem, Prepared):
            return problem.search
        return self.tree(problem) if hasattr(problem, "roots") else self.items(problem)  # type: ignore[arg-type]
