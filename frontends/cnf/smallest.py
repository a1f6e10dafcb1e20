"""Smallest unsatisfiable parts of formulas, by what they have to hit (Ignatiev et al., CP 2015).

PySAT's OptUx finds them the same way, but its search cannot be bounded by counts.
"""

from collections.abc import Sequence

from pysat.examples.hitman import Hitman
from pysat.solvers import Solver

_CONFLICTS = 1_000  # of a call
_OF_CALL = 100  # work of a call, and of each set to hit, in propagations
_OF_LITERAL = 6  # work of reading a model, for each literal of the formula


def smallest(clauses: Sequence[Sequence[int]], best: list[int], work: int) -> list[int]:
    """Return a smallest core by the numbers of its clauses, or `best`, which is a core.

    `best` if it is as small, or the work (in propagations of the solver) does not suffice.
    """
    selects = max((abs(lit) for each in clauses for lit in each), default=0) + 1
    fresh = selects + len(clauses)  # the next new variable
    size = sum(map(len, clauses))
    chosen, hit, spent = list[int](), 0, 0
    with Solver("minisat22") as solver, Hitman(solver="m22", htype="sorted") as hitting:
        for at, each in enumerate(clauses, selects):
            solver.add_clause([*each, -at])

        def holds(kept: set[int], *more: int) -> bool | None:
            solver.conf_budget(_CONFLICTS)
            answer: bool | None = solver.solve_limited([*(at + selects for at in kept), *more])
            return answer

        while len(chosen) < len(best) and spent < work:
            kept = set(chosen)
            answer = holds(kept)
            if answer is False:
                return chosen
            if answer is None:
                break
            # Without some clauses the formula is satisfiable, so a core has one of them: the fewer
            # they are, the better. What else can be true is, as long as anything can.
            rest = list[int]()
            while answer and spent < work:
                true = set(solver.get_model()[: selects - 1])
                kept.update(at for at, each in enumerate(clauses) if not true.isdisjoint(each))
                rest = [at for at in range(len(clauses)) if at not in kept]
                solver.add_clause([*{lit for at in rest for lit in clauses[at]}, -fresh])
                answer = holds(kept, fresh)
                fresh += 1
                spent += _OF_LITERAL * size + 3 * len(kept) + _OF_CALL
            hitting.hit(rest)
            hit += 1
            spent += _OF_CALL * hit
            chosen = hitting.get()
    return best
