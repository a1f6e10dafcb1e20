"""Runs a model: which call is allowed now, and what it leads to.

A `Machine` is the state of a model: the set of states it may be in, its
counters and flags. It is the same for the checker, the reducer's filter and the
generator. A filter asks it millions of times, so the rules of each call are
compiled to two Python functions (about 500,000 calls a second on one core).

Where a result that steers the state is unknown, the machine is in several
states at once. A call is allowed if it is in one of them; once it was made,
only those are left. So nothing is refused that may be right.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from typing import Any

from reducekit.frontends.trace.language.calls import Call, Value
from reducekit.frontends.trace.model.compiler import Fault, compiled
from reducekit.frontends.trace.model.definition import Model

_NAMED = 24  # names that a message lists, and characters of a name that it shows


@dataclass(frozen=True, slots=True)
class Violation:
    """Why a call is not allowed.

    `rule` is short and the same for all calls that break it: a condition of
    the model as written there, `from ...` for the states, `unknown call`, or
    what an argument has to be. `malformed` says that it is no call of the API
    at all (unknown, wrong arguments), so that no interpreter could read it;
    otherwise it breaks the API's contract.
    """

    rule: str
    message: str
    malformed: bool = False


class Machine:
    """The state of a model, at first before any call.

    `mask` has a bit for each state that the machine may be in.
    """

    __slots__ = ("_rules", "data", "mask", "model")

    def __init__(self, model: Model) -> None:
        self.model = model
        self.mask = model.initial
        self._rules = compiled(model)
        self.data: list[Any] = [
            (set() if each.flag else {})
            if each.per
            else (bool(each.initial) if each.flag else each.initial)
            for each in model.variables.values()
        ]
        self.data.extend({} for _ in model.live)

    def copy(self) -> Machine:
        """Return a machine in the same state."""
        other = Machine.__new__(Machine)
        other.model, other.mask, other._rules = self.model, self.mask, self._rules
        # Sets and dictionaries hold no objects of their own, so a copy of each is deep enough.
        other.data = [each.copy() if isinstance(each, (set, dict)) else each for each in self.data]
        return other

    def clear(self) -> None:
        """Go back to where the machine was at first."""
        self.mask = self.model.initial
        for slot, each in enumerate(self.model.variables.values()):
            if each.per:
                self.data[slot].clear()
            else:
                self.data[slot] = bool(each.initial) if each.flag else each.initial
        for slot in self.model.live.values():
            self.data[slot].clear()

    @property
    def states(self) -> tuple[str, ...]:
        """The names of the states that the machine may be in."""
        return tuple(
            name for number, name in enumerate(self.model.states) if self.mask >> number & 1
        )

    def value(self, name: str, key: Value = 0) -> int:
        """Return a counter or flag (as 0 or 1), for a literal or handle where it has one for each.

        Raises KeyError for a name that the model does not have.
        """
        variable = self.model.variables[name]
        if not variable.per:
            return int(self.data[variable.slot])
        if variable.per == "variable":
            key = abs(int(key))
        elif variable.per.startswith("handle:") and len(variable.per) > len("handle:"):
            key = str(key).replace(variable.per[len("handle:") :], "", 1)
        if variable.flag:
            # The set holds those for which the flag is not what it was at first.
            return int((key in self.data[variable.slot]) != bool(variable.initial))
        return int(self.data[variable.slot].get(key, variable.initial))

    def allowed(self, call: Call) -> Violation | None:
        """Return why the call must not be made now, None if it may. Changes nothing."""
        rules = self._rules.get(call.name)
        if rules is None:
            known = tuple(name for name, each in self.model.calls.items() if not each.rejected)
            return _unknown(call.name, self.model.title, known)
        number = rules.allow(self, call.arguments)
        return None if not number else self._violation(call, rules.faults[number - 1])

    def careful(self, call: Call) -> Violation | None:
        """Return which rule for generators forbids a call that is allowed, None if none does."""
        rules = self._rules[call.name]
        number = rules.careful(self, call.arguments)
        return None if not number else self._violation(call, rules.faults[number - 1])

    def after(self, call: Call, result: Value | None = None) -> None:
        """Go on to the state after an allowed call.

        `result` is what it returned, by default what was recorded; None if
        that is unknown. For a call that is not allowed, the outcome is
        undefined, but nothing is raised.
        """
        if result is None:
            result = call.result
        # An unknown call changes nothing: `allowed` refuses it.
        rules = self._rules.get(call.name)
        if rules is not None:
            rules.after(self, call.arguments, result)

    def make(self, call: Call) -> Violation | None:
        """Make a call with its recorded result if it is allowed; return why it is not."""
        rules = self._rules.get(call.name)
        if rules is None:
            return self.allowed(call)  # which says what else may be meant
        # In one function, as this is what a filter does millions of times.
        number = rules.make(self, call.arguments, call.result)
        return None if not number else self._violation(call, rules.faults[number - 1])

    def ends_group(self, call: Call) -> bool:
        """Return whether a call is the last of its group, as the 0 of a clause is.

        One that lacks its arguments, in a text that only a command can read, ends nothing.
        """
        rules = self._rules[call.name]
        try:
            return rules.end is not None and rules.end(self, call.arguments)
        except IndexError:
            return False

    def _violation(self, call: Call, fault: Fault) -> Violation:
        if fault.rule.startswith("from "):
            here = " or ".join(self.states)
            return Violation(fault.rule, f"'{call}' is {fault.why}, but the state is {here}")
        return Violation(fault.rule, f"'{call}': {fault.why}", fault.malformed)


@lru_cache(maxsize=1024)  # a trace that only a command can read asks for the same again and again
def _unknown(name: str, title: str, known: tuple[str, ...]) -> Violation:
    near = get_close_matches(name, known, 3)
    some = near or known[:_NAMED]
    listed = ", ".join(some) + (", ..." if len(some) < len(known) else "")
    return Violation(
        "unknown call",
        f"expected a call of {title} ({listed}), found '{name[:_NAMED]}'",
        malformed=True,
    )


def run(machine: Machine, calls: Iterable[Call]) -> Violation | None:
    """Make the calls with their recorded results; stop at the first that is not allowed."""
    for call in calls:
        violation = machine.make(call)
        if violation is not None:
            return violation
    return None
