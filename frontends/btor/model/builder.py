"""Builds a Dag line by line."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence

from reducekit.frontends.btor.model.dag import Dag, Sort, SortTable
from reducekit.frontends.btor.model.literals import spelled
from reducekit.frontends.btor.model.operators import Dialect, Op


class Builder:
    """Lines in file order; what a line refers to is there before it.

    Sorts are trusted, not checked (`rules.check` does that). BTOR2's `sort` lines need not
    be given: writing declares each sort before its first use.
    """

    def __init__(self, dialect: Dialect, sorts: Sequence[Sort] = ()) -> None:
        """Start without lines; `sorts` are put into the table, at the indices they have."""
        self.dialect = dialect
        self.table = SortTable(sorts)
        self.op, self.sort = array("i"), array("i")
        self.ids, self.args, self.offset = array("q"), array("i"), array("i", [0])
        self.sort_line = array("i")
        self.numbers: dict[int, tuple[int, ...]] = {}
        self.literals: dict[int, bytes] = {}
        self.symbols: dict[int, bytes] = {}

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
        self.op.append(code)
        self.sort.append(sort)
        self.ids.append(line + 1)
        self.args.extend(args)
        self.offset.append(len(self.args))
        self.sort_line.append(-1)
        if numbers:
            self.numbers[line] = numbers
        if literal:
            self.literals[line] = literal
        if symbol:
            self.symbols[line] = symbol
        return line

    def constant(self, width: int, value: int) -> int:
        """Add a constant, in the shortest way that every dialect since 2008 has."""
        sort = self.table.bitvec(width)
        if value == 0:
            return self.add(Op.ZERO, sort)
        code, digits = spelled(value, width)
        return self.add(code, sort, literal=digits)

    def width(self, reference: int) -> int:
        """Return the width of what a reference names, 0 if it is not a bit-vector."""
        return self.table.width(self.sort[reference if reference >= 0 else ~reference])

    def dag(self) -> Dag:
        """Return the Dag, which has no text. The builder must not be used any more."""
        return Dag(
            self.dialect, tuple(self.table.sorts), self.ids, self.op, self.sort, self.offset,
            self.args, self.sort_line, self.numbers, self.literals, self.symbols, None,
            array("i"), array("i"),
        )  # fmt: skip


def reordered(dag: Dag, order: Iterable[int]) -> Dag:
    """Return the graph of some lines in an order in which operands come first; no `sort` lines."""
    builder = Builder(dag.dialect, dag.sorts)
    place: dict[int, int] = {}
    for line in order:
        args = [place[each] if each >= 0 else ~place[~each] for each in dag.arguments(line)]
        numbers, literal = dag.numbers.get(line, ()), dag.literals.get(line, b"")
        symbol = dag.symbols.get(line, b"")
        place[line] = builder.add(dag.op[line], dag.sort[line], args, numbers, literal, symbol)
    return builder.dag()
