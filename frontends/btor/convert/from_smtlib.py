"""Reads an SMT-LIB v2 script over bit-vectors and arrays as a BTOR2 graph.

The script is QF_BV, QF_ABV, QF_UFBV or QF_AUFBV, with one check-sat and no push or pop. Each
assertion becomes a constraint. Bool becomes one bit, a function its graph: an array, read at
its arguments side by side. Both keep satisfiability, as an array is a total function too.

Terms may nest a million deep, so they are evaluated on a stack of tasks, not by recursion.
The values of `let` are kept by name, the innermost last; the body of a `define-fun` sees its
parameters and what was declared above it, not the names of its caller.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar

from reducekit.document import Document
from reducekit.errors import ParseError
from reducekit.frontends.btor.convert.smtlib_operators import (
    BOOL,
    Terms,
    UnsuitableError,
    Value,
    apply,
    bits,
    concatenated,
    described,
    width_of,
)
from reducekit.frontends.btor.model.dag import Dag
from reducekit.frontends.btor.model.operators import Op
from reducekit.frontends.smt2.language.parser import parse
from reducekit.frontends.smt2.language.sorts import Sort
from reducekit.text import shortened

_OPEN = ord("(")
_BINARY = re.compile(rb"#b([01]+)")
_HEXADECIMAL = re.compile(rb"#x([0-9a-fA-F]+)")
_NUMERAL = re.compile(rb"0|[1-9][0-9]*")
_CONSTANT = re.compile(rb"bv(0|[1-9][0-9]*)")
_SYMBOL = re.compile(rb"[^;\s\x00-\x1f\x7f-\xff]+")  # what can stand in a BTOR file
_DIGITS = 4000  # decimal digits; Python takes no more than 4300
_BINDERS = frozenset((b"forall", b"exists", b"lambda", b"match", b"par"))
_IGNORED = frozenset(
    b"set-logic set-info set-option exit echo get-assertions get-assignment get-info get-model "
    b"get-option get-proof get-unsat-assumptions get-unsat-core get-value".split()
)
_PARTS: Mapping[bytes, int] = {
    b"assert": 2, b"check-sat": 1, b"check-sat-assuming": 2, b"declare-const": 3,
    b"declare-fun": 4, b"define-const": 4, b"define-fun": 5, b"define-sort": 4,
}  # fmt: skip
"""How many words and terms a command has, with its name."""


@dataclass(frozen=True, slots=True)
class _Function:
    """The meaning of a name with arguments, and how many names were declared before it."""

    number: int
    parameters: tuple[tuple[bytes, Sort], ...]
    result: Sort
    body: int | None
    """The node of a definition; None for what is declared only, which has an `array`."""
    array: Value | None


@dataclass(slots=True)
class _Frame:
    """The names a term sees before the global ones: of `let`, and the parameters of a macro."""

    names: dict[bytes, list[Value]] = field(default_factory=dict)
    limit: int | None = None
    """Only what was declared before is seen; None: everything."""


_Task: TypeAlias = "Callable[[], None]"
T = TypeVar("T")


def from_smtlib(text: bytes) -> Dag:
    """Return the graph of a script, in BTOR2; it is satisfiable if the script is.

    Raises ParseError with the place of what is no S-expression, is ill-sorted, is not
    declared, or cannot be said in BTOR: other sorts, quantifiers, several checks.
    """
    script = _Script(parse(text))
    for command in script.document.children(0):
        script.command(command)
    return script.terms.dag()


class _Script:
    """The commands read so far: declarations, and the graph of what was asserted."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.terms = Terms()
        self.sorts: dict[bytes, Sort] = {}
        self.constants: dict[bytes, tuple[int, Value]] = {}
        self.functions: dict[bytes, _Function] = {}
        self.declared = 0
        self.checked = False
        self.calls: dict[tuple[int, tuple[Value, ...]], Value] = {}
        # Of the term that is being evaluated.
        self.tasks: list[_Task] = []
        self.values: list[Value] = []

    # Places.

    def error(self, node: int, what: str) -> ParseError:
        return ParseError(what, self.document.text, self.document.start[node])

    def parts(self, node: int, what: str) -> list[int]:
        """Return the nodes of a list."""
        if not self.is_list(node):
            raise self.error(node, f"expected {what}, found {self.shown(node)}")
        return list(self.document.children(node))

    def is_list(self, node: int) -> bool:
        return self.document.text[self.document.start[node]] == _OPEN

    def word(self, node: int) -> bytes:
        """Return an atom, a quoted symbol without its bars; nothing of a list."""
        source = self.document.source(node)
        if self.is_list(node):
            return b""
        return source[1:-1] if source[:1] == b"|" else source

    def name(self, node: int) -> bytes:
        if self.is_list(node) or self.document.source(node)[:1] in b'#":0123456789':
            raise self.error(node, f"expected a symbol, found {self.shown(node)}")
        return self.word(node)

    def shown(self, node: int) -> str:
        return shortened(self.document.source(node), 40)

    def number(self, node: int) -> int:
        source = self.document.source(node)
        if not _NUMERAL.fullmatch(source) or len(source) > 10:
            raise self.error(node, f"expected a number below 10000000000, found {self.shown(node)}")
        return int(source)

    # Commands.

    def command(self, node: int) -> None:
        """Take a command of the script."""
        parts = self.parts(node, "a command")
        word = self.word(parts[0]) if parts else b""
        if word in _IGNORED:
            return
        if word not in _PARTS:
            raise self.error(node, f"{self.shown(node)} cannot be said in BTOR")
        if len(parts) != _PARTS[word]:
            raise self.error(node, f"expected {_PARTS[word] - 1} operands of {word.decode()}")
        if word in (b"check-sat", b"check-sat-assuming"):
            if self.checked:
                raise self.error(node, "a second check-sat cannot be said in BTOR")
            self.checked = True
        elif self.checked:
            raise self.error(node, "a script is converted up to its check-sat: expected no more")
        if word == b"assert":
            self.take_assert(parts[1])
        elif word == b"check-sat-assuming":
            for each in self.parts(parts[1], "a list of literals"):
                self.take_assert(each)
        elif word == b"declare-const":
            self.declare(parts[1], (), self.sort(parts[2]))
        elif word == b"declare-fun":
            sorts = [self.sort(each) for each in self.parts(parts[2], "the sorts of parameters")]
            self.declare(parts[1], sorts, self.sort(parts[3]))
        elif word == b"define-sort":
            if self.parts(parts[2], "parameters"):
                raise self.error(parts[2], "a sort with parameters is not converted: expected ()")
            self.sorts[self.name(parts[1])] = self.sort(parts[3])
        elif word != b"check-sat":
            self.take_definition(parts)

    def take_assert(self, node: int) -> None:
        value = self.evaluate(node)
        if value.sort != BOOL:
            raise self.error(node, f"expected Bool, found {described(value.sort)}")
        self.terms.add(Op.CONSTRAINT, -1, (value.reference,))

    def declare(self, node: int, sorts: Sequence[Sort], result: Sort) -> None:
        """Add an input; of a function its graph, an array."""
        name = self.unused(node)
        sort = result
        if sorts:
            flat = [1 if each == BOOL else width_of(each) for each in (*sorts, result)]
            if not all(flat):
                raise self.error(node, "a function from or to arrays cannot be said in BTOR")
            sort = ("Array", self.suitable(node, lambda: bits(sum(flat[:-1]))), result)
        symbol = name if _SYMBOL.fullmatch(name) else b""
        value = Value(self.terms.add(Op.INPUT, self.terms.index(sort), symbol=symbol), sort)
        if sorts:
            parameters = tuple((b"", each) for each in sorts)
            self.functions[name] = _Function(self.declared, parameters, result, None, value)
        else:
            self.constants[name] = (self.declared, value)
        self.declared += 1

    def take_definition(self, parts: Sequence[int]) -> None:
        """Take define-fun or define-const: a value, or a macro if it has parameters."""
        name = self.unused(parts[1])
        parameters = []
        for each in self.parts(parts[2], "parameters") if len(parts) == 5 else ():
            pair = self.parts(each, "a parameter and its sort")
            if len(pair) != 2:
                raise self.error(each, "expected a parameter and its sort")
            parameters.append((self.name(pair[0]), self.sort(pair[1])))
        result = self.sort(parts[-2])
        if parameters:
            self.functions[name] = _Function(
                self.declared, tuple(parameters), result, parts[-1], None
            )
        else:
            value = self.evaluate(parts[-1])
            self.check(parts[-1], value, result)
            self.constants[name] = (self.declared, value)
        self.declared += 1

    def unused(self, node: int) -> bytes:
        name = self.name(node)
        if name in self.constants or name in self.functions:
            raise self.error(node, f"{self.shown(node)} is declared above")
        return name

    def check(self, node: int, value: Value, sort: Sort) -> None:
        if value.sort != sort:
            raise self.error(node, f"expected {described(sort)}, found {described(value.sort)}")

    # Sorts.

    def sort(self, node: int) -> Sort:
        """Return a sort. Arrays nest by recursion, a hundred deep at most."""
        return self._sort(node, 100)

    def _sort(self, node: int, depth: int) -> Sort:
        if self.is_list(node):
            parts = list(self.document.children(node))
            words = list(map(self.word, parts))
            if len(parts) == 3 and words[:2] == [b"_", b"BitVec"]:
                return self.suitable(node, lambda: bits(self.number(parts[2])))
            if len(parts) == 3 and words[0] == b"Array" and depth:
                return ("Array", self._sort(parts[1], depth - 1), self._sort(parts[2], depth - 1))
        else:
            word = self.word(node)
            found = BOOL if word == b"Bool" else self.sorts.get(word)
            if found is not None:
                return found
        raise self.error(node, f"the sort {self.shown(node)} cannot be said in BTOR")

    def suitable(self, node: int, make: Callable[[], T], before: str = "") -> T:
        """Return the result, or add the place to the error about what BTOR cannot express."""
        try:
            return make()
        except UnsuitableError as error:
            raise self.error(node, f"{before}{error}") from None

    # Terms.

    def evaluate(self, node: int) -> Value:
        """Return the value of a term."""
        self.visit(node, _Frame())
        while self.tasks:
            self.tasks.pop()()
        return self.values.pop()

    def later(self, task: _Task) -> None:
        self.tasks.append(task)

    def visit(self, node: int, frame: _Frame) -> None:
        """Put the value of a term on the stack, as soon as the tasks pushed here are done."""
        if not self.is_list(node):
            self.values.append(self.atom(node, frame))
            return
        parts = list(self.document.children(node))
        if not parts:
            raise self.error(node, "expected a term, found ()")
        head, *rest = parts
        if self.is_list(head):
            self.call(node, *self.indexed(head), rest, frame)
            return
        word = self.word(head)
        if word == b"let" and len(rest) == 2:
            self.let(rest[0], rest[1], frame)
        elif word == b"!" and rest:
            self.annotated(rest, frame)
        elif word == b"_":
            self.values.append(self.constant(node, rest))
        elif word in _BINDERS:
            raise self.error(node, f"{word.decode()} cannot be said in BTOR")
        elif not rest:
            raise self.error(node, f"expected operands of {self.shown(head)}")
        else:
            self.call(node, word, (), rest, frame)

    def atom(self, node: int, frame: _Frame) -> Value:
        source = self.document.source(node)
        if source[:1] == b"#":
            if (match := _BINARY.fullmatch(source)) is not None:
                return self.terms.literal(len(match[1]), int(match[1], 2))
            if (match := _HEXADECIMAL.fullmatch(source)) is not None:
                return self.terms.literal(4 * len(match[1]), int(match[1], 16))
        word = self.word(node)
        bound = frame.names.get(word)
        if bound:
            return bound[-1]
        if word in self.constants:
            number, value = self.constants[word]
            if frame.limit is None or number < frame.limit:
                return value
        if word in (b"true", b"false"):
            return self.terms.truth(word == b"true")
        raise self.error(node, f"{self.shown(node)} is not declared above, or no bit-vector")

    def constant(self, node: int, rest: Sequence[int]) -> Value:
        """Return (_ bv10 8)."""
        if len(rest) == 2 and not self.is_list(rest[0]):
            match = _CONSTANT.fullmatch(self.word(rest[0]))
            width = self.number(rest[1])
            if match is not None and 1 <= width < 2**31 and len(match[1]) <= _DIGITS:
                return self.terms.literal(width, int(match[1]))
        raise self.error(node, f"{self.shown(node)} is not a bit-vector")

    def indexed(self, node: int) -> tuple[bytes, tuple[int, ...]]:
        """Return the name and the indices of (_ extract 7 0)."""
        parts = list(self.document.children(node))
        if len(parts) < 3 or self.word(parts[0]) != b"_":
            raise self.error(node, f"{self.shown(node)} cannot be said in BTOR")
        return self.word(parts[1]), tuple(map(self.number, parts[2:]))

    def taken(self, count: int) -> list[Value]:
        """Take the values that were evaluated last."""
        at = len(self.values) - count
        found = self.values[at:]
        del self.values[at:]
        return found

    def let(self, bindings: int, body: int, frame: _Frame) -> None:
        """Evaluate the values in the names outside, then the body in theirs too."""
        nodes = self.parts(bindings, "bindings")
        pairs = [(node, self.parts(node, "a binding")) for node in nodes]
        for node, pair in pairs:
            if len(pair) != 2:
                raise self.error(node, "expected a name and its term")
        names = [self.name(pair[0]) for _, pair in pairs]

        def bind() -> None:
            for name, value in zip(names, self.taken(len(names)), strict=True):
                frame.names.setdefault(name, []).append(value)
            self.later(unbind)
            self.later(lambda: self.visit(body, frame))

        def unbind() -> None:
            for name in names:
                frame.names[name].pop()

        self.later(bind)
        self.visit_all([pair[1] for _, pair in pairs], frame)

    def annotated(self, parts: Sequence[int], frame: _Frame) -> None:
        """Evaluate (! term :named name); other attributes mean nothing here."""
        term, *rest = parts
        names = [
            each for key, each in itertools.pairwise(rest) if self.document.source(key) == b":named"
        ]

        def bind() -> None:
            for each in names:
                self.constants[self.unused(each)] = (self.declared, self.values[-1])
                self.declared += 1

        self.later(bind)
        self.later(lambda: self.visit(term, frame))

    def visit_all(self, nodes: Sequence[int], frame: _Frame) -> None:
        """Evaluate terms from left to right."""
        for node in reversed(nodes):
            self.later(lambda node=node: self.visit(node, frame))  # type: ignore[misc]

    def call(
        self, node: int, word: bytes, indices: Sequence[int], rest: Sequence[int], frame: _Frame
    ) -> None:
        """Evaluate operands, then what is applied to them."""

        def done() -> None:
            args = self.taken(len(rest))
            function = None if indices else self.functions.get(word)
            if function is not None and (frame.limit is None or function.number < frame.limit):
                self.enter(node, function, args)
                return
            name = word.decode("ascii", "backslashreplace")
            shown = f"{shortened(word, 40)}: "
            made = self.suitable(node, lambda: apply(name, self.terms, args, indices), shown)
            self.values.append(made)

        self.later(done)
        self.visit_all(rest, frame)

    def enter(self, node: int, function: _Function, args: Sequence[Value]) -> None:
        """Evaluate a call: read the graph of a function, or the body of a macro once."""
        found = tuple(each.sort for each in args)
        wanted = tuple(sort for _, sort in function.parameters)
        if found != wanted:
            shown = [" ".join(map(described, each)) or "none" for each in (wanted, found)]
            raise self.error(node, f"expected operands of sorts {shown[0]}, found {shown[1]}")
        if function.array is not None:
            flat = [
                Value(each.reference, bits(1) if each.sort == BOOL else each.sort) for each in args
            ]
            index = concatenated(self.terms, flat)
            self.values.append(self.terms.value(Op.READ, function.result, function.array, index))
            return
        key = (function.number, tuple(args))
        if key in self.calls:
            self.values.append(self.calls[key])
            return
        body = function.body
        assert body is not None
        names = {name: [value] for (name, _), value in zip(function.parameters, args, strict=True)}

        def done() -> None:
            self.check(body, self.values[-1], function.result)
            self.calls[key] = self.values[-1]

        self.later(done)
        self.later(lambda: self.visit(body, _Frame(names, function.number)))
