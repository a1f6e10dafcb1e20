"""The same in fewer bytes: literals, declarations, logics, nested operators."""

from __future__ import annotations

import re

from reducekit.change import Change, Edit, Template
from reducekit.frontends.smt2.commands import head_of
from reducekit.frontends.smt2.terms import subterms
from reducekit.frontends.smt2.view import ScriptView
from reducekit.search.independent import IndependentChanges, independent

_LITERAL = re.compile(rb"\(\s*_\s+bv([0-9]{1,99})\s+([0-9]{1,6})\s*\)")
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


class Spelling:
    """declare-const for every declare-fun without parameters, ALL for any logic."""

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
        if declarations:
            changes.append(Change(tuple(declarations), "declare-const"))
        return independent(changes)
