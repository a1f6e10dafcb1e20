"""The options of the random BTOR generator, shared by `generate` and `hunt`."""

from __future__ import annotations

import shlex
from dataclasses import fields
from typing import Any

import click

from reducekit.cli.options import adding
from reducekit.frontends.btor.generate import Parameters
from reducekit.frontends.btor.operators import Dialect

_DEFAULT = Parameters()
_DIALECTS = [each.value for each in Dialect if each is not Dialect.BTOR_2007]


def _weights(ctx: click.Context, param: click.Parameter, given: tuple[str, ...]) -> dict[str, int]:
    """Read OP=N."""
    weights = {}
    for each in given:
        name, _, number = each.partition("=")
        if not number.isdecimal() or len(number) > 9:
            raise click.BadParameter(f"{each!r} is not OP=N, such as mul=3.", ctx, param)
        weights[name] = int(number)
    return weights


def _number(
    name: str, field: str, text: str, least: int = 0, short: str = "", most: int | None = None
) -> Any:
    return click.option(
        *([short] if short else []),
        f"--{name}",
        field,
        type=click.IntRange(min=least, max=most),
        default=getattr(_DEFAULT, field),
        show_default=getattr(_DEFAULT, field) is not None,
        metavar="N",
        help=text,
    )


def _flag(name: str, field: str, text: str) -> Any:
    return click.option(f"--{name}", field, is_flag=True, help=text)


# Named as in the thesis (A.2.2), from --dialect on for what it does not have.
_OPTIONS: dict[str, Any] = {
    "seed": click.option(
        "-s", "--seed", type=int, default=_DEFAULT.seed, show_default=True, metavar="N",
        help="Another seed gives another file.",
    ),
    "nodes": _number("nodes", "nodes", "Lines of the file.", 1, "-n"),
    "depth": _number("depth", "depth", "Depth at which merging begins.", 0, "-d"),
    "variables": _number("vars", "variables", "Variables at the start."),
    "arrays": _number("arrays", "arrays", "Arrays at the start."),
    "writes": _number("writes", "writes", "Writes on them, at the start."),
    "min_width": _number("minwidth", "min_width", "Smallest width of bit-vectors.", 1),
    "max_width": _number("maxwidth", "max_width", "Largest width of bit-vectors.", 1),
    "max_index_width": _number("arrmaxwidth", "max_index_width", "Largest index width.", 1),
    "sharing": _number(
        "dag", "sharing", "Percent of operands that may have a parent already (0: rather a tree).",
        most=100,
    ),
    "every_operator": _flag("all", "every_operator", "Use every operator."),
    "no_arrays": _flag("noarrays", "no_arrays", "Bit-vectors only."),
    "cnf": _flag("cnf", "cnf", "Merge by clauses of three literals: rather unsatisfiable."),
    "clauses": click.option(
        "--clauses", type=click.FloatRange(0, 1000), default=_DEFAULT.clauses, show_default=True,
        metavar="R", help="Clauses for each variable of --cnf.",
    ),
    "cnf_only": _flag("cnfonly", "cnf_only", "Clauses over variables of one bit, nothing else."),
    "dialect": click.option(
        "--dialect", type=click.Choice(_DIALECTS), default=_DEFAULT.dialect.value,
        show_default=True, help="btor1 is the thesis' -newformat, btor-old without it.",
    ),
    "aig": _flag("aig", "aig", "Merge by and-gates and complements."),
    "complement": _number(
        "complement", "complement", "Percent of operands complemented.", most=100
    ),
    "weights": click.option(
        "--weight", "weights", multiple=True, callback=_weights, metavar="OP=N",
        help="How often an operator is drawn, beside 1 for each other; aeq and ane are those "
        "of arrays. Can be repeated.",
    ),
    "roots": _number("roots", "roots", "Roots.", 1),
    "early_roots": _flag("early-roots", "early_roots", "Roots right behind what they assert."),
    "registers": _number("registers", "registers", "Variables and arrays with a next value."),
    "layer": _number("layer", "layer", "Nodes of the same depth, about; default: no limit.", 1),
}  # fmt: skip


generator_options = adding(_OPTIONS.values())


def parameters_from(values: dict[str, Any]) -> Parameters:
    """Gather the generator's options out of a command's parameters."""
    given = {each.name: values[each.name] for each in fields(Parameters)}
    return Parameters(**{**given, "dialect": Dialect(given["dialect"])})


def command_line(parameters: Parameters) -> str:
    """Return the command that generates a file again."""
    words = ["reducekit", "generate", "btor"]
    for name in _OPTIONS:
        value = getattr(parameters, name)
        if value == getattr(_DEFAULT, name) and name != "seed":
            continue
        option = _LONG[name]
        if name == "weights":
            words += [word for op, weight in value.items() for word in (option, f"{op}={weight}")]
        elif value is True:
            words.append(option)
        else:
            words += [option, str(value)]
    return shlex.join(words)


_LONG = {
    "seed": "--seed", "nodes": "--nodes", "depth": "--depth", "variables": "--vars",
    "arrays": "--arrays", "writes": "--writes", "min_width": "--minwidth",
    "max_width": "--maxwidth", "max_index_width": "--arrmaxwidth", "sharing": "--dag",
    "every_operator": "--all", "no_arrays": "--noarrays", "cnf": "--cnf",
    "clauses": "--clauses", "cnf_only": "--cnfonly", "dialect": "--dialect", "aig": "--aig",
    "complement": "--complement", "weights": "--weight", "roots": "--roots",
    "early_roots": "--early-roots",
    "registers": "--registers", "layer": "--layer",
}  # fmt: skip
