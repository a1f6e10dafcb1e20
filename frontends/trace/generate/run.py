"""A trace that is being made: its calls, what they returned, and the state of the model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from reducekit.frontends.trace.generate.plan import CallPlan, Plan, StepPlan
from reducekit.frontends.trace.language.calls import Call, Value
from reducekit.frontends.trace.model.machine import Machine

Play = Callable[[Sequence[Call]], Sequence[Value | None]]
"""Plays the next calls and returns their results, None for a call without one.

Fewer results than calls mean that the trace has ended in the first call without one.
"""

_REMEMBERED = 1 << 16  # calls of a name that are kept for further traces


class Ended(Exception):
    """The trace has ended in a call."""


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
            few = self.chance(data.few.probability)
            self.variables = self.between(*(data.few.variables if few else data.variables))

    def between(self, low: int, high: int) -> int:
        """Return a random number; the lower one if the bounds are the wrong way round."""
        return low + int(self.random() * (high - low + 1)) if high > low else low

    def chance(self, probability: Fraction) -> bool:
        """Throw the dice; not at all where it never happens, so seeds keep their traces."""
        return probability > 0 and self.random() < probability

    def candidates(self, step: StepPlan) -> list[int]:
        """Return the variables that literals of a step are chosen from."""
        machine, data = self.machine, self.data
        most = self.greatest() if step.upto is None else step.upto(machine, data, 0)
        return step.chosen(machine, data, most)

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
        self.calls.append(plan.known.get(arguments) or self.call(plan, arguments))
        if not plan.steers or self.play is None:
            # What leads nowhere may still rule out some of several states.
            if not plan.idle or machine.mask & machine.mask - 1:
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
