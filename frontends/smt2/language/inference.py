"""Sorts of terms: one walk over a term that resolves its symbols and infers its sort bottom-up.

Both happen in one walk because of binders: the sort of a let-bound name is known
only after its value has been visited, and is needed in the body, which comes later.
The walk keeps its own stack, so terms may nest a million deep.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from itertools import islice
from types import GeneratorType
from typing import Any

from reducekit.document import Document
from reducekit.frontends.smt2.language.rules import Rule, Sorts, apply_value, tested, unknown
from reducekit.frontends.smt2.language.scopes import NOTHING, Form, Meaning, Overloads, Scopes
from reducekit.frontends.smt2.language.sorts import Sort, bitvector, canonical, compound, index
from reducekit.frontends.smt2.language.theories import (
    CONSTANTS,
    FLOAT_CONSTANTS,
    INDEXED,
    OPERATORS,
    lifted,
)

_OPEN = ord("(")
_THEORIES: Mapping[bytes, Meaning] = {
    name: (CONSTANTS.get(name), -1, OPERATORS.get(name), None) for name in (*OPERATORS, *CONSTANTS)
}
OPERATOR_NAMES = frozenset((*_THEORIES, *INDEXED))
_BINARY = re.compile(rb"#b[01]+")
_HEXADECIMAL = re.compile(rb"#x[0-9a-fA-F]+")
# A sign and a fraction are no SMT-LIB, but Z3 and cvc5 read them unless declared as symbols.
_NUMERAL = re.compile(rb"-?[0-9]+")
_DECIMAL = re.compile(rb"-?[0-9]+(?:\.[0-9]*|/[0-9]+)")
_FIELD_ELEMENT = re.compile(rb"#f[0-9]+m([0-9]{1,999})")
_BV_CONSTANT = re.compile(rb"bv[0-9]+")
_ARROW = re.compile(rb"\(->\s|HO_")


_NAMING = frozenset(b"is map update update-field as-array nullable.lift transitive-closure".split())
"""The operators with an index that names a function."""


class Inference:
    """The tables that the walks over all terms of one script fill, by node.

    `sort` and `is_term` are as in `Script`; the uses go to `scopes.refs`.
    `numeral` is the sort of numerals: Real if the logic has no Ints.
    """

    def __init__(self, document: Document, forms: Mapping[bytes, Form]) -> None:
        self.document = document
        self._forms = forms
        self.sort: list[Sort | None] = [None] * len(document)
        self.is_term = bytearray(len(document))
        self.numeral: Sort = "Int"
        self.named: list[int] = []  # definitions by :named in the present command
        # Per source text of a `(_ ...)` that uses no name of the script: its rule or sort.
        self._heads: dict[bytes, Rule] = {}
        self._constants: dict[bytes, Sort | None] = {}
        self.scopes = Scopes(document, self.theories())

    def theories(self) -> dict[bytes, Meaning]:
        """Return the meanings of all symbols before the first command."""
        forms: dict[bytes, Form] = {
            **self._forms,
            b"_": Inference._indexed_constant,
            b"as": Inference._qualified,
        }
        return {**_THEORIES, **{name: (None, -1, None, form) for name, form in forms.items()}}

    def visit(self, node: int, limit: int) -> None:
        """Visit the sibling terms from `node` up to `limit`.

        Fills the tables for them and all terms below.
        """
        document, scopes = self.document, self.scopes
        text, start, end, stop = document.text, document.start, document.end, document.stop
        sort, is_term, refs = self.sort, self.is_term, scopes.refs
        functions, look_up = scopes.functions.get, self._look_up
        # Open terms, innermost last: how to finish it, its node, where the sorts
        # of its arguments begin in `values`, and the limit around it.
        frames: list[tuple[Any, int, int, int]] = []
        values: Sorts = []
        push = values.append
        while True:
            if node == limit:
                if not frames:
                    return
                rule, opened, base, outer = frames[-1]
                kind = rule.__class__
                if kind is GeneratorType:
                    segment = next(rule, None)
                    if segment is not None:
                        node, limit = segment
                        continue
                    result = sort[opened]
                    node = stop[opened]
                elif kind is list:
                    result = self._overloaded(rule, values[base:], opened + 1)
                else:
                    result = rule(values[base:])
                frames.pop()
                sort[opened] = result
                del values[base:]
                push(result)
                limit = outer
                continue
            is_term[node] = 1
            first = start[node]
            if text[first] != _OPEN:
                token = text[first : end[node]]
                result, ref, _, _ = functions(token) or look_up(token)
                if ref >= 0:
                    refs[node] = ref
                sort[node] = result
                push(result)
                node += 1
                continue
            head = node + 1
            last = stop[node]
            if head == last:
                push(None)
                node = last
                continue
            base = len(values)
            first = start[head]
            if text[first] == _OPEN:
                rule = self._head(head)
                if rule is None:
                    # A head that is a term itself: a function or an array.
                    frames.append((apply_value, node, base, limit))
                    node = head
                else:
                    frames.append((rule, node, base, limit))
                    node = stop[head]
                limit = last
                continue
            token = text[first : end[head]]
            result, ref, rule, form = functions(token) or look_up(token)
            if ref >= 0:
                refs[head] = ref
            if form is not None:
                generator = form(self, node)
                if generator is None:
                    push(sort[node])
                    node = last
                else:
                    frames.append((generator, node, base, limit))
                    limit = node
                continue
            if rule is None:
                push(result)
                rule = apply_value
            frames.append((rule, node, base, limit))
            node = head + 1
            limit = last

    def only(self, first: int, last: int) -> Sort | None:
        """Return the sort of the node at `first` if it is the only one up to `last`."""
        return self.sort[first] if first < last and self.document.stop[first] == last else None

    @cached_property
    def higher_order(self) -> bool:
        """Whether a lambda is a function: if function sorts occur anywhere in the script."""
        return _ARROW.search(self.document.text) is not None

    # Symbols and literals

    def _look_up(self, token: bytes) -> Meaning:
        """Return the meaning of a token that is not spelled like a visible symbol."""
        functions = self.scopes.functions
        first = token[:1]
        sort: Sort | None = None
        if first == b"|":
            return functions.get(canonical(token), NOTHING)
        if first.isdigit() or first == b"-":
            if _NUMERAL.fullmatch(token):
                sort = self.numeral
            elif _DECIMAL.fullmatch(token):
                sort = "Real"
        elif first == b"#":
            if _BINARY.fullmatch(token):
                sort = bitvector(len(token) - 2)
            elif _HEXADECIMAL.fullmatch(token):
                sort = bitvector(4 * (len(token) - 2))
            elif element := _FIELD_ELEMENT.fullmatch(token):
                sort = ("FiniteField", int(element[1]))
        elif first == b'"':
            sort = "String"
        if sort is None:
            return NOTHING
        meaning: Meaning = (sort, -1, None, None)
        functions[token] = meaning
        return meaning

    def _overloaded(self, overloads: Overloads, arguments: Sorts, head: int) -> Sort | None:
        """Choose among functions of one name by the arguments: the last that fits."""
        for definition, parameters, _ in reversed(overloads):
            if list(parameters) == arguments:
                self.scopes.refs[head] = definition
                return self.scopes.definitions[definition].sort
        for definition, parameters, rule in reversed(overloads):
            if len(parameters) == len(arguments) and (result := rule(arguments)) is not None:
                self.scopes.refs[head] = definition
                return result
        return None

    # Heads that are lists

    def _tokens(self, node: int, count: int) -> list[bytes]:
        """Return the sources of the first children of a list, lists as b""."""
        document = self.document
        return [
            document.source(child) if document.text[document.start[child]] != _OPEN else b""
            for child in islice(document.children(node), count)
        ]

    def _head(self, head: int) -> Rule | None:
        """Return the rule of a head `(_ ...)` or `(as ...)`, None if it is another list."""
        document = self.document
        inner = head + 1
        if inner == document.stop[head] or document.end[inner] - document.start[inner] > 2:
            return None
        token = document.source(inner)
        if token == b"_":
            source = document.source(head)
            rule = self._heads.get(source)
            return self._indexed(head, source) if rule is None else rule
        if token == b"as":
            self._qualified(head)
            sort = self.sort[head]
            self.sort[head] = None
            # An array or a function by its own name is applied, a function
            # with a result sort gives it (standard 2.7, section 3.6).
            return lambda _: sort
        return None

    def _indexed(self, head: int, source: bytes) -> Rule:
        """Return the rule of `(_ symbol index ...)` as the head of an application."""
        scopes = self.scopes
        tokens = self._tokens(head, 64)
        symbol = tokens[1] if len(tokens) > 2 else b""
        if symbol not in _NAMING and symbol not in scopes.functions:
            rule = self._heads[source] = _rule_of(symbol, tokens[2:])
            return rule
        scopes.note_uses(head + 2, self.document.stop[head])
        if symbol in (b"update", b"update-field"):
            return lambda sorts: sorts[0] if len(sorts) == 2 else None
        if symbol == b"map":
            return partial(_mapped, self._function(head))
        if symbol == b"nullable.lift":
            return partial(lifted, self._function(head))
        if symbol == b"transitive-closure":
            return self._function(head)
        if symbol == b"is":
            return tested
        return unknown if scopes.refs[head + 2] >= 0 else _rule_of(symbol, tokens[2:])

    def _function(self, head: int) -> Rule:
        """Return the rule of the function f that `(_ map f)` and the like apply."""
        document, scopes = self.document, self.scopes
        function = head + 3
        if document.text[document.start[function]] == _OPEN:
            # (f (S ...) R)
            parts = list(document.children(function))
            result = scopes.sort_at(parts[2]) if len(parts) == 3 else None
            return lambda _: result
        token = canonical(document.source(function))
        rule = scopes.functions.get(token, NOTHING)[2]

        if isinstance(rule, list):
            return lambda sorts: self._overloaded(rule, sorts, function)
        return rule or unknown

    def _indexed_constant(self, node: int) -> None:
        """`(_ bv5 8)`, `(_ +oo 8 24)`, `(_ char #x41)` as a term."""
        source = self.document.source(node)
        if source in self._constants:
            self.sort[node] = self._constants[source]
            return
        tokens = self._tokens(node, 5)
        symbol = tokens[1] if len(tokens) > 2 else b""
        indices = [index(token) for token in tokens[2:]]
        sort: Sort | None = None
        if _BV_CONSTANT.fullmatch(symbol):
            sort = bitvector(indices[0] or 0) if len(indices) == 1 else None
        elif symbol in FLOAT_CONSTANTS:
            if len(indices) == 2 and None not in indices and 0 not in indices:
                sort = ("FloatingPoint", *indices)  # type: ignore[arg-type]  # no None
        elif symbol in (b"char", b"Char") and len(tokens) == 3:
            sort = "String" if symbol == b"char" else "Char"
        elif symbol[:2] == b"ff" and symbol[2:].isdigit() and len(indices) == 1:
            sort = ("FiniteField", indices[0]) if indices[0] else None
        else:
            scopes = self.scopes
            scopes.note_uses(node + 2, self.document.stop[node])
            if symbol == b"as-array" and scopes.refs[node + 3] >= 0:
                used = scopes.definitions[scopes.refs[node + 3]]
                if used.parameters and used.sort is not None:
                    sort = compound("Array", *used.parameters, used.sort)
            elif symbol == b"fmf.card" and len(tokens) == 4 and scopes.sort_at(node + 3):
                sort = "Bool"
            self.sort[node] = sort
            return
        self.sort[node] = self._constants[source] = sort

    def _qualified(self, node: int) -> None:
        """`(as f S)`: the sort is S (standard 2.7, section 3.6)."""
        document, scopes = self.document, self.scopes
        identifier = node + 2
        stop = document.stop[node]
        if identifier >= stop:
            return
        written = document.stop[identifier]
        scopes.note_uses(identifier, written)
        if written >= stop or document.stop[written] != stop:
            scopes.note_uses(written, stop)
            return
        sort = scopes.sort_at(written)
        meaning = scopes.functions.get(canonical(document.source(identifier)), NOTHING)
        if isinstance(meaning[2], list):
            for definition, _, _ in meaning[2]:
                if scopes.definitions[definition].sort == sort:
                    scopes.refs[identifier] = definition
        self.sort[node] = sort


def _mapped(function: Rule, arrays: Sorts) -> Sort | None:
    """Apply the rule of a function to the elements of arrays with the same indices."""
    inside = ([each, *each[1:-1]] if isinstance(each, tuple) else [] for each in arrays)
    element = function([apply_value(each) for each in inside])  # type: ignore[arg-type]  # sorts
    first = arrays[0] if arrays else None
    if isinstance(first, tuple) and first[0] == "Array":
        return compound("Array", *first[1:-1], element)  # type: ignore[arg-type]  # sorts
    return None


def _rule_of(symbol: bytes, indices: Sequence[bytes]) -> Rule:
    rule, numbers = INDEXED.get(symbol), [index(token) for token in indices]
    if rule is None or None in numbers:
        return unknown
    return partial(rule, numbers)  # type: ignore[arg-type]  # no None
