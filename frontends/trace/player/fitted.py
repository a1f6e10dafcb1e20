"""What an installed library is like: its own options, the calls that it can play, what it is.

A model names the options of one version of a solver. To set one that another version does not
know, or to a value that it refuses, tests nothing; and new options are where new code is.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from msgspec import structs

from reducekit.executors.own import Subject
from reducekit.frontends.trace.model.definition import Model, Option, Options, Preset
from reducekit.frontends.trace.model.structure import Names, Range
from reducekit.frontends.trace.player.helpers import answer
from reducekit.frontends.trace.player.libraries import Library

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
