"""Many candidates in flight over one document: what to try next, and what successes come to.

A *strand* is one search; a search that can be divided works in several *lanes*
at a time, each with a part of its own. Nothing is thrown away: a success found
on an older base is believed at once, and the following candidates build on it;
the next success that holds all that is believed proves it, without a run of its
own. Only if failures pile up on something unproved is it checked by itself, and
split when it does not hold.

Where there are no more parts to give out, lanes look ahead along both outcomes
of what is in flight, as far as it is likely to be of use.

Everything here is pure: what comes out depends only on the order in which
candidates are asked for and settled.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, Self, TypeVar

from reducekit.change import Change, Template
from reducekit.search.problem import Divisible, Search, is_divisible

_NOTHING = Change(())
_FLOOR = 0.25
"""A candidate is not worth a run if it is less likely than this to be of use."""
_NEXT_STRAND = 0.85
"""How likely a candidate of the next strand is to be of use, against one of this strand."""
_DOUBT = 3
"""After so many failures in a row on what is only believed, it is checked."""


class Base(Protocol):
    """What candidates build on: the document with the edits of some successes. Immutable."""

    def with_(self, more: Mapping[int, Template]) -> Self:
        """Return it with more edits on top."""


B = TypeVar("B", bound=Base)


@dataclass(slots=True, eq=False)
class Task(Generic[B]):
    """A candidate: the change that a search proposes, on top of what is believed by then.

    `chance` is the likelihood that its verdict will be needed, when the other
    verdicts in flight are not known yet.
    """

    lane: Lane[B] | None
    search: Search | None
    chance: float
    above: Task[B] | None = None
    """The task that is assumed to succeed, if this one looks ahead."""
    change: Change = _NOTHING
    base: B | None = None
    """What the change is made on. None until it is proposed."""
    own: int = 0
    """Its bit among the successes."""
    parts: int = 0
    """The bits of the successes that it builds on."""
    verdict: bool | None = None
    dead: bool = False
    """Nobody needs the verdict any more."""
    following: dict[bool, Task[B] | None] = field(default_factory=dict)
    text: bytes = b""
    """The candidate as rendered: for the one who checks it."""

    @property
    def edits(self) -> dict[int, Template]:
        """The edits of the change."""
        return dict(self.change.edits)

    def assumed(self) -> list[Task[B]]:
        """Return the tasks that are assumed to succeed, first to last."""
        found = []
        above = self.above
        while above is not None:
            found.append(above)
            above = above.above
        return found[::-1]


@dataclass(slots=True, eq=False)
class Lane(Generic[B]):
    """A search at work: one part of a strand, or the whole of it."""

    strand: Strand[B]
    search: Search
    root: Task[B] | None = None


@dataclass(slots=True, eq=False)
class Strand(Generic[B]):
    """A search over the document, its lanes, and how often its candidates succeeded."""

    name: Any
    """What the one who added it calls it."""
    lanes: list[Lane[B]] = field(default_factory=list)
    pool: Divisible | None = None
    """What gives out the parts; None: not divided."""
    tried: int = 0
    succeeded: int = 0
    accepted: int = 0
    """How often a candidate of it became the best one."""

    @property
    def done(self) -> bool:
        """Whether nothing is left to propose."""
        return not self.lanes and not (self.pool is not None and self.pool.left)

    def chance(self, search: Search) -> float:
        """Return how likely the next candidate of a search is to succeed."""
        chance = getattr(search, "chance", None)
        if chance is not None and (own := chance()) is not None:
            return float(own)
        return (self.succeeded + 0.6) / (self.tried + 3)


@dataclass(slots=True)
class Team(Generic[B]):
    """The strands over one document, first to last, and what has been found to hold.

    `accepted` is the best candidate that was interesting, `believed` that with
    all successes since. `width` is how many candidates are in flight at most.
    """

    width: int
    accepted: B
    strands: list[Strand[B]] = field(default_factory=list)
    rejected: int = 0
    """How many successes did not go together with others."""
    _believed: B | None = None
    """None: the accepted one."""
    _accepted_parts: int = 0
    _held: dict[int, Template] = field(default_factory=dict)
    """The accepted edits, if several candidates may be in flight."""
    _pending: list[Task[B]] = field(default_factory=list)
    """The successes that are believed, and not among the accepted edits yet."""
    _doubtful: list[list[Task[B]]] = field(default_factory=list)
    """Groups of successes that did not hold together with others."""
    _failures: int = 0
    """In a row, on what is only believed."""
    _checking: Task[B] | None = None
    _flying: int = 0
    _bits: int = 0

    @property
    def believed(self) -> B:
        """What the next candidates build on."""
        return self.accepted if self._believed is None else self._believed

    def proved(self, task: Task[B]) -> bool:
        """Return whether all that a candidate builds on has been accepted."""
        return not task.parts & ~self._accepted_parts

    def add(self, name: Any, search: Search | None) -> None:
        """Work on another search too, after the others; None: one that has ended."""
        strand = Strand[B](name)
        if search is not None and search.propose() is not None:
            strand.lanes.append(Lane(strand, search))
        self.strands.append(strand)

    @property
    def done(self) -> bool:
        """Whether the first strand has ended, and all that is believed is proved."""
        return self.strands[0].done and not self._pending and not self._doubtful

    def abandon(self) -> None:
        """Let go of all that is searched: strands, lanes and candidates know each other."""
        for strand in self.strands:
            for lane in strand.lanes:
                if lane.root is not None:
                    _bury(lane.root)
                    lane.root = None
            strand.lanes.clear()

    def next(self) -> Task[B] | None:
        """Return the candidate most likely to be of use; None if there is none for now."""
        if self._checking is None and self._must_check():
            return self._check()
        for each in self.strands:
            self._part(each)
        best = self._frontier()
        strand, worth = self._divisible()
        if strand is not None and (best is None or best[1] < worth):
            lane = self._divide(strand)
            if lane is not None:
                return self._propose(self._root(lane))
        return None if best is None else self._propose(best[0])

    def settle(self, task: Task[B], ok: bool) -> bool:
        """Take the verdict on a candidate; return whether it is the new best."""
        self._flying -= 1
        if task.dead:
            return False
        task.verdict = ok
        improved = False
        if task is self._checking:
            improved = self._checked(task, ok)
        else:
            assert task.lane is not None
            task.lane.strand.tried += 1
            if ok:
                task.lane.strand.succeeded += 1
                improved = self._succeed(task)
                task.lane.strand.accepted += improved
            elif not self.proved(task):
                self._failures += 1
            self._advance(task.lane)
        if improved and self.width > 1:
            self._skip_subsumed()
        return improved

    def _skip_subsumed(self) -> None:
        """Count what is part of the accepted edits by now as a success, without a verdict."""
        for strand in self.strands:
            for lane in list(strand.lanes):
                while (root := lane.root) is not None and self._holds(root):
                    root.verdict = root.dead = True
                    self._advance(lane)

    def _holds(self, task: Task[B]) -> bool:
        """Return whether the edits of a task in flight are accepted already."""
        edits = task.change.edits
        if not edits or task.verdict is not None:
            return False
        return all(self._held.get(edit.node) == edit.template for edit in edits)

    def _must_check(self) -> bool:
        if self._doubtful:
            return True
        if not self._pending:
            return False
        return (
            self._failures >= max(_DOUBT, self.width // 2)
            or self.strands[0].done
            or (self._flying == 0 and self._frontier() is None and self._divisible()[0] is None)
        )

    def _check(self) -> Task[B]:
        """Return the candidate that has all that is believed, or a group of what is doubtful."""
        task = Task[B](None, None, 1.0)
        more = self._doubtful[-1] if self._doubtful else self._pending
        task.change = Change(tuple(e for each in more for e in each.change.edits), "merge")
        self._checking = task
        return self._propose(task, more)

    def _checked(self, task: Task[B], ok: bool) -> bool:
        """Take the verdict on successes found apart: together, or in halves."""
        self._checking = None
        self._failures = 0
        if self._doubtful:
            group = self._doubtful.pop()
            if ok:
                return self._succeed(task)
            if len(group) == 1:
                self.rejected += 1
            else:
                self._split(group)
            return False
        if ok:
            # Its change is that of all of these.
            self._pending = [each for each in self._pending if not each.own & task.parts]
            return self._succeed(task)
        doubtful = [each for each in self._pending if each.own & task.parts]
        self._pending = [each for each in self._pending if not each.own & task.parts]
        if len(doubtful) == 1:
            self.rejected += 1
        elif doubtful:  # else all have been accepted meanwhile, with others
            self._split(doubtful)
        self._believe()
        return False

    def _split(self, group: list[Task[B]]) -> None:
        half = len(group) // 2
        self._doubtful += [group[half:], group[:half]]

    def _succeed(self, task: Task[B]) -> bool:
        if not self._accepted_parts & ~task.parts:
            return self._commit(task)
        self._pending.append(task)
        self._believed = self.believed.with_(task.edits)
        return False

    def _commit(self, task: Task[B]) -> bool:
        """Accept a candidate that was interesting as a whole."""
        assert task.base is not None
        self.accepted = task.base.with_(task.edits)
        self._accepted_parts = task.parts | task.own
        if self.width > 1:
            for each in (*self._pending, *task.assumed(), task):
                if each.own & self._accepted_parts:
                    self._held.update(each.change.edits)
        self._pending = [each for each in self._pending if not each.own & self._accepted_parts]
        self._failures = 0
        self._believe()
        return True

    def _believe(self) -> None:
        self._believed = _all(self.accepted, self._pending) if self._pending else None

    def _lanes(self) -> Iterator[tuple[Lane[B], float]]:
        """Yield the lanes, and how likely it is that their candidates are of use."""
        weight = 1.0
        for strand in self.strands:
            for lane in strand.lanes:
                yield lane, weight
            weight *= _NEXT_STRAND

    def _frontier(self) -> tuple[Task[B], float] | None:
        """Return the most useful candidate that is not proposed yet, with its worth."""
        best: tuple[Task[B], float] | None = None
        idle = 1 - self._flying / self.width
        for lane, weight in self._lanes():
            # A search in parts loses little time where most workers have one, so looking
            # ahead in it pays only when they have run out.
            ahead = weight * idle**2 if lane.strand.pool is not None else weight
            stack = [self._root(lane)]
            while stack:
                task = stack.pop()
                worth = task.chance * (weight if task is lane.root else ahead)
                if worth < _FLOOR or (best is not None and worth <= best[1]):
                    continue
                if task.base is None:
                    best = task, worth
                else:
                    stack += self._ahead(task)
        return best

    def _root(self, lane: Lane[B]) -> Task[B]:
        if lane.root is None:
            lane.root = Task(lane, lane.search, 1.0)
        return lane.root

    def _ahead(self, task: Task[B]) -> list[Task[B]]:
        """Return the tasks that may follow one in flight, the more likely ones only."""
        assert task.lane is not None
        assert task.search is not None
        success = task.lane.strand.chance(task.search)
        found = []
        for ok, chance in ((True, success), (False, 1 - success)):
            if task.verdict is not None:
                chance = float(task.verdict == ok)
            if task.chance * chance < _FLOOR:
                continue
            if ok not in task.following:
                search = task.search.after(ok)
                following = None
                if search.propose() is not None:
                    following = Task(task.lane, search, 0.0, task if ok else task.above)
                task.following[ok] = following
            each = task.following[ok]
            if each is not None:
                each.chance = task.chance * chance
                found.append(each)
        return found

    def _divisible(self) -> tuple[Strand[B] | None, float]:
        """Return the first strand that can give out a part, and the worth of that."""
        weight = 1.0
        lanes = sum(len(strand.lanes) for strand in self.strands)
        for strand in self.strands:
            if strand.pool is not None and strand.pool.left and lanes < self.width:
                return (strand, weight) if weight >= _FLOOR else (None, 0.0)
            weight *= _NEXT_STRAND
        return None, 0.0

    def _part(self, strand: Strand[B]) -> None:
        """Turn a strand into parts once that is worth it."""
        if self.width == 1 or strand.pool is not None or not strand.lanes:
            return
        lane = strand.lanes[0]
        if is_divisible(lane.search) and lane.search.worth_dividing(self.width):
            strand.pool = lane.search
            strand.lanes.clear()
            if lane.root is not None:
                # The first part will propose the same again.
                _bury(lane.root)
                lane.root = None

    def _divide(self, strand: Strand[B]) -> Lane[B] | None:
        """Give out a part that has something to propose; None if there is none."""
        while strand.pool is not None and strand.pool.left:
            strand.pool, part = strand.pool.divide(self.width)
            if part.propose() is not None:
                strand.lanes.append(Lane(strand, part))
                return strand.lanes[-1]
            strand.pool = strand.pool.join(part)
        return None

    def _propose(self, task: Task[B], more: Iterable[Task[B]] = ()) -> Task[B]:
        more = (*more, *task.assumed())
        task.base = _all(self.believed, more) if more else self.believed
        task.parts = self._accepted_parts
        for each in (*self._pending, *more):
            task.parts |= each.own
        if task.search is not None:
            change = task.search.propose()
            assert change is not None
            task.change = change
        self._bits += 1
        task.own = 1 << self._bits
        self._flying += 1
        return task

    def _advance(self, lane: Lane[B]) -> None:
        """Follow the verdicts that are known."""
        while (task := lane.root) is not None and task.verdict is not None:
            kept = task.following.get(task.verdict)
            for each in task.following.values():
                if each is not None and each is not kept:
                    _bury(each)
            assert task.search is not None
            lane.search = task.search.after(task.verdict) if kept is None else kept.search  # type: ignore[assignment]
            lane.root = kept
            task.following = {}
            if kept is not None:
                kept.chance = 1.0
                kept.above = None  # not assumed any more: it is believed, or known to fail
            elif lane.search.propose() is None:
                lane.strand.lanes.remove(lane)
                if lane.strand.pool is not None:
                    lane.strand.pool = lane.strand.pool.join(lane.search)
                    if lane.strand.pool.whole() is not None:
                        self._undivide(lane.strand)

    def _undivide(self, strand: Strand[B]) -> None:
        """Break the parts of a strand off, and go on with it as one."""
        pool = strand.pool
        assert pool is not None
        for lane in strand.lanes:
            if lane.root is not None:
                _bury(lane.root)
                lane.root = None
            pool = pool.join(lane.search)
        strand.pool = None
        strand.lanes.clear()
        search = pool.whole()
        if search is not None and search.propose() is not None:
            strand.lanes.append(Lane(strand, search))


def _bury(task: Task[B]) -> None:
    """Mark a task and all that follow it as needed by nobody."""
    stack = [task]
    while stack:
        each = stack.pop()
        each.dead = True
        stack += [below for below in each.following.values() if below is not None]
        each.following = {}


def _all(base: B, tasks: Iterable[Task[B]]) -> B:
    """Return the base with the edits of all tasks."""
    edits: dict[int, Template] = {}
    for task in tasks:
        edits.update(task.change.edits)
    return base.with_(edits)
