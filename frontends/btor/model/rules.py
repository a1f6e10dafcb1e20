"""The rules of the formats, each with a name that error messages give, and the sort check.

They are the rules of the parsers of Boolector (2008 to 3.2) and btor2tools, and some that
these parsers do not check.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from reducekit.frontends.btor.model.dag import Array, BitVec, Function, SortTable, line_of
from reducekit.frontends.btor.model.operators import CONSTANTS, Op, Operator

RULES: Mapping[str, str] = {
    # Text.
    "final-newline": "every line ends with a newline, the last one too",
    "carriage-return": "lines end with a newline only, except for Boolector 3",
    "one-space": "one space between two words, and no tabs",
    "line": "a line is an id, an operator, its header, its operands",
    "comment-after-var": "a ';' after a var without symbol is read as its symbol",
    "symbol": "a symbol is one word",
    "end-of-line": "only a comment may follow a complete line",
    # Ids and numbers.
    "id": "an id is a positive number without leading zero",
    "id-defined-once": "an id is defined once",
    "id-order": "ids increase strictly from line to line",
    "defined-before-use": "an operand is the id of a node above",
    "operand-is-node": "sorts and declarations are no operands",
    "sort-id": "the sort is the id of a sort above",
    "width": "a width is a number from 1 to 2147483647, without leading zero",
    "number": "a number is written in decimal digits",
    "operator": "operators are those of the dialect, in lower case",
    # Literals.
    "const": "a binary constant has as many digits as bits",
    "constd": "a decimal constant has no leading zero and fits (a sign in BTOR2 only)",
    "consth": "a hexadecimal constant fits",
    # Sorts.
    "operand-sort": "each operand has the sort that the operator and the line's sort ask for",
    "result-sort": "the line's sort is that of the operator's result",
    "same-sort": "these operands have the same sort",
    "array-operand": "arrays stand where the operator takes arrays, and only there",
    "bit-vector-operand": "bit-vectors stand where the operator takes bit-vectors",
    "complement": "only a bit-vector has a complement",
    "index-width": "the index width of the line is that of the array",
    "array-index": "an index has the index sort of its array",
    "array-element": "a written value has the element sort of its array",
    "reduction": "a reduction has an operand of two bits or more",
    "shift-amount": "a shift amount has log2(n) bits, n being a power of two and at least 2",
    "shift-amount-or-width": (
        "a shift amount has the width of the shifted, or log2(n) bits if n is a power of two"
    ),
    "slice": "slice bounds are upper and lower, width > upper >= lower >= 0",
    "function": "the first operand is a function, the others are its arguments",
    # Scopes and states.
    "parameter": "a lambda binds a param that no other lambda binds",
    "parameter-scope": "a param is only used below its lambda",
    "next": "next gives a variable (BTOR1) or state (BTOR2) its next value, once",
    "init": "init gives a state its first value, once",
    "init-order": "the id of a state is greater than that of its init value",
    "init-inputs": "an init value depends on no input",
    "justice": "justice is a positive count and as many conditions",
}
"""What each rule says. The names are part of the messages."""


class Problem(NamedTuple):
    """A broken rule: its name, what is wrong, and in which operand (from 0; -1 the whole line)."""

    rule: str
    what: str
    operand: int = -1


def describe(table: SortTable, sort: int) -> str:
    """Say a sort in words, nested arrays by their outermost two sorts only."""
    found = table.sorts[sort]
    if isinstance(found, BitVec):
        return f"width {found.width}"

    def short(part: int) -> str:
        return f"{table.width(part)} bits" if table.width(part) else "arrays"

    if isinstance(found, Array):
        return f"an array from {short(found.index)} to {short(found.element)}"
    return f"a function of {len(found.parameters)} to {short(found.result)}"


def check(
    row: Operator, table: SortTable, sort: int, operands: Sequence[int], numbers: Sequence[int] = ()
) -> Problem | None:
    """Check a line against the patterns of its row; return the first broken rule or None.

    `sort` is that of the line (an index into the table, -1 if it has none),
    `operands` those of the operands, each `~sort` where it is complemented.
    The number of operands is the caller's to check.
    """
    # What the letters of the patterns have been bound to so far.
    bound: dict[str, int] = {}
    if row.result in ("n", "S"):
        bound[row.result] = sort
    if row.result == "n" and table.width(sort) == 0:
        return Problem("result-sort", f"the result is a bit-vector, not {describe(table, sort)}")
    parameters: tuple[int, ...] = ()
    for at, signed in enumerate(operands):
        pattern = row.operands[min(at, len(row.operands) - 1)].removesuffix("*")
        actual = line_of(signed)
        found = table.sorts[actual]
        said = f"operand {at + 1} is {describe(table, actual)}"
        if signed < 0 and not isinstance(found, BitVec):
            return Problem("complement", said, at)
        if pattern == "F" and isinstance(found, Function):
            parameters = found.parameters
            bound["E"] = found.result
        elif parameters and row.operands[0] == "F":
            expected = parameters[at - 1] if at <= len(parameters) else -1
            if actual != expected:
                wanted = describe(table, expected) if expected >= 0 else "no operand"
                return Problem("function", f"{said}, expected {wanted}", at)
        else:
            problem = _operand(row, table, pattern, at, actual, bound)
            if problem is not None:
                return problem
            if pattern in ("I:E", "F"):
                parameters = (bound["I"],)
    if row.operands[:1] == ("F",) and len(operands) != len(parameters) + 1:
        return Problem("function", f"{len(operands) - 1} arguments for {len(parameters)}")
    return _result(row, table, sort, bound, numbers)


def _operand(
    row: Operator, table: SortTable, pattern: str, at: int, actual: int, bound: dict[str, int]
) -> Problem | None:
    """Check an operand against its pattern, and bind the letters of that."""
    found, width = table.sorts[actual], table.width(actual)
    said = f"operand {at + 1} is {describe(table, actual)}"
    has = f"operand {at + 1} has width {width}"
    if pattern in ("I:E", "F"):
        # A function of one parameter may be given for an array.
        if isinstance(found, Function) and len(found.parameters) == 1:
            found = Array(found.parameters[0], found.result)
        if not isinstance(found, Array):
            return Problem("array-operand", f"{said}, expected an array", at)
        for letter, part in (("I", found.index), ("E", found.element)):
            if bound.setdefault(letter, part) != part:
                return Problem("same-sort", f"{said}, unlike the array before it", at)
        return None
    if isinstance(found, Function) and pattern in ("B", "S"):
        wrong = Problem("operand-sort", f"{said}, expected no function", at)
        return None if pattern == "B" else wrong
    if pattern not in ("I", "E", "S") and not width:
        return Problem("bit-vector-operand", f"{said}, expected a bit-vector", at)
    if pattern in ("log", "n/log"):
        whole = table.width(bound["n"])
        power = whole >= 2 and whole & (whole - 1) == 0
        if (pattern == "n/log" and width == whole) or (power and width == whole.bit_length() - 1):
            return None
        rule = "shift-amount" if pattern == "log" else "shift-amount-or-width"
        return Problem(rule, f"the amount has width {width} for a shift of width {whole}", at)
    if pattern == "1":
        return None if width == 1 else Problem("operand-sort", f"{has}, expected 1", at)
    if pattern == "n>1" and width == 1:
        return Problem("reduction", f"{has}, expected 2 or more", at)
    letter = pattern[0]
    if bound.setdefault(letter, actual) == actual:
        return None
    rule = "operand-sort" if row.result == letter else "same-sort"
    rule = {"I": "array-index", "E": "array-element"}.get(pattern, rule)
    return Problem(rule, f"{said}, expected {describe(table, bound[letter])}", at)


def _result(
    row: Operator, table: SortTable, sort: int, bound: dict[str, int], numbers: Sequence[int]
) -> Problem | None:
    pattern = row.result
    if pattern in ("-", "n", "S", "F"):
        return None
    if pattern == "I:E":
        if not row.operands or table.sorts[sort] == Array(bound["I"], bound["E"]):
            return None
        return Problem("result-sort", f"the result is not {describe(table, sort)}")
    if pattern == "E" or row.operands[:1] == ("F",):
        if bound["E"] == sort:
            return None
        result, actual = describe(table, bound["E"]), describe(table, sort)
        return Problem("result-sort", f"the result is {result}, not {actual}")
    width = 1 if pattern == "1" else table.width(bound["n"])
    if pattern == "m+n":
        width += table.width(bound["m"])
    elif pattern == "n+k":
        width += numbers[0]
    elif pattern != "1":
        upper, lower = numbers
        if not width > upper >= lower:
            return Problem("slice", f"bounds {upper} and {lower} of width {width}")
        width = upper - lower + 1
    if table.width(sort) == width:
        return None
    return Problem("result-sort", f"the result is width {width}, not {describe(table, sort)}")


class Lines(Protocol):
    """The lines so far; the one that is being added has the next number."""

    two: bool
    ids: array[int]
    op: list[int]
    sort: list[int]
    offset: list[int]
    args: array[int]


# The rules that look further than one line. The words of a problem have `{}` in place of the
# operand, which is named as in the text.


class States:
    """Who has an `init`, who a `next`."""

    def __init__(self) -> None:
        self.given: dict[int, set[int]] = {Op.INIT: set(), Op.NEXT: set()}
        self.inits: list[tuple[int, int]] = []  # line, line of a value that is not a constant

    def add(self, lines: Lines, code: int, operands: Sequence[int]) -> Problem | None:
        """Check an `init` or `next` line; sorts are checked already."""
        name = "init" if code == Op.INIT else "next"
        state, value = operands[0], line_of(operands[1])
        if state < 0 or lines.op[state] != (Op.STATE if lines.two else Op.INPUT):
            what = "{} is not a state" if lines.two else "{} is not a variable"
            return Problem(name, what, 0)
        if state in self.given[code]:
            return Problem(name, "{} has its " + name + " above", 0)
        self.given[code].add(state)
        if code == Op.NEXT:
            return None
        if value > state:
            what = f"init value {{}} needs a smaller id than its state {lines.ids[state]}"
            return Problem("init-order", what, 1)
        if lines.op[value] not in CONSTANTS:
            if lines.sort[value] != lines.sort[state]:
                return Problem("init", "an array starts as an array or a constant", 1)
            self.inits.append((len(lines.op), value))
        return None

    def finish(self, lines: Lines) -> tuple[int, Problem] | None:
        """Check that no init value depends on an input; return the line that breaks that."""
        # Mark the lines that depend on an input, up to the last init value.
        tainted = bytearray(max((value for _, value in self.inits), default=-1) + 1)
        offset, args, op = lines.offset, lines.args, lines.op
        for line in range(len(tainted)):
            if op[line] == Op.INPUT:
                tainted[line] = 1
            elif op[line] != Op.SORT:
                operands = args[offset[line] : offset[line + 1]]
                tainted[line] = any(tainted[line_of(each)] for each in operands)
        for line, value in self.inits:
            if tainted[value]:
                return line, Problem("init-inputs", f"{lines.ids[value]} depends on an input", 1)
        return None


class Scopes:
    """Which params a line depends on, and which have got their lambda."""

    def __init__(self) -> None:
        self.free: dict[int, frozenset[int]] = {}
        self.bound: set[int] = set()

    def add(self, lines: Lines, code: int, operands: Sequence[int]) -> Problem | None:
        """Check that params stay below their lambdas."""
        line, ids = len(lines.op), lines.ids
        free: frozenset[int] = frozenset((line,)) if code == Op.PARAM else frozenset()
        for at, each in enumerate(operands):
            more = self.free.get(line_of(each))
            if not more:
                continue
            gone = more & self.bound
            if gone and not (code == Op.LAMBDA and at == 0):
                what = f"param {ids[min(gone)]} is bound by a lambda above"
                return Problem("parameter-scope", what, at)
            free = free | more if free else more
        if code == Op.LAMBDA:
            bound = operands[0]
            if bound < 0 or lines.op[bound] != Op.PARAM or bound in self.bound:
                return Problem("parameter", "{} is not an unbound param", 0)
            self.bound.add(bound)
            free = free - {bound}
        if code == Op.ROOT and free:
            return Problem("parameter-scope", f"param {ids[min(free)]} has no lambda", 0)
        if free:
            self.free[line] = free
        return None
