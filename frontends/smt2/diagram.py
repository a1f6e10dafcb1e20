"""A script as a drawing: commands and terms, with shared terms drawn once.

A `let` has no node: the term it binds is a node that every use points to, which shows the sharing,
and the let itself is represented by its body. A declared symbol is one node for all its uses.
"""

from __future__ import annotations

from functools import cache

from reducekit.diagram import Diagram, Kind, Node
from reducekit.frontends.smt2.language.commands import head_of
from reducekit.frontends.smt2.language.script import Script
from reducekit.frontends.smt2.language.sorts import print_sort
from reducekit.frontends.smt2.language.view import subterms
from reducekit.text import shortened

_LABEL = 32  # characters


def diagram(script: Script) -> Diagram:
    """Return the commands with terms, their terms, and the symbols these refer to."""
    document, definitions = script.document, script.definitions
    start, end = document.start, document.end
    said = cache(lambda sort: "" if sort is None else shortened(print_sort(sort), _LABEL))
    alias = _aliases(script)
    # Maps a node of the document (a term, or the symbol of a definition) to a node of the drawing.
    numbers: dict[int, int] = {}
    kept: list[int] = []
    shared = {alias[use] for use in alias if alias[use] not in alias}
    defined = {definition.node for definition in definitions}
    commands = dict(zip(script.commands, script.names, strict=True))
    drawn = (defined & shared) | {each for each in commands if subterms(script, each)}
    for node in range(1, len(document.stop)):
        if node in drawn or (script.is_term[node] and node not in alias):
            numbers[node] = len(kept)
            kept.append(node)

    def number(node: int) -> int:
        return numbers.get(alias.get(node, node), -1)

    by_symbol = {definition.node: definition for definition in definitions}
    nodes: list[Node] = []
    for node in kept:
        definition = by_symbol.get(node)
        below: list[int] = []
        kind: Kind
        if node in commands:
            label, detail, kind = commands[node], "", "root"
            below = subterms(script, node)
        elif definition is not None and not script.is_term[node]:
            label, detail, kind = definition.name, said(definition.sort), "leaf"
            if definition.kind == "define":
                below = subterms(script, definition.binder)
        else:
            label, kind, below = _term(script, node)
            detail = said(script.sort[node])
        edges = [place for each in below if (place := number(each)) >= 0]
        nodes.append(Node(shortened(label, _LABEL), detail, kind, start[node], end[node], edges))
    return Diagram("graph", nodes)


def _term(script: Script, node: int) -> tuple[bytes, Kind, list[int]]:
    """Return how a term is labelled and drawn, and the nodes below it, a function's own last."""
    document, head = script.document, node + 1
    if document.stop[node] == head:
        return document.source(node), "constant", []
    below = list(subterms(script, node))
    if not script.is_term[head] and script.refs[head] >= 0:
        below.append(script.definitions[script.refs[head]].node)
    return head_of(document, node) or document.source(head), "inner", below


def _alias(script: Script, node: int) -> int | None:
    """Return the node that a let, or the use of a symbol, is another name of; None for others."""
    reference = script.refs[node]
    if reference < 0:
        is_let = script.is_term[node] and head_of(script.document, node) == b"let"
        terms = subterms(script, node) if is_let else []
        return terms[-1] if terms else None
    definition = script.definitions[reference]
    if not script.is_term[node]:
        return definition.node  # a function that is applied
    if definition.kind == "let":
        return definition.node + 1  # the bound term follows its symbol
    return definition.binder if definition.kind == "named" else definition.node


def _aliases(script: Script) -> dict[int, int]:
    """Map each let, and each use of a bound or declared symbol, to the node that represents it."""
    found: dict[int, int] = {}
    for node in range(1, len(script.document.stop)):
        other = _alias(script, node)
        if other is not None:
            found[node] = other
    # An alias may point to another one: a let whose body is a let. All are resolved to the last;
    # each is followed once, with what was passed on the way, as they may be a million deep.
    for first in found:
        way = [first]
        while found.get(found[way[-1]], way[-1]) != way[-1] and len(way) <= len(found):
            way.append(found[way[-1]])
        last = found[way[-1]]
        for each in way:
            found[each] = last
    return found
