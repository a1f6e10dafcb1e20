"""The formats of traces: which there are, which one a text is in, reading, printing.

- `lgl`: Lingeling's (LGLAPITRACE, lgluntrace), packed with gzip or not.
- `mobical`: CaDiCaL's (CADICAL_API_TRACE, mobical); results at the end of the line.
- `murxla`: Murxla's untrace files.
- `boolector`: Boolector's (BTORAPITRACE, btoruntrace).
- `words`: as lgl, for any other interface (IPASIR, PicoSAT, ...): names of
  calls and their arguments, results in `return` lines; blank lines and
  comments (`#`) are allowed.
"""

from __future__ import annotations

import os
import re
import shlex
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from types import MappingProxyType

from reducekit.errors import ParseError, UsageError
from reducekit.frontends.trace.language.calls import Call, Trace
from reducekit.frontends.trace.language.lines import Syntax, parse_calls
from reducekit.text import without_mark

# Of different lines that are kept.
_MOST_LINES = 1 << 18
# Calls with a result on their line, and how many arguments come before it
# (CaDiCaL 1.5.3 to 3.0, mobical.cpp).
_ARITY = {
    "solve": 0,
    "propagate": 0,
    "lookahead": 0,
    "simplify": 1,
    "cubing": 1,
    "val": 1,
    "flip": 1,
    "flippable": 1,
    "fixed": 1,
    "failed": 1,
    "frozen": 1,
}

FORMATS: Mapping[str, Syntax] = MappingProxyType(
    {
        syntax.name: syntax
        for syntax in (
            # lgluntrace reads into a buffer of 80 bytes, the end of the string included.
            Syntax("lgl", longest=79),
            Syntax(
                "mobical",
                result_line=False,
                arity=MappingProxyType(_ARITY),
                # mobical takes 0 and -1 only, and refuses what it has written itself.
                unwritten=frozenset(("val", "fixed", "failed")),
                comment=b"#",
                blank_lines=True,
                prefix=True,
            ),
            Syntax("murxla", prefix=True, quotes=True, bits=63, words=True, blank_lines=True),
            Syntax("boolector", bits=63, words=True),
            Syntax("words", comment=b"#", blank_lines=True),
        )
    }
)
"""All formats by name."""

_MURXLA = re.compile(
    rb"^(?:[0-9]+ +)?(?:set-murxla-options|set-logic|set-option|mk-sort|mk-const|mk-term|mk-value"
    rb"|check-sat|assert-formula)\b",
    re.MULTILINE,
)
_BOOLECTOR = re.compile(rb"\Anew[ \t]*\r?\nreturn |^[a-z_]+ 0x[0-9a-f]+", re.MULTILINE)
_WORDS = re.compile(
    rb"\Anew[ \t]*\r?$|^(?:sat +-?[0-9]+|new_var|add_clause|failed_assumption|inc_max_var"
    rb"|set_verbosity|push|pop)\b",
    re.MULTILINE,
)
_LGL = re.compile(
    rb"^(?:(?:sat|lkhd|release|changed|inconsistent|maxvar|incvar|fixate|chkclone|setphases|reduce"
    rb"|flush)[ \t]*\r?$|(?:simp|deref|option|repr|reuse|usable|reusable|setphase|resetphase"
    rb"|setimportant)\b)",
    re.MULTILINE,
)
_MOBICAL = re.compile(
    rb"^(?:[0-9]+ +[a-z_]+.*"
    rb"|(?:val|failed|fixed|frozen|simplify) +-?[0-9]+ +-?[0-9]+"
    rb"|(?:solve|lookahead) +-?[0-9]+"
    rb"|reset|vars|active|redundant|irredundant|dump|conclude|constrain\b.*|phase\b.*|set\b.*"
    rb"|(?:configure|limit|optimize|reserve|connect|observe|trace_proof)\b.*"
    rb")[ \t]*\r?$",
    re.MULTILINE,
)
_SOLVE = re.compile(rb"^solve[ \t]*\r?$", re.MULTILINE)
_RELEASE = re.compile(rb"^release[ \t]*\r?$", re.MULTILINE)
_RETURN = re.compile(rb"^return ", re.MULTILINE)
_COMMENT = re.compile(rb"^[ \t]*#", re.MULTILINE)
_LOOKED_AT = 1 << 20

# A trace of IPASIR does not say in which library it failed, and passes in any other. So its first
# line, its head, may hold the options of `reducekit replay` that play it:
#
#     # reducekit: --model ipasir --library /home/me/mysat.so
#
# Only traces in the format `words` have one: no other program reads them. Lingeling's and
# Boolector's formats have no comments, and mobical of CaDiCaL 1.5.3 refuses them. A library is
# named by an absolute path, which holds wherever the trace is moved on this machine, or by the name
# of an engine. A relative path would load whatever lies next to a trace from somebody else.
HEAD_OPTIONS = ("model", "library", "fault", "faults")
_HEAD_FILES = ("library", "faults")
_HEAD_LINE = re.compile(rb"# reducekit: ([^\r\n]*)\r?\n")


def unpack(text: bytes, most: int = 1 << 31) -> bytes:
    """Return the text, unpacked if it is packed with gzip, without a byte order mark.

    Raises ParseError if the archive is broken, cut off, or larger than `most` bytes.
    """
    if not text.startswith(b"\x1f\x8b"):
        return without_mark(text)
    pieces: list[bytes] = []
    rest, size = text, 0
    while rest:
        packed = zlib.decompressobj(wbits=31)
        try:
            pieces.append(packed.decompress(rest, most - size + 1))
        except zlib.error as error:
            raise ParseError(f"expected a gzip archive ({error})", text, 0) from None
        size += len(pieces[-1])
        if size > most:
            raise ParseError(f"the archive holds more than {most} bytes", text, 0)
        if not packed.eof:
            raise ParseError("the gzip archive is cut off: expected its end", text, 0)
        rest = packed.unused_data.lstrip(b"\0")
    return without_mark(b"".join(pieces))


def detect(text: bytes) -> str:
    """Guess the format of an unpacked text; `lgl` if it could be any."""
    if head_length(text):
        return "words"
    head = text[:_LOOKED_AT]
    if _MURXLA.search(head):
        return "murxla"
    if _BOOLECTOR.search(head):
        return "boolector"
    if _WORDS.search(head):
        return "words"
    if _SOLVE.search(head):
        # `release` is IPASIR's last call, CaDiCaL's is `reset`.
        if _RETURN.search(head) or _RELEASE.search(head):
            return "words"
        return "mobical"
    if _LGL.search(head):
        return "lgl"
    if _MOBICAL.search(head):
        return "mobical"
    return "words" if _COMMENT.search(head) else "lgl"


def read_trace(text: bytes, name: str | None = None) -> Trace:
    """Read a trace in the format `name`, by default the one it looks like.

    `text` may be packed with gzip. Raises ParseError with the line and what was expected there.
    """
    text = unpack(text)
    found = name or detect(text)
    syntax = FORMATS[found]
    head = text[: head_length(text)] if syntax.comment else b""
    calls, tail = parse_calls(text, syntax, len(head))
    return Trace(calls, found, text, tail, head)


def reader(name: str) -> Callable[[bytes], Sequence[Call]]:
    """Return what reads the calls of many texts that are much alike, in the format `name`.

    A line that was read before is not read again, so that a candidate of a reduction costs a
    look at each of its lines. The calls do not say in which line they stand. Raises ParseError
    as `read_trace` does.
    """
    known: dict[bytes, Call] = {}

    def read(text: bytes) -> Sequence[Call]:
        begin = head_length(text) if FORMATS[name].comment else 0
        lines = (text[begin:] if begin else text).split(b"\n")
        if not lines.pop():
            with suppress(KeyError):
                return [known[line] for line in lines]
        calls = read_trace(text, name).calls
        if len(known) < _MOST_LINES:
            # What is more than a line, as a call with its result or a comment, is not kept.
            plain = [call for call in calls if call.result is None and call.name != "return"]
            known.update(
                (call.raw[:-1], replace(call, line=0))
                for call in plain
                if call.raw.find(b"\n") == len(call.raw) - 1
            )
        return calls

    return read


def print_trace(calls: Iterable[Call], name: str, tail: bytes = b"") -> bytes:
    """Return calls in the format `name`, which must be the one they were read in, if any.

    The bytes of calls that were read are kept. For another format see
    `reducekit.frontends.trace.formats.convert`.
    """
    pieces: list[bytes] = []
    for call in calls:
        if pieces and not pieces[-1].endswith(b"\n"):
            pieces.append(b"\n")  # the file's last line had no end, and now stands before others
        pieces.append(call.raw or spell(call, name))
    return b"".join(pieces) + tail


def spell(call: Call, name: str) -> bytes:
    """Return one call as the format `name` writes it, with its result, not as it was read."""
    syntax, words = FORMATS[name], [call.name, *map(str, call.arguments)]
    if call.result is None:
        pass
    elif syntax.result_line:
        words[-1] += f"\nreturn {call.result}"
    elif call.name in syntax.arity and call.name not in syntax.unwritten:
        words.append(str(call.result))
    return (" ".join(words) + "\n").encode("utf-8", "surrogateescape")


def head_length(text: bytes) -> int:
    """Return how many bytes at the beginning of a text are such a line; 0 if there is none."""
    found = _HEAD_LINE.match(text)
    return 0 if found is None else found.end()


def head_options(head: bytes) -> Mapping[str, str]:
    """Return the options that a line gives, by name. Raises UsageError for any other words."""
    found = _HEAD_LINE.match(head)
    if found is None:
        return {}
    line = found[1].decode("utf-8", "backslashreplace")
    wrong = UsageError(
        f"the line '# reducekit: {line}' of the trace: expected options such as "
        "--model NAME --library /absolute/path"
    )
    try:
        words = shlex.split(line)
    except ValueError:
        raise wrong from None
    options = {
        name.removeprefix("--"): value for name, value in zip(words[::2], words[1::2], strict=False)
    }
    if len(words) % 2 or [*options] != [word[2:] for word in words[::2] if word[:2] == "--"]:
        raise wrong
    if not options.keys() <= set(HEAD_OPTIONS):
        raise wrong
    library = options.get("library", "")
    if os.sep in library and not os.path.isabs(library):
        raise UsageError(
            f"the trace names the library {library}, a relative path: name it with --library"
        )
    return options


def options_to_play(head: bytes) -> Mapping[str, str]:
    """Return the options that a line gives, to play by. Raises UsageError if a file is missing."""
    options = head_options(head)
    for name in _HEAD_FILES:
        path = options.get(name, "")
        if os.sep in path and not os.path.isfile(path):
            raise UsageError(
                f"the trace names {path} by its first line, and there is no such file: "
                f"name it with --{name}"
            )
    return options


def head_line(form: str, options: Mapping[str, str | None]) -> bytes:
    """Return the line that gives options in a format; nothing if no library or fault is given."""
    given = {name: options[name] for name in HEAD_OPTIONS if options.get(name)}
    if form != "words" or not given.keys() - {"model"}:
        return b""
    words: list[str] = []
    for name, value in given.items():
        assert value is not None
        path = name in _HEAD_FILES and (os.sep in value or ".so" in value or name == "faults")
        words += [f"--{name}", os.path.abspath(os.path.expanduser(value)) if path else value]
    return f"# reducekit: {shlex.join(words)}\n".encode("utf-8", "surrogateescape")
