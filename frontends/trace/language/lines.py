"""What all trace formats have in common: one call a line, and words parted by blanks.

Each format differs from the others in little, so it is a `Syntax`: plain data
for one reader and one printer.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from io import BytesIO
from itertools import accumulate, islice

from reducekit.errors import ParseError
from reducekit.frontends.trace.language.calls import Call, Interned, LongTrace, Value

_NUMBER = re.compile(r"-?[0-9]+\Z")
# A call with one number, which reads the same in every format: most lines of a long trace.
_USUAL = re.compile(rb"([A-Za-z_][A-Za-z0-9_]{0,40}) (0|-?[1-9][0-9]{0,8})\n")
_WORDS = re.compile(rb'"[^"]*"|[^ \t]+')
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.:-]*\Z")
_SHOWN = 40
# Of different lines, and of words, that are kept while a text is read.
_MOST_KNOWN = 1 << 20
# Bytes of lines that are looked up together.
_CHUNK = 1 << 20
# Calls of a trace beyond which they are not objects: one takes 300 bytes.
_LONG = 1 << 16


@dataclass(frozen=True, slots=True)
class Syntax:
    """How a format writes calls.

    - `name`: of the format.
    - `result_line`: results stand in a `return` line of their own after the
      call; otherwise at the end of the call's line.
    - `arity`: the number of arguments of the calls that have a result on their
      line, by name; what comes after is the result. Other calls have none there.
    - `unwritten`: calls whose result is read, but not written.
    - `comment`: the byte that starts a comment line, empty if there are none.
    - `blank_lines`: whether blank lines are passed over.
    - `prefix`: whether a number (of the line, or a seed) may stand before a call.
    - `quotes`: whether a word in double quotes may hold blanks.
    - `bits`: numbers lie between -(2**bits) and 2**bits, both excluded.
    - `words`: a number beyond that, or not written as a number usually is
      (`007`), is a word like any other; otherwise it is an error or a number.
    - `longest`: the most bytes a line may have; 0 for no limit.
    """

    name: str
    result_line: bool = True
    arity: Mapping[str, int] = field(default_factory=dict)
    unwritten: frozenset[str] = frozenset()
    comment: bytes = b""
    blank_lines: bool = False
    prefix: bool = False
    quotes: bool = False
    bits: int = 31
    words: bool = False
    longest: int = 0


def parse_calls(text: bytes, syntax: Syntax, begin: int = 0) -> tuple[Sequence[Call], bytes]:
    """Read the calls of a text from one line on, and what stands after the last one.

    Raises ParseError at the first line that cannot be a call of any model: binary bytes, no name, a
    number too large, a line too long, a blank line where the format has none. Whether a model knows
    the call is `reducekit.frontends.trace.model.check`'s business.
    """
    reader = _Reader(text, syntax)
    reader.run(begin)
    ends = reader.ends
    table = LongTrace(text, Interned(reader.kinds, reader.distinct), begin, ends, reader.lines)
    calls = table if len(ends) > _LONG else tuple(table)
    return calls, text[ends[-1] if ends else begin :]


class _Reader:
    """Reads a text line by line. A line that was seen before is not read again."""

    def __init__(self, text: bytes, syntax: Syntax) -> None:
        self.text = text
        self.syntax = syntax
        size = "i" if len(text) < 1 << 31 else "q"
        self.kinds, self.lines = array("i"), array("i")
        self.ends: array[int] = array(size)
        self.distinct: list[Call] = []
        """The calls that differ, by their kind."""
        self._kinds: dict[tuple[str, tuple[Value, ...], Value | None], int] = {}
        self._words: dict[bytes, Value] = {}
        self._split = _WORDS.findall if syntax.quotes else bytes.split
        self._results = {b"return", *map(str.encode, syntax.arity)}
        """The names of the lines that have or are results."""

    def run(self, begin: int) -> None:
        """Read all lines that begin there or later."""
        text, kinds, ends, numbers = self.text, self.kinds, self.ends, self.lines
        known: dict[bytes, int] = {}  # the kinds of lines that are calls by themselves
        pending = False  # blank lines and comments come before the next call
        stream, offset = BytesIO(text), begin
        stream.seek(begin)
        number = text.count(b"\n", 0, begin) + 1
        while some := stream.readlines(_CHUNK):
            at, rest = 0, iter(some)
            while at < len(some):
                first = len(kinds)
                with suppress(KeyError):
                    # In one go up to the first line that is not known, which is taken too.
                    kinds.extend(map(known.__getitem__, rest))
                if count := len(kinds) - first:
                    lengths = map(len, some[at : at + count])
                    ends.extend(islice(accumulate(lengths, initial=offset), 1, None))
                    numbers.extend(range(number, number + count))
                    at, number, offset, pending = at + count, number + count, ends[-1], False
                    if at == len(some):
                        break
                raw = some[at]
                found = self._read(raw, number, offset)
                at, number, offset = at + 1, number + 1, offset + len(raw)
                if found is None:
                    pending = True
                    continue
                name, arguments, result = found
                if name == "return" and self.syntax.result_line:
                    before = self.distinct[kinds[-1]] if kinds and not pending else None
                    if before is not None and before.result is None and before.name != "return":
                        result = (
                            arguments[0] if len(arguments) == 1 else " ".join(map(str, arguments))
                        )
                        kinds[-1] = self._kind(before.name, before.arguments, result)
                        ends[-1] = offset
                        continue
                    kind = self._kind(name, arguments, None)
                else:
                    kind = self._kind(name, arguments, result)
                    if len(known) < _MOST_KNOWN and not (self.syntax.prefix and raw[:1].isdigit()):
                        known[raw] = kind
                kinds.append(kind)
                ends.append(offset)
                numbers.append(number - 1)
                pending = False

    def _kind(self, name: str, arguments: tuple[Value, ...], result: Value | None) -> int:
        key = name, arguments, result
        kind = self._kinds.get(key)
        if kind is None:
            kind = self._kinds[key] = len(self.distinct)
            self.distinct.append(Call(name, arguments, result=result))
        return kind

    def _read(
        self, raw: bytes, number: int, offset: int
    ) -> tuple[str, tuple[Value, ...], Value | None] | None:
        """Return the name, arguments and result of a line; None if it holds no call."""
        syntax = self.syntax
        usual = _USUAL.fullmatch(raw)
        if usual is not None and usual[1] not in self._results:
            return usual[1].decode("ascii"), (int(usual[2]),), None
        bare = raw.removesuffix(b"\n")
        words = self._split(bare)
        if not words or (syntax.comment and words[0].startswith(syntax.comment)):
            if not words and not syntax.blank_lines:
                raise ParseError("expected a call, found a blank line", self.text, offset)
            return None
        if syntax.longest and len(bare.rstrip(b"\r")) > syntax.longest:
            what = f"expected a line of at most {syntax.longest} bytes, this one has {len(bare)}"
            raise ParseError(what, self.text, offset)
        whole, shown = raw.endswith(b"\n"), words[0]
        try:
            first = _value(words[0], syntax)
            if syntax.prefix and len(words) > 1 and isinstance(first, int):
                del words[0]
                first = _value(words[0], syntax)
            rest = [self._value(word) for word in words[1:]]
        except ValueError as error:
            raise ParseError(_ending(str(error), whole), self.text, offset) from None
        if not isinstance(first, str) or not _NAME.match(first):
            what = f"expected the name of a call, found {_shown(shown)}"
            raise ParseError(_ending(what, whole), self.text, offset)
        if first == "return" and syntax.result_line and not rest:
            what = "expected a value after 'return'"
            raise ParseError(_ending(what, whole), self.text, offset)
        arity = syntax.arity.get(first)
        result = rest.pop() if arity is not None and len(rest) == arity + 1 else None
        return first, tuple(rest), result

    def _value(self, word: bytes) -> Value:
        found = self._words.get(word)
        if found is None:
            found = _value(word, self.syntax)
            if len(self._words) < _MOST_KNOWN:
                self._words[word] = found
        return found


def _value(word: bytes, syntax: Syntax) -> Value:
    """Return the value of a word. Raises ValueError with what was expected."""
    try:
        text = word.decode("ascii")
    except UnicodeDecodeError:
        text = ""
    if not text.isprintable() or not text:
        raise ValueError(f"expected the text of a trace, found binary data ({_shown(word)})")
    value: Value = text
    if _NUMBER.match(text):
        fits = len(text) < 20 and abs(int(text)) < 1 << syntax.bits
        if fits and (not syntax.words or str(int(text)) == text):
            value = int(text)
        elif not syntax.words:
            raise ValueError(
                f"expected a number between -2^{syntax.bits} and 2^{syntax.bits}, "
                f"both excluded, found {_shown(word)}"
            )
    return value


def _shown(word: bytes) -> str:
    shown = ascii(word[:_SHOWN].decode("latin-1"))
    return shown + "..." if len(word) > _SHOWN else shown


def _ending(message: str, whole: bool) -> str:
    """Add that the file ends within the line, if it does: it may have been cut off there."""
    return message if whole else message + "; the file ends within this line"
