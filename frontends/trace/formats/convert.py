"""Translates a trace to another API, except for calls that the other lacks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from reducekit.errors import UsageError
from reducekit.frontends.trace.language.calls import Call, Value
from reducekit.frontends.trace.model.loader import load_model
from reducekit.frontends.trace.model.machine import Machine

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
SOURCES: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "minisat": {
            "init": "new",
            "release": "delete",
            "add": "add_clause",
            "solve": "solve",
            "limited": "solve_limited",
            "value": "model_value",
            "failed": "conflict",
        },
        "picosat": {
            "init": "init",
            "release": "reset",
            "add": "add",
            "assume": "assume",
            "solve": "sat",
            "value": "deref",
            "failed": "failed_assumption",
        },
    }
)
"""The same of the APIs that traces are only converted from (`to_ipasir`)."""
WHOLE = "minisat"
"""Its calls take whole clauses, and all assumptions with the solve, which answers by a Boolean."""
BY_BOOLEAN: Mapping[Value | None, int] = MappingProxyType({1: 10, 0: 20, -1: 0})
"""The usual numbers for such answers."""
APIS = tuple(NAMES)
"""The APIs that traces are converted between."""

FORMAT_OF: Mapping[str, str] = MappingProxyType(
    {"lingeling": "lgl", "cadical": "mobical", "ipasir": "words"}
)
"""The format that traces of each API are written in."""

_LEMMA = "lemma"
_CONSTRAINTS = ("constrain", "reset_constraint")
_PROPAGATES = ("propagate", "propagate_assumptions")
DROP_ASSUMPTIONS = frozenset(("reset_assumptions", *_PROPAGATES))
DROP_CONSTRAINT = frozenset(("reset_constraint", *_PROPAGATES))
"""Calls of CaDiCaL after which assumptions or the constraint are gone."""
_KEPT_RESULTS = frozenset(("solve", "simplify", "value", "failed", "fixed"))
SOLVES = frozenset(("solve", "simplify", "lookahead"))
"""What ends a round."""


def convert(
    calls: Sequence[Call], source: str, target: str
) -> tuple[tuple[Call, ...], tuple[Call, ...]]:
    """Return the calls in the words of another API, and those that it has no words for.

    Lingeling must not be given variables again that it may have eliminated, so
    a trace for it that solves more than once freezes every variable at its
    first use. Its `fixate` becomes units. A constraint of CaDiCaL becomes a clause with one more
    variable, which is assumed to be false in its solve; assumptions that it drops are left out,
    as are queries that the other API does not allow. Raises UsageError for an API that is not
    among `APIS`.
    """
    for name in (source, target):
        if name not in NAMES:
            raise UsageError(f"expected one of {', '.join(APIS)}, found {name!r}")
    meaning = {name: what for what, name in NAMES[source].items()}
    names = NAMES[target]
    solves = sum(meaning.get(call.name, "") in SOLVES for call in calls)
    freezing = target == "lingeling" and source != "lingeling" and solves > 1
    dropped = _dropped(calls, meaning) if source == "cadical" != target else frozenset()
    # Where the beginning is missing, the state of the solver is unknown.
    whole = any(meaning.get(call.name) == "init" for call in calls[:1])
    careful = whole and source == "cadical"
    writer = _Writer(names, target, calls, freezing=freezing, careful=careful)
    assumed: list[int] = []
    constraint: list[int] = []
    closed = solved = lemmas = False
    for index, call in enumerate(calls):
        if source == "lingeling" and call.name == "fixate" and target != "lingeling":
            for literal in () if solved else assumed:
                writer.clause([literal])
            continue
        what = meaning.get(call.name)
        lemmas |= call.name == _LEMMA
        first = call.arguments[0] if call.arguments else 0
        if source != target and call.name in DROP_CONSTRAINT:
            constraint, closed = [], False
        if source != target and call.name in _CONSTRAINTS and isinstance(first, int):
            if closed:
                constraint, closed = [], False
            if call.name == "constrain":
                constraint += [first] if first else []
                closed = not first
            continue
        if index in dropped:
            continue
        if what is None or what not in names:
            if call.name != "return":
                writer.left_out.append(call)
            continue
        if what in ("add", "assume") and isinstance(first, int):
            if solved:
                assumed, solved = [], False
                constraint, closed = [], False
            if what == "assume":
                assumed.append(first)
            writer.freeze(first)
        elif what in SOLVES:
            if closed:
                writer.constrain(constraint)
                constraint, closed = [], False
            solved = True
        result = call.result if what in _KEPT_RESULTS and not lemmas else None
        if what == "value":
            result = _value(first, result, source, target)
        writer.put(Call(names[what], call.arguments, 0, result), call)
    return tuple(writer.calls), tuple(writer.left_out)


class _Writer:
    """Makes calls of another API, none of which it does not allow if that changes no answer."""

    def __init__(
        self,
        names: Mapping[str, str],
        target: str,
        calls: Sequence[Call],
        *,
        freezing: bool,
        careful: bool,
    ) -> None:
        self.calls: list[Call] = []
        self.left_out: list[Call] = []
        self._names = names
        self._machine = Machine(load_model(target))
        known = self._machine.model.calls
        self._omitted = {
            name for name in names.values() if careful and known[name].role in ("query", "hint")
        }
        self._freezing = freezing
        self._frozen: set[int] = set()
        literals = (call.arguments[0] for call in calls if call.arguments)
        self._last = max((abs(each) for each in literals if isinstance(each, int)), default=0)

    def put(self, call: Call, original: Call | None = None) -> None:
        """Make a call; a query that is not allowed is left out, as the original one."""
        refused = call.name in self._omitted and self._machine.allowed(call) is not None
        if refused and original is not None:
            self.left_out.append(original)
            return
        self._machine.after(call)
        self.calls.append(call)

    def freeze(self, literal: int) -> None:
        """Freeze a variable at its first use, if that is needed."""
        if self._freezing and literal and abs(literal) not in self._frozen:
            self._frozen.add(abs(literal))
            self.put(Call("freeze", (abs(literal),)))

    def clause(self, literals: Sequence[int]) -> None:
        """Add a clause."""
        for literal in (*literals, 0):
            self.freeze(literal)
            self.put(Call(self._names["add"], (literal,)))

    def constrain(self, literals: Sequence[int]) -> None:
        """Add a clause that holds for the next solve only."""
        self._last += 1
        self.clause([*literals, self._last])
        self.put(Call(self._names["assume"], (-self._last,)))


def _dropped(calls: Sequence[Call], meaning: Mapping[str, str]) -> frozenset[int]:
    """Return the indices of assumptions that are dropped before any solve."""
    found: set[int] = set()
    waiting: list[int] = []
    for index, call in enumerate(calls):
        if meaning.get(call.name) == "assume":
            waiting.append(index)
        elif call.name in DROP_ASSUMPTIONS:
            found.update(waiting)
            waiting = []
        elif meaning.get(call.name) in SOLVES:
            waiting = []
    return frozenset(found)


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
