"""Passes on attributes, queries and tactics, which are no terms, and on terms in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial

from reducekit.change import Change, Edit
from reducekit.document import Document
from reducekit.frontends.smt2.language.commands import head_of
from reducekit.frontends.smt2.language.terms import Terms
from reducekit.frontends.smt2.language.view import ScriptView
from reducekit.frontends.smt2.passes.phases import PATTERNS
from reducekit.passes import pass_
from reducekit.search.problem import IndependentItems, LeafTree, Move, Selection

# A keyword is the subject of these commands, not an attribute: without it nothing is left of them.
_NO_ATTRIBUTES = frozenset(b"set-option set-info get-option get-info set-logic".split())
_ASKING = frozenset(b"get-value check-sat-assuming get-assignment".split())


class AttributeItems(IndependentItems):
    """Attributes as items: each is a keyword with its value, if any."""

    def __init__(self, terms: Terms, attributes: Sequence[tuple[int, ...]]) -> None:
        self.attributes = attributes
        self.weights: Sequence[int] = [len(nodes) for nodes in attributes]
        self.above = [terms.document.parent[nodes[0]] for nodes in attributes]
        self.annotations: dict[int, set[int]] = {}
        for item, node in enumerate(self.above):
            if head_of(terms.document, node) == b"!":
                self.annotations.setdefault(node, set()).add(item)

    def change(self, chosen: Selection, taken: Selection) -> Change:
        """Drop attributes; a term that has none left loses its annotation."""
        # `(! t)` is no term: an annotation has one attribute or more (standard 2.7, section 3.6).
        edits = [Edit(node, ()) for item in sorted(chosen) for node in self.attributes[item]]
        touched = {self.above[item] for item in chosen} & self.annotations.keys()
        edits += [
            Edit(node, (node + 2,))
            for node in sorted(touched)
            if all(item in chosen or item in taken for item in self.annotations[node])
        ]
        return Change(tuple(edits), "drop attributes")


def _is_keyword(document: Document, node: int) -> bool:
    leaf = document.stop[node] == node + 1
    return leaf and document.text.startswith(b":", document.start[node])


def _used_names(terms: Terms) -> set[int]:
    """Return the symbols of the `:named` terms that something refers to."""
    return {
        definition.node
        for index, definition in enumerate(terms.script.definitions)
        if definition.kind == "named" and index in terms.references
    }


@pass_("attributes")
def attributes(view: ScriptView) -> AttributeItems | None:
    """Removes attributes of terms and commands."""
    terms = view.terms
    document, stop = terms.document, terms.document.stop
    used = _used_names(terms)
    found: list[tuple[int, ...]] = []
    for node in filter(partial(_is_keyword, document), range(1, len(document))):
        above, value = document.parent[node], node + 1
        if above == 0 or head_of(document, above) in _NO_ATTRIBUTES:
            continue
        # An attribute is a keyword alone, or with a value (standard 2.7, section 3.4).
        if value >= stop[above] or _is_keyword(document, value):
            found.append((node,))
        elif value not in used:
            found.append((node, value))
    return AttributeItems(terms, found) if found else None


class PatternItems(IndependentItems):
    """The terms of patterns as items; each pattern keeps one."""

    def __init__(self, patterns: Sequence[Sequence[int]], weights: Sequence[int]) -> None:
        self.nodes = [term for terms in patterns for term in terms]
        self.pattern = [number for number, terms in enumerate(patterns) for _ in terms]
        self.size = [len(terms) for terms in patterns]
        self.weights: Sequence[int] = weights

    def change(self, chosen: Selection, taken: Selection) -> Change:
        """Drop terms; nothing if a pattern would have none left."""
        gone = Counter(self.pattern[item] for item in (*chosen, *taken))
        if any(gone[number] >= self.size[number] for number in gone):
            return Change(())
        return Change(
            tuple(Edit(self.nodes[item], ()) for item in sorted(chosen)), "drop pattern terms"
        )


@pass_("pattern terms")
def pattern_terms(view: ScriptView) -> PatternItems | None:
    """Removes terms from patterns of several terms."""
    document = view.document
    if not any(word in document.text for word in PATTERNS):
        return None
    patterns = []
    for node in filter(partial(_is_keyword, document), range(1, len(document) - 1)):
        if document.parent[node + 1] == document.parent[node]:
            terms = list(document.children(node + 1))
            if len(terms) > 1 and document.source(node) in PATTERNS:
                patterns.append(terms)
    weights = [document.stop[term] - term for terms in patterns for term in terms]
    return PatternItems(patterns, weights) if patterns else None


@pass_("queried terms")
def queried_terms(view: ScriptView) -> Iterator[Change]:
    """Removes terms from queries such as get-value."""
    # One change per element of such a list; get-value keeps at least one.
    document = view.document
    for node, name in zip(view.commands.nodes, view.commands.names, strict=True):
        children = list(document.children(node))
        if name in _ASKING and len(children) == 2:
            # The grammar of get-value asks for one term or more (standard 2.7, section 3.9);
            # the list of check-sat-assuming may be empty.
            elements = list(document.children(children[1]))
            keep = 1 if name == b"get-value" else 0
            yield from [
                Change((Edit(each, ()),), "drop queried terms")
                for each in elements[: len(elements) - keep]
            ]


_CHECKS = frozenset(b"check-sat-assuming check-sat-using check-sat-assuming-model".split())
_ASSERTS = frozenset(b"assert-soft query rule constraint assume".split())


@pass_("queries")
def queries(view: ScriptView) -> Iterator[Change]:
    """Replaces variants of `check-sat` and `assert` by the plain commands."""
    # One change each, not one for all: which of several queries fails is not known, and a plain
    # one in its place asks something else.
    document, script = view.document, view.script
    for node in view.commands.nodes:
        name = head_of(document, node)
        children = list(document.children(node))
        if name in _CHECKS:
            yield Change((Edit(node, (b"(check-sat)",)),), "check-sat")
        elif name in _ASSERTS and len(children) > 1 and script.sort[children[1]] == "Bool":
            template = (b"(assert ", children[1], b")")
            yield Change((Edit(node, template),), "assert")


# Of Z3, like `apply` and the combinators: the standard has no tactics.
_TACTICS = frozenset(b"check-sat-using apply".split())
_SIMPLE = (b"skip", b"simplify")
"""Tactics that can replace any other."""


class TacticTree(LeafTree):
    """The tactics in Z3's commands: each can be dropped, or replaced by a part or a simple one."""

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
        return self.document.end[node] - self.document.start[node]

    def moves(self, node: int) -> Sequence[Move]:
        """Return the removal, if allowed, and the replacements by parts and simple tactics."""
        found = []
        if node not in self.keep:
            found.append(Move(Change((Edit(node, ()),), "drop tactic"), ()))
        parts = reversed(self.children(node, frozenset()))
        found += [Move(Change((Edit(node, (each,)),), "tactic"), (each,)) for each in parts]
        # `skip` does nothing and `simplify` always ends, so whatever follows them is still reached.
        own = self.document.source(node)
        simple = [each for each in _SIMPLE if len(each) < len(own) and own[:1] != b":"]
        return found + [Move(Change((Edit(node, (each,)),), "tactic"), ()) for each in simple]

    def children(self, node: int, dropped: Selection) -> Sequence[int]:
        """Return the parts of a tactic, without the name of the combinator."""
        return list(self.document.children(node))[1:]


@pass_("tactics")
def tactics(view: ScriptView) -> TacticTree | None:
    """Removes tactics, or replaces them by one of their parts, `skip` or `simplify`."""
    tree = TacticTree(view)
    return tree if tree.roots else None
