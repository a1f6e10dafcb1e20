"""The whole script as one tree, for HDD: commands that go, terms that become constants."""

from __future__ import annotations

from collections.abc import Sequence

from reducekit.change import Change, Edit
from reducekit.frontends.smt2.passes.term_tree import TermTree
from reducekit.frontends.smt2.terms import subterms
from reducekit.frontends.smt2.view import ScriptView
from reducekit.search.problem import LeafTree, Move, Selection


class ScriptTree(LeafTree):
    """Commands, and below them their terms; the first move of each is its minimal replacement."""

    def __init__(self, view: ScriptView) -> None:
        self.terms = TermTree(view.terms)
        self.roots: Sequence[int] = view.commands.nodes
        self.commands = frozenset(self.roots)

    def weight(self, node: int) -> int:
        """Return the bytes of a node."""
        return self.terms.weight(node)

    def moves(self, node: int) -> Sequence[Move]:
        """Return the removal of a command, the moves of a term."""
        if node in self.commands:
            return [Move(Change((Edit(node, ()),), "drop commands"), ())]
        return self.terms.moves(node)

    def children(self, node: int, dropped: Selection) -> Sequence[int]:
        """Return the terms directly below."""
        return subterms(self.terms.script, node)


class Hierarchy:
    """The pass over the tree of the script."""

    name = "hierarchy"

    def problem(self, view: ScriptView) -> ScriptTree | None:
        """Return the tree."""
        return ScriptTree(view) if view.commands.nodes else None
