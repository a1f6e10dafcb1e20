"""The search over a graph: one candidate at a time, the heaviest nodes first.

What can be tried on a graph is one sequence, made while it is read: the nodes
that this round has not seen yet, heaviest first, then the closing moves, then
the nodes seen on an earlier graph. A failure is a step along the sequence, a
success another graph with a sequence of its own. So a search is a graph and a
place in its sequence, and what would follow a failure is known before the
verdict is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from reducekit.change import Change
from reducekit.frontends.smt2.graph.closing import CLOSING, Closing, closing
from reducekit.frontends.smt2.graph.listing import Listing
from reducekit.frontends.smt2.graph.model import Graph
from reducekit.frontends.smt2.graph.moves import HUGE as _HUGE
from reducekit.frontends.smt2.graph.moves import LARGE as _LARGE
from reducekit.frontends.smt2.graph.moves import Candidate, Material, Moves
from reducekit.frontends.smt2.graph.neighbourhood import Neighbourhood
from reducekit.frontends.smt2.graph.pieces import Pieces, pieces_of
from reducekit.frontends.smt2.graph.printing import Command, Style, Unprintable, print_command
from reducekit.search.lazy import Lazy
from reducekit.search.problem import Search

_SMALLER = 8
"""A style that has failed is tried again when the graph has become so many times smaller."""
_LESS = 0.7
"""It is also tried when nothing else helps, on a graph smaller by so much."""
_ENOUGH, _RARE = 8, 20
"""A kind of move that was tried so often is put off if it helps less than once in so many tries."""
_LAST = frozenset(("truth value", "other constant"))
"""Kinds of moves that are put off from the start. Of 6,200 checks on 121 faults seeded at random
instructions of four solvers, 350 were truth values and 4 of them helped; 705 were the second
smallest constant of a sort, and 24 helped. What is left of a term when its larger parts are gone
is tried with them all the same."""
_KEPT = 64
"""So many candidates are kept in print: each is asked for a few times in a row."""


@dataclass(frozen=True, slots=True)
class Place:
    """What a search over a graph knows of its past.

    `done` are the nodes that this round has dealt with. `last` is the candidate
    that led here. `styled` is the weight of the graph on which another style was
    tried last, and `closed` where the closing moves go on.
    """

    style: Style
    done: frozenset[int] = frozenset()
    last: Candidate | None = None
    styled: int = 0
    closed: tuple[int, int] = (0, 0)
    tally: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """How often each kind of move was tried, and how often it helped."""
    only: Sequence[tuple[str, Closing]] = ()
    """The closing moves that are tried, and nothing else; empty: whatever there is."""


@dataclass(frozen=True, slots=True)
class Step:
    """A candidate, and the place that its success leads to."""

    candidate: Candidate
    after: Place


class Steps:
    """What can be tried on one graph, and what it looks like in print: for all states on it."""

    def __init__(
        self,
        graph: Graph,
        material: Material,
        place: Place,
        listing: Listing,
        different: frozenset[int],
    ) -> None:
        self.graph = graph
        self.material = material
        self.style = place.style
        self.listing = listing
        self.different = different
        """Commands that the document does not show like the listing, until a success."""
        self._moves = Moves(graph, material)
        self._steps: Sequence[Step] = Lazy(iter(_Sequence(self._moves, place)))
        self._neighbourhood = Neighbourhood(self._moves.analysis, material)
        self._pieces: dict[int, Pieces | None] = {}
        self._printed: dict[int, tuple[Listing, set[int]] | None] = {}

    def __getitem__(self, at: int) -> Step | None:
        """Return a step, None at the end."""
        try:
            return self._steps[at]
        except IndexError:
            return None

    def printed(self, at: int) -> tuple[Listing, set[int]] | None:
        """Return the listing of a candidate, and which commands change; None if there is none."""
        if at not in self._printed:
            step = self[at]
            assert step is not None
            if len(self._printed) == _KEPT:
                del self._printed[next(iter(self._printed))]
            self._printed[at] = self._print(step)
        return self._printed[at]

    def key(self, at: int) -> bytes:
        """Return what stands for a candidate where nothing near it has changed."""
        step = self[at]
        return b"" if step is None else self._neighbourhood.key(step.candidate.replaced)

    def _print(self, step: Step) -> tuple[Listing, set[int]] | None:
        candidate, style = step.candidate, step.after.style
        if style is self.style:
            commands: Collection[int] = self._moves.analysis.standing(
                candidate.printed.union(candidate.replaced)
            )
        else:
            commands = range(len(self.listing.commands))
        try:
            return self.listing.printed_again(
                candidate.graph, style, candidate.replaced, commands, self._print_command
            )
        except Unprintable:
            return None

    def _print_command(
        self, graph: Graph, command: int, style: Style, replaced: Mapping[int, int]
    ) -> Command:
        """Print a command of a candidate: of a large one only what has changed."""
        if style is self.style and replaced and graph.bound is self.graph.bound:
            if command not in self._pieces:
                self._pieces[command] = pieces_of(self.graph, command, style)
            pieces = self._pieces[command]
            if pieces is not None:
                found = pieces.again(graph, replaced, self._moves.analysis.users)
                if found is not None:
                    return found
        return print_command(graph, command, style, replaced)


@dataclass(frozen=True, slots=True)
class Descent(Search):
    """The state: a graph with what can be tried on it, and the place among that."""

    steps: Steps
    at: int = 0

    def propose(self) -> Change | None:
        """Return the next candidate as a change of commands."""
        step = self.steps[self.at]
        if step is None:
            return None
        printed = self.steps.printed(self.at)
        if printed is None:
            return Change(())
        listing, changed = printed
        what, key = step.candidate.what, self.steps.key(self.at)
        return listing.change(changed | self.steps.different, what, key)

    def current(self) -> tuple[Step | None, Listing | None]:
        """Return the next step and what it prints; None at the end, or for what has no print."""
        step = self.steps[self.at]
        printed = None if step is None else self.steps.printed(self.at)
        return step, None if printed is None else printed[0]

    def key(self) -> bytes:
        """Return what stands for the next step where nothing near it has changed."""
        return self.steps.key(self.at)

    def after(self, ok: bool) -> Descent:
        """Go on along the steps, or on the graph that a success has made."""
        if not ok:
            return Descent(self.steps, self.at + 1)
        step, printed = self.steps[self.at], self.steps.printed(self.at)
        assert step is not None, "after() without a proposal"
        assert printed is not None, "success of what was not proposed"
        candidate = step.candidate
        graph = candidate.graph.rebuilt(candidate.replaced)
        return start(graph, self.steps.material, step.after, printed[0])


def start(
    graph: Graph,
    material: Material,
    place: Place,
    listing: Listing,
    different: Iterable[int] = (),
) -> Descent:
    """Return the search over a graph from a place on.

    `listing` is the graph in print, and `different` the commands that the document shows in
    another way.
    """
    return Descent(Steps(graph, material, place, listing, frozenset(different)))


class _Sequence:
    """The steps on one graph, and what is learnt of the kinds of moves on the way.

    A step that is followed by another one has failed: so how often each kind of
    move was tried is known. A kind that has helped too rarely on nodes of such a
    share of the whole is put off until after the closing moves. Most of the
    nodes are gone by then.
    """

    def __init__(self, moves: Moves, place: Place) -> None:
        self.moves = moves
        self.here = replace(place, last=None)
        self.last = place.last
        self.tally = dict(place.tally)
        self.late: list[tuple[str, Iterator[Candidate]]] = []

    def _step(self, candidate: Candidate, kind: str, after: Place) -> Step:
        """Return a step that counts as tried, and in what follows it as a success."""
        tried, helped = self.tally.get(kind, (0, 0))
        self.tally[kind] = tried + 1, helped
        return Step(candidate, replace(after, tally={**self.tally, kind: (tried + 1, helped + 1)}))

    def _is_rare(self, kind: str) -> bool:
        """Tell whether a kind of move has been tried often enough to say that it rarely helps."""
        tried, helped = self.tally.get(kind, (0, 0))
        return tried >= _ENOUGH and helped * _RARE < tried

    def __iter__(self) -> Iterator[Step]:
        """Yield what to try on a graph."""
        moves, here = self.moves, self.here
        if here.only:
            for closed, candidate in closing(moves, here.closed, here.only):
                yield Step(candidate, replace(here, closed=closed))
            return
        done, weight = here.done, moves.analysis.total
        if _SMALLER * weight <= here.styled:
            self.here = here = replace(here, styled=weight)
            yield from _styles(moves.graph, here)
        seen = set(done)
        last = self.last
        if last is not None and last.run is not None and last.node in moves.analysis.users:
            for candidate in moves.of(last.node, last.run):
                after = replace(here, done=frozenset(seen), last=candidate)
                yield self._step(candidate, "drop arguments", after)
        if last is not None and last.stride:
            (hoisted,) = last.replaced.values()
            if hoisted in moves.analysis.users:
                for candidate in moves.onwards(hoisted, last.stride):
                    after = replace(here, done=frozenset(seen), last=candidate)
                    yield self._step(candidate, "hoist onwards", after)
        for node in moves.nodes:
            if node not in done:
                yield from self._node(node, seen)
                seen.add(node)
        if weight <= _LESS * here.styled:
            self.here = here = replace(here, styled=weight)
            yield from _styles(moves.graph, here)
        everything = done.union(moves.nodes)
        for closed, candidate in closing(moves, here.closed, CLOSING):
            yield Step(candidate, replace(here, tally=self.tally, done=everything, closed=closed))
        yield from self._put_off(everything)
        seen.difference_update(done)
        for node in moves.nodes:
            if node in done:
                yield from self._node(node, seen)
                seen.add(node)
        yield from self._put_off(everything)

    def _node(self, node: int, seen: Collection[int]) -> Iterator[Step]:
        """Yield what to try in place of one node, but for what is put off."""
        share = self.moves.analysis.weight[node] / self.moves.analysis.total
        place: Place | None = None
        for name, candidates in self.moves.kinds(node):
            kind = f"{name} {_class(share)}"
            if name in _LAST or self._is_rare(kind):
                self.late.append((kind, candidates))  # not made yet: that would take time
                continue
            if place is None:
                place = replace(self.here, done=frozenset(seen))
            for candidate in candidates:
                yield self._step(candidate, kind, replace(place, last=candidate))

    def _put_off(self, done: frozenset[int]) -> Iterator[Step]:
        """Yield what has been put off."""
        late, self.late = self.late, []
        for kind, candidates in late:
            for candidate in candidates:
                yield self._step(candidate, kind, replace(self.here, done=done, last=candidate))


def _class(share: float) -> int:
    """Return which order of moves a share of the whole leads to."""
    return (share <= _HUGE) + (share <= _LARGE)


def _styles(graph: Graph, place: Place) -> Iterator[Step]:
    """Yield the graph itself in the styles that are better than the present one."""
    for style in Style:
        if style is place.style:
            return
        candidate = Candidate(style.value, replace(graph, bound=frozenset()), {}, -1)
        yield Step(candidate, replace(place, style=style))
