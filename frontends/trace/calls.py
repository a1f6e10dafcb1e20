"""API traces as plain data: calls, and the trace that they stand in.

A call keeps the bytes it was read from. So a trace that is only cut down
prints byte by byte what is left of the file, and a call that was altered or
made afresh (`raw` empty) is spelled anew by its format
(`reducekit.frontends.trace.formats`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

Value = int | str
"""An argument or result: a number, or else the word as it stands in the file."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call of the API.

    `line` counts from 1; 0 for a call that was read from no file. `result` is
    what the recording says that the call returned, None where it says nothing;
    in the lgl, Murxla and Boolector formats it stands in the `return` line that
    follows (several results are one string, parted by blanks). A `return` line
    that follows no call, or another `return` line, is a call named `return`.

    `raw` are the bytes of the call in the file, ends of lines, `return` line,
    and blank lines and comments before it included; empty if the call has to
    be spelled anew.
    """

    name: str
    arguments: tuple[Value, ...]
    line: int = 0
    result: Value | None = None
    raw: bytes = b""

    def __str__(self) -> str:
        """Return the call as messages show it: name and arguments, at most 80 characters."""
        text = " ".join([self.name, *map(str, self.arguments)])
        return text if len(text) <= 80 else text[:77] + "..."


@dataclass(frozen=True, slots=True)
class Trace:
    """A sequence of calls as it was read.

    `format` is a name in `reducekit.frontends.trace.formats.FORMATS`. `text`
    are the bytes of the file, unpacked if it was compressed; `tail` what
    stands after the last call. `text` is the concatenation of `raw` of all
    calls, and `tail`.
    """

    calls: tuple[Call, ...]
    format: str
    text: bytes
    tail: bytes = b""


def altered(call: Call, name: str | None = None, arguments: Iterable[Value] | None = None) -> Call:
    """Return the call with another name or other arguments; it will be spelled anew."""
    return replace(
        call,
        name=call.name if name is None else name,
        arguments=call.arguments if arguments is None else tuple(arguments),
        raw=b"",
    )


def with_result(call: Call, result: Value | None) -> Call:
    """Return the call with another recorded result, or with none.

    A call whose result stays as it is keeps its bytes.
    """
    return call if call.result == result else replace(call, result=result, raw=b"")


def without_results(calls: Iterable[Call]) -> list[Call]:
    """Return the calls without recorded results, and without `return` lines of their own."""
    return [with_result(call, None) for call in calls if call.name != "return"]


def results(calls: Sequence[Call]) -> list[Value | None]:
    """Return the recorded result of each call, None where there is none."""
    return [call.result for call in calls]
