"""`reducekit hunt trace`."""

from __future__ import annotations

import math
import shlex
from pathlib import Path

import click

from reducekit.cli.group import Surroundings
from reducekit.cli.hunting import prepare, summary
from reducekit.cli.hunting_traces import System, TraceHunt, hunt_traces, summary_line
from reducekit.cli.run import INTERRUPTED
from reducekit.cli.streams import say
from reducekit.errors import UsageError
from reducekit.frontends.trace.convert import NAMES
from reducekit.frontends.trace.loader import load_model
from reducekit.frontends.trace.replay import Library, find_library, read_fault, resolve
from reducekit.oracle.limits import Limits
from reducekit.registry import strategy as known_strategy

_SECONDS = click.FloatRange(min=0, min_open=True, max=10_000_000)
_WITHOUT_END = 1 << 62
_OUTPUT = 1 << 20  # bytes that a replay may print


@click.command("trace")
@click.option("--model", default="lingeling", show_default=True, metavar="API|FILE")
@click.option("--library", metavar="NAME|PATH", help="The library; default: what is installed.")
@click.option(
    "--fault",
    metavar="FAULT",
    help="Overwrite an instruction of the library, to have something to find: "
    "SYMBOL+OFFSET:abort or :delete, or a name in --faults.",
)
@click.option("--faults", metavar="FILE", help="A list of faults (JSON).")
@click.option(
    "--options/--no-options",
    "fuzzed",
    default=None,
    help="Set random options always, or never; default: as often as the model says.",
)
@click.option(
    "--variables",
    type=click.IntRange(1, 100_000),
    metavar="N",
    help="So many variables at most to begin with; default: as the model says. 40 make traces "
    "of about 500 calls.",
)
@click.option(
    "--compare",
    metavar="ENGINE",
    help="The solver that has to agree on what is unsatisfiable; default: a CaDiCaL.",
)
@click.option("--no-compare", is_flag=True, help="Do not check answers: look for crashes only.")
@click.option(
    "--out",
    "folder",
    type=click.Path(path_type=Path),
    default=Path("failures"),
    show_default=True,
    metavar="DIR",
    help="The folder for the bugs; what it has is not reported as new again.",
)
@click.option("-s", "--seed", type=int, default=0, show_default=True, metavar="N")
@click.option(
    "--count", type=click.IntRange(min=1), metavar="N", help="So many traces; default: no end."
)
@click.option("--max-time", type=_SECONDS, metavar="S", help="Stop after S seconds.")
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(1, 1024),
    default=1,
    show_default=True,
    metavar="N",
    help="Traces at the same time.",
)
@click.option(
    "--timeout",
    type=_SECONDS,
    default=10.0,
    show_default=True,
    metavar="S",
    help="Seconds for a trace.",
)
@click.option(
    "--memory",
    type=click.IntRange(1, 10_000_000),
    default=4096,
    show_default=True,
    metavar="MB",
    help="Megabytes of address space for a trace.",
)
@click.option("--no-reduce", is_flag=True, help="Keep bugs as they were found.")
@click.option("--strategy", default="adaptive", show_default=True, metavar="NAME")
@click.option("-q", "--quiet", is_flag=True, help="Only the summary.")
@click.pass_obj
def command(
    surroundings: Surroundings,
    /,
    model: str,
    library: str | None,
    fault: str | None,
    faults: str | None,
    fuzzed: bool | None,
    variables: int | None,
    compare: str | None,
    no_compare: bool,
    folder: Path,
    seed: int,
    count: int | None,
    max_time: float | None,
    jobs: int,
    timeout: float,
    memory: int,
    no_reduce: bool,
    strategy: str,
    quiet: bool,
) -> int:
    """Play random API traces against a library until it fails, or answers wrongly.

    Models are checked against the clauses, failed assumptions are solved anew by
    another solver. Each bug is kept once: the trace that showed it first, how to make
    and run it, and the reduced trace. Traces that break the API's contract are counted,
    and are no bugs.
    """
    if math.isnan(timeout) or (max_time is not None and math.isnan(max_time)):
        raise UsageError("--timeout and --max-time are times in seconds, not nan")
    if no_compare and compare is not None:
        raise UsageError("--compare names a solver, --no-compare wants none")
    known_strategy(strategy)
    found = load_model(model)
    target = find_library(found.name, library)
    if target.note and not quiet:
        say(f"reducekit: note: {target.note}")
    read = None if fault is None else read_fault(fault, faults)
    system = System(
        found,
        target,
        None if read is None else resolve(read, target.path),
        None if no_compare else _reference(found.name, compare, library, quiet=quiet),
        (library or found.name, *(("--fault", fault) if fault is not None else ())),
        Limits(wall=timeout, cpu=timeout, memory=memory * 1_000_000, output=_OUTPUT),
        fuzzed,
        variables,
    )
    given = {"--model": model, "--library": library, "--fault": fault, "--faults": faults}
    words = [word for name, value in given.items() if value for word in (name, value)]
    drawn = [] if fuzzed is None else ["--options" if fuzzed else "--no-options"]
    drawn += [] if variables is None else ["--variables", str(variables)]
    plan = TraceHunt(
        system,
        range(seed, seed + (count or _WITHOUT_END)),
        folder,
        shlex.join(["reducekit", "generate", "trace", *words, *drawn]),
        shlex.join(["reducekit", "replay", *words]),
        jobs,
        max_time,
        not no_reduce,
        strategy,
        quiet,
    )
    prepare(folder)
    tally = hunt_traces(plan, surroundings.interrupts)
    head, *bugs = summary(tally).split("\n")
    print("\n".join([head.replace("input", "trace", 1), summary_line(tally), *bugs]))
    return INTERRUPTED if tally.interrupted else 0


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
