"""A model's `[generate]` section, compiled: what the generator looks at in each step.

Conditions and expressions become functions of the machine and a variable; what
of a call's result steers the machine is looked up once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from reducekit.frontends.trace.calls import Call, Value
from reducekit.frontends.trace.compiler import compiled
from reducekit.frontends.trace.language import Code
from reducekit.frontends.trace.machine import Machine
from reducekit.frontends.trace.model import CallModel, Model, ModelError, Step

Condition = Callable[[Machine, Any, int], bool]
"""Of a machine, its data and a variable."""
Number = Callable[[Machine, Any, int], int]
_MENTIONS = re.compile(r"\b(?:result|unanswered)\b")


@dataclass(frozen=True, slots=True)
class StepPlan:
    """A step with its chances as floats and its texts as functions.

    `names` and `weights` (summed up) are those of its calls; `times` and `upto`
    are None where the step has none.
    """

    step: Step
    names: tuple[str, ...]
    weights: tuple[int, ...]
    probability: float
    again: float
    times: tuple[Number, Number] | None
    share: tuple[float, float] | None
    where: Condition | None
    upto: Number | None


@dataclass(frozen=True, slots=True)
class NextPlan:
    """Where a phase may lead to."""

    phase: str
    probability: float
    when: Condition | None


@dataclass(frozen=True, slots=True)
class PhasePlan:
    """A phase: its steps, and what may follow."""

    steps: tuple[StepPlan, ...]
    following: tuple[NextPlan, ...]


@dataclass(frozen=True, slots=True)
class CallPlan:
    """What the generator looks at for each call that it makes.

    `careful` is None if there are no rules for generators. A query changes nothing; of
    a call that steers, the result changes the state of the machine; `literal` says
    that it takes a literal or variable. `known` remembers calls that were made
    before, by their arguments: most occur in many traces.
    """

    model: CallModel
    allow: Callable[[Any, tuple[Value, ...]], int]
    careful: Callable[[Any, tuple[Value, ...]], int] | None
    after: Callable[[Any, tuple[Value, ...], Any], None]
    query: bool
    steers: bool
    literal: bool
    known: dict[tuple[Value, ...], Call]


@dataclass(frozen=True, slots=True)
class Plan:
    """All that a generator has to know of a model.

    `calls` are all calls by name. `clause` is the one that adds clauses (None if there
    is none), which `settles` if to add a literal again changes nothing; `define` is
    one that makes a variable and takes no arguments.
    """

    model: Model
    phases: Mapping[str, PhasePlan]
    first: str
    calls: Mapping[str, CallPlan]
    clause: CallModel | None
    settles: bool
    define: str
    close: tuple[float, ...]


def plan_of(model: Model) -> Plan:
    """Compile the generator of a model. Raises ModelError if it has none that can be used."""
    if not model.phases:
        raise ModelError(f"{model.name}: the model has no [generate] section: nothing is made")
    clause = next((each for each in model.calls.values() if each.role == "clause"), None)
    adds = any(step.action == "clauses" for ph in model.phases.values() for step in ph.steps)
    if adds and (model.data is None or clause is None or not _takes_literals(clause)):
        raise ModelError(
            f"{model.name}: [generate] 'clauses' wants a [data] section, and a call with the "
            "role 'clause' that takes one literal, or a list of them"
        )
    phases = {
        name: PhasePlan(
            tuple(_step(step, model) for step in phase.steps),
            tuple(
                NextPlan(
                    each.phase,
                    float(each.probability),
                    None if each.when is None else _function(each.when.code, model),
                )
                for each in phase.following
            ),
        )
        for name, phase in model.phases.items()
    }
    return Plan(
        model,
        phases,
        next(iter(model.phases)),
        {name: _call(each, model) for name, each in model.calls.items()},
        clause,
        clause is not None and _settles(clause, model),
        next((c.name for c in model.calls.values() if c.role == "define" and not c.arguments), ""),
        () if model.data is None else tuple(map(float, model.data.close)),
    )


def _call(call: CallModel, model: Model) -> CallPlan:
    rules = compiled(model)[call.name]
    return CallPlan(
        call,
        rules.allow,
        rules.careful if call.careful else None,
        rules.after,
        call.role == "query",
        _steers(call),
        any(each.type.kind in ("literal", "variable") for each in call.arguments),
        {},
    )


def _takes_literals(clause: CallModel) -> bool:
    """Say whether a call takes a literal at a time with 0 at the end, or a list of literals."""
    if len(clause.arguments) != 1 or clause.arguments[0].type.kind != "literal":
        return False
    return clause.arguments[0].star or clause.arguments[0].type.zero


def _steers(call: CallModel) -> bool:
    """Say whether the state of a machine depends on what a call returns."""
    if call.outcomes or call.produces:
        return True
    return call.result is not None and any(_MENTIONS.search(each.text) for each in call.effects)


# Effects that change nothing when they happen again for the same literal, as long as only
# literals other than 0 are added: an assignment of a constant, of whether a clause is open,
# of a maximum; a flag of the literal; what happens only while that flag is not set.
_IDEMPOTENT = re.compile(
    r"\w+ = (?:true|false|\d+|LIT != 0|max\((?P<counter>\w+), abs\(LIT\)\))"
    r"|(?P<flag>\w+)\(LIT\) = true"
    r"|\w+ = false when (?:LIT != 0 and )?not (?P<asked>\w+)\(LIT\)"
    r"|goto \w+ when LIT != 0|goto \w+ when LIT = 0"
)
_ONCE = re.compile(r"(?:clear \w+|\w+ = \d+) when (?P<sign>not )?state in (?P<states>\w+)")
_GOTO = re.compile(r"goto (\w+) when LIT != 0")


def _settles(call: CallModel, model: Model) -> bool:
    """Say whether a literal that was added within a clause can be added again without a look.

    Then neither what is asked before, nor what is changed, can have become something else
    since: literals were added and clauses closed, no more. False if that cannot be told.
    """
    argument = call.arguments[0].name
    texts = [re.sub(rf"\b{argument}\b", "LIT", each.text) for each in call.effects]
    steady = call.target
    for text in texts:
        if (match := _GOTO.fullmatch(text)) is not None:
            steady = model.sets[match[1]]
    flags, asked, counters = set(), set(), set()
    for text in texts:
        if (match := _ONCE.fullmatch(text)) is not None:
            # It must not happen within a clause.
            inside = not steady & ~model.sets[match["states"]]
            if inside != bool(match["sign"]):
                return False
        elif (match := _IDEMPOTENT.fullmatch(text)) is None:
            return False
        else:
            counter = match["counter"]
            if counter is not None and not text.startswith(f"{counter} ="):
                return False
            flags.add(match["flag"])
            asked.add(match["asked"])
            counters.add(counter)
    rules = (*call.requires, *call.careful)
    return bool(steady) and asked <= flags and not any(counters & each.code.names for each in rules)


def _step(step: Step, model: Model) -> StepPlan:
    names = tuple(name for name, _ in step.calls)
    return StepPlan(
        step,
        names,
        tuple(accumulate(weight for _, weight in step.calls)),
        float(step.probability),
        float(step.again),
        None
        if step.times is None
        else (_function(step.times[0], model), _function(step.times[1], model)),
        None if step.share is None else (float(step.share[0]), float(step.share[1])),
        None if step.where is None else _function(step.where.code, model),
        None if step.upto is None else _function(step.upto, model),
    )


def _function(code: Code, model: Model) -> Callable[[Machine, Any, int], Any]:
    """Return a compiled text as a function of the machine, its data and the variable `v`."""
    names: dict[str, Any] = {f"h_{name}": hook for name, hook in model.hooks.items()}
    # The text was made when the model was read, of names and numbers that were looked up.
    source = f"lambda m, d, v: {code.text}"
    found: Callable[[Machine, Any, int], Any] = eval(compile(source, model.name, "eval"), names)
    return found
