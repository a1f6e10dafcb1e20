"""Passes that ignore sorts: for parser bugs, and for the algorithms HDD, Perses and Vulcan.

The grammar of the algorithms' passes is that of the standard: a script is a list of commands, an
application has at least one argument, a binder at least one variable, and any term can replace any
other. Names and sorts are ignored, so solvers reject many candidates. That is how these algorithms
work, and the reason to compare with them.

*untyped* is our own, for failures that may not need a valid script. If a query such as check-sat is
needed, the failure depends on an answer, and nothing is tried. Otherwise one probe decides: a
command is replaced by its content (a single word also in parentheses), which no solver accepts as a
command. Only if the probe succeeds are the nodes below tried. With `unchecked`, the probe is always
made, and a second one replaces a term by one of another sort.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from reducekit.change import Change, Edit, Template
from reducekit.format import pass_
from reducekit.frontends.common.items import NodeTree, replaced
from reducekit.frontends.smt2.language.commands import head_of
from reducekit.frontends.smt2.language.view import ScriptView, subterms
from reducekit.search.lazy import Lazy
from reducekit.search.problem import FixedSearch, IndependentItems, Items, Move, Selection, Tree

_OPEN = ord("(")
# Both limits are for scripts of thousands of terms: a node could be replaced by each term below it,
# or by each term of its sort.
_NEAR = 32
"""The number of subterms tried in place of a node, the nearest first."""
_OTHERS = 64
"""The number of other terms of the script tried in place of a node, the smallest first."""
_BINDERS = frozenset(b"let forall exists lambda match".split())


class Listed(IndependentItems):
    """The elements of a list as items; at least `least` of them have to stay."""

    def __init__(self, nodes: Sequence[int], least: int, weights: Sequence[int]) -> None:
        self.nodes = nodes
        self.least = least
        self.weights: Sequence[int] = weights

    def change(self, chosen: Selection, taken: Selection) -> Change:
        if len(self.nodes) - len(chosen) - len(taken) < self.least:
            return Change(())
        return Change(tuple(Edit(self.nodes[item], ()) for item in sorted(chosen)), "drop")


class SyntaxTree(Tree):
    """The nodes of a script, with the script itself as the root."""

    def __init__(self, view: ScriptView) -> None:
        self.document = view.document
        self.script = view.script
        self.roots: Sequence[int] = (0,)

    def weight(self, node: int) -> int:
        """Return the number of nodes, which is about the number of tokens."""
        return self.document.stop[node] - node

    def moves(self, node: int) -> Sequence[Move]:
        """Return the replacements of a term by its subterms, the nearest first."""
        if not node or not self.script.is_term[node]:
            return ()

        def near() -> Iterator[int]:
            # Breadth first, so that a replacement skips as few levels as possible.
            found = subterms(self.script, node)
            for each in found:  # grows during the loop
                if len(found) < _NEAR:
                    found += subterms(self.script, each)
            yield from found[:_NEAR]

        return Lazy(Move(Change((Edit(node, (each,)),), "descendant"), (each,)) for each in near())

    def parts(self, node: int) -> Items | None:
        nodes, least = self._elements(node)
        if len(nodes) <= least:
            return None
        return Listed(nodes, least, [self.weight(each) for each in nodes])

    def _elements(self, node: int) -> tuple[list[int], int]:
        """Return the droppable elements of a node, and how many of them have to stay."""
        document, is_term = self.document, self.script.is_term
        children = list(document.children(node))
        if not node:
            return children, 0
        if document.text[document.start[node]] != _OPEN:
            return [], 0
        if is_term[node]:
            if head_of(document, node) in _BINDERS:
                return [], 0
            return subterms(self.script, node), 1
        above = document.parent[node]
        if is_term[above]:
            bound = head_of(document, above) in _BINDERS and node == above + 2
            return (children, 1) if bound else ([], 0)
        # A list of a command: of sorts, parameters, or terms of a get-value.
        listed = above > 0 and document.parent[above] == 0 and document.stop[node] != node + 1
        return (children, 0) if listed else ([], 0)

    def children(self, node: int, dropped: Selection) -> Sequence[int]:
        document, is_term = self.document, self.script.is_term
        found = [
            each
            for each in document.children(node)
            if is_term[each] or document.stop[each] > each + 1
        ]
        if not dropped:
            return found
        nodes, _ = self._elements(node)
        gone = {nodes[item] for item in dropped}
        return [each for each in found if each not in gone]


@pass_("syntax")
def syntax(view: ScriptView) -> SyntaxTree | None:
    """Removes list elements and replaces terms by subterms, on the syntax tree."""
    return SyntaxTree(view) if view.commands.nodes else None


class Ways(IndependentItems):
    """Names, each with another one that can replace it."""

    def __init__(self, view: ScriptView, pairs: Sequence[tuple[int, int]]) -> None:
        self.view = view
        self.pairs = pairs
        self.weights: Sequence[int] = [len(view.references[one]) for one, _ in pairs]

    def change(self, chosen: Selection, taken: Selection) -> Change:
        pairs = [self.pairs[item] for item in chosen | taken]
        gone = {one for one, _ in pairs}
        if len(gone) < len(pairs) or not gone.isdisjoint(other for _, other in pairs):
            return Change(())
        definitions, source = self.view.script.definitions, self.view.document.source
        edits: list[Edit] = []
        for item in sorted(chosen):
            one, other = self.pairs[item]
            name = source(definitions[other].node)
            edits += (Edit(node, (name,)) for node in self.view.references[one])
            edits.append(Edit(definitions[one].binder, ()))
        return Change(tuple(edits), "other identifier")


@pass_("identifiers")
def identifiers(view: ScriptView) -> FixedSearch | None:
    """Replaces a declared name by another of the same sorts (Vulcan's identifier replacement)."""
    alike: dict[object, list[int]] = {}
    for index, definition in enumerate(view.script.definitions):
        if definition.kind == "fun" and definition.sort is not None:
            alike.setdefault((definition.parameters, definition.sort), []).append(index)
    pairs = [
        (one, other) for some in alike.values() for one in some for other in some if one != other
    ]
    from reducekit.strategies.vulcan import one_by_one

    return FixedSearch(one_by_one(Ways(view, pairs))) if pairs else None


@pass_("sub-trees")
def sub_trees(view: ScriptView) -> NodeTree | None:
    """Replaces a term by a smaller one from the script (Vulcan's sub-tree replacement)."""
    document, script, stop = view.document, view.script, view.document.stop
    by_sort: dict[object, dict[bytes, int]] = {}
    """The smallest terms of each sort, and their numbers of nodes."""
    terms = (node for node in range(1, len(document)) if script.is_term[node])
    for node in sorted(terms, key=lambda node: stop[node] - node):
        sort = script.sort[node]
        if sort is None:
            continue
        uses = {script.refs[each] for each in range(node, stop[node])} - {-1}
        # A term that uses no variable that is bound around it.
        if all(document.parent[script.definitions[each].binder] == 0 for each in uses):
            texts = by_sort.setdefault(sort, {})
            if len(texts) < _OTHERS:
                texts.setdefault(document.source(node), stop[node] - node)

    def moves(node: int) -> Sequence[Move]:
        own = document.source(node)
        others = by_sort.get(script.sort[node], {}).items()
        size = stop[node] - node
        smaller = (text for text, other in others if text != own and other <= size)
        return Lazy(replaced(node, (), smaller, "other term"))

    roots = [each for command in script.commands for each in subterms(script, command)]
    below = partial(subterms, script)
    return NodeTree(roots, lambda node: stop[node] - node, moves, below) if roots else None


@pass_("windows")
def local(view: ScriptView) -> FixedSearch | None:
    """Removes any subset of a few adjacent nodes (Vulcan's local exhaustive reduction)."""
    from reducekit.strategies.vulcan import over_windows

    nodes = range(1, len(view.document))
    weights = [view.document.stop[node] - node for node in nodes]
    return FixedSearch(over_windows(Listed(nodes, 0, weights))) if nodes else None


@pass_("hierarchy")
def hierarchy(view: ScriptView) -> NodeTree | None:
    """Removes commands and replaces terms, level by level of the script's tree."""
    document, script = view.document, view.script
    # No closure here: HDD as published knows no dependences, so a declaration that is dropped
    # without its users is a check that fails. That is what the algorithm is compared by.
    roots = view.commands.nodes
    commands = frozenset(roots)

    def moves(node: int) -> list[Move]:
        if node in commands:
            return [Move(Change((Edit(node, ()),), "drop commands"), ())]
        # HDD only deletes; a term cannot be deleted, so the smallest constant of its sort stands
        # for it.
        constants = view.constants(script.sort[node])[:1]
        if constants == [document.source(node)] or view.lost(Edit(node, ())):
            return []
        return [*replaced(node, (), constants, "constant")]

    return NodeTree(roots, document.size, moves, partial(subterms, script)) if roots else None


def _move(node: int, template: Template, *rest: int) -> Move:
    return Move(Change((Edit(node, template),), "untyped"), rest)


@dataclass(frozen=True)
class Untyped:
    """Removes nodes, or replaces them by their children or 0, ignoring sorts."""

    unchecked: bool = True
    name = "untyped"

    def problem(self, view: ScriptView) -> NodeTree | None:
        """Return the tree of nodes; None if there are none, or if the script has a check."""
        names, nodes = view.commands.names, view.commands.nodes
        if not names or (not self.unchecked and any(each.startswith(b"check-") for each in names)):
            return None
        document, commands = view.document, frozenset(nodes)
        opened = len(document)  # a node below a probe that succeeded is counted from here on

        def children(node: int) -> list[int]:
            below = document.children(node - opened) if node >= opened else ()
            return [each + opened for each in below]

        def moves(node: int) -> list[Move]:
            if node >= opened:
                parts = [_move(node - opened, (each - opened,), each) for each in children(node)]
                return [_move(node - opened, ()), _move(node - opened, (b"0",)), *reversed(parts)]
            within = list(document.children(node))
            if node not in commands or len(within) < 2:
                return []
            body = within[-1]
            found = [_move(node, (body,), body + opened)]
            if document.stop[body] == body + 1:
                found.append(_move(node, (b"(", body, b")"), body + opened))
            inner = list(document.children(body))[1:] if self.unchecked else []
            inner.sort(key=document.size, reverse=True)
            return found + [_move(body, (each,), each + opened) for each in inner[:2]]

        # The heaviest assertion stands for all: if a solver does not mind nonsense there, what is
        # below it is searched; if it does, one check was lost. More probes would mostly repeat the
        # answer.
        asserts = [node for node, name in zip(nodes, names, strict=True) if name == b"assert"]
        heaviest = sorted(asserts or nodes, key=document.size)[-1:]
        return NodeTree(heaviest, lambda each: document.size(each % opened), moves, children)
