"""Writes a Dag as an SMT-LIB v2 script of logic QF_ABV.

Each node is a definition of its own, so that nothing nests, however deep the graph is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from reducekit.errors import UsageError
from reducekit.frontends.btor.convert.conversion import convert
from reducekit.frontends.btor.convert.smtlib_operators import BINARY, COMPARISONS, FOLDED
from reducekit.frontends.btor.model.dag import WIDE, Array, BitVec, Dag, Sort, constant_value
from reducekit.frontends.btor.model.operators import Dialect, Op

# The shapes of definitions: {0} {1} {2} are the operands, {w} the width of the first one,
# {ones} and {least} constants of that width, {n} {k} the numbers of the line. Overflow
# predicates have no names in SMT-LIB 2.6: the exact result is computed in more bits.
_TERMS = {
    **{code: f"({name} {{0}} {{1}})" for name, code in (FOLDED | BINARY).items()},
    Op.NOT: "(bvnot {0})", Op.NEG: "(bvneg {0})",
    Op.INC: "(bvadd {0} (_ bv1 {w}))", Op.DEC: "(bvsub {0} (_ bv1 {w}))",
    Op.UEXT: "((_ zero_extend {n}) {0})", Op.SEXT: "((_ sign_extend {n}) {0})",
    Op.SLICE: "((_ extract {n} {k}) {0})", Op.CONCAT: "(concat {0} {1})",
    Op.IMPLIES: "(bvor (bvnot {0}) {1})", Op.IFF: "(bvxnor {0} {1})",
    Op.ITE: "(ite (= {0} #b1) {1} {2})", Op.READ: "(select {0} {1})",
    Op.WRITE: "(store {0} {1} {2})",
}  # fmt: skip
_PREDICATES = {
    **{code: f"({name} {{0}} {{1}})" for name, code in COMPARISONS.items()},
    Op.EQ: "(= {0} {1})", Op.NE: "(not (= {0} {1}))",
    Op.REDOR: "(not (= {0} (_ bv0 {w})))", Op.REDAND: "(= {0} {ones})",
    Op.UADDO: "(bvult (bvadd {0} {1}) {0})", Op.USUBO: "(bvult {0} {1})",
    Op.SDIVO: "(and (= {0} {least}) (= {1} {ones}))",
}  # fmt: skip
_EXACT = {
    # name, extension, bits more: the result is out of range where it is not what its
    # lower half extends to.
    Op.SADDO: ("bvadd", "sign_extend", False),
    Op.SSUBO: ("bvsub", "sign_extend", False),
    Op.UMULO: ("bvmul", "zero_extend", True),
    Op.SMULO: ("bvmul", "sign_extend", True),
}
_DECIMAL = 14_000
"""Bits of a number that is written in decimal: Python prints 4,300 digits at most."""
_OURS = re.compile(rb"n[0-9]+")
_SIMPLE = re.compile(rb"[^|\\\x00-\x20\x7f-\xff]+")


def to_smtlib(dag: Dag) -> bytes:
    """Return a script that is satisfiable if the Dag is: one assert for each root or constraint.

    Of `bad` properties one has to hold. Inputs keep their symbols, other names are `n` and
    the id in BTOR2 (`convert`). Raises UsageError for files with `init`, `next`, `fair` or
    `justice`, and as `convert` does.
    """
    two = convert(dag, Dialect.BTOR2)
    for line in two.lines_of(Op.INIT, Op.NEXT, Op.FAIR, Op.JUSTICE):
        name = Op(two.op[line]).name.lower()
        raise UsageError(f"SMT-LIB has nothing like {name}: only files without it are converted")
    return _script(two)


def _script(dag: Dag) -> bytes:
    out = [b"(set-logic QF_ABV)"]
    names: list[bytes] = []
    sort_names = _sort_names(dag.sorts)
    taken: set[bytes] = set()
    bads: list[bytes] = []
    for line, code in enumerate(dag.op):
        name = b"n%d" % (line + 1)
        args = [
            names[each] if each >= 0 else b"(bvnot " + names[~each] + b")"
            for each in dag.arguments(line)
        ]
        if code in (Op.BAD, Op.CONSTRAINT):
            if code == Op.BAD:
                bads.append(b"(= " + args[0] + b" #b1)")
            else:
                out.append(b"(assert (= " + args[0] + b" #b1))")
        elif code in (Op.INPUT, Op.STATE):
            symbol = dag.symbols.get(line, b"")
            quoted = b"|" + symbol + b"|"
            if _SIMPLE.fullmatch(symbol) and quoted not in taken and not _OURS.fullmatch(symbol):
                name = quoted
                taken.add(name)
            out.append(b"(declare-fun %s () %s)" % (name, sort_names[dag.sort[line]]))
        elif code != Op.OUTPUT:
            term = _term(dag, line, args)
            sort = sort_names[dag.sort[line]]
            out.append(b"(define-fun %s () %s %s)" % (name, sort, term))
        names.append(name)
    if len(bads) == 1:
        out.append(b"(assert %s)" % bads[0])
    elif bads:
        out.append(b"(assert (or %s))" % b" ".join(bads))
    out += [b"(check-sat)", b"(exit)", b""]
    return b"\n".join(out)


def _sort_names(sorts: Sequence[Sort]) -> list[bytes]:
    """Return each sort in SMT-LIB; the sorts a sort is made of stand before it in the table."""
    names: list[bytes] = []
    for sort in sorts:
        if isinstance(sort, BitVec):
            names.append(b"(_ BitVec %d)" % sort.width)
        elif isinstance(sort, Array):
            names.append(b"(Array %s %s)" % (names[sort.index], names[sort.element]))
        else:
            names.append(b"")  # of functions that are inlined
    return names


def _term(dag: Dag, line: int, args: list[bytes]) -> bytes:
    code, width = dag.op[line], dag.width(line)
    if code == Op.ONES:
        return _ones(width)
    if (value := constant_value(dag, line)) is not None:
        decimal = code in (Op.ZERO, Op.ONE) or (width > WIDE and value.bit_length() < _DECIMAL)
        if decimal:
            return b"(_ bv%d %d)" % (value, width)
        return b"#b" + format(value, f"0{width}b").encode()
    first = dag.arguments(line)[0]
    operand = dag.width(first if first >= 0 else ~first)
    if code in (Op.ROL, Op.ROR):
        return _rotation(code, args, operand)
    if code == Op.REDXOR and operand > WIDE:
        raise UsageError(f"redxor of {operand} bits is too wide to convert (node {dag.ids[line]})")
    if code == Op.REDXOR:
        bits = [b"((_ extract %d %d) %s)" % (bit, bit, args[0]) for bit in range(operand)]
        return b"(bvxor %s)" % b" ".join(bits) if operand > 1 else args[0]
    if code in _EXACT:
        return _bit(_out_of_range(code, args, operand))
    shape = _TERMS.get(Op(code)) or _PREDICATES[Op(code)]
    numbers = (*dag.numbers.get(line, ()), 0, 0)
    term = shape.format(
        *(each.decode("ascii") for each in args),
        w=operand,
        n=numbers[0],
        k=numbers[1],
        ones=_ones(operand).decode("ascii"),
        least=_least(operand).decode("ascii"),
    ).encode("ascii")
    return term if Op(code) in _TERMS else _bit(term)


def _ones(width: int) -> bytes:
    return b"#b" + b"1" * width if width <= WIDE else b"(bvnot (_ bv0 %d))" % width


def _least(width: int) -> bytes:
    """Return the least signed number."""
    if width <= WIDE:
        return b"#b1" + b"0" * (width - 1)
    return b"(concat #b1 (_ bv0 %d))" % (width - 1)


def _bit(condition: bytes) -> bytes:
    return b"(ite %s #b1 #b0)" % condition


def _rotation(code: int, args: list[bytes], width: int) -> bytes:
    """Return two shifts: SMT-LIB rotates by constants only."""
    if width == 1:
        return args[0]
    # The width itself takes more bits than there are only below 3.
    wide = max(width, 3)
    there = b"((_ zero_extend %d) %s)"
    value, amount = (each if wide == width else there % (wide - width, each) for each in args)
    whole = b"(_ bv%d %d)" % (width, wide)
    near = b"(bvurem %s %s)" % (amount, whole)
    far = b"(bvsub %s %s)" % (whole, near)
    left, right = (near, far) if code == Op.ROL else (far, near)
    term = b"(bvor (bvshl %s %s) (bvlshr %s %s))" % (value, left, value, right)
    return term if wide == width else b"((_ extract %d 0) %s)" % (width - 1, term)


def _out_of_range(code: int, args: list[bytes], width: int) -> bytes:
    name, extension, double = _EXACT[Op(code)]
    more = width if double else 1
    wide = [b"((_ %s %d) %s)" % (extension.encode(), more, each) for each in args]
    exact = b"(%s %s)" % (name.encode(), b" ".join(wide))
    low = b"((_ extract %d 0) (%s %s))" % (width - 1, name.encode(), b" ".join(wide))
    return b"(not (= %s ((_ %s %d) %s)))" % (exact, extension.encode(), more, low)
