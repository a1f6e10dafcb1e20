"""A pass that writes the same in fewer bytes: literals, declarations, logics, sorts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from reducekit.change import Change, Edit
from reducekit.document import Document
from reducekit.frontends.smt2.language.parser import parse
from reducekit.frontends.smt2.language.script import Script, analyse
from reducekit.frontends.smt2.language.spelling import shortest
from reducekit.frontends.smt2.language.view import ScriptView
from reducekit.passes import pass_
from reducekit.search.problem import IndependentChanges, independent

_LITERAL = re.compile(rb"\(\s*_\s+bv([0-9]{1,99})\s+([0-9]{1,6})\s*\)")
_WHOLE = re.compile(rb"([0-9]{1,99})\.0")
_FLOATS = {
    b"(_ FloatingPoint 5 11)": b"Float16",
    b"(_ FloatingPoint 8 24)": b"Float32",
    b"(_ FloatingPoint 11 53)": b"Float64",
    b"(_ FloatingPoint 15 113)": b"Float128",
}
# It takes a second parse, with the sorts of all terms, for each such change.
_CHECKED = 20_000
"""Scripts with more nodes are not parsed again to check that a change keeps them well-sorted."""


def text_is_sorted(view: ScriptView, edits: Sequence[Edit]) -> bool:
    """Return whether edits leave the number of terms without a sort unchanged."""
    if len(view.document) > _CHECKED:
        return False
    before = _unsorted(view.script)
    after = analyse(parse(view.document.render(dict(edits))))
    return _unsorted(after) <= before


def _unsorted(script: Script) -> int:
    return sum(script.is_term) - sum(
        sort is not None and bool(term)
        for sort, term in zip(script.sort, script.is_term, strict=True)
    )


@pass_("spelling")
def spelling(view: ScriptView) -> IndependentChanges | None:
    """Shortens the spelling of literals, declarations, logics and float sorts.

    A bit-vector literal gets its shortest notation, a declare-fun without parameters becomes a
    declare-const, a logic ALL, 1.0 becomes 1, and the long form of Float32 its name.
    """
    # One change for all declarations: a solver either knows declare-const or not.
    # What a solver knows or does not know as a whole is one change: any part of it alone would
    # be rejected for the same reason. Literals are one change each: solvers differ in what
    # notation they read, and in what it makes them do.
    changes = [*_logics(view), *_literals(view)]
    decimals = _decimals(view)
    if decimals and text_is_sorted(view, decimals):
        changes.append(Change(tuple(decimals), "numerals for decimals"))
    floats = _floats(view.document)
    if floats:
        changes.append(Change(tuple(floats), "short sorts"))
    declarations = tuple(_declarations(view))
    if declarations:
        # One key: a solver that does not know the command rejects it every time.
        changes.append(Change(declarations, "declare-const", b"declare-const"))
    return independent(changes)


def _logics(view: ScriptView) -> Iterator[Change]:
    # ALL is the shortest name of a logic, and allows whatever the other passes put into a script.
    for node, name in zip(view.commands.nodes, view.commands.names, strict=True):
        children = list(view.document.children(node))
        if name == b"set-logic" and len(children) == 2:
            yield Change((Edit(children[1], (b"ALL",)),), "logic")


def _declarations(view: ScriptView) -> Iterator[Edit]:
    """Yield the edits that make each `(declare-fun x () S)` a `(declare-const x S)`."""
    document = view.document
    for node, name in zip(view.commands.nodes, view.commands.names, strict=True):
        children = list(document.children(node))
        if name == b"declare-fun" and len(children) == 4 and document.source(children[2]) == b"()":
            yield Edit(children[0], (b"declare-const",))
            yield Edit(children[2], ())


def _literals(view: ScriptView) -> Iterator[Change]:
    """Yield the shorter notation of each `(_ bv5 8)`."""
    for node, sort in enumerate(view.script.sort):
        if isinstance(sort, tuple) and sort[0] == "BitVec":
            own = view.document.source(node)
            match = _LITERAL.fullmatch(own)
            short = shortest(int(match[1]), int(match[2])) if match else own
            if len(short) < len(own):
                yield Change((Edit(node, (short,)),), "literal")


def _decimals(view: ScriptView) -> list[Edit]:
    """Return the edits that write whole decimals as numerals.

    A numeral is an Int, so this is not always well-sorted: only where Int and Real mix (theory
    Reals_Ints, notes), or in a logic of Reals alone, where a numeral is a Real.
    """
    source = view.document.source
    return [
        Edit(node, (match[1],))
        for node, sort in enumerate(view.script.sort)
        if sort == "Real" and (match := _WHOLE.fullmatch(source(node))) is not None
    ]


def _floats(document: Document) -> list[Edit]:
    """Return the edits that write sorts of floats by their names (theory FloatingPoint)."""
    return [
        Edit(node, (_FLOATS[name],))
        for node in range(1, len(document) - 3)
        if document.stop[node] == node + 5 and (name := document.source(node)) in _FLOATS
    ]
