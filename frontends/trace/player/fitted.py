"""A model as a library has it: the library's own options, and no call that it cannot play.

A model names the options of one version of a solver. To set one that another version does
not know, or to a value that it refuses, tests nothing; and new options are where new code is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

from msgspec import structs

from reducekit.frontends.trace.model.definition import (
    Model,
    Option,
    OptionModel,
    Options,
    Preset,
)
from reducekit.frontends.trace.model.structure import Names, Range
from reducekit.frontends.trace.player.asking import answer
from reducekit.frontends.trace.player.libraries import Library

# `CaDiCaL::Options::table` is an array of structures: the name, default, least and greatest
# value, up to 1.5 the description, later flags between; so an entry has 32 or 40 bytes. The
# size of the array is in the symbol table, which dladdr1(3) looks up.
_ASK = """
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


def fitted(model: Model, library: Library) -> Model:
    """Return a model with the options of a library, whose generator makes no call it lacks."""
    played = library.interface.calls
    phases = {name: each.only(played) for name, each in model.phases.items()}
    table = options_of(library) if model.options.call else {}
    options = _options(model.options, table) if table else model.options
    return replace(model, options=options, phases=phases)


def options_of(library: Library) -> Mapping[str, Option]:
    """Return the options of a library as it says itself; nothing where it cannot be asked."""
    symbol = library.interface.options
    return _asked(library.path, symbol) if symbol else {}


@lru_cache(16)
def _asked(path: str, symbol: str) -> Mapping[str, Option]:
    found: dict[str, Option] = {}
    for line in answer(_ASK, path, symbol).decode("ascii", "replace").splitlines():
        name, *numbers = line.split()
        found[name] = Option(name, *map(int, numbers))
    return found


def _options(options: OptionModel, table: Mapping[str, Option]) -> OptionModel:
    limits = {}
    for name in options.limits.keys() & table.keys():
        low, high = options.limits[name]
        option = table[name]
        limits[name] = Range((max(low, option.low), min(high, option.high)))
    return structs.replace(
        options,
        table=Options(table),
        limits=limits,
        instead=_presets(options.instead, table),
        besides=_presets(options.besides, table),
        exclude=Names(options.exclude & table.keys()),
    )


def _presets(presets: tuple[Preset, ...], table: Mapping[str, Option]) -> tuple[Preset, ...]:
    """Return the presets without what a library does not know, refuses or does anyway."""
    found = []
    for preset in presets:
        values = {
            name: value
            for name, value in preset.values.items()
            if name in table
            and table[name].low <= value <= table[name].high
            and value != table[name].default
        }
        found.append(structs.replace(preset, values=values))
    return tuple(found)
