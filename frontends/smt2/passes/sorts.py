"""Passes on sorts: user-defined sorts, their parameters, and the sorts of unused symbols."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from reducekit.change import Change, Edit, Template
from reducekit.format import pass_
from reducekit.frontends.common.items import NodeTree, replaced
from reducekit.frontends.smt2.language.commands import head_of
from reducekit.frontends.smt2.language.scopes import Definition
from reducekit.frontends.smt2.language.sorts import FLOATS, Sort, print_sort, substitute
from reducekit.frontends.smt2.language.view import ScriptView
from reducekit.frontends.smt2.passes.declarations import Part, PartItems, bare, body_of
from reducekit.search.problem import IndependentChanges, Move, independent

_DECLARES = frozenset(b"declare-fun declare-const declare-var".split())
# Solvers accept no zero byte in a symbol (standard 2.7, section 3.1), so no name looks like a gap.
_GAP = re.compile(rb"\0([0-9]+)\0")
# The shortest name of a sort that solvers know without a declaration.
_SIMPLEST = b"Int"


def _commands(view: ScriptView, head: bytes) -> list[tuple[int, Definition]]:
    """Return the sorts that commands with this name introduce, with their definition numbers."""
    return [
        (index, definition)
        for index, definition in enumerate(view.script.definitions)
        if definition.kind == "sort" and head_of(view.document, definition.binder) == head
    ]


def _arguments(view: ScriptView, use: int, definition: Definition) -> list[int]:
    """Return the sorts that a name is applied to: two in `(U Int Bool)`."""
    # A sort without parameters may also come first in a list: that of a function's parameters.
    if not definition.parameters or view.document.parent[use] != use - 1:
        return []
    return list(view.document.children(use - 1))[1:]


class Sorts:
    """Replaces a declared sort by a standard one, and removes its declaration."""

    def __init__(self, target: bytes) -> None:
        self.name = f"sorts to {target.decode()}"
        self.target = target

    def problem(self, view: ScriptView) -> IndependentChanges | None:
        """Return one change per declared sort, including the arguments it is applied to."""
        # No value of a declared sort can be written, so nothing in the script says what it is: any
        # sort that has values may take its place, and literals become possible.
        changes = []
        for index, definition in _commands(view, b"declare-sort"):
            applied = 1 if definition.parameters else 0
            uses = view.references[index]
            edits = [Edit(use - applied, (self.target,)) for use in uses]
            changes.append(Change((Edit(definition.binder, ()), *edits), self.name))
        return independent(changes)


@pass_("abbreviations")
def abbreviations(view: ScriptView) -> Iterator[Change]:
    """Expands defined sorts at every use, and removes their definitions."""
    for index, definition in _commands(view, b"define-sort"):
        # All uses or none: the definition goes only if nothing is left that needs it.
        edits = [Edit(definition.binder, ())]
        for use in view.references[index]:
            written = _written_out(view, use, definition)
            if written is None:
                break
            edits.append(Edit(use - 1 if definition.parameters else use, written))
        else:
            yield Change(tuple(edits), "write out sort")


def _written_out(view: ScriptView, use: int, definition: Definition) -> Template | None:
    """Return the expansion of an abbreviation, with the arguments of this use."""
    arguments = _arguments(view, use, definition)
    if definition.sort is None or len(arguments) != len(definition.parameters):
        return None
    gaps: dict[str, Sort | int] = {
        str(parameter): f"\0{number}\0" for number, parameter in enumerate(definition.parameters)
    }
    sort = substitute(definition.sort, gaps)
    if sort is None:
        return None
    # Numbers of gaps stand between the literal parts.
    parts = _GAP.split(print_sort(sort, FLOATS))
    template = [
        arguments[int(part)] if place % 2 else part for place, part in enumerate(parts) if part
    ]
    return tuple(template)


@pass_("sort parameters")
def sort_parameters(view: ScriptView) -> PartItems | None:
    """Removes parameters of declared sorts, and of defined sorts if all uses pass the same sort."""
    definitions, references = view.script.definitions, view.references
    defined = (each for each in _commands(view, b"define-sort") if each[1].sort is not None)
    found: list[Part] = []
    for index, definition in (*_commands(view, b"declare-sort"), *defined):
        count = len(definition.parameters)
        uses = [_arguments(view, use, definition) for use in references[index]]
        if any(len(each) != count for each in uses):
            continue
        # Parameters are numbered right before their sort; a declared sort has only their number.
        own = range(index - count, index) if definition.sort is not None else ()
        for number in range(count):
            drop = [each[number] for each in uses]
            # Where a definition uses its parameter, a sort has to stand for it: the one that all
            # uses pass, so that the sort means there what it meant. A declared sort means nothing.
            instead = _SIMPLEST
            if own and own[number] in references and uses:
                instead = _common(view, drop, index)
            if not instead:
                continue
            replace = []
            if own:
                drop.append(definitions[own[number]].node)
                replace = [Edit(node, (instead,)) for node in references[own[number]]]
            found.append(Part(index, drop, replace, weight=1 + len(uses)))

    def rest(sort: int, left: int) -> list[Edit]:
        """Return the edits of the number of parameters; a sort without any is a bare name."""
        definition = definitions[sort]
        arity = view.document.stop[definition.node]
        edits = [Edit(arity, (b"%d" % left,))] if definition.sort is None else []
        return edits if left else [*edits, *(bare(use - 1) for use in references[sort])]

    sizes = {each.whole: len(definitions[each.whole].parameters) for each in found}
    return PartItems("drop sort parameters", found, sizes, rest) if found else None


def _common(view: ScriptView, arguments: Sequence[int], sort: int) -> bytes:
    """Return the sort that all these nodes spell, if it is also valid where `sort` is defined.

    Empty if they differ, or use sorts with parameters, which may be dropped in the same change.
    """
    document, script = view.document, view.script
    texts = {document.source(each) for each in arguments}
    first = arguments[0]
    used = {script.refs[node] for node in range(first, document.stop[first])} - {-1}
    definitions = script.definitions
    plain = all(
        each < sort and not definitions[each].parameters and definitions[each].kind == "sort"
        for each in used
    )
    return texts.pop() if len(texts) == 1 and plain else b""


@pass_("instances")
def instances(view: ScriptView) -> IndependentChanges | None:
    """Instantiates a parametric datatype with the sorts that all its uses have in common."""
    definitions = view.script.definitions
    number = {each.node: i for i, each in enumerate(definitions) if each.kind == "parameter"}
    changes = [
        Change(tuple(edits), "instance")
        for index, definition in enumerate(definitions)
        if definition.kind == "sort" and definition.parameters
        if (edits := _instance(view, index, number))
    ]
    return independent(changes)


def _instance(view: ScriptView, index: int, number: Mapping[int, int]) -> list[Edit]:
    """Return the edits that make a parametric datatype a plain one; empty if it is impossible."""
    document, uses = view.document, view.references
    definition = view.script.definitions[index]
    body = body_of(view, definition)
    parts = list(document.children(body)) if body >= 0 else []
    if len(parts) != 3 or document.source(parts[0]) != b"par":
        return []
    own = [number[each] for each in document.children(parts[1]) if each in number]
    outside = _passed(view, index, own, body)
    if outside is None:
        return []
    edits = [Edit(body, (parts[2],)), *(Edit(use - 1, (use,)) for use in uses[index])]
    head = document.parent[definition.node]
    if head != definition.binder:
        edits.append(Edit(document.stop[definition.node], (b"0",)))
    for place, parameter in enumerate(own):
        passed = [each[place] for each in outside]
        instead = _common(view, passed, index) if passed else _SIMPLEST
        if not instead:
            return []
        edits += (Edit(each, (instead,)) for each in uses[parameter])
    return edits


def _passed(view: ScriptView, index: int, own: Sequence[int], body: int) -> list[list[int]] | None:
    """Return the arguments of a datatype's uses outside of its body; None if it has odd uses.

    Inside, a datatype may only be applied to its own parameters, in their order: one that passes
    other sorts to itself (a nested datatype) has no instance that is a plain datatype.
    """
    document, refs = view.document, view.script.refs
    definition = view.script.definitions[index]
    outside = []
    for use in view.references[index]:
        arguments = _arguments(view, use, definition)
        if len(arguments) != len(own):
            return None
        if not body < arguments[0] < document.stop[body]:
            outside.append(arguments)
        elif [refs[node] for node in arguments] != own:
            return None
    return outside


@pass_("unused sorts")
def unused(view: ScriptView) -> NodeTree | None:
    """Replaces the sorts of unused declarations and definitions by simpler ones."""
    document = view.document
    roots: list[int] = []
    for index, definition in enumerate(view.script.definitions):
        if definition.kind != "fun" or definition.sort is None or index in view.references:
            continue
        head, *children = document.children(definition.binder)
        if document.source(head) in _DECLARES and children[:1] == [definition.node]:
            signature = children[1:]
            if len(signature) == 2:
                signature[:1] = document.children(signature[0])
            roots += (each for each in signature if document.size(each) > len(_SIMPLEST))
    roots += (
        document.stop[document.stop[definition.node]]
        for index, definition in _commands(view, b"define-sort")
        if definition.sort is not None and index not in view.references
    )

    def within(node: int) -> list[int]:
        parts = list(document.children(node))
        return parts[1:] if parts and document.source(parts[0]) != b"_" else []

    def moves(node: int) -> list[Move]:
        # Bool stays: it is as simple as Int, and of solvers that treat predicates apart the failure
        # may depend on it.
        simplest = [] if document.source(node) == b"Bool" else [_SIMPLEST]
        return [*replaced(node, (), simplest, "sort"), *replaced(node, within(node), (), "sort")]

    return NodeTree(roots, document.size, moves, within) if roots else None
