"""Replaces all clauses of a long trace by small random formulas, many of which share a replay.

Dropping calls from a long trace takes many successful steps. But a failure that needs a hundred
clauses mostly needs none in particular: the solver only has to have work left when it reaches a
certain step. About one in a hundred random formulas of that size has the same effect, and hundreds
of them can be played in one replay.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from random import Random

from reducekit.frontends.trace.language.calls import Call
from reducekit.frontends.trace.model.check import first_violation
from reducekit.frontends.trace.model.definition import CallModel
from reducekit.frontends.trace.passes.batches import smaller, step_to
from reducekit.frontends.trace.passes.items import Substitutions
from reducekit.frontends.trace.passes.options import OptionMode
from reducekit.frontends.trace.passes.view import TraceView

# The number of calls played without options, and again with those of the trace: a replay each.
_WORK = 20_000
# The number of calls generated for that: some break the contract, or are duplicates.
_MADE = 2 * _WORK
# Numbers of calls in a formula. Each size gets the same total number of calls.
_SIZES = (8, 16, 32, 64, 128, 256)
# Lengths of a formula's clauses; a repeated one is more likely. Or those of the trace.
_LENGTHS = ((3,), (2, 3), (2, 2, 3, 3, 4))
# The maximum number of clauses per variable; the minimum is one.
_RATIO = 8.0
# Half of the formulas are followed by up to this number of other calls, such as assumptions.
_OTHERS = 3


class RandomFormulas:
    """Replaces all clauses by a small random formula."""

    name = "random formulas"

    def __init__(self, options: OptionMode) -> None:
        self._options: OptionMode = options

    def problem(self, view: TraceView) -> Substitutions | None:
        """Return the one step, None if there is none."""
        call = _clause_call(view)
        if view.first_failing is None or call is None:
            return None
        chance = Random(view.document.text)
        found = None
        for options in self._heads(view):
            traces = _traces(view, call, options, chance)
            found = found or smaller(view, traces, _WORK)
        return step_to(view, found, self.name)

    def _heads(self, view: TraceView) -> Sequence[Sequence[Call]]:
        """Return what options are set before the formula: first none, if these may go."""
        given = [view.bare[index] for index in view.options]
        return ((), given) if given and self._options != "none" else (given, given)


def _clause_call(view: TraceView) -> CallModel | None:
    """Return the call that most of the trace's literals are added by, if a 0 ends its clauses."""
    for name, _ in Counter(view.bare[index].name for index in view.roles("clause")).most_common():
        model = view.model.calls[name]
        if model.group and len(model.arguments) == 1 and model.arguments[0].type.zero:
            return model
    return None


def _traces(
    view: TraceView, clause: CallModel, options: Sequence[Call], chance: Random
) -> Iterator[Sequence[Call]]:
    """Yield what makes a solver, sets options, adds a formula, and ends as the trace does."""
    bare = view.bare
    init, end = [bare[index] for index in view.roles("init")], bare[-1:]
    solves = [bare[index] for index in view.roles("solve") if index < len(bare) - 1]
    # The failure may be in the call after a solve, so that solve is there in half of the traces.
    ends = [end, [*solves[-1:], *end]]
    own = [len(group) - 1 for group in view.groups]
    others = _others(view)
    made = 0
    while made < _MADE:
        # As many calls of each size, so that small formulas are drawn more often.
        for size in _SIZES:
            for _ in range(_SIZES[-1] // size):
                formula = _formula(chance, size, chance.choice((*_LENGTHS, own)))
                literals = [each for some in formula for each in (*some, 0)]
                calls = [
                    *init,
                    *options,
                    *(Call(clause.name, (each,)) for each in literals),
                    *_some(chance, others, max(literals)),
                    *chance.choice(ends),
                ]
                made += len(calls)
                if first_violation(calls, view.model) is None:
                    yield calls


def _formula(chance: Random, size: int, lengths: Sequence[int]) -> Iterator[Sequence[int]]:
    """Yield clauses with a total of about `size` literals and clause ends."""
    count = max(1, round(size / (1 + sum(lengths) / len(lengths))))
    variables = max(1, round(count / _RATIO ** chance.random()))
    for _ in range(count):
        length = min(chance.choice(lengths), variables)
        clause = chance.sample(range(1, variables + 1), length)
        yield [chance.choice((each, -each)) for each in clause]


def _others(view: TraceView) -> Sequence[CallModel]:
    """Return the calls of a trace that take a literal and are neither clauses nor queries."""
    names = {call.name for call in view.bare}
    return [
        model
        for name, model in view.model.calls.items()
        if name in names
        and model.role not in ("clause", "query")
        and len(model.arguments) == 1
        and model.arguments[0].type.kind in ("literal", "variable")
        and not model.arguments[0].star
    ]


def _some(chance: Random, models: Sequence[CallModel], variables: int) -> Iterator[Call]:
    """Yield a few calls with any of the variables, for one of two formulas."""
    if models and variables > 0 and chance.random() < 0.5:
        for _ in range(chance.randint(1, _OTHERS)):
            model, variable = chance.choice(models), chance.randint(1, variables)
            negated = model.arguments[0].type.kind == "literal" and chance.random() < 0.5
            yield Call(model.name, (-variable if negated else variable,))
