"""What operators mean, and the value of every node of a Dag under an assignment.

Bit-vectors are unsigned integers. They mean what they do in SMT-LIB (theory FixedSizeBitVectors,
logic QF_BV) and Boolector: `udiv` by 0 is all ones, `urem` by 0 the first operand, and the signed
ones follow from these. The overflow predicates are those of table 1 of the BTOR2 paper (Niemetz et
al., CAV 2018): the exact result is outside the range of the width.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from reducekit.errors import UsageError
from reducekit.frontends.btor.model.dag import Array, BitVec, Dag, Sort, constant_value
from reducekit.frontends.btor.model.operators import CONSTANTS, Op

_VALUES = frozenset({Op.BAD, Op.CONSTRAINT, Op.FAIR, Op.OUTPUT})


@dataclass(slots=True, eq=False)
class ArrayValue:
    """An array: what is in `cells`, and `default` everywhere else.

    Elements are integers, or arrays for arrays of arrays. Not to be changed, but by whom
    built it; compare with `equal`.
    """

    default: Value = 0
    cells: dict[int, Value] = field(default_factory=dict)


Value: TypeAlias = int | ArrayValue
"""A bit-vector as 0 .. 2**width - 1, or an array."""


def evaluate(dag: Dag, assignment: Mapping[int, Value]) -> list[Value | None]:
    """Return the value of each line.

    `assignment` has the values of inputs and states by line; what it lacks is 0 (everywhere).
    A `root` is 0 or 1, `bad` and its like have the value of their operand, `justice` is 1 if
    all its conditions are, `init` and `next` have the value that they give; sorts have None.
    Arrays that no line further down needs are None as well, as `write` then changes them in
    place: a chain of a million writes costs what its cells cost.
    Raises UsageError on functions (see `functions.inline`), and on arrays as indices.
    """
    values: list[Value | None] = []
    sorts, offset, args, sort = dag.sorts, dag.offset, dag.args, dag.sort
    widths = [each.width if isinstance(each, BitVec) else 0 for each in sorts]
    owner, last = _lifetimes(dag)
    put = values.append
    for line, code in enumerate(dag.op):
        first = offset[line]
        width = widths[sort[line]] if sort[line] >= 0 else 0
        if (binary := BINARY.get(code)) is not None:
            a, b = args[first], args[first + 1]
            x, y = values[a if a >= 0 else ~a], values[b if b >= 0 else ~b]
            in_width = widths[sort[a if a >= 0 else ~a]]
            if isinstance(x, int) and isinstance(y, int):
                if a < 0:
                    x ^= (1 << in_width) - 1
                if b < 0:
                    y ^= (1 << widths[sort[~b]]) - 1
                put(binary(x, y, in_width) & ((1 << width) - 1))
            else:
                same = equal(_array(x), _array(y), sorts, sort[a])
                put(int(same == (code == Op.EQ)))
            continue
        given = [
            _complement(values[~each], widths[sort[~each]]) if each < 0 else values[each]
            for each in args[first : offset[line + 1]]
        ]
        if (unary := UNARY.get(code)) is not None:
            in_width = widths[sort[args[first] if args[first] >= 0 else ~args[first]]]
            put(unary(_int(given[0]), in_width) & ((1 << width) - 1))
        elif code == Op.SLICE:
            put(_int(given[0]) >> dag.numbers[line][1] & ((1 << width) - 1))
        elif code == Op.CONCAT:
            low = args[first + 1]
            put(_int(given[0]) << widths[sort[low if low >= 0 else ~low]] | _int(given[1]))
        elif code == Op.ITE:
            put(given[1] if given[0] else given[2])
        elif code == Op.READ:
            cells = _array(given[0])
            put(cells.cells.get(_index(given[1]), cells.default))
        elif code == Op.WRITE:
            # In place where no other line needs the old array.
            source = _array(given[0])
            taken = args[first]
            index, value = _index(given[1]), given[2]
            assert value is not None
            if owner[taken] < 0 or last[owner[taken]] != line or value is source:
                source = ArrayValue(source.default, dict(source.cells))
            else:
                values[owner[taken]] = None
            source.cells[index] = value
            put(source)
        elif code in CONSTANTS:
            put(constant_value(dag, line))
        elif code in (Op.INPUT, Op.STATE):
            put(assignment[line] if line in assignment else _default(sorts, sort[line]))
        elif code in _VALUES:
            put(given[0])
        elif code == Op.JUSTICE:
            put(int(all(given)))
        elif code in (Op.INIT, Op.NEXT):
            put(given[1])
        elif code == Op.SORT:
            put(None)
        else:
            raise UsageError(f"a {Op(code).name.lower()} has no value")
    return values


def _lifetimes(dag: Dag) -> tuple[array[int], array[int]]:
    """Return, by line, which line built its array (-1: none may change it), and the last use.

    `ite` hands on what it is given: its operands, and it, then have one owner or none.
    """
    size = len(dag)
    owner, last = array("i", [-1]) * size, array("i", [-1]) * size
    offset, args, sorts, sort = dag.offset, dag.args, dag.sorts, dag.sort
    if not any(isinstance(each, Array) for each in sorts):
        return owner, last
    for line, code in enumerate(dag.op):
        for each in args[offset[line] : offset[line + 1]]:
            if each >= 0 and code != Op.SORT and isinstance(sorts[sort[each]], Array):
                # Only a write of the array itself may change it: keep what others hold.
                held = code not in (Op.READ, Op.EQ, Op.NE, Op.WRITE)
                element = code == Op.WRITE and each != args[offset[line]]
                if owner[each] >= 0:
                    last[owner[each]] = size if held or element else line
        # An array of arrays is not changed in place: others may hold what is in it.
        written = sorts[sort[line]] if code == Op.WRITE else None
        if isinstance(written, Array) and not isinstance(sorts[written.element], Array):
            owner[line] = line
    return owner, last


def equal(a: ArrayValue, b: ArrayValue, sorts: Sequence[Sort], sort: int) -> bool:
    """Return whether two arrays of a sort (an index into `sorts`) agree everywhere."""
    work: list[tuple[Value, Value, int]] = [(a, b, sort)]
    while work:
        x, y, at = work.pop()
        if isinstance(x, int) or isinstance(y, int):
            if x != y:
                return False
            continue
        if x is y:
            continue
        found = sorts[at]
        assert isinstance(found, Array)
        index = sorts[found.index]
        keys = x.cells.keys() | y.cells.keys()
        if not isinstance(index, BitVec) or len(keys) < 1 << index.width:
            work.append((x.default, y.default, found.element))
        work += [
            (x.cells.get(key, x.default), y.cells.get(key, y.default), found.element)
            for key in keys
        ]
    return True


def _default(sorts: Sequence[Sort], sort: int) -> Value:
    """Return zero, or an array of zeros, of a sort."""
    depth = 0
    while isinstance(found := sorts[sort], Array):
        sort = found.element
        depth += 1
    value: Value = 0
    for _ in range(depth):
        value = ArrayValue(value)
    return value


def _complement(value: Value | None, width: int) -> int:
    return _int(value) ^ ((1 << width) - 1)


def _int(value: Value | None) -> int:
    assert isinstance(value, int)
    return value


def _array(value: Value | None) -> ArrayValue:
    assert isinstance(value, ArrayValue)
    return value


def _index(value: Value | None) -> int:
    if not isinstance(value, int):
        raise UsageError("arrays as indices cannot be evaluated")
    return value


def signed(value: int, width: int) -> int:
    """Return the value of a pattern of bits in two's complement."""
    return value - (1 << width) if value >> (width - 1) else value


def _udiv(a: int, b: int, width: int) -> int:
    return a // b if b else (1 << width) - 1


def _urem(a: int, b: int, _: int) -> int:
    return a % b if b else a


def _sdiv(a: int, b: int, width: int) -> int:
    x, y = signed(a, width), signed(b, width)
    quotient = _udiv(abs(x), abs(y), width)
    return -quotient if (x < 0) != (y < 0) else quotient


def _srem(a: int, b: int, width: int) -> int:
    x, y = signed(a, width), signed(b, width)
    remainder = _urem(abs(x), abs(y), width)
    return -remainder if x < 0 else remainder


def _smod(a: int, b: int, width: int) -> int:
    # The sign follows the divisor, as that of Python's % does.
    x, y = signed(a, width), signed(b, width)
    return x % y if y else x


def _overflows(value: int, width: int) -> int:
    """Return whether a signed value is out of the range of the width."""
    return not -(1 << (width - 1)) <= value < 1 << (width - 1)


BINARY: Mapping[int, Callable[[int, int, int], int]] = {
    Op.ADD: lambda a, b, _: a + b,
    Op.SUB: lambda a, b, _: a - b,
    Op.MUL: lambda a, b, _: a * b,
    Op.UDIV: _udiv,
    Op.SDIV: _sdiv,
    Op.UREM: _urem,
    Op.SREM: _srem,
    Op.SMOD: _smod,
    Op.AND: lambda a, b, _: a & b,
    Op.OR: lambda a, b, _: a | b,
    Op.XOR: lambda a, b, _: a ^ b,
    Op.XNOR: lambda a, b, _: ~(a ^ b),
    Op.NAND: lambda a, b, _: ~(a & b),
    Op.NOR: lambda a, b, _: ~(a | b),
    Op.SLL: lambda a, b, w: a << b if b < w else 0,
    Op.SRL: lambda a, b, w: a >> b if b < w else 0,
    Op.SRA: lambda a, b, w: signed(a, w) >> min(b, w),
    Op.ROL: lambda a, b, w: a << b % w | a >> (w - b % w),
    Op.ROR: lambda a, b, w: a >> b % w | a << (w - b % w),
    Op.ULT: lambda a, b, _: a < b,
    Op.ULTE: lambda a, b, _: a <= b,
    Op.UGT: lambda a, b, _: a > b,
    Op.UGTE: lambda a, b, _: a >= b,
    Op.SLT: lambda a, b, w: signed(a, w) < signed(b, w),
    Op.SLTE: lambda a, b, w: signed(a, w) <= signed(b, w),
    Op.SGT: lambda a, b, w: signed(a, w) > signed(b, w),
    Op.SGTE: lambda a, b, w: signed(a, w) >= signed(b, w),
    Op.UADDO: lambda a, b, w: (a + b) >> w,
    Op.SADDO: lambda a, b, w: _overflows(signed(a, w) + signed(b, w), w),
    Op.USUBO: lambda a, b, _: a < b,
    Op.SSUBO: lambda a, b, w: _overflows(signed(a, w) - signed(b, w), w),
    Op.UMULO: lambda a, b, w: (a * b) >> w != 0,
    Op.SMULO: lambda a, b, w: _overflows(signed(a, w) * signed(b, w), w),
    Op.SDIVO: lambda a, b, w: a == 1 << (w - 1) and b == (1 << w) - 1,
    Op.EQ: lambda a, b, _: a == b,
    Op.NE: lambda a, b, _: a != b,
    Op.IMPLIES: lambda a, b, _: ~a | b,
    Op.IFF: lambda a, b, _: a == b,
}
"""Of two operands, given with the width of the first; the result is to be cut to its width."""

UNARY: Mapping[int, Callable[[int, int], int]] = {
    Op.NOT: lambda a, _: ~a,
    Op.NEG: lambda a, _: -a,
    Op.INC: lambda a, _: a + 1,
    Op.DEC: lambda a, _: a - 1,
    Op.PROXY: lambda a, _: a,
    Op.UEXT: lambda a, _: a,
    Op.SEXT: signed,
    Op.REDOR: lambda a, _: a != 0,
    Op.ROOT: lambda a, _: a != 0,
    Op.REDAND: lambda a, w: a == (1 << w) - 1,
    Op.REDXOR: lambda a, _: a.bit_count(),
    Op.NEGO: lambda a, w: a == 1 << (w - 1),
}
"""Of one operand, given with its width; the result is to be cut to its width."""


def computed(
    code: int, values: Sequence[int], widths: Sequence[int], width: int, numbers: Sequence[int]
) -> int | None:
    """Return the value of an operator of bit-vectors, None for any other operator.

    `widths` are those of the operands, `width` that of the result, `numbers` those of the line.
    """
    ones = (1 << width) - 1
    if code in BINARY:
        return BINARY[code](values[0], values[1], widths[0]) & ones
    if code in UNARY:
        return UNARY[code](values[0], widths[0]) & ones
    if code == Op.SLICE:
        return values[0] >> numbers[1] & ones
    if code == Op.CONCAT:
        return values[0] << widths[1] | values[1]
    if code == Op.ITE:
        return values[1] if values[0] else values[2]
    return None
