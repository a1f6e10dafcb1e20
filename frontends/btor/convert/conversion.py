"""Converts a Dag to another dialect, keeping its meaning.

Satisfiability is kept between files without `next`: every `root` and `constraint` is
asserted, and a `bad` is reachable if it can be true together with them. Files with `next`
keep their runs: BTOR1's registers start at zero, its memories anywhere, and its roots are
what is to be reached (as in Boolector's model checker of 2008), which are states with
`init`, states without, and one `bad` in BTOR2.
"""

from __future__ import annotations

from reducekit.errors import UsageError
from reducekit.frontends.btor.convert.inlining import inline
from reducekit.frontends.btor.convert.lowering import (
    extended,
    negation_overflow,
    non_zero,
    shift_by_logarithm,
)
from reducekit.frontends.btor.model.builder import Builder
from reducekit.frontends.btor.model.dag import Array, BitVec, Dag, line_of
from reducekit.frontends.btor.model.literals import literal_value
from reducekit.frontends.btor.model.operators import CONSTANTS, Dialect, Op

_SHIFTS = frozenset({Op.SLL, Op.SRL, Op.SRA, Op.ROL, Op.ROR})
_REDUCTIONS = frozenset({Op.REDOR, Op.REDAND, Op.REDXOR})
_PROPERTIES = frozenset({Op.ROOT, Op.BAD, Op.CONSTRAINT})


def convert(dag: Dag, target: Dialect) -> Dag:
    """Return a Dag of the dialect `target` that means the same, without text.

    Outputs of BTOR2 have no meaning that BTOR1 could keep and are dropped there, as are
    symbols of what may have none. Raises UsageError, naming the node, for what has no
    counterpart: `fair`, `justice`, constraints or other initial values in files with
    `next`, arrays of arrays, functions that cannot be inlined, `next` in `btor1+fun`.
    """
    if target is Dialect.BTOR_2007:
        raise UsageError("btor-2007 is read only: convert to btor-old or a later dialect")
    if dag.dialect is Dialect.FUN and target is not Dialect.FUN:
        dag = inline(dag)
    return _Conversion(dag, target).run()


class _Conversion:
    """Copies the lines of a Dag in their order; `meaning` is what each became, as a reference."""

    def __init__(self, dag: Dag, target: Dialect) -> None:
        self.dag = dag
        self.builder = Builder(target, dag.sorts)
        self.from_two = dag.dialect is Dialect.BTOR2
        self.to_two = target is Dialect.BTOR2
        self.target = target
        self.meaning: list[int] = []
        self.registers = {line_of(dag.arguments(line)[0]) for line in dag.lines_of(Op.NEXT)}
        self.bads: list[int] = []
        self.symbols: set[bytes] = set()

    def refuse(self) -> None:
        """Raise UsageError for what the target cannot say."""
        if self.from_two and not self.to_two:
            self.refuse_what_btor1_lacks()
        if self.registers and self.target is Dialect.FUN:
            raise UsageError("btor1+fun has no next: convert to btor1 or btor2")

    def run(self) -> Dag:
        self.refuse()
        for line, code in enumerate(self.dag.op):
            args = [self.find(each) for each in self.dag.arguments(line)]
            if code == Op.SORT or (code == Op.OUTPUT and not self.to_two):
                self.meaning.append(-1)
            elif code in (Op.INPUT, Op.STATE):
                self.meaning.append(self.leaf(line))
            elif code in _PROPERTIES:
                self.meaning.append(self.property(line, args))
            elif code == Op.INIT and not self.to_two:
                self.meaning.append(-1)
            else:
                self.meaning.append(self.node(line, args))
        self.finish()
        return self.builder.dag()

    def find(self, reference: int) -> int:
        found = self.meaning[line_of(reference)]
        return found if reference >= 0 else ~found

    def leaf(self, line: int) -> int:
        """Copy an input or a state."""
        dag, builder, sort = self.dag, self.builder, self.dag.sort[line]
        code = dag.op[line]
        symbol = dag.symbols.get(line, b"")
        if not self.to_two:
            code = Op.INPUT
            array = isinstance(dag.sorts[sort], Array)
            # Boolector 3 refuses a symbol that stands twice.
            if symbol in self.symbols or (array and self.target is Dialect.OLD):
                symbol = b""
            self.symbols.add(symbol)
        elif not self.from_two and line in self.registers:
            # A state's id is greater than that of its init value.
            first = dag.sorts[sort]
            zero = builder.constant(first.width, 0) if isinstance(first, BitVec) else -1
            state = builder.add(Op.STATE, sort, symbol=symbol)
            if zero >= 0:
                builder.add(Op.INIT, sort, (state, zero))
            return state
        return builder.add(code, sort, symbol=symbol)

    def property(self, line: int, args: list[int]) -> int:
        """Copy a root, bad or constraint; its value is one bit."""
        dag, builder, code = self.dag, self.builder, self.dag.op[line]
        if self.from_two and self.to_two:
            return builder.add(code, -1, args, symbol=dag.symbols.get(line, b""))
        if not self.from_two and not self.to_two:
            return builder.add(code, dag.sort[line], args)
        if self.to_two:
            bit = non_zero(builder, args[0])
            if self.registers:
                self.bads.append(bit)
            else:
                builder.add(Op.CONSTRAINT, -1, (bit,))
            return bit
        if code == Op.BAD:
            self.bads.append(args[0])
        else:
            builder.add(Op.ROOT, builder.table.bitvec(1), args)
        return -1

    def node(self, line: int, args: list[int]) -> int:
        """Copy any other line, in the words of the target."""
        dag, builder, code = self.dag, self.builder, self.dag.op[line]
        sort = dag.sort[line]
        if code == Op.PROXY and self.to_two:
            return args[0]
        if code == Op.NEGO and self.target is not Dialect.OLD:
            return negation_overflow(builder, args[0])
        if code in _REDUCTIONS and not self.to_two and builder.width(args[0]) == 1:
            return args[0]
        if code in _SHIFTS:
            width, amount = builder.width(args[0]), builder.width(args[1])
            if self.to_two:
                args[1] = extended(builder, Op.UEXT, args[1], width)
            elif amount == width and (self.from_two or self.target is Dialect.OLD):
                return shift_by_logarithm(builder, code, args[0], args[1])
        literal = dag.literals.get(line, b"")
        if code == Op.CONSTD and not self.to_two:
            # No sign and no leading zeros in BTOR1.
            width = dag.width(line)
            if self.from_two:
                return builder.constant(width, literal_value(code, literal, width))
        symbol = b"" if not (self.to_two or code == Op.PARAM) else dag.symbols.get(line, b"")
        return builder.add(code, sort, args, dag.numbers.get(line, ()), literal, symbol)

    def finish(self) -> None:
        """Add a node that combines all roots or bads."""
        if not self.bads:
            return
        builder = self.builder
        one = builder.table.bitvec(1)
        # Roots are conjoined; of bads one is enough.
        code = Op.AND if self.to_two else Op.OR
        joined = self.bads[0]
        for each in self.bads[1:]:
            joined = builder.add(code, one, (joined, each))
        if self.to_two:
            builder.add(Op.BAD, -1, (joined,))
        else:
            builder.add(Op.ROOT, one, (joined,))

    def refuse_what_btor1_lacks(self) -> None:
        dag = self.dag
        if any(isinstance(each, Array) and _is_nested(dag, each) for each in dag.sorts):
            raise UsageError("BTOR1 has no arrays of arrays")
        for line in dag.lines_of(Op.FAIR, Op.JUSTICE):
            raise _refusal(dag, line, f"BTOR1 has nothing like {Op(dag.op[line]).name.lower()}")
        inits = {line_of(dag.arguments(line)[0]): line for line in dag.lines_of(Op.INIT)}
        if not self.registers:
            for line in inits.values():
                raise _refusal(dag, line, "BTOR1 has no init where there is no next")
            return
        for line in dag.lines_of(Op.CONSTRAINT):
            raise _refusal(dag, line, "BTOR1 has no constraint in files with next")
        for line in dag.lines_of(Op.STATE):
            self.refuse_state(line, inits.get(line))

    def refuse_state(self, line: int, init: int | None) -> None:
        """Raise UsageError for a state, with its init, that is no register of BTOR1."""
        dag = self.dag
        if isinstance(dag.sorts[dag.sort[line]], Array):
            if init is not None:
                raise _refusal(dag, init, "BTOR1 has no init for arrays")
        elif line not in self.registers:
            raise _refusal(dag, line, "BTOR1 has no state without next where others have one")
        elif init is None or not _is_zero(dag, dag.arguments(init)[1]):
            where = line if init is None else init
            raise _refusal(dag, where, "BTOR1's registers start at zero")


def _refusal(dag: Dag, line: int, what: str) -> UsageError:
    return UsageError(f"{what} (node {dag.ids[line]})")


def _is_zero(dag: Dag, reference: int) -> bool:
    line = line_of(reference)
    code, width = dag.op[line], dag.width(line)
    if code not in CONSTANTS:
        return False
    if code in (Op.ZERO, Op.ONE, Op.ONES):
        value = {Op.ZERO: 0, Op.ONE: 1, Op.ONES: (1 << width) - 1}[Op(code)]
    else:
        value = literal_value(code, dag.literals[line], width)
    return value == (0 if reference >= 0 else (1 << width) - 1)


def _is_nested(dag: Dag, sort: Array) -> bool:
    return any(isinstance(dag.sorts[each], Array) for each in (sort.index, sort.element))
