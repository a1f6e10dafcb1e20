"""Random clauses: uniform, in layers, parities, cardinalities, and pigeons in holes.

Uniform clauses are drawn at the ratio of clauses to variables at which half of the formulas are
satisfiable (Mertens, Mézard & Zecchina 2006). Layers, with gates and equivalences between them, are
what found most bugs of SAT and QBF solvers (Brummayer, Lonsing & Biere, SAT 2010, section 3).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations, product
from math import isqrt
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast

from reducekit.errors import UsageError
from reducekit.frontends import mutation
from reducekit.frontends.cnf.mutants import Seed, changed, seed_of
from reducekit.frontends.cnf.reader import Format, Line, write
from reducekit.frontends.mutation import Mutants, MutatingGenerator, drawn_size
from reducekit.frontends.solver_options import in_comments, of_command
from reducekit.offers import FormatOption, Generated, Generation

Shape: TypeAlias = Literal["uniform", "layers", "parity", "cardinality", "pigeons"]
Clause: TypeAlias = list[int]
SHAPES: tuple[Shape, ...] = ("uniform", "layers", "parity", "cardinality", "pigeons")
FORMATS: tuple[Format, ...] = ("cnf", "icnf", "qdimacs", "wcnf")
ANY = "any"
THRESHOLDS = {2: 1.0, 3: 4.267, 4: 9.931, 5: 21.117, 6: 43.37, 7: 87.79}
"""Clauses per variable, by the length of a clause."""
_PARITY = 0.918
"""Equations of three variables each at which half of the systems have a solution (Dubois &
Mandler, FOCS 2002)."""
_SMALLEST = 5
_TOP = 10  # the largest weight
_SOFT = 0.3  # of the clauses of WCNF


@dataclass(frozen=True, slots=True)
class Parameters:
    """What a formula looks like."""

    variables: int
    shape: Shape
    length: int
    ratio: float
    format: Format


def generate_text(parameters: Parameters, seed: int) -> bytes:
    """Return the formula of a seed."""
    rng = random.Random(f"cnf {seed} {parameters}")
    clauses = [each for each in _SHAPES[parameters.shape](rng, parameters) if each]
    rng.shuffle(clauses)
    for each in clauses:
        rng.shuffle(each)
    return write(parameters.format, _lines(rng, parameters.format, clauses), parameters.variables)


def _lines(rng: random.Random, notation: Format, clauses: Sequence[Clause]) -> list[Line]:
    """Return the lines of clauses, with the weights, quantifiers or queries of a format."""
    if notation == "wcnf":
        return [Line(_weight(rng), each) for each in clauses]
    lines = [Line(b"", each) for each in clauses]
    largest = max((abs(literal) for each in clauses for literal in each), default=1)
    if notation == "qdimacs":
        return [*_quantifiers(rng, largest), *lines]
    return list(_with_queries(rng, lines, largest)) if notation == "icnf" else lines


def _weight(rng: random.Random) -> bytes:
    return b"%d" % rng.randint(1, _TOP) if rng.random() < _SOFT else b"h"


def _quantifiers(rng: random.Random, largest: int) -> Iterator[Line]:
    """Yield the prefix: blocks of variables, the innermost one existential."""
    names = list(range(1, largest + 1))
    rng.shuffle(names)
    blocks = rng.randint(2, 4)
    # Few universal variables, or nearly all formulas are false.
    cuts = sorted(rng.sample(range(1, largest), min(blocks - 1, largest - 1)))
    parts = [names[low:high] for low, high in zip([0, *cuts], [*cuts, largest], strict=True)]
    for at, part in enumerate(parts):
        existential = (len(parts) - 1 - at) % 2 == 0
        few = part if existential else part[: max(1, largest // 10)]
        yield Line(b"e" if existential else b"a", sorted(few))
        if rest := sorted(set(part) - set(few)):
            yield Line(b"e", rest)


def _with_queries(rng: random.Random, lines: Sequence[Line], largest: int) -> Iterator[Line]:
    """Yield the clauses with queries between them, and one at the end."""
    queries = rng.randint(1, 4)
    places = {rng.randrange(len(lines) // 2, len(lines)) for _ in range(queries)} if lines else {0}
    for at, line in enumerate(lines):
        yield line
        if at in places:
            names = rng.sample(range(1, largest + 1), min(largest, rng.randint(0, 3)))
            yield Line(b"a", [_signed(rng, each) for each in names])
    yield Line(b"a", [])


def _signed(rng: random.Random, variable: int) -> int:
    return variable if rng.random() < 0.5 else -variable


def _drawn(rng: random.Random, variables: Sequence[int], length: int) -> Clause:
    chosen = rng.sample(variables, min(length, len(variables)))
    return [_signed(rng, each) for each in chosen]


def _uniform(rng: random.Random, wanted: Parameters) -> Iterator[Clause]:
    variables = range(1, wanted.variables + 1)
    for _ in range(round(wanted.ratio * wanted.variables)):
        yield _drawn(rng, variables, wanted.length)


def _layers(rng: random.Random, wanted: Parameters) -> Iterator[Clause]:
    """Yield clauses within a layer of variables and those before, with gates between layers."""
    total = wanted.variables
    count = rng.randint(1, max(1, min(20, total // 5)))
    cuts = sorted(rng.sample(range(1, total), min(count - 1, total - 1)))
    layers = [
        range(low + 1, high + 1) for low, high in zip([0, *cuts], [*cuts, total], strict=True)
    ]
    for at, layer in enumerate(layers):
        reach = len(layer) + (len(layers[at - 1]) if at else 0)
        for _ in range(round(rng.uniform(3.0, 4.5) * reach)):
            length = wanted.length
            while rng.random() < 1 / 3:
                length += 1
            clause = (_of_layers(rng, layers[: at + 1]) for _ in range(length))
            yield list({abs(literal): literal for literal in clause}.values())
    gates = rng.randint(0, total) if rng.random() < 0.5 else 0
    yield from _gates(rng, total, gates if total > 3 else 0)


def _of_layers(rng: random.Random, layers: Sequence[range]) -> int:
    """Draw a literal of the last layer, less often of those before."""
    depth = len(layers) - 1
    while depth and rng.random() < 0.5:
        depth -= 1
    return _signed(rng, rng.choice(layers[depth]))


def _gates(rng: random.Random, total: int, count: int) -> Iterator[Clause]:
    """Yield the clauses of gates: conjunctions, parities and equalities of variables."""
    everything = range(1, total + 1)
    for _ in range(count):
        out, *inputs = _drawn(rng, everything, rng.randint(3, 5))
        kind = rng.randrange(3)
        if kind == 0:
            yield from _and_gate(out, inputs)
        elif kind == 1:
            yield from _parity_clauses([out, *inputs[:2]])
        else:
            yield from ([out, -inputs[0]], [-out, inputs[0]])


def _and_gate(out: int, inputs: Sequence[int]) -> Iterator[Clause]:
    yield [out, *(-each for each in inputs)]
    for each in inputs:
        yield [-out, each]


def _parity_clauses(literals: Sequence[int]) -> Iterator[Clause]:
    """Yield the clauses by which an odd number of literals is true."""
    for signs in product((1, -1), repeat=len(literals)):
        if signs.count(-1) % 2 == 0:
            yield [sign * each for sign, each in zip(signs, literals, strict=True)]


def _parity(rng: random.Random, wanted: Parameters) -> Iterator[Clause]:
    variables = range(1, wanted.variables + 1)
    for _ in range(round(_PARITY * wanted.variables)):
        yield from _parity_clauses(_drawn(rng, variables, wanted.length))


def _cardinality(rng: random.Random, wanted: Parameters) -> Iterator[Clause]:
    """Yield bounds on how many of some literals are true, and clauses of the length wanted."""
    given = max(wanted.variables // 2, 2)
    fresh = given
    while fresh < wanted.variables:
        literals = _drawn(rng, range(1, given + 1), rng.randint(3, 8))
        bound = rng.randint(1, max(1, len(literals) - 2))
        for clause in _at_most(bound, literals, fresh):
            fresh = max(fresh, *map(abs, clause))
            yield clause
    for _ in range(round(wanted.ratio * given / 2)):
        yield _drawn(rng, range(1, given + 1), wanted.length)


def _at_most(bound: int, literals: Sequence[int], last: int) -> Iterator[Clause]:
    """Yield clauses by which at most `bound` literals are true: a sequential counter (Sinz 2005).

    New variables follow `last`; number `i * bound + j` says that `j` of the first `i` are true.
    """

    def counted(first: int, many: int) -> int:
        return last + (first - 1) * bound + many

    for i, literal in enumerate(literals, 1):
        if i < len(literals):
            yield [-literal, counted(i, 1)]
        for j in range(1, bound + 1):
            if 1 < i < len(literals):
                yield [-counted(i - 1, j), counted(i, j)]
                if j > 1:
                    yield [-literal, -counted(i - 1, j - 1), counted(i, j)]
        if i > 1:
            yield [-literal, -counted(i - 1, bound)]


def _pigeons(rng: random.Random, wanted: Parameters) -> Iterator[Clause]:
    """Yield that each pigeon has a hole of its own: as many of both, or one hole less."""
    holes = max(2, min(8, isqrt(wanted.variables)))
    pigeons = holes + rng.randint(0, 1)
    names = list(range(1, pigeons * holes + 1))
    rng.shuffle(names)
    signs = [_signed(rng, each) for each in names]

    def sits(pigeon: int, hole: int) -> int:
        return signs[pigeon * holes + hole]

    for pigeon in range(pigeons):
        yield [sits(pigeon, hole) for hole in range(holes)]
    for hole in range(holes):
        for one, other in combinations(range(pigeons), 2):
            yield [-sits(one, hole), -sits(other, hole)]
    for _ in range(rng.randint(0, holes)):
        yield _drawn(rng, names, wanted.length)


_SHAPES: Mapping[Shape, Callable[[random.Random, Parameters], Iterator[Clause]]] = {
    "uniform": _uniform,
    "layers": _layers,
    "parity": _parity,
    "cardinality": _cardinality,
    "pigeons": _pigeons,
}

OPTIONS: tuple[FormatOption, ...] = (
    FormatOption("variables", "Number of variables.", "whole", 60, (), "N", least=2, most=10**6),
    FormatOption(
        "shape", "Kind of formula; any draws one each time.", "choice", ANY, (*SHAPES, ANY)
    ),
    FormatOption(
        "notation", "Format of the files; with --mutate, of those that are changed.", "choice",
        "cnf", FORMATS,
    ),
    FormatOption("length", "Literals of a clause.", "whole", 3, (), "K", least=2, most=7),
    FormatOption(
        "ratio", "Clauses per variable of uniform formulas; default: half of them satisfiable.",
        "decimal", None, metavar="R", least=0, most=1000,
    ),
    FormatOption("vary", "Vary the number of variables, up to --variables.", "flag", default=True),
    *mutation.OPTIONS,
    of_command("cnf"),
)  # fmt: skip


class CnfGenerator(MutatingGenerator[Seed]):
    """Makes random formulas."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        if values["shape"] == ANY and values["ratio"] is not None:
            raise UsageError("`ratio` requires `shape` uniform, layers or cardinality")
        self.suffix = f".{values['notation']}"
        super().__init__("cnf", OPTIONS, values, self._mutants_of)
        self.well_formed = self.mutants is None

    def _mutants_of(self, path: Path) -> Mutants[Seed]:
        notation = self.values["notation"]
        suffixes = (".cnf", ".dimacs", *(f".{each}" for each in FORMATS if each != "cnf"))
        noun = f"formulas in the format {notation} that have a clause (`notation` names another)"
        return Mutants(path, suffixes, noun, partial(seed_of, notation=notation), changed)

    def generate(self, seed: int) -> Generated:
        """Make the formula of a seed. Raises UsageError if no file can be mutated."""
        return Generated(in_comments(seed, self.solver_options, "c ") + self.made(seed))

    def random(self, seed: int) -> bytes:
        values = self.values
        rng = random.Random(f"shape {seed}")
        shape = values["shape"]
        if shape == ANY:
            shape = rng.choice(SHAPES)
        variables = values["variables"]
        share = rng.random()
        if values["vary"] and variables > _SMALLEST:
            variables = drawn_size(share, _SMALLEST, variables)
        length, ratio = values["length"], values["ratio"]
        ratio = THRESHOLDS[length] if ratio is None else ratio
        wanted = Parameters(variables, cast("Shape", shape), length, ratio, values["notation"])
        return generate_text(wanted, seed)


GENERATION = Generation(
    CnfGenerator,
    OPTIONS,
    "Clauses drawn where half of the formulas are satisfiable, layers with gates, parities, "
    "cardinalities, pigeons in holes. QDIMACS adds quantifiers, WCNF weights, ICNF queries under "
    "assumptions. With --mutate, formulas that are slightly changed.",
    changes="mutate",
    presets={
        "uniform": {"shape": "uniform"},
        "large": {"variables": 300},
        "pigeons": {"shape": "pigeons"},
        "several queries": {"notation": "icnf"},
    },
)
