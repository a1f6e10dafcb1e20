"""What a scheduler works on: the searches of passes, their partitions, and candidates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Generic, Protocol, Self, TypeVar

from reducekit.change import Change, Template
from reducekit.search.problem import Divisible, Search

_NOTHING = Change(())


class Base(Protocol):
    """What candidates build on: the document with the edits of some successes. Immutable."""

    def with_(self, more: Mapping[int, Template]) -> Self:
        """Return it with more edits on top."""


B = TypeVar("B", bound=Base)
P = TypeVar("P")
"""How the caller identifies a pass, such as by its place in a schedule."""


@dataclass(slots=True, eq=False, weakref_slot=True)
class Task(Generic[B, P]):
    """A candidate: the change that a search proposes, on top of what is tentative by then.

    Invariants: until it is proposed, `base` is None and it has no bits; from
    then on base, bits and change stay as they are. `base_bits` has the bits of
    all successes that `base` holds, and never `id_bit`.
    """

    partition: Partition[B, P] | None
    """None: the union of successes that were found apart."""
    search: Search | None
    chance: float
    """How likely the verdict is to be needed, while other verdicts are unknown."""
    assumed_parent: Task[B, P] | None = None
    """The task that is assumed to succeed, if this one looks ahead."""
    change: Change = _NOTHING
    base: B | None = None
    """What the change is made on."""
    id_bit: int = 0
    """Its bit in sets of successes, which are integers."""
    base_bits: int = 0
    """The successes that it builds on."""
    verdict: bool | None = None
    unresolved: bool = False
    """Whether the verdict says neither that the candidate fails nor that it passes."""
    obsolete: bool = False
    """The verdict is no longer needed."""
    following: dict[bool, Task[B, P] | None] = field(default_factory=dict)
    """The tasks that come after a failure and after a success, as far as they were looked at."""

    @property
    def edits(self) -> dict[int, Template]:
        """The edits of the change."""
        return dict(self.change.edits)

    def assumed(self) -> list[Task[B, P]]:
        """Return the tasks that are assumed to succeed, first to last."""
        found = []
        parent = self.assumed_parent
        while parent is not None:
            found.append(parent)
            parent = parent.assumed_parent
        return found[::-1]

    def discard(self) -> None:
        """Mark the task and all that follow it as obsolete."""
        # No recursion: what was looked ahead to may be hundreds of tasks deep.
        stack = [self]
        while stack:
            task = stack.pop()
            task.obsolete = True
            stack += [below for below in task.following.values() if below is not None]
            task.following = {}


@dataclass(slots=True, eq=False)
class Partition(Generic[B, P]):
    """A search at work: one part of a pass' search, or the whole of it.

    Invariant: `root`, if there is one, is the task of what `search` proposes,
    and its verdict is not known yet.
    """

    pass_search: PassSearch[B, P]
    search: Search
    root: Task[B, P] | None = None

    def discard(self) -> None:
        """Let go of all its tasks."""
        if self.root is not None:
            self.root.discard()
            self.root = None


@dataclass(slots=True, eq=False)
class PassSearch(Generic[B, P]):
    """The search of one pass over the document, and how often its candidates succeeded.

    Invariant: with a `pool`, the partitions are the parts that the pool gave
    out and has not got back; without, there is one, or none when it has ended.
    """

    position: P
    partitions: list[Partition[B, P]] = field(default_factory=list)
    pool: Divisible | None = None
    """What gives out the parts; None: not divided."""
    tried: int = 0
    succeeded: int = 0

    @property
    def done(self) -> bool:
        """Whether nothing is left to propose."""
        return not self.partitions and not (self.pool is not None and self.pool.left)

    def chance(self, search: Search) -> float:
        """Return how likely the next candidate of a search is to succeed.

        Where the search does not say, by how it went so far: as if there had
        been three more tries, a fifth of them with success.
        """
        # A prior of 0.6 successes in 3 tries: the first candidates of a pass fail more often than
        # not, and a few tries are enough to know better. It decides only what is looked ahead to
        # first.
        known = search.chance()
        return (self.succeeded + 0.6) / (self.tried + 3) if known is None else known

    def discard(self) -> None:
        """Let go of all that is left to search."""
        for partition in self.partitions:
            partition.discard()
        self.partitions.clear()
        self.pool = None


def task_of(
    partition: Partition[B, P],
    search: Search,
    chance: float,
    assumed_parent: Task[B, P] | None = None,
) -> Task[B, P] | None:
    """Return the task of what a search proposes; None if the search has ended."""
    change = search.propose()
    return None if change is None else Task(partition, search, chance, assumed_parent, change)


def with_edits(base: B, tasks: Iterable[Task[B, P]]) -> B:
    """Return a base with the edits of all tasks, the later of two edits of one node standing."""
    edits: dict[int, Template] = {}
    for task in tasks:
        # Of two edits of one node the later stands, as if one had been made after the other.
        edits.update(task.change.edits)
    return base.with_(edits)
