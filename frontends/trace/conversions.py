"""What traces offer to `convert`: the formats of three APIs, CNF, SMT-LIB, and programs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from reducekit.errors import UsageError
from reducekit.frontends.trace.formats.convert import (
    FORMAT_OF,
    SOURCES,
    convert,
    from_cnf,
    to_cnf,
    to_icnf,
    to_ipasir,
)
from reducekit.frontends.trace.formats.rounds import SOLVES, names_of
from reducekit.frontends.trace.formats.smt2 import to_smt2
from reducekit.frontends.trace.language.calls import Call, Trace
from reducekit.frontends.trace.language.text import print_trace, read_trace, unpack
from reducekit.frontends.trace.model.check import find_model
from reducekit.frontends.trace.programs import LANGUAGES, program
from reducekit.offers import Conversions, Converted, Notation

CNF, ICNF, SMT2 = "cnf", "icnf", "smt2"
_API = {"lgl": "lingeling", "mobical": "cadical", "ipasir": "ipasir"}
"""Of each notation."""
_NOTATION = {FORMAT_OF[api]: name for name, api in _API.items()}
"""Of each format; `words` may be any API's, and is taken for IPASIR's."""
_CNF_HEADER = re.compile(rb"\A(?:[ \t]*(?:c[^\n]*)?\r?\n)*[ \t]*p[ \t]+cnf\b")
_NAMED = 5  # calls that are named of those left out


def converted(text: bytes, source: str | None, target: str) -> Converted:
    """Return a trace in another format, as a CNF or as a program.

    Raises ParseError or UsageError.
    """
    text = unpack(text)
    if source == CNF or (source is None and _CNF_HEADER.match(text)):
        return _of_cnf(text, target)
    trace = read_trace(text, None if source is None else FORMAT_OF[_API[source]])
    # Of any API that can be played, not only those that have a notation here.
    if target in LANGUAGES:
        made, left_out = program(trace, target, None if source is None else _API[source])
        return Converted(made, _left_out(left_out, "the library"))
    if target == SMT2:
        script, left_out = to_smt2(trace.calls, find_model(trace))
        return Converted(script, _left_out(left_out, "SMT-LIB"))
    if source is None and trace.format not in _NOTATION:
        raise UsageError(
            f"traces in the format {trace.format} cannot be converted, only those of "
            f"{', '.join(_API.values())}"
        )
    api = _API[source or _NOTATION[trace.format]]
    given, unsaid = _in_words_of(trace, api, source)
    if target == CNF:
        solving = {name for what, name in names_of(api).items() if what in SOLVES}
        solves = sum(call.name in solving for call in given)
        last = (f"the CNF is what the last of {solves} solves is asked",) if solves > 1 else ()
        return Converted(to_cnf(given, api), last)
    if target == ICNF:
        return Converted(to_icnf(given, api))
    calls, left_out = convert(given, api, _API[target])
    notes = _left_out((*unsaid, *left_out), target)
    return Converted(print_trace(calls, FORMAT_OF[_API[target]]), notes)


def _of_cnf(text: bytes, target: str) -> Converted:
    if target == CNF:
        return Converted(text)
    if target == SMT2:
        raise UsageError("a CNF is not converted to SMT-LIB")
    if target in LANGUAGES:
        trace = Trace(from_cnf(text, "ipasir"), "words", text)
        return Converted(program(trace, target, "ipasir")[0])
    if target == ICNF:
        return Converted(to_icnf(from_cnf(text), "lingeling"))
    return Converted(print_trace(from_cnf(text, _API[target]), FORMAT_OF[_API[target]]))


def _in_words_of(
    trace: Trace, api: str, source: str | None
) -> tuple[Sequence[Call], Sequence[Call]]:
    """Return the calls in the words of an API, and those that it has no words for.

    IPASIR's format is that of other APIs, too. Raises UsageError for one that has no clauses.
    """
    if api != "ipasir" or source is not None:
        return trace.calls, ()
    name = find_model(trace).name
    if name in SOURCES:
        return to_ipasir(trace.calls, name)
    if name != api:
        raise UsageError(
            f"traces of {name} cannot be converted to CNF or another API, only those of "
            f"{', '.join((*_API.values(), *SOURCES))}"
        )
    return trace.calls, ()


def _left_out(calls: Sequence[Call], target: str) -> tuple[str, ...]:
    if not calls:
        return ()
    names = Counter(call.name for call in calls).most_common()
    named = ", ".join(f"{name} ({count})" for name, count in names[:_NAMED])
    more = ", ..." if len(names) > _NAMED else ""
    return (f"{target} has nothing like {len(calls):,} of the calls, left out: {named}{more}",)


CONVERSIONS = Conversions(
    reads=(
        Notation("lgl", (".trace",)),
        Notation("mobical", (".mobical", ".trace")),
        Notation("ipasir", (".ipasir", ".trace")),
        Notation(CNF, (".cnf", ".dimacs")),
    ),
    writes=(
        Notation("lgl", (".trace",)),
        Notation("mobical", (".mobical",)),
        Notation("ipasir", (".ipasir",)),
        Notation(CNF, (".cnf", ".dimacs")),
        Notation(ICNF, (".icnf",)),
        Notation("c", (".c",)),
        Notation("cpp", (".cpp", ".cc", ".cxx")),
        Notation("py", (".py",)),
        Notation(SMT2, (".smt2",)),
    ),
    convert=converted,
    recognises=lambda text: _CNF_HEADER.match(text) is not None,
)
