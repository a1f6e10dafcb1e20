"""What SMT-LIB offers to `generate` and `hunt`: random scripts of a logic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from reducekit.errors import UsageError
from reducekit.frontends.mutation import Mutants
from reducekit.frontends.smt2.generate.mutants import Seed, changed, seed_of
from reducekit.frontends.smt2.generate.scripts import Parameters, generate_script
from reducekit.frontends.smt2.generate.vocabulary import ANY, theories_of
from reducekit.frontends.smt2.language.operators import EXTENSIONS
from reducekit.frontends.solver_options import in_commands, read_options
from reducekit.offers import FormatOption, Generated, Generation, InputGenerator, words_of


def _most(name: str, default: int, text: str, most: int) -> FormatOption:
    return FormatOption(name, text, "whole", default, metavar="N", least=1, most=most)


OPTIONS: tuple[FormatOption, ...] = (
    FormatOption(
        "logic",
        "The logic, such as QF_LIA or ALL; any: a different one for each file. (Without it: "
        "bit-vector graphs, as for btor.)",
        metavar="NAME",
        default=None,
    ),
    _most("asserts", 8, "Maximum number of assertions of a script of --logic.", 100_000),
    _most("levels", 5, "Maximum depth of its terms.", 12),
    _most("symbols", 5, "Maximum number of constants of each sort.", 10_000),
    FormatOption(
        "mutate",
        "Change this script, or the scripts of this folder; with --logic also random scripts.",
        "path",
        metavar="PATH",
    ),
    FormatOption(
        "mix",
        "Share of mutants with both --mutate and --logic.",
        "decimal",
        0.5,
        metavar="P",
        least=0.0,
        most=1.0,
        rare=True,
    ),
    FormatOption(
        "seed_options", "Keep the options and :status of the scripts.", "flag", False, rare=True
    ),
    FormatOption(
        "solver_options",
        "Set one to three options of a solver in each script: z3, cvc5, yices, or a file of lines "
        "`name = values`.",
        metavar="WHICH",
        default=None,
    ),
    FormatOption(
        "extensions",
        "With --logic: also sorts and operators of one solver, such as sets; the logic is ALL.",
        "choice",
        None,
        EXTENSIONS,
        rare=True,
    ),
    _most("queries", 2, "Maximum number of check-sat commands; above 1 also push and pop.", 10_000),
)


class ScriptGenerator(InputGenerator):
    """Makes random scripts by the same parameters, mutants of scripts, or some of each."""

    suffix = ".smt2"

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = {each.name: values[each.name] for each in OPTIONS}
        names = [each.name for each in fields(Parameters)]
        self._parameters = Parameters(**{each: values[each] for each in names})
        if values["extensions"] is not None and values["logic"] is None:
            raise UsageError("`extensions` requires `logic`")
        if self._parameters.logic not in (ANY, None):
            theories_of(self._parameters.logic)  # is there such a logic?
        self._mutants: Mutants[Seed] | None = None
        if values["mutate"] is not None:
            self.well_formed = False
            keep = values["seed_options"]
            self._mutants = Mutants(
                Path(values["mutate"]),
                (".smt2",),
                "SMT-LIB scripts that declare what they use, and have a check-sat",
                partial(seed_of, options=keep),
                changed,
            )
            self.files = self._mutants.files
        self._options = read_options(values["solver_options"], "smt2")

    def generate(self, seed: int) -> Generated:
        dice = Random(seed)
        made = self._script(dice, seed)
        # First in the script: some options cannot be set once there is a logic.
        return Generated(in_commands(dice, self._options) + made)

    def _script(self, dice: Random, seed: int) -> bytes:
        if self._mutants is None or (
            self._parameters.logic is not None and dice.random() >= self._values["mix"]
        ):
            return generate_script(self._parameters, seed).encode()
        return self._mutants.mutant(dice)

    def words(self, seed: int) -> Sequence[str]:
        return ["--seed", str(seed), *words_of(OPTIONS, self._values)]


GENERATION = Generation(
    ScriptGenerator,
    OPTIONS,
    "With --logic, well-sorted scripts of all theories of a logic: Booleans, integers, reals, "
    "bit-vectors, floating-point numbers, arrays, strings, sequences, datatypes, uninterpreted "
    "functions, and quantifiers.",
    default_seed=1,
    asked_by=("logic", "mutate"),
    changes="mutate",
    presets={
        "any logic": {"logic": "any"},
        "bit-vectors": {"logic": "QF_ABV"},
        "strings": {"logic": "QF_SLIA"},
        "quantifiers": {"logic": "UFLIA"},
        "many queries": {"logic": "any", "queries": 20},
    },
)
