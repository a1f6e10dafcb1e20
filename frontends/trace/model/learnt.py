"""A model that is learnt from a trace, for an API that is not known: what its calls make and take.

Traces of SMT solvers name what a call returns (`return t3 s1`: a term, and its sort), and later
calls take it by that name. So a trace itself says which calls need which others, and which terms
are of one sort. All else is allowed at any time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from reducekit.frontends.trace.language.calls import Call
from reducekit.frontends.trace.model.definition import Model
from reducekit.frontends.trace.model.loader import parse_model

_NAME = re.compile(r"([A-Za-z]+)[0-9]+\Z")
_TYPE = "name"


def learnt_model(name: str, calls: Iterable[Call]) -> Model:
    """Return the model of a trace in a format, from its calls."""
    calls = [*calls]
    # A call that makes something once may do so each time it is made.
    makes = {call.name: any(_named(call)) for call in calls if any(_named(call))}
    title = f"{name.capitalize()} without a model (so any order of calls)"
    lines = [
        f'[api]\nname = "{name}"\ntitle = "{title}"\nformats = ["{name}"]',
        f'[types]\n{_TYPE} = {{ kind = "handle" }}',
        '[states]\nnames = ["open"]\ninitial = "open"',
    ]
    for each in sorted({call.name for call in calls} - {"return"}):
        lines.append(f'[calls."{each}"]\nargs = ["{_TYPE}*"]\nfrom = "any"')
        lines += [f'produces = "{_TYPE}"'] if each in makes else []
    model = parse_model("\n".join(lines).encode(), name)
    found = replace(model.types[_TYPE], names=sorts_of(calls))
    learnt = {
        each: replace(
            call,
            arguments=tuple(replace(argument, type=found) for argument in call.arguments),
            result=found if call.produces else call.result,
        )
        for each, call in model.calls.items()
    }
    return replace(model, types={_TYPE: found}, calls=learnt)


def sorts_of(calls: Iterable[Call]) -> Mapping[str, str]:
    """Return the sort of each name that calls return; equal sorts are equal texts.

    A call may return the sort of a term together with the term. Otherwise the sort is the argument
    whose name begins with another letter (`mk-const s1` makes a term of the sort s1). The results
    of calls without named arguments, such as sorts, have the same sort if call and arguments are
    the same.
    """
    found: dict[str, str] = {}
    for call in calls:
        names = _named(call)
        if not names:
            continue
        own, *others = names
        # `t12` and `s3`: the letter says what is created, as in Murxla's traces.
        letter = own.rstrip("0123456789")
        made = [each for each in map(str, call.arguments) if each in found]
        made = [each for each in made if each.rstrip("0123456789") != letter]
        other = next(iter([*others, *made]), "")
        for each in others:
            found.setdefault(each, each)
        # Sorts have no sort: two are the same if they were made by the same call.
        sort = found.get(other) or " ".join([call.name, *map(str, call.arguments)])
        found.setdefault(own, f"{letter}: {sort}")
    return found


def _named(call: Call) -> list[str]:
    """Return the names that a call returns: first of what it makes."""
    if not isinstance(call.result, str):
        return []
    return [word for word in call.result.split() if _NAME.match(word)]
