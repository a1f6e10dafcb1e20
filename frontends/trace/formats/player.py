"""The line of a trace that names what plays it: its model, its library and a seeded fault.

A trace of IPASIR does not say in which library it failed, and passes in any other. So its first
line may hold the options of `reducekit replay` that play it:

    # reducekit: --model ipasir --library /home/me/mysat.so

It is written to traces in the format `words` only, which no other program reads: Lingeling's
and Boolector's formats have no comments, and mobical of CaDiCaL 1.5.3 refuses them. A library is
named by an absolute path, which holds wherever the trace is moved on this machine, or by the name
of an engine. A relative path would load whatever lies beside a trace from somebody else.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping

from reducekit.errors import UsageError

OPTIONS = ("model", "library", "fault", "faults")
_FILES = ("library", "faults")
_LINE = re.compile(rb"# reducekit: ([^\r\n]*)\r?\n")


def length(text: bytes) -> int:
    """Return how many bytes at the beginning of a text are such a line; 0 if there is none."""
    found = _LINE.match(text)
    return 0 if found is None else found.end()


def read(head: bytes) -> Mapping[str, str]:
    """Return the options that a line gives, by name. Raises UsageError for any other words."""
    found = _LINE.match(head)
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
    if not options.keys() <= set(OPTIONS):
        raise wrong
    library = options.get("library", "")
    if os.sep in library and not os.path.isabs(library):
        raise UsageError(
            f"the trace names the library {library}, a relative path: name it with --library"
        )
    return options


def found(head: bytes) -> Mapping[str, str]:
    """Return the options that a line gives, to play by. Raises UsageError if a file is missing."""
    options = read(head)
    for name in _FILES:
        path = options.get(name, "")
        if os.sep in path and not os.path.isfile(path):
            raise UsageError(
                f"the trace names {path} by its first line, and there is no such file: "
                f"name it with --{name}"
            )
    return options


def line(form: str, options: Mapping[str, str | None]) -> bytes:
    """Return the line that gives options in a format; nothing if no library or fault is given."""
    given = {name: options[name] for name in OPTIONS if options.get(name)}
    if form != "words" or not given.keys() - {"model"}:
        return b""
    words: list[str] = []
    for name, value in given.items():
        assert value is not None
        path = name in _FILES and (os.sep in value or ".so" in value or name == "faults")
        words += [f"--{name}", os.path.abspath(os.path.expanduser(value)) if path else value]
    return f"# reducekit: {shlex.join(words)}\n".encode("utf-8", "surrogateescape")
