"""`reducekit generate trace`."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path

import click

from reducekit.cli.group import Surroundings
from reducekit.cli.streams import say
from reducekit.errors import UsageError
from reducekit.frontends.trace.formats import print_trace
from reducekit.frontends.trace.generate import Generated, Generator
from reducekit.frontends.trace.loader import load_model
from reducekit.frontends.trace.replay import find_library, read_fault, resolve
from reducekit.frontends.trace.replay.live import LiveReplay
from reducekit.frontends.trace.replay.outcome import ReplayOutcome
from reducekit.oracle.limits import Limits
from reducekit.output import OutputFile

LIMITS = Limits(wall=60, cpu=10, memory=4 << 30, output=1 << 20)
"""Of a trace that is played while it is made: most take some milliseconds."""


@click.command("trace")
@click.option("--model", default="lingeling", show_default=True, metavar="API|FILE")
@click.option("-s", "--seed", type=int, default=0, show_default=True, metavar="N")
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
    "--feedback/--no-feedback",
    default=None,
    help="Play the calls while they are made, so that results steer what comes next; "
    "default: if there is a library.",
)
@click.option("--library", metavar="NAME|PATH", help="The library that plays them.")
@click.option("--fault", metavar="FAULT", help="Play them on a faulty library, as in `replay`.")
@click.option("--faults", metavar="FILE", help="A list of faults (JSON).")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Where to write; default: standard output.",
)
@click.option(
    "--count",
    type=click.IntRange(min=1, max=10_000_000),
    metavar="N",
    help="So many traces, with seeds from --seed on; with --dir.",
)
@click.option(
    "--dir",
    "folder",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="The folder for these traces, named by their seeds; it is made if there is none.",
)
@click.pass_obj
def command(
    surroundings: Surroundings,
    /,
    model: str,
    seed: int,
    fuzzed: bool | None,
    variables: int | None,
    feedback: bool | None,
    library: str | None,
    fault: str | None,
    faults: str | None,
    output: Path | None,
    count: int | None,
    folder: Path | None,
) -> int:
    """Generate random API traces that keep to a model of the API.

    The solver plays the calls while they are made: what it answers decides what
    comes next, and stands in the trace. The same seed gives the same trace.
    """
    if (count is None) != (folder is None):
        raise UsageError("--count and --dir go together: many traces want a folder")
    if folder is not None and output is not None:
        raise UsageError("-o is for one trace: it does not go with --dir")
    if feedback is False and (library, fault) != (None, None):
        raise UsageError("--library and --fault are for the feedback that --no-feedback turns off")
    found = load_model(model)
    generator = Generator(found, options=fuzzed, variables=variables)
    form = found.formats[0]
    file = None if output is None else OutputFile(output)
    if folder is not None:
        make_folder(folder)
    interrupts = surroundings.interrupts
    with ExitStack() as stack:
        live = None
        if feedback is not False:
            wanted = bool(feedback or library or fault)
            live = _open(found.name, library, fault, faults, wanted=wanted)
        if live is not None:
            stack.enter_context(live)
        for each in range(seed, seed + (count or 1)):
            with interrupts.allowed():
                made, outcome = play(generator, each, live, LIMITS)
            text = print_trace(made.recorded(), form)
            if outcome is not None and outcome.kind != "ok":
                last = made.calls[-1] if made.calls else "the first call"
                say(f"reducekit: seed {each}: {outcome.describe()}, in the last call: {last}")
            if folder is not None:
                _write(OutputFile(folder / f"{each}.{_SUFFIXES.get(form, 'trace')}"), text)
            elif file is not None:
                _write(file, text)
            else:
                sys.stdout.flush()
                sys.stdout.buffer.write(text)
                sys.stdout.flush()
    return 0


_SUFFIXES = {"lgl": "trace", "mobical": "mobical", "words": "trace"}


def play(
    generator: Generator, seed: int, live: LiveReplay | None, limits: Limits
) -> tuple[Generated, ReplayOutcome | None]:
    """Make a trace, played while it is made if there is somebody who plays it."""
    if live is None:
        return generator.generate(seed), None
    live.begin(limits)
    made = generator.generate(seed, live.play)
    return made, live.finish()


def open_live(api: str, library: str | None, fault: str | None, faults: str | None) -> LiveReplay:
    """Return what plays the calls of an API. Raises UsageError."""
    found = find_library(api, library)
    if found.note:
        say(f"reducekit: note: {found.note}")
    read = None if fault is None else read_fault(fault, faults)
    return LiveReplay(found, patch=None if read is None else resolve(read, found.path))


def _open(
    api: str, library: str | None, fault: str | None, faults: str | None, *, wanted: bool
) -> LiveReplay | None:
    """Return what plays the calls; None if there is nothing, and nobody has asked for it."""
    try:
        return open_live(api, library, fault, faults)
    except UsageError as error:
        if wanted:
            raise
        say(f"reducekit: note: no feedback: {error}")
        return None


def make_folder(folder: Path) -> None:
    """Make a folder. Raises UsageError if it cannot be had."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"the folder {folder} cannot be made: {error.strerror}") from None


def _write(file: OutputFile, text: bytes) -> None:
    if not file.write(text):
        reason = file.trouble.strerror if file.trouble is not None else "it failed"
        raise UsageError(f"the output {file.path} cannot be written: {reason}")
