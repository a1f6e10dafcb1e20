"""`reducekit hunt trace`."""

from __future__ import annotations

from typing import Any

import click

from reducekit.cli.group import Surroundings
from reducekit.cli.hunt_options import hunt_options, hunt_options_from
from reducekit.cli.hunting import prepare
from reducekit.cli.hunting_traces import System, TraceHunt, hunt_traces, told
from reducekit.cli.streams import say
from reducekit.cli.trace_generator_options import trace_options, trace_options_from
from reducekit.errors import UsageError
from reducekit.frontends.trace.convert import NAMES
from reducekit.frontends.trace.loader import load_model
from reducekit.frontends.trace.replay import Library, find_library
from reducekit.oracle.command import Command
from reducekit.oracle.limits import Limits

_WITHOUT_END = 1 << 62
_OUTPUT = 1 << 20  # bytes that a replay may print


@click.command("trace")
@trace_options
@click.option(
    "--compare",
    metavar="ENGINE",
    help="The solver that has to agree on what is unsatisfiable; default: a CaDiCaL.",
)
@click.option("--no-compare", is_flag=True, help="Do not check answers: look for crashes only.")
@hunt_options("traces", "trace", memory=4096)
@click.pass_obj
def command(
    surroundings: Surroundings, /, compare: str | None, no_compare: bool, **values: Any
) -> int:
    """Play random API traces against a library until it fails, or answers wrongly.

    Models are checked against the clauses, failed assumptions are solved anew by
    another solver. Each bug is kept once: the trace that showed it first, how to make
    and run it, and the reduced trace. Traces that break the API's contract are counted,
    and are no bugs.
    """
    if no_compare and compare is not None:
        raise UsageError("--compare names a solver, --no-compare wants none")
    options, drawn = hunt_options_from(values), trace_options_from(values)
    model = load_model(drawn.model)
    library, patch = drawn.target(model.name, quiet=options.quiet)
    system = System(
        model,
        library,
        patch,
        None if no_compare else _reference(model.name, compare, drawn.library, quiet=options.quiet),
        drawn.name(model.name),
        Limits(wall=options.timeout, cpu=options.timeout, memory=options.bytes, output=_OUTPUT),
        drawn.fuzzed,
        drawn.variables,
    )
    plan = TraceHunt(
        system,
        range(drawn.seed, drawn.seed + (options.count or _WITHOUT_END)),
        options.folder,
        drawn.made_by,
        Command(("reducekit", "replay", *drawn.played_by)),
        options.jobs,
        options.max_time,
        None if options.no_reduce else "trace",
        options.strategy,
        options.quiet,
    )
    prepare(options.folder)
    tally = hunt_traces(plan, surroundings.interrupts)
    print(told(tally))
    return tally.exit_code


def _reference(
    api: str, compare: str | None, library: str | None, *, quiet: bool
) -> Library | None:
    """Return the solver that answers are compared with, other than the one under test."""
    if api not in NAMES and api != "mobical":
        if compare is not None:
            raise UsageError(f"answers of {api} cannot be checked: --compare is of no use")
        return None
    if compare is not None:
        return find_library("ipasir", compare)
    own = library or {"ipasir": "cadical195", "lingeling": ""}.get(api, "cadical195")
    try:
        return find_library("ipasir", "cadical153" if own == "cadical195" else None)
    except UsageError as error:
        if not quiet:
            say(f"reducekit: note: answers are not checked: {error}")
        return None
