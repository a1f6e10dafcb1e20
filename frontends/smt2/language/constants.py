"""Constants: the smallest closed terms of a sort, which terms are constants, short spellings."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import Any

from reducekit.document import Document
from reducekit.frontends.smt2.language.script import Script
from reducekit.frontends.smt2.language.sorts import (
    Sort,
    family,
    is_open,
    match,
    print_sort,
    substitute,
)

_LETTERS = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_DECIMAL = 14_000
"""The most bits of a number that is written in decimal: Python prints at most 4,300 digits."""


def literal_value(text: bytes) -> int | None:
    """Return the value of a bit-vector literal in any notation; None for other texts."""
    try:
        if text.startswith(b"#x"):
            return int(text[2:], 16)
        if text.startswith(b"#b"):
            return int(text[2:], 2)
        parts = text.strip(b"()").split()
        if len(parts) == 3 and parts[0] == b"_" and parts[1].startswith(b"bv"):
            return int(parts[1][2:])
    except ValueError:
        pass
    return None


def shortest(value: int, width: int) -> bytes:
    """Return a bit-vector literal in its shortest notation."""
    if value < 0 or value.bit_length() > width:
        value %= 1 << width
    decimal = b"(_ bv%d %d)" % (value, width) if value.bit_length() <= _DECIMAL else b""
    if decimal and width > 4 * len(decimal):
        return decimal  # the width may be billions: too many digits for #x or #b
    binary, hexadecimal = f"#b{value:0{width}b}", f"#x{value:0{width // 4}x}"
    digits = (binary if width % 4 else hexadecimal).encode()
    return min(digits, decimal or digits, key=len)


def short_names() -> Iterator[bytes]:
    """Yield all names made of letters, the shortest first."""
    for length in itertools.count(1):
        for letters in itertools.product(_LETTERS, repeat=length):
            yield bytes(letters)


_OPEN = ord("(")
_DEPTH = 3  # levels of arrays of records of ... that a default is built for
_SPELLED = 64  # widest bit-vector whose ones are spelled out
_BASIC: dict[str, tuple[bytes, ...]] = {
    "Bool": (b"false", b"true"),
    "Int": (b"0", b"1"),
    "Real": (b"0.0", b"1.0", b"0"),
    "RoundingMode": (b"RNE",),
    "String": (b'""', b'"a"'),
    "RegLan": (b"re.none", b"re.all", b"re.allchar"),
}


def default_constants(sort: Sort, script: Script) -> list[bytes]:
    """Return the smallest closed terms of a sort, cheapest first, each in its shortest notation.

    Uses the datatypes of the script. Empty if there are none: user-defined sorts
    without constructors, function sorts.
    """
    return _defaults(sort, script, _DEPTH)


def _defaults(sort: Sort, script: Script, depth: int) -> list[bytes]:
    """Return the constants of a sort whose elements nest at most `depth` sorts deep."""
    name = family(sort)
    if name in script.constructors:
        return _constructed(sort, script, depth)
    if isinstance(sort, str):
        return list(_BASIC.get(sort, ()))
    if depth and name == "Array":
        elements = _defaults(sort[-1], script, depth - 1)  # type: ignore[arg-type]
        return [b"((as const %s) %s)" % (print_sort(sort), element) for element in elements[:1]]
    if name == "Tuple":
        fields = _fields(sort[1:], script, depth) if len(sort) > 1 else b""
        return [] if fields is None else [b"(tuple %s)" % fields if fields else b"tuple.unit"]
    return _flat(sort, print_sort(sort))


def _flat(sort: tuple[Any, ...], written: bytes) -> list[bytes]:
    """Return the constants of a sort that has indices, or empty collections."""
    name = sort[0]
    if name == "BitVec" and isinstance(sort[1], int):
        width = sort[1]
        if width > _SPELLED:
            zero, one = b"(_ bv0 %d)" % width, b"(_ bv1 %d)" % width
            return [zero, one, b"(bvnot %s)" % zero]
        return [shortest(value, width) for value in dict.fromkeys((0, 1, 2**width - 1))]
    if name == "FloatingPoint":
        widths = written.removeprefix(b"(_ FloatingPoint")
        return [b"(_ " + value + widths for value in (b"+zero", b"NaN", b"+oo", b"-zero")]
    if name == "FiniteField":
        return [b"(as ff%d %s)" % (value, written) for value in (0, 1)]
    if name in ("Seq", "Set", "Bag"):
        return [b"(as %s.empty %s)" % (name.lower().encode(), written)]
    return []


def _fields(sorts: tuple[Any, ...], script: Script, depth: int) -> bytes | None:
    """Return the default constants of several sorts, separated by blanks; None if one has none."""
    if not depth:
        return None
    found: list[bytes] = []
    for sort in sorts:
        elements = _defaults(sort, script, depth - 1)
        if not elements:
            return None
        found.append(elements[0])
    return b" ".join(found)


def _constructors_of(
    sort: Sort, script: Script
) -> Iterator[tuple[bytes, tuple[Sort | int | None, ...]]]:
    """Yield the constructors of a datatype, each as it is written there, with its parameters."""
    name = family(sort)
    for number in script.constructors[name]:
        constructor = script.definitions[number]
        bindings: dict[str, Any] = {}
        if constructor.sort is None or not match(constructor.sort, sort, bindings):
            continue
        spelled = constructor.name
        if is_open(constructor.sort):
            spelled = b"(as %s %s)" % (spelled, print_sort(sort))
        yield spelled, tuple(substitute(p, bindings) for p in constructor.parameters)


def _constructed(sort: Sort, script: Script, depth: int) -> list[bytes]:
    """Return the nullary constructors of a datatype; of one without, its constructors applied."""
    nullary: list[bytes] = []
    applied: list[bytes] = []
    for spelled, parameters in _constructors_of(sort, script):
        if not parameters:
            nullary.append(spelled)
        elif not nullary and sort not in parameters and None not in parameters:
            fields = _fields(parameters, script, depth)
            if fields is not None:
                applied.append(b"(%s %s)" % (spelled, fields))
    return sorted(dict.fromkeys(nullary or applied), key=len)


_NUMBER = rb"-?[0-9]+(?:\.[0-9]*|/[0-9]+)?"
_LITERAL = re.compile(
    rb"""%s | \#b[01]+ | \#x[0-9a-fA-F]+ | \#f[0-9]+m[0-9]+ | "[^"]*(?:""[^"]*)*"
       | \( \s* - \s+ %s \s* \)
       | \( \s* _ \s+ (?:bv[0-9]+|[cC]har) \s+ [#x0-9a-fA-F]+ \s* \)
       | \( \s* _ \s+ (?:[+-]oo|[+-]zero|NaN) \s+ [0-9]+ \s+ [0-9]+ \s* \)
       | \( \s* as \s+ (?:(?:seq|set|bag)\.empty|set\.universe|emptyset|emptybag|sep\.nil
                       |ff-?[0-9]+) \s [^;]* \)
    """
    % (_NUMBER, _NUMBER),
    re.VERBOSE,
)
_NAMES = frozenset(
    b"true false RNE RNA RTP RTN RTZ re.none re.nostr re.all re.allchar tuple.unit"
    b" roundNearestTiesToEven roundNearestTiesToAway roundTowardPositive roundTowardNegative"
    b" roundTowardZero".split()
)
_LONGEST = 4096  # the longest list, in bytes, that is checked for being a literal


def is_constant(document: Document, script: Script, node: int) -> bool:
    """Return whether a term is a value: a literal, a nullary constructor, a constant array of one.

    Also a negated number, a quotient of numbers and `fp` of literals, which
    SMT-LIB has no literals for.
    """
    text, start = document.text, document.start
    while text[start[node]] == _OPEN and not _is_literal(document, script, node):
        value = _everywhere(document, node)
        if value < 0:
            return _is_applied_value(document, script, node)
        node = value
    return _names_constructor(script, node) or _is_literal(document, script, node)


def _everywhere(document: Document, node: int) -> int:
    """Return the value of a constant array `((as const S) value)`; -1 for other terms."""
    stop, head = document.stop, node + 1
    if head >= stop[node] or document.text[document.start[head]] != _OPEN:
        return -1
    words = [document.source(n) for n in range(head + 1, min(head + 3, stop[head]))]
    value = stop[head]
    alone = value < stop[node] and stop[value] == stop[node]
    return value if alone and words == [b"as", b"const"] else -1


def _is_applied_value(document: Document, script: Script, node: int) -> bool:
    """Return whether a list is `(as c S)`, a negated number, a quotient or `fp` of literals."""
    stop, head = document.stop, node + 1
    if head >= stop[node] or document.text[document.start[head]] == _OPEN:
        return False
    first = document.source(head)
    if first == b"as":
        return head + 1 < stop[node] and _names_constructor(script, head + 1)
    if first not in (b"-", b"/", b"fp") or script.refs[head] >= 0:
        return False
    arguments = list(document.children(node))[1:]
    return 0 < len(arguments) < 4 and all(
        _is_literal(document, script, argument) for argument in arguments
    )


def _is_literal(document: Document, script: Script, node: int) -> bool:
    """Return whether a term is a literal of a theory."""
    if document.end[node] - document.start[node] > _LONGEST:
        return document.text[document.start[node]] in b'#"0123456789'
    source = document.source(node)
    if source in _NAMES:
        return script.refs[node] < 0
    return script.refs[node] < 0 and _LITERAL.fullmatch(source) is not None


def _names_constructor(script: Script, node: int) -> bool:
    """Return whether a symbol is a constructor without fields."""
    reference = script.refs[node]
    if reference < 0:
        return False
    definition = script.definitions[reference]
    return definition.kind == "constructor" and not definition.parameters
