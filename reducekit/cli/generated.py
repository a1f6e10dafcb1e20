"""Where generated inputs go: standard output, a file, or many files in a folder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from reducekit.cli import INTERRUPTED
from reducekit.cli.files import make_folder, write_file
from reducekit.cli.interrupts import Interrupts
from reducekit.cli.options import PATH, Function, adding
from reducekit.cli.streams import say
from reducekit.errors import UsageError
from reducekit.output import OutputFile


def destination_options(what: str) -> Callable[[Function], Function]:
    """Return what adds the options; they speak of a file or trace or whatever it is."""
    return adding(
        [
            click.option(
                "-o",
                "--output",
                type=PATH,
                metavar="FILE",
                help="Where to write; default: standard output.",
            ),
            click.option(
                "--count",
                type=click.IntRange(min=1, max=10_000_000),
                metavar="N",
                help=f"So many {what}s, with seeds from --seed on; with --dir.",
            ),
            click.option(
                "--dir",
                "folder",
                type=PATH,
                metavar="DIR",
                help=f"The folder for these {what}s, named by their seeds; it is made if there "
                "is none.",
            ),
        ]
    )


@dataclass(frozen=True, slots=True)
class Destination:
    """Where the inputs go that are generated from these seeds, and `what` they are."""

    what: str
    seeds: range
    output: Path | None
    folder: Path | None
    suffix: str

    def write_all(self, make: Callable[[int], bytes], interrupts: Interrupts) -> int:
        """Make the inputs of all seeds and write them; return the exit code.

        Raises UsageError if that fails.
        """
        if self.output is not None:
            OutputFile(self.output)  # tries it out
        written = 0
        try:
            for seed in self.seeds:
                with interrupts.allowed():
                    text = make(seed)
                self._write(seed, text)
                written += 1
        except KeyboardInterrupt:
            if not written:
                raise
            say(f"reducekit: interrupted: {written:,} of {len(self.seeds):,} {self.what}s written")
            return INTERRUPTED
        return 0

    def _write(self, seed: int, text: bytes) -> None:
        if self.folder is not None:
            make_folder(self.folder)
            write_file(self.folder / f"{seed}{self.suffix}", text)
        elif self.output is not None:
            write_file(self.output, text)
        else:
            print(text.decode("ascii", "surrogateescape"), end="")


def destination_from(values: dict[str, Any], what: str, suffix: str) -> Destination:
    """Gather the options out of a command's parameters.

    Raises UsageError if they do not go together.
    """
    output, count, folder = values["output"], values["count"], values["folder"]
    if (count is None) != (folder is None):
        raise UsageError(f"--count and --dir go together: many {what}s want a folder")
    if folder is not None and output is not None:
        raise UsageError(f"-o is for one {what}: it does not go with --dir")
    if output == Path("-"):
        output = None
    first = values["seed"]
    return Destination(what, range(first, first + (count or 1)), output, folder, suffix)
