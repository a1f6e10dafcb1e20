"""Passes within datatype declarations and tactics: what of them is not needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reducekit.change import Change, Edit
from reducekit.frontends.smt2.terms import Terms
from reducekit.frontends.smt2.view import ScriptView
from reducekit.search.problem import IndependentItems, LeafTree, Move, Selection

_TACTICS = frozenset(b"check-sat-using apply".split())
_SIMPLE = (b"skip", b"simplify")
"""Tactics that may stand for any other."""


@dataclass(frozen=True, slots=True)
class Member:
    """A constructor or selector that can go: its node, the list it stands in, what goes along."""

    node: int
    container: int
    least: int
    """How many of the container's members have to stay."""
    along: Sequence[int]


class MemberItems(IndependentItems):
    """Constructors and selectors as items."""

    def __init__(self, members: Sequence[Member], sizes: dict[int, int]) -> None:
        self.members = members
        self.sizes = sizes
        self.weights: Sequence[int] = [1 + len(each.along) for each in members]

    def change(self, chosen: Selection, taken: Selection) -> Change:
        """Drop members, but never the last constructor of a datatype."""
        gone: dict[int, int] = {}
        for item in chosen | taken:
            each = self.members[item]
            gone[each.container] = gone.get(each.container, 0) + 1
            if self.sizes[each.container] - gone[each.container] < each.least:
                return Change(())
        nodes = [
            node
            for item in sorted(chosen)
            for node in (self.members[item].node, *self.members[item].along)
        ]
        return Change(tuple(Edit(node, ()) for node in nodes), "drop members")


class Members:
    """The pass over the constructors and selectors of all datatypes."""

    name = "datatype members"

    def problem(self, view: ScriptView) -> MemberItems | None:
        """Return the constructors without uses, and the selectors without uses."""
        terms = view.terms
        document, script = terms.document, terms.script
        parent = document.parent
        constructors = {
            definition.node: index
            for index, definition in enumerate(script.definitions)
            if definition.kind == "constructor"
        }
        used = terms.references
        found: list[Member] = []
        sizes: dict[int, int] = {}
        selectors: dict[int, list[int]] = {}
        for index, definition in enumerate(script.definitions):
            if definition.kind == "selector":
                element = parent[definition.node]
                selectors.setdefault(parent[element], []).append(index)
        for node, index in constructors.items():
            element = _element(terms, node, constructors)
            container = parent[element]
            sizes[container] = sizes.get(container, 0) + 1
            own = selectors.get(element, [])
            if index not in used and not any(each in used for each in own):
                found.append(Member(element, container, 1, ()))
            applications = [parent[each] for each in used[index]]
            arguments = [list(document.children(each))[1:] for each in applications]
            if any(len(each) != len(own) for each in arguments):
                continue
            sizes[element] = len(own)
            for number, each in enumerate(own):
                # With its last argument an application would lose its sense too.
                if each not in used:
                    along = [group[number] for group in arguments]
                    place = parent[script.definitions[each].node]
                    found.append(Member(place, element, int(bool(along)), along))
        return MemberItems(found, sizes) if found else None


def _element(terms: Terms, node: int, constructors: dict[int, int]) -> int:
    """Return the node of a whole constructor: its list, or the bare name (standard 2.5, Z3)."""
    document = terms.document
    above = document.parent[node]
    siblings = list(document.children(above))
    if siblings[0] != node or any(each in constructors for each in siblings[1:]):
        return node
    return above


class TacticTree(LeafTree):
    """The tactics of Z3's commands: each can be one of its parts or a simple one, or go."""

    def __init__(self, view: ScriptView) -> None:
        self.document = view.document
        commands = view.commands
        self.roots: Sequence[int] = [
            each
            for node, name in zip(commands.nodes, commands.names, strict=True)
            if name in _TACTICS
            for each in list(self.document.children(node))[1:]
        ]
        self.keep = frozenset(self.roots)

    def weight(self, node: int) -> int:
        """Return the bytes of a tactic."""
        return self.document.end[node] - self.document.start[node]

    def moves(self, node: int) -> Sequence[Move]:
        """Return nothing, where that is possible, and each part in place of the whole."""
        found = []
        if node not in self.keep:
            found.append(Move(Change((Edit(node, ()),), "drop tactic"), ()))
        parts = reversed(self.children(node, frozenset()))
        found += [Move(Change((Edit(node, (each,)),), "tactic"), (each,)) for each in parts]
        own = self.document.source(node)
        simple = [each for each in _SIMPLE if len(each) < len(own) and own[:1] != b":"]
        return found + [Move(Change((Edit(node, (each,)),), "tactic"), ()) for each in simple]

    def children(self, node: int, dropped: Selection) -> Sequence[int]:
        """Return the parts of a tactic, after the name of the combinator."""
        return list(self.document.children(node))[1:]


class Tactics:
    """The pass over tactics: each goes, or becomes one of its parts, `skip`, or `simplify`."""

    name = "tactics"

    def problem(self, view: ScriptView) -> TacticTree | None:
        """Return the tree of tactics."""
        tree = TacticTree(view)
        return tree if tree.roots else None
