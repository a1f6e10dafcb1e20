"""A model's `[generate]` section, compiled: what the generator looks at in each step.

Conditions and expressions become functions of the machine and a variable; what
of a call's result steers the machine is looked up once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from reducekit.frontends.trace.generate.options import fuzzed_options
from reducekit.frontends.trace.language.calls import Call, Value
from reducekit.frontends.trace.model.compiler import compiled
from reducekit.frontends.trace.model.conditions import Code
from reducekit.frontends.trace.model.definition import CallModel, Model, Option, Step
from reducekit.frontends.trace.model.machine import Machine
from reducekit.frontends.trace.model.structure import ModelError

Condition = Callable[[Machine, Any, int], bool]
"""Of a machine, its data and a variable."""
Number = Callable[[Machine, Any, int], int]
Chosen = Callable[[Machine, Any, int], list[int]]
"""Of a machine, its data and the greatest variable to choose from."""
_MENTIONS = re.compile(r"\b(?:result|unanswered)\b")


@dataclass(frozen=True, slots=True)
class StepPlan:
    """A step with its chances as floats and its texts as functions.

    `names` and `weights` (summed up) are those of its calls; `times` and `upto`
    are None where the step has none. `chosen` lists the variables up to a number for
    which `where` holds, all without it.
    """

    step: Step
    names: tuple[str, ...]
    weights: tuple[int, ...]
    probability: float
    again: float
    times: tuple[Number, Number] | None
    share: tuple[float, float] | None
    where: Condition | None
    chosen: Chosen
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

    `refuses` returns 0 for arguments that the call may be made with, by the rules for
    generators too. A query changes nothing; of a call that steers, the result changes the
    state of the machine; `literal` says that it takes a literal or variable, `alone` that it
    takes a literal and nothing else, `handles` that it takes one or more of these, `idle`
    that it leaves the state as it is, `plain` that, in addition, it may be made with all literals
    or with none. `one` and `each` are those of the compiler. `known` remembers calls that
    were made before, by their arguments: most occur in many traces; `literals` those of the
    literals 1, -1, 2, -2, ...
    """

    model: CallModel
    refuses: Callable[[Any, tuple[Value, ...]], int]
    after: Callable[[Any, tuple[Value, ...], Any], None]
    query: bool
    steers: bool
    literal: bool
    handles: bool
    alone: bool
    idle: bool
    plain: bool
    one: Callable[[Any, int], bool] | None
    each: Callable[[Any, Iterable[int]], list[int]] | None
    known: dict[tuple[Value, ...], Call]
    literals: list[Call]

    def of_literals(self, most: int) -> list[Call]:
        """Return calls of the literals 1, -1, ..., up to a variable or further."""
        found = self.literals
        for variable in range(len(found) // 2 + 1, most + 1):
            found += [Call(self.model.name, (each,)) for each in (variable, -variable)]
        return found


@dataclass(frozen=True, slots=True)
class Settling:
    """What changes nothing when it is done again, as long as only clauses are added.

    `literals`: to add a literal within a clause that was added within one before.
    `clauses`: to add a whole clause of such literals, once two others were added.
    """

    literals: bool = False
    clauses: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """All that a generator has to know of a model.

    `calls` are all calls by name. `clause` is the one that adds clauses (or
    None), `settling` what of it need not be checked twice; `define` is one that makes a variable
    and takes no arguments. `fuzzed` are the options that random values are set to.
    """

    model: Model
    phases: Mapping[str, PhasePlan]
    first: str
    calls: Mapping[str, CallPlan]
    clause: CallModel | None
    settling: Settling
    define: str
    close: tuple[float, ...]
    fuzzed: Sequence[Option]


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
        Settling() if clause is None else _settling(clause, model),
        next((c.name for c in model.calls.values() if c.role == "define" and not c.arguments), ""),
        () if model.data is None else tuple(map(float, model.data.close)),
        fuzzed_options(model.options),
    )


def _call(call: CallModel, model: Model) -> CallPlan:
    rules = compiled(model)[call.name]
    types = [each.type for each in call.arguments]
    alone = [each.kind for each in types] == ["literal"]
    idle = not (call.effects or call.outcomes or call.target or call.produces or call.releases)
    same = all((each.low, each.high) == (None, None) for each in types)
    steers = _steers(call)
    return CallPlan(
        call,
        rules.refuses,
        rules.after,
        call.role == "query",
        steers,
        any(each.kind in ("literal", "variable") for each in types),
        any(each.kind == "handle" for each in types),
        alone,
        idle,
        alone and idle and same and not (steers or call.requires or call.careful),
        rules.one,
        rules.each,
        {},
        [],
    )


def _takes_literals(clause: CallModel) -> bool:
    """Return whether a call takes a literal at a time with 0 at the end, or a list of literals."""
    if len(clause.arguments) != 1 or clause.arguments[0].type.kind != "literal":
        return False
    return clause.arguments[0].star or clause.arguments[0].type.zero


def _steers(call: CallModel) -> bool:
    """Return whether the state of a machine depends on what a call returns."""
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
_GOTO = re.compile(r"goto (\w+) when LIT (!?=) 0")
_OPENS = re.compile(r"(\w+) = LIT != 0")


def _settling(call: CallModel, model: Model) -> Settling:
    """Return what of adding clauses need not be checked twice; nothing where that is unclear.

    Neither what is asked before a call, nor what it changes, can have become something
    else since: literals were added and clauses closed, no more. A whole clause begins
    and ends in the same state then, if its first literal does nothing but to open it.
    """
    argument = call.arguments[0].name
    texts = [re.sub(rf"\b{argument}\b", "LIT", each.text) for each in call.effects]
    inside = outside = call.target
    for text in texts:
        if (match := _GOTO.fullmatch(text)) is not None:
            if match[2] == "!=":
                inside = model.sets[match[1]]
            else:
                outside = model.sets[match[1]]
    clauses = not (inside | outside) & ~call.source
    flags, asked, counters = set(), set(), set()
    opens: set[str | None] = set()
    for text in texts:
        if (match := _ONCE.fullmatch(text)) is not None:
            # It must not happen within a clause; nor at its beginning.
            states, sign = model.sets[match["states"]], bool(match["sign"])
            if (not inside & ~states) != sign:
                return Settling()
            clauses = clauses and (outside & states == (outside if sign else 0))
        elif (match := _IDEMPOTENT.fullmatch(text)) is None:
            return Settling()
        else:
            counter = match["counter"]
            if counter is not None and not text.startswith(f"{counter} ="):
                return Settling()
            flags.add(match["flag"])
            asked.add(match["asked"])
            counters.add(counter)
            if (match := _OPENS.fullmatch(text)) is not None:
                opens.add(match[1])
    rules = [each.code for each in (*call.requires, *call.careful)]
    for rule in rules:
        # What is asked of a literal must not depend on whether it is the first one.
        if argument in rule.names and ("m.mask" in rule.text or opens & rule.names):
            clauses = False
    literals = bool(inside) and asked <= flags and not any(counters & rule.names for rule in rules)
    return Settling(literals, literals and clauses and bool(outside))


def _step(step: Step, model: Model) -> StepPlan:
    names = tuple(name for name, _ in step.calls)
    where = "True" if step.where is None else step.where.code.text
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
        _evaluated(f"lambda m, d, most: [v for v in range(1, most + 1) if {where}]", model),
        None if step.upto is None else _function(step.upto, model),
    )


def _function(code: Code, model: Model) -> Callable[[Machine, Any, int], Any]:
    """Return a compiled text as a function of the machine, its data and the variable `v`."""
    found: Callable[[Machine, Any, int], Any] = _evaluated(f"lambda m, d, v: {code.text}", model)
    return found


def _evaluated(source: str, model: Model) -> Any:
    names: dict[str, Any] = {f"h_{name}": hook for name, hook in model.hooks.items()}
    # The text was made when the model was read, of names and numbers that were looked up.
    return eval(compile(source, model.name, "eval"), names)
