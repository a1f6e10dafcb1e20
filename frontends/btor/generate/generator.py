"""Random BTOR files: a pure function of parameters and seed.

From: A. Vida, "Random Test Case Generation and Delta Debugging for Bit-Vector Logic with
Arrays" (Linz 2008), section 2.3 and, for options, sections 3.1 and A.2.2. Graphs grow from
their leaves upwards (`growing`), and what has no parent then is merged to the roots
(`merging`). Where the text is silent or slips, this is what holds:

* Sizes are met. The thesis starts to merge when the count of nodes is reached, so that its
  files are larger than asked for; here growth stops when the merged graph has that size.
* `uext` and `sext` take the number of added bits (the text has the resulting width),
  `concat` two operands, `and` and its like any width (table 2.1 has 1).
* `-writes` and `-cnfonly` are used in section 3.1 and explained nowhere: taken as writes
  that stand on the arrays from the beginning, and as no bit-vector layer below the clauses.
* A literal of a clause is a number x from 0 to 2n - 1: the variable x mod n, complemented if
  x >= n. (The text has x > n, so that variable 0 is complemented less often.)
* The shares of operators are weights, all 1 to begin with; the thesis has no choice.
* Operands are complemented by chance; the text has that for clauses only.
* Its wishes (chapter 6) are options: a limit of nodes per layer, `next` and `anext`.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from reducekit.errors import UsageError
from reducekit.frontends.btor.convert.conversion import convert
from reducekit.frontends.btor.generate.graph_builder import GraphBuilder, operator_names
from reducekit.frontends.btor.generate.properties import merge, roots_first, system
from reducekit.frontends.btor.model.dag import Dag
from reducekit.frontends.btor.model.operators import Dialect
from reducekit.frontends.btor.model.writer import canonical

_LARGEST_WIDTH = 1 << 16


@dataclass(frozen=True, slots=True)
class Parameters:
    """What is to be generated. The defaults are the thesis', or those of its experiments.

    Each says which option of the thesis it is. Counts are approximate, as there.
    """

    seed: int = 1
    """-s. The same parameters give the same file, on every machine."""
    dialect: Dialect = Dialect.BTOR1
    """-newformat is `btor1`, without it `btor-old`."""
    nodes: int = 9999
    """-n: lines of the file, without the sort lines of BTOR2 and additional clauses."""
    depth: int = 100
    """-d: growth stops at a node with that many nodes below each other; merging adds some."""
    variables: int = 10
    """-vars, at the start; others may come where no node has the width that is needed."""
    arrays: int = 3
    """-arrays, at the start."""
    writes: int = 5
    """-writes, at the start, on arrays and earlier writes."""
    min_width: int = 1
    """-minwidth: bits of variables, elements and operands; conditions have one in any case."""
    max_width: int = 4
    """-maxwidth."""
    max_index_width: int = 4
    """-arrmaxwidth: index widths are 1 to this."""
    sharing: int = 50
    """-dag, percent: an operand may have a parent already; else those without come first."""
    every_operator: bool = False
    """-all: each operator of weight 1 or more occurs in the graph."""
    no_arrays: bool = False
    """-noarrays."""
    cnf: bool = False
    """-cnf: merge by clauses of three literals."""
    clauses: float = 4.0
    """-clauses: clauses for each node that is to be merged."""
    cnf_only: bool = False
    """-cnfonly: clauses over one-bit variables, no other operator."""
    aig: bool = False
    """Merge by `and` and complements alone (not in the thesis)."""
    complement: int = 25
    """Percent of bit-vector operands that are complemented (not in the thesis)."""
    weights: Mapping[str, int] = field(default_factory=dict)
    """By operator, 1 where none is given (`growing.operator_names`; not in the thesis)."""
    roots: int = 1
    """Roots, if there is enough to merge (the thesis has 1)."""
    early_roots: bool = False
    """Each root stands right after what it asserts, not at the end (not in the thesis).

    Solvers simplify with what they know so far, and a parser still holds nodes that go by it.
    """
    registers: int = 0
    """Variables and arrays of the start with a `next` or `anext` (chapter 6)."""
    system: bool = False
    """BTOR2 for model checkers, with all kinds of properties (not in the thesis)."""
    layer: int | None = None
    """About this number of nodes at most have the same depth, before merging (chapter 6)."""


def generate(parameters: Parameters) -> Dag:
    """Return a random graph, well-sorted, with all nodes below its roots.

    Raises UsageError for parameters that contradict each other.
    """
    _check(parameters)
    built = Dialect.BTOR1 if parameters.dialect is Dialect.BTOR2 else parameters.dialect
    # Of random's methods only random() is promised to stay the same in later versions.
    chance = random.Random(parameters.seed).random
    plain = parameters.cnf_only
    arrays = not (plain or parameters.no_arrays)
    graph = GraphBuilder(
        chance,
        built,
        widths=(1, 1) if plain else (parameters.min_width, parameters.max_width),
        index_width=parameters.max_index_width,
        sharing=parameters.sharing,
        complement=parameters.complement,
        layer=parameters.layer,
    )
    graph.leaves(parameters.variables, parameters.arrays if arrays else 0)
    if not plain:
        graph.writes(parameters.writes)
        weights = {**dict.fromkeys(operator_names(built), 1), **parameters.weights}
        lines = parameters.nodes - parameters.roots - parameters.registers
        graph.grow(weights, lines, parameters.depth, arrays, parameters.every_operator)
    graph.registers(0 if parameters.system else parameters.registers)
    layer = "cnf" if parameters.cnf or plain else "aig" if parameters.aig else "logic"
    merge(graph, parameters.roots, layer, parameters.clauses)
    dag = graph.builder.dag()
    if parameters.early_roots:
        dag = roots_first(dag)
    if parameters.dialect is not Dialect.BTOR2:
        return dag
    dag = convert(dag, Dialect.BTOR2)
    return system(dag, chance, parameters.registers) if parameters.system else dag


def generate_text(parameters: Parameters) -> bytes:
    """Return the file of a random graph. Raises UsageError as `generate` does."""
    return canonical(generate(parameters))


def _check(parameters: Parameters) -> None:
    """Raise UsageError for what cannot be generated."""
    p = parameters
    if p.dialect is Dialect.BTOR_2007:
        raise UsageError("btor-2007 is read only: generate btor-old or a later dialect")
    at_least = (
        ("nodes", p.nodes, 1), ("depth", p.depth, 0), ("variables", p.variables, 0),
        ("arrays", p.arrays, 0), ("writes", p.writes, 0), ("smallest width", p.min_width, 1),
        ("largest index width", p.max_index_width, 1), ("roots", p.roots, 1),
        ("registers", p.registers, 0), ("nodes per layer", 1 if p.layer is None else p.layer, 1),
    )  # fmt: skip
    for what, value, least in at_least:
        if value < least:
            raise UsageError(f"{what}: {value} is less than {least}")
    if not p.min_width <= p.max_width <= _LARGEST_WIDTH:
        raise UsageError(
            f"widths: the largest ({p.max_width}) is not from the smallest ({p.min_width}) "
            f"to {_LARGEST_WIDTH}"
        )
    if p.max_index_width > _LARGEST_WIDTH:
        raise UsageError(f"index widths: {p.max_index_width} is more than {_LARGEST_WIDTH}")
    _check_shares(p)
    _check_combinations(p)
    _check_weights(p)


def _check_shares(p: Parameters) -> None:
    for what, percent in (("sharing", p.sharing), ("complement", p.complement)):
        if not 0 <= percent <= 100:
            raise UsageError(f"{what}: {percent} is not a percentage")
    if not 0 <= p.clauses <= 1000:
        raise UsageError(f"clauses: {p.clauses} is not from 0 to 1000")


def _check_combinations(p: Parameters) -> None:
    if p.registers and p.dialect is Dialect.FUN:
        raise UsageError("btor1+fun has no next: no registers there")
    if p.system and p.dialect is not Dialect.BTOR2:
        raise UsageError("`system` requires `dialect` btor2")
    if p.aig and (p.cnf or p.cnf_only):
        raise UsageError("clauses and an and-inverter graph do not go together: take one")


def _check_weights(p: Parameters) -> None:
    """Raise UsageError for weights out of range, or of operators that the dialect has not."""
    names = operator_names(p.dialect)
    for name, weight in p.weights.items():
        if name not in names:
            raise UsageError(
                f"no operator {name!r} is generated in {p.dialect.value}: {', '.join(names)}"
            )
        if not 0 <= weight <= 1_000_000:
            raise UsageError(f"the weight of {name} is {weight}, not from 0 to 1000000")


_SMALLEST = 10
_ROOTS = 8


def suffix(dialect: Dialect) -> str:
    """Return the usual suffix of a dialect's files."""
    return ".btor2" if dialect is Dialect.BTOR2 else ".btor"


def varied(given: Parameters) -> Parameters:
    """Return parameters that shape another graph, drawn by the seed around what is given.

    Sizes and widths are at most those given; sharing, complements, the kind of merging and the
    number of roots are drawn as well. (The thesis, section 3.2, found no optimum: it depends on
    the bug.)
    """
    chance = random.Random(f"shape {given.seed}").random

    def up_to(most: int, least: int = 0) -> int:
        return least + int(chance() * (most - least + 1)) if most > least else most

    # As many small files as large ones: sizes are drawn on a logarithmic scale.
    share = chance()
    nodes = round(_SMALLEST ** (1 - share) * max(given.nodes, _SMALLEST) ** share)
    merging = int(chance() * 4)
    plain = not (given.cnf or given.cnf_only or given.aig)
    return replace(
        given,
        nodes=min(nodes, given.nodes),
        variables=up_to(given.variables, min(1, given.variables)),
        arrays=up_to(given.arrays),
        writes=up_to(given.writes),
        # Some operators need two bits or more.
        max_width=given.max_width
        if given.every_operator
        else up_to(given.max_width, given.min_width),
        max_index_width=up_to(given.max_index_width, 1),
        sharing=up_to(100),
        complement=up_to(2 * given.complement) if given.complement <= 50 else given.complement,
        cnf=given.cnf or (plain and merging == 1),
        clauses=round(given.clauses * chance(), 2),
        aig=given.aig or (plain and merging == 2),
        roots=up_to(max(given.roots, _ROOTS), 1),
        early_roots=given.early_roots or chance() < 0.5,
    )
