"""CNF in DIMACS format to traces, and back."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import count
from typing import NamedTuple

from reducekit.errors import ParseError, UsageError
from reducekit.frontends.trace.formats.convert import (
    DROP_ASSUMPTIONS,
    DROP_CONSTRAINT,
    SOLVES,
    meanings_of,
    names_of,
)
from reducekit.frontends.trace.language.calls import Call

_TOKEN = re.compile(rb"[^\s]+")
_DROP = DROP_ASSUMPTIONS | DROP_CONSTRAINT


def from_cnf(text: bytes, api: str = "lingeling") -> tuple[Call, ...]:
    """Return the calls that add the clauses of a CNF in DIMACS format and solve it.

    Raises ParseError with the place and what was expected.
    """
    meanings_of(api)
    names = names_of(api)
    calls = [Call(names["init"], ())]
    add = names["add"]
    header: tuple[int, int] | None = None
    clauses, open_at, offset = 0, -1, 0
    for line in text.splitlines(keepends=True):
        words = line.split()
        if words and words[0] == b"%":  # SATLIB ends its files so
            break
        if words and words[0] == b"p":
            if header is not None:
                raise ParseError("expected one 'p cnf' line, found another", text, offset)
            header = _header(words, text, offset)
        elif words and not words[0].startswith(b"c"):
            if header is None:
                raise ParseError("expected 'p cnf VARIABLES CLAUSES' first", text, offset)
            for match in _TOKEN.finditer(line):
                at = offset + match.start()
                literal = _literal(match.group(), header[0], text, at)
                calls.append(Call(add, (literal,)))
                clauses += not literal
                open_at = at if literal else -1
        offset += len(line)
    if header is None:
        raise ParseError("expected 'p cnf VARIABLES CLAUSES', found the end", text, len(text))
    if open_at >= 0:
        raise ParseError("expected 0 at the end of the last clause", text, open_at)
    if clauses != header[1]:
        what = f"expected {header[1]} clauses as the header says, found {clauses}"
        raise ParseError(what, text, text.find(b"p"))
    return (*calls, Call(names["solve"], ()), Call(names["release"], ()))


def _header(words: list[bytes], text: bytes, offset: int) -> tuple[int, int]:
    try:
        if len(words) == 4 and words[1] == b"cnf":
            variables, clauses = int(words[2]), int(words[3])
            if 0 <= variables < 1 << 31 and clauses >= 0:
                return variables, clauses
    except ValueError:
        pass
    raise ParseError("expected 'p cnf VARIABLES CLAUSES'", text, offset)


def _literal(word: bytes, variables: int, text: bytes, offset: int) -> int:
    try:
        literal = int(word) if len(word) < 20 else None
    except ValueError:
        literal = None
    if literal is None or b"_" in word:
        raise ParseError(
            f"expected a literal, found {ascii(word.decode('latin-1'))[:40]}", text, offset
        )
    if abs(literal) > variables:
        what = f"expected variables up to {variables} as the header says, found {abs(literal)}"
        raise ParseError(what, text, offset)
    return literal


def to_cnf(calls: Iterable[Call], api: str, solve: int = -1) -> bytes:
    """Return what is solved as a CNF in DIMACS format: the clauses, and assumptions as units.

    `solve` counts the calls that solve from 0, or from the end if negative; a
    trace without any gives its clauses. Raises UsageError if there is no
    such one, or if a propagator has clauses of its own.
    """
    clauses, moments = _asked(calls, api)
    if not moments and solve == -1:
        moments.append(_Solve(len(clauses), (), None))
    if not -len(moments) <= solve < len(moments):
        raise UsageError(f"there are {len(moments)} calls that solve, and no number {solve}")
    asked = moments[solve]
    found = clauses[: asked.clauses] + [(literal,) for literal in asked.assumed]
    found += [] if asked.constraint is None else [asked.constraint]
    return _written(f"p cnf {_greatest(found)} {len(found)}", map(_line, found))


def to_icnf(calls: Iterable[Call], api: str) -> bytes:
    """Return all that is solved as an incremental CNF: a line of assumptions for each solve.

    A constraint holds for one solve: it is a clause with one more variable, which is assumed to
    be false in this solve only. Raises UsageError if a propagator has clauses of its own.
    """
    clauses, moments = _asked(calls, api)
    said = [literals for each in moments for literals in (each.assumed, each.constraint or ())]
    free = count(_greatest([*clauses, *said]) + 1)
    constraints: list[tuple[int, ...]] = []
    lines: list[str] = []
    before = moments[0].clauses if moments else 0
    for end, assumed, constraint in moments:
        lines += map(_line, clauses[before:end])
        if constraint is not None:
            constraints.append((*constraint, next(free)))
            assumed = (*assumed, -constraints[-1][-1])
        lines.append(f"a {_line(assumed)}")
        before = end
    # Where no clauses come later, solves are at the end, as CaDiCaL's reader wants it.
    first = [*clauses[: moments[0].clauses], *constraints] if moments else []
    return _written("p inccnf", [*map(_line, first), *lines, *map(_line, clauses[before:])])


def _greatest(clauses: Iterable[Iterable[int]]) -> int:
    return max((abs(literal) for each in clauses for literal in each), default=0)


def _line(literals: Iterable[int]) -> str:
    return " ".join(map(str, (*literals, 0)))


def _written(header: str, lines: Iterable[str]) -> bytes:
    return "".join(f"{line}\n" for line in (header, *lines)).encode("ascii")


class _Solve(NamedTuple):
    """How many clauses there were in a solve, its assumptions, and its constraint if any."""

    clauses: int
    assumed: tuple[int, ...]
    constraint: tuple[int, ...] | None


def _asked(calls: Iterable[Call], api: str) -> tuple[list[tuple[int, ...]], list[_Solve]]:
    """Return the clauses, and what each solve is asked. Raises UsageError."""
    meaning = {**meanings_of(api), "constrain": "constrain"}
    clauses: list[tuple[int, ...]] = []
    moments: list[_Solve] = []
    opened: dict[str, list[int]] = {"add": [], "constrain": []}
    assumed: list[int] = []
    constraint: tuple[int, ...] | None = None
    solved = False
    for call in calls:
        what = meaning.get(call.name)
        if solved and (what in ("add", "assume", "constrain", *SOLVES) or call.name in _DROP):
            assumed, constraint, solved = [], None, False  # they hold for one solve
        if call.name == "fixate" and api == "lingeling" and not solved:
            clauses += [(literal,) for literal in assumed]
        elif call.name in _DROP:
            assumed = [] if call.name in DROP_ASSUMPTIONS else assumed
            constraint = None if call.name in DROP_CONSTRAINT else constraint
        elif call.name == "lemma":
            raise UsageError(f"{call.place}: a CNF has no propagator that knows clauses")
        elif what in ("add", "assume", "constrain"):
            literal = call.arguments[0] if call.arguments else None
            if not isinstance(literal, int):
                raise UsageError(f"'{call}' has no literal")
            if what == "assume":
                assumed.append(literal)
            elif literal:
                opened[what].append(literal)
            elif what == "add":
                clauses.append(tuple(opened[what]))
                opened[what] = []
            else:
                constraint = tuple(opened[what])
                opened[what] = []
        elif what in SOLVES:
            moments.append(_Solve(len(clauses), tuple(assumed), constraint))
            solved = what != "lookahead"  # what is assumed holds until the next solve
    return clauses, moments
