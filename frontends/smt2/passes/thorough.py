"""Escapes local minima: random steps that may make a graph slightly larger, then a new descent.

A kick is a random change of the smallest graph so far, after which it still fails and is at most a
few tokens larger. A descent continues from there. Its result is the next graph to kick unless it is
larger; then it is discarded. A descent after a kick takes only a few checks, since a refuted
candidate is not tried again until something near it has changed.

A kick depends on its number only, so equal scripts have equal results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from random import Random

from reducekit.change import Change
from reducekit.format import pass_
from reducekit.frontends.smt2.graph.closing import RARE, WIDEST, complement
from reducekit.frontends.smt2.graph.descent import Descent, Place, start
from reducekit.frontends.smt2.graph.listing import Listing
from reducekit.frontends.smt2.graph.model import Graph, post_order
from reducekit.frontends.smt2.graph.moves import on_node, to_declared, to_fresh
from reducekit.frontends.smt2.graph.printing import Style, Unprintable
from reducekit.frontends.smt2.graph.site import Candidate, Material, Site
from reducekit.frontends.smt2.graph.widths import widths
from reducekit.frontends.smt2.language.constants import shortest
from reducekit.frontends.smt2.language.operators import of_one_rank, theories_in
from reducekit.frontends.smt2.language.theories import OPERATORS
from reducekit.frontends.smt2.language.view import ScriptView
from reducekit.frontends.smt2.passes.graph import as_printed, closing_moves, is_smaller
from reducekit.search.problem import FixedSearch, Problem, Search

_GROWTH = 24
"""The number of bytes by which a kick may make a script larger: about four tokens."""
_LEAST, _PER_NODE = 300, 2
"""The search ends after `_LEAST` kicks without gain, plus `_PER_NODE` for each node."""
_FEW = 8
_WIDTHS = 12
_THEORIES = frozenset({"cvc5", *(theories_in("ALL") or ())})
"""Those whose operators are exchanged for others."""
_BINDERS = {b"forall": b"exists", b"exists": b"forall"}


class Kicks:
    """The kicks of one graph and its listing, each made on first access."""

    def __init__(self, graph: Graph, material: Material, style: Style, listing: Listing) -> None:
        self.graph = graph
        self.material = material
        self.style = style
        self.listing = listing
        self.size = len(listing.whole())
        self.site = Site(graph, material)
        self.patience = _LEAST + _PER_NODE * len(self.site.nodes)
        """The number of kicks without gain after which the search ends."""
        self._made: dict[int, tuple[Candidate, Listing] | None] = {}

    def __getitem__(self, number: int) -> tuple[Candidate, Listing] | None:
        if number not in self._made:
            self._made[number] = self._make(Random(number))
        return self._made[number]

    def _make(self, random: Random) -> tuple[Candidate, Listing] | None:
        candidate = kick(self.site, random)
        if candidate is None:
            return None
        if random.random() < 0.25:  # two kicks at once reach graphs that neither reaches alone
            second = kick(self.site, random)
            both = None if second is None else _together(self.graph, candidate, second)
            candidate = both or candidate
        everything = range(len(self.listing.commands))
        try:
            listing, changed = self.listing.printed_again(
                candidate.graph, self.style, candidate.replaced, everything
            )
        except Unprintable:
            return None
        if not changed or len(listing.whole()) > self.size + _GROWTH:
            return None
        return candidate, listing


def _together(graph: Graph, first: Candidate, second: Candidate) -> Candidate | None:
    """Return two candidates for a graph combined into one; None if that is impossible."""
    if any(
        each.graph.fresh != graph.fresh or each.graph.signatures != graph.signatures
        for each in (first, second)
    ):
        return None  # both may have made a variable, with the same name
    if first.replaced.keys() & second.replaced.keys():
        return None
    # If each replacement contains the other's node, the result would be cyclic.
    for one, other in ((first, second), (second, first)):
        if not other.replaced.keys().isdisjoint(post_order(graph.args, one.replaced.values())):
            return None
    return first._replace(replaced={**first.replaced, **second.replaced})


@dataclass(frozen=True, slots=True)
class Kicking(Search):
    """The state: the graph to kick, and the current descent from a kick, if any.

    `number` is that of the next kick; `idle` counts the kicks since the last gain.
    `best` is the size of the smallest script found.
    """

    kicks: Kicks
    best: int
    number: int = 0
    idle: int = 0
    descent: Descent | None = None
    seen: frozenset[bytes] = frozenset()
    """The local minima already left. There may be cycles of minima of equal size."""

    def propose(self) -> Change | None:
        if self.descent is not None:
            step, printed = self.descent.current()
            assert step is not None, "a descent that has ended has been given up"
            if printed is None or not is_smaller(
                printed.whole(), self.descent.steps.listing.whole()
            ):
                return Change(())  # this minimum was visited before: avoid cycles
            return self._change(printed, step.candidate.what, self.descent.key())
        if self.idle > self.kicks.patience:
            return None
        made = self.kicks[self.number]
        if made is None:
            return Change(())
        candidate, listing = made
        return self._change(listing, candidate.what, b"")

    def _change(self, listing: Listing, what: str, key: bytes) -> Change:
        change = listing.change(range(len(listing.commands)), what, key)
        return change._replace(probe=True)

    def after(self, ok: bool) -> Kicking:
        """Continue with the descent from a kick that still fails, or with the next kick."""
        if self.descent is not None:
            return replace(self, descent=self.descent.after(ok))._settled()
        made = self.kicks[self.number]
        state = replace(self, number=self.number + 1, idle=self.idle + 1)
        if not ok or made is None:
            return state
        candidate, listing = made
        graph = candidate.graph.rebuilt(candidate.replaced)
        place = Place(self.kicks.style, styled=1)
        return replace(state, descent=start(graph, self.kicks.material, place, listing))._settled()

    def _settled(self) -> Kicking:
        descent = self.descent
        assert descent is not None
        if descent.current()[0] is not None:
            return self
        state = replace(self, descent=None)
        listing = descent.steps.listing
        text = listing.whole()
        if len(text) > self.best or text in self.seen:
            return state
        kicks = Kicks(descent.steps.graph, self.kicks.material, self.kicks.style, listing)
        state = replace(state, kicks=kicks, seen=self.seen | {text})
        return replace(state, best=len(text), idle=0) if len(text) < self.best else state


Kick = Callable[[Site, Random], "Candidate | None"]


def kick(site: Site, random: Random) -> Candidate | None:
    """Return a random kick; None if none was found."""
    if not site.nodes:
        return None
    for _ in range(_FEW):
        found = random.choice(KICKS)(site, random)
        if found is not None:
            return found
    return None


def _pick(site: Site, random: Random) -> int:
    return random.choice(site.nodes)


def _argument(site: Site, random: Random) -> tuple[int, int, int] | None:
    """Return a random node, the position of an argument, and the argument; None if it has none."""
    user = _pick(site, random)
    args = site.graph.args[user]
    if not args or site.graph.shape[user].raw:
        return None
    position = random.randrange(len(args))
    return user, position, args[position]


def other_constant(site: Site, random: Random) -> Candidate | None:
    """Replaces a literal by another one or by its complement."""
    graph, node = site.graph, _pick(site, random)
    shape, sort, width = graph.shape[node], graph.sort[node], graph.width(node)
    if shape.arity or shape.uses or shape.variable >= 0 or sort is None:
        return None
    # Random values next to special ones: a failure that needs "some number" is not met by 0 and 1.
    texts = [*site.constants(sort)[:3], complement(graph, node) or shape.head]
    if 0 < width <= WIDEST:
        texts += [shortest(1, width), shortest(random.getrandbits(width), width)]
    texts = [text for text in dict.fromkeys(texts) if text != shape.head]
    if not texts:
        return None
    leaf = site.leaf(random.choice(texts), sort)
    return Candidate("kick: another constant", graph, {node: leaf}, node)


def other_operator(site: Site, random: Random) -> Candidate | None:
    """Replaces an operator by another one with the same sorts."""
    graph, node = site.graph, _pick(site, random)
    shape, args, sort = graph.shape[node], graph.args[node], graph.sort[node]
    first, begin = shape.items[0], b"(" + shape.head
    if shape.uses or shape.names or not isinstance(first, bytes) or not first.startswith(begin):
        return None
    if len(args) == 1 and shape.head == b"-":
        return None  # nothing else takes one number
    sorts = [graph.sort[each] for each in args]
    fitting = {
        each
        for each in of_one_rank(_THEORIES).get(shape.head, ())
        if each != shape.head and args and sort is not None and OPERATORS[each](sorts) == sort
    }
    heads = [_BINDERS[shape.head]] if shape.head in _BINDERS else sorted(fitting)
    if not heads:
        return None
    head = random.choice(heads)
    items = (b"(" + head + first[len(begin) :], *shape.items[1:])
    other = graph.shapes.get(replace(shape, items=items, head=head))
    copy = graph.add(other, args, graph.sort[node])
    return Candidate("kick: another operator", graph, {node: copy}, node)


def swapped(site: Site, random: Random) -> Candidate | None:
    """Swaps two arguments of the same sort."""
    graph, node = site.graph, _pick(site, random)
    args = list(graph.args[node])
    shape = graph.shape[node]
    if len(args) < 2 or shape.binds or shape.raw:
        return None
    one, other = random.sample(range(len(args)), 2)
    if graph.sort[args[one]] != graph.sort[args[other]] or args[one] == args[other]:
        return None
    args[one], args[other] = args[other], args[one]
    copy = graph.add(shape, tuple(args), graph.sort[node])
    return Candidate("kick: swapped", graph, {node: copy}, node)


def other_edge(site: Site, random: Random) -> Candidate | None:
    """Replaces one use of a node by any other node of its sort that is not above it."""
    graph, analysis, place = site.graph, site.analysis, _argument(site, random)
    if place is None or graph.sort[place[2]] is None:
        return None
    user, position, node = place
    excluded = analysis.above((user,)) | {node}
    others = [
        each
        for each in site.nodes
        if graph.sort[each] == graph.sort[node]
        and each not in excluded
        and not analysis.outside(each, node)
        and site.fits(each, user)
    ]
    if not others:
        return None
    copy = site.with_argument(user, position, random.choice(others))
    return Candidate("kick: another edge", graph, {user: copy}, user)


def complemented(site: Site, random: Random) -> Candidate | None:
    """Complements one use of a term."""
    graph, place = site.graph, _argument(site, random)
    if place is None:
        return None
    user, position, node = place
    sort = graph.sort[node]
    if sort != "Bool" and not graph.width(node):
        return None
    inner = site.applied(b"not" if sort == "Bool" else b"bvnot", node, sort=sort)
    copy = site.with_argument(user, position, inner)
    return Candidate("kick: a complement", graph, {user: copy}, user)


def _any(found: Iterable[Candidate], most: int, what: str, random: Random) -> Candidate | None:
    first = list(islice(found, most))
    return random.choice(first)._replace(what=f"kick: {what}") if first else None


def other_width(site: Site, random: Random) -> Candidate | None:
    """Changes the width of bit-vectors that must have the same width."""
    return _any(widths(site), _WIDTHS, "a width", random)


def to_variable(site: Site, random: Random) -> Candidate | None:
    """Replaces a node by a declared or new variable of its sort."""
    node = _pick(site, random)
    if site.graph.sort[node] is None or site.graph.shape[node].uses:
        return None
    found = [*to_declared(site, node), *to_fresh(site, node, 0)]
    return _any(found, len(found), "a variable", random)


def smaller(site: Site, random: Random) -> Candidate | None:
    """Applies a random move of the descent, even if the result is not smaller."""
    return _any(on_node(site, _pick(site, random)), _FEW, "a move", random)


KICKS: Sequence[Kick] = (
    other_constant,
    other_operator,
    swapped,
    other_edge,
    other_edge,
    complemented,
    other_width,
    to_variable,
    smaller,
)


_MOST = 2000
"""Scripts with more nodes are not kicked: most random steps on them are useless."""


@pass_("kicks")
def kicks(view: ScriptView) -> FixedSearch | None:
    """Escapes local minima by random steps that may first make the script larger."""
    found = as_printed(view, _MOST)
    if found is None:
        return None
    graph, printed = found
    first = Kicks(graph, Material(view), printed.style, printed.listing)
    return FixedSearch(Kicking(first, first.size))


@pass_("rare moves")
def rare_moves(view: ScriptView) -> Problem | None:
    """Tries moves that rarely help."""
    return closing_moves(view, RARE)
