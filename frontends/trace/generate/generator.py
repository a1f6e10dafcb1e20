"""Random traces: the generator that a model's `[generate]` section describes.

After C. Artho, A. Biere, M. Seidl, Model-Based Testing for Verification Back-Ends (TAP 2013): a
state machine makes calls that the model of the API allows, with random options and random clauses.
If the calls are played while they are generated, their results determine the next calls, so calls
can be made that depend on the solver's answers. Without results, only calls are made that are
allowed whatever the results are.

The same model, seed and results give the same trace, on any machine.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from random import Random

from msgspec import structs

from reducekit.frontends.trace.generate.clauses import ClauseMaker
from reducekit.frontends.trace.generate.run import Ended, Play, Run, plan_of
from reducekit.frontends.trace.language.calls import Call, Value, with_result
from reducekit.frontends.trace.model.definition import Argument, Model, Option, OptionModel, Step
from reducekit.frontends.trace.model.structure import Range

_LONGEST = 1_000_000  # calls of a trace, and
_PHASES = 100_000  # phases: a model may go in circles
_WORDS = 10  # numbers to choose from where a model sets no bound
_HANDLES = 150  # draws of handles until a call is allowed
_SMALL = 4  # a value of an option, below which steps are of 1
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
        self._fuzzed = fuzzed_options(model.options)
        self._chance = (
            float(model.options.probability) if options is None else 1.0 if options else 0.0
        )

    def generate(self, seed: int, play: Play | None = None) -> Generated:
        """Return the trace of a seed; `play` is asked for the results that steer it."""
        run = Run(self._plan, Random(seed).random, play)
        whole = True
        try:
            _Steps(run, self._chance, self._fuzzed).all()
        except Ended:
            whole = False
        return Generated(tuple(run.calls), tuple(run.results), whole)


class _Steps:
    """Takes the steps of a model's phases; `options` is the chance that `fuzzed` ones are set."""

    def __init__(self, run: Run, options: float, fuzzed: Sequence[Option]) -> None:
        self.run = run
        self.options = options
        self.fuzzed = fuzzed
        self.clauses = ClauseMaker(run)

    def all(self) -> None:
        """Make all calls, and play the last of them."""
        phases, random = self.run.plan.model.phases, self.run.random
        name: str | None = next(iter(phases))
        for _ in range(_PHASES):
            phase = phases[name or ""]
            for step in phase.steps:
                self.step(step)
                if self.run.waiting:
                    self.run.flush()
            name = None
            for each in phase.following:
                if (each.when is None or self.run.value(each.when.code)) and (
                    each.probability >= 1 or random() < each.probability
                ):
                    name = each.phase
                    break
            if name is None or len(self.run.calls) >= _LONGEST:
                break
        self.run.flush()

    def step(self, step: Step) -> None:
        """Take a step, as often as the dice say."""
        random = self.run.random
        if step.probability < 1 and random() >= step.probability:
            return
        if step.action == "options":
            self.set_options()
        elif step.action == "clauses":
            self.clauses.add_clauses()
        elif step.action == "group":
            self.clauses.add_group(step)
            while step.again and random() < step.again:
                self.clauses.add_group(step)
        elif step.share is not None:
            self.take_share(step, step.share)
        else:
            times = 1
            if step.times is not None:
                times = max(0, self.run.between(*map(self.run.value, step.times)))
            candidates: dict[str, list[int]] = {}
            for _ in range(times):
                self.take(step, candidates)
                while step.again and random() < step.again:
                    self.take(step, candidates)

    def take(self, step: Step, candidates: dict[str, list[int]]) -> None:
        """Make one call of a step; `candidates` are the variables left for each call."""
        name = step.calls[0][0]
        if len(step.calls) > 1:
            drawn = int(self.run.random() * sum(weight for _, weight in step.calls))
            for name, weight in step.calls:  # noqa: B007 - the one drawn
                drawn -= weight
                if drawn < 0:
                    break
        plan = self.run.plans[name]
        call = plan.model
        if step.same:
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
        holds = None if where is None else self.run.plan.function(where.code)
        while left:
            index = int(random() * len(left))
            variable = left[index]
            if holds is None or holds(self.run.machine, self.run.data, variable):
                sign = 1 if random() < 0.5 else -1
                for literal in (sign * variable, -sign * variable):
                    arguments = (
                        (literal,) if plan.alone else self.arguments(call.arguments, step, literal)
                    )
                    if arguments is not None and self.run.make(plan, arguments):
                        return
            left[index] = left[-1]
            left.pop()

    def take_share(self, step: Step, share: tuple[float, float]) -> None:
        """Make a call for each of some variables."""
        left = self.run.candidates(step)
        low, high = share
        count = round(len(left) * (low + self.run.random() * (high - low)))
        plan, random = self.run.plans[step.calls[0][0]], self.run.random
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
        step: Step,
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
            given = step.arguments
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
                words = [*step.words.get(each.name, each.type.values)]
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
        for name, value in random_options(options, self.fuzzed, self.run.random):
            found: list[Value] = []
            for number, each in enumerate(wanted):
                numeric = each.type.kind == "int"
                found.append(value if number == last else 0 if numeric else name)
            self.run.make(self.run.plans[options.call], tuple(found))


def fuzzed_options(options: OptionModel) -> list[Option]:
    """Return the options that may be set to any value."""
    kept = {name for each in (*options.instead, *options.besides) for name in each.values}
    kept |= options.exclude
    return [option for name, option in options.table.items() if name not in kept]


def random_options(
    options: OptionModel, fuzzed: Sequence[Option], random: Callable[[], float]
) -> list[tuple[str, int]]:
    """Return names and values of options that are to be set, in order; `fuzzed` are all that may.

    `random` returns numbers from 0 to 1, 1 excluded. Presets are taken as they
    are; options that occur in them are not set otherwise.
    """
    for preset in options.instead:
        if random() < preset.probability:
            return list(preset.values.items())
    chosen: dict[str, int] = {}
    for preset in options.besides:
        if random() < preset.probability:
            chosen.update(preset.values)
    low, high = options.touch
    touched = 1 / (low + int(random() * (high - low + 1)))
    for option in fuzzed:
        if random() < touched * options.weights.get(option.name, 1):
            # Without `lowered` no number is drawn for it: seeds go on to give their traces.
            lowered = options.lowered and random() < options.lowered
            moved = _lowered if lowered else _moved
            value = moved(option, options, random)
            if value != option.default:
                chosen[option.name] = value
    return list(chosen.items())


def _moved(option: Option, options: OptionModel, random: Callable[[], float]) -> int:
    """Return a value above or below the default, within the limits for fuzzing."""
    direction = options.fixed_direction.get(option.name) or (1 if random() < 0.5 else -1)
    least, most = options.limits.get(option.name, (option.low, option.high))
    value = option.default
    while True:
        if direction > 0:
            value = value + 1 if value < _SMALL else 2 * value
        else:
            value = 2 * value if value < 0 else value // 2 if value > 1 else value - 1
        if random() < 0.5 or not least < value < most:
            return max(least, min(most, value))


def _lowered(option: Option, options: OptionModel, random: Callable[[], float]) -> int:
    """Return a value a little above the least one: half of them at most 1, a quarter at most 2."""
    least, most = options.limits.get(option.name, (option.low, option.high))
    reach = 1
    while random() < 0.5 and reach < most - least:
        reach *= 2
    return least + int(random() * (min(reach, most - least) + 1))
