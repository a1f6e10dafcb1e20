"""The same in fewer bytes: literals, declarations, logics, nested operators."""

from __future__ import annotations

import re
from collections.abc import Sequence

from reducekit.change import Change, Edit, Template
from reducekit.frontends.smt2.commands import head_of
from reducekit.frontends.smt2.parser import parse
from reducekit.frontends.smt2.script import Script, analyse
from reducekit.frontends.smt2.terms import subterms
from reducekit.frontends.smt2.view import ScriptView
from reducekit.search.independent import IndependentChanges, independent

_LITERAL = re.compile(rb"\(\s*_\s+bv([0-9]{1,99})\s+([0-9]{1,6})\s*\)")
_WHOLE = re.compile(rb"([0-9]{1,99})\.0")
_FLOATS = {
    b"(_ FloatingPoint 5 11)": b"Float16",
    b"(_ FloatingPoint 8 24)": b"Float32",
    b"(_ FloatingPoint 11 53)": b"Float64",
    b"(_ FloatingPoint 15 113)": b"Float128",
}
_CHECKED = 20_000
"""Scripts of more nodes are not read again to see whether a change leaves their terms sorted."""
_FLAT = frozenset(b"and or + * bvadd bvmul bvand bvor str.++ re.++ re.union".split())


class Literals:
    """Bit-vector literals in their shortest spelling."""

    name = "literals"

    def problem(self, view: ScriptView) -> IndependentChanges | None:
        """Return one change a literal that has a shorter spelling."""
        document = view.document
        changes = []
        for node, sort in enumerate(view.script.sort):
            if isinstance(sort, tuple) and sort[0] == "BitVec":
                own = document.source(node)
                match = _LITERAL.fullmatch(own)
                if match is not None:
                    short = shortest(int(match[1]), int(match[2]))
                    if len(short) < len(own):
                        changes.append(Change((Edit(node, (short,)),), "literal"))
        return independent(changes)


def shortest(value: int, width: int) -> bytes:
    """Return a bit-vector literal in as few bytes as there are."""
    value %= 1 << width
    binary, hexadecimal = f"#b{value:0{width}b}", f"#x{value:0{width // 4}x}"
    digits = (binary if width % 4 else hexadecimal).encode()
    return min(digits, b"(_ bv%d %d)" % (value, width), key=len)


class Flatten:
    """An operator within the same operator gives its arguments to it."""

    name = "flatten"

    def problem(self, view: ScriptView) -> IndependentChanges | None:
        """Return one change an inner application that can be flattened."""
        document, script = view.document, view.script
        changes = []
        for node in range(1, len(document)):
            if not script.is_term[node]:
                continue
            name = head_of(document, node)
            above = document.parent[node]
            if name not in _FLAT or head_of(document, above) != name or not script.is_term[above]:
                continue
            if script.refs[node + 1] >= 0:  # a function of the user's by that name
                continue
            template: list[bytes | int] = []
            for each in subterms(script, node):
                template += [each, b" "]
            changes.append(Change((Edit(node, _trimmed(template)),), "flatten"))
        return independent(changes)


def _trimmed(template: list[bytes | int]) -> Template:
    return tuple(template[:-1])


def text_is_sorted(view: ScriptView, edits: Sequence[Edit]) -> bool:
    """Tell whether a script has as many terms without a sort after some edits as before."""
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


class Spelling:
    """declare-const for every declare-fun without parameters, ALL for any logic, 1 for 1.0,
    Float32 for its long form."""

    name = "spelling"

    def problem(self, view: ScriptView) -> IndependentChanges | None:
        """Return a change for all declarations together: a solver knows the command or not."""
        document = view.document
        changes: list[Change] = []
        declarations: list[Edit] = []
        for node in view.commands.nodes:
            name = head_of(document, node)
            children = list(document.children(node))
            if name == b"declare-fun" and len(children) == 4:
                if document.source(children[2]) == b"()":
                    declarations.append(Edit(children[0], (b"declare-const",)))
                    declarations.append(Edit(children[2], ()))
            elif name == b"set-logic" and len(children) == 2:
                changes.append(Change((Edit(children[1], (b"ALL",)),), "logic"))
        script = view.script
        decimals = [
            Edit(node, (match[1],))
            for node, sort in enumerate(script.sort)
            if sort == "Real" and (match := _WHOLE.fullmatch(document.source(node))) is not None
        ]
        if decimals and (text_is_sorted(view, decimals)):
            changes.append(Change(tuple(decimals), "numerals for decimals"))
        floats = [
            Edit(node, (_FLOATS[name],))
            for node in range(1, len(document) - 3)
            if document.stop[node] == node + 5 and (name := document.source(node)) in _FLOATS
        ]
        if floats:
            changes.append(Change(tuple(floats), "short sorts"))
        if declarations:
            # Under one key: a solver that does not know the command never does.
            changes.append(Change(tuple(declarations), "declare-const", b"declare-const"))
        return independent(changes)
