"""What plays a trace, as options say it and as the first line of a trace names it.

A model names the options of one version of a solver. To set one that another version does not
know, or to a value that it refuses, tests nothing; and new options are where new code is. So a
model is fitted to the library that was found.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Self

from msgspec import structs

from reducekit.executors.own import Subject
from reducekit.frontends.trace.language.text import (
    HEAD_OPTIONS,
    head_line,
    head_options,
    options_to_play,
)
from reducekit.frontends.trace.model.definition import Model, Option, Options, Preset
from reducekit.frontends.trace.model.structure import Names, Range
from reducekit.frontends.trace.player.faults import Patch, patch_of
from reducekit.frontends.trace.player.libraries import Library, answer, find_library
from reducekit.offers import FormatOption

TARGET_OPTIONS = (
    FormatOption(
        "library", "Library that plays the calls (default: installed).", metavar="NAME|PATH"
    ),
    FormatOption(
        "fault",
        "Seed a fault into it: SYMBOL+OFFSET:abort or :delete, =HEX for the bytes expected "
        "there; or a name in --faults.",
        metavar="FAULT",
        rare=True,
    ),
    FormatOption("faults", "A list of faults (JSON).", metavar="FILE", rare=True),
)


@dataclass(frozen=True, slots=True)
class Target:
    """What a trace is played against: a library, perhaps with a fault seeded into it, by name.

    `check_returns`: a result that is not as the trace says is a failure too.
    """

    model: str | None = None
    library: str | None = None
    fault: str | None = None
    faults: str | None = None
    check_returns: bool = False

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Self:
        """Gather it out of the values of all options."""
        names = [each.name for each in fields(cls)]
        return cls(**{name: values[name] for name in names if name in values})

    def named(self, head: bytes) -> Self:
        """Return it with what a trace names where this says nothing. Raises UsageError."""
        if self.library is None:
            found = options_to_play(head)
        else:  # a fault is one of a library
            found = {"model": head_options(head).get("model", "")}
        given: dict[str, Any] = {
            name: getattr(self, name) or found.get(name) or None for name in HEAD_OPTIONS
        }
        return replace(self, **given)

    def opened(self, api: str) -> tuple[Library, Patch | None]:
        """Return what plays the calls of an API, and the fault in it. Raises UsageError."""
        library = find_library(api, self.library)
        return library, patch_of(library.path, self.fault, self.faults)

    def head(self, form: str) -> bytes:
        """Return the line of a trace that names this; nothing in a format without such lines."""
        return head_line(form, {name: getattr(self, name) for name in HEAD_OPTIONS})

    @property
    def played_by(self) -> tuple[str, ...]:
        """The options that name the model and what plays a trace, for each command that does."""
        given = [(name, getattr(self, name)) for name in HEAD_OPTIONS]
        return tuple(word for name, value in given if value for word in (f"--{name}", value))


# `CaDiCaL::Options::table` is an array of structures: the name, default, least and greatest
# value, up to 1.5 the description, later flags between; so an entry has 32 or 40 bytes. The
# size of the array is in the symbol table, which dladdr1(3) looks up.
_OPTIONS = """
import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
at = ctypes.addressof(ctypes.c_char.in_dll(library, sys.argv[2]))
class Symbol(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_uint64), ("value", ctypes.c_uint64), ("size", ctypes.c_uint64)]
symbol = ctypes.POINTER(Symbol)()
info = ctypes.create_string_buffer(64)
ctypes.CDLL(None).dladdr1(ctypes.c_void_p(at), info, ctypes.byref(symbol), 1)
size = symbol.contents.size
def read(width):
    for place in range(at, at + size, width):
        name = ctypes.string_at(ctypes.c_uint64.from_address(place).value).decode()
        if not name.isidentifier():
            raise ValueError(name)
        yield name, *(ctypes.c_int.from_address(place + 8 + 4 * n).value for n in range(3))
for width in (32, 40):
    if size % width == 0:
        try:
            table = list(read(width))
        except ValueError:
            continue
        for row in table:
            print(*row)
        break
"""
# `ipasir_signature`, as the IPASIR header declares it, and its like: `ccadical_signature`.
_SIGNATURE = re.compile(rb"\0([a-z]+_signature)\0")
_SAYS = """
import ctypes, sys
function = getattr(ctypes.CDLL(sys.argv[1]), sys.argv[2])
function.restype = ctypes.c_char_p
sys.stdout.buffer.write(function())
"""
_LONGEST = 200  # characters


def fitted(model: Model, library: Library) -> Model:
    """Return a model with the options of a library, whose generator makes no call it lacks."""
    # A call that the library lacks would end each trace that has it.
    played = library.interface.calls
    phases = {name: each.only(played) for name, each in model.phases.items()}
    options = model.options
    table = options_of(library) if options.call else {}
    if table:
        options = structs.replace(
            options,
            table=Options(table),
            limits={
                name: Range((max(low, table[name].low), min(high, table[name].high)))
                for name, (low, high) in options.limits.items()
                if name in table
            },
            instead=_presets(options.instead, table),
            besides=_presets(options.besides, table),
            exclude=Names(options.exclude & table.keys()),
        )
    return replace(model, options=options, phases=phases)


def _presets(presets: tuple[Preset, ...], table: Mapping[str, Option]) -> tuple[Preset, ...]:
    """Return the presets without what a library does not know, refuses or does anyway."""

    def matters(name: str, value: int) -> bool:
        option = table.get(name)
        return option is not None and (
            option.low <= value <= option.high and value != option.default
        )

    return tuple(
        structs.replace(preset, values={n: v for n, v in preset.values.items() if matters(n, v)})
        for preset in presets
    )


def options_of(library: Library) -> Mapping[str, Option]:
    """Return the options of a library as it says itself; nothing where it cannot be asked."""
    symbol = library.interface.options
    return _asked(library.path, symbol) if symbol else {}


@lru_cache(16)
def _asked(path: str, symbol: str) -> Mapping[str, Option]:
    found: dict[str, Option] = {}
    for line in answer(_OPTIONS, path, symbol).splitlines():
        name, *numbers = line.split()
        found[name] = Option(name, *map(int, numbers))
    return found


def subject_of(library: Library, choice: str) -> Subject:
    """Describe a library; `choice` is the path or the engine by which it was found."""
    name = os.path.basename(choice)
    # The file tells builds apart that call themselves the same.
    try:
        content = Path(library.path).read_bytes()
    except OSError:
        return Subject(name, "")
    digest = hashlib.md5(content, usedforsecurity=False).hexdigest()
    file = f"{os.path.basename(library.path)}: {len(content):,} bytes, md5 {digest}"
    said = [
        f"{text} ({function}())"
        for function in map(bytes.decode, set(_SIGNATURE.findall(content)))
        if (text := answer(_SAYS, library.path, function)[:_LONGEST].strip())
    ]
    return Subject(name, "; ".join([*sorted(said), file]))
