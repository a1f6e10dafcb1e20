"""Random inputs of formats that have more than clauses, OPB, WBO and QCIR: made of clauses.

So they are as hard as the formulas of `generate`, and of the same shapes.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from random import Random
from typing import Any, TypeAlias

from reducekit.frontends.cnf import generate as cnf
from reducekit.frontends.cnf.generate import Clause, Parameters
from reducekit.frontends.mutation import drawn_size
from reducekit.offers import FormatOption, Generated, Generation, InputGenerator, words_of

_Writer: TypeAlias = Callable[[Random, Sequence[Clause], int], Iterator[str]]
_SMALLEST = 5
_COST = 10
_WIDEST = 9  # the largest coefficient


def _opb(rng: Random, clauses: Sequence[Clause], variables: int, *, soft: bool) -> Iterator[str]:
    """Yield the lines of an OPB file, or of WBO: clauses, sums with weights, products."""
    nonlinear = not soft and rng.random() < 0.3
    constraints = [_sum(rng, each, nonlinear=nonlinear) for each in clauses]
    costs = [rng.randint(1, _COST) if soft and rng.random() < 0.3 else 0 for _ in constraints]
    head = f"* #variable= {variables} #constraint= {len(constraints)}"
    if nonlinear:
        count = sum(len(each) for each in clauses)
        head += f" #product= {count} sizeproduct= {2 * count}"
    if soft:
        used = [each for each in costs if each]
        head += f" #soft= {len(used)} mincost= 1 maxcost= {_COST} sumcost= {sum(used)}"
    yield head
    if soft:
        yield f"soft: {sum(costs) + 1} ;"
    elif rng.random() < 0.5:
        few = rng.sample(range(1, variables + 1), max(1, variables // 3))
        yield f"min: {' '.join(f'{rng.randint(-_WIDEST, _WIDEST):+} x{each}' for each in few)} ;"
    for cost, each in zip(costs, constraints, strict=True):
        yield f"[{cost}] {each}" if cost else each


def _sum(rng: Random, clause: Clause, *, nonlinear: bool) -> str:
    """Return a clause as a constraint; a wide one may get coefficients, or products."""
    weighted = len(clause) > 2 and rng.random() < 0.3
    terms, degree, total = [], 1, 0
    for literal in clause:
        coefficient = rng.randint(1, _WIDEST) if weighted else 1
        total += coefficient
        degree -= coefficient if literal < 0 else 0
        sign = "-" if literal < 0 else "+"
        also = f" x{abs(rng.choice(clause))}" if nonlinear and rng.random() < 0.1 else ""
        also = "" if also == f" x{abs(literal)}" else also
        terms.append(f"{sign}{coefficient} x{abs(literal)}{also}")
    degree += total // 3 if weighted else 0
    return f"{' '.join(terms)} >= {degree} ;"


def _qcir(rng: Random, clauses: Sequence[Clause], variables: int) -> Iterator[str]:
    """Yield the lines of a circuit: clauses as gates, other gates between them, quantifiers."""
    yield "#QCIR-G14"
    for prefix, names in cnf.quantifiers(rng, variables):
        yield f"{'forall' if prefix == b'a' else 'exists'}({', '.join(map(str, names))})"
    last = variables + 2 * len(clauses) + 1
    yield f"output({last})"
    gates: list[int] = []
    inner = variables
    for clause in clauses:
        operands = list(clause)
        if len(clause) > 2 and rng.random() < 0.3:
            inner += 1
            kind, count = rng.choice((("xor", 2), ("ite", 3), ("and", 2)))
            yield f"{inner} = {kind}({', '.join(map(str, operands[:count]))})"
            operands = [inner, *operands[count:], *gates[-1:]]
        inner += 1
        yield f"{inner} = or({', '.join(map(str, operands))})"
        gates.append(inner)
    yield f"{last} = and({', '.join(map(str, gates))})"


_WRITERS: Mapping[str, tuple[_Writer, float]] = {
    "opb": (partial(_opb, soft=False), 0.65),
    "wbo": (partial(_opb, soft=True), 0.9),
    "qcir": (_qcir, 0.6),
}
"""By notation, how it is written, and the share of clauses that leaves half satisfiable."""


class _Generator(InputGenerator):
    """Makes files of a format, each from a seed."""

    def __init__(self, options: Sequence[FormatOption], values: Mapping[str, Any]) -> None:
        self._options, self._values = options, values
        self.suffix = f".{values['notation']}"

    def generate(self, seed: int) -> Generated:
        rng = Random(f"relatives {seed}")
        notation, shape = self._values["notation"], self._values["shape"]
        shape = rng.choice(cnf.SHAPES) if shape == cnf.ANY else shape
        variables = drawn_size(rng.random(), _SMALLEST, self._values["variables"])
        writer, left = _WRITERS[notation]
        wanted = Parameters(variables, shape, 3, cnf.THRESHOLDS[3], "cnf")
        clauses = cnf.drawn_clauses(rng, wanted, left)
        largest = max((abs(each) for clause in clauses for each in clause), default=1)
        return Generated("\n".join((*writer(rng, clauses, largest), "")).encode())

    def close(self) -> None:
        pass

    def words(self, seed: int) -> Sequence[str]:
        return ["--seed", str(seed), *words_of(self._options, self._values)]


def generation(notations: tuple[str, ...]) -> Generation:
    """Return the generator of a format, which is written in some notations."""
    options = (
        *(each for each in cnf.OPTIONS if each.name in ("variables", "shape")),
        FormatOption("notation", "Format of the files.", "choice", notations[0], notations),
    )
    return Generation(
        partial(_Generator, options), options, "Made of the clauses of `reducekit generate cnf`."
    )
