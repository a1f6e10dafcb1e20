"""What SMT-LIB offers to `generate` and `hunt`: random scripts of a logic."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from reducekit.frontends.smt2.generate.logic import ANY, theories_of
from reducekit.frontends.smt2.generate.scripts import Parameters, generate_script
from reducekit.offers import (
    FormatOption,
    Generated,
    Generation,
    InputGenerator,
    Outcome,
    words_of,
)

_UNSUPPORTED = re.compile(
    rb"\(error [^\n]*(?:unknown (?:function|constant|sort)|(?:not|un)[ -]?supported|--\w+-exp\b)"
)
"""How cvc5 and z3 say that they do not know a function, or want an option for it."""


def _most(name: str, default: int, text: str, most: int) -> FormatOption:
    return FormatOption(name, text, "whole", default, metavar="N", least=1, most=most)


OPTIONS: tuple[FormatOption, ...] = (
    FormatOption(
        "logic",
        "Scripts of a logic of SMT-LIB, such as QF_LIA or ALL; any: another one for each file. "
        "Without it, graphs of bit-vectors and arrays by the options above.",
        metavar="NAME",
        default=None,
    ),
    _most("asserts", 8, "Most assertions of a script of --logic.", 100_000),
    _most("levels", 5, "Most levels of its terms.", 12),
    _most("symbols", 3, "Most constants of each sort.", 10_000),
    _most("queries", 2, "Most check-sat; where there are several, perhaps push and pop.", 10_000),
)


class ScriptGenerator(InputGenerator):
    """Makes random scripts by the same parameters."""

    suffix = ".smt2"
    rules_broken = "need what a program does not support"

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = {each.name: values[each.name] for each in OPTIONS}
        self._parameters = Parameters(**self._values)
        if self._parameters.logic != ANY:
            theories_of(self._parameters.logic)  # is there such a logic?

    def generate(self, seed: int) -> Generated:
        """Make the script of a seed."""
        return Generated(generate_script(self._parameters, seed).encode())

    def words(self, seed: int) -> Sequence[str]:
        """Return the options that make it again."""
        return ["--seed", str(seed), *words_of(OPTIONS, self._values)]

    def breaks_rules(self, outcome: Outcome) -> bool:
        """Say whether a solver lacks a function or theory: no solver has to have all of them."""
        return outcome.signal is None and any(
            map(_UNSUPPORTED.search, (outcome.stdout, outcome.stderr))
        )


GENERATION = Generation(
    ScriptGenerator,
    OPTIONS,
    "With --logic, well-sorted scripts of all theories of a logic: Booleans, integers, reals, "
    "bit-vectors, floating-point numbers, arrays, strings, sequences, datatypes, uninterpreted "
    "functions, and quantifiers.",
    default_seed=1,
    asked_by="logic",
)
