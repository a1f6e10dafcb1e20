"""Translates a trace to another API, except for calls that the other lacks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from reducekit.errors import UsageError
from reducekit.frontends.trace.calls import Call, Value

# What the calls are called in each API, by what they do. Options, statistics of the
# solver's inside and the like have no counterpart. A result that is the solver's
# choice (look-ahead) or counted differently (frozen, variables) is not kept.
NAMES: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "lingeling": {
            "init": "init",
            "release": "release",
            "add": "add",
            "assume": "assume",
            "solve": "sat",
            "simplify": "simp",
            "lookahead": "lkhd",
            "value": "deref",
            "failed": "failed",
            "fixed": "fixed",
            "freeze": "freeze",
            "melt": "melt",
            "frozen": "frozen",
            "phase": "setphase",
            "unphase": "resetphase",
            "variables": "maxvar",
            "statistics": "stats",
        },
        "cadical": {
            "init": "init",
            "release": "reset",
            "add": "add",
            "assume": "assume",
            "solve": "solve",
            "simplify": "simplify",
            "lookahead": "lookahead",
            "value": "val",
            "failed": "failed",
            "fixed": "fixed",
            "freeze": "freeze",
            "melt": "melt",
            "frozen": "frozen",
            "phase": "phase",
            "unphase": "unphase",
            "variables": "vars",
            "statistics": "stats",
        },
        "ipasir": {
            "init": "init",
            "release": "release",
            "add": "add",
            "assume": "assume",
            "solve": "solve",
            "value": "val",
            "failed": "failed",
        },
    }
)
APIS = tuple(NAMES)
"""The APIs that traces are converted between."""

FORMAT_OF: Mapping[str, str] = MappingProxyType(
    {"lingeling": "lgl", "cadical": "mobical", "ipasir": "words"}
)
"""The format that traces of each API are written in."""

_KEPT_RESULTS = frozenset(("solve", "simplify", "value", "failed", "fixed"))
SOLVES = frozenset(("solve", "simplify", "lookahead"))
"""What ends a round."""


def convert(
    calls: Sequence[Call], source: str, target: str
) -> tuple[tuple[Call, ...], tuple[Call, ...]]:
    """Return the calls in the words of another API, and those that it has no words for.

    Lingeling must not be given variables again that it may have eliminated, so
    a trace for it that solves more than once freezes every variable at its
    first use. Its `fixate` becomes units. Raises UsageError for an API that is
    not among `APIS`.
    """
    for name in (source, target):
        if name not in NAMES:
            raise UsageError(f"expected one of {', '.join(APIS)}, found {name!r}")
    meaning = {name: what for what, name in NAMES[source].items()}
    names = NAMES[target]
    solves = sum(meaning.get(call.name, "") in SOLVES for call in calls)
    freezing = target == "lingeling" and source != "lingeling" and solves > 1
    frozen: set[int] = set()
    assumed: list[int] = []
    solved = False
    converted: list[Call] = []
    left_out: list[Call] = []
    for call in calls:
        if source == "lingeling" and call.name == "fixate" and target != "lingeling":
            for literal in () if solved else assumed:
                converted += [Call(names["add"], (literal,)), Call(names["add"], (0,))]
            continue
        what = meaning.get(call.name)
        if what is None or what not in names:
            if call.name != "return":
                left_out.append(call)
            continue
        first = call.arguments[0] if call.arguments else 0
        if what in ("add", "assume") and isinstance(first, int):
            if solved:
                assumed, solved = [], False
            if what == "assume":
                assumed.append(first)
            if freezing and first and abs(first) not in frozen:
                frozen.add(abs(first))
                converted.append(Call("freeze", (abs(first),)))
        elif what in SOLVES:
            solved = True
        result = call.result if what in _KEPT_RESULTS else None
        if what == "value":
            result = _value(first, result, source, target)
        converted.append(Call(names[what], call.arguments, 0, result))
    return tuple(converted), tuple(left_out)


def _value(literal: Value, result: Value | None, source: str, target: str) -> Value | None:
    """Return the value of a literal as the target says it.

    Lingeling returns 1, -1 or 0 for unassigned; the others the literal that is
    true, and IPASIR 0 if both values do.
    """
    if not isinstance(result, int) or not isinstance(literal, int):
        return None
    if (source == "lingeling") == (target == "lingeling"):
        return result
    if target == "lingeling":
        return 0 if not result else 1 if result == literal else -1
    return result * literal
