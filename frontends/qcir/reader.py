"""Reads quantified circuits in QCIR-G14 (qbflib.org/qcir.pdf): blocks, an output, and gates.

A gate is a conjunction, a disjunction, a parity, a choice, or quantified itself.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from reducekit.frontends.common.statements import Grammar, Statements
from reducekit.frontends.common.variables import TRUE, Image, image_of

if TYPE_CHECKING:
    from reducekit.frontends.common.drawing import Part

_LIST = rb"(?:v(?:Kv)*+)?+"


def _expected(before: bytes) -> str:
    last = before[-1:]
    if last in (b"", b"c", b"e"):
        return "'forall(...)', 'exists(...)', 'output(...)' or a gate, 'g = and(a, -b)'"
    if last == b"v" and b"L" not in before[before.rfind(b"e") + 1 :]:
        return "'='"
    return {b"E": "a gate", b"v": "',' or ')'"}.get(last, "'('" if last in b"qog" else "a variable")


class Statement(NamedTuple):
    """A block, an output or a gate."""

    defines: int
    """The variable of a gate; 0 for others."""
    kind: bytes
    """`and`, `or`, `xor`, `ite`, `exists`, `forall`, `free` or `output`."""
    literals: Sequence[int]
    """Operands, or the variables that are quantified."""
    body: int = 0
    """What a quantified gate quantifies; 0 for others."""


class View(Statements):
    """A parsed file. Kinds of words: q a quantifier, o `output`, g a gate, v a literal."""

    grammar = Grammar(
        word=re.compile(
            rb"^[ \t]*(#[^\n]*)|((?:exists|forall|free)(?=\s*\())|(output(?=\s*\())"
            rb"|((?:and|or|xor|ite)(?=\s*\())|(-?[A-Za-z0-9_]+)|(=)|(\()|(,)|(;)|(\))|(\S)",
            re.MULTILINE | re.IGNORECASE,
        ),
        letters=b" cqogvELKMe?",
        statement=rb"(?:qL%b|oLv|vE(?:gL%b|qL%bMv))e" % (_LIST, _LIST, _LIST),
        begun=rb"qL?+%bK?|oL?+v?|v(?:E(?:[gq]L?+%b(?:K|Mv?)?)?)?" % (_LIST, _LIST),
        end=b"e",
        leaves=b"qogv",
        sign=b"-",
        delimiters=b" \t\r\n=(),;",
        expected=_expected,
        numbered=rb"(?<!oL)v",
        operands=rb"(?<=[go])v+",
    )

    heading = re.compile(rb"\A#QCIR\b", re.IGNORECASE)

    def __init__(self, text: bytes) -> None:
        super().__init__(text)
        self.statements = [self._statement(at) for at in range(len(self.nodes))]
        self.outputs = {
            abs(each) for it in self.statements if it.kind == b"output" for each in it.literals
        }

    def parts(self) -> Iterator[Part]:
        """Return the gates, and the output."""
        from reducekit.frontends.common.drawing import Part

        for node, each in sorted(zip(self.nodes, self.statements, strict=True), key=_is_output):
            if each.defines:
                label, uses = self.names[each.defines].decode(), [*each.literals]
                uses += [each.body] * (each.body != 0)
                yield Part(label, each.kind.decode(), "inner", node, uses, each.defines)
            elif each.kind == b"output":
                yield Part("output", "", "root", node, each.literals)

    def leaves(self) -> Mapping[int, str]:
        """Return the quantifiers of variables."""
        return {
            abs(lit): kind.decode()
            for defines, kind, literals, body in self.statements
            if (body or not defines) and kind != b"output"
            for lit in literals
        }

    def _statement(self, at: int) -> Statement:
        defines, kind, literals = 0, b"", array("i")
        quantified = False
        for letter, word in self.words(at):
            if letter != "v":
                kind = word.lower()
                quantified = letter == "q" and defines > 0
            elif kind:
                literals.append(self.literal(word))
            else:
                defines = abs(self.literal(word))
        if quantified:
            return Statement(defines, kind, literals[:-1], literals[-1])
        return Statement(defines, kind, literals)

    def written(self, statement: Statement) -> bytes:
        """Return the text of a statement."""
        defines, kind, literals, body = statement
        text = b"%b(%b" % (kind, b", ".join(map(self.spelled, literals)))
        text += b"; " + self.spelled(body) if body else b""
        return (b"%b = %b)" % (self.spelled(defines), text)) if defines else text + b")"

    def replaced(self, at: int, image: Image) -> bytes | None:
        before = self.statements[at]
        if not before.defines:
            after = self._declared(before, image)
            return self.written(before._replace(literals=after)) if after else None
        becomes = image.get(before.defines)
        if becomes is None:
            kind, literals, body = _simplified(before, image)
            return self.written(Statement(before.defines, kind, literals, body))
        if abs(becomes) == TRUE and before.defines in self.outputs:
            return self.written(Statement(before.defines, b"and" if becomes > 0 else b"or", ()))
        return None

    def _declared(self, block: Statement, image: Image) -> list[int]:
        """Return the variables of a block that are left; an output is never constant."""
        found = []
        for literal in block.literals:
            becomes = image_of(literal, image)
            if abs(becomes) == TRUE and abs(literal) in self.outputs:
                becomes = literal
            if becomes == literal or block.kind == b"output":
                found.append(becomes)
        return found


def _is_output(statement: tuple[int, Statement]) -> bool:
    return statement[1].kind == b"output"


def _simplified(gate: Statement, image: Image) -> tuple[bytes, Sequence[int], int]:
    """Return kind, operands and body of a gate after a replacement, without constants."""
    kind, body = gate.kind, gate.body
    if body:
        body = image_of(body, image)
        kept = [each for each in gate.literals if each not in image]
        return (kind, kept, body) if kept and abs(body) != TRUE else (*_joined(b"and", [body]), 0)
    after = [image_of(each, image) for each in gate.literals]
    if kind == b"xor" and TRUE in map(abs, after):
        left = [each for each in after if abs(each) != TRUE]
        flips = (after.count(TRUE) % 2) == 1
        if not left:
            return (b"and" if flips else b"or"), (), 0
        left[0] *= -1 if flips else 1
        return (kind if len(left) > 1 else b"and"), left, 0
    if kind == b"ite" and len(after) == 3:
        test, yes, no = after
        if abs(test) == TRUE:
            return (*_joined(b"and", [yes if test > 0 else no]), 0)
        if abs(yes) == TRUE:
            return (*(_joined(b"or", [test, no]) if yes > 0 else _joined(b"and", [-test, no])), 0)
        if abs(no) == TRUE:
            return (*(_joined(b"or", [-test, yes]) if no > 0 else _joined(b"and", [test, yes])), 0)
    return (*_joined(kind, after), 0) if kind in (b"and", b"or") else (kind, after, 0)


def _joined(kind: bytes, literals: Iterable[int]) -> tuple[bytes, Sequence[int]]:
    """Return a conjunction or disjunction without constants, each literal once."""
    neutral = TRUE if kind == b"and" else -TRUE
    found = dict.fromkeys(each for each in literals if each != neutral)
    if -neutral in found:
        return (b"or" if kind == b"and" else b"and"), ()
    return kind, list(found)


def problems(view: View) -> list[str]:
    """Return what is wrong with a file that can be read: its output, and what is not declared."""
    outputs = sum(each.kind == b"output" for each in view.statements)
    found = [] if outputs == 1 else [f"expected one output, found {outputs}"]
    known: set[int] = set()
    for defines, kind, literals, body in view.statements:
        if kind != b"output":
            used = (body,) if body else literals if defines else ()
            known.update(abs(each) for each in (literals if body or not defines else ()))
            if strange := next((each for each in used if abs(each) not in known), 0):
                found.append(
                    f"{view.spelled(abs(strange)).decode()} is used, but not declared before"
                )
            known.add(defines)
    if strange := next((each for each in view.outputs if each not in known), 0):
        found.append(f"the output {view.names[strange].decode()} is not declared")
    return found
