"""The counters of known solvers, and the options that print them. Steps repeat; seconds do not."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeAlias

Words: TypeAlias = str | Sequence[str]
"""A command: a line, quoted as for a shell, or its words."""

STEPS = "steps"
"""The counter that a solver's step limit bounds, or the nearest one."""


class Solver(NamedTuple):
    """The options that make a solver print its counters, and their names."""

    option: str
    """Prints them; empty: it prints them anyway."""
    counters: Mapping[str, str]
    """The names of a counter, separated by `|`, by those that are the same for all solvers."""
    bound: str = ""
    """Begins the option that bounds the steps of a run; empty if there is none."""


SOLVERS: Mapping[str, Solver] = {
    "z3": Solver(
        "-st",
        {
            STEPS: "rlimit-count",
            "conflicts": "conflicts|sat-conflicts",  # of its SMT core, or of its SAT solver
            "decisions": "decisions|sat-decisions",
            "instances": "quant-instantiations",
        },
        "rlimit=",
    ),
    "cvc5": Solver(
        "--stats-internal",  # `--stats` leaves most of them out
        {
            STEPS: "resource::resourceUnitsUsed",
            "conflicts": "sat::conflicts",
            "decisions": "sat::decisions",
            "instances": "Instantiate::Instantiations_Total",
        },
        "--rlimit=",
    ),
    "yices": Solver(
        "--stats",
        {
            STEPS: "boolean-propagations|mcsat::bool::propagations",
            "conflicts": "conflicts|mcsat::conflicts",
            "decisions": "decisions|mcsat::decisions",
            "lemmas": "mcsat::lemmas",
        },
    ),
    "bitwuzla": Solver(
        "--verbosity=1",
        {
            "instances": "solver::quant::num_lemmas",
            "lemmas": "solver::engine::lemmas::total",
            "clauses": "solver::bv::bitblast::cnf::num_clauses",
        },
    ),
    "cadical": Solver(
        "",
        {STEPS: "propagations", "conflicts": "conflicts", "decisions": "decisions"},
    ),
}
"""By what the names of their programs begin with; as z3 4.8 to 5.4, cvc5 1.0 to 1.4, yices 2.6,
Bitwuzla 0.10 and CaDiCaL 1.5 print them. Bitwuzla tells nothing of its SAT solver."""


def solver_of(words: Words) -> Solver | None:
    """Return the entry for the solver of a command; None if it is unknown."""
    program = program_of(words)
    return next((each for name, each in SOLVERS.items() if program.startswith(name)), None)


def program_of(words: Words) -> str:
    """Return the name of a command's program, without its folder; '' if there is no word."""
    given = _listed(words)
    return Path(given[0]).name if given else ""


def counters_of(words: Words) -> Mapping[str, str]:
    """Return the counters of a command's solver; none of a solver that is not known."""
    solver = solver_of(words)
    return {} if solver is None else solver.counters


def counting(words: Words) -> Words:
    """Return a command that prints its solver's counters; the same if the solver is not known."""
    solver = solver_of(words)
    option = "" if solver is None else solver.option
    if not option or option in _listed(words):
        return words
    return f"{words} {option}" if isinstance(words, str) else [*words, option]


def bound_of(words: Words) -> int | None:
    """Return the step limit in a command; None if it has no known one."""
    solver = solver_of(words)
    if solver is None or not solver.bound:
        return None
    line = words if isinstance(words, str) else " ".join(words)
    name = re.escape(solver.bound.rstrip("="))
    found = re.findall(rf"(?<!\S){name}[= ]([1-9][0-9]*)(?!\S)", line)
    return int(found[-1]) if found else None


def _listed(words: Words) -> Sequence[str]:
    return words.split() if isinstance(words, str) else words
