"""Random clauses (uniform, in layers, parities, cardinalities, pigeons in holes), and mutants.

Uniform clauses are drawn at the ratio of clauses to variables at which half of the formulas are
satisfiable (Mertens, Mézard & Zecchina 2006). Layers, with gates and equivalences between them, are
what found most bugs of SAT and QBF solvers (Brummayer, Lonsing & Biere, SAT 2010, section 3).

Mutants have other literals, more or fewer clauses, or are two formulas in one. Near the threshold
of satisfiability a literal decides, so a mutant may be answered in another way than its seed.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations, product
from math import ceil, isqrt
from pathlib import Path
from random import Random
from typing import Any, Literal, TypeAlias, cast

from reducekit.errors import ParseError, UsageError
from reducekit.frontends import mutation
from reducekit.frontends.cnf.reader import Format, Line, View, is_list, problems, write
from reducekit.frontends.mutation import Mutants, MutatingGenerator, drawn_size
from reducekit.frontends.solver_options import in_comments, of_command
from reducekit.offers import FormatOption, Generated, Generation

_MOST = 5
"""The number of changes of a mutant, at most."""
_SHARED = 0.5
"""How often two formulas that are joined have variables in common."""


@dataclass(frozen=True, slots=True)
class Seed:
    """A formula, ready to be changed."""

    format: Format
    lines: tuple[Line, ...]
    variables: int
    """The largest variable."""
    flaws: int
    """What is wrong with its quantifiers: a mutant is not worse."""


def seed_of(text: bytes, notation: Format | None = None) -> Seed | None:
    """Return a formula as a seed; None if it does not parse or has no clause.

    None also for one of another format, if a `notation` is given.
    WCNF with a header becomes that of 2022, without one.
    """
    try:
        view = View(text)
    except ParseError:
        return None
    if notation not in (None, view.format):
        return None
    if not any(map(view.counts, range(len(view)))) or not view.variables:
        return None
    weighted = view.format == "wcnf"
    lines = tuple(
        Line(b"h" if weighted and view.is_hard(prefix) else prefix, tuple(literals))
        for prefix, literals in view.lines()
    )
    flaws = len(problems(View(write(view.format, lines))))
    return Seed(view.format, lines, view.variables[-1], flaws)


def changed(dice: Random, seed: Seed, other: Seed | None) -> bytes | None:
    """Return the text of a seed, joined with the other one if that can be, with some changes."""
    if other is not None and other.format == seed.format:
        seed = joined(dice, seed, other)
    lines = list(seed.lines)
    for _ in range(dice.randint(1, _MOST)):
        clauses = [at for at, each in enumerate(lines) if _is_clause(seed, each)]
        if not clauses:
            break
        dice.choice(_CHANGES)(dice, seed, lines, dice.choice(clauses))
    if tuple(lines) == seed.lines:
        return None
    text = write(seed.format, lines, seed.variables)
    # Other formats can only have a wrong header, and `write` computes it.
    if seed.format in QUANTIFIED and len(problems(View(text))) > seed.flaws:
        return None
    return text


def _is_clause(seed: Seed, line: Line) -> bool:
    return not is_list(line.prefix)


def joined(dice: Random, first: Seed, second: Seed) -> Seed:
    """Return the conjunction of two formulas, whose variables are the same ones or others."""
    common = dice.random() < _SHARED and first.format not in QUANTIFIED  # none is bound twice
    by = 0 if common else first.variables
    moved = [
        Line(prefix, tuple(each + by if each > 0 else each - by for each in literals))
        for prefix, literals in second.lines
    ]
    lines = (*first.lines, *moved)
    if first.format in QUANTIFIED:
        lines = tuple(sorted(lines, key=lambda each: not is_list(each.prefix)))
    variables = max(first.variables, second.variables + by)
    return Seed(first.format, lines, variables, first.flaws + second.flaws)


def _literal(dice: Random, seed: Seed) -> int:
    return dice.choice((1, -1)) * dice.randint(1, seed.variables)


_Change: TypeAlias = Callable[[Random, Seed, list[Line], int], None]


def _of_literals(change: Callable[[Random, Seed, list[int]], None], least: int) -> _Change:
    """Return the change of a clause that changes its literals, if it has at least some."""

    def changed_clause(dice: Random, seed: Seed, lines: list[Line], at: int) -> None:
        literals = list(lines[at].literals)
        if len(literals) >= least:
            change(dice, seed, literals)
            lines[at] = Line(lines[at].prefix, tuple(literals))

    return changed_clause


def _negate(dice: Random, seed: Seed, literals: list[int]) -> None:
    literals[dice.randrange(len(literals))] *= -1


def _exchange(dice: Random, seed: Seed, literals: list[int]) -> None:
    literals[dice.randrange(len(literals))] = _literal(dice, seed)


def _lengthen(dice: Random, seed: Seed, literals: list[int]) -> None:
    literals.append(_literal(dice, seed))


def _shorten(dice: Random, seed: Seed, literals: list[int]) -> None:
    del literals[dice.randrange(len(literals))]


def _remove(dice: Random, seed: Seed, lines: list[Line], at: int) -> None:
    """Remove a clause."""
    if sum(_is_clause(seed, each) for each in lines) > 1:
        del lines[at]


def _add(dice: Random, seed: Seed, lines: list[Line], at: int) -> None:
    """Add a clause as long as another one, after it."""
    prefix, literals = lines[at]
    new = tuple(_literal(dice, seed) for _ in literals) or (_literal(dice, seed),)
    lines.insert(at + 1, Line(prefix, new))


def _equate(dice: Random, seed: Seed, lines: list[Line], at: int) -> None:
    """Add that two literals are equal, as solvers look for equivalences."""
    one, other = _literal(dice, seed), _literal(dice, seed)
    prefix = lines[at].prefix
    lines[at + 1 : at + 1] = [Line(prefix, (one, -other)), Line(prefix, (-one, other))]


_CHANGES: tuple[_Change, ...] = (
    _of_literals(_negate, 1), _of_literals(_exchange, 1), _of_literals(_lengthen, 0),
    _of_literals(_shorten, 2), _remove, _add, _equate,
)  # fmt: skip


Shape: TypeAlias = Literal["uniform", "layers", "parity", "cardinality", "pigeons"]
Clause: TypeAlias = list[int]
SHAPES: tuple[Shape, ...] = ("uniform", "layers", "parity", "cardinality", "pigeons")
FORMATS: tuple[Format, ...] = ("cnf", "dqdimacs", "icnf", "knf", "qdimacs", "wcnf", "xcnf")
QUANTIFIED = ("qdimacs", "dqdimacs")
ANY = "any"
THRESHOLDS = {2: 1.0, 3: 4.267, 4: 9.931, 5: 21.117, 6: 43.37, 7: 87.79}
"""Clauses per variable, by the length of a clause."""
_PARITY = 0.918
"""Equations of three variables each at which half of the systems have a solution (Dubois &
Mandler, FOCS 2002)."""
_SMALLEST = 5
_TOP = 10  # the largest weight
_SOFT = 0.3  # of the clauses of WCNF
_LEFT: Mapping[Format, float] = {"qdimacs": 0.6, "dqdimacs": 0.6, "xcnf": 0.85, "knf": 0.9}
"""The share of clauses that leaves half of the formulas satisfiable, by format."""
_PARITIES, _CARDINALITIES = 0.1, 0.06  # of the clauses of XCNF and KNF


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
    clauses = drawn_clauses(rng, parameters, _LEFT.get(parameters.format, 1))
    return write(parameters.format, _lines(rng, parameters.format, clauses), parameters.variables)


def drawn_clauses(rng: random.Random, parameters: Parameters, left: float) -> list[Clause]:
    """Return clauses of a shape, in any order: that share of them."""
    clauses = [each for each in _SHAPES[parameters.shape](rng, parameters) if each]
    rng.shuffle(clauses)
    del clauses[ceil(len(clauses) * left) :]
    for each in clauses:
        rng.shuffle(each)
    return clauses


def _lines(rng: random.Random, notation: Format, clauses: Sequence[Clause]) -> list[Line]:
    """Return the lines of clauses, with the weights, quantifiers or queries of a format."""
    prefix = _PREFIXES.get(notation, _none)
    lines = [Line(prefix(rng, each), each) for each in clauses]
    largest = max((abs(literal) for each in clauses for literal in each), default=1)
    if notation in QUANTIFIED:
        blocks = list(quantifiers(rng, largest))
        return [*(blocks if notation == "qdimacs" else _dependencies(rng, blocks)), *lines]
    return list(_with_queries(rng, lines, largest)) if notation == "icnf" else lines


def _none(rng: random.Random, clause: Clause) -> bytes:
    return b""


def _bound(rng: random.Random, clause: Clause) -> bytes:
    """Draw the bound of a cardinality; most clauses stay, or hardly any formula is satisfiable."""
    few = len(clause) < 3 or rng.random() >= _CARDINALITIES
    return b"" if few else b"k %d" % rng.randint(2, len(clause) - 1)


_PREFIXES: Mapping[Format, Callable[[random.Random, Clause], bytes]] = {
    "wcnf": lambda rng, clause: b"%d" % rng.randint(1, _TOP) if rng.random() < _SOFT else b"h",
    "xcnf": lambda rng, clause: b"x" if rng.random() < _PARITIES else b"",
    "knf": _bound,
}
"""What stands before a clause, by format."""


def _dependencies(rng: random.Random, blocks: Sequence[Line]) -> Iterator[Line]:
    """Yield the prefix where existential variables depend on some universal ones: the innermost."""
    universal = [each for prefix, names in blocks if prefix == b"a" for each in names]
    later: list[Line] = []
    for at, block in enumerate(blocks, 1):
        if block.prefix == b"a" or (at < len(blocks) and rng.random() < 0.5):
            yield block
        else:
            drawn = (rng.sample(universal, rng.randint(0, len(universal))) for _ in block.literals)
            later += map(_depends, block.literals, drawn)
    yield from later


def _depends(variable: int, universal: list[int]) -> Line:
    return Line(b"d", [variable, *sorted(universal)])


def quantifiers(rng: random.Random, largest: int) -> Iterator[Line]:
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
        suffixes = tuple(dict.fromkeys((".cnf", ".dimacs", f".{notation}")))
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
    "cardinalities, pigeons in holes. QDIMACS adds quantifiers, DQDIMACS dependencies, WCNF "
    "weights, XCNF parities, KNF cardinalities, ICNF queries under assumptions. With --mutate, "
    "formulas that are slightly changed.",
    changes="mutate",
    presets={
        "uniform": {"shape": "uniform"},
        "large": {"variables": 300},
        "pigeons": {"shape": "pigeons"},
        "several queries": {"notation": "icnf"},
    },
)
