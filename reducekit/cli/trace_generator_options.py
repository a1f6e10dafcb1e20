"""The options of the random trace generator, shared by `generate` and `hunt`."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, fields
from typing import Any

import click

from reducekit.cli.options import adding
from reducekit.cli.streams import say
from reducekit.frontends.trace.replay import Library, Patch, find_library, read_fault, resolve


@dataclass(frozen=True, slots=True)
class TraceOptions:
    """Which traces are made, and what plays them, as given."""

    model: str
    seed: int
    fuzzed: bool | None
    variables: int | None
    library: str | None
    fault: str | None
    faults: str | None

    def target(self, api: str, *, quiet: bool = False) -> tuple[Library, Patch | None]:
        """Return what plays the calls of an API, and the fault in it. Raises UsageError."""
        library = find_library(api, self.library)
        if library.note and not quiet:
            say(f"reducekit: note: {library.note}")
        read = None if self.fault is None else read_fault(self.fault, self.faults)
        return library, None if read is None else resolve(read, library.path)

    def name(self, api: str) -> tuple[str, ...]:
        """Return what a bug in it is said to be in."""
        fault = () if self.fault is None else ("--fault", self.fault)
        return (self.library or api, *fault)

    @property
    def played_by(self) -> tuple[str, ...]:
        """The words that name the model and what plays a trace, for every command that does."""
        given = {
            "--model": self.model,
            "--library": self.library,
            "--fault": self.fault,
            "--faults": self.faults,
        }
        return tuple(word for name, value in given.items() if value for word in (name, value))

    def made_by(self, seed: int) -> str:
        """Return the command line that makes the trace of a seed again."""
        words = ["reducekit", "generate", "trace", *self.played_by]
        if self.fuzzed is not None:
            words.append("--options" if self.fuzzed else "--no-options")
        if self.variables is not None:
            words += ["--variables", str(self.variables)]
        return shlex.join([*words, "--seed", str(seed)])


trace_options = adding(
    [
        click.option(
            "--model",
            default="lingeling",
            show_default=True,
            metavar="API|FILE",
            help="The model of the API that the traces keep to.",
        ),
        click.option(
            "-s",
            "--seed",
            type=int,
            default=0,
            show_default=True,
            metavar="N",
            help="Another seed gives another trace.",
        ),
        click.option(
            "--options/--no-options",
            "fuzzed",
            default=None,
            help="Set random options always, or never; default: as often as the model says.",
        ),
        click.option(
            "--variables",
            type=click.IntRange(1, 100_000),
            metavar="N",
            help="So many variables at most to begin with; default: as the model says. 40 make "
            "traces of about 500 calls.",
        ),
        click.option(
            "--library",
            metavar="NAME|PATH",
            help="The library that plays them; default: what is installed.",
        ),
        click.option(
            "--fault",
            metavar="FAULT",
            help="Overwrite an instruction of the library, to have something to find: "
            "SYMBOL+OFFSET:abort or :delete, or a name in --faults.",
        ),
        click.option("--faults", metavar="FILE", help="A list of faults (JSON)."),
    ]
)


def trace_options_from(values: dict[str, Any]) -> TraceOptions:
    """Gather the options out of a command's parameters."""
    return TraceOptions(**{each.name: values[each.name] for each in fields(TraceOptions)})
