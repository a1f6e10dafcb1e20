"""What the page offers, in its words: formats with options, algorithms, this machine's solvers.

Also which algorithms search a text as another one does: racing them would show one curve twice.
Every algorithm works on every format, but many only have an idea of their own for trees or for
graphs: on a file of clauses, which is a list, HDD is ddmin.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import chain
from typing import Any

from reducekit import registry
from reducekit.errors import ReducekitError
from reducekit.format import Format, Pass
from reducekit.hunt.inputs import own_generation
from reducekit.offers import FormatOption
from reducekit.quantities import processors
from reducekit.runtime import __version__
from reducekit.search.problem import Graph, Items, Problem, Tree
from reducekit.search.strategy import Strategy

LABELS = {
    "command": "Program",
    "reference": "Other program",
    "match_out": "Output matches",
    "match_err": "Error output matches",
    "exit_code": "Exit status",
    "slower_than": "Seconds, at least",
    "cost": "Counter",
    "at_least": "At least",
    "times": "Times as many",
    "unstable": "Variants",
    "jobs": "Jobs",
    "timeout": "Seconds for a run",
    "memory": "Megabytes for a run",
    "max_time": "Stop after seconds",
    "max_checks": "Stop after checks",
    "until": "Stop at bytes",
    "stdin": "feed the file to standard input",
    "lenient": "reduce by lines what does not parse",
}
"""What the fields of options are called on the page."""
_OPTION = re.compile(r"`([a-z_]+)`")
_LONG = re.compile(r"--[a-z][a-z-]*")
_SOLVERS = (
    *("z3", "cvc5", "bitwuzla", "boolector", "yices-smt2", "mathsat", "opensmt", "smtinterpol"),
    *("cvc4", "cadical", "kissat", "minisat", "picosat", "lingeling", "glucose", "btormc", "pono"),
)
"""Programs that are suggested if they are in PATH."""
_PLAIN = (registry.DEFAULT, "ddmin", "halving", "bfs")
"""What others are compared with."""


def label(option: str) -> str:
    """Return what the field of an option of the command line is called on the page."""
    return LABELS["command"] if option == "--cmd" else option.removeprefix("--")


def labelled(words: str) -> str:
    """Return the help of the command line in the words of the page."""
    return _LONG.sub(lambda match: f"“{label(match[0])}”", words)


def worded(error: ReducekitError) -> str:
    """Return the message of an error with its notes."""
    lines = [str(error), *getattr(error, "__notes__", ())]
    return _OPTION.sub(
        lambda match: f"“{LABELS[match[1]]}”" if match[1] in LABELS else match[0], "\n".join(lines)
    )


def catalogue() -> dict[str, Any]:
    """Return what is the same for all texts."""
    return {
        "version": __version__,
        "formats": [_format(name) for name in registry.names(registry.FRONTENDS)],
        "strategies": registry.names(registry.STRATEGIES),
        "default_strategy": registry.DEFAULT,
        "programs": [name for name in _SOLVERS if shutil.which(name)],
        "processors": processors(),
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


def likenesses(frontend: Format, text: bytes) -> Mapping[str, str]:
    """Return the strategies that search a text as another one does, and the name of that one."""
    view = frontend.parse(text)

    groups: dict[tuple[str, ...], list[Strategy]] = {}
    passes: dict[tuple[str, ...], Sequence[Pass]] = {}
    for strategy in map(
        registry.strategy, dict.fromkeys((*_PLAIN, *registry.names(registry.STRATEGIES)))
    ):
        found = frontend.schedule(strategy.passes)
        phases = (found.prepare, found.once, found.rounds, found.closing, found.sweep)
        searched = list(chain.from_iterable(phases))
        names = tuple(each.name for each in searched)
        passes[names] = searched
        groups.setdefault(names, []).append(strategy)

    alike = {}
    for names, strategies in groups.items():
        if len(strategies) == 1:
            continue  # what passes find may take long
        problems = [each.problem(view) for each in passes[names]]
        first: dict[Any, str] = {}
        for strategy in strategies:
            known = first.setdefault(
                tuple(_way(strategy, each) for each in problems), strategy.name
            )
            if known != strategy.name:
                alike[strategy.name] = known
    return alike


def _way(strategy: Strategy, problem: Problem | None) -> Any:
    """Return what a strategy makes a search of for a problem; None if all make the same."""
    match problem:
        case Items():
            return strategy.items
        case Tree():
            return strategy.tree
        case Graph():
            return strategy.graph or ("items", strategy.items)
    return None
