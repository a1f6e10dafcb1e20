"""The operators of all BTOR dialects, as one table.

From: R. Brummayer, A. Biere, F. Lonsing, "BTOR: Bit-Precise Modelling of
Word-Level Problems for Model Checking" (BPR 2008); A. Niemetz, M. Preiner,
C. Wolf, A. Biere, "Btor2, BtorMC and Boolector 3.0" (CAV 2018), table 1;
A. Vida's thesis (Linz 2008), tables 2.1 to 2.3, with its slips mended: `uext`
and `sext` take the number of added bits, `nego` has one operand, `concat` two;
and the parsers of Boolector of 2007 to 2020, where papers and parsers differ
(so `smod` of August 2007 is what was `srem` from September on).

An operator code (`Op`) is what a node means, whatever a dialect calls it: `ITE`
is `cond`, `acond` and `ite`; `INPUT` is `var`, `array` and `input`. A row of the
table (`Operator`) is one spelling in some dialects, with its shape there.

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

# name, code (- the same), dialects, header, operands, result, extras.
# The header of BTOR2 is `s` where the column says w, wi.
_TABLE = """
var        INPUT       7o1f   w   ()               n      symbol
array      INPUT       7o     wi  ()               I:E
array      INPUT       1f     wi  ()               I:E    symbol
input      INPUT       2      s   ()               S
state      STATE       2      s   ()               S
param      PARAM       f      w   ()               n      symbol
const      CONST       7o1f2  w   ()               n      bin
constd     CONSTD      7o1f2  w   ()               n      dec
consth     CONSTH      7o1f2  w   ()               n      hex
zero       ZERO        o1f2   w   ()               n
one        ONE         o1f2   w   ()               n
ones       ONES        o1f2   w   ()               n
not        NOT         7o1f2  w   n                n
neg        NEG         7o1f2  w   n                n
inc        INC         o1f2   w   n                n
dec        DEC         o1f2   w   n                n
proxy      PROXY       o1f    w   n                n
redor      REDOR       7o1f   w   n>1              1
redand     REDAND      7o1f   w   n>1              1
redxor     REDXOR      7o1f   w   n>1              1
redor      REDOR       2      s   n                1
redand     REDAND      2      s   n                1
redxor     REDXOR      2      s   n                1
nego       NEGO        7      w   n>1              1
nego       NEGO        o      w   n                1
slice      SLICE       7o1f2  w   n                u-l+1  u,l
uext       UEXT        7o1f2  w   n                n+k    k
sext       SEXT        7o1f2  w   n                n+k    k
add        ADD         7o1f2  w   n,n              n
sub        SUB         7o1f2  w   n,n              n
mul        MUL         o1f2   w   n,n              n
umul       MUL         7      w   n,n              n
smul       MUL         7      w   n,n              n
udiv       UDIV        7o1f2  w   n,n              n
sdiv       SDIV        7o1f2  w   n,n              n
urem       UREM        o1f2   w   n,n              n
umod       UREM        7      w   n,n              n
srem       SREM        o1f2   w   n,n              n
smod       SREM        7      w   n,n              n
smod       SMOD        o1f2   w   n,n              n
and        AND         7o1f2  w   n,n              n
or         OR          7o1f2  w   n,n              n
xor        XOR         7o1f2  w   n,n              n
xnor       XNOR        7o1f2  w   n,n              n
nand       NAND        7o1f2  w   n,n              n
nor        NOR         7o1f2  w   n,n              n
sll        SLL         7o     w   n,log            n
srl        SRL         7o     w   n,log            n
sra        SRA         7o     w   n,log            n
rol        ROL         7o     w   n,log            n
ror        ROR         7o     w   n,log            n
sll        SLL         1f     w   n,n/log          n
srl        SRL         1f     w   n,n/log          n
sra        SRA         1f     w   n,n/log          n
rol        ROL         1f     w   n,n/log          n
ror        ROR         1f     w   n,n/log          n
sll        SLL         2      s   n,n              n
srl        SRL         2      s   n,n              n
sra        SRA         2      s   n,n              n
rol        ROL         2      s   n,n              n
ror        ROR         2      s   n,n              n
ult        ULT         7o1f2  w   n,n              1
ulte       ULTE        7o1f2  w   n,n              1
ugt        UGT         7o1f2  w   n,n              1
ugte       UGTE        7o1f2  w   n,n              1
slt        SLT         7o1f2  w   n,n              1
slte       SLTE        7o1f2  w   n,n              1
sgt        SGT         7o1f2  w   n,n              1
sgte       SGTE        7o1f2  w   n,n              1
uaddo      UADDO       7o1f2  w   n,n              1
saddo      SADDO       7o1f2  w   n,n              1
usubo      USUBO       7o1f2  w   n,n              1
ssubo      SSUBO       7o1f2  w   n,n              1
umulo      UMULO       7o1f2  w   n,n              1
smulo      SMULO       7o1f2  w   n,n              1
sdivo      SDIVO       7o1f2  w   n,n              1
eq         EQ          7      w   n,n              1
ne         NE          7      w   n,n              1
eq         EQ          o1f2   w   S,S              1
ne         NE          o1f    w   S,S              1
neq        NE          2      s   S,S              1
ne         NE          2      s   S,S              1
implies    IMPLIES     o1f2   w   1,1              1
iff        IFF         o1f2   w   1,1              1
concat     CONCAT      7o1f2  w   m,n              m+n
cond       ITE         71f    w   1,n,n            n
cond       ITE         o      w   1,S,S            S
acond      ITE         1f     wi  1,I:E,I:E        I:E
ite        ITE         2      s   1,S,S            S
read       READ        7o1f2  w   I:E,I            E
write      WRITE       o      w   I:E,I,E          I:E
write      WRITE       1f2    wi  I:E,I,E          I:E
lambda     LAMBDA      f      wp  n,B              F
apply      APPLY       f      w   F,n*             m
root       ROOT        7o1f   w   n                1
bad        BAD         2      -   1                -
constraint CONSTRAINT  2      -   1                -
fair       FAIR        2      -   1                -
output     OUTPUT      2      -   n                -
justice    JUSTICE     2      c   1*               -
init       INIT        2      s   S,S              -
next       NEXT        o      w   S,S              -
next       NEXT        1      w   n,n              -
anext      NEXT        1      wi  I:E,I:E          -
next       NEXT        2      s   S,S              -
sort       SORT        2      -   ()               -
"""


def _rows() -> tuple[Operator, ...]:
    rows = []
    for line in _TABLE.strip().splitlines():
        name, code, letters, header, operands, result, *extras = line.split()
        extra = extras[0] if extras else ""
        shape = () if operands == "()" else tuple(operands.split(","))
        literal = extra if extra in ("bin", "dec", "hex") else ""
        numbers = tuple(extra.split(",")) if extra in ("u,l", "k") else ()
        for two, spelled in ((False, letters.replace("2", "")), (True, "2" * ("2" in letters))):
            dialects = frozenset(map(_LETTERS.__getitem__, spelled))
            head = "s" if two and header.startswith("w") else header
            row = (dialects, head, shape, result, numbers, literal, two or extra == "symbol")
            if dialects:
                rows.append(Operator(name.encode(), Op[code], *row))
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
