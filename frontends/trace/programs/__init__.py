"""Turns a trace into a program that makes the same calls: in C, in C++, or in Python with ctypes.

What each call does in a library is what replays go by, the table of C calls in
`reducekit.frontends.trace.player.prototypes`, so whatever can be replayed can be written. A
program declares the functions that it calls, and needs no header to compile. It ends as the
library ends; if its last answer is wrong, it says so and exits with 88, as `replay` does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from reducekit.errors import UsageError
from reducekit.frontends.trace.language.calls import Call, Trace
from reducekit.frontends.trace.language.text import options_to_play
from reducekit.frontends.trace.model.check import find_model
from reducekit.frontends.trace.model.definition import Model
from reducekit.frontends.trace.model.loader import load_model
from reducekit.frontends.trace.player.libraries import (
    Library,
    find_library,
    linked_interface,
    text_of,
)
from reducekit.frontends.trace.player.outcome import where
from reducekit.frontends.trace.player.prototypes import HELPS, Interface, unguarded, without_mapping
from reducekit.frontends.trace.player.records import Encoder, UnplayableCall
from reducekit.frontends.trace.programs.c import c_program
from reducekit.frontends.trace.programs.python import python_program
from reducekit.frontends.trace.programs.statements import CPP, PYTHON, C, Writer, final_answer

LANGUAGES = ("c", "cpp", "py")
"""The languages that programs are written in, by the suffixes of their files."""
_SPELLINGS = {"c": C, "cpp": CPP, "py": PYTHON}
_OMITTED = ("query", "hint")
"""Roles of calls that may be left out: they change no answer."""
_ELSEWHERE = {"c": ": write a .cpp or .py file", "py": ": write a .cpp file"}
"""A class may have more than the C functions of a library, and its header more than a library."""


def program(
    trace: Trace,
    language: str,
    api: str | None = None,
    library: Library | None = None,
    *,
    checked: bool = True,
) -> tuple[bytes, tuple[Call, ...]]:
    """Return a program that makes the calls of a trace, and the calls that it leaves out.

    `api` is by default the one that the trace goes by. A program in Python loads `library`, by
    default the one that a replay takes. `checked`: the last answer is checked, if it can be.
    Raises UsageError.
    """
    model = find_model(trace) if api is None else load_model(api)
    api = model.name
    if language == "py":
        library = library or find_library(api, options_to_play(trace.head).get("library"))
        interface = library.interface
    else:
        library = None
        interface = linked_interface(api, classes=language == "cpp")
    # A program has no functions of the helpers, except those that can be part of it, and skips no
    # call. mobical's variables are mapped by the solver's, so they are as in the trace.
    helper = text_of(interface.source) if language == "cpp" and interface.source else ""
    own = {name: without_mapping(text) for name, text in interface.calls.items()}
    own = {name: text for name, text in own.items() if helper or HELPS not in text}
    interface = replace(interface, calls={name: unguarded(text) for name, text in own.items()})
    calls, left_out = _played(trace.calls, interface, model, language)
    last = final_answer(calls, model) if checked else None
    writer = Writer(interface, _SPELLINGS[language], last)
    code = writer.code(load_model(interface.api).title, calls)
    if library is not None:
        lines = python_program(code, library.path)
    else:
        lines = c_program(code, cpp=language == "cpp", helper=helper)
    return ("\n".join(lines) + "\n").encode("utf-8", "surrogateescape"), left_out


def _played(
    calls: Sequence[Call], interface: Interface, model: Model, language: str
) -> tuple[list[Call], tuple[Call, ...]]:
    """Return the calls that a library has, and those that it lacks and that may be left out.

    Raises UsageError for other calls that it lacks, for wrong arguments, and for a call without a
    live object.
    """
    known = model.calls
    omitted = {name for name, call in known.items() if call.role in _OMITTED} | {"return"}
    omitted -= {*interface.calls}
    played = [call for call in calls if call.name not in omitted]
    try:
        _, illegal = Encoder(interface).encode(played)
    except UnplayableCall as error:
        at, why = error.index, str(error)
        if played[at].name in known.keys() - interface.calls.keys():
            why = f"the library has no function for it{_ELSEWHERE.get(language, '')}"
    else:
        if illegal is None:
            left_out = (call for call in calls if call.name in omitted and call.name != "return")
            return played, tuple(left_out)
        at, why = illegal.index, illegal.why
    raise UsageError(f"cannot write a program: {where(at, played[at])}: {why}")
