"""Checks traces against a model; finds the model of a trace, or learns it from the trace."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from reducekit.errors import ParseError
from reducekit.frontends.trace.language.calls import Call, Trace, differing, plain
from reducekit.frontends.trace.language.text import head_options
from reducekit.frontends.trace.model.definition import Model
from reducekit.frontends.trace.model.loader import load_model, parse_model, shipped
from reducekit.frontends.trace.model.machine import Machine, Violation


@dataclass(frozen=True, slots=True)
class Problem:
    """A call that breaks a rule of the model; `line` counts from 1."""

    line: int
    call: Call
    rule: str
    message: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.message} (rule: {self.rule})"


def check(trace: Trace, model: Model) -> list[Problem]:
    """Return all calls that break the contract of the API; see `problems`."""
    return [*problems(trace, model)]


def problems(trace: Trace, model: Model) -> Iterator[Problem]:
    """Yield all calls that break the contract of the API; none if the trace keeps to it.

    A call that breaks a rule is passed over for those that follow. Raises
    ParseError at the first line that is no call of the API: an unknown call, a
    wrong number or kind of arguments, or one that no interpreter reads.
    """
    machine, option = Machine(model), model.options.call
    for index, call in enumerate(plain(trace.calls)):
        violation = None
        # Only these calls can break what the machine does not know; all others are made at once.
        if call.name == option or call.result is not None:
            violation = machine.allowed(call) or _option(call, model) or _result(call, model)
        violation = violation or machine.make(call)
        if violation is None:
            continue
        if violation.malformed:
            # A long trace makes each call with its line when it is asked for, so it is asked here.
            message, line = violation.message, trace.calls[index].line
            if index == len(trace.calls) - 1 and not trace.text.endswith(b"\n"):
                message += "; the file ends within this line"
            before = trace.text.split(b"\n", line - 1)[:-1]
            raise ParseError(message, trace.text, sum(map(len, before)) + len(before))
        line = trace.calls[index].line
        yield Problem(line, call, violation.rule, violation.message)


def first_violation(calls: Iterable[Call], model: Model) -> tuple[int, Violation] | None:
    """Return the index of the first call that is not allowed, and why; None if all are."""
    machine = Machine(model)
    for index, call in enumerate(calls):
        violation = machine.make(call)
        if violation is not None:
            return index, violation
    return None


def find_model(trace: Trace) -> Model:
    """Return the model of a trace.

    The model that the trace names, or else the one of its format that knows most of its calls and
    refuses fewest. Where no model has the format, it is learnt from the trace.
    """
    named = head_options(trace.head).get("model")
    if named is not None:
        return load_model(named)
    calls = plain(trace.calls)
    names = {call.name for call in differing(calls)} - {"return"}
    found: list[tuple[int, int, int, Model]] = []
    for number, name in enumerate(shipped()):
        model = load_model(name)
        if trace.format in model.formats:
            found.append((len(names - set(model.calls)), 0, number, model))
    if not found:
        return learnt_model(trace.format, differing(calls))
    # To run the machine of a model takes seconds for a long trace, so names decide where they can.
    least = min(unknown for unknown, _, _, _ in found)
    found = [each for each in found if each[0] == least]
    if len(found) > 1:
        makers = [(each, Machine(each[3]).make) for each in found]
        found = [
            (unknown, sum(make(call) is not None for call in calls), number, model)
            for (unknown, _, number, model), make in makers
        ]
    return min(found, key=lambda each: each[:3])[3]


def _option(call: Call, model: Model) -> Violation | None:
    """Return what is wrong with an option, where the solver refuses options at all."""
    options = model.options
    if not options.strict or call.name != options.call:
        return None
    arguments = model.calls[call.name].arguments
    name: object = None
    value: object = None
    for argument, given in zip(arguments, call.arguments, strict=True):
        if argument.type.kind == "word":
            name = given
        elif argument.type.kind == "int":
            value = given  # the last one: a number of the option may stand before its name
    option = options.table.get(str(name))
    if option is None:
        return Violation("option", f"'{call}': there is no option '{name}'")
    if isinstance(value, int) and not option.low <= value <= option.high:
        wanted = f"a value between {option.low} and {option.high}"
        return Violation("option", f"'{call}': option '{name}' takes {wanted}")
    return None


def _result(call: Call, model: Model) -> Violation | None:
    """Return what is wrong with a recorded result that leads to a state."""
    rules = model.calls.get(call.name)
    if rules is None or not rules.outcomes or call.result is None:
        return None
    if call.result in rules.outcomes:
        return None
    wanted = ", ".join(map(str, rules.outcomes))
    return Violation("result", f"'{call}' returned {call.result}, expected one of {wanted}")


_NAME = re.compile(r"([A-Za-z]+)[0-9]+\Z")
_TYPE = "name"


def learnt_model(name: str, calls: Iterable[Call]) -> Model:
    """Return the model of a trace in a format, from its calls: for an API that is not known.

    Traces of SMT solvers name what a call returns (`return t3 s1`: a term, and its sort), and later
    calls take it by that name. So a trace itself says which calls need which others, and which
    terms are of one sort. All else is allowed at any time.
    """
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
