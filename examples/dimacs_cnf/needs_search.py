"""An interestingness test: exits with 0 if FILE is unsatisfiable and propagation alone cannot tell.

usage: python needs_search.py FILE

FILE is DIMACS CNF; a header that does not fit the clauses is refused, as strict solvers do.
Needs the package python-sat, which reducekit brings along.
"""

import sys
from pathlib import Path

from pysat.solvers import Solver


def needs_search(text: str) -> bool:
    """Return whether the clauses are unsatisfiable, and unit propagation finds no conflict."""
    words = " ".join(line for line in text.splitlines() if not line.startswith("c")).split()
    variables, count = int(words[2]), int(words[3])
    clauses: list[list[int]] = [[]]
    for word in map(int, words[4:]):
        if word:
            clauses[-1].append(word)
        else:
            clauses.append([])
    if clauses.pop() or len(clauses) != count:
        return False
    if any(abs(literal) > variables for clause in clauses for literal in clause):
        return False
    if [] in clauses:
        return False
    with Solver("minisat22", bootstrap_with=clauses) as solver:
        consistent, _ = solver.propagate()
        return consistent and not solver.solve()


if __name__ == "__main__":
    sys.exit(not needs_search(Path(sys.argv[1]).read_text()))
