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

from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from reducekit.frontends.btor.model.operators import Dialect, Op


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
