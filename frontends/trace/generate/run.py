"""A trace that is being made: its calls, what they returned, and the state of the model."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from reducekit.frontends.trace.language.calls import Call, Value
from reducekit.frontends.trace.model.conditions import Code
from reducekit.frontends.trace.model.definition import CallModel, Model, Step
from reducekit.frontends.trace.model.machine import Machine, compiled
from reducekit.frontends.trace.model.structure import ModelError

Play = Callable[[Sequence[Call]], Sequence[Value | None]]
"""Plays the next calls and returns their results, None for a call without one.

Fewer results than calls mean that the trace has ended in the first call without one.
"""
Function = Callable[[Machine, Any, int], Any]
"""A condition or expression of a machine, its data and a variable."""

_REMEMBERED = 1 << 16  # calls of a name that are kept for further traces
_MENTIONS = re.compile(r"\b(?:result|unanswered)\b")


class Ended(Exception):
    """The trace has ended in a call."""


@dataclass(frozen=True, slots=True)
class CallPlan:
    """What the generator looks at for each call that it makes.

    `refuses` returns 0 for arguments that the call may be made with, by the rules for
    generators too. A query changes nothing; of a call that steers, the result changes the
    state of the machine; `literal` says that it takes a literal or variable, `alone` that it
    takes a literal and nothing else, `handles` that it takes one or more of these. `known`
    remembers calls that were made before, by their arguments: most occur in many traces.
    """

    model: CallModel
    refuses: Callable[[Any, tuple[Value, ...]], int]
    after: Callable[[Any, tuple[Value, ...], Any], None]
    query: bool
    steers: bool
    literal: bool
    handles: bool
    alone: bool
    known: dict[tuple[Value, ...], Call]


@dataclass(frozen=True, slots=True)
class Plan:
    """All that a generator has to know of a model.

    `clause` is the call that adds clauses (or None), `define` one that makes a variable and takes
    no arguments ("" for none); `close` are the chances that a clause ends after each literal.
    """

    model: Model
    calls: Mapping[str, CallPlan]
    clause: CallModel | None
    define: str
    close: tuple[float, ...]
    functions: dict[str, Function] = field(default_factory=dict)

    def function(self, code: Code) -> Function:
        """Return a compiled text as a function; `v` is the variable."""
        found = self.functions.get(code.text)
        if found is None:
            names: dict[str, Any] = {f"h_{name}": hook for name, hook in self.model.hooks.items()}
            # The text was made when the model was read, of names and numbers that were looked up.
            source = compile(f"lambda m, d, v: {code.text}", self.model.name, "eval")
            found = self.functions[code.text] = eval(source, names)
        return found


def plan_of(model: Model) -> Plan:
    """Compile the generator of a model. Raises ModelError if it has none that can be used."""
    if not model.phases:
        raise ModelError(f"{model.name}: the model has no [generate] section: nothing is made")
    clause = next((each for each in model.calls.values() if each.role == "clause"), None)
    adds = any(step.action == "clauses" for ph in model.phases.values() for step in ph.steps)
    arguments = () if clause is None else clause.arguments
    # By a literal at a time with 0 at the end, or by a list of literals.
    takes = [each.star or each.type.zero for each in arguments if each.type.kind == "literal"]
    if adds and (model.data is None or takes != [True] or len(arguments) > 1):
        raise ModelError(
            f"{model.name}: [generate] 'clauses' wants a [data] section, and a call with the "
            "role 'clause' that takes one literal, or a list of them"
        )
    return Plan(
        model,
        {name: _plan(each, model) for name, each in model.calls.items()},
        clause,
        next((c.name for c in model.calls.values() if c.role == "define" and not c.arguments), ""),
        () if model.data is None else tuple(map(float, model.data.close)),
    )


def _plan(call: CallModel, model: Model) -> CallPlan:
    rules = compiled(model)[call.name]
    kinds = [each.type.kind for each in call.arguments]
    used = call.result is not None and any(_MENTIONS.search(each.text) for each in call.effects)
    return CallPlan(
        call,
        rules.refuses,
        rules.after,
        call.role == "query",
        bool(call.outcomes or call.produces or used),
        "literal" in kinds or "variable" in kinds,
        "handle" in kinds,
        kinds == ["literal"],
        {},
    )


class Run:
    """A trace that is being made.

    `variables` is the greatest variable in use. Calls from `played` on have not been played yet;
    `waiting` are queries among them whose results the machine has to hear of.
    """

    def __init__(self, plan: Plan, random: Callable[[], float], play: Play | None) -> None:
        self.plan = plan
        self.random = random
        self.play = play
        self.machine = machine = Machine(plan.model)
        self.data = machine.data
        self.plans = plan.calls
        self.calls: list[Call] = []
        self.results: list[tuple[int, Sequence[Value | None]]] = []
        self.played = 0
        self.waiting: list[int] = []
        self.variables = 0
        self.last: tuple[Value, ...] = ()
        counter = plan.model.variables.get("variables")
        self.counter = counter.slot if counter and not counter.per and not counter.flag else -1
        if (data := plan.model.data) is not None:
            few = self.chance(float(data.few.probability))
            self.variables = self.between(*(data.few.variables if few else data.variables))

    def between(self, low: int, high: int) -> int:
        """Return a random number; the lower one if the bounds are the wrong way round."""
        return low + int(self.random() * (high - low + 1)) if high > low else low

    def chance(self, probability: float) -> bool:
        """Throw the dice; not at all where it never happens, so seeds keep their traces."""
        return probability > 0 and self.random() < probability

    def value(self, code: Code) -> Any:
        """Return the value of an expression now."""
        return self.plan.function(code)(self.machine, self.data, 0)

    def candidates(self, step: Step) -> list[int]:
        """Return the variables that literals of a step are chosen from."""
        most = self.greatest() if step.upto is None else self.value(step.upto)
        if step.where is None:
            return list(range(1, most + 1))
        holds, machine, data = self.plan.function(step.where.code), self.machine, self.data
        return [each for each in range(1, most + 1) if holds(machine, data, each)]

    def greatest(self) -> int:
        """Return the greatest variable that there is."""
        if self.counter >= 0:
            self.variables = max(self.variables, self.data[self.counter])
        return self.variables

    def make(self, plan: CallPlan, arguments: tuple[Value, ...]) -> bool:
        """Make a call if the model allows it; return whether it does."""
        machine = self.machine
        if plan.refuses(machine, arguments):
            return False
        if self.waiting and not plan.query:
            self.flush()
            return self.make(plan, arguments)
        self.last = arguments
        if plan.model.produces:
            # Named here, not by what the solver returns: the same in each replay.
            name = f"{plan.model.produces[0]}{len(self.calls) + 1}"
            self.calls.append(Call(plan.model.name, arguments, 0, name))
            plan.after(machine, arguments, name)
            return True
        self.calls.append(self.call(plan, arguments))
        if not plan.steers or self.play is None:
            plan.after(machine, arguments, None)
        else:
            # A query changes nothing but what is known, so many are played at once.
            self.waiting.append(len(self.calls) - 1)
            if not plan.query:
                self.flush()
        return True

    def call(self, plan: CallPlan, arguments: tuple[Value, ...]) -> Call:
        """Return a call, the same object each time."""
        found = plan.known.get(arguments)
        if found is None:
            if len(plan.known) > _REMEMBERED:
                plan.known.clear()
            found = plan.known[arguments] = Call(plan.model.name, arguments)
        return found

    def flush(self) -> None:
        """Play what has not been played, and tell the machine what it has to know.

        Raises Ended.
        """
        if self.play is None or self.played == len(self.calls):
            return
        first, pending = self.played, self.calls[self.played :]
        results = self.play(pending)
        self.results.append((first, results))
        self.played = len(self.calls)
        if len(results) < len(pending):
            del self.calls[first + len(results) + 1 :]
            raise Ended
        for index in self.waiting:
            call = self.calls[index]
            self.plans[call.name].after(self.machine, call.arguments, results[index - first])
        self.waiting.clear()
