"""Variants of a script: the same query with assertions in another order and other names.

Solvers prove some variants of an unstable query and lose others (Zhou et al., "Mariposa: Measuring
SMT Instability in Automated Program Verification", FMCAD 2023). Order and names follow from hashes
of what is ordered and named. So the same number makes the same variant, and the commands
of a reduced script keep their order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from hashlib import blake2b
from itertools import groupby, islice
from typing import NamedTuple

from reducekit.errors import ParseError
from reducekit.frontends.smt2.language.commands import head_of, symbol
from reducekit.frontends.smt2.language.parser import TOKEN, parse
from reducekit.frontends.smt2.language.theories import FLOAT_CONSTANTS, INDEXED, TAKEN

_NAMED = b":named"
_SORTS = frozenset(
    b"declare-sort define-sort declare-datatype declare-datatypes declare-codatatype "
    b"declare-codatatypes".split()
)
_FUNCTIONS = frozenset((b"declare-fun", b"declare-const"))
_DEFINITIONS = frozenset((b"define-fun", b"define-fun-rec", b"define-funs-rec", b"define-const"))
MOVABLE = _SORTS | _FUNCTIONS | _DEFINITIONS | {b"assert"}
"""The commands that change their order in variants."""
_NAMING = _FUNCTIONS | _DEFINITIONS - {b"define-funs-rec"} | {b"declare-sort", b"define-sort"}
"""The commands whose first argument is the name that they declare."""
_VERBATIM = frozenset(b"set-logic set-info set-option get-info get-option echo".split())
"""The commands whose symbols are no names of functions or sorts."""
_RESERVED = frozenset(
    b"! _ as exists forall let match par is lambda true false Bool Int Real Array BitVec String "
    b"RegLan Seq Set Bag Tuple FloatingPoint RoundingMode Unit Char ->".split()
).union(TAKEN, INDEXED, FLOAT_CONSTANTS)


class Piece(NamedTuple):
    """A command of a variant."""

    place: int
    """Which command of the script it is, from 0."""
    head: bytes
    gap: bytes
    """The text between it and the command before."""
    text: bytes


class _Command(NamedTuple):
    place: int
    tokens: list[bytes]
    head: bytes
    name: bytes
    """What it declares, without bars; empty for other commands."""
    text: bytes
    """The command alone."""


class _Script(NamedTuple):
    """What variants are made from: the parts of a script that may change places or names."""

    runs: list[list[_Command]]
    """Commands in a row that may change their order, and the others, each in a list alone."""
    names: list[bytes]
    """The declared names, without bars."""
    atoms: frozenset[bytes]
    rest: bytes
    """The text after the last command."""


def variant(text: bytes, number: int) -> bytes:
    """Return a variant of a script; that of number 0, or of a text that is no script, is the text.

    In each level of push and pop, between other commands, the declarations come first and then the
    assertions, each in another order; functions and sorts get other names, in all places the same.
    """
    found = pieces(text, number) if number else None
    if found is None:
        return text
    script = _read(text)
    rest = b"" if script is None else script.rest
    return b"".join([*(part for each in found for part in each[2:]), rest])


def pieces(text: bytes, number: int) -> list[Piece] | None:
    """Return the commands of a variant in order; None if the text is no script."""
    script = _read(text)
    if script is None:
        return None
    names = _renamed(script, number) if number else {}
    found = []
    for run in script.runs:
        for command in _ordered(run, number) if number else run:
            place, tokens, head, *_ = command
            if head not in _VERBATIM:
                tokens = [names.get(token, token) for token in tokens]
            begin = tokens.index(b"(")
            found.append(Piece(place, head, b"".join(tokens[:begin]), b"".join(tokens[begin:])))
    return found


@lru_cache(maxsize=4)
def _read(text: bytes) -> _Script | None:
    """Read a script; None if it cannot be read. Cached: a check asks for several variants."""
    try:
        document = parse(text)
    except ParseError:
        return None
    commands, end = list[_Command](), 0
    for node in document.children(0):
        head = head_of(document, node)
        first = [*islice(document.children(node), 2)][1:] if head in _NAMING else []
        name = symbol(document.source(first[0])) if first else b""
        tokens = TOKEN.findall(text, end, document.end[node])
        commands.append(_Command(len(commands), tokens, head, name, document.source(node)))
        end = document.end[node]
    if not commands or any(b"(" not in each.tokens for each in commands):
        return None
    names = dict.fromkeys(each.name for each in commands if each.name)
    runs = [
        each
        for movable, group in groupby(commands, key=lambda each: each.head in MOVABLE)
        for each in (_runs(list(group)) if movable else ([one] for one in group))
    ]
    return _Script(
        runs,
        [name for name in names if name not in _RESERVED],
        frozenset(token for each in commands for token in each.tokens),
        text[end:],
    )


def _runs(commands: list[_Command]) -> list[list[_Command]]:
    """Return the commands as one run; each alone if names of terms (`:named`) are used in them."""
    tokens = [token for each in commands for token in each.tokens if not token.isspace()]
    if _NAMED in tokens:
        named = [tokens[at + 1] for at, token in enumerate(tokens[:-1]) if token == _NAMED]
        names = frozenset(named)
        if sum(token in names for token in tokens) != len(named):
            return [[each] for each in commands]
    return [commands]


def _ordered(run: list[_Command], number: int) -> Iterator[_Command]:
    """Yield sorts, functions, definitions and assertions, each after what it may need."""
    if len(run) == 1:
        yield from run
        return
    yield from (each for each in run if each.head in _SORTS)
    yield from _shuffled((each for each in run if each.head in _FUNCTIONS), number)
    yield from (each for each in run if each.head in _DEFINITIONS)
    yield from _shuffled((each for each in run if each.head == b"assert"), number)


def _shuffled(commands: Iterable[_Command], number: int) -> list[_Command]:
    return sorted(commands, key=lambda each: _hashed(each.text, number))


def _renamed(script: _Script, number: int) -> dict[bytes, bytes]:
    found: dict[bytes, bytes] = {}
    taken = set(script.atoms)
    for name in script.names:
        new = b"v" + _hashed(name, number)[:10]
        while new in taken:
            new += b"_"
        taken.add(new)
        found[name] = found[b"|" + name + b"|"] = new
    return found


def _hashed(text: bytes, number: int) -> bytes:
    return blake2b(text, digest_size=8, key=b"%d" % number).hexdigest().encode()
