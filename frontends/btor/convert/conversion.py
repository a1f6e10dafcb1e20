"""Converts a Dag to another dialect, keeping its meaning.

Satisfiability is kept between files without `next`: every `root` and `constraint` is
asserted, and a `bad` is reachable if it can be true together with them. Files with `next`
keep their runs: BTOR1's registers start at zero, its memories anywhere, and its roots are
what is to be reached (as in Boolector's model checker of 2008), which are states with
`init`, states without, and one `bad` in BTOR2.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, field
from functools import reduce

from reducekit.errors import UsageError
from reducekit.frontends.btor.model.dag import (
    Array,
    BitVec,
    Builder,
    Dag,
    Function,
    constant_value,
    free_params,
    line_of,
    literal_value,
    moved,
    parts_of,
    reached,
)
from reducekit.frontends.btor.model.operators import Dialect, Op

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

    def run(self) -> Dag:
        if self.from_two and not self.to_two:
            self.refuse_what_btor1_lacks()
        if self.registers and self.target is Dialect.FUN:
            raise UsageError("btor1+fun has no next: convert to btor1 or btor2")
        for line, code in enumerate(self.dag.op):
            args = [moved(each, self.meaning) for each in self.dag.arguments(line)]
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
        if code == Op.CONSTD and self.from_two and not self.to_two:
            # No sign and no leading zeros in BTOR1.
            width = dag.width(line)
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
        joined = reduce(lambda a, b: builder.add(code, one, (a, b)), self.bads)
        if self.to_two:
            builder.add(Op.BAD, -1, (joined,))
        else:
            builder.add(Op.ROOT, one, (joined,))

    def refuse_what_btor1_lacks(self) -> None:
        dag = self.dag
        if any(isinstance(dag.sorts[part], Array) for each in dag.sorts for part in parts_of(each)):
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
        else:
            first = -1 if init is None else dag.arguments(init)[1]
            zero = 0 if first >= 0 else (1 << dag.width(line)) - 1
            if init is None or constant_value(dag, line_of(first)) != zero:
                where = line if init is None else init
                raise _refusal(dag, where, "BTOR1's registers start at zero")


def _refusal(dag: Dag, line: int, what: str) -> UsageError:
    return UsageError(f"{what} (node {dag.ids[line]})")


# Operators that a dialect lacks, or wants of other sorts, are written by others. Each function adds
# lines to a builder and returns the reference to the result.


def extended(builder: Builder, code: Op, reference: int, width: int) -> int:
    """Return `uext` or `sext` to a width, which may be the one there is."""
    added = width - builder.width(reference)
    if added == 0:
        return reference
    return builder.add(code, builder.table.bitvec(width), (reference,), (added,))


def sliced(builder: Builder, reference: int, upper: int, lower: int) -> int:
    """Return the bits `upper .. lower`, which may be all there are."""
    if lower == 0 and upper == builder.width(reference) - 1:
        return reference
    sort = builder.table.bitvec(upper - lower + 1)
    return builder.add(Op.SLICE, sort, (reference,), (upper, lower))


def non_zero(builder: Builder, reference: int) -> int:
    """Return whether a bit is set: `redor`, or the operand where it is one bit."""
    if builder.width(reference) == 1:
        return reference
    return builder.add(Op.REDOR, builder.table.bitvec(1), (reference,))


def negation_overflow(builder: Builder, reference: int) -> int:
    """Return whether the operand is the least signed number, `nego`."""
    width = builder.width(reference)
    least = builder.constant(width, 1 << (width - 1))
    return builder.add(Op.EQ, builder.table.bitvec(1), (reference, least))


def shift_by_logarithm(builder: Builder, code: int, shifted: int, amount: int) -> int:
    """Return a shift or rotation whose amount is as wide as what is shifted, in BTOR1's form.

    That form wants a width of 2**k and k bits of amount.
    """
    width = builder.width(shifted)
    if code in (Op.ROL, Op.ROR):
        return _rotation(builder, code, shifted, amount)
    bits = max(1, (width - 1).bit_length())
    wide = 1 << bits
    extension = Op.SEXT if code == Op.SRA else Op.UEXT
    sort = builder.table.bitvec(wide)
    operand = extended(builder, extension, shifted, wide)
    low = sliced(builder, amount, bits - 1, 0)
    result = sliced(builder, builder.add(code, sort, (operand, low)), width - 1, 0)
    if width == bits:
        return result
    # An amount beyond `bits` bits shifts everything out.
    too_far = non_zero(builder, sliced(builder, amount, width - 1, bits))
    if code == Op.SRA:
        out = extended(builder, Op.SEXT, sliced(builder, shifted, width - 1, width - 1), width)
    else:
        out = builder.constant(width, 0)
    return builder.add(Op.ITE, builder.table.bitvec(width), (too_far, out, result))


def _rotation(builder: Builder, code: int, rotated: int, amount: int) -> int:
    width = builder.width(rotated)
    if width == 1:
        return rotated
    sort = builder.table.bitvec(width)
    if width & (width - 1) == 0:
        low = sliced(builder, amount, width.bit_length() - 2, 0)
        return builder.add(code, sort, (rotated, low))
    # What is shifted out on one side comes in on the other.
    whole = builder.constant(width, width)
    near = builder.add(Op.UREM, sort, (amount, whole))
    far = builder.add(Op.SUB, sort, (whole, near))
    left, right = (near, far) if code == Op.ROL else (far, near)
    high = shift_by_logarithm(builder, Op.SLL, rotated, left)
    low = shift_by_logarithm(builder, Op.SRL, rotated, right)
    return builder.add(Op.OR, sort, (high, low))


@dataclass(slots=True)
class _Frame:
    """A body that is being copied: its lines, how far it is, what params and lines became."""

    lines: Sequence[int]
    caller: _Frame | None = None
    apply: int = -1
    """The line of the caller that the body replaces."""
    result: int = -1
    """The reference to the body."""
    at: int = 0
    meaning: dict[int, int] = field(default_factory=dict)

    def find(self, reference: int) -> int:
        """Return what a reference became, here or in the frames around."""
        line = line_of(reference)
        frame: _Frame | None = self
        while frame is not None:
            if line in frame.meaning:
                found = frame.meaning[line]
                return found if reference >= 0 else ~found
            frame = frame.caller
        raise AssertionError(f"line {line} is not copied")


def inline(dag: Dag, largest: int = 1_000_000) -> Dag:
    """Return a Dag of dialect `btor1` that means the same and has no functions.

    Raises UsageError where a function is used as an array (written, compared, chosen by
    `acond`), and when `largest` lines do not do: nested functions may grow exponentially.
    """
    opened = free_params(dag)  # the lines that depend on a param outside of its lambda
    cones: dict[int, list[int]] = {}
    builder = Builder(Dialect.BTOR1, dag.sorts)
    frames = [_Frame([line for line in range(len(dag)) if line not in opened])]
    while frames:
        frame = frames[-1]
        if frame.at == len(frame.lines):
            frames.pop()
            if frame.caller is not None:
                frame.caller.meaning[frame.apply] = frame.find(frame.result)
            continue
        line = frame.lines[frame.at]
        frame.at += 1
        code = dag.op[line]
        if code in (Op.LAMBDA, Op.PARAM):
            continue
        arguments = dag.arguments(line)
        if code in (Op.APPLY, Op.READ) and dag.op[arguments[0]] == Op.LAMBDA:
            result = arguments[0]
            inner = {}
            for argument in arguments[1:]:
                parameter, body = dag.arguments(result)
                inner[parameter] = frame.find(argument)
                result = body
            if arguments[0] not in cones:
                cones[arguments[0]] = _open_cone(dag, opened, line_of(result))
            frames.append(_Frame(cones[arguments[0]], frame, line, result, meaning=inner))
            continue
        if any(isinstance(dag.sorts[dag.sort[line_of(each)]], Function) for each in arguments):
            raise UsageError(f"node {dag.ids[line]} uses a function as an array")
        if len(builder) >= largest:
            raise UsageError(f"without functions there are more than {largest:,} lines")
        args = [frame.find(each) for each in arguments]
        frame.meaning[line] = builder.copy(dag, line, args, Op.READ if code == Op.APPLY else code)
    return builder.dag()


def _open_cone(dag: Dag, opened: Container[int], top: int) -> list[int]:
    """Return the open lines that a line depends on, itself included, in file order."""

    def below(line: int) -> list[int]:
        operands = () if dag.op[line] == Op.LAMBDA else dag.arguments(line)
        return [each for each in map(line_of, operands) if each in opened]

    return sorted(reached([top] if top in opened else [], below))
