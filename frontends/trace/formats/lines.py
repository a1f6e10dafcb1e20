"""What all trace formats have in common: one call a line, and words parted by blanks.

Each format differs from the others in little, so it is a `Syntax`: plain data
that one reader and one printer go by.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from reducekit.errors import ParseError
from reducekit.frontends.trace.calls import Call, Value

_NUMBER = re.compile(r"-?[0-9]+\Z")
_WORDS = re.compile(rb'"[^"]*"|[^ \t]+')
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.:-]*\Z")
_SHOWN = 40


@dataclass(frozen=True, slots=True)
class Syntax:
    """How a format writes calls.

    - `name`: of the format.
    - `result_line`: results stand in a `return` line of their own after the
      call; otherwise at the end of the call's line.
    - `arity`: the number of arguments of the calls that have a result on their
      line, by name; what comes after is the result. Other calls have none there.
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
    comment: bytes = b""
    blank_lines: bool = False
    prefix: bool = False
    quotes: bool = False
    bits: int = 31
    words: bool = False
    longest: int = 0


def parse_calls(text: bytes, syntax: Syntax) -> tuple[tuple[Call, ...], bytes]:
    """Read the calls of a text, and what stands after the last one.

    Raises ParseError at the first line that cannot be a call of any model:
    binary bytes, no name, a number too large, a line too long, a blank line
    where the format has none. Whether a model knows the call is
    `reducekit.frontends.trace.model.check`'s business.
    """
    calls: list[Call] = []
    pending = b""  # blank lines and comments before the next call
    offset = 0
    lines = text.split(b"\n")
    last = len(lines) - 1
    values: dict[bytes, Value] = {}
    result: Value | None
    split = _WORDS.findall if syntax.quotes else bytes.split
    for number, bare in enumerate(lines, 1):
        raw = bare + b"\n" if number <= last else bare
        if not raw:
            break
        words = split(bare)
        if not words or (syntax.comment and words[0].startswith(syntax.comment)):
            if not words and not syntax.blank_lines:
                raise ParseError("expected a call, found a blank line", text, offset)
            pending += raw
            offset += len(raw)
            continue
        if syntax.longest and len(bare.rstrip(b"\r")) > syntax.longest:
            what = f"expected a line of at most {syntax.longest} bytes, this one has {len(bare)}"
            raise ParseError(what, text, offset)
        try:
            found = [
                values[word] if word in values else _value(word, syntax, values) for word in words
            ]
        except ValueError as error:
            raise ParseError(_ending(str(error), number, last), text, offset) from None
        if syntax.prefix and len(found) > 1 and isinstance(found[0], int):
            del found[0]
        name = found[0]
        if not isinstance(name, str) or not _NAME.match(name):
            what = f"expected the name of a call, found {_shown(words[0])}"
            raise ParseError(_ending(what, number, last), text, offset)
        if name == "return" and syntax.result_line:
            before = calls[-1] if calls and not pending else None
            if len(found) < 2:
                what = "expected a value after 'return'"
                raise ParseError(_ending(what, number, last), text, offset)
            if before is not None and before.result is None and before.name != "return":
                result = found[1] if len(found) == 2 else " ".join(map(str, found[1:]))
                calls[-1] = Call(
                    before.name, before.arguments, before.line, result, before.raw + raw
                )
                offset += len(raw)
                continue
        arity = syntax.arity.get(name)
        result = None
        if arity is not None and len(found) == arity + 2:
            result = found.pop()
        calls.append(Call(name, tuple(found[1:]), number, result, pending + raw))
        pending = b""
        offset += len(raw)
    return tuple(calls), pending


def spell_call(call: Call, syntax: Syntax) -> bytes:
    """Return a call as the format writes it, its result included."""
    words = [call.name, *map(str, call.arguments)]
    if call.result is None:
        pass
    elif syntax.result_line:
        words[-1] += f"\nreturn {call.result}"
    elif call.name in syntax.arity:
        words.append(str(call.result))
    return (" ".join(words) + "\n").encode("utf-8", "surrogateescape")


def print_calls(calls: Iterable[Call], syntax: Syntax, tail: bytes = b"") -> bytes:
    """Return the text of the calls; those that were read stay as they were read."""
    pieces: list[bytes] = []
    for call in calls:
        if pieces and not pieces[-1].endswith(b"\n"):
            pieces.append(b"\n")  # the file's last line had no end, and now stands before others
        pieces.append(call.raw or spell_call(call, syntax))
    return b"".join(pieces) + tail


def _value(word: bytes, syntax: Syntax, values: dict[bytes, Value]) -> Value:
    """Return what a word stands for, and remember it. Raises ValueError with what was expected."""
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
    values[word] = value
    return value


def _shown(word: bytes) -> str:
    shown = ascii(word[:_SHOWN].decode("latin-1"))
    return shown + "..." if len(word) > _SHOWN else shown


def _ending(message: str, number: int, last: int) -> str:
    """Add that the file ends within the line, if it does: it may have been cut off there."""
    return message + "; the file ends within this line" if number == last + 1 else message
