"""Random clauses, literal by literal or at once, and those that belong together.

What belongs together solvers recognise, and treat in a way of its own: the functions for such
structures take at least four literals of different variables.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain, combinations, product, repeat

from reducekit.frontends.trace.generate.run import CallPlan, Run
from reducekit.frontends.trace.model.definition import Step

_UNIFORM = 2000  # literals of a round whose clauses are all longer than the shortest length
_TRIES = 50  # draws that would make a clause a tautology, one after the other, until it is closed

Clauses = list[list[int]]
Structure = Callable[[Sequence[int]], Clauses]


def parity(literals: Sequence[int]) -> Clauses:
    """Return the clauses of an exclusive or: each way to have an even number is ruled out."""
    return [
        [sign * literal for sign, literal in zip(signs, literals, strict=True)]
        for signs in product((1, -1), repeat=len(literals))
        if signs.count(-1) % 2 == 0
    ]


def and_gate(literals: Sequence[int]) -> Clauses:
    """Return the clauses that say: the first literal is the conjunction of the others."""
    output, *inputs = literals
    return [*([-output, each] for each in inputs), [output, *(-each for each in inputs)]]


def if_then_else(literals: Sequence[int]) -> Clauses:
    """Return the clauses that say: the first is the third if the second holds, else the last."""
    output, condition, then, *_, other = literals
    return [
        [-output, -condition, then],
        [-output, condition, other],
        [output, -condition, -then],
        [output, condition, -other],
    ]


def exactly_one(literals: Sequence[int]) -> Clauses:
    """Return the clauses that say: one of the literals holds, and no two."""
    return [list(literals), *([-a, -b] for a, b in combinations(literals, 2))]


STRUCTURES: tuple[Structure, ...] = (
    parity, and_gate, if_then_else, exactly_one,
)  # fmt: skip


class ClauseMaker:
    """Adds clauses to a trace: `clauses` so far, of those that are `wanted`.

    `close` are the chances that a clause ends after its first literal, its second one, ...
    """

    def __init__(self, run: Run) -> None:
        self.run = run
        self.clauses = 0
        self.wanted = 0
        self.close = run.plan.close

    def add_clauses(self) -> None:
        """Add clauses: those of the first round, or of one more."""
        data, clause = self.run.plan.model.data, self.run.plan.clause
        assert data is not None
        assert clause is not None
        first = not self.wanted
        if first:
            self.wanted = self.run.variables * self.run.between(*data.ratio) // 100
        else:
            self.wanted = max(self.wanted + 1, self.wanted * self.run.between(*data.growth) // 100)
            self.run.variables = self.run.greatest() + self.run.between(*data.fresh)
        self.close = self.run.plan.close
        if self.run.chance(float(data.uniform.probability)):
            self.choose_length(data.uniform.ratios, first=first)
        left = list(range(1, self.run.greatest() + 1))
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
        variables = self.run.greatest()
        short = min(ratios)
        lengths = [
            length
            for length, ratio in ratios.items()
            if length == short or variables * ratio * (length + 1) < 100 * _UNIFORM
        ]
        length = lengths[int(self.run.random() * len(lengths))]
        self.close = (*[0.0] * (length - 1), 1.0)
        if first:
            self.wanted = max(1, variables * ratios[length] // 100)

    def add_group(self, step: Step) -> None:
        """Make a call of a group for each literal of a clause, and the one that ends it."""
        plan, left = self.run.plans[step.calls[0][0]], self.run.candidates(step)
        clause: list[int] = []
        for chance in chain(self.run.plan.close, repeat(self.run.plan.close[-1])):
            if not left:
                break
            index = int(self.run.random() * len(left))
            clause.append(left[index] if self.run.random() < 0.5 else -left[index])
            left[index] = left[-1]
            left.pop()
            if self.run.random() < chance:
                break
        self.add_clause(plan, clause)

    def add_clause(self, plan: CallPlan, clause: Sequence[int]) -> None:
        """Make a call for each literal of a clause that is allowed, and the one that ends it."""
        made = [self.run.make(plan, (literal,)) for literal in clause]
        if any(made):
            self.run.make(plan, (0,))

    def add_structures(self, name: str, probability: float) -> None:
        """Add clauses of an exclusive or, of a gate, or of a constraint that counts."""
        plan, random = self.run.plans[name], self.run.random
        most = self.run.greatest()
        while most > 3 and random() < probability:
            size = self.run.between(4, min(5, most))
            drawn: dict[int, None] = {}
            while len(drawn) < size:
                drawn[self.run.between(1, most)] = None
            literals = [each if random() < 0.5 else -each for each in drawn]
            made = STRUCTURES[int(random() * len(STRUCTURES))](literals)
            for clause in made:
                self.add_clause(plan, clause)
            self.clauses += len(made)

    def define(self, clause: str) -> None:
        """Make the variables, where the API wants them made before they are used."""
        define, counter, wanted = self.run.plan.define, self.run.counter, self.run.greatest()
        if (
            not define
            or counter < 0
            or not self.run.plans[clause].refuses(self.run.machine, (wanted + 1,))
        ):
            return
        for _ in range(wanted - self.run.data[counter]):
            self.run.make(self.run.plans[define], ())

    def add_by_literals(self, name: str, left: list[int]) -> None:
        """Add clauses literal by literal, of the variables left.

        This makes most of the calls, so it does what `make` does in fewer steps: a random
        number is for a literal and for whether it is the last one; a literal that is not
        allowed is not drawn again, nor one whose negation is in the clause.
        """
        random, machine = self.run.random, self.run.machine
        plan, calls = self.run.plans[name], self.run.calls
        refuses, after = plan.refuses, plan.after
        literals = [sign * variable for variable in left for sign in (1, -1)]
        while self.clauses < self.wanted and literals:
            self.clauses += 1
            clause: list[int] = []
            tries = _TRIES
            for chance in chain(self.close, repeat(self.close[-1])):
                while literals and tries:
                    drawn = random() * len(literals)
                    index = int(drawn)
                    literal = literals[index]
                    if -literal in clause:
                        tries -= 1
                    elif refuses(machine, arguments := (literal,)):
                        literals[index] = literals[-1]
                        literals.pop()
                    else:
                        break
                else:
                    break
                after(machine, arguments, None)
                calls.append(plan.known.get(arguments) or self.run.call(plan, arguments))
                clause.append(literal)
                if drawn - index < chance:
                    break
            if clause:
                self.run.make(plan, (0,))

    def add_at_once(self, name: str, left: list[int]) -> None:
        """Add a clause by one call, of the variables left; those not allowed are taken out."""
        random, close = self.run.random, self.close
        refuses = self.run.plans[name].refuses
        clause: list[int] = []
        while left:
            index = int(random() * len(left))
            literal = left[index] if random() < 0.5 else -left[index]
            if -literal in clause:
                literal = -literal  # rather twice than both
            if refuses(self.run.machine, (literal,)):
                left[index] = left[-1]
                left.pop()
                continue
            clause.append(literal)
            if random() < close[min(len(clause), len(close)) - 1]:
                break
        if clause:
            self.run.make(self.run.plans[name], tuple(clause))
