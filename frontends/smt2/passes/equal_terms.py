"""Equal terms are changed together: some failures need two copies of one term, whatever it is."""

from __future__ import annotations

from collections.abc import Sequence

from reducekit.change import Change, Edit
from reducekit.frontends.smt2.constants import is_constant
from reducekit.frontends.smt2.terms import Terms, subterms
from reducekit.frontends.smt2.view import ScriptView
from reducekit.search.problem import LeafTree, Move

_LEAST = 8  # bytes; smaller terms have nothing in them to hoist
_MOST = 100  # classes
_BYTES, _LIGHT = 1 << 27, 1 << 8
"""In a term nested n deep the texts of all terms come to n * n bytes: of those only the light."""


class EqualTermsTree(LeafTree):
    """Classes of equal terms, each by its first occurrence."""

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self.script = terms.script
        self.document = terms.document
        self.twins: dict[int, list[int]] = {}
        self.first: dict[bytes, int] = {}
        document, sorts, stop = self.document, self.script.sort, self.document.stop
        whole = sum(document.end) - sum(document.start)  # the bytes of all nodes together
        most = len(document.text) if whole <= _BYTES else _LIGHT
        for node in range(1, len(document)):
            if sorts[node] is None or stop[node] == node + 1:
                continue
            if not _LEAST <= self.weight(node) <= most:
                continue
            text = document.source(node)
            first = self.first.setdefault(text, node)
            self.twins.setdefault(first, []).append(node)
        self.twins = {first: nodes for first, nodes in self.twins.items() if len(nodes) > 1}
        self.roots: Sequence[int] = sorted(self.twins, key=self.weight)[-_MOST:]

    def weight(self, node: int) -> int:
        """Return the bytes of one occurrence."""
        return self.document.end[node] - self.document.start[node]

    def moves(self, node: int) -> Sequence[Move]:
        """Return constants, and the direct terms of the same sort, for all occurrences."""
        twins = self.twins.get(node)
        sort = self.script.sort[node]
        if twins is None or sort is None or is_constant(self.document, self.script, node):
            return []
        found = [
            Move(
                Change(tuple(Edit(each, (constant,)) for each in twins), "equal terms"),
                (),
            )
            for constant in self.terms.constants(sort)[:1]
        ]
        for below in subterms(self.script, node):
            if self.script.sort[below] == sort:
                edits = [Edit(each, (each + below - node,)) for each in twins]
                for each in twins:
                    grounded = self.terms.grounded(each, each + below - node, each + below - node)
                    if grounded is None:
                        break
                    edits += grounded
                else:
                    rest = self.first.get(self.document.source(below), -1)
                    found.append(
                        Move(Change(tuple(edits), "equal terms"), (rest,) if rest >= 0 else ())
                    )
        return found


class EqualTerms:
    """The pass over equal terms."""

    name = "equal terms"

    def problem(self, view: ScriptView) -> EqualTermsTree | None:
        """Return the classes of equal terms."""
        tree = EqualTermsTree(view.terms)
        return tree if tree.roots else None
