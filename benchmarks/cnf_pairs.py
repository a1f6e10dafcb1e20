"""Formulas and programs with a fault that shows on them, drawn from seeds, for `cnf_peers`."""

import itertools
import math
import random
import subprocess
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

from pysat.examples.rc2 import RC2
from pysat.formula import WCNF
from pysat.solvers import Solver

from reducekit.errors import ParseError
from reducekit.frontends.cnf.generate import Parameters, Shape, generate_text
from reducekit.frontends.cnf.reader import Line, View, write

Clauses = Sequence[Sequence[int]]
Fault = Callable[[View], bool]


def solved(clauses: Clauses) -> bool:
    """Return whether clauses are satisfiable."""
    with Solver("cadical153", bootstrap_with=clauses) as solver:
        return bool(solver.solve())


def clauses_of(view: View) -> list[tuple[int, ...]]:
    """Return the clauses with sorted literals, without prefixes."""
    first, literals = view.first, view.literals
    return [
        tuple(sorted({*literals[first[at] : first[at + 1]]}, key=abs))
        for at in range(len(view)) if view.counts(at)
    ]  # fmt: skip


# Formulas.


def _moved(clauses: Clauses, by: int) -> list[list[int]]:
    return [[lit + by if lit > 0 else lit - by for lit in each] for each in clauses]


def _shape(dice: random.Random, size: float) -> list[list[int]]:
    """Draw a formula with about that many clauses: random, pigeons, parities or layers."""
    shapes: tuple[tuple[Shape, float, float], ...] = (
        ("uniform", size / 5, 5.2), ("uniform", size / 4, 4.2), ("pigeons", 0, 4.2),
        ("parity", size / 4, 0.0), ("layers", size / 5, 4.2),
    )  # fmt: skip
    shape, variables, ratio = dice.choice(shapes)
    variables = dice.randint(16, 60) if shape == "pigeons" else round(variables)
    if shape == "parity":
        return list(_chain(dice, round(size / 8)))
    text = generate_text(Parameters(variables, shape, 3, ratio, "cnf"), dice.randrange(1 << 30))
    return [list(literals) for _, literals in View(text).lines()]


def _chain(dice: random.Random, variables: int) -> Iterator[list[int]]:
    """Yield parities of neighbours, so that solvers are done in no time; often contradictory."""
    for first in range(1, variables):
        for _ in range(dice.choice((1, 1, 2))):
            near = range(first, min(variables, first + 8) + 1)
            chosen = dice.sample(near, min(len(near), dice.choice((2, 3, 3, 3))))
            even = dice.randrange(2)
            for signs in itertools.product((1, -1), repeat=len(chosen)):
                if signs.count(-1) % 2 == even:
                    yield [sign * each for sign, each in zip(signs, chosen, strict=True)]


def _part(dice: random.Random, tools: Path | None) -> list[list[int]]:
    """Draw a formula by cnfuzz if it is installed, otherwise by our generator."""
    if tools is not None and (tools / "cnfuzz/cnfuzz").exists() and dice.random() < 0.3:
        words = [str(tools / "cnfuzz/cnfuzz"), "--tiny", str(dice.randrange(1 << 30))]
        printed = subprocess.run(words, capture_output=True, check=True).stdout
        return [list(literals) for _, literals in View(printed).lines()]
    return _shape(dice, 10 ** dice.uniform(2, 2.7))


def formula(dice: random.Random, tools: Path | None, size: int) -> list[list[int]]:
    """Draw about that many clauses in parts that share a few; at most one is unsatisfiable."""
    found: list[list[int]] = []
    parts: list[list[list[int]]] = []  # satisfiable ones, which large formulas have many times
    variables, bad = 0, False
    while len(found) < size:
        if len(parts) > 20:
            part = dice.choice(parts)
        else:
            part = _part(dice, tools)
            if len(part) > max(size, 3000):
                continue
            if solved(part):
                parts.append(part)
            elif bad:
                continue
            else:
                bad = True
        found += _moved(part, variables)
        variables = max(variables, *(abs(lit) for each in found[-len(part) :] for lit in each))
        for _ in range(dice.randrange(4)):
            found.append([dice.choice((1, -1)) * dice.randint(1, variables) for _ in range(3)])
    dice.shuffle(found)
    return found


# Programs with faults. Each takes a number that makes it fail on fewer formulas.


def _subsumes(clauses: Clauses, k: int) -> list[Sequence[int]]:
    """Drop clauses that shorter ones subsume, by the first k literals only: wrong."""
    shortest: dict[tuple[int, ...], int] = {}
    for each in clauses:
        if each:
            key = tuple(each[:k])
            shortest[key] = min(len(each), shortest.get(key, len(each)))
    return [
        each for each in clauses
        if len(each) > 40 or not any(
            shortest.get(key, len(each)) < len(each)
            for size in range(1, k + 1) for key in itertools.combinations(each, size)
        )
    ]  # fmt: skip


def _strengthens(clauses: Clauses, k: int) -> list[Sequence[int]]:
    """Remove literals by self-subsumption that looks at k literals of the other clause: wrong."""
    known = {tuple(each[:k]) for each in clauses if each}
    return [
        tuple(lit for at, lit in enumerate(each)
              if (*each[max(0, at - k + 1) : at], -lit) not in known)
        for each in clauses
    ]  # fmt: skip


def _pure(clauses: Clauses, k: int) -> list[Sequence[int]]:
    """Drop clauses with a pure literal, where clauses of more than k literals do not count."""
    known = {lit for each in clauses if len(each) <= k for lit in each}
    pure = {lit for each in clauses for lit in each if -lit not in known}
    return [each for each in clauses if pure.isdisjoint(each)]


def _resolves(clauses: Clauses, k: int) -> list[Sequence[int]]:
    """Eliminate variables with few clauses, and forget resolvents of more than k literals."""
    inside: dict[int, set[int]] = defaultdict(set)
    alive: dict[int, Sequence[int]] = dict(enumerate(clauses))
    for at, each in alive.items():
        for lit in each:
            inside[lit].add(at)
    for variable in sorted({abs(lit) for lit in inside}):
        one, other = ({at for at in inside[lit] if at in alive} for lit in (variable, -variable))
        if not 0 < len(one) * len(other) <= 6 or one & other:
            continue
        for left, right in itertools.product(sorted(one), sorted(other)):
            new = {*alive[left], *alive[right]} - {variable, -variable}
            if len(new) <= k and not any(-lit in new for lit in new):
                at = len(clauses) + len(alive) + sum(map(len, inside.values()))
                alive[at] = tuple(sorted(new, key=abs))
                for lit in new:
                    inside[lit].add(at)
        for at in one | other:
            del alive[at]
    return list(alive.values())


def _says_otherwise(simplify: Callable[[Clauses, int], Clauses], k: int, view: View) -> bool:
    clauses = clauses_of(view)
    changed = simplify(clauses, k)
    return len(changed) + sum(map(len, changed)) != len(clauses) + sum(
        map(len, clauses)
    ) and solved(clauses) != solved(changed)


def _gates(k: int, view: View) -> bool:
    """Return whether there are k gates of parities: all clauses of an equation of 3 variables."""
    counted = Counter(
        (*map(abs, each), math.prod(each) > 0) for each in set(clauses_of(view)) if len(each) == 3
    )
    return sum(many == 4 for many in counted.values()) >= k


def _conflicts(k: int, view: View) -> bool:
    """Return whether MiniSat needs k conflicts."""
    with Solver("minisat22", bootstrap_with=clauses_of(view)) as solver:
        solver.solve()
        return bool(solver.accum_stats()["conflicts"] >= k)


class Pair(NamedTuple):
    """A formula, and the function that says whether the fault shows."""

    name: str
    text: bytes
    fails: Callable[[bytes], bool]


def _checked(fault: Fault) -> Callable[[bytes], bool]:
    def fails(text: bytes) -> bool:
        with suppress(ParseError):
            return fault(View(text))
        return False

    return fails


def subset_of(clauses: Clauses) -> Fault:
    """Return what fails on unsatisfiable formulas made of these clauses only."""
    known = set(map(frozenset, clauses))

    def fails(view: View) -> bool:
        found = clauses_of(view)
        return known.issuperset(map(frozenset, found)) and not solved(found)

    return fails


_FAULTS: tuple[tuple[str, Callable[[int, View], bool], tuple[int, ...]], ...] = (
    ("subsumption", lambda k, view: _says_otherwise(_subsumes, k, view), (3, 2, 1)),
    ("strengthening", lambda k, view: _says_otherwise(_strengthens, k, view), (3, 2)),
    ("pure literal", lambda k, view: _says_otherwise(_pure, k, view), (4, 3, 2)),
    ("elimination", lambda k, view: _says_otherwise(_resolves, k, view), (5, 4, 3, 2)),
    ("gates", _gates, (8, 5, 3)),
    ("conflicts", _conflicts, (100, 50, 20)),
)


def cnf_pair(seed: int, tools: Path | None, large: int = 10) -> Pair:
    """Draw a pair: one of a fault, with the largest number with which it shows on the formula."""
    dice = random.Random(f"cnf {seed}")
    size = int(10 ** (dice.uniform(2.8, 3.7) if seed % large else dice.uniform(4.4, 5.4)))
    while True:
        name, fault, numbers = dice.choice((*_FAULTS, ("subset", _conflicts, ())))
        clauses = formula(dice, tools, size)
        view = View(text := write("cnf", clauses))
        if not numbers and not solved(clauses):
            return Pair(name, text, _checked(subset_of(clauses)))
        for k in numbers:
            if fault(k, view):
                return Pair(f"{name} {k}", text, _checked(partial(fault, k)))


def wcnf_pair(seed: int, tools: Path | None) -> Pair:
    """Draw a MaxSAT formula as of 2022, with weights up to a million, and a fault of weights."""
    dice = random.Random(f"wcnf {seed}")
    while True:
        clauses = _shape(dice, 10 ** dice.uniform(1.8, 2.6))
        lines = [
            Line(b"h" if dice.random() < 0.6 else b"%d" % int(10 ** dice.uniform(0, 6)), each)
            for each in clauses
        ]
        bound = int(10 ** dice.uniform(1, 5))
        name, fault = dice.choice((
            ("optimum", lambda view, bound=bound: _optimum(view) >= bound),
            ("heavy", lambda view, bound=bound: _heavy(view, bound) >= 3),
            ("sum", lambda view, bound=bound: sum(_soft(view)) >= 20 * bound),
        ))  # fmt: skip
        text = write("wcnf", lines)
        if fault(View(text)):
            return Pair(f"{name} {bound}", text, _checked(fault))


def _soft(view: View) -> list[int]:
    return [int(each) for each in view.prefixes if each != b"h"]


def _heavy(view: View, bound: int) -> int:
    """Count soft clauses of at least this weight; 0 without two long hard ones."""
    hard = [at for at, each in enumerate(view.prefixes) if each == b"h"]
    long = sum(view.first[at + 1] - view.first[at] >= 3 for at in hard)
    return sum(each >= bound for each in _soft(view)) if long >= 2 else 0


def _optimum(view: View) -> int:
    """Return the weight of what cannot be satisfied; -1 if the hard clauses cannot."""
    formula, empty = WCNF(), 0
    for prefix, literals in view.lines():
        if prefix == b"h" or literals:
            formula.append(list(literals), weight=None if prefix == b"h" else int(prefix))
        else:
            empty += int(prefix)  # RC2 cannot take it
    with RC2(formula) as solver:
        return solver.cost + empty if solver.compute() is not None else -1


def qbf_pair(seed: int, tools: Path | None) -> Pair:
    """Draw a quantified formula with few universal variables, and a fault of a simplification."""
    dice = random.Random(f"qbf {seed}")
    while True:
        clauses = _shape(dice, 10 ** dice.uniform(1.8, 2.5))
        variables = sorted({abs(lit) for each in clauses for lit in each})
        if len(variables) < 8:
            continue
        dice.shuffle(variables)
        cut = sorted(dice.sample(range(1, len(variables) - 5), 2))
        universal = min(5, cut[1] - cut[0])
        blocks = [variables[: cut[0]], variables[cut[0] : cut[0] + universal]]
        blocks.append(variables[cut[0] + universal :])
        lines = [Line(b"a" if at == 1 else b"e", sorted(each)) for at, each in enumerate(blocks)]
        name, simplify, k = dice.choice((
            ("subsumption", _subsumes, 2), ("pure literal", _pure, 2),
            ("strengthening", _strengthens, 2), ("pure literal", _pure, 3),
        ))  # fmt: skip
        text = write("qdimacs", [*lines, *(Line(b"", each) for each in clauses)])

        def fault(view: View, simplify: Callable[..., Clauses] = simplify, k: int = k) -> bool:
            return _true(view, before := clauses_of(view)) != _true(view, simplify(before, k))

        if fault(View(text)):
            return Pair(f"{name} {k}", text, _checked(fault))


def _true(view: View, clauses: Clauses) -> bool:
    """Decide a quantified formula: a copy of the clauses for each value of the universal ones."""
    universal: list[int] = []
    depth: dict[int, int] = {}
    for prefix, literals in view.lines():
        for each in literals if prefix in (b"a", b"e") else ():
            depth.setdefault(abs(each), -1 if prefix == b"a" else len(universal))
            if prefix == b"a":
                universal.append(abs(each))
    names: dict[tuple[int, tuple[bool, ...]], int] = {}
    found: list[list[int]] = []
    for values in itertools.product((False, True), repeat=len(universal)):
        value = dict(zip(universal, values, strict=True))
        found += [
            [
                (1 if lit > 0 else -1)
                * names.setdefault((abs(lit), values[: depth.get(abs(lit), 0)]), len(names) + 1)
                for lit in each
                if abs(lit) not in value
            ]
            for each in clauses
            if not any(value.get(abs(lit)) == (lit > 0) for lit in each)
        ]
    return solved(found)


def mus_pair(seed: int, tools: Path | None) -> Pair:
    """Draw an unsatisfiable formula; parts of it fail that are unsatisfiable, too."""
    dice = random.Random(f"mus {seed}")
    while True:
        clauses = formula(dice, tools, int(10 ** dice.uniform(2.3, 3.5)))
        if not solved(clauses):
            return Pair("subset", write("cnf", clauses), _checked(subset_of(clauses)))
