"""Reads BTOR of all dialects into a Dag, and refuses what breaks a rule.

One loop over the lines: lines of the common shape (id, operator, header, operands)
are done in it, all others by `_Reader.line`. Whether sorts fit depends on nothing
but a line's operator and sorts, so each combination is checked once (`passed`):
that makes the table of operators fast enough to be the only checker.
"""

from __future__ import annotations

import re
from array import array
from codecs import BOM_UTF8
from collections.abc import Sequence
from functools import partial

from reducekit.errors import ParseError
from reducekit.frontends.btor.model.dag import (
    BitVec,
    Dag,
    Function,
    SortTable,
    line_of,
    literal_problem,
)
from reducekit.frontends.btor.model.operators import (
    DECLARATIONS,
    OPERATORS,
    Dialect,
    Op,
    Operator,
    detect,
    spellings,
)
from reducekit.frontends.btor.model.rules import RULES, Scopes, States, check
from reducekit.text import shortened

_WORD = re.compile(rb"\S+")
_NUMBER = re.compile(rb"0|[1-9][0-9]*")
_LARGEST_WIDTH = 2**31 - 1
_LARGEST_ID = 2**40  # BTOR2_FORMAT_MAXID of btor2tools; BTOR1's parsers have 31 bits
_SEMICOLON, _MINUS, _ZERO = b";-0"
_shown = partial(shortened, most=40)
"""Returns a word for a message."""


class _Row:
    """A row of the table as the loop needs it.

    `words` is the number of words of such a line where it is of the common shape, 0 elsewhere;
    its operands start with word `first`.
    """

    __slots__ = ("code", "first", "index", "operator", "words")

    def __init__(self, operator: Operator) -> None:
        self.operator = operator
        self.index = OPERATORS.index(operator)
        self.code = int(operator.code)
        common = (
            operator.header in ("w", "wi", "s")
            and not operator.numbers
            and not operator.literal
            and operator.code not in (Op.ROOT, Op.NEXT, Op.INIT)
            and not (operator.header == "w" and operator.result in ("I:E", "S"))
        )
        self.first = 4 if operator.header == "wi" else 3
        self.words = self.first + len(operator.operands) if common else 0


def read(text: bytes, dialect: Dialect | None = None, *, any_ending: bool = False) -> Dag:
    """Read a file; without a dialect that is detected.

    With `any_ending` lines may end as on Windows, and the file may begin with a byte order mark,
    though no dialect but Boolector 3's allows that: a program may read such a file all the same.
    Raises ParseError with the line, the node and the rule (`rules.RULES`) that is broken. Linear in
    the text, but for the scopes of `param`.
    """
    begin = len(BOM_UTF8) if any_ending and text.startswith(BOM_UTF8) else 0
    reader = _Reader(text, detect(text[begin:]) if dialect is None else dialect)
    reader.begin, reader.any_ending = begin, any_ending
    reader.run()
    return reader.dag()


class _Reader:
    """The arrays of a Dag as they grow, and what names mean so far."""

    def __init__(self, text: bytes, dialect: Dialect) -> None:
        self.text = text
        self.begin = 0
        self.any_ending = False
        self.dialect = dialect
        self.two = dialect is Dialect.BTOR2
        self.rows = {name: _Row(row) for name, row in spellings(dialect).items()}
        self.table = SortTable()
        self.ids, self.args = array("q"), array("i")
        # Lists while they are read much or grow fast; arrays in the end.
        self.op: list[int] = []
        self.sort: list[int] = []
        self.offset: list[int] = [0]
        self.sort_line: list[int] = []
        self.start, self.end = array("i"), array("i")
        self.numbers: dict[int, tuple[int, ...]] = {}
        self.literals: dict[int, bytes] = {}
        self.symbols: dict[int, bytes] = {}
        self.references: dict[bytes, int] = {}  # words to references; complements when first used
        self.others: dict[bytes, int] = {}  # ids of what cannot be an operand
        self.widths: dict[bytes, int] = {}  # BTOR1: words to sorts; BTOR2: sort ids to sorts
        self.pairs: dict[tuple[bytes, bytes], int] = {}  # BTOR1: both words of a header to sorts
        self.passed: set[tuple[int, ...]] = set()
        self.last = 0
        # Of the line that is being read, for messages.
        self.at = 0
        self.line_text = b""
        self.states = States()
        self.scopes = Scopes()

    def dag(self) -> Dag:
        lines = array("i", self.sort_line) if self.two else array("i", [-1]) * len(self.op)
        return Dag(
            self.dialect, tuple(self.table.sorts), self.ids, array("i", self.op),
            array("i", self.sort), array("i", self.offset), self.args, lines, self.numbers,
            self.literals, self.symbols, self.text, self.start, self.end,
        )  # fmt: skip

    def run(self) -> None:
        """Read all lines."""
        two, rows, references = self.two, self.rows, self.references
        sorts, args, passed = self.sort, self.args, self.passed
        widths, pairs, others, general = self.widths, self.pairs, self.others, self.line
        add_id, add_op, add_sort = self.ids.append, self.op.append, self.sort.append
        add_sort_line, add_offset = self.sort_line.append, self.offset.append
        add_start, add_end, push = self.start.append, self.end.append, args.append
        # Fast path: lines of the usual shape, none of them with a blank, comment or id that would
        # have to be looked at. All else goes to `line`.
        common = self.dialect is not Dialect.FUN and b"\r" not in self.text
        comments = b";" in self.text
        lines = (self.text[self.begin :] if self.begin else self.text).split(b"\n")
        rest = lines.pop()
        at, last = self.begin, 0
        for line in lines:
            words = line.split()
            row = rows.get(words[1]) if len(words) > 2 and common else None
            if (
                row is None
                or row.words != len(words)
                or (
                    sort := widths.get(words[2])
                    if row.first == 3
                    else pairs.get((words[2], words[3]))
                )
                is None
                or line.count(b" ") != row.words - 1
                or (comments and b";" in line)
                or not words[0].isdigit()
                or len(words[0]) > 12
                or words[0][0] == _ZERO
                or (
                    ((ident := int(words[0])) <= last)
                    and (two or words[0] in references or words[0] in others)
                )
            ):
                if words:
                    self.at, self.line_text, self.last = at, line, last
                    general(words)
                    last = self.last
                at += len(line) + 1
                continue
            shape = [row.index, sort]
            for word in words[row.first :]:
                each = references.get(word)
                if each is None:
                    if word[0] == _MINUS and (each := references.get(word[1:])) is not None:
                        references[word] = each = ~each
                    else:
                        self.at, self.line_text = at, line
                        each = self.reference(words, word)
                push(each)
                shape.append(sorts[each] if each >= 0 else ~sorts[~each])
            if (key := tuple(shape)) not in passed:
                self.at, self.line_text = at, line
                self.check(row.operator, words, sort, shape[2:], ())
                passed.add(key)
            references[words[0]] = len(sorts)
            if ident > last:
                last = ident
            add_id(ident)
            add_op(row.code)
            add_sort(sort)
            if two:
                add_sort_line(others[words[2]])
            add_offset(len(args))
            add_start(at)
            at += len(line)
            add_end(at)
            at += 1
        self.at, self.line_text, self.last = at, rest, last
        words = rest.split()
        if words and (two or words[0][0] != _SEMICOLON):
            raise self.error("final-newline", "the last line has no newline", 0)
        late = self.states.finish(self)
        if late is not None:
            line_number, problem = late
            self.at = self.start[line_number]
            self.line_text = self.text[self.at : self.end[line_number]]
            raise self.error(problem.rule, problem.what, 3 + problem.operand)

    def line(self, words: list[bytes]) -> None:
        """Read the current line of any shape, which has words."""
        line = self.line_text
        if words[0][0] == _SEMICOLON:
            return
        first = line.index(words[0])
        words, end = self.content(words)
        row = self.header(words)
        code = row.code
        if code == Op.SORT:
            self.sort_declaration(words, first, end)
            return
        sort, at = self.sort_of(row, words)
        count = len(row.operator.operands)
        if row.operator.operands[-1:] and row.operator.operands[-1].endswith("*"):
            count = self.count(row, words, at)
        need = at + count + len(row.operator.numbers) + bool(row.operator.literal)
        if len(words) < need:
            raise self.error("line", f"expected {need - len(words)} more words", len(words) - 1)
        symbol = row.operator.symbol and len(words) > need
        if len(words) > need + symbol:
            rule = "symbol" if row.operator.symbol else "end-of-line"
            raise self.error(rule, "unexpected words", need + symbol)
        line_number = len(self.op)
        first_operand = at
        operands = [self.reference(words, word) for word in words[at : at + count]]
        at += count
        numbers = tuple(
            self.number(words, at + n, "number", "a number")
            for n in range(len(row.operator.numbers))
        )
        sort = self.resolve(row, sort, operands)
        shape = [self.sort[each] if each >= 0 else ~self.sort[~each] for each in operands]
        key = (row.index, sort, *shape, *numbers)
        if key not in self.passed:
            self.check(row.operator, words, sort, shape, numbers)
            self.passed.add(key)
        if row.operator.literal:
            width = self.table.width(sort)
            wrong = literal_problem(row.operator.literal, words[at], width, self.two)
            if wrong:
                raise self.error(row.operator.name.decode(), wrong, at)
            self.literals[line_number] = words[at]
        # The rules that look further than one line.
        problem = None
        if code in (Op.INIT, Op.NEXT):
            problem = self.states.add(self, code, operands)
        elif self.dialect is Dialect.FUN:
            problem = self.scopes.add(self, code, operands)
        if problem is not None:
            what = problem.what.replace("{}", _shown(words[first_operand + problem.operand]), 1)
            raise self.error(problem.rule, what, first_operand + problem.operand)
        if numbers:
            self.numbers[line_number] = numbers
        if symbol:
            self.symbols[line_number] = words[-1]
        named = self.others[words[2]] if row.operator.header == "s" else -1
        self.add(words[0], code, sort, operands, named, self.at + first, self.at + end)

    def content(self, words: list[bytes]) -> tuple[list[bytes], int]:
        """Return the words without a comment, and where they end in the line."""
        line = self.line_text
        if b";" in line:
            line, words = self.without_comment(line, words)
        windows = self.any_ending or self.dialect in (Dialect.BTOR1, Dialect.FUN)
        if line.endswith(b"\r") and not windows:
            raise self.error("carriage-return", "a carriage return", len(words) - 1)
        if self.two and line.strip() != b" ".join(words):
            raise self.error("one-space", "more than one blank, or a blank that is not a space", 0)
        return words, len(line.rstrip())

    def without_comment(self, line: bytes, words: list[bytes]) -> tuple[bytes, list[bytes]]:
        """Return a line with a semicolon, and its words, up to where its comment begins."""
        row = self.rows.get(words[1]) if len(words) > 1 else None
        first = 0
        if not self.two:
            if row is None or not row.operator.symbol:
                line = line.partition(b";")[0]
                return line, line.split()
            # In a line that may have a symbol, that is the next word, whatever it is.
            free = 4 if row.operator.header == "wi" else 3
            if len(words) > free + 1 and words[free][0] == _SEMICOLON:
                raise self.error("comment-after-var", "a comment cannot stand here", free)
            first = free + 1
        for number in range(first, len(words)):
            if words[number][0] == _SEMICOLON:
                begin = [each.start() for each in _WORD.finditer(line)][number]
                return line[:begin], words[:number]
        return line, words

    def header(self, words: list[bytes]) -> _Row:
        """Check the id and the operator of a line."""
        word = words[0]
        if not _NUMBER.fullmatch(word) or word == b"0":
            raise self.error("id", f"{_shown(word)} is not an id", 0)
        if len(word) > 13 or int(word) >= _LARGEST_ID:
            raise self.error("id", f"{_shown(word)} is too large", 0)
        if self.two and int(word) <= self.last:
            raise self.error("id-order", f"{int(word)} follows {self.last}", 0)
        if word in self.references or word in self.others:
            raise self.error("id-defined-once", f"{_shown(word)} is defined above", 0)
        if len(words) < 2:
            raise self.error("line", "expected an operator", 0)
        row = self.rows.get(words[1])
        if row is not None:
            return row
        # Say where an operator that this dialect lacks might be from.
        name = words[1]
        said = f"there is no operator {_shown(name)} in {self.dialect.value}"
        there = sorted({each for row in OPERATORS if row.name == name for each in row.dialects})
        if there:
            said += f", only in {', '.join(there)}"
        elif name.lower() in self.rows:
            said += f", only {_shown(name.lower())}"
        raise self.error("operator", said, 1)

    def sort_of(self, row: _Row, words: list[bytes]) -> tuple[int, int]:
        """Return the sort that the header names (-1 for none), and the number of words so far."""
        kind = row.operator.header
        if kind in "-c":
            return -1, 2 if kind == "-" else 3
        if len(words) < 3:
            raise self.error("line", "the line ends before its sort", 1)
        if kind == "s":
            sort = self.widths.get(words[2])
            if sort is None:
                raise self.error("sort-id", f"{_shown(words[2])} is not the id of a sort above", 2)
            return sort, 3
        sort = self.width(words, 2)
        if kind == "w":
            return sort, 3
        if len(words) < 4:
            raise self.error("line", "the line ends before its second width", 2)
        index = self.width(words, 3)
        if kind == "wi":
            pair = self.pairs[words[2], words[3]] = self.table.array(index, sort)
            return pair, 4
        return self.table.add(Function((index,), sort)), 4

    def width(self, words: Sequence[bytes], at: int) -> int:
        """Return the bit-vector sort of a width."""
        sort = self.widths.get(words[at])
        if sort is None:
            sort = self.table.bitvec(self.width_value(words, at))
            self.widths[words[at]] = sort
        return sort

    def width_value(self, words: Sequence[bytes], at: int) -> int:
        width = self.number(words, at, "width", "a width")
        if not 0 < width <= _LARGEST_WIDTH:
            raise self.error("width", f"{_shown(words[at])} is not a width", at)
        return width

    def number(self, words: Sequence[bytes], at: int, rule: str, what: str) -> int:
        """Return a width, a slice bound or an amount of extension."""
        word = words[at]
        if not _NUMBER.fullmatch(word) or len(word) > 10:
            raise self.error(rule, f"{_shown(word)} is not {what}", at)
        return int(word)

    def count(self, row: _Row, words: list[bytes], at: int) -> int:
        """Return the number of operands where it varies; the first one is word `at`."""
        if row.code != Op.JUSTICE:
            return max(len(words) - at, 2)
        if len(words) < 3 or not _NUMBER.fullmatch(words[2]) or len(words[2]) > 10:
            raise self.error("justice", "expected a count", min(2, len(words) - 1))
        count = int(words[2])
        if count == 0 or len(words) < at + count:
            raise self.error("justice", f"expected {count} conditions", 2)
        return count

    def reference(self, words: list[bytes], word: bytes) -> int:
        """Return what an operand refers to."""
        found = self.references.get(word)
        if found is not None:
            return found
        name = word[1:] if word[0] == _MINUS else word
        found = self.references.get(name)
        at = words.index(word, 2)
        if found is None:
            if name in self.others:
                raise self.error("operand-is-node", f"{_shown(word)} is not a node", at)
            if not _NUMBER.fullmatch(name) or name == b"0":
                raise self.error("id", f"{_shown(word)} is not an operand", at)
            raise self.error("defined-before-use", f"{_shown(word)} is not defined above", at)
        self.references[word] = ~found
        return ~found

    def resolve(self, row: _Row, sort: int, operands: list[int]) -> int:
        """Return the sort of the line where it is not the one that the header names."""
        sorts, spelled = self.table.sorts, row.operator
        if row.code == Op.ROOT:
            # The header has the width of the operand.
            actual = self.sort[line_of(operands[0])]
            if actual != sort and self.table.width(actual):
                what = f"operand 1 has width {self.table.width(actual)}"
                raise self.error("operand-sort", f"{what}, not {self.table.width(sort)}", 3)
            return self.table.bitvec(1)
        if row.code == Op.LAMBDA:
            # A lambda on a lambda is a function of the parameters of both.
            body = self.sort[line_of(operands[1])]
            function, found = sorts[sort], sorts[body]
            assert isinstance(function, Function)
            inner = found.result if isinstance(found, Function) else body
            if inner != function.result:
                raise self.error("result-sort", "the body has another width", 5)
            more = found.parameters if isinstance(found, Function) else ()
            return self.table.add(Function((*function.parameters, *more), inner))
        array_like = [at for at, each in enumerate(spelled.operands) if each in ("I:E", "S")]
        if spelled.header == "w" and array_like and spelled.result in ("I:E", "S", "-"):
            # Dialects without index width: the sort is that of the array.
            actual = self.sort[line_of(operands[array_like[0]])]
            if not isinstance(sorts[actual], BitVec):
                if getattr(sorts[actual], "element", -1) != sort:
                    raise self.error("result-sort", "the elements have another width", 2)
                return actual
        return sort

    def check(
        self, row: Operator, words: list[bytes], sort: int, operands: Sequence[int],
        numbers: Sequence[int],
    ) -> None:  # fmt: skip
        """Raise the error of an ill-sorted line."""
        # An array may start as one constant everywhere.
        element = getattr(self.table.sorts[sort], "element", -1) if row.code == Op.INIT else -1
        if element >= 0 and line_of(operands[1]) == element:
            operands = (operands[0], sort)
        if (problem := check(row, self.table, sort, operands, numbers)) is not None:
            first = {"-": 2, "c": 3, "w": 3, "s": 3}.get(row.header, 4)
            at = first + problem.operand if problem.operand >= 0 else min(2, len(words) - 1)
            wide = problem.rule == "result-sort" and row.header == "wi"
            raise self.error("index-width" if wide else problem.rule, problem.what, at)

    # Declarations.

    def sort_declaration(self, words: list[bytes], first: int, end: int) -> None:
        """Read a `sort` line of BTOR2."""
        if len(words) < 4 or words[2] not in (b"bitvec", b"array"):
            what = "expected sort bitvec WIDTH or sort array ID ID"
            raise self.error("line", what, len(words) - 1)
        operands = []
        size = 4
        if words[2] == b"bitvec":
            sort = self.table.bitvec(self.width_value(words, 3))
        else:
            size = 5
            if len(words) < 5:
                raise self.error("line", "the element sort is missing", 3)
            for at in (3, 4):
                if words[at] not in self.widths:
                    what = f"{_shown(words[at])} is not the id of a sort above"
                    raise self.error("sort-id", what, at)
                operands.append(self.others[words[at]])
            sort = self.table.array(self.widths[words[3]], self.widths[words[4]])
        if len(words) > size + 1:
            raise self.error("symbol", "unexpected words", size + 1)
        if len(words) > size:
            self.symbols[len(self.op)] = words[-1]
        self.widths[words[0]] = sort
        self.add(words[0], Op.SORT, sort, operands, -1, self.at + first, self.at + end)

    # Results.

    def add(
        self, word: bytes, code: int, sort: int, operands: Sequence[int], named: int, start: int,
        end: int,
    ) -> None:  # fmt: skip
        (self.others if code in DECLARATIONS else self.references)[word] = len(self.op)
        ident = int(word)
        self.last = max(self.last, ident)
        self.ids.append(ident)
        self.op.append(code)
        self.sort.append(sort)
        self.args.extend(operands)
        if self.two:
            self.sort_line.append(named)
        self.offset.append(len(self.args))
        self.start.append(start)
        self.end.append(end)

    def error(self, rule: str, what: str, word: int) -> ParseError:
        """Return the error of the current line; `word` is the index of the word it is about."""
        places = list(_WORD.finditer(self.line_text))
        node = ""
        if len(places) > 1 and word > 0:
            node = f"node {_shown(places[0].group())} ({_shown(places[1].group())}): "
        elif places and rule not in ("id", "line"):
            node = f"node {_shown(places[0].group())}: "
        at = self.at + (places[min(word, len(places) - 1)].start() if places else 0)
        return ParseError(f"{node}{what}; rule {rule}: {RULES[rule]}", self.text, at)
