"""The pass over terms: from the top down, each term to a constant or to a term within it.

Every candidate is well sorted where the sorts are known: a term is replaced
only by terms of its own sort, and a bound variable that would escape from its
binder by a constant of its sort.
"""

from __future__ import annotations

import heapq
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence

from reducekit.change import Change, Edit
from reducekit.frontends.smt2.commands import head_of
from reducekit.frontends.smt2.constants import is_constant
from reducekit.frontends.smt2.graph.moves import QUANTIFIERS
from reducekit.frontends.smt2.sorts import Sort
from reducekit.frontends.smt2.terms import Terms, subterms, term_roots
from reducekit.frontends.smt2.view import ScriptView
from reducekit.search.lazy import Lazy
from reducekit.search.problem import IndependentItems, Items, Move, Selection, Tree

_SAMPLE = 1 << 16  # nodes below a term that are all looked at
_HUGE, _NEAR = 100_000, 100  # bytes
_MANY, _FEW = 200, 8
"""Of more terms directly below than that only a few stand for the whole: the others may go."""


def _effort(size: int, thorough: bool) -> list[tuple[float, int]]:
    """Return up to which shares of a term of so many bytes terms within are tried, and how many.

    A term within stands for the whole when it is at most such a share of it: so
    a deep chain falls in a few steps. In a small term the direct ones will do;
    in a huge one, what is needed may be just below the top and yet a thousand
    levels down, so the shares go on towards 1.
    """
    if not thorough and size < 80:
        return []
    if not thorough and size < 400:
        return [(0.1, 1), (0.4, 1)]
    shares = [(share, 2) for share in (0.03, 0.1, 0.25, 0.5, 0.8)]
    rest = 0.1
    while size > _HUGE and rest * size > _NEAR:
        shares.append((1 - rest, 1))
        rest /= 2
    return shares


# Operators that take any number of arguments, and the least number.
_AT_LEAST: dict[bytes, int] = {
    **dict.fromkeys(
        b"and or + * bvadd bvmul bvand bvor bvxor xor str.++ re.++ re.union".split(), 1
    ),
    **dict.fromkeys(b"re.inter seq.++ set.union set.inter union intersection".split(), 1),
    **dict.fromkeys(b"=> - bvsub / div".split(), 1),
    **dict.fromkeys(b"= distinct < <= > >=".split(), 2),
}
_QUANTIFIERS = frozenset(b"forall exists lambda choice".split())


def _unannotated(terms: Terms, body: int) -> int:
    """Return what stays of a body without any binding: patterns are for quantifiers only."""
    document = terms.document
    if head_of(document, body) != b"!":
        return body
    _, *inside = document.children(body)
    if not inside or any(document.source(each) == b":named" for each in inside[1:]):
        return body
    return inside[0]


class BindingItems(IndependentItems):
    """The variables of a let or quantifier as items: a dropped one becomes a constant."""

    def __init__(self, terms: Terms, node: int, definitions: Sequence[int]) -> None:
        self.terms = terms
        self.node = node
        document = terms.document
        kids = list(document.children(node))
        self.body = _unannotated(terms, kids[-1])
        self.bindings = list(document.children(kids[1]))
        by_name = {terms.script.definitions[d].node: d for d in definitions}
        self.definitions = [by_name.get(binding + 1, -1) for binding in self.bindings]

    @property
    def weights(self) -> Sequence[int]:
        """The bytes of each binding."""
        document = self.terms.document
        return [document.end[each] - document.start[each] for each in self.bindings]

    def change(self, chosen: Selection, taken: Selection) -> Change:
        """Drop bindings; without any left, the body stands alone."""
        terms = self.terms
        edits: list[Edit] = []
        for item in chosen:
            definition = self.definitions[item]
            if definition < 0:
                return Change(())
            constants = terms.constants(terms.script.definitions[definition].sort)
            used = terms.references[definition]
            if used and not constants:
                return Change(())
            edits.append(Edit(self.bindings[item], ()))
            edits.extend(Edit(each, (constants[0],)) for each in used)
        if len(chosen) + len(taken) == len(self.bindings):
            edits.append(Edit(self.node, (self.body,)))
        return Change(tuple(edits), "drop bindings")


class ArgumentItems(IndependentItems):
    """The arguments of an operator that takes any number of them."""

    def __init__(self, terms: Terms, node: int, arguments: Sequence[int], least: int) -> None:
        self.document = terms.document
        self.node = node
        self.arguments = arguments
        self.least = least

    @property
    def weights(self) -> Sequence[int]:
        """The bytes of each argument."""
        document = self.document
        return [document.end[each] - document.start[each] for each in self.arguments]

    def change(self, chosen: Selection, taken: Selection) -> Change:
        """Drop arguments; a single one left stands for the whole where the sorts allow it."""
        left = len(self.arguments) - len(chosen) - len(taken)
        if left < self.least:
            return Change(())
        if left == 1:
            gone = chosen | taken
            kept = next(each for item, each in enumerate(self.arguments) if item not in gone)
            return Change((Edit(self.node, (kept,)),), "drop arguments")
        return Change(tuple(Edit(self.arguments[item], ()) for item in chosen), "drop arguments")


class TermTree(Tree):
    """All terms of a script, for a search from the top down."""

    def __init__(self, terms: Terms, *, thorough: bool = False) -> None:
        self.terms = terms
        self.thorough = thorough
        self.script = terms.script
        self.document = terms.document
        self.roots: Sequence[int] = array("i", term_roots(terms.script))

    def weight(self, node: int) -> int:
        """Return the bytes of a term."""
        return self.document.end[node] - self.document.start[node]

    def moves(self, node: int) -> Sequence[Move]:
        """Return constants of the sort, then terms within of the same sort.

        A thorough search adds more constants, a declared one among them, and
        terms within of all sizes.
        """
        return Lazy(self._moves(node))

    def _moves(self, node: int) -> Iterator[Move]:
        sort = self.script.sort[node]
        if sort is None:
            yield from self._hoists(node, self._bodies(node))
            return
        leaf = self.document.stop[node] == node + 1
        literal = is_constant(self.document, self.script, node)
        lost = self.terms.names.lost
        for constant in self._constants(node, sort, leaf or literal):
            edit = Edit(node, (constant,))
            if not lost(edit):
                yield Move(Change((edit,), "constant"), ())
        if leaf or literal:
            return
        yield from self._hoists(node, self._within(node, sort))

    def _hoists(self, node: int, within: Sequence[int]) -> Iterator[Move]:
        """Put each of some terms below a node in its place."""
        if head_of(self.document, node) in QUANTIFIERS:
            within = list(dict.fromkeys(_unannotated(self.terms, each) for each in within))
        for each in within:
            edit = Edit(node, (each,))
            if not self.terms.names.lost(edit):
                edits = self.terms.grounded(node, each, each)
                if edits is not None:
                    yield Move(Change((edit, *edits), "hoist"), (each,))

    def _bodies(self, node: int) -> list[int]:
        """Return a few bodies of nested lets, the innermost first.

        They are of one sort, even where nobody knows it: all of a long chain is not to be
        gone through one by one.
        """
        stop = self.document.stop
        bodies = []
        while head_of(self.document, node) == b"let":
            last = stop[node]
            if node + 2 >= last or stop[node + 2] >= last or stop[stop[node + 2]] != last:
                break
            node = stop[node + 2]
            bodies.append(node)
        return [bodies[(len(bodies) >> half) - 1] for half in range(len(bodies).bit_length())]

    def _constants(self, node: int, sort: Sort, leaf: bool) -> list[bytes]:
        """Return the constants to try for a node, without the node itself."""
        constants = self.terms.constants(sort)
        most = 3 if self.thorough else 2 if leaf or sort == "Bool" else 1
        chosen = constants[:most]
        if self.thorough:
            chosen += self.terms.declared_of(sort)[:1]
        longest = max(map(len, chosen), default=0)
        own = self.document.source(node) if self.weight(node) <= longest else b""
        return [each for each in dict.fromkeys(chosen) if each != own]

    def _within(self, node: int, sort: Sort) -> list[int]:
        """Return a few terms of a sort below a node: small ones first, direct ones last."""
        sorts = self.script.sort
        size = self.weight(node)
        effort = _effort(size, self.thorough)
        chosen: dict[int, None] = {}
        if effort:
            bounds = [share * size for share, _ in effort]
            best: list[list[int]] = [[] for _ in bounds]
            # Of each range only what is heavier than the lightest so far can be among its best.
            least = [1] * len(bounds)
            start, end = self.document.start, self.document.end
            for each in self._sample(node, sort):
                weight = end[each] - start[each]
                place = bisect_left(bounds, weight)
                if place < len(bounds) and weight > least[place]:
                    most = effort[place][1]
                    self._rank(best[place], each, most)
                    if len(best[place]) == most:
                        least[place] = self.weight(best[place][-1])
            for ranked in best:
                chosen.update(dict.fromkeys(ranked))
        direct = [each for each in subterms(self.script, node) if sorts[each] == sort]
        if len(direct) > _MANY:
            direct = heapq.nlargest(_FEW, direct, key=self.weight)
        else:
            direct.sort(key=self.weight, reverse=True)
        chosen.update(dict.fromkeys(direct))
        return list(chosen)

    def _sample(self, node: int, sort: Sort) -> Iterator[int]:
        """Yield the terms of a sort below a node; of very many, some from all over."""
        sorts, last = self.script.sort, self.document.stop[node]
        step = (last - node) // _SAMPLE
        if not step:
            for each in range(node + 1, last):
                if sorts[each] == sort:
                    yield each
            return
        each = node + 1
        while each < last:
            if sorts[each] == sort:
                yield each
                # Uneven steps: texts of a regular shape would show one kind of term only.
                each += 1 + step // 2 + (each * 0x9E3779B1 >> 7) % (step + 1)
            else:
                each += 1

    def _rank(self, ranked: list[int], node: int, most: int) -> None:
        """Put a node among the heaviest of different texts, if it is one; earlier nodes first."""
        document, weight = self.document, self.weight(node)
        at = len(ranked)
        while at and self.weight(ranked[at - 1]) < weight:
            at -= 1
        before = at
        while before and self.weight(ranked[before - 1]) == weight:
            before -= 1
            if document.source(ranked[before]) == document.source(node):
                return
        ranked.insert(at, node)
        del ranked[most:]

    def parts(self, node: int) -> Items | None:
        """Return arguments or bindings that can be dropped."""
        head = head_of(self.document, node)
        if head == b"let" or head in _QUANTIFIERS:
            definitions = self.terms.bound_by(node, node + 1)
            return BindingItems(self.terms, node, definitions) if definitions else None
        least = _AT_LEAST.get(head)
        if least is None:
            return None
        arguments = subterms(self.script, node)
        # A single argument takes the place of the whole: of its sort, as far as that is known.
        sorts = {self.script.sort[each] for each in (node, *arguments)} - {None}
        if least == 1 and len(sorts) > 1:
            return None
        return ArgumentItems(self.terms, node, arguments, least) if len(arguments) > least else None

    def children(self, node: int, dropped: Selection) -> Sequence[int]:
        """Return the terms directly below, without the dropped ones."""
        below = subterms(self.script, node)
        if dropped:
            parts = self.parts(node)
            if isinstance(parts, ArgumentItems):
                gone = {parts.arguments[item] for item in dropped}
                return [each for each in below if each not in gone]
            if isinstance(parts, BindingItems):
                spans = sorted(parts.bindings[item] for item in dropped)
                stop = self.document.stop
                found = []
                for each in below:
                    at = bisect_right(spans, each) - 1
                    if at < 0 or each >= stop[spans[at]]:
                        found.append(each)
                return found
        return below


class TermPass:
    """The pass over all terms."""

    def __init__(self, *, thorough: bool = False) -> None:
        self.thorough = thorough
        self.name = "all of the terms" if thorough else "terms"

    def problem(self, view: ScriptView) -> TermTree | None:
        """Return the tree of terms."""
        tree = TermTree(view.terms, thorough=self.thorough)
        return tree if tree.roots else None
