"""What there is to search in a text, and the Search that a strategy makes of it.

A pass describes what may be changed as a `Problem`: a sequence of items, a tree, a graph, or, where
no algorithm has a choice, a search that is fixed. The four are classes to derive from, and there
are no others: a strategy has a way for each (`strategy.Strategy`).

All here is pure. A Search proposes one change at a time and takes the
verdict; it never runs anything. Searches are immutable: `after` gives the next
one. So the candidates that would follow a failure are known before the verdict
is, and the same object serves one worker, many, and a simulator.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence, Set
from functools import cached_property
from typing import Any, Generic, NamedTuple, Self, TypeAlias, TypeVar

from reducekit.change import Change, Edit

Selection: TypeAlias = Set[int]
"""Indices of items."""

NOTHING: frozenset[int] = frozenset()


class Search(ABC):
    """A search for changes that keep the failure alive. Immutable."""

    __slots__ = ()

    @abstractmethod
    def propose(self) -> Change | None:
        """Return the change to try next, on top of all accepted ones; None when done.

        A change without edits means that the candidate cannot be built: it
        counts as a failure and costs no check.
        """

    @abstractmethod
    def after(self, ok: bool) -> Search:
        """Return the search after the verdict on `propose()`."""

    def unresolved(self) -> Search | None:
        """Return the search after a verdict that says neither that it fails nor that it passes.

        None: as after a candidate that passes, `after(False)`.
        """
        return None

    def chance(self) -> float | None:
        """Return how likely `propose()` is to succeed, from 0 to 1; None: nothing is known."""
        return None

    def divisible(self) -> Divisible | None:
        """Return the search as one that can give out parts; None if it cannot."""
        return None

    def in_a_row(self, count: int) -> Search:
        """Return the search for runs that check `count` candidates, up to the first success.

        Failures are cheap then, and each success costs a run.
        """
        return self


_W = TypeVar("_W")


class Dividing(ABC, Generic[_W]):
    """What can give out parts of itself, to be worked on at the same time.

    What is given out is no longer searched here; a part that has ended is joined again, with what
    it has found and what it has left over. `join` is only given parts that `divide` of the same
    object, or an earlier state of it, gave out.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def left(self) -> int:
        """How much there is to give out; 0: nothing for now."""

    @abstractmethod
    def worth_dividing(self, parts: int) -> bool:
        """Return whether that many workers are faster in parts than by looking ahead."""

    @abstractmethod
    def divide(self, parts: int) -> tuple[_W, Any]:
        """Give out one of about `parts` parts; return the rest, and the part."""

    @abstractmethod
    def join(self, part: Any) -> _W:
        """Take back a part that has ended, or is broken off."""

    def whole(self) -> Any:
        """Return the undivided one, for when parts conflict; None if there is none.

        All parts have to be back then.
        """
        return None


class Divisible(Search, Dividing["Divisible"]):
    """A search that can give out parts of itself: these are searches, too."""

    __slots__ = ()

    def divisible(self) -> Divisible | None:
        return self


class Closure(NamedTuple):
    """The items that go with a selection."""

    required: Selection
    """Without these the text would not be valid: the users of a dropped declaration."""
    orphaned: Selection
    """These have lost their purpose: a declaration whose last user is dropped."""


class Items(ABC):
    """A sequence of things that can be taken (dropped, substituted) in any combination."""

    # A format whose orphans are never what a failure is about can save that run.
    bare = True
    """Whether a single item that fails together with what it orphans is tried without it."""
    free: int | None = None
    """No item needs those from this number on, so that any of them may go first.

    None: this is not known of any, as some may need others that the format does not know of.
    """

    @cached_property
    def weights(self) -> Sequence[int]:
        """The gain of each item, in bytes or any other unit; as many as there are items."""
        raise NotImplementedError

    @abstractmethod
    def close(self, chosen: Selection, taken: Selection) -> Closure:
        """Return what `chosen` carries along after `taken` was taken. Disjoint from both."""

    def blocked(self, chosen: Selection, taken: Selection, refuted: Selection) -> bool:
        """Return whether it is seen at once that `chosen` requires one of `refuted`.

        That saves its closure, which for each of a chain of items may be all of them.
        """
        return False

    @abstractmethod
    def change(self, chosen: Selection, taken: Selection) -> Change:
        """Return the change that takes the closed selection `chosen` on top of `taken`."""


class IndependentItems(Items):
    """Base of items that neither require nor orphan each other."""

    def close(self, chosen: Selection, taken: Selection) -> Closure:
        return Closure(NOTHING, NOTHING)


class Move(NamedTuple):
    """A substitution for a node of a tree, and the nodes left to search if it succeeds."""

    change: Change
    rest: tuple[int, ...]


class Tree(ABC):
    """Nodes to be made smaller from the top down."""

    @cached_property
    def roots(self) -> Sequence[int]:
        """The nodes to begin with."""
        raise NotImplementedError

    @abstractmethod
    def weight(self, node: int) -> int:
        """Return the size of a node with all below it; heavier nodes come first."""

    @abstractmethod
    def moves(self, node: int) -> Sequence[Move]:
        """Return the substitutions to try for a node, the most promising first."""

    @abstractmethod
    def parts(self, node: int) -> Items | None:
        """Return what can be dropped from within the node while it stays, if anything."""

    @abstractmethod
    def children(self, node: int, dropped: Selection) -> Sequence[int]:
        """Return the nodes to search below a node that has to stay, `dropped` of its parts gone."""


class WeightedTree(Tree):
    """A tree whose nodes are worth as much as their weights say: those of a text, in bytes.

    The default searches it by weight over all open nodes, not node by node.
    """

    @abstractmethod
    def child(self, node: int, position: int) -> int:
        """Return the node that is an item of `parts(node)`."""

    def without(self, gone: bytes, node: int, positions: Collection[int]) -> bytes:
        """Return which nodes are gone, as 1, when these items of `parts(node)` are, too."""
        return gone

    def free(self, node: int, positions: Sequence[int], gone: bytes) -> Sequence[int]:
        """Return those of some items that nothing else seems to need, by what is gone already."""
        return positions


class LeafTree(Tree):
    """Base of trees whose nodes have nothing to drop within; below them there is nothing either."""

    def parts(self, node: int) -> Items | None:
        return None

    def children(self, node: int, dropped: Selection) -> Sequence[int]:
        return ()


KINDS = 3
"""Substitutions of a node of a graph: all zeros, all ones, a fresh variable, tried in this order
(Vida 2008, chapter 4.1.1)."""


class Substitute(NamedTuple):
    """Nodes to be replaced by leaves of their sorts, all of one kind (0 .. KINDS - 1)."""

    nodes: Collection[int]
    kind: int


class Redirect(NamedTuple):
    """An edge, as a node and the position of an operand, to be pointed at another node."""

    node: int
    position: int
    target: int


Step: TypeAlias = Any
"""A Substitute, a Redirect, or another step that a graph knows."""


class Graph(ABC):
    """Nodes with operands below roots, as far as they are reached from these. Immutable.

    A tree has one way to each node; in a graph a node may have several parents,
    and what one substitution takes away or simplifies changes what the next one
    finds. So a graph is a value: a step leads from one graph to the next, and
    `change` is the change to the text between the two.
    """

    change: Change
    """The change that led here from the graph before."""

    @property
    @abstractmethod
    def size(self) -> int:
        """How many nodes there are."""

    @property
    @abstractmethod
    def tops(self) -> Sequence[int]:
        """The roots."""

    @abstractmethod
    def apply(self, step: Step) -> Self | None:
        """Return the graph after a step; None if that is not possible or nothing gets smaller."""

    @abstractmethod
    def alive(self, node: int) -> bool:
        """Return whether a node is still there."""

    @abstractmethod
    def nodes(self) -> Sequence[int]:
        """Return what can be substituted, depth first from the roots."""

    @abstractmethod
    def layers(self) -> Sequence[Sequence[int]]:
        """Return what can be substituted by depth: the longest path from a root (chapter 4.3.2)."""

    @abstractmethod
    def children(self, node: int) -> Sequence[int]:
        """Return the operands of a node, without repetition."""

    @abstractmethod
    def degree(self, node: int) -> int:
        """Return how many edges lead down from a node."""

    @abstractmethod
    def targets(self, node: int, position: int) -> Sequence[int]:
        """Return where else an edge can point, in ascending depth."""


class FixedSearch(NamedTuple):
    """A problem with its own search; the strategy is not consulted."""

    search: Search


Problem: TypeAlias = Items | Tree | Graph | FixedSearch


class IndependentChanges(IndependentItems):
    """A list of changes as items; taking several applies all their edits."""

    def __init__(self, changes: Sequence[Change], weights: Sequence[int] | None = None) -> None:
        self.changes = changes
        self.weights: Sequence[int] = weights or [1] * len(changes)

    def change(self, chosen: Selection, taken: Selection) -> Change:
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
