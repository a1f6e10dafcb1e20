"""The search over a graph: one candidate at a time, the heaviest nodes first.

The candidates for a graph form one lazy sequence: the moves on the nodes that
this round has not seen yet, heaviest first, then the closing moves, then the
moves on nodes seen on an earlier graph. After a failure the search advances in
the sequence; after a success it continues on the new graph, with a new sequence.
So the state is a graph and a position in its sequence, and the candidate that
follows a failure is known before the verdict.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

from reducekit.change import Change
from reducekit.frontends.smt2.graph.closing import CLOSING, Closing, closing
from reducekit.frontends.smt2.graph.listing import Listing, Pieces, pieces_of
from reducekit.frontends.smt2.graph.model import Graph, Shape
from reducekit.frontends.smt2.graph.moves import HUGE, LARGE, kinds, on_node, onwards
from reducekit.frontends.smt2.graph.printing import Command, Style, Unprintable, print_command
from reducekit.frontends.smt2.graph.site import SYMBOL, Candidate, Material, Site
from reducekit.search.lazy import Lazy
from reducekit.search.problem import Search

_SMALLER = 8
"""A style that has failed is tried again once the graph is smaller by this factor."""
_LESS = 0.7
"""It is also tried when nothing else helps, if the graph has shrunk to this share."""
_ENOUGH, _RARE = 8, 20
"""After `_ENOUGH` tries, a kind of move is postponed if it succeeds less than once in `_RARE`."""
_LAST = frozenset(("truth value", "other constant", "expand bindings"))
"""Kinds of moves that are postponed from the start. Of 6,200 checks on 121 faults seeded at random
instructions of four solvers, 350 were truth values (4 succeeded), and 705 were the second smallest
constant of a sort (24 succeeded). They are still tried on a term once its larger parts are gone.
Writing out a binding mostly succeeds, and gains little."""
_KEPT = 64
"""The number of printed candidates to cache: each is requested a few times in succession."""


@dataclass(frozen=True, slots=True)
class Place:
    """What a search over a graph knows of its past.

    `done` are the nodes that this round has processed. `last` is the candidate that
    led here. `styled` is the weight of the graph when another style was last tried,
    and `closed` is where the closing moves continue.
    """

    style: Style
    done: frozenset[int] = frozenset()
    last: Candidate | None = None
    styled: int = 0
    closed: tuple[int, int] = (0, 0)
    tally: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """How often each kind of move was tried, and how often it succeeded."""
    refuted: tuple[int, tuple[int, ...]] = (-1, ())
    """A node, and the terms that did not fail in its place."""
    only: Sequence[tuple[str, Closing]] = ()
    """If not empty, only these closing moves are tried."""


class Step(NamedTuple):
    """A candidate, and the place from which the search continues if it succeeds."""

    candidate: Candidate
    after: Place


class Steps:
    """The steps on one graph and their printed text, shared by all search states on it."""

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
        """Commands whose text in the document differs from the listing, until a success."""
        self._site = Site(graph, material)
        self._steps: Sequence[Step] = Lazy(iter(_Sequence(self._site, place)))
        self._neighbourhood = Neighbourhood(self._site)
        self._pieces: dict[int, Pieces | None] = {}
        self._printed: dict[int, tuple[Listing, set[int]] | None] = {}

    def __getitem__(self, at: int) -> Step | None:
        """Return a step; None at the end."""
        try:
            return self._steps[at]
        except IndexError:
            return None

    def printed(self, at: int) -> tuple[Listing, set[int]] | None:
        """Return the listing of a candidate and the commands that change; None if unprintable."""
        if at not in self._printed:
            if len(self._printed) == _KEPT:
                del self._printed[next(iter(self._printed))]
            candidate, style = self._steps[at].candidate, self._steps[at].after.style
            # Only commands above a replaced node can change. Another style may change any of them.
            commands: Collection[int] = range(len(self.listing.commands))
            if style is self.style:
                touched = candidate.printed.union(candidate.replaced)
                commands = self._site.analysis.standing(touched)
            try:
                self._printed[at] = self.listing.printed_again(
                    candidate.graph, style, candidate.replaced, commands, self._print_command
                )
            except Unprintable:
                self._printed[at] = None
        return self._printed[at]

    def key(self, at: int) -> bytes:
        """Return a key for a candidate, which stays the same while nothing near it changes."""
        step = self[at]
        return b"" if step is None else self._neighbourhood.key(step.candidate.replaced)

    def _print_command(
        self, graph: Graph, command: int, style: Style, replaced: Mapping[int, int]
    ) -> Command:
        """Print a command of a candidate; if it is large, only the parts that have changed."""
        if style is self.style and replaced and graph.bound is self.graph.bound:
            if command not in self._pieces:
                self._pieces[command] = pieces_of(self.graph, command, style)
            pieces = self._pieces[command]
            if pieces is not None:
                found = pieces.again(graph, replaced, self._site.analysis.users)
                if found is not None:
                    return found
        return print_command(graph, command, style, replaced)


@dataclass(frozen=True, slots=True)
class Descent(Search):
    """The state: the steps on a graph, and the position among them."""

    steps: Steps
    at: int = 0

    def propose(self) -> Change | None:
        step = self.steps[self.at]
        if step is None:
            return None
        printed = self.steps.printed(self.at)
        if printed is None:
            return Change(())
        listing, changed = printed
        return listing.change(changed | self.steps.different, step.candidate.what, self.key())

    def current(self) -> tuple[Step | None, Listing | None]:
        """Return the next step and its listing; each is None if there is none."""
        step = self.steps[self.at]
        printed = None if step is None else self.steps.printed(self.at)
        return step, None if printed is None else printed[0]

    def key(self) -> bytes:
        """Return the key of the next step, which stays the same while nothing near it changes."""
        return self.steps.key(self.at)

    def after(self, ok: bool) -> Descent:
        """Advance to the next step, or to the new graph after a success."""
        if not ok:
            return Descent(self.steps, self.at + 1)
        step, printed = self.steps[self.at], self.steps.printed(self.at)
        assert step is not None, "after() without a proposal"
        assert printed is not None, "success of a candidate that was not proposed"
        candidate = step.candidate
        # Progress is well-founded without a measure here: the engine accepts a candidate only if
        # its text is smaller (or, for a probe, once), so no sequence of successes repeats a graph.
        graph = candidate.graph.rebuilt(candidate.replaced)
        return start(graph, self.steps.material, step.after, printed[0])


def start(
    graph: Graph, material: Material, place: Place, listing: Listing, different: Iterable[int] = ()
) -> Descent:
    """Return the search over a graph, starting at a place.

    `listing` is the printed graph, and `different` are the commands whose text in the document
    differs from it.
    """
    return Descent(Steps(graph, material, place, listing, frozenset(different)))


class _Sequence:
    """The steps on one graph, with success statistics for each kind of move.

    A step that is followed by another one has failed, which gives the number of
    tries of each kind of move. A kind that has succeeded too rarely on nodes with a
    similar share of the graph is postponed until after the closing moves, when most
    nodes are gone.
    """

    def __init__(self, site: Site, place: Place) -> None:
        self.site = site
        self.here = replace(place, last=None)
        self.last = place.last
        self.tally = dict(place.tally)
        self.late: list[tuple[str, Iterator[Candidate]]] = []

    def _step(self, candidate: Candidate, kind: str, after: Place) -> Step:
        """Return a step, count it as tried, and as a success in the place it leads to."""
        # Counted when it is proposed, for both outcomes: that the next step is asked for means that
        # this one has failed, and a success goes on from `after`, with its own count.
        tried, helped = self.tally.get(kind, (0, 0))
        self.tally[kind] = tried + 1, helped
        return Step(candidate, replace(after, tally={**self.tally, kind: (tried + 1, helped + 1)}))

    def __iter__(self) -> Iterator[Step]:
        """Yield the steps to try on a graph."""
        site, here = self.site, self.here
        if here.only:
            for closed, candidate in closing(site, here.closed, here.only):
                yield Step(candidate, replace(here, closed=closed))
            return
        # Why heaviest first: a move on a node that dominates half of the graph removes half of it
        # with one check, and what it removes needs no checks of its own. This is the order of HDD
        # (Misherghi and Su, ICSE 2006), but by weight, not by level: levels say little where lets
        # are dissolved.
        done, weight = here.done, site.analysis.total
        if _SMALLER * weight <= here.styled:
            self.here = here = replace(here, styled=weight)
            yield from _styles(site.graph, here)
        seen = set(done)
        yield from self._bolder(seen)
        yield from self._nodes(seen, again=False)
        if weight <= _LESS * here.styled:
            self.here = here = replace(here, styled=weight)
            yield from _styles(site.graph, here)
        # The closing moves consider pairs of nodes, or all at once: too many on a large graph, and
        # most of their successes are escapes from what is a local minimum of the moves above.
        everything = done.union(site.nodes)
        for closed, candidate in closing(site, here.closed, CLOSING):
            yield Step(candidate, replace(here, tally=self.tally, done=everything, closed=closed))
        yield from self._put_off(everything)
        # Nodes of earlier graphs come last. Most would be refuted as before, but a smaller context
        # may no longer need what they give: it is this part that makes the end result a fixpoint.
        seen.difference_update(done)
        yield from self._nodes(seen, again=True)
        yield from self._put_off(everything)

    def _nodes(self, seen: set[int], *, again: bool) -> Iterator[Step]:
        """Yield the moves on the nodes that are new in this graph, or on those tried before."""
        done = self.here.done
        for node in self.site.nodes:
            if (node in done) == again:
                yield from self._node(node, seen)
                seen.add(node)

    def _bolder(self, seen: set[int]) -> Iterator[Step]:
        """Yield the move that succeeded last again, with twice as much of it."""
        site, here, last = self.site, self.here, self.last
        # A success is followed by the same move, only bolder: the next arguments to the left, twice
        # as many; a hoist by twice as many levels. So a run of n droppable arguments takes O(log n)
        # checks, as in the doubling of a galloping search.
        if last is not None and last.run is not None and last.node in site.analysis.users:
            for candidate in on_node(site, last.node, last.run):
                after = replace(here, done=frozenset(seen), last=candidate)
                yield self._step(candidate, "drop arguments", after)
        if last is not None and last.stride:
            (hoisted,) = last.replaced.values()
            if hoisted in site.analysis.users:
                for candidate in onwards(site, hoisted, last.stride):
                    after = replace(here, done=frozenset(seen), last=candidate)
                    yield self._step(candidate, "hoist onwards", after)

    def _node(self, node: int, seen: Collection[int]) -> Iterator[Step]:
        """Yield the steps for one node, postponing rare kinds."""
        # Statistics are kept by kind and by share of the graph: a constant for a tenth of the graph
        # and a constant for a leaf succeed at very different rates, so one must not silence the
        # other.
        share = self.site.analysis.weight[node] / self.site.analysis.total
        place: Place | None = None
        # What a term lacks, its subterms lack, too. So none of them is hoisted where it was refuted
        # or, after a success, where the term in its place is now.
        refuted = [*self.here.refuted[1]] if self.here.refuted[0] == node else []
        lacking = {below for each in refuted for below in self.site.analysis.cone(each)}
        varied = False
        for name, candidates in kinds(self.site, node, lacking):
            kind = f"{name} {(share <= HUGE) + (share <= LARGE)}"
            tried, helped = self.tally.get(kind, (0, 0))
            is_rare = tried >= _ENOUGH and helped * _RARE < tried
            # Where a variable that may have any value is refuted, a constant hardly ever helps.
            if name in _LAST or is_rare or (name == "constant" and varied):
                self.late.append((kind, candidates))  # kept lazy: building them takes time
                continue
            if place is None:
                place = replace(self.here, done=frozenset(seen))
            for candidate in candidates:
                other = candidate.replaced[node] if "hoist" in name else -1
                if other in lacking:
                    self.late.append((kind, iter((candidate,))))
                    continue
                after = replace(place, last=candidate)
                if other >= 0:
                    after = replace(after, refuted=(other, tuple(refuted)))
                yield self._step(candidate, kind, after)
                varied = name == "fresh variable"
                if other >= 0:
                    refuted.append(other)
                    lacking.update(self.site.analysis.cone(other))

    def _put_off(self, done: frozenset[int]) -> Iterator[Step]:
        """Yield the postponed steps."""
        late, self.late = self.late, []
        for kind, candidates in late:
            for candidate in candidates:
                yield self._step(candidate, kind, replace(self.here, done=done, last=candidate))


def _styles(graph: Graph, place: Place) -> Iterator[Step]:
    """Yield the unchanged graph in the styles that are better than the current one."""
    for style in Style:
        if style is place.style:
            return
        candidate = Candidate(style.value, replace(graph, bound=frozenset()), {}, -1)
        yield Step(candidate, replace(place, style=style))


class Neighbourhood:
    """The keys of candidates on one graph, to recognise one that was refuted on an earlier graph.

    A candidate does not depend on the nodes it removes. So its key covers the
    replacement of each node, with everything below it, and the terms directly above
    the node with their other arguments. It does not cover the names of declared
    symbols, which change when symbols are renamed.
    """

    def __init__(self, site: Site) -> None:
        self.graph = site.graph
        self.analysis = site.analysis
        self.material = site.material
        self._known: dict[int, int] = {}
        self._own: dict[Shape, int] = {}

    def key(self, replaced: Mapping[int, int]) -> bytes:
        """Return the key of a candidate; empty if it replaces no particular node."""
        if not replaced:
            return b""
        # What refuted a candidate is mostly local: the term that was needed and its surroundings.
        # The rest of the script only shrinks. So a candidate whose surroundings are unchanged is
        # taken as refuted until nothing else helps; the engine then checks such candidates after
        # all.
        parts = [(self._hash(other), self._above(node)) for node, other in replaced.items()]
        return b"%x" % (hash(tuple(sorted(parts))) & _MASK)

    def _above(self, node: int) -> int:
        """Return a hash of the terms directly above a node, without the node."""
        graph = self.graph
        found = []
        for user in dict.fromkeys(self.analysis.users.get(node, ())):
            others = (each == node or self._hash(each) for each in graph.args[user])
            found.append((self._shape(graph.shape[user]), *others))
        return hash(frozenset(found))

    def _shape(self, shape: Shape) -> int:
        """Return a hash of a shape that is independent of the names of the symbols it uses."""
        if not shape.uses and not shape.fresh:
            return hash(shape.items)
        known = self._own.get(shape)
        if known is None:
            definitions = self.material.definitions
            labels = {definitions[each].name: self._labels.get(each) for each in shape.uses}
            if shape.fresh:
                labels = {shape.head: self._labels.get(shape)}
            items = tuple(
                item
                if isinstance(item, int)
                else tuple(labels.get(token, token) for token in SYMBOL.findall(item))
                for item in shape.items
            )
            known = self._own[shape] = hash((items, shape.arity))
        return known

    @cached_property
    def _labels(self) -> Mapping[int | Shape, Hashable]:
        """The label of each definition: its sorts, and the number of earlier ones with these sorts.

        The sorts are those in the graph. A fresh variable gets the label it will have
        when the script is parsed again, that of one more definition.
        """
        # Names cannot be in a key, since short names are reassigned after each success. Numbers
        # cannot either, since they shift. Sorts and the rank among equal sorts do neither.
        graph, definitions = self.graph, self.material.definitions
        used = {each for node in self.analysis.order for each in graph.shape[node].uses}
        sorts: dict[int | Shape, Hashable] = {}
        for number in sorted(used):
            sorts[number] = definitions[number].kind, self.material.sorts_of(graph, number)
        for node in self.analysis.order:
            if graph.shape[node].fresh:
                sorts[graph.shape[node]] = "fun", (graph.sort[node],)
        count: Counter[Hashable] = Counter()
        labels: dict[int | Shape, Hashable] = {}
        for each, kind_and_sorts in sorts.items():
            count[kind_and_sorts] += 1
            labels[each] = kind_and_sorts, count[kind_and_sorts]
        return labels

    def _hash(self, node: int) -> int:
        """Return a hash of a term."""
        known, graph = self._known, self.graph
        stack = [node]
        while stack:
            top = stack[-1]
            args = graph.args[top]
            missing = [each for each in args if each not in known]
            if missing and top not in known:
                stack += missing
                continue
            stack.pop()
            if top not in known:
                known[top] = hash((self._shape(graph.shape[top]), *[known[each] for each in args]))
        return known[node]


_MASK = (1 << 64) - 1
