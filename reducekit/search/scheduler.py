"""Which candidate to try next, when many are in flight over one document.

A search proposes one candidate and wants its verdict before the next. With
`width` candidates in flight, the others have to come from somewhere else, and
there are three places, in this order of worth:

* *Parts*: a search that can be divided gives out partitions, which are searched
  side by side. No run is lost by that but those on items that depend on each
  other over the border.
* *Looking ahead*: searches are immutable, so what a search would propose after
  a success or a failure of the candidate in flight is known now. The candidate
  that is the more likely to be of use is tried: its chance is the product of
  the chances of all verdicts that it assumes. What assumed the wrong verdict is
  discarded.
* *Later passes*: as long as a pass finds nothing, the next one works on the
  same document. The caller adds their searches (`add`).

Where one run checks all that is in flight, one by one up to the first success
(`in_a_row`), only what follows failures is looked at ahead: it costs no run.

Successes are never thrown away but merged; see `merging` for the idea.

Why the result depends on the width alone, and not on timing or on the number of
workers: the scheduler is a state that only `next` and `settle` change, and
neither looks at a clock. Its user (`reduction.epoch`) asks for candidates until
`width` are in flight, and settles the oldest one first, whichever verdict came
in first. So the order of all calls is a function of the verdicts, and the
verdicts are a function of the texts. A candidate depends on the verdicts of all
but the last `width - 1` before it, nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Generic

from reducekit.change import Change
from reducekit.search.merging import Merging
from reducekit.search.pass_search import (
    B,
    P,
    Partition,
    PassSearch,
    Task,
    task_of,
    with_edits,
)
from reducekit.search.problem import Search

# Lower keeps more workers busy and discards more of their runs; a few workers never get that far,
# as the most likely candidates come first. On 50 scripts of `benchmarks.scaling`, not those of its
# table, 32 workers take 2,045 times a run at 0.1, 1,732 at 0.03, and 1,779 at 0.01.
_LEAST_CHANCE = 0.03
"""A candidate is not worth a run if it is less likely than this to be of use."""
# By hand. A candidate of the next pass is lost if any candidate of this one succeeds, since the
# text is parsed again then.
_NEXT_PASS = 0.85
"""How likely a candidate of the next pass is to be of use, compared with one of this pass."""
# A check of the tentative edits costs a run. Three failures in a row are no surprise by
# themselves (candidates fail far more often than not), so with many in flight it is half of these
# instead: failures that were proposed before the conflict say nothing about it.
_DOUBT = 3
"""After this many consecutive failures on a tentative base, the base is checked."""


@dataclass(slots=True, eq=False)
class Scheduler(Generic[B, P]):
    """The searches of some passes over one document, first to last.

    Invariants: at most `width` tasks are in flight, that is, returned by `next`
    and not settled yet; at most one of them, `_checking`, is a union of
    successes. What is looked at ahead hangs below the root of its partition.
    """

    width: int
    merging: Merging[B, P]
    passes: list[PassSearch[B, P]] = field(default_factory=list)
    in_a_row: bool = False
    """Whether one run checks all that are in flight, one by one up to the first success."""
    _checking: Task[B, P] | None = None
    _in_flight: int = 0
    _bits: int = 0
    """How many tasks have been proposed: each has a bit of its own."""

    @classmethod
    def on(cls, width: int, base: B, *, in_a_row: bool = False) -> Scheduler[B, P]:
        """Return a scheduler that builds on an accepted base."""
        return cls(width, Merging(base, keep_edits=width > 1), in_a_row=in_a_row)

    def add(self, position: P, search: Search | None) -> None:
        """Search another pass too, after the others; None: one that has ended."""
        added = PassSearch[B, P](position)
        if search is not None and search.propose() is not None:
            added.partitions.append(Partition(added, search))
        self.passes.append(added)

    @property
    def done(self) -> bool:
        """Whether the first pass has ended, and all that is tentative is proved."""
        merging = self.merging
        return self.passes[0].done and not merging.unproved and not merging.conflicts

    def end_pass(self) -> int:
        """Drop the first pass, which is done; return how many successes were given up in it."""
        del self.passes[0]
        rejected, self.merging.rejected = self.merging.rejected, 0
        return rejected

    def resize(self, width: int) -> None:
        """Keep `count` candidates in flight from now on, where one run checks all of them.

        What is in flight is let go of, and what is still wanted of it is named again.
        """
        self.width, self.in_a_row = width, width > 1
        for each in self.passes:
            for partition in each.partitions:
                partition.discard()
                partition.search = partition.search.in_a_row(width)

    def skip(self) -> None:
        """Search no more in the first pass; its successes are still checked."""
        self.passes[0].discard()

    def abandon(self) -> None:
        """Let go of all that is searched: passes, partitions and tasks refer to each other."""
        for each in self.passes:
            each.discard()

    def next(self) -> Task[B, P] | None:
        """Return the candidate most likely to be of use; None if there is none for now."""
        # One union at a time: a second one would hold the first, and fail with it.
        if self._checking is None and self._must_check():
            return self._check()
        for each in self.passes:
            self._divide_if_worth_it(each)
        best = self._frontier()
        divided, worth = self._divided()
        # A new part is as good as certain to be needed, so only a better candidate comes before
        # it: the root of another partition of the same or an earlier pass.
        if divided is not None and (best is None or best[1] < worth):
            partition = self._give_out(divided)
            if partition is not None:
                return self._propose(self._root(partition))
        return None if best is None else self._propose(best[0])

    def settle(
        self, task: Task[B, P], ok: bool, *, keep: bool = True, unresolved: bool = False
    ) -> bool:
        """Take the verdict on a candidate; return whether it is the new accepted text.

        Without `keep` a success is only reported to its search: nothing may build on it.
        """
        self._in_flight -= 1
        # Its verdict assumed another verdict that came out differently. It may have arrived all
        # the same; acting on it would make the result depend on timing.
        if task.obsolete:
            return False
        task.verdict, task.unresolved = ok, unresolved
        improved = False
        if task is self._checking:
            self._checking = None
            improved = self.merging.checked(task, ok)
        else:
            assert task.partition is not None
            task.partition.pass_search.tried += 1
            if ok:
                task.partition.pass_search.succeeded += 1
                # A probe that succeeded is only reported: nothing may build on its text.
                improved = keep and self.merging.succeeded(task)
            else:
                self.merging.failed(task)
            self._advance(task.partition)
        if improved and self.width > 1:
            self._skip_subsumed()
        return improved

    def _skip_subsumed(self) -> None:
        """Count what is part of the accepted edits by now as a success, without a verdict."""
        for each in self.passes:
            for partition in list(each.partitions):
                while (root := partition.root) is not None and root.verdict is None:
                    if root.base is None or not self.merging.holds(root.change):
                        break
                    # Another candidate has made the same edits, so the run would test the
                    # accepted text.
                    root.verdict = root.obsolete = True
                    self._advance(partition)

    def _must_check(self) -> bool:
        """Return whether successes are to be checked by themselves now."""
        if self.merging.conflicts:
            return True
        if not self.merging.unproved:
            return False
        return (
            # Failures pile up on what is tentative; or there is nothing else to do, so that the
            # check costs no time that a worker could have used.
            self.merging.doubted(max(_DOUBT, self.width // 2))
            or self.passes[0].done
            or (self._in_flight == 0 and self._frontier() is None and self._divided()[0] is None)
        )

    def _check(self) -> Task[B, P]:
        """Return the candidate that is the union of successes that were found apart."""
        group = self.merging.to_check()
        edits = (edit for task in group for edit in task.change.edits)
        self._checking = Task[B, P](None, None, 1.0, change=Change(tuple(edits), "merge"))
        return self._propose(self._checking, group)

    def _propose(self, task: Task[B, P], more: Iterable[Task[B, P]] = ()) -> Task[B, P]:
        """Put a task in flight: on all that is tentative, and on `more`."""
        # What is assumed to succeed goes on top of what is tentative, in that order: of two edits
        # of one node, that which was proposed later stands.
        more = (*more, *task.assumed())
        merging = self.merging
        task.base = with_edits(merging.tentative, more) if more else merging.tentative
        task.base_bits = merging.bits()
        for each in more:
            task.base_bits |= each.id_bit
        # A new bit for each task, even for those never accepted: integers of some thousand bits
        # are still compared in well under a microsecond.
        self._bits += 1
        task.id_bit = 1 << self._bits
        self._in_flight += 1
        return task

    def _weighted(self) -> Iterator[tuple[Partition[B, P], float]]:
        """Yield the partitions, and how likely their candidates are to be of use."""
        weight = 1.0
        for each in self.passes:
            for partition in each.partitions:
                yield partition, weight
            weight *= _NEXT_PASS

    def _frontier(self) -> tuple[Task[B, P], float] | None:
        """Return the most useful candidate that is not proposed yet, with its worth."""
        best: tuple[Task[B, P], float] | None = None
        # The share of workers without a candidate.
        idle = 1 - self._in_flight / self.width
        for partition, weight in self._weighted():
            # A search in parts loses little time where most workers have one, so looking
            # ahead in it pays only when they have run out.
            divided = partition.pass_search.pool is not None
            ahead = weight * idle**2 if divided else weight
            stack = [self._root(partition)]
            while stack:
                task = stack.pop()
                worth = task.chance * (weight if task is partition.root else ahead)
                # A task's worth bounds that of all that follow it, as chances are multiplied: so
                # this is branch and bound, and only promising branches of the tree of verdicts
                # are made.
                if worth < _LEAST_CHANCE or (best is not None and worth <= best[1]):
                    continue
                if task.base is None:
                    best = task, worth
                else:
                    stack += self._ahead(task)
        return best

    def _root(self, partition: Partition[B, P]) -> Task[B, P]:
        if partition.root is None:
            partition.root = task_of(partition, partition.search, 1.0)
            assert partition.root is not None, "a search that has ended has no partition"
        return partition.root

    def _ahead(self, task: Task[B, P]) -> list[Task[B, P]]:
        """Return the tasks that may follow one in flight, the more likely ones only."""
        assert task.partition is not None
        assert task.search is not None
        success = task.partition.pass_search.chance(task.search)
        found = []
        for ok, chance in ((True, success), (False, 1 - success)):
            if task.verdict is not None:
                chance = float(task.verdict == ok)
            elif self.in_a_row:
                # What follows a success is not played in this run. What follows a failure costs
                # nothing more, however unlikely it is that it is needed.
                chance = float(not ok)
            if task.chance * chance < _LEAST_CHANCE:
                continue
            # Made once: searches are immutable, so a branch stays right until its verdict is known.
            if ok not in task.following:
                # After a success the candidate builds on this task, after a failure on what this
                # one was built on.
                parent = task if ok else task.assumed_parent
                search = task.search.after(ok)
                task.following[ok] = task_of(task.partition, search, 0.0, parent)
            each = task.following[ok]
            if each is not None:
                each.chance = task.chance * chance
                found.append(each)
        return found

    def _divided(self) -> tuple[PassSearch[B, P] | None, float]:
        """Return the first pass that can give out a part, and the worth of that."""
        weight = 1.0
        # More parts than workers would only delay the verdicts on those given out first.
        partitions = sum(len(each.partitions) for each in self.passes)
        for each in self.passes:
            if each.pool is not None and each.pool.left and partitions < self.width:
                return (each, weight) if weight >= _LEAST_CHANCE else (None, 0.0)
            weight *= _NEXT_PASS
        return None, 0.0

    def _divide_if_worth_it(self, pass_search: PassSearch[B, P]) -> None:
        """Turn to searching a pass in parts once that is worth it."""
        if self.width == 1 or self.in_a_row:
            return  # parts are for several workers
        if pass_search.pool is not None or not pass_search.partitions:
            return
        pool = pass_search.partitions[0].search.divisible()
        if pool is not None and pool.worth_dividing(self.width):
            pass_search.discard()  # the first part will propose the same again
            pass_search.pool = pool

    def _give_out(self, pass_search: PassSearch[B, P]) -> Partition[B, P] | None:
        """Give out a part that has something to propose; None if there is none."""
        # A part may turn out to be empty, as its items went with those of others meanwhile.
        while pass_search.pool is not None and pass_search.pool.left:
            pass_search.pool, part = pass_search.pool.divide(self.width)
            if part.propose() is not None:
                pass_search.partitions.append(Partition(pass_search, part))
                return pass_search.partitions[-1]
            pass_search.pool = pass_search.pool.join(part)
        return None

    def _advance(self, partition: Partition[B, P]) -> None:
        """Follow the verdicts that are known, up to a task whose verdict is not."""
        while (task := partition.root) is not None and task.verdict is not None:
            kept = task.following.get(task.verdict)
            assert task.search is not None
            search = task.search.unresolved() if task.unresolved else None
            if search is not None:
                kept = None  # what was looked ahead to assumes that it passes
            # The branch of the other verdict was speculation. Its runs are cancelled by the epoch.
            for each in task.following.values():
                if each is not None and each is not kept:
                    each.discard()
            if search is None:
                search = task.search.after(task.verdict) if kept is None else kept.search
            assert search is not None
            partition.search = search
            partition.root = kept
            task.following = {}
            if kept is not None:
                kept.chance = 1.0
                kept.assumed_parent = None  # no longer assumed: it is tentative, or has failed
            else:
                partition.root = task_of(partition, search, 1.0)
                if partition.root is None:
                    self._end(partition)

    def _end(self, partition: Partition[B, P]) -> None:
        """Take a partition back that has nothing left to propose."""
        pass_search = partition.pass_search
        pass_search.partitions.remove(partition)
        if pass_search.pool is not None:
            pass_search.pool = pass_search.pool.join(partition.search)
            # Items that were refuted in one part could go after all once another part was done:
            # the order matters here, so parts have to end.
            if pass_search.pool.whole() is not None:
                self._undivide(pass_search)

    def _undivide(self, pass_search: PassSearch[B, P]) -> None:
        """Break the parts of a pass off, and go on with it as one."""
        pool = pass_search.pool
        assert pool is not None
        for partition in pass_search.partitions:
            pool = pool.join(partition.search)
        pass_search.discard()
        search = pool.whole()
        if search is not None and search.propose() is not None:
            pass_search.partitions.append(Partition(pass_search, search))
