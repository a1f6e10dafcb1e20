"""Brings together successes that were found at the same time, each on an older base.

With many candidates in flight, most successes come in when the base they were
made on is no longer the best text: another success has come in before. The run
was paid for, so throwing it away, or running it again on the new base, as other
reducers do, costs as much as it brings. To accept both untested would break the
promise that what is written was tested, byte for byte.

The idea is to believe first and prove by the way. A success on an older base is
*tentative*: from then on candidates build on it as if it held. The next
candidate that succeeds has all tentative edits in its text, and that very text
was interesting; so it proves them all, and not one run was spent on that. Only
when failures pile up, and it may be the tentative edits that are to blame, are
these checked by themselves, as one candidate.

If that fails, some of them conflict. They are split in halves, each is checked
on top of what is accepted, and what fails is split again: group testing, so one
conflict among n successes costs about 2 log n runs. A half that holds is
accepted before the next is checked. So a success is given up only if it fails
alone, on top of all others that hold: the result is as good as that of trying
them one after the other.

Why that is sound: `accepted` only ever becomes the text of a candidate that the
oracle found interesting, never a union that was not run. And nothing that was
accepted is lost, because a candidate replaces the accepted text only if it
holds all successes that are in it. Sets of successes are integers with one bit
for each, so that this is one operation.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Generic

from reducekit.change import Change, Template
from reducekit.search.pass_search import B, P, Task, with_edits


@dataclass(slots=True, eq=False)
class Merging(Generic[B, P]):
    """The successes over one document: what is accepted, and what is tentative.

    Invariants: `accepted` was interesting as a whole, and holds the successes
    `accepted_bits`. `unmerged` and the groups of `conflicting` are disjoint, and
    none of them is among the accepted. `tentative` is the accepted base with the
    edits of `unmerged` on top, in the order in which they came in.
    """

    accepted: B
    keep_edits: bool
    """Whether `holds` is going to be asked."""
    rejected: int = 0
    """How many successes did not go together with others."""
    accepted_bits: int = 0
    _tentative: B | None = None
    """None: the accepted one."""
    _edits: dict[int, Template] = field(default_factory=dict)
    """The accepted edits."""
    _unmerged: list[Task[B, P]] = field(default_factory=list)
    _conflicting: list[list[Task[B, P]]] = field(default_factory=list)
    """Groups of successes that did not hold together; the last is checked next."""
    _failures: int = 0
    """Consecutive, on a tentative base."""

    @property
    def tentative(self) -> B:
        """What the next candidates build on."""
        return self.accepted if self._tentative is None else self._tentative

    @property
    def unproved(self) -> bool:
        """Whether anything is tentative."""
        return bool(self._unmerged)

    @property
    def conflicts(self) -> bool:
        """Whether successes that do not hold together wait to be checked in groups."""
        return bool(self._conflicting)

    def proved(self, task: Task[B, P]) -> bool:
        """Return whether all that a candidate builds on has been accepted."""
        return not task.base_bits & ~self.accepted_bits

    def holds(self, change: Change) -> bool:
        """Return whether the edits of a change, if any, are all accepted already."""
        held = self._edits
        return bool(change.edits) and all(held.get(e.node) == e.template for e in change.edits)

    def bits(self) -> int:
        """Return all successes that `tentative` holds."""
        bits = self.accepted_bits
        for task in self._unmerged:
            bits |= task.id_bit
        return bits

    def doubted(self, failures: int) -> bool:
        """Return whether that many consecutive failures make the tentative edits doubtful."""
        return bool(self._unmerged) and self._failures >= failures

    def to_check(self) -> list[Task[B, P]]:
        """Return the successes to be checked together next: a conflicting group, or all others."""
        return list(self._conflicting[-1] if self._conflicting else self._unmerged)

    def failed(self, task: Task[B, P]) -> None:
        """Take note of a failure: on a tentative base, that may be to blame."""
        # On a proved base a failure says nothing about what is tentative.
        self._failures += not self.proved(task)

    def succeeded(self, task: Task[B, P]) -> bool:
        """Record a success; return whether it is the new accepted text."""
        # The candidate holds all that is accepted: its text was run as it is, so it is the new
        # accepted text. Otherwise something was accepted since it was proposed.
        if not self.accepted_bits & ~task.base_bits:
            return self._accept(task)
        self._unmerged.append(task)
        self._tentative = self.tentative.with_(task.edits)
        return False

    def checked(self, task: Task[B, P], ok: bool) -> bool:
        """Take the verdict on what `to_check` returned; return whether it is the new accepted text.

        Meanwhile some of it may have been accepted, with others.
        """
        self._failures = 0
        if self._conflicting:
            group = self._conflicting.pop()
            if ok:
                return self.succeeded(task)
            self._split(group)
            return False
        # Only what was in the text that was checked. Successes that came in since then are not
        # refuted by it, and stay tentative.
        group = [each for each in self._unmerged if each.id_bit & task.base_bits]
        self._unmerged = [each for each in self._unmerged if not each.id_bit & task.base_bits]
        if ok:
            return self.succeeded(task)  # its change is that of the whole group
        self._split(group)
        self._believe()
        return False

    def _split(self, group: list[Task[B, P]]) -> None:
        """Set the halves of a group that failed aside; give up a success that failed alone."""
        half = len(group) // 2
        if half:
            # A stack: the first half is checked next, then the second on top of it, if it held.
            # So of two successes that exclude each other the earlier one wins.
            self._conflicting += [group[half:], group[:half]]
        else:
            self.rejected += len(group)

    def _accept(self, task: Task[B, P]) -> bool:
        """Accept a candidate that was interesting as a whole."""
        assert task.base is not None
        self.accepted = task.base.with_(task.edits)
        self.accepted_bits = task.base_bits | task.id_bit
        if self.keep_edits:
            # In the order in which the edits lie on top of each other in the text.
            for each in (*self._unmerged, *task.assumed(), task):
                if each.id_bit & self.accepted_bits:
                    self._edits.update(each.change.edits)
        self._unmerged = [each for each in self._unmerged if not each.id_bit & self.accepted_bits]
        self._failures = 0
        self._believe()
        return True

    def _believe(self) -> None:
        self._tentative = with_edits(self.accepted, self._unmerged) if self._unmerged else None
