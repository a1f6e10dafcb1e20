"""Traces of MiniSat and PicoSAT in the words of IPASIR, from which all other conversions go on."""

from __future__ import annotations

from collections.abc import Sequence

from reducekit.errors import UsageError
from reducekit.frontends.trace.formats.convert import BY_BOOLEAN, NAMES, SOURCES, WHOLE
from reducekit.frontends.trace.language.calls import Call, Value
from reducekit.frontends.trace.model.loader import load_model
from reducekit.frontends.trace.model.machine import Machine

_CONTEXTS = ("push", "pop")
_QUERIES = ("val", "failed")


def to_ipasir(calls: Sequence[Call], api: str) -> tuple[tuple[Call, ...], tuple[Call, ...]]:
    """Return the calls in the words of IPASIR, and those that it has no words for.

    A clause of MiniSat becomes its literals, and what a solve of it takes become assumptions.
    Queries that IPASIR does not allow are left out. Raises UsageError for a context of PicoSAT.
    """
    own = NAMES["ipasir"]
    names = {name: own.get(what, own["solve"]) for what, name in SOURCES[api].items()}
    machine = Machine(load_model("ipasir"))
    made: list[Call] = []
    left_out = []
    for call in calls:
        if api == "picosat" and call.name in _CONTEXTS:
            raise UsageError(f"{call.place}: IPASIR has no clauses that can be taken back")
        spelled = _spelled(call, names.get(call.name, ""), whole=api == WHOLE)
        if any(each.name in _QUERIES and machine.allowed(each) for each in spelled):
            spelled = []
        if not spelled:
            left_out.append(call)
        for each in spelled:
            machine.after(each)
        made += spelled
    return tuple(made), tuple(left_out)


def _spelled(call: Call, name: str, *, whole: bool) -> list[Call]:
    """Return a call in the words of IPASIR, where it is called `name`; none if that is empty."""
    result = call.result
    if not name:
        return []
    if name == "solve" and not whole:
        return [Call(name, (), 0, result)]
    if name == "solve":
        return [
            *(Call("assume", (literal,)) for literal in call.arguments),
            Call(name, (), 0, BY_BOOLEAN.get(result)),
        ]
    if name == "add" and whole:
        return [Call(name, (literal,)) for literal in (*call.arguments, 0)]
    if name == "val":
        return [Call(name, call.arguments, 0, _literal(call.arguments, result))]
    return [Call(name, call.arguments, 0, result if name == "failed" else None)]


def _literal(arguments: Sequence[Value], value: Value | None) -> int | None:
    """Return the literal of an argument that is true; 0 if neither is, None if it is unknown."""
    literal = arguments[0]
    return literal * value if isinstance(literal, int) and isinstance(value, int) else None
