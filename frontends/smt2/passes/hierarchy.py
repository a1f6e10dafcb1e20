"""The whole script as one tree, for HDD: commands are dropped, terms become constants."""

from __future__ import annotations

from collections.abc import Sequence

from reducekit.change import Change, Edit
from reducekit.frontends.smt2.language.terms import subterms
from reducekit.frontends.smt2.language.view import ScriptView
from reducekit.passes import pass_
from reducekit.search.problem import LeafTree, Move, Selection


class ScriptTree(LeafTree):
    """Commands with their terms below them; each has one move, to its minimal replacement."""

    def __init__(self, view: ScriptView) -> None:
        self.terms = view.terms
        self.document = view.document
        # No closure here: HDD as published knows no dependences, so a declaration that is dropped
        # without its users is a check that fails. That is what the algorithm is compared by.
        self.roots: Sequence[int] = view.commands.nodes
        self.commands = frozenset(self.roots)

    def weight(self, node: int) -> int:
        return self.document.end[node] - self.document.start[node]

    def moves(self, node: int) -> Sequence[Move]:
        """Return the removal of a command, or the replacement of a term by a constant."""
        if node in self.commands:
            return [Move(Change((Edit(node, ()),), "drop commands"), ())]
        # HDD only deletes; a term cannot be deleted, so the smallest constant of its sort stands
        # for it.
        own = self.document.source(node)
        constants = self.terms.constants(self.terms.script.sort[node])[:1]
        edits = [Edit(node, (constant,)) for constant in constants if constant != own]
        return [
            Move(Change((edit,), "constant"), ())
            for edit in edits
            if not self.terms.names.lost(edit)
        ]

    def children(self, node: int, dropped: Selection) -> Sequence[int]:
        return subterms(self.terms.script, node)


@pass_("hierarchy")
def hierarchy(view: ScriptView) -> ScriptTree | None:
    """Removes commands and replaces terms, level by level of the script's tree."""
    return ScriptTree(view) if view.commands.nodes else None
