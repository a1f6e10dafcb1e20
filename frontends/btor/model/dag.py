"""One model for BTOR in all its dialects: the lines of a file as flat arrays.

A `Dag` is plain data that nobody changes: passes read it and build another one.
Line `i` (0 .. len - 1, in file order) is a node, a sort (BTOR2) or a declaration
such as `root`, `bad` or `next`; comments and blanks are no lines. As in the
formats, what a line refers to stands before it, so walking lines upwards visits
operands first, and no walk needs recursion.

A *reference* to line `i` is `i`, or `~i` for its bitwise complement (the formats
write a negative id). `line_of(reference)` takes the complement off.

The sort of a line is an index into `Dag.sorts`, where each sort stands once:
equal sorts have equal indices. Sorts name other sorts by index, too, so that
arrays of arrays (BTOR2) may nest as deep as they like.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from reducekit.frontends.btor.model.operators import CONSTANTS, DECLARATIONS, Dialect, Op
from reducekit.text import shortened


@dataclass(frozen=True, slots=True)
class BitVec:
    """The sort of bit-vectors of `width` bits (1 or more)."""

    width: int


@dataclass(frozen=True, slots=True)
class Array:
    """The sort of arrays; `index` and `element` are sorts by index."""

    index: int
    element: int


@dataclass(frozen=True, slots=True)
class Function:
    """The sort of functions (`lambda`), sorts by index.

    Boolector 1.6 to 2 took a function of one parameter for an array, 3 does not.
    It may stand where an array is expected, but is not of the same sort.
    """

    parameters: tuple[int, ...]
    result: int


Sort: TypeAlias = BitVec | Array | Function
T = TypeVar("T")


def parts_of(sort: Sort) -> tuple[int, ...]:
    """Return the sorts that a sort is made of, by index: the index or parameters first."""
    if isinstance(sort, Array):
        return sort.index, sort.element
    return (*sort.parameters, sort.result) if isinstance(sort, Function) else ()


def of_parts(sort: Sort, parts: Sequence[int]) -> Sort:
    """Return a sort like another one, made of other sorts."""
    if isinstance(sort, Array):
        return Array(parts[0], parts[1])
    return Function(tuple(parts[:-1]), parts[-1]) if isinstance(sort, Function) else sort


def folded_sort(sorts: Sequence[Sort], top: int, make: Callable[[Sort, tuple[T, ...]], T]) -> T:
    """Return what `make` makes of a sort and of what it has made of its parts, left to right."""
    made: list[T] = []
    work = [(top, False)]
    while work:
        at, ready = work.pop()
        parts = parts_of(sorts[at])
        if parts and not ready:
            work += ((at, True), *((each, False) for each in reversed(parts)))
        else:
            first = len(made) - len(parts)
            made[first:] = [make(sorts[at], tuple(made[first:]))]
    return made[0]


class SortTable:
    """A table of sorts that grows, each sort once; `sorts` becomes that of a Dag."""

    def __init__(self, sorts: Sequence[Sort] = ()) -> None:
        self.sorts: list[Sort] = list(sorts)
        self._index = {sort: at for at, sort in enumerate(self.sorts)}

    def add(self, sort: Sort) -> int:
        """Return the index of a sort, which is put into the table if it is new."""
        index = self._index.get(sort)
        if index is None:
            index = self._index[sort] = len(self.sorts)
            self.sorts.append(sort)
        return index

    def bitvec(self, width: int) -> int:
        """Return the index of the sort of bit-vectors of `width` bits."""
        return self.add(BitVec(width))

    def array(self, index: int, element: int) -> int:
        """Return the index of the sort of arrays between two sorts (indices)."""
        return self.add(Array(index, element))

    def width(self, sort: int) -> int:
        """Return the width of a bit-vector sort, 0 for any other (and for none, -1)."""
        if sort < 0:
            return 0
        found = self.sorts[sort]
        return found.width if isinstance(found, BitVec) else 0


def line_of(reference: int) -> int:
    """Return the line that a reference names, complemented or not."""
    return reference if reference >= 0 else ~reference


@dataclass(frozen=True, slots=True, eq=False)
class Dag:
    """The lines of a BTOR file. All arrays have one entry a line, but where it is said.

    `op` holds codes (`Op`); `sort` indices into `sorts`: that of the node, of the
    sort a BTOR2 `sort` line defines, of the state of an `init` or `next`, that of
    one bit for a BTOR1 `root` (whose id may be an operand), -1 for `bad`,
    `constraint`, `fair`, `output`, `justice`.
    The references of line `i` are `args[offset[i] : offset[i + 1]]` (`offset` has
    one entry more than there are lines). `sort_line` is the line that declares the
    sort a BTOR2 line names, -1 elsewhere; for a `sort array` line its two sorts
    are its arguments.
    Sparse, by line: `numbers` (`slice`: upper, lower; `uext`, `sext`: added bits),
    `literals` (the digits of `const`, `constd`, `consth`), `symbols`.
    `text` is what was read and `start`, `end` the bytes of each line, from its id
    to its last token, symbol included and comment excluded. A Dag that was built
    has the text None and both arrays empty.
    """

    dialect: Dialect
    sorts: Sequence[Sort]
    ids: array[int]
    op: array[int]
    sort: array[int]
    offset: array[int]
    args: array[int]
    sort_line: array[int]
    numbers: Mapping[int, tuple[int, ...]]
    literals: Mapping[int, bytes]
    symbols: Mapping[int, bytes]
    text: bytes | None
    start: array[int]
    end: array[int]

    def __len__(self) -> int:
        """Count the lines."""
        return len(self.op)

    def arguments(self, line: int) -> Sequence[int]:
        """Return the references of a line, first to last."""
        return self.args[self.offset[line] : self.offset[line + 1]]

    def width(self, line: int) -> int:
        """Return the width of a bit-vector node, 0 for any other line."""
        sort = self.sorts[self.sort[line]] if self.sort[line] >= 0 else None
        return sort.width if isinstance(sort, BitVec) else 0

    def lines_of(self, *codes: Op) -> Iterator[int]:
        """Yield the lines that have one of the operators, in file order."""
        wanted = frozenset(map(int, codes))
        return (line for line, code in enumerate(self.op) if code in wanted)

    @property
    def roots(self) -> Sequence[int]:
        """The lines that give a file its meaning: `root`, or the properties of BTOR2.

        `output` is among them; `init` and `next` are not, as they belong to a state.
        """
        return list(self.lines_of(*ROOTS))

    def __repr__(self) -> str:
        return f"<Dag {self.dialect.value}: {len(self)} lines, {len(self.sorts)} sorts>"


ROOTS = (Op.ROOT, Op.BAD, Op.CONSTRAINT, Op.FAIR, Op.JUSTICE, Op.OUTPUT)
"""What starts a cone of influence."""


def is_value(dag: Dag, line: int) -> bool:
    """Return whether a line is a bit-vector or array that others of its sort can replace."""
    code = dag.op[line]
    if code == Op.ROOT or code in DECLARATIONS:
        return False
    return not isinstance(dag.sorts[dag.sort[line]], Function)


def moved(reference: int, place: Mapping[int, int] | Sequence[int]) -> int:
    """Return what a reference has become; `place` has what each line has become."""
    return place[reference] if reference >= 0 else ~place[~reference]


def reached(starts: Iterable[int], below: Callable[[int], Iterable[int]]) -> set[int]:
    """Return some lines, and all that a walk from them meets; `below` has the next of each."""
    seen = set(starts)
    work = list(seen)
    while work:
        for each in below(work.pop()):
            if each not in seen:
                seen.add(each)
                work.append(each)
    return seen


def belonging(dag: Dag) -> Mapping[int, Sequence[int]]:
    """Return the `init` and `next` lines of each state or variable that has some."""
    belongs: dict[int, list[int]] = {}
    for line in dag.lines_of(Op.INIT, Op.NEXT):
        belongs.setdefault(line_of(dag.arguments(line)[0]), []).append(line)
    return belongs


def values_given(dag: Dag, code: Op) -> Mapping[int, int]:
    """Return the first (`init`) or next value of each state or variable that has one."""
    return {line_of(dag.arguments(line)[0]): dag.arguments(line)[1] for line in dag.lines_of(code)}


def free_params(dag: Dag) -> Mapping[int, frozenset[int]]:
    """Return the params that lines depend on and that no lambda binds yet, if there are any."""
    params: dict[int, frozenset[int]] = {}
    for line, code in enumerate(dag.op):
        free: frozenset[int] = frozenset((line,) if code == Op.PARAM else ())
        for each in dag.arguments(line):
            more = params.get(line_of(each))
            if more and more is not free:
                free = free | more if free else more
        if code == Op.LAMBDA:
            free -= {dag.arguments(line)[0]}
        if free:
            params[line] = free
    return params


# The digits of constants.

_BINARY = re.compile(rb"[01]+")
_DECIMAL = re.compile(rb"0|[1-9][0-9]*")
_SIGNED = re.compile(rb"-?[0-9]+")
_HEXADECIMAL = re.compile(rb"[0-9a-fA-F]+")
WIDE = 1 << 16
"""Wider constants are not written bit by bit: a width may be billions."""
_DIGITS = 4000
"""How many decimal digits int() takes at once (it refuses more than 4300)."""


def literal_problem(kind: str, word: bytes, width: int, signed: bool) -> str | None:
    """Say why a literal (`bin`, `dec`, `hex`) does not have this width; None if it does.

    `signed` allows a sign and leading zeros on decimals, as BTOR2 does.
    """
    shown = shortened(word, 40)
    if kind == "bin":
        if _BINARY.fullmatch(word) and len(word) == width:
            return None
        return f"expected {width} binary digits, found {shown} ({len(word)} characters)"
    if kind == "hex" and not _HEXADECIMAL.fullmatch(word):
        return f"{shown} is not hexadecimal"
    if kind == "dec" and not (_SIGNED if signed else _DECIMAL).fullmatch(word):
        return f"{shown} is not decimal"
    return None if _fits(kind, word, width) else f"{shown} does not fit {width} bits"


def _fits(kind: str, word: bytes, width: int) -> bool:
    """Return whether a hexadecimal or decimal number fits; negative ones as two's complement."""
    # 3 bits a digit at least: do not convert what cannot fit.
    if kind == "dec" and len(word.lstrip(b"-").lstrip(b"0")) * 3 - 3 > width:
        return False
    value = int(word, 16) if kind == "hex" else _decimal(word)
    return not value >> width or (value < 0 and -value <= 1 << (width - 1))


def spelled(value: int, width: int) -> tuple[Op, bytes]:
    """Return a constant as an operator and its digits: binary, where these are not too many."""
    if width > WIDE:
        return Op.CONSTH, b"%x" % value
    return Op.CONST, format(value, f"0{width}b").encode()


def literal_value(code: int, digits: bytes, width: int) -> int:
    """Return the value (0 .. 2**width - 1) of a constant's digits; `digits` are well-formed."""
    if code == Op.CONST:
        return int(digits, 2)
    if code == Op.CONSTH:
        return int(digits, 16)
    value = _decimal(digits)
    return value if value >= 0 else value % (1 << width)


def _decimal(word: bytes) -> int:
    value = 0
    digits = word.removeprefix(b"-")
    for at in range(0, len(digits), _DIGITS):
        piece = digits[at : at + _DIGITS]
        value = value * 10 ** len(piece) + int(piece)
    return -value if word.startswith(b"-") else value


def constant_value(dag: Dag, line: int) -> int | None:
    """Return the value of a line that is a constant, None for any other."""
    code = dag.op[line]
    if code not in CONSTANTS:
        return None
    if code in (Op.ZERO, Op.ONE):
        return int(code == Op.ONE)
    width = dag.width(line)
    if code == Op.ONES:
        return (1 << width) - 1
    return literal_value(code, dag.literals[line], width)


class Builder:
    """Lines in file order; what a line refers to is there before it.

    Sorts are trusted, not checked (`rules.check` does that). BTOR2's `sort` lines need not
    be given: writing declares each sort before its first use.
    """

    def __init__(
        self, dialect: Dialect, sorts: Sequence[Sort] = (), *, unique: bool = False
    ) -> None:
        """Start without lines; `sorts` are put into the table, at the indices they have.

        If `unique`, equal lines are one line; but not inputs and constraints.
        """
        self.dialect = dialect
        self.table = SortTable(sorts)
        self.op, self.sort = array("i"), array("i")
        self.ids, self.args, self.offset = array("q"), array("i"), array("i", [0])
        self.numbers: dict[int, tuple[int, ...]] = {}
        self.literals: dict[int, bytes] = {}
        self.symbols: dict[int, bytes] = {}
        self._known: dict[tuple[object, ...], int] | None = {} if unique else None

    def __len__(self) -> int:
        """Count the lines so far."""
        return len(self.op)

    def add(
        self,
        code: int,
        sort: int,
        args: Sequence[int] = (),
        numbers: tuple[int, ...] = (),
        literal: bytes = b"",
        symbol: bytes = b"",
    ) -> int:
        """Add a line and return it; `sort` is an index into the table, -1 for none.

        Its id is one more than its line: `write.canonical` can print others.
        """
        line = len(self.op)
        if self._known is not None and code not in (Op.INPUT, Op.CONSTRAINT):
            known = self._known.setdefault((code, sort, *args, numbers, literal), line)
            if known != line:
                return known
        self.op.append(code)
        self.sort.append(sort)
        self.ids.append(line + 1)
        self.args.extend(args)
        self.offset.append(len(self.args))
        if numbers:
            self.numbers[line] = numbers
        if literal:
            self.literals[line] = literal
        if symbol:
            self.symbols[line] = symbol
        return line

    def copy(self, dag: Dag, line: int, args: Sequence[int], code: int = -1) -> int:
        """Add a line of another graph with other operands, and an operator if one is given."""
        numbers, literal = dag.numbers.get(line, ()), dag.literals.get(line, b"")
        symbol = dag.symbols.get(line, b"")
        code = dag.op[line] if code < 0 else code
        return self.add(code, dag.sort[line], args, numbers, literal, symbol)

    def constant(self, width: int, value: int) -> int:
        """Add a constant, in the shortest way that every dialect since 2008 has."""
        sort = self.table.bitvec(width)
        if value == 0:
            return self.add(Op.ZERO, sort)
        code, digits = spelled(value, width)
        return self.add(code, sort, literal=digits)

    def width(self, reference: int) -> int:
        """Return the width of what a reference names, 0 if it is not a bit-vector."""
        return self.table.width(self.sort[line_of(reference)])

    def dag(self) -> Dag:
        """Return the Dag, which has no text. The builder must not be used any more."""
        return Dag(
            self.dialect, tuple(self.table.sorts), self.ids, self.op, self.sort, self.offset,
            self.args, array("i", [-1]) * len(self), self.numbers, self.literals, self.symbols,
            None, array("i"), array("i"),
        )  # fmt: skip


def reordered(dag: Dag, order: Iterable[int]) -> Dag:
    """Return the graph of some lines in an order in which operands come first; no `sort` lines."""
    builder = Builder(dag.dialect, dag.sorts)
    place: dict[int, int] = {}
    for line in order:
        args = [moved(each, place) for each in dag.arguments(line)]
        place[line] = builder.copy(dag, line, args)
    return builder.dag()
