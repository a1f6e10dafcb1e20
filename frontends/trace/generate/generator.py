"""Random traces: the generator that a model's `[generate]` section describes.

After C. Artho, A. Biere, M. Seidl, Model-Based Testing for Verification
Back-Ends (TAP 2013): a state machine makes calls that the model of the API
allows, with random options and random clauses. If the calls are played while
they are generated, their results determine the next calls, so calls can be made
that depend on the solver's answers. Without results, only calls are made that
are allowed whatever the results are.

The same model, seed and results give the same trace, on any machine.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random

from msgspec import structs

from reducekit.frontends.trace.generate.clauses import ClauseMaker
from reducekit.frontends.trace.generate.options import random_options
from reducekit.frontends.trace.generate.plan import StepPlan, plan_of
from reducekit.frontends.trace.generate.run import Ended, Play, Run
from reducekit.frontends.trace.language.calls import Call, Value, with_result
from reducekit.frontends.trace.model.definition import Argument, Model
from reducekit.frontends.trace.model.structure import Range

_LONGEST = 1_000_000  # calls of a trace, and
_PHASES = 100_000  # phases: a model may go in circles
_WORDS = 10  # numbers to choose from where a model sets no bound
_HANDLES = 150  # draws of handles until a call is allowed
_MORE = 2  # handles at most where a call takes any number, and no range is given


@dataclass(frozen=True, slots=True)
class Generated:
    """A generated trace: its calls, and what they returned as far as that is known.

    `whole` says that it is complete; otherwise the replay ended in the last call.
    """

    calls: tuple[Call, ...]
    results: tuple[tuple[int, Sequence[Value | None]], ...]
    """Results of calls that follow each other, and the index of the first of these."""
    whole: bool = True

    def recorded(self) -> list[Call]:
        """Return the calls with their results, as a recording has them."""
        calls = list(self.calls)
        for first, results in self.results:
            for index, result in enumerate(results, first):
                if result is not None and calls[index].result is None:
                    calls[index] = with_result(calls[index], result)
        return calls


class Generator:
    """Makes traces of a model, one for each seed.

    `options` says whether options are set: always, never, or (None) as often as
    the model says. `variables` is the most to begin with, by default what the
    model says. Raises ModelError if the model says nothing of generating.
    """

    def __init__(
        self, model: Model, *, options: bool | None = None, variables: int | None = None
    ) -> None:
        if variables is not None and model.data is not None:
            fewer = Range((min(model.data.variables[0], variables), variables))
            model = replace(model, data=structs.replace(model.data, variables=fewer))
        self.model = model
        self._plan = plan_of(model)
        self._chance = (
            float(model.options.probability) if options is None else 1.0 if options else 0.0
        )

    def generate(self, seed: int, play: Play | None = None) -> Generated:
        """Return the trace of a seed; `play` is asked for the results that steer it."""
        run = Run(self._plan, Random(seed).random, play)
        whole = True
        try:
            _Steps(run, self._chance).all()
        except Ended:
            whole = False
        return Generated(tuple(run.calls), tuple(run.results), whole)


class _Steps:
    """Takes the steps of a model's phases; `options` is the chance that options are set."""

    def __init__(self, run: Run, options: float) -> None:
        self.run = run
        self.options = options
        self.clauses = ClauseMaker(run)

    def all(self) -> None:
        """Make all calls, and play the last of them."""
        name: str | None = self.run.plan.first
        machine, data, random = self.run.machine, self.run.data, self.run.random
        for _ in range(_PHASES):
            phase = self.run.plan.phases[name or ""]
            for step in phase.steps:
                self.step(step)
                if self.run.waiting:
                    self.run.flush()
            name = None
            for each in phase.following:
                if (each.when is None or each.when(machine, data, 0)) and (
                    each.probability >= 1 or random() < each.probability
                ):
                    name = each.phase
                    break
            if name is None or len(self.run.calls) >= _LONGEST:
                break
        self.run.flush()

    def step(self, step: StepPlan) -> None:
        """Take a step, as often as the dice say."""
        random = self.run.random
        if step.probability < 1 and random() >= step.probability:
            return
        if step.step.action == "options":
            self.set_options()
        elif step.step.action == "clauses":
            self.clauses.add_clauses()
        elif step.step.action == "group":
            self.clauses.add_group(step)
            while step.again and random() < step.again:
                self.clauses.add_group(step)
        elif step.share is not None:
            self.take_share(step, step.share)
        else:
            times = 1
            if step.times is not None:
                low, high = (each(self.run.machine, self.run.data, 0) for each in step.times)
                times = max(0, self.run.between(low, high))
            if self.take_plainly(step, times):
                return
            candidates: dict[str, list[int]] = {}
            for _ in range(times):
                self.take(step, candidates)
                while step.again and random() < step.again:
                    self.take(step, candidates)

    def take(self, step: StepPlan, candidates: dict[str, list[int]]) -> None:
        """Make one call of a step; `candidates` are the variables left for each call."""
        name = step.names[0]
        if len(step.names) > 1:
            drawn = int(self.run.random() * step.weights[-1])
            name = step.names[bisect_right(step.weights, drawn)]
        plan = self.run.plans[name]
        call = plan.model
        if step.step.same:
            if len(self.run.last) == len(call.arguments):
                self.run.make(plan, self.run.last)
            return
        if not plan.literal:
            live: dict[str, list[str]] = {}
            for _ in range(_HANDLES if plan.handles else 1):
                arguments = self.arguments(call.arguments, step, 0, live)
                if arguments is None or self.run.make(plan, arguments):
                    return
            return
        # Variables that it is not allowed for are drawn once at most.
        left = candidates.get(name)
        if left is None:
            left = candidates[name] = self.run.candidates(step)
        where, random = step.where, self.run.random
        while left:
            index = int(random() * len(left))
            variable = left[index]
            if where is None or where(self.run.machine, self.run.data, variable):
                sign = 1 if random() < 0.5 else -1
                for literal in (sign * variable, -sign * variable):
                    arguments = (
                        (literal,) if plan.alone else self.arguments(call.arguments, step, literal)
                    )
                    if arguments is not None and self.run.make(plan, arguments):
                        return
            left[index] = left[-1]
            left.pop()

    def take_plainly(self, step: StepPlan, times: int) -> bool:
        """Do the same as `times` calls of `take`, if possible at once; return whether it was.

        This is for queries of any variable: there are many, and they change nothing.
        """
        plan = self.run.plans[step.names[0]]
        if not (plan.plain and plan.query and times > 1) or len(step.names) > 1:
            return False
        if step.where is not None or step.again or step.step.same:
            return False
        left = self.run.candidates(step)
        if not left or plan.refuses(self.run.machine, (left[0],)):
            return False
        known, random, count = plan.of_literals(left[-1]), self.run.random, len(left)
        made = []
        for _ in range(times):
            # A variable, then its sign.
            place = 2 * left[int(random() * count)] - 2
            made.append(known[place if random() < 0.5 else place + 1])
        self.run.calls += made
        self.run.last = made[-1].arguments
        plan.after(self.run.machine, self.run.last, None)
        return True

    def take_share(self, step: StepPlan, share: tuple[float, float]) -> None:
        """Make a call for each of some variables."""
        left = self.run.candidates(step)
        low, high = share
        count = round(len(left) * (low + self.run.random() * (high - low)))
        plan, random = self.run.plans[step.names[0]], self.run.random
        if plan.each is not None and not plan.steers and not self.run.waiting:
            known = plan.of_literals(left[-1] if left else 0)
            drawn = []
            for size in range(len(left), len(left) - count, -1):
                index = int(random() * size)
                drawn.append(left[index])
                left[index] = left[size - 1]
            made = [known[2 * each - 2] for each in plan.each(self.run.machine, drawn)]
            if made:
                self.run.calls += made
                self.run.last = made[-1].arguments
            return
        for _ in range(count):
            index = int(random() * len(left))
            arguments = (
                (left[index],)
                if plan.alone
                else self.arguments(plan.model.arguments, step, left[index])
            )
            if arguments is not None:
                self.run.make(plan, arguments)
            left[index] = left[-1]
            left.pop()

    def arguments(
        self,
        wanted: Sequence[Argument],
        step: StepPlan,
        literal: int,
        live: dict[str, list[str]] | None = None,
    ) -> tuple[Value, ...] | None:
        """Return arguments of their types, `literal` for the first one that is one.

        None if there is nothing to choose from. `live` remembers the handles of each type for
        more draws of the same call.
        """
        live = {} if live is None else live
        found: list[Value] = []
        for each in wanted:
            kind = each.type.kind
            given = step.step.arguments
            if each.star and kind == "handle":
                some = self.run.between(*given.get(each.name, (0, _MORE)))
                alone = replace(each, star=False)
                for _ in range(some):
                    more = self.arguments((alone,), step, 0, live)
                    if more is None:
                        return None
                    found += more
                continue
            if each.star and each.name not in given and self.run.random() < 0.5:
                continue
            if kind in ("literal", "variable"):
                value = literal or self.run.between(1, self.run.greatest())
                found.append(abs(value) if kind == "variable" else value)
                literal = 0
            elif kind == "int":
                low = each.type.low if each.type.low is not None else 0
                high = each.type.high if each.type.high is not None else low + _WORDS
                found.append(self.run.between(*given.get(each.name, (low, high))))
            else:
                words = [*step.step.words.get(each.name, each.type.values)]
                if kind == "handle":
                    if each.type.name not in live:
                        counts = self.run.data[self.run.plan.model.live[each.type.name]]
                        live[each.type.name] = [name for name, some in counts.items() if some > 0]
                    words += live[each.type.name]
                if not words:
                    return None
                found.append(words[int(self.run.random() * len(words))])
        return tuple(found)

    def set_options(self) -> None:
        """Set random options, if the dice say so."""
        options = self.run.plan.model.options
        if not options.call or self.run.random() >= self.options:
            return
        wanted = self.run.plan.model.calls[options.call].arguments
        last = max((n for n, each in enumerate(wanted) if each.type.kind == "int"), default=-1)
        for name, value in random_options(options, self.run.plan.fuzzed, self.run.random):
            found: list[Value] = []
            for number, each in enumerate(wanted):
                numeric = each.type.kind == "int"
                found.append(value if number == last else 0 if numeric else name)
            self.run.make(self.run.plans[options.call], tuple(found))
