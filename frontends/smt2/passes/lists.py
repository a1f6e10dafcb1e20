"""Passes on attributes, queries and tactics, which are no terms, and on terms in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import partial

from reducekit.change import Change, Edit
from reducekit.document import Document
from reducekit.format import pass_
from reducekit.frontends.common.items import NodeTree, replaced
from reducekit.frontends.smt2.language.commands import head_of
from reducekit.frontends.smt2.language.view import ScriptView
from reducekit.frontends.smt2.passes.declarations import Part, PartItems
from reducekit.search.problem import Move

# A keyword is the subject of these commands, not an attribute: without it nothing is left of them.
_NO_ATTRIBUTES = frozenset(b"set-option set-info get-option get-info set-logic".split())
PATTERNS = (b":pattern", b":no-pattern", b":nopattern")
_ASKING = frozenset(b"get-value check-sat-assuming get-assignment".split())


def _is_keyword(document: Document, node: int) -> bool:
    leaf = document.stop[node] == node + 1
    return leaf and document.text.startswith(b":", document.start[node])


@pass_("attributes")
def attributes(view: ScriptView) -> PartItems | None:
    """Removes attributes of terms and commands."""
    document, stop = view.document, view.document.stop
    used = {  # the symbols of the `:named` terms that something refers to
        definition.node
        for index, definition in enumerate(view.script.definitions)
        if definition.kind == "named" and index in view.references
    }
    found: list[Part] = []
    for node in filter(partial(_is_keyword, document), range(1, len(document))):
        above, value = document.parent[node], node + 1
        if above == 0 or head_of(document, above) in _NO_ATTRIBUTES:
            continue
        # An attribute is a keyword alone, or with a value (standard 2.7, section 3.4).
        if value >= stop[above] or _is_keyword(document, value):
            found.append(Part(above, (node,)))
        elif value not in used:
            found.append(Part(above, (node, value)))

    def rest(above: int, left: int) -> list[Edit]:
        # `(! t)` is no term: an annotation has one attribute or more (standard 2.7, section 3.6).
        bare = not left and head_of(document, above) == b"!"
        return [Edit(above, (above + 2,))] if bare else []

    sizes = Counter(each.whole for each in found)
    return PartItems("drop attributes", found, sizes, rest) if found else None


@pass_("pattern terms")
def pattern_terms(view: ScriptView) -> PartItems | None:
    """Removes terms from patterns of several terms."""
    document = view.document
    if not any(word in document.text for word in PATTERNS):
        return None
    found: list[Part] = []
    for node in filter(partial(_is_keyword, document), range(1, len(document) - 1)):
        if document.parent[node + 1] == document.parent[node]:
            terms = list(document.children(node + 1))
            if len(terms) > 1 and document.source(node) in PATTERNS:
                found += (Part(node, (each,), weight=document.stop[each] - each) for each in terms)
    if not found:
        return None
    sizes = Counter(each.whole for each in found)
    return PartItems("drop pattern terms", found, sizes, lambda *_: (), dict.fromkeys(sizes, 1))


@pass_("queried terms")
def queried_terms(view: ScriptView) -> Iterator[Change]:
    """Removes terms from queries such as get-value."""
    document = view.document
    for node, name in zip(view.commands.nodes, view.commands.names, strict=True):
        children = list(document.children(node))
        if name in _ASKING and len(children) == 2:
            # The grammar of get-value asks for one term or more (standard 2.7, section 3.9);
            # the list of check-sat-assuming may be empty.
            elements = list(document.children(children[1]))
            keep = 1 if name == b"get-value" else 0
            for each in elements[: len(elements) - keep]:
                yield Change((Edit(each, ()),), "drop queried terms")


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


@pass_("tactics")
def tactics(view: ScriptView) -> NodeTree | None:
    """Removes tactics, or replaces them by one of their parts, `skip` or `simplify`."""
    document, commands = view.document, view.commands

    def parts(node: int) -> list[int]:
        return list(document.children(node))[1:]  # without the name of the combinator

    roots = [
        each
        for node, name in zip(commands.nodes, commands.names, strict=True)
        if name in _TACTICS
        for each in parts(node)
    ]
    keep = frozenset(roots)

    def moves(node: int) -> list[Move]:
        dropped = [] if node in keep else [Move(Change((Edit(node, ()),), "drop tactic"), ())]
        # `skip` does nothing and `simplify` always ends, so whatever follows them is still reached.
        own = document.source(node)
        simple = [each for each in _SIMPLE if len(each) < len(own) and own[:1] != b":"]
        return [*dropped, *replaced(node, reversed(parts(node)), simple, "tactic")]

    return NodeTree(roots, document.size, moves, parts) if roots else None
