"""The pass over terms: from the top down, each term to a constant or to a term within it.

Every candidate is well sorted where the sorts are known: a term is replaced
only by terms of its own sort, and a bound variable that would escape from its
binder by a constant of its sort.
"""

from __future__ import annotations

from collections.abc import Sequence

from reducekit.change import Change, Edit
from reducekit.frontends.smt2.constants import is_constant
from reducekit.frontends.smt2.sorts import Sort
from reducekit.frontends.smt2.terms import Terms, head_of, subterms, term_roots
from reducekit.frontends.smt2.view import ScriptView
from reducekit.search.problem import Items, Move, Selection, Unrelated


def _effort(size: int, thorough: bool) -> tuple[tuple[float, ...], int]:
    """Return at which shares of a term of so many bytes terms within are tried, and how many each.

    A term within stands for the whole when it is at most such a share of it: so
    a deep chain falls in a few steps. In a small term the direct ones will do.
    """
    if thorough:
        return (0.03, 0.1, 0.25, 0.5, 0.8), 2
    if size < 80:
        return (), 0
    if size < 400:
        return (0.1, 0.4), 1
    return (0.03, 0.1, 0.25, 0.5, 0.8), 2


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


class BindingItems(Unrelated):
    """The variables of a let or quantifier as items: a dropped one becomes a constant."""

    def __init__(self, terms: Terms, node: int, definitions: Sequence[int]) -> None:
        self.terms = terms
        self.node = node
        document = terms.document
        kids = list(document.children(node))
        self.body = kids[-1]
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
            used = terms.references.get(definition, ())
            if used and not constants:
                return Change(())
            edits.append(Edit(self.bindings[item], ()))
            edits.extend(Edit(each, (constants[0],)) for each in used)
        if len(chosen | taken) == len(self.bindings):
            edits.append(Edit(self.node, (self.body,)))
        return Change(tuple(edits), "drop bindings")


class ArgumentItems(Unrelated):
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
        gone = chosen | taken
        kept = [each for item, each in enumerate(self.arguments) if item not in gone]
        if len(kept) < self.least:
            return Change(())
        if len(kept) == 1:
            return Change((Edit(self.node, (kept[0],)),), "drop arguments")
        return Change(tuple(Edit(self.arguments[item], ()) for item in chosen), "drop arguments")


class TermTree:
    """All terms of a script, for a search from the top down."""

    def __init__(self, terms: Terms, *, thorough: bool = False) -> None:
        self.terms = terms
        self.thorough = thorough
        self.script = terms.script
        self.document = terms.document
        self.roots: Sequence[int] = list(term_roots(terms.script))

    def weight(self, node: int) -> int:
        """Return the bytes of a term."""
        return self.document.end[node] - self.document.start[node]

    def moves(self, node: int) -> Sequence[Move]:
        """Return constants of the sort, then terms within of the same sort.

        A thorough search adds more constants, a declared one among them, and
        terms within of all sizes.
        """
        sort = self.script.sort[node]
        if sort is None:
            return []
        leaf = self.document.stop[node] == node + 1
        literal = is_constant(self.document, self.script, node)
        found = [
            Move(Change((Edit(node, (each,)),), "constant"), ())
            for each in self._constants(node, sort, leaf or literal)
        ]
        if not leaf and not literal:
            for each in self._within(node, sort):
                edits = self.terms.grounded(node, each, each)
                if edits is not None:
                    found.append(Move(Change((Edit(node, (each,)), *edits), "hoist"), (each,)))
        lost = self.terms.names.lost
        return [move for move in found if not lost(move.change.edits[0])]

    def _constants(self, node: int, sort: Sort, leaf: bool) -> list[bytes]:
        """Return the constants to try for a node, without the node itself."""
        constants = self.terms.constants(sort)
        most = 3 if self.thorough else 2 if leaf or sort == "Bool" else 1
        chosen = constants[:most]
        if self.thorough:
            chosen += self.terms.declared_of(sort)[:1]
        own = self.document.source(node)
        return [each for each in dict.fromkeys(chosen) if each != own]

    def _within(self, node: int, sort: Sort) -> list[int]:
        """Return a few terms of a sort below a node: small ones first, direct ones last."""
        document, sorts = self.document, self.script.sort
        start, end = document.start, document.end
        size = self.weight(node)
        sized = [
            (end[each] - start[each], -each)
            for each in range(node + 1, document.stop[node])
            if sorts[each] == sort
        ]
        sized.sort()
        chosen: dict[int, None] = {}
        texts = set()
        at = 0
        shares, most = _effort(size, self.thorough)
        for share in shares:
            begin = at
            while at < len(sized) and sized[at][0] <= share * size:
                at += 1
            picked = 0
            for length, negative in reversed(sized[begin:at]):
                if picked == most or length <= 1:
                    break
                text = document.source(-negative)
                if text not in texts:
                    texts.add(text)
                    chosen[-negative] = None
                    picked += 1
        for each in sorted(subterms(self.script, node), key=self.weight, reverse=True):
            if sorts[each] == sort:
                chosen[each] = None
        return list(chosen)

    def parts(self, node: int) -> Items | None:
        """Return arguments or bindings that can be dropped."""
        head = head_of(self.document, node)
        if head == b"let" or head in _QUANTIFIERS:
            definitions = self.terms.by_binder.get(node)
            return BindingItems(self.terms, node, definitions) if definitions else None
        least = _AT_LEAST.get(head)
        if least is None:
            return None
        arguments = subterms(self.script, node)
        sort = self.script.sort[node]
        if least == 1 and any(self.script.sort[each] != sort for each in arguments):
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
                spans = [parts.bindings[item] for item in dropped]
                stop = self.document.stop
                return [each for each in below if not any(b <= each < stop[b] for b in spans)]
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
