"""Random inputs of formats that have more than clauses, OPB, WBO and QCIR: made of clauses.

So they are as hard as the formulas of `generate`, and of the same shapes. Mutants have other
literals, numbers, relations, gates and quantifiers, and fewer or more constraints.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, TypeAlias

from reducekit.change import Edit
from reducekit.errors import ParseError
from reducekit.frontends import mutation
from reducekit.frontends.cnf import generate as cnf
from reducekit.frontends.cnf.generate import Clause, Parameters
from reducekit.frontends.common.statements import Statements
from reducekit.frontends.mutation import Mutants, MutatingGenerator, drawn_size
from reducekit.offers import FormatOption, Generated, Generation

_Writer: TypeAlias = Callable[[Random, Sequence[Clause], int], Iterator[str]]
Problems: TypeAlias = Callable[[Any], list[str]]
_SMALLEST = 5
_COST = 10
_WIDEST = 9  # the largest coefficient
_MOST = 5  # changes of a mutant
_WHOLE = 0.3  # of the changes are of whole constraints
_OTHERS: Mapping[bytes, bytes] = {
    b">=": b"=", b"=": b">=", b"and": b"or", b"or": b"and", b"xor": b"and", b"ite": b"or",
    b"exists": b"forall", b"forall": b"exists",
}  # fmt: skip
"""Words by those that take their place."""


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


def _edits(dice: Random, view: Statements) -> Sequence[Edit]:
    """Return a change: of a word, or of the number of constraints."""
    source = view.document.source
    counted = [node for at, node in enumerate(view.nodes) if view.counts(at)]
    if len(counted) > 1 and dice.random() < _WHOLE:
        node = dice.choice(counted)
        if dice.random() < 0.5:
            return (Edit(node, ()), *view.head(1))
        return (Edit(node, (b"%b\n%b" % (source(node), source(node)),)), *view.head(-1))
    places = [each for each in view.of_kind(b"rgq") if source(each).lower() in _OTHERS]
    places += view.of_kind(b"nw")
    for found in re.finditer(view.grammar.operands, view.kinds):
        places += range(*found.span())
    node = dice.choice(places)
    return (Edit(node, (_other(dice, view, node),)),)


def _other(dice: Random, view: Statements, node: int) -> bytes:
    """Return another word of the same kind."""
    word, kind = view.document.source(node), view.kinds[node : node + 1]
    if kind in b"nw":
        number = int(word.strip(b"[] \t"))
        number = dice.choice((number + 1, number - 1, 2 * number, -number))
        return b"%d" % number if kind == b"n" else b"[%d]" % abs(number)
    if kind in b"rgq":
        return _OTHERS[word.lower()]
    other = dice.choice((1, -1)) * dice.choice(view.variables)
    return view.spelled(dice.choice((-view.literal(word), other)))


def _joined(dice: Random, seed: Statements, other: Statements) -> bytes:
    """Return constraints of both, or circuits side by side, under an output of both."""
    if b"o" not in seed.kinds:
        more = [
            other.document.source(node) for at, node in enumerate(other.nodes) if other.counts(at)
        ]
        edits = {each.node: each.template for each in seed.head(-len(more))}
        return b"\n".join((seed.document.render(edits), *more, b""))
    first, second = (
        max((int(each) for each in view.names if each.isdigit()), default=0)
        for view in (seed, other)
    )

    def moved(word: bytes) -> bytes:
        sign, name = word[: word.startswith(b"-")], word.lstrip(b"-")
        return sign + (b"%d" % (int(name) + first) if name.isdigit() else b"_" + name)

    words = {node: (moved(other.document.source(node)),) for node in other.of_kind(b"v")}
    both = (seed, type(other)(other.document.render(words)))
    quantifiers, gates = (
        [
            view.document.source(node)
            for view in both for node in view.nodes if view.kinds[node + 1] == kind
        ]
        for kind in b"qv"
    )  # fmt: skip
    outputs = b", ".join(
        view.document.source(node + 1) for view in both for node in view.of_kind(b"o")
    )
    gate, kind = b"%d" % (first + second + 1), dice.choice((b"and", b"or"))
    last = b"%b = %b(%b)" % (gate, kind, outputs)
    output = b"output(%b)" % gate
    return b"\n".join((b"#QCIR-G14", *quantifiers, output, *gates, last, b""))


def _changed(
    problems: Problems, dice: Random, seed: Statements, other: Statements | None
) -> bytes | None:
    """Return the text of a seed with some changes; None if they break a rule."""
    view = seed if other is None else type(seed)(_joined(dice, seed, other))
    for _ in range(dice.randint(1, _MOST)):
        edits = {each.node: each.template for each in _edits(dice, view)}
        view = type(seed)(view.document.render(edits))
    text = view.document.text
    return None if text == seed.document.text or len(problems(view)) > len(problems(seed)) else text


class _Generator(MutatingGenerator[Statements]):
    """Makes files of a format, each from a seed, or changes some."""

    def __init__(
        self, view: type[Statements], problems: Problems, options: Sequence[FormatOption],
        values: Mapping[str, Any],
    ) -> None:  # fmt: skip
        self.suffix = f".{values['notation']}"

        def read(text: bytes) -> Statements | None:
            try:
                found = view(text)
            except ParseError:
                return None
            return found if re.search(found.grammar.operands, found.kinds) else None

        def mutants(path: Path) -> Mutants[Statements]:
            noun = f"files in the format {values['notation']} that use a variable"
            return Mutants(path, (self.suffix,), noun, read, partial(_changed, problems))

        super().__init__(values["notation"], options, values, mutants)

    def generate(self, seed: int) -> Generated:
        """Make the file of a seed. Raises UsageError if no file can be mutated."""
        return Generated(self.made(seed))

    def random(self, seed: int) -> bytes:
        rng = Random(f"relatives {seed}")
        notation, shape = self.values["notation"], self.values["shape"]
        shape = rng.choice(cnf.SHAPES) if shape == cnf.ANY else shape
        variables = drawn_size(rng.random(), _SMALLEST, self.values["variables"])
        writer, left = _WRITERS[notation]
        wanted = Parameters(variables, shape, 3, cnf.THRESHOLDS[3], "cnf")
        clauses = cnf.drawn_clauses(rng, wanted, left)
        largest = max((abs(each) for clause in clauses for each in clause), default=1)
        return "\n".join((*writer(rng, clauses, largest), "")).encode()


def generation(
    view: type[Statements], problems: Problems, notations: tuple[str, ...]
) -> Generation:
    """Return the generator of a format, which is written in some notations."""
    options = (
        *(each for each in cnf.OPTIONS if each.name in ("variables", "shape")),
        FormatOption("notation", "Format of the files.", "choice", notations[0], notations),
        *mutation.OPTIONS,
    )
    return Generation(
        partial(_Generator, view, problems, options),
        options,
        "Made of the clauses of `reducekit generate cnf`. With --mutate, files that are slightly "
        "changed.",
        changes="mutate",
    )
