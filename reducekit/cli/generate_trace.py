"""`reducekit generate trace`."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import click

from reducekit.cli.generated import destination_from, destination_options
from reducekit.cli.group import Surroundings
from reducekit.cli.streams import say
from reducekit.cli.trace_generator_options import TraceOptions, trace_options, trace_options_from
from reducekit.errors import UsageError
from reducekit.frontends.trace.formats import print_trace
from reducekit.frontends.trace.generate import Generated, Generator
from reducekit.frontends.trace.loader import load_model
from reducekit.frontends.trace.replay.live import LiveReplay
from reducekit.frontends.trace.replay.outcome import ReplayOutcome
from reducekit.oracle.limits import Limits

LIMITS = Limits(wall=60, cpu=10, memory=4 << 30, output=1 << 20)
"""Of a trace that is played while it is made: most take some milliseconds."""


@click.command("trace")
@trace_options
@click.option(
    "--feedback/--no-feedback",
    default=None,
    help="Play the calls while they are made, so that results steer what comes next; "
    "default: if there is a library.",
)
@destination_options("trace")
@click.pass_obj
def command(surroundings: Surroundings, /, feedback: bool | None, **values: Any) -> int:
    """Generate random API traces that keep to a model of the API.

    The solver plays the calls while they are made: what it answers decides what
    comes next, and stands in the trace. The same seed gives the same trace.
    """
    options = trace_options_from(values)
    if feedback is False and (options.library, options.fault) != (None, None):
        raise UsageError("--library and --fault are for the feedback that --no-feedback turns off")
    model = load_model(options.model)
    form = model.formats[0]
    destination = destination_from(values, "trace", ".mobical" if form == "mobical" else ".trace")
    generator = Generator(model, options=options.fuzzed, variables=options.variables)
    with ExitStack() as stack:
        live = None if feedback is False else _live(model.name, options, wanted=bool(feedback))
        if live is not None:
            stack.enter_context(live)

        def make(seed: int) -> bytes:
            made, outcome = play(generator, seed, live, LIMITS)
            if outcome is not None and outcome.kind != "ok":
                last = made.calls[-1] if made.calls else "the first call"
                say(f"reducekit: seed {seed}: {outcome.describe()}, in the last call: {last}")
            return print_trace(made.recorded(), form)

        return destination.write_all(make, surroundings.interrupts)


def play(
    generator: Generator, seed: int, live: LiveReplay | None, limits: Limits
) -> tuple[Generated, ReplayOutcome | None]:
    """Make a trace, played while it is made if there is somebody who plays it."""
    if live is None:
        return generator.generate(seed), None
    live.begin(limits)
    made = generator.generate(seed, live.play)
    return made, live.finish()


def _live(api: str, options: TraceOptions, *, wanted: bool) -> LiveReplay | None:
    """Return what plays the calls; None if there is nothing, and nobody has asked for it."""
    try:
        library, patch = options.target(api)
        return LiveReplay(library, patch=patch)
    except UsageError as error:
        if wanted or options.library is not None or options.fault is not None:
            raise
        say(f"reducekit: note: no feedback: {error}")
        return None
