"""What BTOR offers to `generate` and `hunt`: random files, by the options of the thesis."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from reducekit.errors import UsageError
from reducekit.frontends import mutation
from reducekit.frontends.btor.generate.generator import Parameters, generate_text, suffix, varied
from reducekit.frontends.btor.generate.mutants import changed, seed_of
from reducekit.frontends.btor.model.dag import Dag
from reducekit.frontends.btor.model.operators import Dialect
from reducekit.frontends.btor.thesis_options import generator_words
from reducekit.frontends.mutation import Mutants, MutatingGenerator, dice_of
from reducekit.frontends.solver_options import in_comments, of_command
from reducekit.offers import FormatOption, Generated, Generation, words_of

_DEFAULT = Parameters()


def _number(
    name: str, spelled: str, text: str, least: int = 0, short: str = "", most: int | None = None
) -> FormatOption:
    default = getattr(_DEFAULT, name)
    return FormatOption(
        name, text, "whole", default, (), "N", spelled, short, least=least, most=most
    )


def _flag(name: str, spelled: str, text: str) -> FormatOption:
    return FormatOption(name, text, "flag", default=False, spelled=spelled)


# Named as in the thesis (A.2.2), from --dialect on for what it does not have.
_DECLARED: tuple[FormatOption, ...] = (
    _number("nodes", "nodes", "Lines of the file.", 1, "n"),
    _number("depth", "depth", "Depth at which merging starts.", 0, "d"),
    _number("variables", "vars", "Variables."),
    _number("arrays", "arrays", "Arrays."),
    _number("writes", "writes", "Writes to arrays."),
    _number("min_width", "minwidth", "Smallest width of bit-vectors.", 1),
    _number("max_width", "maxwidth", "Largest width of bit-vectors.", 1),
    _number("max_index_width", "arrmaxwidth", "Largest index width.", 1),
    _number(
        "sharing", "dag", "Percentage of operands that may be shared (0: mostly trees).", most=100
    ),
    _flag("every_operator", "all", "Use every operator."),
    _flag("no_arrays", "noarrays", "Bit-vectors only."),
    _flag("cnf", "cnf", "Merge by clauses of three literals: mostly unsatisfiable."),
    FormatOption(
        "clauses", "Clauses per variable of --cnf.", "decimal", _DEFAULT.clauses, metavar="R",
        least=0, most=1000,
    ),
    _flag("cnf_only", "cnfonly", "Only clauses over one-bit variables."),
    FormatOption(
        "dialect",
        "The dialect; btor1 is the thesis' -newformat, btor-old the default there.",
        "choice",
        _DEFAULT.dialect.value,
        tuple(each.value for each in Dialect if each is not Dialect.BTOR_2007),
    ),
    _flag("aig", "aig", "Merge by and-gates and complements."),
    _number("complement", "complement", "Percentage of complemented operands.", most=100),
    FormatOption(
        "weights",
        "Weight of an operator (default: 1); aeq and ane are those of arrays. Repeatable.",
        "texts", (), metavar="OP=N", spelled="weight",
    ),
    _number("roots", "roots", "Roots.", 1),
    _flag("early_roots", "early-roots", "Place each root right after its operand."),
    _number("registers", "registers", "Registers: variables and arrays with a next value."),
    _flag(
        "system",
        "system",
        "BTOR2 for model checkers: init and next, bad, constraint, fair, justice, output.",
    ),
    _number("layer", "layer", "Approximate number of nodes per depth (default: no limit).", 1),
    _flag("vary", "vary", "Vary sizes and shapes from file to file, around the given ones."),
)  # fmt: skip
_USUAL = ("nodes", "variables", "dialect", "system", "vary")
OPTIONS = (
    *(replace(each, rare=each.name not in _USUAL) for each in _DECLARED),
    *mutation.OPTIONS,
    of_command("btor"),
)


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
    default_seed=_DEFAULT.seed,
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
