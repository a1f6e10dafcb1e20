"""Sorts of SMT-LIB terms as plain values: parse, print, match and substitute.

A sort is a `str` ("Bool", "Int", a user sort by name) or a tuple of a name and its indices or
arguments: ("BitVec", 8), ("Array", "Int", "Bool"), ("List", "Int"), ("->", "Int", "Int", "Bool")
with the result last. Abbreviations are expanded, so two sorts are the same if and only if the
values are equal. A sort variable (a parameter of `par` or `define-sort`) is a `str` that starts
with an apostrophe, which no symbol does (standard 2.7, section 3.1).

Sorts are bounded: what has more than `MAX_NODES` names, or an index beyond `MAX_INDEX`, is unknown
(None). So hashing, comparing and recursing over a sort is safe and takes constant time whatever the
input: abbreviations double in size with each line, and inputs nest a million deep.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Mapping
from itertools import islice
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from reducekit.document import Document

Sort: TypeAlias = "str | tuple[int | Sort, ...]"

MAX_NODES = 200
MAX_INDEX = 2**31

_OPEN = ord("(")
_SIMPLE = re.compile(rb"[A-Za-z~!@$%^&*_\-+=<>.?/][0-9A-Za-z~!@$%^&*_\-+=<>.?/]*")
RESERVED = frozenset(
    b"_ ! as lambda let exists forall match par BINARY DECIMAL HEXADECIMAL NUMERAL STRING".split()
)

FLOATS: Mapping[Sort, bytes] = {
    ("FloatingPoint", 5, 11): b"Float16",
    ("FloatingPoint", 8, 24): b"Float32",
    ("FloatingPoint", 11, 53): b"Float64",
    ("FloatingPoint", 15, 113): b"Float128",
}
"""The short names of sorts of floating-point numbers."""
_ATOMIC: Mapping[bytes, Sort] = {
    **{
        name.encode(): name
        for name in ["Bool", "Int", "Real", "String", "RegLan", "RoundingMode", "Char"]
    },
    **{name: sort for sort, name in FLOATS.items()},
    b"UnitTuple": ("Tuple",),
    b"Tuple": ("Tuple",),
    b"Relation": ("Set", ("Tuple",)),
    b"Table": ("Bag", ("Tuple",)),
    b"Unicode": "Char",
}
# The fewest arguments and the most (None: any number).
_COMPOUND: Mapping[bytes, tuple[int, int | None]] = {
    **dict.fromkeys((b"Array", b"->"), (2, None)),  # Z3 has arrays of several indices
    **dict.fromkeys(b"Seq Set FiniteSet Bag Nullable RegEx Re".split(), (1, 1)),
    **dict.fromkeys((b"Tuple", b"Relation", b"Table"), (0, None)),
}
_INDEXED: Mapping[bytes, int] = {b"BitVec": 1, b"FloatingPoint": 2, b"FiniteField": 1}


class SortMeaning(NamedTuple):
    """The meaning of a sort symbol at some point of a script.

    `sort` is the sort of the bare symbol and `template` that of the symbol applied to as many
    arguments as there are `parameters`, which are sort variables; None where that use is not
    allowed. `definition` is an index into the definitions of the script.
    """

    definition: int
    parameters: tuple[str, ...]
    sort: Sort | None
    template: Sort | None


def canonical(token: bytes) -> bytes:
    """Return the one spelling of a symbol: without bars where it needs none.

    |x| and x are the same symbol (standard 2.7, section 3.1), but |1| is no
    numeral and |let| no reserved word, so those keep their bars.
    """
    if token[:1] == b"|":
        inside = token[1:-1]
        if _SIMPLE.fullmatch(inside) and inside not in RESERVED:
            return inside
    return token


def family(sort: Sort) -> str:
    """Return the name of a sort, without indices and arguments."""
    return sort if isinstance(sort, str) else str(sort[0])


def sort_name(symbol: bytes) -> str:
    """Return the symbol of a user's sort as the name in a `Sort`.

    A user's BitVec has no width: bars keep it apart from the sorts of that name.
    """
    if symbol in _INDEXED:
        symbol = b"|%b|" % symbol
    return symbol.decode("utf-8", "surrogateescape")


def index(token: bytes) -> int | None:
    """Return the value of an index; None for other words, and beyond `MAX_INDEX`."""
    if len(token) < 11 and token.isdigit():
        value = int(token)
        if value <= MAX_INDEX:
            return value
    return None


def compound(name: str, *arguments: Sort | None) -> Sort | None:
    """Return the sort `name` of these arguments; None if one is unknown or it gets too large.

    Normalises what has two spellings: (Seq Char) is String, a function that
    returns a function takes all its arguments at once.
    """
    size = 1
    for argument in arguments:
        if argument is None:
            return None
        if argument.__class__ is str:
            size += 1
            continue
        todo: list[Sort | int] = [argument]
        while todo:
            item = todo.pop()
            if isinstance(item, tuple):
                todo.extend(item)
            else:
                size += 1
    if size > MAX_NODES:
        return None
    if name == "->" and isinstance(arguments[-1], tuple) and arguments[-1][:1] == ("->",):
        return ("->", *arguments[:-1], *arguments[-1][1:])  # type: ignore[arg-type]  # no None
    if name == "Seq" and arguments == ("Char",):
        return "String"
    return (name, *arguments)  # type: ignore[arg-type]  # no None


def bitvector(width: int) -> Sort | None:
    """Return the sort of bit-vectors of a width; None if the width is 0, negative or too large."""
    return ("BitVec", width) if 0 < width <= MAX_INDEX else None


def print_sort(sort: Sort, short: Mapping[Sort, bytes] = MappingProxyType({})) -> bytes:
    """Return the SMT-LIB text of a sort, its abbreviations expanded but for those in `short`."""
    if isinstance(sort, str):
        name = sort[1:] if is_variable(sort) else sort
        return name.encode("utf-8", "surrogateescape")
    if sort[0] == "Tuple" and len(sort) == 1:
        return b"UnitTuple"
    if sort in short:
        return short[sort]
    parts = [b"%d" % part if isinstance(part, int) else print_sort(part, short) for part in sort]
    if isinstance(sort[-1], int):
        parts.insert(0, b"_")
    return b"(" + b" ".join(parts) + b")"


def is_variable(sort: Sort | int | None) -> bool:
    """Return whether a sort is a sort variable."""
    return isinstance(sort, str) and sort[:1] == "'"


def is_open(sort: Sort | int | None) -> bool:
    """Return whether a sort holds a sort variable."""
    return any(map(is_open, sort)) if isinstance(sort, tuple) else is_variable(sort)


def variables(sort: Sort | int | None) -> set[str]:
    """Return the sort variables in a sort."""
    if isinstance(sort, tuple):
        return set().union(*map(variables, sort))
    return {str(sort)} if is_variable(sort) else set()


def match(pattern: Sort | int, sort: Sort | int, bindings: dict[str, Sort | int]) -> bool:
    """Match a sort against a pattern with sort variables, adding to `bindings`.

    An Int matches Real, as solvers convert where Ints and Reals are mixed (theory Reals_Ints,
    notes). Returns False, with part of the bindings made, if it does not match.
    """
    if isinstance(pattern, str):
        if pattern[:1] == "'":
            return bindings.setdefault(pattern, sort) == sort
        return pattern == sort or (pattern == "Real" and sort == "Int")
    if isinstance(pattern, int):
        return pattern == sort
    if sort == "String":
        sort = ("Seq", "Char")  # one sort in Z3
    if not isinstance(sort, tuple) or len(sort) != len(pattern) or pattern[0] != sort[0]:
        return False
    return all(match(p, s, bindings) for p, s in zip(pattern[1:], sort[1:], strict=True))


def substitute(sort: Sort, bindings: Mapping[str, Sort | int]) -> Sort | None:
    """Return a sort with its variables replaced; None if it gets too large."""
    if isinstance(sort, str):
        return bindings.get(sort, sort)  # type: ignore[return-value]  # variables hold sorts
    if isinstance(sort[-1], int) or len(sort) == 1:
        return sort
    parts = [substitute(part, bindings) for part in sort[1:] if not isinstance(part, int)]
    return compound(str(sort[0]), *parts)


def parse_sort(
    document: Document, node: int, meanings: Mapping[bytes, SortMeaning], refs: array[int]
) -> Sort | None:
    """Return the sort written at a node, None if it is unknown or not well-formed.

    `meanings` gives the user's sorts visible there, by canonical symbol; they
    hide the sorts of the theories. The uses found are written to `refs` by
    node, also where the sort is not well-formed. Linear, without recursion.
    """
    text, start, end, stop = document.text, document.start, document.end, document.stop
    frames: list[tuple[int, int, list[Sort | None]]] = []  # head (or -1), stop, arguments
    while True:
        value: Sort | None = None
        if text[start[node]] != _OPEN:
            meaning, token = _resolve(document, node, meanings, refs)
            value = _ATOMIC.get(token) if meaning is None else meaning.sort
            node += 1
        elif stop[node] == node + 1:
            node += 1
        elif text[start[node + 1] : end[node + 1]] == b"_":
            value = _indexed(document, node)
            node = stop[node]
        else:
            nested = text[start[node + 1]] == _OPEN
            frames.append((-1 if nested else node + 1, stop[node], []))
            node += 1 if nested else 2
            if node < frames[-1][1]:
                continue
            head, _, arguments = frames.pop()
            value = _apply(document, head, arguments, meanings, refs)
        while frames:
            head, last, arguments = frames[-1]
            arguments.append(value)
            if node < last:
                break
            frames.pop()
            value = _apply(document, head, arguments, meanings, refs)
        else:
            return value


def _resolve(
    document: Document, node: int, meanings: Mapping[bytes, SortMeaning], refs: array[int]
) -> tuple[SortMeaning | None, bytes]:
    """Look up the symbol at a node; return its meaning, if any, and canonical spelling."""
    token = canonical(document.source(node))
    meaning = meanings.get(token)
    if meaning is not None:
        refs[node] = meaning.definition
    return meaning, token


def _apply(
    document: Document,
    head: int,
    arguments: list[Sort | None],
    meanings: Mapping[bytes, SortMeaning],
    refs: array[int],
) -> Sort | None:
    if head < 0:
        return None
    meaning, token = _resolve(document, head, meanings, refs)
    if meaning is not None:
        if len(arguments) != len(meaning.parameters) or meaning.template is None:
            return None
        if None in arguments:
            return None
        bindings = dict(zip(meaning.parameters, arguments, strict=True))
        return substitute(meaning.template, bindings)  # type: ignore[arg-type]  # no None
    low, high = _COMPOUND.get(token, (1, 0))
    if len(arguments) < low or (high is not None and len(arguments) > high):
        return None
    # Some are names of others.
    if token in (b"RegEx", b"Re"):
        return "RegLan" if arguments == ["String"] else compound("RegEx", *arguments)
    if token in (b"Relation", b"Table"):
        return compound("Set" if token == b"Relation" else "Bag", compound("Tuple", *arguments))
    return compound(token.decode(), *arguments)


def _indexed(document: Document, node: int) -> Sort | None:
    parts = [document.source(child) for child in islice(document.children(node), 5)]
    if len(parts) < 3 or _INDEXED.get(parts[1]) != len(parts) - 2:
        return None
    if parts[1] == b"FiniteField":  # its order has hundreds of digits in practice
        order = int(parts[2]) if parts[2].isdigit() and len(parts[2]) < 1000 else 0
        return ("FiniteField", order) if order > 1 else None
    indices = [index(part) for part in parts[2:]]
    if None in indices or 0 in indices:
        return None
    return (parts[1].decode(), *indices)  # type: ignore[arg-type]  # no None
