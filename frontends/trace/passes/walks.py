"""Random walks from a short trace: several small steps at a time.

Where no one or two changes make a trace smaller, there often is a smaller one a few
steps off: with another call in a call's place, a fresh variable for one that is used
twice, a solve more and a clause less. There are too many such combinations to try them
all, but some are among the first thousands that are made at random.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from random import Random

from reducekit.frontends.trace.language.calls import Call
from reducekit.frontends.trace.model.definition import CallModel, Type
from reducekit.frontends.trace.model.machine import Machine
from reducekit.frontends.trace.passes import drop
from reducekit.frontends.trace.passes.options import (
    OptionMode,
    free_settings,
    settings,
)
from reducekit.frontends.trace.passes.view import TraceView

# The maximum number of walks; about one in three is useful.
_WALKS = 40_000
# Numbers of steps of a walk; a repeated number is more likely.
_STEPS = (1, 2, 2, 3, 3, 4, 5, 6)
# The probability that a step drops something.
_DROPS = 0.6
# The probability that a literal is 0, if 0 ends a clause.
_ENDS = 0.3
# The number of smallest values to try.
_NUMBERS = 3
_PLAIN = frozenset(("literal", "variable", "int"))
_APART = ("init", "release", "option")


def walks(view: TraceView, options: OptionMode) -> Iterator[Sequence[Call]]:
    """Yield the traces at the ends of random walks, always the same for the same trace.

    No call breaks the contract; a new call is made only if that is certain without the solver.
    """
    walk, most, known = _Walk(view, options), len(view.bare), {*view.bare}
    for _ in range(_WALKS):
        calls = walk.end()
        if len(calls) < most and surely_lawful(view, calls, known):
            yield calls


def surely_lawful(view: TraceView, calls: Iterable[Call], known: Set[Call]) -> bool:
    """Return whether the contract is kept, whatever the calls that are not `known` return or find.

    Known ones are calls of a trace that was replayed: it is enough that they may be allowed.
    """
    machine, models = Machine(view.model), view.model.calls
    for call in calls:
        if call.name == "return":
            continue
        if machine.allowed(call) is not None:
            return False
        # Where the machine is in several states, only the solver knows; a call of the trace itself
        # was allowed in a replay.
        sure = call in known or not machine.mask & ~models[call.name].source
        if not sure or (call not in known and machine.careful(call) is not None):
            return False
        machine.after(call)
    return True


class _Walk:
    """The steps that there are from a trace."""

    def __init__(self, view: TraceView, options: OptionMode) -> None:
        self._bare = view.bare
        self._option = view.model.options.call
        self._chance = Random(view.document.text)
        self._by_name = {
            name: model
            for name, model in view.model.calls.items()
            if model.role not in _APART
            and not (model.rejected or model.produces)
            and all(each.type.kind in _PLAIN and not each.star for each in model.arguments)
        }
        self._models = [*self._by_name.values()]
        used = sorted({variable for _, variable in drop.mentions(view)})
        self._variables = [*used, max(used, default=0) + 1]
        self._given = settings(view) if options != "none" else ()
        self._free = free_settings(view) if options == "all" else ()
        kept = {*view.roles("init"), *(view.options if options == "none" else ())}
        singles = ((index,) for index in range(len(view.bare)) if index not in kept)
        self._units = [*singles, *view.groups, *drop.variables(view)]

    def end(self) -> list[Call]:
        """Return the trace after some steps, drops first."""
        chance = self._chance
        steps = chance.choice(_STEPS)
        gone: set[int] = set()
        while steps and chance.random() < _DROPS:
            gone.update(chance.choice(self._units))
            steps -= 1
        calls = [call for index, call in enumerate(self._bare) if index not in gone]
        for _ in range(steps):
            self._step(calls)
        return calls

    def _step(self, calls: list[Call]) -> None:
        """Alter, move or insert a call."""
        chance = self._chance
        at, dice = chance.randint(1, len(calls)), chance.random()
        if dice < 0.1 or not self._models:
            if self._free:
                calls.insert(1, self._setting())
        elif at == len(calls) or dice < 0.35:
            calls.insert(at, self._call(chance.choice(self._models)))
        elif calls[at].name == self._option:
            if self._given:
                calls[at] = self._setting()
        elif dice < 0.5:
            calls.insert(chance.randrange(1, len(calls)), calls.pop(at))
        elif dice < 0.75:
            calls[at] = self._call(chance.choice(self._models))
        else:
            model = self._by_name.get(calls[at].name)
            if model is not None:
                calls[at] = self._call(model)

    def _call(self, model: CallModel) -> Call:
        """Return a call with any arguments."""
        return Call(model.name, tuple([self._value(each.type) for each in model.arguments]))

    def _value(self, kind: Type) -> int:
        """Return any variable or literal, or a small number."""
        chance = self._chance
        if kind.kind == "int":
            low = kind.low or 0
            value = low + chance.randrange(_NUMBERS)
            return value if kind.high is None else min(value, kind.high)
        if kind.zero and chance.random() < _ENDS:
            return 0
        variable = chance.choice(self._variables)
        return -variable if kind.kind == "literal" and chance.random() < 0.5 else variable

    def _setting(self) -> Call:
        """Return what sets an option, one of those that are set as often as any other."""
        chance = self._chance
        some = self._given if self._given and chance.random() < 0.5 else self._free or self._given
        setting = chance.choice(some)
        option = setting.option
        near = option.default + chance.choice((-1, 1))
        value = chance.choice((option.low, option.low, option.high, 0, 1, near))
        return setting.to(min(max(value, option.low), option.high))
