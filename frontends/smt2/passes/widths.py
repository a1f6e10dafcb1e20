"""Narrows bit-vectors: all of one width at once."""

from __future__ import annotations

from collections.abc import Sequence

from reducekit.change import Change, Edit
from reducekit.frontends.smt2.language.constants import is_constant
from reducekit.frontends.smt2.language.spelling import literal_value, shortest
from reducekit.frontends.smt2.language.view import ScriptView
from reducekit.frontends.smt2.passes.spelling import text_is_sorted
from reducekit.passes import pass_
from reducekit.search.problem import LeafTree, Move

_TARGETS = (1, 2, 4, 8, 16, 32)


class WidthTree(LeafTree):
    """The bit-vector widths of a script, each a node; the search tries the widest first."""

    def __init__(self, view: ScriptView) -> None:
        self.view = view
        document, script = view.document, view.script
        self.numerals: dict[int, list[int]] = {}
        self.literals: dict[int, list[tuple[int, int]]] = {}
        for node, sort in enumerate(script.sort):
            if isinstance(sort, tuple) and sort[0] == "BitVec":
                width = sort[1]
                assert isinstance(width, int)
                constant = is_constant(document, script, node)
                value = literal_value(document.source(node)) if constant else None
                if value is not None:
                    self.literals.setdefault(width, []).append((node, value))
        self._find_numerals()
        widths = set(self.numerals) | set(self.literals)
        self.roots: Sequence[int] = sorted(width for width in widths if width > 1)

    def _find_numerals(self) -> None:
        """Find the widths written in sorts: `(_ BitVec 8)`, and nothing that only looks like it."""
        document = self.view.document
        source, stop = document.source, document.stop
        for node in range(1, len(document) - 3):
            if stop[node] == node + 4 and source(node + 2) == b"BitVec":
                text = source(node + 3)
                if source(node + 1) == b"_" and text.isdigit() and len(text) < 7:
                    self.numerals.setdefault(int(text), []).append(node + 3)

    def weight(self, node: int) -> int:
        return node

    def moves(self, node: int) -> Sequence[Move]:
        """Return the narrower widths to try, the narrowest first."""
        # Sorts are checked before the test runs: what extracts a bit from a vector that is narrower
        # now, or joins two of other widths, has no sort, and a solver would say no more than that.
        moves = [self._narrow(node, target) for target in _TARGETS if target < node]
        return [move for move in moves if text_is_sorted(self.view, move.change.edits)]

    def _narrow(self, width: int, target: int) -> Move:
        edits = [Edit(each, (b"%d" % target,)) for each in self.numerals.get(width, ())]
        edits += [
            Edit(each, (shortest(value, target),)) for each, value in self.literals.get(width, ())
        ]
        return Move(Change(tuple(edits), "narrow"), ())


@pass_("widths")
def widths(view: ScriptView) -> WidthTree | None:
    """Narrows all bit-vectors of one width at once."""
    tree = WidthTree(view)
    return tree if tree.roots else None
