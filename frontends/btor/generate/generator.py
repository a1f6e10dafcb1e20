"""Random BTOR files: a pure function of parameters and seed.

From: A. Vida, "Random Test Case Generation and Delta Debugging for Bit-Vector Logic with
Arrays" (Linz 2008), section 2.3 and, for options, sections 3.1 and A.2.2. Graphs grow from
their leaves upwards (`graph_builder`), and what has no parent then is merged to the roots
(`properties`). Where the text is silent or slips, this is what holds:

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
import re
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from reducekit.errors import UsageError
from reducekit.frontends import mutation
from reducekit.frontends.btor.convert.conversion import convert
from reducekit.frontends.btor.generate.graph_builder import GraphBuilder, operator_names
from reducekit.frontends.btor.generate.mutants import changed, seed_of
from reducekit.frontends.btor.generate.properties import merge, roots_first, system
from reducekit.frontends.btor.model.dag import Dag
from reducekit.frontends.btor.model.operators import Dialect
from reducekit.frontends.btor.model.writer import canonical
from reducekit.frontends.btor.thesis_options import generator_words
from reducekit.frontends.mutation import Mutants, MutatingGenerator, dice_of, drawn_size
from reducekit.frontends.solver_options import in_comments, of_command
from reducekit.offers import FormatOption, Generated, Generation, words_of

_LARGEST_WIDTH = 1 << 16


def _option(default: Any, text: str, kind: str, **more: Any) -> Any:
    """Return a field of the parameters that is an option of `generate`, too."""
    return field(default=default, metadata={"text": text, "kind": kind, **more})


def _number(default: int | None, spelled: str, text: str, least: int = 0, **more: Any) -> Any:
    more |= {"spelled": spelled, "least": least, "metavar": "N"}
    return _option(default, text, "whole", **more)


def _flag(spelled: str, text: str) -> Any:
    return _option(False, text, "flag", spelled=spelled)


@dataclass(frozen=True, slots=True)
class Parameters:
    """What is to be generated. The defaults are the thesis', or those of its experiments.

    Options are named as in the thesis (A.2.2), from `dialect` on for what it does not have. Counts
    are approximate, as there.
    """

    seed: int = 1
    """-s. The same parameters give the same file, on every machine."""
    dialect: Dialect = field(
        default=Dialect.BTOR1,
        metadata={
            "text": "The dialect; btor1 is the thesis' -newformat, btor-old the default there.",
            "kind": "choice",
            "choices": tuple(each.value for each in Dialect if each is not Dialect.BTOR_2007),
        },
    )
    nodes: int = _number(9999, "nodes", "Lines of the file.", 1, short="n")
    """Without the sort lines of BTOR2 and additional clauses."""
    depth: int = _number(100, "depth", "Depth at which merging starts.", 0, short="d")
    """Growth stops at a node with that many nodes below each other; merging adds some."""
    variables: int = _number(10, "vars", "Variables.")
    """At the start; others may come where no node has the width that is needed."""
    arrays: int = _number(3, "arrays", "Arrays.")
    writes: int = _number(5, "writes", "Writes to arrays.")
    """At the start, on arrays and earlier writes."""
    min_width: int = _number(1, "minwidth", "Smallest width of bit-vectors.", 1)
    """Of variables, elements and operands; conditions have one bit in any case."""
    max_width: int = _number(4, "maxwidth", "Largest width of bit-vectors.", 1)
    max_index_width: int = _number(4, "arrmaxwidth", "Largest index width.", 1)
    """Index widths are 1 to this."""
    sharing: int = _number(
        50, "dag", "Percentage of operands that may be shared (0: mostly trees).", most=100
    )
    """An operand may have a parent already; else those without come first."""
    every_operator: bool = _flag("all", "Use every operator.")
    """Each operator of weight 1 or more occurs in the graph."""
    no_arrays: bool = _flag("noarrays", "Bit-vectors only.")
    cnf: bool = _flag("cnf", "Merge by clauses of three literals: mostly unsatisfiable.")
    clauses: float = _option(
        4.0, "Clauses per variable of --cnf.", "decimal", metavar="R", least=0, most=1000
    )
    """Clauses for each node that is to be merged."""
    cnf_only: bool = _flag("cnfonly", "Only clauses over one-bit variables.")
    aig: bool = _flag("aig", "Merge by and-gates and complements.")
    complement: int = _number(25, "complement", "Percentage of complemented operands.", most=100)
    weights: Mapping[str, int] = field(
        default_factory=dict,
        metadata={
            "text": "Weight of an operator (default: 1); aeq and ane are those of arrays. "
            "Repeatable.",
            "kind": "texts", "metavar": "OP=N", "spelled": "weight",
        },
    )  # fmt: skip
    """By operator (`graph_builder.operator_names`)."""
    roots: int = _number(1, "roots", "Roots.", 1)
    """If there is enough to merge (the thesis has 1)."""
    early_roots: bool = _flag("early-roots", "Place each root right after its operand.")
    """Solvers simplify with what they know so far, and a parser still holds nodes that go by it."""
    registers: int = _number(0, "registers", "Registers: variables and arrays with a next value.")
    """`next` or `anext` (chapter 6)."""
    system: bool = _flag(
        "system", "BTOR2 for model checkers: init and next, bad, constraint, fair, justice, output."
    )
    layer: int | None = _number(
        None, "layer", "Approximate number of nodes per depth (default: no limit).", 1
    )
    """Before merging (chapter 6)."""


def _declared(each: Field[Any]) -> FormatOption:
    more = dict(each.metadata)
    text, kind = more.pop("text"), more.pop("kind")
    default = () if each.default is MISSING else each.default
    if isinstance(default, Dialect):
        default = default.value
    rare = each.name not in ("nodes", "variables", "dialect", "system")
    return FormatOption(each.name, text, kind, default, rare=rare, **more)


_FIELDS = [each for each in fields(Parameters) if each.metadata]
_FIELDS.insert(14, _FIELDS.pop(0))  # `dialect` follows what the thesis has
OPTIONS = (
    *map(_declared, _FIELDS),
    FormatOption(
        "vary", "Vary sizes and shapes from file to file, around the given ones.", "flag",
        default=False, spelled="vary",
    ),
    *mutation.OPTIONS,
    of_command("btor"),
)  # fmt: skip


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


def _check(p: Parameters) -> None:
    """Raise UsageError for what cannot be generated."""
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
    for what, percent in (("sharing", p.sharing), ("complement", p.complement)):
        if not 0 <= percent <= 100:
            raise UsageError(f"{what}: {percent} is not a percentage")
    if not 0 <= p.clauses <= 1000:
        raise UsageError(f"clauses: {p.clauses} is not from 0 to 1000")
    if p.registers and p.dialect is Dialect.FUN:
        raise UsageError("btor1+fun has no next: no registers there")
    if p.system and p.dialect is not Dialect.BTOR2:
        raise UsageError("`system` requires `dialect` btor2")
    if p.aig and (p.cnf or p.cnf_only):
        raise UsageError("clauses and an and-inverter graph do not go together: take one")
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


def varied(given: Parameters) -> Parameters:
    """Return parameters that shape another graph, drawn by the seed around what is given.

    Sizes and widths are at most those given; sharing, complements, the kind of merging and the
    number of roots are drawn as well. (The thesis, section 3.2, found no optimum: it depends on
    the bug.)
    """
    chance = random.Random(f"shape {given.seed}").random

    def up_to(most: int, least: int = 0) -> int:
        return least + int(chance() * (most - least + 1)) if most > least else most

    nodes = drawn_size(chance(), _SMALLEST, max(given.nodes, _SMALLEST))
    merging = int(chance() * 4)
    least = given.min_width
    plain = not (given.cnf or given.cnf_only or given.aig)
    return replace(
        given,
        nodes=min(nodes, given.nodes),
        variables=up_to(given.variables, min(1, given.variables)),
        arrays=up_to(given.arrays),
        writes=up_to(given.writes),
        # Some operators need two bits or more.
        max_width=up_to(given.max_width, given.max_width if given.every_operator else least),
        max_index_width=up_to(given.max_index_width, 1),
        sharing=up_to(100),
        complement=up_to(2 * given.complement) if given.complement <= 50 else given.complement,
        cnf=given.cnf or (plain and merging == 1),
        clauses=round(given.clauses * chance(), 2),
        aig=given.aig or (plain and merging == 2),
        roots=up_to(max(given.roots, _ROOTS), 1),
        early_roots=given.early_roots or chance() < 0.5,
    )


def suffix(dialect: Dialect) -> str:
    """Return the usual suffix of a dialect's files."""
    return ".btor2" if dialect is Dialect.BTOR2 else ".btor"


def parameters_from(values: Mapping[str, Any]) -> Parameters:
    """Gather the parameters out of the values of `OPTIONS` and the seed. Raises UsageError."""
    given = {each.name: values[each.name] for each in fields(Parameters)}
    given["dialect"] = Dialect(given["dialect"])
    given["weights"] = dict(map(_weight, given["weights"]))
    return Parameters(**given)


def _weight(text: str) -> tuple[str, int]:
    """Read OP=N."""
    name, _, number = text.partition("=")
    if not number.isdecimal() or len(number) > 9:
        raise UsageError(f"`weight`: {text!r} is not OP=N, such as mul=3")
    return name, int(number)


def words(parameters: Parameters) -> list[str]:
    """Return the options that make a file again, the seed first."""
    values = {each.name: getattr(parameters, each.name) for each in fields(Parameters)}
    values["dialect"] = parameters.dialect.value
    values["weights"] = tuple(f"{op}={weight}" for op, weight in parameters.weights.items())
    values |= {"vary": False, "mutate": None, "mix": 1.0, "solver_options": None}
    return ["--seed", str(parameters.seed), *words_of(OPTIONS, values)]


class BtorGenerator(MutatingGenerator[Dag]):
    """Makes random files by the same parameters, or (`vary`) by others for each seed."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._first = parameters_from(values)
        super().__init__("btor", OPTIONS, values, self._mutants_of)
        self.well_formed = self.mutants is None
        self.suffix = self.files[0].suffix if self.files else suffix(self._first.dialect)

    def _mutants_of(self, path: Path) -> Mutants[Dag]:
        suffixes = (".btor", ".btor2", ".btr")
        return Mutants(path, suffixes, "well-sorted files", seed_of, changed)

    def generate(self, seed: int) -> Generated:
        """Make the file of a seed."""
        # Options at the end: a comment before a line goes with it.
        return Generated(self.made(seed) + in_comments(seed, self.solver_options, "; "))

    def random(self, seed: int) -> bytes:
        return generate_text(self._parameters(seed))

    def words(self, seed: int) -> Sequence[str]:
        """Return the options that make it again, those that were drawn spelled out."""
        if self.mutants is not None and dice_of(seed, self.values["mix"]) is not None:
            return super().words(seed)
        found = words(self._parameters(seed))
        if self.has_options:
            found += ["--solver-options", self.values["solver_options"]]
        return found

    def breaks_rules(self, outcome: Any) -> bool:
        """Return whether the program rejected the mutant as unsupported."""
        if self.mutants is None or outcome.signal is not None or outcome.status in (0, 10, 20):
            return False
        said: bytes = outcome.stderr or outcome.stdout
        return rejects(said.decode("utf-8", "replace"))

    def _parameters(self, seed: int) -> Parameters:
        parameters = replace(self._first, seed=seed)
        return varied(parameters) if self.values["vary"] else parameters


GENERATION = Generation(
    BtorGenerator,
    OPTIONS,
    "Well-sorted graphs of bit-vectors and arrays: leaves first, then random operators; unused "
    "nodes are joined into one root. Options and defaults are those of A. Vida's thesis (Linz "
    "2008). With --mutate, files that are slightly changed.",
    default_seed=Parameters().seed,
    respelled=generator_words,
    changes="mutate",
    presets={
        "small": {"nodes": 80},
        "bit-vectors only": {"no_arrays": True},
        "for model checkers": {"nodes": 300, "dialect": "btor2", "system": True},
        "random 3-SAT": {"nodes": 300, "cnf_only": True},
        "sizes and shapes vary": {"vary": True},
    },
)


# What programs print about a file that they need not accept, such as one of another dialect.
_REFUSED = re.compile(
    r"""\b(?:not|un)[ -]?(?:yet[ ]|currently[ ])?supported\b | \bremoved[ ]support\b
    | \b(?:does|do|can)[ ]?not[ ](?:yet[ ]|currently[ ])?(?:support|handle)\b
    | \b(?:invalid|unknown|undefined|unexpected)\b | \bexpect(?:s|ed|ing)\b | \bparse[ ]error\b
    | \bnot[ ]a[ ]power[ ]of[ ]two\b | \bdoes[ ]not[ ]match\b
    """,
    re.VERBOSE | re.IGNORECASE,
)


def rejects(line: str) -> bool:
    """Return whether a failure line says that a program need not accept its input."""
    return _REFUSED.search(line) is not None
