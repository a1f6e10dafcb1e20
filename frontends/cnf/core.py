"""Small unsatisfiable parts of formulas: where a failure needs one, the search starts from it.

A core of a SAT solver is minimised by deletion, one clause after the other. Of the many minimal
parts of a formula that is any one, so others are looked for: without one clause of the best each,
with the clauses in other orders and, where it has few clauses, a `smallest`. Everything is bounded
by counts, never by time: a formula has the same cores on any machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from random import Random

from pysat.solvers import Solver

from reducekit.frontends.cnf.reader import View

_FIRST = 50_000
"""Conflicts of the first call, which decides whether there is a core at all."""
_LATER = 1_000
"""Conflicts of a call that leaves out a clause; if they do not suffice, the clause stays."""
_EASIER = 4  # times the conflicts of the first proof are as good for such a call
_WORK = 5 << 19
"""Propagations in the search for other cores, and what takes as long as these: 0.3 s."""
_HARDER = 10  # times as much until there is a minimal core: of hundreds of clauses it saves checks
_OF_LITERAL = 6  # further such work for each literal of the formula: 1 s of 5 MB
_OF_CALL = 100  # the work that a call costs besides
_ORDERS = 30  # that are tried without a smaller core
_FEW = 12  # clauses, up to which a smallest core is searched
_LARGEST = 4_000_000  # literals: reading more into a solver takes too long


class _Parts:
    """A solver that tells which clauses of some contradict each other.

    MiniSat: its cores came out smaller than those of Glucose and CaDiCaL.
    """

    def __init__(self, clauses: Sequence[Sequence[int]], left: int) -> None:
        used = sorted({abs(lit) for each in clauses for lit in each})
        names = {each: at for at, each in enumerate(used, 1)}
        self.clauses = [[names[lit] if lit > 0 else -names[-lit] for lit in c] for c in clauses]
        self._selects = len(names) + 1
        self.left = left - 4 * sum(map(len, clauses))
        """The work that is left."""
        self._solver = Solver("minisat22")
        for at, each in enumerate(self.clauses, self._selects):
            self._solver.add_clause([*each, -at])

    def __enter__(self) -> _Parts:
        return self

    def __exit__(self, *error: object) -> None:
        self._solver.delete()

    def core(self, chosen: Iterable[int], conflicts: int = _LATER) -> list[int] | None:
        """Return some of the clauses that contradict each other; None if none were found."""
        if self.left <= 0:
            return None
        assumed = [at + self._selects for at in chosen]
        before = self.count("propagations")
        self._solver.conf_budget(conflicts)
        self._solver.prop_budget(self.left)
        answer = self._solver.solve_limited(assumptions=assumed)
        self.left -= 3 * len(assumed) + self.count("propagations") - before + _OF_CALL
        if answer is not False:
            return None
        return [at - self._selects for at in self._solver.get_core() or ()]

    def count(self, what: str) -> int:
        """Return the conflicts or propagations so far."""
        return int((self._solver.accum_stats() or {})[what])

    def minimal(self, chosen: Iterable[int]) -> list[int] | None:
        """Return a minimal part of some clauses: each is needed. The last ones are dropped first.

        None if the clauses do not contradict each other.
        """
        return self._new(chosen, _minimal)

    def other(self, order: Iterable[int]) -> list[int] | None:
        """Return the core that a new solver finds in some clauses."""
        return self._new(order, lambda parts: parts.core(range(len(parts.clauses))))

    def _new(
        self, chosen: Iterable[int], search: Callable[[_Parts], list[int] | None]
    ) -> list[int] | None:
        """Search a solver of some clauses only: no values are looked for of other variables."""
        order = list(chosen)
        with _Parts([self.clauses[at] for at in order], self.left) as parts:
            found = search(parts)
            self.left = parts.left
        return None if found is None else [order[at] for at in found]


def _minimal(parts: _Parts) -> list[int] | None:
    needed: list[int] = []
    todo = parts.core(range(len(parts.clauses)), _FIRST)
    conflicts = max(_LATER, _EASIER * parts.count("conflicts"))
    while todo and parts.left > 0:
        tried = todo.pop()
        smaller = parts.core((*needed, *todo), conflicts)
        if smaller is None:
            needed.append(tried)
        else:
            kept = set(smaller)
            todo = [at for at in todo if at in kept]
    return None if todo is None else needed + todo


def cores(view: View) -> list[list[int]]:
    """Return clauses that contradict each other, by number: a small core, and a solver's.

    Nothing if the formula is satisfiable, or a solver would need long.
    """
    if view.format != "cnf" or len(view.literals) > _LARGEST:
        return []
    places = list(filter(view.counts, range(len(view))))
    clauses = [view.line(at).literals for at in places]
    with _Parts(clauses, _HARDER * _WORK + _OF_LITERAL * len(view.literals)) as parts:
        first = parts.core(range(len(places)), _FIRST)
        if first is None:
            return []
        best = parts.minimal(first) or first
        parts.left = min(parts.left, _WORK)
        best = _smaller(parts, best)
        if len(best) <= _FEW:
            from reducekit.frontends.cnf.smallest import smallest

            best = smallest(parts.clauses, best, 2 * _WORK)
    return [sorted(places[at] for at in each) for each in (best, first)]


def _smaller(parts: _Parts, best: list[int]) -> list[int]:
    """Return the smallest of the cores without one clause of the best each, and in other orders."""
    dice, tried = Random(0), 0
    todo, many = list(best), len(parts.clauses)
    while parts.left > 0 and tried < _ORDERS:
        if todo:
            without = todo.pop()
            core = parts.core(at for at in range(many) if at != without)
        else:
            core = parts.other(dice.sample(range(many), many))
            tried += 1
        if core is None:
            continue
        # What is not in the best goes first.
        found = parts.minimal(sorted(core, key=set(best).__contains__, reverse=True))
        if found is not None and len(found) < len(best):
            best, todo, tried = found, list(found), 0
    return best
