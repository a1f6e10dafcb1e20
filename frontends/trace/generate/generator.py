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
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain, repeat
from random import Random

from msgspec import structs

from reducekit.frontends.trace.generate.options import random_options
from reducekit.frontends.trace.generate.plan import CallPlan, Plan, StepPlan, plan_of
from reducekit.frontends.trace.generate.structures import STRUCTURES
from reducekit.frontends.trace.language.calls import Call, Value, with_result
from reducekit.frontends.trace.model.definition import Argument, Model
from reducekit.frontends.trace.model.machine import Machine
from reducekit.frontends.trace.model.structure import Range

Play = Callable[[Sequence[Call]], Sequence[Value | None]]
"""Plays calls that follow those before, and returns their results, None where there is none.

Fewer results than calls mean that the trace has ended in the first call without one.
"""

_LONGEST = 1_000_000  # calls of a trace, and
_PHASES = 100_000  # phases: a model may go in circles
_REMEMBERED = 1 << 16  # calls of a name that are kept for further traces
_WORDS = 10  # numbers to choose from where a model sets no bound
_UNIFORM = 2000  # literals of a round whose clauses are all longer than the shortest length
_HANDLES = 150  # draws of handles until a call is allowed
_MORE = 2  # handles at most where a call takes any number, and no range is given
_TRIES = 50  # draws in a row that would make a clause a tautology, after which it is closed


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
        run = _Run(self._plan, Random(seed).random, play, self._chance)
        whole = True
        try:
            run.all()
        except _Ended:
            whole = False
        return Generated(tuple(run.calls), tuple(run.results), whole)


class _Ended(Exception):
    """The trace has ended in a call."""


class _Run:
    """A trace that is being made.

    `variables` is the greatest variable in use, `clauses` how many clauses there
    are to be. Calls from `played` on have not been played yet; `waiting` are
    queries among them whose results the machine has to hear of.
    """

    def __init__(
        self, plan: Plan, random: Callable[[], float], play: Play | None, options: float
    ) -> None:
        self.plan = plan
        self.random = random
        self.play = play
        self.options = options
        self.machine = machine = Machine(plan.model)
        self.data = machine.data
        self.plans = plan.calls
        self.calls: list[Call] = []
        self.results: list[tuple[int, Sequence[Value | None]]] = []
        self.played = 0
        self.waiting: list[int] = []
        self.variables = 0
        self.clauses = 0
        self.wanted = 0
        self.last: tuple[Value, ...] = ()
        counter = plan.model.variables.get("variables")
        self.counter = counter.slot if counter and not counter.per and not counter.flag else -1
        self.close = plan.close
        if (data := plan.model.data) is not None:
            few = self.chance(data.few.probability)
            self.variables = self.between(*(data.few.variables if few else data.variables))

    def between(self, low: int, high: int) -> int:
        """Return a random number; the lower one if the bounds are the wrong way round."""
        return low + int(self.random() * (high - low + 1)) if high > low else low

    def chance(self, probability: Fraction) -> bool:
        """Throw the dice; not at all where it never happens, so seeds keep their traces."""
        return probability > 0 and self.random() < probability

    def all(self) -> None:
        """Make all calls, and play the last of them."""
        name: str | None = self.plan.first
        machine, data, random = self.machine, self.data, self.random
        for _ in range(_PHASES):
            phase = self.plan.phases[name or ""]
            for step in phase.steps:
                self.step(step)
                if self.waiting:
                    self.flush()
            name = None
            for each in phase.following:
                if (each.when is None or each.when(machine, data, 0)) and (
                    each.probability >= 1 or random() < each.probability
                ):
                    name = each.phase
                    break
            if name is None or len(self.calls) >= _LONGEST:
                break
        self.flush()

    def step(self, step: StepPlan) -> None:
        """Take a step, as often as the dice say."""
        random = self.random
        if step.probability < 1 and random() >= step.probability:
            return
        if step.step.action == "options":
            self.set_options()
        elif step.step.action == "clauses":
            self.add_clauses()
        elif step.step.action == "group":
            self.add_group(step)
            while step.again and random() < step.again:
                self.add_group(step)
        elif step.share is not None:
            self.take_share(step, step.share)
        else:
            times = 1
            if step.times is not None:
                low, high = (each(self.machine, self.data, 0) for each in step.times)
                times = max(0, self.between(low, high))
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
            drawn = int(self.random() * step.weights[-1])
            name = step.names[bisect_right(step.weights, drawn)]
        plan = self.plans[name]
        call = plan.model
        if step.step.same:
            if len(self.last) == len(call.arguments):
                self.make(plan, self.last)
            return
        if not plan.literal:
            live: dict[str, list[str]] = {}
            for _ in range(_HANDLES if plan.handles else 1):
                arguments = self.arguments(call.arguments, step, 0, live)
                if arguments is None or self.make(plan, arguments):
                    return
            return
        # Variables that it is not allowed for are drawn once at most.
        left = candidates.get(name)
        if left is None:
            left = candidates[name] = self.candidates(step)
        where, random = step.where, self.random
        while left:
            index = int(random() * len(left))
            variable = left[index]
            if where is None or where(self.machine, self.data, variable):
                sign = 1 if random() < 0.5 else -1
                for literal in (sign * variable, -sign * variable):
                    arguments = (
                        (literal,) if plan.alone else self.arguments(call.arguments, step, literal)
                    )
                    if arguments is not None and self.make(plan, arguments):
                        return
            left[index] = left[-1]
            left.pop()

    def take_plainly(self, step: StepPlan, times: int) -> bool:
        """Do the same as `times` calls of `take`, if possible at once; return whether it was.

        This is for queries of any variable, of which there are many; they change nothing.
        """
        plan = self.plans[step.names[0]]
        if not (plan.plain and plan.query and times > 1) or len(step.names) > 1:
            return False
        if step.where is not None or step.again or step.step.same:
            return False
        left = self.candidates(step)
        if not left or plan.refuses(self.machine, (left[0],)):
            return False
        known, random, count = plan.of_literals(left[-1]), self.random, len(left)
        made = []
        for _ in range(times):
            # A variable, then its sign.
            place = 2 * left[int(random() * count)] - 2
            made.append(known[place if random() < 0.5 else place + 1])
        self.calls += made
        self.last = made[-1].arguments
        plan.after(self.machine, self.last, None)
        return True

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

    def take_share(self, step: StepPlan, share: tuple[float, float]) -> None:
        """Make a call for each of some variables."""
        left = self.candidates(step)
        low, high = share
        count = round(len(left) * (low + self.random() * (high - low)))
        plan, random = self.plans[step.names[0]], self.random
        if plan.each is not None and not plan.steers and not self.waiting:
            known = plan.of_literals(left[-1] if left else 0)
            drawn = []
            for size in range(len(left), len(left) - count, -1):
                index = int(random() * size)
                drawn.append(left[index])
                left[index] = left[size - 1]
            made = [known[2 * each - 2] for each in plan.each(self.machine, drawn)]
            if made:
                self.calls += made
                self.last = made[-1].arguments
            return
        for _ in range(count):
            index = int(random() * len(left))
            arguments = (
                (left[index],)
                if plan.alone
                else self.arguments(plan.model.arguments, step, left[index])
            )
            if arguments is not None:
                self.make(plan, arguments)
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
                some = self.between(*given.get(each.name, (0, _MORE)))
                alone = replace(each, star=False)
                for _ in range(some):
                    more = self.arguments((alone,), step, 0, live)
                    if more is None:
                        return None
                    found += more
                continue
            if each.star and each.name not in given and self.random() < 0.5:
                continue
            if kind in ("literal", "variable"):
                value = literal or self.between(1, self.greatest())
                found.append(abs(value) if kind == "variable" else value)
                literal = 0
            elif kind == "int":
                low = each.type.low if each.type.low is not None else 0
                high = each.type.high if each.type.high is not None else low + _WORDS
                found.append(self.between(*given.get(each.name, (low, high))))
            else:
                words = [*step.step.words.get(each.name, each.type.values)]
                if kind == "handle":
                    if each.type.name not in live:
                        counts = self.data[self.plan.model.live[each.type.name]]
                        live[each.type.name] = [name for name, some in counts.items() if some > 0]
                    words += live[each.type.name]
                if not words:
                    return None
                found.append(words[int(self.random() * len(words))])
        return tuple(found)

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

        Raises _Ended.
        """
        if self.play is None or self.played == len(self.calls):
            return
        first, pending = self.played, self.calls[self.played :]
        results = self.play(pending)
        self.results.append((first, results))
        self.played = len(self.calls)
        if len(results) < len(pending):
            del self.calls[first + len(results) + 1 :]
            raise _Ended
        for index in self.waiting:
            call = self.calls[index]
            self.plans[call.name].after(self.machine, call.arguments, results[index - first])
        self.waiting.clear()

    def set_options(self) -> None:
        """Set random options, if the dice say so."""
        options = self.plan.model.options
        if not options.call or self.random() >= self.options:
            return
        wanted = self.plan.model.calls[options.call].arguments
        last = max((n for n, each in enumerate(wanted) if each.type.kind == "int"), default=-1)
        for name, value in random_options(options, self.plan.fuzzed, self.random):
            found: list[Value] = []
            for number, each in enumerate(wanted):
                numeric = each.type.kind == "int"
                found.append(value if number == last else 0 if numeric else name)
            self.make(self.plans[options.call], tuple(found))

    def add_clauses(self) -> None:
        """Add clauses: those of the first round, or of one more."""
        data, clause = self.plan.model.data, self.plan.clause
        assert data is not None
        assert clause is not None
        first = not self.wanted
        if first:
            self.wanted = self.variables * self.between(*data.ratio) // 100
        else:
            self.wanted = max(self.wanted + 1, self.wanted * self.between(*data.growth) // 100)
            self.variables = self.greatest() + self.between(*data.fresh)
        self.close = self.plan.close
        if self.chance(data.uniform.probability):
            self.choose_length(data.uniform.ratios, first=first)
        left = list(range(1, self.greatest() + 1))
        self.define(clause.name)
        if data.structured and clause.arguments[0].type.zero:
            self.add_structures(clause.name, float(data.structured))
        if not clause.arguments[0].star:
            self.add_by_literals(clause.name, left)
            return
        while self.clauses < self.wanted and left:
            self.add_at_once(clause.name, left)
            self.clauses += 1

    def choose_length(self, ratios: Mapping[int, int], *, first: bool) -> None:
        """Give all clauses of a round one length, and the first round as many as fit it."""
        variables = self.greatest()
        short = min(ratios)
        lengths = [
            length
            for length, ratio in ratios.items()
            if length == short or variables * ratio * (length + 1) < 100 * _UNIFORM
        ]
        length = lengths[int(self.random() * len(lengths))]
        self.close = (*[0.0] * (length - 1), 1.0)
        if first:
            self.wanted = max(1, variables * ratios[length] // 100)

    def add_group(self, step: StepPlan) -> None:
        """Make a call of a group for each literal of a clause, and the one that ends it."""
        plan, left = self.plans[step.names[0]], self.candidates(step)
        clause: list[int] = []
        for chance in chain(self.plan.close, repeat(self.plan.close[-1])):
            if not left:
                break
            index = int(self.random() * len(left))
            clause.append(left[index] if self.random() < 0.5 else -left[index])
            left[index] = left[-1]
            left.pop()
            if self.random() < chance:
                break
        self.add_clause(plan, clause)

    def add_clause(self, plan: CallPlan, clause: Sequence[int]) -> None:
        """Make a call for each literal of a clause that is allowed, and the one that ends it."""
        made = [self.make(plan, (literal,)) for literal in clause]
        if any(made):
            self.make(plan, (0,))

    def add_structures(self, name: str, probability: float) -> None:
        """Add clauses of an exclusive or, of a gate, or of a constraint that counts."""
        plan, random = self.plans[name], self.random
        most = self.greatest()
        while most > 3 and random() < probability:
            size = self.between(4, min(5, most))
            drawn: dict[int, None] = {}
            while len(drawn) < size:
                drawn[self.between(1, most)] = None
            literals = [each if random() < 0.5 else -each for each in drawn]
            made = STRUCTURES[int(random() * len(STRUCTURES))](literals)
            for clause in made:
                self.add_clause(plan, clause)
            self.clauses += len(made)

    def define(self, clause: str) -> None:
        """Make the variables, where the API wants them made before they are used."""
        define, counter, wanted = self.plan.define, self.counter, self.greatest()
        if not define or counter < 0 or not self.plans[clause].refuses(self.machine, (wanted + 1,)):
            return
        for _ in range(wanted - self.data[counter]):
            self.make(self.plans[define], ())

    def add_by_literals(self, name: str, left: list[int]) -> None:
        """Add clauses literal by literal, of the variables left.

        This makes most of the calls, so it does what `make` does in fewer steps: a random
        number is for a literal and for whether it is the last one; a literal that is not
        allowed is not drawn again, nor one whose negation is in the clause. One that is
        settled is not asked for again within a clause, and a whole clause of these passes
        the machine by (see `Settling`).
        """
        random, machine = self.random, self.machine
        plan, settling, calls = self.plans[name], self.plan.settling, self.calls
        refuses, after, one = plan.refuses, plan.after, plan.one
        literals = plan.of_literals(len(left))[: 2 * len(left)]
        numbers: list[int] = [call.arguments[0] for call in literals]  # type: ignore[misc]
        settled = bytearray(len(literals))
        end = self.call(plan, (0,))
        closed = 0  # clauses that the machine has seen
        append, size = calls.append, len(literals)
        while self.clauses < self.wanted and size:
            self.clauses += 1
            begin = len(calls)
            clause: list[int] = []
            tries = _TRIES
            # Whether the machine knows that a clause has begun, and whether it need not.
            seen, passes = False, closed > 1
            for chance in chain(self.close, repeat(self.close[-1])):
                while size:
                    drawn = random() * size
                    index = int(drawn)
                    literal = numbers[index]
                    if -literal in clause:
                        tries -= 1
                        if tries:
                            continue
                        break
                    if settled[index] and (seen or passes):
                        break
                    if not seen and len(calls) > begin:
                        after(machine, calls[begin].arguments, None)
                        seen = True
                    if one is not None:
                        allowed = one(machine, literal)
                    elif not refuses(machine, (literal,)):
                        after(machine, (literal,), None)
                        allowed = True
                    else:
                        allowed = False
                    if allowed:
                        settled[index] = seen and settling.literals
                        seen = True
                        break
                    size -= 1
                    literals[index] = literals[size]
                    numbers[index] = numbers[size]
                    settled[index] = settled[size]
                else:
                    break
                if not tries:
                    break
                append(literals[index])
                clause.append(literal)
                if drawn - index < chance:
                    break
            if seen:
                self.make(plan, (0,))
                closed += settling.clauses
            elif len(calls) > begin:
                calls.append(end)
                self.last = end.arguments

    def add_at_once(self, name: str, left: list[int]) -> None:
        """Add a clause by one call, of the variables left; those not allowed are taken out."""
        random, close = self.random, self.close
        refuses = self.plans[name].refuses
        clause: list[int] = []
        while left:
            index = int(random() * len(left))
            literal = left[index] if random() < 0.5 else -left[index]
            if -literal in clause:
                literal = -literal  # rather twice than both
            if refuses(self.machine, (literal,)):
                left[index] = left[-1]
                left.pop()
                continue
            clause.append(literal)
            if random() < close[min(len(clause), len(close)) - 1]:
                break
        if clause:
            self.make(self.plans[name], tuple(clause))
