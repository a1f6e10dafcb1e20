"""Small unsatisfiable parts of formulas: where a failure needs one, the search starts from it.

A core of a SAT solver is minimised by deletion, one clause after the other. Of the many minimal
parts of a formula that is any one. So a smallest one is looked for as a hitting set of the
correction sets (Ignatiev, Previti, Liffiton & Marques-Silva, CP 2015), and where that is too far,
clauses of the best are forbidden in turn. Everything is bounded by counts, never by time: a formula
has the same cores on any machine.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from pysat.examples.hitman import Hitman
from pysat.solvers import Solver

from reducekit.frontends.cnf.reader import View

_FIRST = 50_000
"""Conflicts of the first call, which decides whether there is a core at all."""
_LATER = 1_000
"""Conflicts of a call that leaves out a clause; if they do not suffice, the clause stays."""
_WORK = 1 << 22
"""Assumptions of all calls: a few seconds."""
_STEPS = 30  # hitting sets
_FEW = 16  # clauses: hitting sets of more take too long
_LARGEST = 4_000_000  # literals: reading more into a solver takes too long


class _Parts:
    """A solver that tells which clauses of some contradict each other.

    MiniSat: its cores came out smaller than those of Glucose and CaDiCaL.
    """

    def __init__(self, clauses: Sequence[Sequence[int]]) -> None:
        self._clauses = clauses
        self._selects = 1 + max((abs(lit) for each in clauses for lit in each), default=0)
        self._solver = Solver("minisat22")
        self.left = _WORK
        for at, each in enumerate(clauses, self._selects):
            self._solver.add_clause([*each, -at])

    def __enter__(self) -> _Parts:
        return self

    def __exit__(self, *error: object) -> None:
        self._solver.delete()

    def core(self, chosen: Iterable[int], conflicts: int = _LATER) -> list[int] | None:
        """Return some of the clauses that contradict each other; None if none were found."""
        assumed = [at + self._selects for at in chosen]
        self.left -= len(assumed) + 100
        if self.left < 0:
            return None
        self._solver.conf_budget(conflicts)
        if self._solver.solve_limited(assumptions=assumed) is not False:
            return None
        return [at - self._selects for at in self._solver.get_core() or ()]

    def minimal(self, core: Iterable[int], last: Collection[int] = ()) -> list[int]:
        """Return a minimal part of a core: each clause is needed; those in `last` stay long."""
        needed: list[int] = []
        todo = sorted(core, key=lambda at: at not in last)
        while todo:
            tried = todo.pop()
            smaller = self.core((*needed, *todo))
            if smaller is None:
                needed.append(tried)
            else:
                kept = set(smaller)
                todo = [at for at in todo if at in kept]
        return needed

    def correction(self, chosen: Iterable[int]) -> list[int]:
        """Return few clauses without which the others agree with those chosen.

        Right after `core` has found that these do not contradict each other.
        """
        values = self._solver.get_model() or ()
        kept, left = set(chosen), list[int]()
        for at, clause in enumerate(self._clauses):
            true = any(values[abs(lit) - 1] == lit for lit in clause) if values else at in kept
            (kept.add if true else left.append)(at)
        return [at for at in left if not self._joins(at, kept)]

    def _joins(self, at: int, kept: set[int]) -> bool:
        if self.core((*kept, at)) is None and self._solver.get_model():
            kept.add(at)
        return at in kept


def cores(view: View) -> list[list[int]]:
    """Return clauses that contradict each other, by number: a small core, and a solver's.

    Nothing if the formula is satisfiable, or a solver would need long.
    """
    if view.format != "cnf" or len(view.literals) > _LARGEST:
        return []
    places = list(filter(view.counts, range(len(view))))
    with _Parts([view.line(at).literals for at in places]) as parts:
        first = core = parts.core(range(len(places)), _FIRST)
        if first is None or core is None:
            return []
        while (smaller := parts.core(core)) is not None and len(smaller) < len(core):
            core = smaller
        best = _hitting(parts, parts.minimal(core))
        best = _without_each(parts, best, len(places))
    return [sorted(places[at] for at in each) for each in (best, first)]


def _hitting(parts: _Parts, best: list[int]) -> list[int]:
    """Return a smallest core if it is found in some steps, otherwise the given one."""
    if len(best) > _FEW:
        return best
    with Hitman(htype="sorted") as hitman:
        for step in range(_STEPS):
            found = hitman.get() if step else []
            if found is None or len(found) >= len(best):
                break
            if (core := parts.core(found)) is not None:
                return core
            # One set after the other, without the clauses of those before.
            while (missing := parts.correction(found)) and parts.left > 0:
                hitman.hit(missing)
                found = [*found, *missing]
                if parts.core(found) is not None:
                    break
            if not missing:
                break
    return best


def _without_each(parts: _Parts, best: list[int], count: int) -> list[int]:
    """Return the smallest of the cores without one clause of the best each."""
    todo = list(best)
    while todo and parts.left > 0:
        without = todo.pop()
        found = parts.core(at for at in range(count) if at != without)
        if found is not None and len(found := parts.minimal(found, set(best))) < len(best):
            best, todo = found, list(found)
    return best
