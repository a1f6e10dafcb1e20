"""Reads the formats of SAT solvers: DIMACS CNF and its relatives for MaxSAT, QBF, XOR and counting.

All are numbers after a header, with 0 at the end of each clause, and comments. They differ in what
may stand before the literals of a clause:

- WCNF: the weight of a soft clause, or `h`;
- QDIMACS: `a` and `e` for quantified variables; DQDIMACS: `d` for one that depends on others;
- ICNF: `a` for the assumptions of a query;
- XCNF: `x` where an odd number of literals is true (CryptoMiniSat);
- KNF: `k` and the least number of literals that are true (cardinality-cadical).

Comments that list variables for model counters (`c p show`, `c ind`) are read as such lists, too.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Literal, NamedTuple, TypeAlias

from reducekit.change import Edit
from reducekit.document import Document
from reducekit.errors import ParseError
from reducekit.text import without_mark

Format: TypeAlias = Literal["cnf", "wcnf", "qdimacs", "dqdimacs", "icnf", "xcnf", "knf"]
LIMIT = 1 << 31
"""One above the largest variable that solvers can read."""

# A word, or what is read as a whole: the beginning of a line that lists variables to be counted, of
# a parity or of a cardinality; a comment; what SATLIB ends with.
_TOKEN = re.compile(
    rb"^[ \t]*(?:(c[ \t]+(?:p[ \t]+show|ind)(?=[ \t])|x(?=[ \t]*[-0-9])|k[ \t]+[0-9]{1,9}(?=\s))"
    rb"|(c[^\n]*))|(%[\s\S]*)|\S+",
    re.MULTILINE,
)
_BEGIN, _COMMENT, _END = 1, 2, 3
HEADER = re.compile(rb"^[ \t]*p[ \t]+(?:(?:w|inc)?c|k)nf\b([^\n]*)", re.MULTILINE)
"""The line of the header, and what follows the name of the format."""
_HARD = re.compile(rb"^h(?: -?[0-9]+)* 0\r?$", re.MULTILINE)
_BEGINNING = 1 << 14  # bytes
_LITERAL = re.compile(rb"-?(?:0|[1-9][0-9]{0,9})")
_WEIGHT = re.compile(rb"[0-9]+(?:\.[0-9]+)?")
_HEADERS: dict[bytes, Format] = {
    b"cnf": "cnf", b"wcnf": "wcnf", b"inccnf": "icnf", b"knf": "knf"
}  # fmt: skip
_NAMES = {name: word.decode() for word, name in _HEADERS.items()}
_COUNTS = {"cnf": (2, 2), "wcnf": (2, 3), "icnf": (0, 2), "knf": (2, 2)}
"""The least and the largest number of numbers in a header."""
_EXPECTED = (
    "expected 'p cnf VARIABLES CLAUSES', 'p wcnf ...', 'p knf ...', 'p inccnf' or a line of WCNF "
    "('h')"
)
_FORMATS: dict[bytes, tuple[tuple[Format, ...], Format]] = {
    b"x": (("cnf", "xcnf"), "xcnf"),
    b"k": (("knf",), "knf"),
    b"a": (("cnf", "qdimacs", "dqdimacs"), "qdimacs"),
    b"e": (("cnf", "qdimacs", "dqdimacs"), "qdimacs"),
    b"d": (("cnf", "qdimacs", "dqdimacs"), "dqdimacs"),
}
"""By what a line begins with: the formats in which it may, and that of the file after it."""


def is_list(prefix: bytes) -> bool:
    """Return whether a line is a list of variables or assumptions, so that no header counts it."""
    return prefix[:1] in (b"a", b"e", b"d", b"c")


class Line(NamedTuple):
    """A clause, or a list of variables: what stands before its literals (`a`, `h`, `12`) and they.

    The prefix of an ordinary clause is empty.
    """

    prefix: bytes
    literals: Sequence[int]

    def __bytes__(self) -> bytes:
        """Return the text, without a newline."""
        words = b" ".join((*(b"%d" % each for each in self.literals), b"0"))
        blank = b" " if self.prefix not in (b"", b"x") else b""
        return self.prefix + blank + words


class View:
    """A parsed file.

    The children of the root are comments, the header and the clauses, in their order; those of a
    clause its prefix, if there is one, and its literals.
    """

    def __init__(self, text: bytes) -> None:
        self.format: Format = "wcnf"
        self.header: tuple[int, ...] | None = None
        """The numbers of the header; None if there is none (WCNF since 2022)."""
        self.header_node = -1
        self.comments = array("i")
        """The nodes of the comments, and of what follows the formula."""
        self.nodes = array("i")
        """The node of each clause."""
        self.prefixes: list[bytes] = []
        self.literals = array("i")
        """Those of all clauses, without the zeros."""
        self.first = array("i", [0])
        """Where the literals of each clause begin, and where those of the last one end."""
        self.document = self._read(without_mark(text))

    def __len__(self) -> int:
        """Count the clauses, and lists of variables."""
        return len(self.nodes)

    def line(self, clause: int) -> Line:
        """Return a clause."""
        return Line(
            self.prefixes[clause], self.literals[self.first[clause] : self.first[clause + 1]]
        )

    def lines(self) -> list[Line]:
        """Return all clauses."""
        return [self.line(clause) for clause in range(len(self))]

    def literal_nodes(self, clause: int) -> range:
        """Return the nodes of the literals of a clause."""
        start = self.nodes[clause] + 1 + (self.prefixes[clause] != b"")
        return range(start, start + self.first[clause + 1] - self.first[clause])

    def counts(self, clause: int) -> bool:
        """Return whether a header counts the clause: it is no list of variables."""
        return not is_list(self.prefixes[clause])

    @cached_property
    def top(self) -> int | None:
        """The weight from which on clauses are hard, which a header of WCNF may give."""
        return self.header[2] if self.header is not None and len(self.header) > 2 else None

    def is_hard(self, prefix: bytes) -> bool:
        """Return whether a clause of WCNF with this weight has to be true."""
        return prefix == b"h" or (self.top is not None and float(prefix) >= self.top)

    @cached_property
    def clauses(self) -> int:
        """The number of clauses that a header counts."""
        return len(self) - sum(map(is_list, self.prefixes))

    @cached_property
    def universal(self) -> frozenset[int] | None:
        """The universal variables; None if no variable is quantified."""
        if self.format not in ("qdimacs", "dqdimacs"):
            return None
        return frozenset(
            each for prefix, literals in self.lines() if prefix == b"a" for each in literals
        )

    @cached_property
    def variables(self) -> Sequence[int]:
        """All variables, sorted."""
        return sorted({abs(each) for each in self.literals})

    @cached_property
    def occurrences(self) -> dict[int, list[int]]:
        """The clauses of each variable, first to last."""
        found: dict[int, list[int]] = {each: [] for each in self.variables}
        for clause in range(len(self)):
            for literal in self.literals[self.first[clause] : self.first[clause + 1]]:
                inside = found[abs(literal)]
                if not inside or inside[-1] != clause:
                    inside.append(clause)
        return found

    def head(self, fewer: int, variables: int | None = None, *, right: bool = False) -> list[Edit]:
        """Return the edit of the header for `fewer` clauses less, if it counts any.

        A count that is wrong stays wrong by the same number, unless it is to be `right`.
        """
        if self.header is None or len(self.header) < 2:
            return []
        before, clauses, *top = self.header
        numbers = [
            before if variables is None else variables,
            (self.clauses if right else max(clauses, fewer)) - fewer,
            *top,
        ]
        name = _NAMES.get(self.format, "cnf")
        return [Edit(self.header_node, (" ".join(map(str, ("p", name, *numbers))).encode(),))]

    def _read(self, text: bytes) -> Document:
        start, end, stop = array("i", [0]), array("i", [len(text)]), array("i", [0])
        literals, open_at, skip = self.literals, -1, 0

        def add_leaf(first: int, last: int) -> None:
            start.append(first)
            end.append(last)
            stop.append(len(start))

        for match in _TOKEN.finditer(text):
            first, last = match.span()
            kind = match.lastindex
            if first < skip:
                continue
            if kind is not None and kind != _BEGIN:
                if kind == _END or open_at < 0:
                    self.comments.append(len(start))
                    add_leaf(first, last)
                if kind == _END:
                    break
                continue
            word = match[0]
            if open_at < 0:
                if word == b"p":
                    found = text.find(b"\n", first)
                    skip = last = len(text) if found < 0 else found
                    self._read_header(text, first, last)
                    self.header_node = len(start)
                    add_leaf(first, last)
                    continue
                open_at = len(start)
                self.nodes.append(open_at)
                start.append(first)
                end.append(last)
                stop.append(0)
                prefix = self._prefix(word, text, first, kind == _BEGIN)
                self.prefixes.append(prefix)
                if prefix:
                    add_leaf(first, last)
                    continue
            literal = int(word) if _LITERAL.fullmatch(word) else LIMIT
            if not -LIMIT < literal < LIMIT:
                what = "a literal, or 0 after a clause" if open_at < len(start) else "a literal"
                shown = ascii(word.decode("latin-1"))[:40]
                raise ParseError(f"expected {what}, found {shown}", text, first)
            if literal:
                literals.append(literal)
                start.append(first)
                end.append(last)
                stop.append(len(start))
            else:
                self.first.append(len(literals))
                end[open_at], stop[open_at] = last, len(start)
                open_at = -1
        if open_at >= 0:
            raise ParseError("expected 0 at the end of the last clause", text, start[open_at])
        if self.header is None and not self.nodes:
            raise ParseError(f"{_EXPECTED}, found the end", text, len(text))
        stop[0] = len(start)
        return Document(text, start, end, stop, b" \t\r\n")

    def _read_header(self, text: bytes, first: int, last: int) -> None:
        words = text[first:last].split()
        found = _HEADERS.get(words[1]) if len(words) > 1 else None
        if found is None or not all(each.isdigit() and len(each) < 20 for each in words[2:]):
            raise ParseError(_EXPECTED, text, first)
        least, most = _COUNTS[found]
        if not least <= len(words) - 2 <= most:
            raise ParseError(f"expected {least} to {most} numbers in the header", text, first)
        if self.header is not None or not all(each.startswith(b"c") for each in self.prefixes):
            raise ParseError("expected the only header before the first clause", text, first)
        self.format, self.header = found, tuple(map(int, words[2:]))

    def _prefix(self, word: bytes, text: bytes, first: int, begins: bool) -> bytes:
        if begins:
            word = b" ".join(word.split())
            if word[:1] == b"c":
                return word
        elif self.format == "wcnf":
            # `h` only in the format without a header.
            hard = word == b"h" and self.header is None
            if not hard and (_WEIGHT.fullmatch(word) is None or len(word) >= 40):
                wanted = _EXPECTED if self.header is None else "expected the weight of a clause"
                raise ParseError(wanted, text, first)
            return word
        if word == b"a" and self.format == "icnf":
            return word
        within, after = _FORMATS.get(word[:1] if begins else word, ((), self.format))
        if self.format in within:
            self.format = "dqdimacs" if self.format == "dqdimacs" else after
            return word
        if begins:
            wanted = "a header 'p knf'" if word[:1] == b"k" else "a clause"
            raise ParseError(f"expected {wanted}, found {word[:1].decode()!r}", text, first)
        return b""


def recognises(text: bytes) -> bool:
    """Return whether a text begins with a header, or hard clauses of WCNF."""
    plain = without_mark(text)
    return any(each.search(plain, 0, _BEGINNING) for each in (HEADER, _HARD))


def problems(view: View) -> list[str]:
    """Return what is wrong with a file that can be read: its header, doubled or free variables."""
    found = []
    if view.header is not None and len(view.header) >= 2:
        largest = max(view.variables, default=0)
        if view.header[0] < largest:
            found.append(f"the header says {view.header[0]} variables, but {largest} is used")
        if view.header[1] != view.clauses:
            found.append(f"the header says {view.header[1]} clauses, but there are {view.clauses}")
    if view.universal is not None:
        found += _quantifier_problems(view)
    return found


def _quantifier_problems(view: View) -> Iterator[str]:
    bound: set[int] = set()
    universal: set[int] = set()
    matrix = False
    for clause, (prefix, literals) in enumerate(view.lines()):
        matrix = matrix or not prefix
        if prefix not in (b"a", b"e", b"d"):
            continue
        at = view.document.text.count(b"\n", 0, view.document.start[view.nodes[clause]]) + 1
        if matrix:
            yield f"line {at}: a quantifier after the first clause"
        if prefix == b"d":
            if strange := sorted(set(literals[1:]) - universal):
                yield f"line {at}: variable {strange[0]} is depended on, but not universal"
            literals = literals[:1]
        universal.update(literals if prefix == b"a" else ())
        twice = sorted(bound.intersection(literals))
        if twice:
            yield f"line {at}: variable {twice[0]} is quantified twice"
        if any(each < 0 for each in literals):
            yield f"line {at}: a negative literal is quantified"
        bound.update(literals)


def write(format_name: Format, lines: Iterable[Line | Sequence[int]], variables: int = 0) -> bytes:
    """Return the text of clauses, with the header that fits them; WCNF as of 2022 has none."""
    all_lines = [each if isinstance(each, Line) else Line(b"", each) for each in lines]
    out = [bytes(each) for each in all_lines]
    if format_name == "icnf":
        out.insert(0, b"p inccnf")
    elif format_name != "wcnf":
        largest = max((abs(lit) for each in all_lines for lit in each.literals), default=0)
        count = sum(not is_list(each.prefix) for each in all_lines)
        name = _NAMES.get(format_name, "cnf").encode()
        out.insert(0, b"p %b %d %d" % (name, max(largest, variables), count))
    return b"\n".join((*out, b""))
