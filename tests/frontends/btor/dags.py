"""Random well-sorted graphs with every operator, and assignments to their inputs."""

import random

from reducekit.frontends.btor.model.dag import Array, BitVec, Builder, Dag
from reducekit.frontends.btor.model.evaluate import ArrayValue, Value, evaluate
from reducekit.frontends.btor.model.operators import CONSTANTS, OPERATORS, Dialect, Op, Operator

LEAVES = (Op.INPUT, Op.PARAM, Op.STATE, Op.LAMBDA, Op.APPLY, Op.INIT, Op.NEXT, Op.ROOT)


def random_dag(
    seed: int, dialect: Dialect = Dialect.BTOR1, nodes: int = 60, arrays: bool = True
) -> Dag:
    """Return a graph of about that many nodes (and sorts' constants), without roots."""
    chance = random.Random(seed)
    builder = Builder(dialect)
    pool = Pool(builder, chance)
    widths = [1, 1, 2, 3, 4, 4, 8]
    for _ in range(6):
        pool.add(Op.INPUT, builder.table.bitvec(chance.choice(widths)))
    if arrays:
        for _ in range(3):
            index = builder.table.bitvec(chance.choice([1, 2, 3]))
            pool.add(Op.INPUT, builder.table.array(index, builder.table.bitvec(4)))
    rows = [
        row
        for row in OPERATORS
        if dialect in row.dialects
        and row.code not in LEAVES
        and (row.result != "-")
        and (arrays or "I:E" not in row.operands)
        and row.name != (b"ne" if dialect is Dialect.BTOR2 else b"")
    ]
    while len(builder) < nodes:
        pool.grow(chance.choice(rows), arrays)
    return builder.dag()


class Pool:
    """The nodes so far, by sort."""

    def __init__(self, builder: Builder, chance: random.Random) -> None:
        self.builder = builder
        self.chance = chance
        self.of: dict[int, list[int]] = {}

    def add(self, code: int, sort: int, *rest: object) -> int:
        line = self.builder.add(code, sort, *rest)  # type: ignore[arg-type]
        self.of.setdefault(sort, []).append(line)
        return line

    def some(self, sort: int) -> int:
        """Return a node of the sort, complemented at times, a new one if there is none."""
        found = self.of.get(sort)
        line = self.chance.choice(found) if found else self.add(Op.INPUT, sort)
        vector = isinstance(self.builder.table.sorts[sort], BitVec)
        return ~line if vector and self.chance.random() < 0.25 else line

    def vector(self, least: int = 1) -> int:
        sorts = [sort for sort in self.of if self.builder.table.width(sort) >= least]
        return self.chance.choice(sorts) if sorts else self.builder.table.bitvec(least)

    def array(self) -> int:
        sorts = self.builder.table.sorts
        return self.chance.choice([each for each in self.of if isinstance(sorts[each], Array)])

    def grow(self, row: Operator, arrays: bool) -> None:
        """Add a node that the row describes."""
        chance, table = self.chance, self.builder.table
        sort = self.vector(2 if "n>1" in row.operands else 1)
        bound = {"1": table.bitvec(1), "n": sort, "n>1": sort, "m": self.vector(), "S": sort}
        if arrays and "S" in row.operands and chance.random() < 0.5:
            bound["S"] = self.array()
        if "I:E" in row.operands:
            bound["I:E"] = self.array()
            found = table.sorts[bound["I:E"]]
            assert isinstance(found, Array)
            bound["I"], bound["E"] = found.index, found.element
        width = table.width(sort)
        if any("log" in each for each in row.operands):
            if width & (width - 1) or width == 1:
                if "log" in row.operands:
                    return
                bound["n/log"] = sort
            else:
                bound["log"] = bound["n/log"] = table.bitvec(width.bit_length() - 1)
                if chance.random() < 0.5:
                    bound["n/log"] = sort
        args = tuple(self.some(bound[pattern]) for pattern in row.operands)
        numbers: tuple[int, ...] = ()
        if row.numbers == ("k",):
            numbers = (chance.randint(0, 3),)
            result = table.bitvec(width + numbers[0])
        elif row.numbers:
            upper = chance.randrange(width)
            numbers = (upper, chance.randint(0, upper))
            result = table.bitvec(numbers[0] - numbers[1] + 1)
        elif row.result == "m+n":
            result = table.bitvec(width + table.width(bound["m"]))
        else:
            result = bound[row.result]
        if table.width(result) > 20:
            return
        literal = b""
        if row.code in CONSTANTS and row.literal:
            value = chance.randrange(1 << width)
            shapes = {"bin": f"0{width}b", "dec": "d", "hex": "x"}
            literal = format(value, shapes[row.literal]).encode()
        self.add(row.code, result, args, numbers, literal)


def random_assignment(dag: Dag, seed: int) -> dict[int, Value]:
    """Return values for the inputs and states, corner cases often among them."""
    chance = random.Random(seed)
    values: dict[int, Value] = {}
    for line in dag.lines_of(Op.INPUT, Op.STATE):
        sort = dag.sorts[dag.sort[line]]
        if isinstance(sort, BitVec):
            values[line] = number(chance, sort.width)
        elif isinstance(sort, Array):
            index, element = dag.sorts[sort.index], dag.sorts[sort.element]
            assert isinstance(index, BitVec)
            assert isinstance(element, BitVec)
            cells: dict[int, Value] = {
                chance.randrange(1 << index.width): number(chance, element.width)
                for _ in range(chance.randint(0, 3))
            }
            values[line] = ArrayValue(number(chance, element.width), cells)
    return values


def number(chance: random.Random, width: int) -> int:
    ones = (1 << width) - 1
    return chance.choice([0, ones, 1 << (width - 1), ones >> 1, *[chance.randint(0, ones)] * 3])


def copied(dag: Dag) -> Builder:
    """Return a builder with the lines of a Dag that was built."""
    builder = Builder(dag.dialect, dag.sorts)
    for line, code in enumerate(dag.op):
        numbers, literal = dag.numbers.get(line, ()), dag.literals.get(line, b"")
        builder.add(code, dag.sort[line], dag.arguments(line), numbers, literal)
    return builder


def fixed(dag: Dag, assignment: dict[int, Value], differ: bool) -> Dag:
    """Assert that inputs have their values, and that all nodes have theirs (or not all)."""
    values = evaluate(dag, assignment)
    builder = copied(dag)
    one = builder.table.bitvec(1)
    two = dag.dialect is Dialect.BTOR2

    def equals(reference: int, value: int) -> int:
        constant = builder.constant(builder.width(reference), value)
        return builder.add(Op.EQ, one, (reference, constant))

    def claim(reference: int) -> None:
        builder.add(Op.CONSTRAINT if two else Op.ROOT, -1 if two else one, (reference,))

    for line, value in assignment.items():
        if isinstance(value, int):
            claim(equals(line, value))
            continue
        sort = dag.sorts[dag.sort[line]]
        assert isinstance(sort, Array)
        width = builder.table.width(sort.index)
        for at in range(1 << width):
            read = builder.add(Op.READ, sort.element, (line, builder.constant(width, at)))
            cell = value.cells.get(at, value.default)
            assert isinstance(cell, int)
            claim(equals(read, cell))
    joined = builder.constant(1, 1)
    for line, found in enumerate(values):
        if isinstance(found, int):
            joined = builder.add(Op.AND, one, (joined, equals(line, found)))
    claim(~joined if differ else joined)
    return builder.dag()
