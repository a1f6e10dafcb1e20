"""What the page offers: formats with their options, algorithms, the solvers of this machine."""

from __future__ import annotations

import os
import shutil
from dataclasses import asdict
from typing import Any

from reducekit import __version__, registry
from reducekit.hunt.inputs import own_generation
from reducekit.offers import FormatOption
from reducekit.ui.wording import label, labelled

_SOLVERS = (
    *("z3", "cvc5", "bitwuzla", "boolector", "yices-smt2", "mathsat", "opensmt", "smtinterpol"),
    *("cvc4", "cadical", "kissat", "minisat", "picosat", "lingeling", "glucose", "btormc", "pono"),
)
"""Programs that are suggested if they are in PATH."""


def catalogue() -> dict[str, Any]:
    """Return what is the same for all texts."""
    return {
        "version": __version__,
        "formats": [_format(name) for name in registry.names(registry.FRONTENDS)],
        "strategies": registry.names(registry.STRATEGIES),
        "default_strategy": registry.DEFAULT,
        "programs": [name for name in _SOLVERS if shutil.which(name)],
        "processors": len(os.sched_getaffinity(0)),
    }


def _format(name: str) -> dict[str, Any]:
    frontend = registry.frontend_class(name)
    generation = own_generation(name)
    return {
        "name": name,
        "title": frontend.title or name,
        "suffixes": list(dict.fromkeys([frontend.suffix, *frontend.suffixes])),
        "options": [_option(each) for each in frontend.options],
        "generation": None
        if generation is None
        else {
            "help": labelled(generation.help),
            "noun": generation.noun,
            "seed": generation.default_seed,
            "options": [_option(each) for each in generation.options],
            "presets": generation.presets,
        },
    }


def _option(option: FormatOption) -> dict[str, Any]:
    return {**asdict(option), "label": label(option.long), "help": labelled(option.help)}
