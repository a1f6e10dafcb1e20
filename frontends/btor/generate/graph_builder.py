"""The lower part of a random graph: leaves, and nodes of random operators above them.

The thesis' algorithm (A. Vida, Linz 2008, section 2.3), over the table of operators: what
a row asks of its operands says how they are chosen, so that no operator needs code.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from typing import Any

from reducekit.errors import UsageError
from reducekit.frontends.btor.model.dag import Array, BitVec, Builder, line_of
from reducekit.frontends.btor.model.operators import Dialect, Op, Operator, spellings


class Dice:
    """Draws by a function that returns numbers from 0 to 1, as `random.Random.random`.

    Of random's methods that one alone is promised to stay the same in later versions.
    """

    def __init__(self, chance: Callable[[], float]) -> None:
        self._chance = chance

    def below(self, count: int) -> int:
        """Return a random number from 0 to count - 1."""
        return int(self._chance() * count)

    def percent(self, share: int) -> bool:
        """Return True in `share` percent of the cases."""
        return self._chance() * 100 < share

    def some(self, things: Sequence[int]) -> int:
        """Return one of several."""
        return things[self.below(len(things))]


_NEVER = frozenset(b"var array param proxy lambda apply root next anext".split())
_ON_ARRAYS = {"aeq": b"eq", "ane": b"ne", "acond": b"cond"}
"""On arrays these have weights of their own (unless `acond` is an operator of its own)."""
_ADAPTING = frozenset({Op.SLICE, Op.UEXT, Op.SEXT})
_TRIES = 4  # to find another operand than one that only changes the width
_AGAIN = 3  # refusals that it takes to make a new node where none is without parent
_FORMS = {"bin": "0{}b", "dec": "d", "hex": "x"}


def operator_names(dialect: Dialect) -> tuple[str, ...]:
    """Return the names of the operators that are generated, those of `btor1` for BTOR2.

    `aeq`, `ane` and `acond` are `eq`, `ne` and `cond` of arrays.
    """
    rows = spellings(Dialect.BTOR1 if dialect is Dialect.BTOR2 else dialect)
    names = [name.decode() for name in rows if name not in _NEVER]
    return tuple(sorted({*names, *_ON_ARRAYS}))


class GraphBuilder(Dice):
    """A graph that grows: a builder, its nodes by sort, and which of them have no parent yet."""

    def __init__(
        self, chance: Callable[[], float], dialect: Dialect, *, widths: tuple[int, int],
        index_width: int, sharing: int, complement: int, layer: int | None,
    ) -> None:  # fmt: skip
        self.builder = Builder(dialect)
        self.bit = self.builder.table.bitvec(1)
        self.loose: dict[int, list[int]] = {}
        """The nodes without parent, by sort."""
        super().__init__(chance)
        self._widths = widths
        self._index_width = index_width
        self._sharing = sharing
        self._complement = complement
        self._layer = layer
        self._of: dict[int, list[int]] = {}  # the nodes by sort
        self._vectors: list[int] = []
        self._arrays: list[int] = []
        self._start: list[int] = []
        self._place: list[int] = []  # of each line in its list of `loose`, -1 if not there
        self._depth: list[int] = []
        self._deepest = 0
        self._layers: list[list[int]] = [[]]  # bit-vectors by depth
        self._counts = [0]  # nodes by depth
        self._open = 1  # the first layer that is not full
        self._pending = -1
        """Lines that merging will add; of one loose bit none."""
        self._rows = spellings(dialect)

    # Chances.

    def signed(self, line: int) -> int:
        """Return a reference to a bit-vector, complemented by chance."""
        return ~line if self.percent(self._complement) else line

    def _width(self, least: int = 1) -> int:
        low, high = self._widths
        low = max(low, least)
        return low + self.below(max(high, low) - low + 1)

    # Nodes.

    def add(self, code: int, sort: int, args: Sequence[int] = (), *more: Any) -> int:
        """Add a node, which has no parent yet; its operands have one now."""
        line = self.builder.add(code, sort, args, *more)
        depth = 0
        for each in args:
            operand = line_of(each)
            depth = max(depth, self._depth[operand] + 1)
            self._bind(operand)
        loose = self.loose.setdefault(sort, [])
        self._place.append(len(loose))
        loose.append(line)
        self._pending += self._cost(sort)
        self._depth.append(depth)
        self._deepest = max(self._deepest, depth)
        self._of.setdefault(sort, []).append(line)
        while len(self._layers) <= depth:
            self._layers.append([])
            self._counts.append(0)
        self._counts[depth] += 1
        if self.builder.table.width(sort):
            self._vectors.append(line)
            self._layers[depth].append(line)
        else:
            self._arrays.append(line)
        return line

    def _bind(self, line: int) -> None:
        """Take a node off the list of those without parent: the last one takes its place."""
        if self._place[line] < 0:
            return
        sort = self.sort_of(line)
        loose, place = self.loose[sort], self._place[line]
        last = loose.pop()
        if last != line:
            loose[place] = last
            self._place[last] = place
        self._place[line] = -1
        self._pending -= self._cost(sort)

    def _cost(self, sort: int) -> int:
        """Count what merging adds for a node without parent: read, reduction, one operator."""
        found = self.builder.table.sorts[sort]
        if isinstance(found, Array):
            return 1 + self._cost(found.element)
        return 1 if sort == self.bit else 2

    def sort_of(self, line: int) -> int:
        """Return the sort of a node."""
        return self.builder.sort[line]

    def array_sort(self, line: int) -> Array:
        """Return the sort of an array node."""
        found = self.builder.table.sorts[self.sort_of(line)]
        assert isinstance(found, Array)
        return found

    # Leaves.

    def leaves(self, variables: int, arrays: int) -> None:
        """Add variables and arrays of random widths."""
        table = self.builder.table
        for _ in range(variables):
            self._start.append(self.add(Op.INPUT, table.bitvec(self._width())))
        for _ in range(arrays):
            element = table.bitvec(self._width())
            index = table.bitvec(1 + self.below(self._index_width))
            self._start.append(self.add(Op.INPUT, table.array(index, element)))

    def writes(self, count: int) -> None:
        """Add writes, if there is an array."""
        for _ in range(count if self._arrays else 0):
            self._grow(self._rows[b"write"], on_arrays=False)

    def registers(self, count: int) -> None:
        """Give `count` of the start's variables and arrays a next value."""
        leaves = list(self._start)
        while leaves and count:
            count -= 1
            leaf = leaves.pop(self.below(len(leaves)))
            sort = self.sort_of(leaf)
            value = self.some(self._of[sort])
            if isinstance(self.builder.table.sorts[sort], BitVec):
                value = self.signed(value)
            self.builder.add(Op.NEXT, sort, (leaf, value))
            # The line is not a node: nothing may refer to it.
            self._place.append(-1)
            self._depth.append(0)

    def grow(
        self, weights: Mapping[str, int], lines: int, depth: int, arrays: bool, every: bool
    ) -> None:
        """Add random nodes until merging will bring the file to `lines`, or the depth is reached.

        With `every`, at first one node of each operator. Raises UsageError if
        an operator that has to be there does not fit the widths.
        """
        arrays = arrays and bool(self._arrays)
        names = []
        for name, weight in weights.items():
            row, on_arrays = self._row(name)
            if weight and (arrays or not (on_arrays or "I:E" in row.operands)):
                names.append(name)
        order = list(names) if every else []
        while order:
            self._named(order.pop(self.below(len(order))), needed=True)
        fitting = [name for name in names if self._fits(name)]
        sums = list(accumulate(weights[name] for name in fitting))
        # Leaves have no depth, so that the depth alone might never be met.
        while sums and len(self.builder) + self._pending < lines and self._deepest < depth:
            self._named(fitting[bisect_right(sums, self.below(sums[-1]))])

    def _row(self, name: str) -> tuple[Operator, bool]:
        """Return the operator of a name, and whether it is the form on arrays."""
        row = self._rows.get(name.encode())
        return (self._rows[_ON_ARRAYS[name]], True) if row is None else (row, False)

    def _fits(self, name: str) -> bool:
        """Return whether the widths allow an operator."""
        row, on_arrays = self._row(name)
        if row.result == "m+n" or "n>1" in row.operands:
            return self._widths[1] >= 2
        return on_arrays or "log" not in "".join(row.operands) or bool(self._powers())

    def _powers(self) -> list[int]:
        """Return the widths that BTOR1 can shift by an amount of log2 bits."""
        low, high = self._widths
        return [1 << k for k in range(1, high.bit_length()) if max(low, 2) <= 1 << k <= high]

    def _named(self, name: str, needed: bool = False) -> None:
        if needed and not self._fits(name):
            low, high = self._widths
            raise UsageError(
                f"every operator is to be there, but {name} has no width from {low} to {high}: "
                "allow wider bit-vectors, or give it the weight 0"
            )
        self._grow(*self._row(name))

    def _grow(self, row: Operator, on_arrays: bool) -> None:
        """Add a node of a row of the table of operators."""
        if row.literal or not row.operands:
            width = self._width()
            literal = self._literal(row.literal, width) if row.literal else b""
            self.add(row.code, self.builder.table.bitvec(width), (), (), literal)
            return
        bound, numbers = self._bound(row)
        array = -1
        if on_arrays or "I:E" in row.operands:
            array = self.choose(self.sort_of(self.some(self._arrays)))
            self._bind(array)
            found, sort = self.array_sort(array), self.sort_of(array)
            bound |= {"I": found.index, "E": found.element, "I:E": sort, "S": sort}
        args: list[int] = []
        anchored = self._layer is None
        for pattern in row.operands:
            if pattern == "I:E" or (on_arrays and pattern == "S"):
                args.append(self._other_array(array) if array in args else array)
                continue
            args.append(self._operand(bound[pattern], anchor=not anchored))
            anchored = True
        self.add(row.code, bound[row.result], args, numbers)

    def _bound(self, row: Operator) -> tuple[dict[str, int], tuple[int, ...]]:
        """Draw the sort of each pattern of a row, and the numbers of the line."""
        bitvec = self.builder.table.bitvec
        width = self._width(2 if row.operands[0] == "n>1" or row.result == "m+n" else 1)
        bound = {row.result: bitvec(width), "1": self.bit}
        if row.result == "m+n":
            part = 1 + self.below(width - 1)
            bound |= {"m": bitvec(part), "n": bitvec(width - part)}
        elif row.numbers == ("k",):
            low = min(self._widths[0], width)
            source = low + self.below(width - low + 1)
            return bound | {"n": bitvec(source)}, (width - source,)
        elif row.numbers:
            lower = self.below(width)
            upper = lower + self.below(width - lower)
            return {"n": bitvec(width), row.result: bitvec(upper - lower + 1)}, (upper, lower)
        elif "log" in "".join(row.operands):
            width = self.some(self._powers())
            amount = bitvec(width.bit_length() - 1)
            bound |= {"n": bitvec(width), "log": amount, "n/log": amount}
        else:
            bound |= dict.fromkeys(("n", "n>1", "S"), bitvec(width))
        return bound, ()

    def _literal(self, kind: str, width: int) -> bytes:
        value = 0
        for _ in range(width):
            value = value << 1 | (self._chance() < 0.5)
        return format(value, _FORMS[kind].format(width)).encode()

    # Operands.

    def _operand(self, sort: int, *, anchor: bool = False) -> int:
        """Return a bit-vector of a sort, made of another one if there is none."""
        pool = self._top_layer(sort) if anchor else ()
        if pool:
            line = self.some(pool)
        elif self._of.get(sort):
            line = self.choose(sort)
        elif not self._vectors:
            line = self.add(Op.INPUT, sort)
        else:
            other = self.some(self._vectors)
            line = self._to_width(self.choose(self.sort_of(other)), sort)
        # Now, as the next operand of the same node is chosen before that node is there.
        self._bind(line)
        return self.signed(line)

    def _top_layer(self, sort: int) -> list[int]:
        """Return what a node has to stand on so that it is in no full layer, if it is there."""
        while self._open < len(self._counts) and self._counts[self._open] >= (self._layer or 0):
            self._open += 1
        below = self._layers[self._open - 1]
        fitting = [each for each in below if self.sort_of(each) == sort]
        if fitting or not below:
            return fitting
        return [self._to_width(self.some(below), sort)]

    def choose(self, sort: int) -> int:
        """Return one of the nodes of a sort: the DAG tendency decides.

        In `sharing` percent of the cases it may have a parent. Otherwise it is one that
        has none; where there is none, the tendency decides again, and mostly for any node
        anyway. Otherwise it is a new one: without sharing, only new leaves keep a tree
        growing. (In the thesis it is any node then, and lower values share more, not less.)
        """
        pool = self._of[sort]
        if not self.percent(self._sharing):
            loose = self.loose.get(sort)
            if not loose and not any(self.percent(self._sharing) for _ in range(_AGAIN)):
                return self._fresh(sort)
            pool = loose or pool
        found = self.some(pool)
        for _ in range(_TRIES):
            if self.builder.op[found] not in _ADAPTING:
                break
            found = self.some(pool)
        return found

    def _fresh(self, sort: int) -> int:
        """Return a new node without parent: made of another such, or a leaf."""
        width_of = self.builder.table.width
        if width_of(sort):
            sorts = [each for each, loose in self.loose.items() if loose and width_of(each)]
            if sorts:
                return self._to_width(self.some(self.loose[self.some(sorts)]), sort)
        return self.add(Op.INPUT, sort)

    def _to_width(self, line: int, sort: int) -> int:
        """Return a bit-vector cut or extended to a sort."""
        width, have = self.builder.table.width(sort), self.builder.width(line)
        if have == width:
            return line
        if have > width:
            lower = self.below(have - width + 1)
            return self.add(Op.SLICE, sort, (self.signed(line),), (lower + width - 1, lower))
        code = (Op.UEXT, Op.SEXT)[self.below(2)]
        return self.add(code, sort, (self.signed(line),), (width - have,))

    def _other_array(self, array: int) -> int:
        """Return another array of the same sort, if some tries find one."""
        found = array
        for _ in range(_TRIES):
            found = self.choose(self.sort_of(array))
            if found != array:
                break
        self._bind(found)
        return found

    def vector(self, sort: int) -> int:
        """Return any bit-vector of a sort, a new variable if there is none (the read layer)."""
        found = self._of.get(sort)
        return self.signed(self.some(found) if found else self.add(Op.INPUT, sort))
