"""The operators of all BTOR dialects, as one table.

From: R. Brummayer, A. Biere, F. Lonsing, "BTOR: Bit-Precise Modelling of
Word-Level Problems for Model Checking" (BPR 2008); A. Niemetz, M. Preiner,
C. Wolf, A. Biere, "Btor2, BtorMC and Boolector 3.0" (CAV 2018), table 1;
A. Vida's thesis (Linz 2008), tables 2.1 to 2.3, with its slips corrected: `uext`
and `sext` take the number of added bits, `nego` has one operand, `concat` two;
and the parsers of Boolector of 2007 to 2020, where papers and parsers differ
(so `smod` of August 2007 is what was `srem` from September on).

An operator code (`Op`) is what a node means, whatever a dialect calls it: `ITE`
is `cond`, `acond` and `ite`; `INPUT` is `var`, `array` and `input`. A row of the
table gives spellings in some dialects, with their shape there (`Operator` each).

Patterns of sorts. A letter stands for the same sort wherever it appears in a row:

    n m      a bit-vector              1     one bit
    n>1      two bits or more          S     a bit-vector or an array
    I:E      an array from I to E      F     an array or a function
    B        a bit-vector or a function
    log      log2(n) bits, n a power of two (2 or more): BTOR1's shift amounts
    n/log    either of both            *     any number of the pattern before it

and in results `m+n`, `n+k` and `u-l+1` (over the row's numbers), `-` (no value).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import IntEnum, StrEnum
from functools import cache
from typing import NamedTuple


class Dialect(StrEnum):
    """What a file is written in; named in the command line by the same words."""

    BTOR_2007 = "btor-2007"
    """August 2007: `umul`, `smul`, `umod`; no `write`. Read, never written."""
    OLD = "btor-old"
    """To April 2008, version 2 of the thesis: `write` without index width, `cond` on arrays."""
    BTOR1 = "btor1"
    """From April 2008, version 3 of the thesis: index widths, `acond`, `anext`."""
    FUN = "btor1+fun"
    """From 2013: `param`, `lambda`, `apply`; no `next`."""
    BTOR2 = "btor2"
    """From 2018."""


Op = IntEnum(
    "Op",
    """
    INPUT STATE PARAM CONST CONSTD CONSTH ZERO ONE ONES
    NOT NEG INC DEC PROXY REDOR REDAND REDXOR NEGO SLICE UEXT SEXT
    ADD SUB MUL UDIV SDIV UREM SREM SMOD AND OR XOR XNOR NAND NOR SLL SRL SRA ROL ROR
    ULT ULTE UGT UGTE SLT SLTE SGT SGTE UADDO SADDO USUBO SSUBO UMULO SMULO SDIVO
    EQ NE IMPLIES IFF CONCAT ITE READ WRITE LAMBDA APPLY
    ROOT BAD CONSTRAINT FAIR JUSTICE OUTPUT INIT NEXT SORT
    """,
)
"""The codes of operators and declarations: leaves, of one operand, of two, arrays and functions.

The values mean nothing, but those of declarations are the largest, from ROOT on.
"""


class Operator(NamedTuple):
    """One spelling of an operator, in the dialects where it has this shape.

    `header` is what stands between the name and the operands: `w` the width of
    the result, `wi` the widths of element and index, `wp` those of result and
    parameter, `s` a sort id, `c` a count, `-` nothing. `numbers` names the
    integers after the operands, `literal` the kind of digits (`bin`, `dec`,
    `hex`), and `symbol` tells whether one may follow (BTOR2 allows it everywhere).
    """

    name: bytes
    code: Op
    dialects: frozenset[Dialect]
    header: str
    operands: tuple[str, ...]
    result: str
    numbers: tuple[str, ...]
    literal: str
    symbol: bool

    @property
    def on_arrays(self) -> bool:
        """Whether this spelling is the one for arrays only (`array`, `acond`, `anext`)."""
        return self.result == "I:E" or (self.result == "-" and self.operands[:1] == ("I:E",))


_LETTERS = {
    "7": Dialect.BTOR_2007,
    "o": Dialect.OLD,
    "1": Dialect.BTOR1,
    "f": Dialect.FUN,
    "2": Dialect.BTOR2,
}

# Dialects, header, operands, result, code (-: that of the name), extras (-: none), names.
# The header of BTOR2 is `s` where the column says w, wi.
_TABLE = """
7o1f   w   ()           n      INPUT  symbol  var
7o     wi  ()           I:E    INPUT  -       array
1f     wi  ()           I:E    INPUT  symbol  array
2      s   ()           S      -      -       input state
f      w   ()           n      -      symbol  param
7o1f2  w   ()           n      -      bin     const
7o1f2  w   ()           n      -      dec     constd
7o1f2  w   ()           n      -      hex     consth
o1f2   w   ()           n      -      -       zero one ones
7o1f2  w   n            n      -      -       not neg
o1f2   w   n            n      -      -       inc dec
o1f    w   n            n      -      -       proxy
7o1f   w   n>1          1      -      -       redor redand redxor
2      s   n            1      -      -       redor redand redxor
7      w   n>1          1      -      -       nego
o      w   n            1      -      -       nego
7o1f2  w   n            u-l+1  -      u,l     slice
7o1f2  w   n            n+k    -      k       uext sext
7o1f2  w   n,n          n      -      -       add sub
o1f2   w   n,n          n      -      -       mul
7      w   n,n          n      MUL    -       umul smul
7o1f2  w   n,n          n      -      -       udiv sdiv
o1f2   w   n,n          n      -      -       urem
7      w   n,n          n      UREM   -       umod
o1f2   w   n,n          n      -      -       srem
7      w   n,n          n      SREM   -       smod
o1f2   w   n,n          n      -      -       smod
7o1f2  w   n,n          n      -      -       and or xor xnor nand nor
7o     w   n,log        n      -      -       sll srl sra rol ror
1f     w   n,n/log      n      -      -       sll srl sra rol ror
2      s   n,n          n      -      -       sll srl sra rol ror
7o1f2  w   n,n          1      -      -       ult ulte ugt ugte slt slte sgt sgte
7o1f2  w   n,n          1      -      -       uaddo saddo usubo ssubo umulo smulo sdivo
7      w   n,n          1      -      -       eq ne
o1f2   w   S,S          1      -      -       eq
o1f    w   S,S          1      -      -       ne
2      s   S,S          1      NE     -       neq
2      s   S,S          1      -      -       ne
o1f2   w   1,1          1      -      -       implies iff
7o1f2  w   m,n          m+n    -      -       concat
71f    w   1,n,n        n      ITE    -       cond
o      w   1,S,S        S      ITE    -       cond
1f     wi  1,I:E,I:E    I:E    ITE    -       acond
2      s   1,S,S        S      -      -       ite
7o1f2  w   I:E,I        E      -      -       read
o      w   I:E,I,E      I:E    -      -       write
1f2    wi  I:E,I,E      I:E    -      -       write
f      wp  n,B          F      -      -       lambda
f      w   F,n*         m      -      -       apply
7o1f   w   n            1      -      -       root
2      -   1            -      -      -       bad constraint fair
2      -   n            -      -      -       output
2      c   1*           -      -      -       justice
2      s   S,S          -      -      -       init
o      w   S,S          -      -      -       next
1      w   n,n          -      -      -       next
1      wi  I:E,I:E      -      NEXT   -       anext
2      s   S,S          -      -      -       next
2      -   ()           -      -      -       sort
"""


def _rows() -> tuple[Operator, ...]:
    rows = []
    for line in _TABLE.strip().splitlines():
        letters, header, operands, result, code, extra, *names = line.split()
        shape = () if operands == "()" else tuple(operands.split(","))
        literal = extra if extra in ("bin", "dec", "hex") else ""
        numbers = tuple(extra.split(",")) if extra in ("u,l", "k") else ()
        for name in names:
            for two, spelled in ((False, letters.replace("2", "")), (True, "2" * ("2" in letters))):
                dialects = frozenset(map(_LETTERS.__getitem__, spelled))
                head = "s" if two and header.startswith("w") else header
                row = (dialects, head, shape, result, numbers, literal, two or extra == "symbol")
                if dialects:
                    meaning = Op[name.upper() if code == "-" else code]
                    rows.append(Operator(name.encode(), meaning, *row))
    return tuple(rows)


OPERATORS = _rows()
"""All rows of the table, in its order."""


@cache
def spellings(dialect: Dialect) -> Mapping[bytes, Operator]:
    """Return what each operator name means in a dialect."""
    return {row.name: row for row in OPERATORS if dialect in row.dialects}


@cache
def spelling(dialect: Dialect, code: int, on_array: bool) -> Operator | None:
    """Return how a dialect writes an operator whose line is of an array sort, or not.

    None if it has no such operator.
    """
    rows = [row for row in OPERATORS if row.code == code and dialect in row.dialects]
    fitting = [row for row in rows if row.on_arrays == on_array]
    if on_array and not fitting:
        fitting = [row for row in rows if "S" in row.operands or row.result in ("S", "E")]
    return fitting[0] if fitting else None


CONSTANTS = frozenset({Op.CONST, Op.CONSTD, Op.CONSTH, Op.ZERO, Op.ONE, Op.ONES})
"""The operators whose value is in the line."""

DECLARATIONS = frozenset(
    {Op.BAD, Op.CONSTRAINT, Op.FAIR, Op.JUSTICE, Op.OUTPUT, Op.INIT, Op.NEXT, Op.SORT}
)
"""What is neither a value nor an operand. (BTOR1's `root` is one: its id may be used.)"""

SYMMETRIC = frozenset(
    {
        Op.ADD, Op.MUL, Op.AND, Op.OR, Op.XOR, Op.XNOR, Op.NAND, Op.NOR,
        Op.UADDO, Op.SADDO, Op.UMULO, Op.SMULO, Op.EQ, Op.NE, Op.IFF,
    }
)  # fmt: skip
"""The operators whose two operands may change places."""


_ARRAY_LINES = re.compile(rb"^[ \t]*([0-9]+)[ \t]+(array|cond)[ \t]+([^;\r\n]*)", re.MULTILINE)


def detect(text: bytes) -> Dialect:
    """Return the dialect of a text, by what only that dialect has; `btor1` where all would do.

    Never fails: the reader refuses lines of no dialect. A `sort` line means BTOR2,
    wherever it stands, as `.btor` files may contain either.
    """
    if _first(text, b"sort") is not None:
        return Dialect.BTOR2
    if any(_first(text, name) is not None for name in (b"lambda", b"apply", b"param")):
        return Dialect.FUN
    if any(_first(text, name) is not None for name in (b"acond", b"anext")):
        return Dialect.BTOR1
    write = _first(text, b"write")
    if write is not None:
        # write W array index value, or with the index width as second.
        return Dialect.OLD if len(write.split()) == 4 else Dialect.BTOR1
    if _conditional_on_arrays(text):
        return Dialect.OLD
    if any(_first(text, name) is not None for name in (b"umul", b"smul", b"umod")):
        return Dialect.BTOR_2007
    # `nego` outlived the change of `write` by a month; without any write it is as old.
    return Dialect.BTOR1 if _first(text, b"nego") is None else Dialect.OLD


def _first(text: bytes, name: bytes) -> bytes | None:
    """Return what follows an operator up to a comment, in the first line that has it."""
    if name not in text:
        return None
    found = re.search(rb"^[ \t]*[0-9]+[ \t]+" + name + rb"[ \t]+([^;\r\n]*)", text, re.MULTILINE)
    return found.group(1) if found is not None else None


def _conditional_on_arrays(text: bytes) -> bool:
    """Return whether a `cond` chooses between arrays (of a file without `write`)."""
    if _first(text, b"array") is None or _first(text, b"cond") is None:
        return False
    arrays: set[bytes] = set()
    for ident, name, rest in _ARRAY_LINES.findall(text):
        words = rest.split()
        if name == b"array":
            arrays.add(ident)
        elif len(words) == 4 and words[2] in arrays:
            return True
    return False
