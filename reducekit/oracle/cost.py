"""Costs: counters that solvers print, such as z3's `rlimit-count`. They repeat; seconds do not."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import ClassVar, NamedTuple

from reducekit.errors import UsageError
from reducekit.oracle.answers import answers, given, in_common
from reducekit.oracle.command import Command, Words
from reducekit.oracle.criterion import Compared, Criterion, Making
from reducekit.oracle.printed import Printed
from reducekit.run import Limits, Outcome

STEPS = "steps"  # the counter that a solver's step limit bounds, or the nearest one


class Solver(NamedTuple):
    """The options that make a solver print its counters, and their names."""

    option: str  # prints them; empty: it prints them anyway
    counters: Mapping[str, str]
    """The names of a counter, separated by `|`, by those that are the same for all solvers."""
    bound: str = ""  # begins the option that bounds the steps of a run; empty if there is none


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
        "", {STEPS: "propagations", "conflicts": "conflicts", "decisions": "decisions"}
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


_NUMBER = r"[0-9]+(?:\.[0-9]+)?"


@lru_cache(maxsize=16)
def counter(text: str) -> re.Pattern[bytes]:
    """Return a pattern whose first group is the number. Raises UsageError.

    A name finds what z3 (`:conflicts 12`), cvc5 (`sat::conflicts = 12`) and CaDiCaL
    (`conflicts: 12`) print; of several, separated by `|`, each. It must be the whole name: z3's
    `:arith-conflicts` is another counter than its `:conflicts`, and `sat::conflicts` another than
    `theory::arith::conflicts`.
    """
    try:
        asked = re.compile(text.encode("utf-8", "surrogateescape"), re.MULTILINE)
    except re.error as error:
        raise UsageError(f"`cost`: {text!r} is not a regular expression: {error}") from None
    if asked.groups:
        return asked
    names = "|".join(re.escape(each.lstrip(":")) for each in text.split("|"))
    before = r"(?<![\w.-])(?<![\w)]::)"
    return re.compile(rf"{before}(?:{names})[ \t]*[:=]?[ \t]*({_NUMBER})".encode())


def cost(pattern: re.Pattern[bytes], outcome: Outcome) -> float:
    """Return the largest number that a run printed for the counter; 0 if there is none.

    z3 prints no counter that is 0, and a solver with several queries prints several numbers.
    """
    found = [0.0]
    for stream in (outcome.stdout, outcome.stderr):
        for match in pattern.finditer(stream):
            try:
                found.append(float(match[1] or b"0"))
            except ValueError:
                continue
    return max(found)


_SHARE = 0.1  # the share of the input's cost that stays
_SHARE_OF_SEVERAL = 0.5
"""The same for several queries: solvers count for all of them, so that many cheap ones of a log
have a tenth of its cost together, without the expensive one."""


@dataclass(frozen=True, slots=True)
class CostAtLeast(Criterion):
    """The cost of the first `runs` commands is high with every seed, and the answers are kept.

    It is at least `at_least`, and at least `times` as high as that of each remaining command, the
    reference, whose cost counts as `floor` if it is less. If neither bound is given, `at_least` is
    a tenth of what the cost is on the input (a half, if that has several queries): else a search
    finds a small file on which two solvers differ by a few steps. The least of several seeds
    counts, so that no candidate is kept for one unlucky seed.
    """

    name: str  # the counter as the user gave it: a name or a pattern
    runs: int
    references: int = 0  # how many runs each of the two has
    at_least: float | None = None
    times: float | None = None
    floor: float | None = None
    answered: bool = False  # whether the reference must answer `sat` or `unsat`
    kept: tuple[frozenset[bytes], frozenset[bytes]] = (frozenset(), frozenset())
    """The answers of the command and of the reference on the input: those of a candidate are among
    them. Empty: any will do, or none."""
    free: bool = False  # whether the command may answer in any way, as patterns say what it prints
    counts_steps: ClassVar[bool] = True
    about_answers: ClassVar[bool] = True

    def judge(self, outcomes: Sequence[Outcome]) -> bool | None:
        """Stop at the first seed whose cost is too low, or whose answer is another.

        A reference that a limit has stopped may not have printed its cost: it counts as too high.
        """
        own, others = outcomes[: self.runs], outcomes[self.runs :]
        if any(each.limit is not None for each in others):
            return False
        if self.answered and any(answers(each) is None for each in others):
            return False
        for wanted, some in zip(self.kept, (own, others), strict=True):
            said = [given(each) for each in some if wanted]
            if not all(each and wanted.issuperset(each) for each in said):
                return False
        if self._least(outcomes) > min(self._costs(own)):
            return False
        return True if len(outcomes) == self.runs + self.references else None

    def shown_by(self, run: Sequence[Outcome], limits: Limits) -> Criterion | None:
        """Return this with the answers of the run, and the least cost if that is not given."""
        if Criterion.shown_by(self, run, limits) is None:
            return None
        own, others = run[: self.runs], run[self.runs :]
        kept = frozenset() if self.free else _words(own)
        found = replace(self, kept=(kept, _words(others)))
        if self.at_least is not None or self.floor is not None:
            return found
        share = _SHARE_OF_SEVERAL if any(len(given(each)) > 1 for each in own) else _SHARE
        least = max(1.0, share * min(self._costs(own)))
        unit = 10 ** max(0, len(str(int(least))) - 2)  # two digits, as people would give it
        return replace(found, at_least=float(least // unit * unit))

    def describe(self) -> str:
        least = [] if self.times is None else [f"{self.times:g} times that of the reference"]
        least += [] if self.at_least is None else [f"{self.at_least:,.12g}"]
        more = ", or more" if self.times is not None else " or more"
        said = f"{self.name} is {' and '.join(least)}{more}" if least else f"{self.name} is high"
        for who, words in zip(("the command answers", "its reference"), self.kept, strict=True):
            if words:
                said += f", {who} {b' or '.join(sorted(words)).decode()}"
        return said

    def missing_in(self, run: Sequence[Outcome]) -> str:
        own, others = run[: self.runs], run[self.runs :]
        numbers = ", ".join(f"{each:g}" for each in self._costs(own))
        if self.answered and any(answers(each) is None for each in others):
            return f"{self.describe()}; the reference gives no answer"
        said = f"{self.describe()}; it is {numbers}, and {self._least(run):g} is wanted"
        common = in_common(own) if not any(self._costs(own)) else ""
        return f"{said}; {common}" if common else said

    def _least(self, outcomes: Sequence[Outcome]) -> float:
        """Return the least cost to keep, by the runs of the reference so far."""
        least = 1.0 if self.at_least is None else self.at_least
        if self.times is None:
            return least
        others = self._costs(outcomes[self.runs :])
        return max(least, self.times * max([self.floor or 1.0, *others]))

    def _costs(self, outcomes: Sequence[Outcome]) -> list[float]:
        pattern = counter(self.name)
        return [cost(pattern, each) for each in outcomes]


def _words(run: Sequence[Outcome]) -> frozenset[bytes]:
    """Return the answers of some runs; none if one of them gives none that can be trusted."""
    found = [given(each) for each in run]
    return frozenset().union(*found) if all(found) else frozenset()


_WORSE = 4.0  # the default ratio of steps that counts as a regression


@dataclass(frozen=True, kw_only=True)
class Costly(Compared, Printed):
    """A counter that the program prints is high, or higher than that of another program.

    Counters repeat where times do not: the same file gives the same number on a loaded machine.
    """

    cost: str | None = None
    at_least: float | None = None
    times: float | None = None
    floor: float | None = None
    regression: bool = False

    def commands(self, made: Making) -> tuple[Command, ...]:
        given = (each for each in (self.command, self.reference) if each is not None)
        return tuple(made(words) for each in given for words in _seeded(counting(each)))

    def criterion(self) -> Criterion:
        """Return how high the counter must be. Raises UsageError for bounds that contradict."""
        if self.regression and self.reference is None:
            raise UsageError("`regression` requires `reference`")
        if self.reference is None and (self.times is not None or self.floor is not None):
            name = "floor" if self.times is None else "times"
            raise UsageError(f"`{name}` requires `reference`: how many times whose `cost`?")
        times = self.times or (None if self.reference is None else _WORSE)
        name = self._counter(self.cost or self._steps())
        counter(name)
        runs = len(_seeded(self.command or ""))
        found = CostAtLeast(
            name,
            runs,
            0 if self.reference is None else len(_seeded(self.reference)),
            self.at_least,
            times,
            self.floor,
            answered=self.regression,
            free=bool(self.match_out),
        )
        return self.printing(found, runs)

    def _counter(self, name: str) -> str:
        """Return how the solvers call a counter: by the names for all, or as it was given."""
        given = [each for each in (self.command, self.reference) if each is not None]
        own = "|".join(counters_of(each).get(name, name) for each in given)
        return "|".join(dict.fromkeys(own.split("|")))

    def _steps(self) -> str:
        """Return the counter of steps that both programs have. Raises UsageError."""
        given = [each for each in (self.command, self.reference) if each is not None]
        for each in given:
            if STEPS not in counters_of(each):
                known = ", ".join(name for name, own in SOLVERS.items() if STEPS in own.counters)
                others = ", ".join(counters_of(each))
                raise UsageError(
                    f"`regression` knows the steps of {known} only, not of {program_of(each)!r}: "
                    f"give `cost`, a counter that it prints{f' ({others})' if others else ''}"
                )
        if len({counters_of(each)[STEPS] for each in given}) > 1:
            raise UsageError("`regression`: the programs count different steps: give `cost`")
        return STEPS


SEED = "{seed}"
_SEEDS = ("1", "2", "3")


def _seeded(words: Words, seeds: Sequence[str] = _SEEDS, *, always: bool = False) -> list[Words]:
    """Return the command for each seed; once if there is no place for one, unless `always`."""
    if not always and SEED not in (words if isinstance(words, str) else " ".join(words)):
        return [words]
    if isinstance(words, str):
        return [words.replace(SEED, seed) for seed in seeds]
    return [[word.replace(SEED, seed) for word in words] for seed in seeds]
