"""`reducekit generate btor`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from reducekit.cli.generator_options import generator_options, parameters_from
from reducekit.cli.group import Surroundings
from reducekit.errors import UsageError
from reducekit.frontends.btor.generate import generate_text
from reducekit.frontends.btor.operators import Dialect
from reducekit.output import OutputFile


@click.command("btor")
@generator_options
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
    help="So many files, with seeds from --seed on; with --dir.",
)
@click.option(
    "--dir",
    "folder",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="The folder for these files, named by their seeds; it is made if there is none.",
)
@click.pass_obj
def command(
    surroundings: Surroundings,
    /,
    output: Path | None,
    count: int | None,
    folder: Path | None,
    **values: Any,
) -> int:
    """Generate random BTOR files: well-sorted graphs of bit-vectors and arrays.

    Leaves first, then random operators, and what has no parent in the end is merged to one
    root (A. Vida, Linz 2008). The options are the thesis', the defaults too.
    """
    parameters = parameters_from(values)
    if (count is None) != (folder is None):
        raise UsageError("--count and --dir go together: many files want a folder")
    if folder is None:
        with surroundings.interrupts.allowed():
            text = generate_text(parameters)
        if output is None:
            print(text.decode("ascii"), end="")
        else:
            _write(OutputFile(output), text)
        return 0
    if output is not None:
        raise UsageError("-o is for one file: it does not go with --dir")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"the folder {folder} cannot be made: {error.strerror}") from None
    suffix = ".btor2" if parameters.dialect is Dialect.BTOR2 else ".btor"
    assert count is not None
    for seed in range(parameters.seed, parameters.seed + count):
        with surroundings.interrupts.allowed():
            text = generate_text(replace(parameters, seed=seed))
        _write(OutputFile(folder / f"{seed}{suffix}"), text)
    return 0


def _write(file: OutputFile, text: bytes) -> None:
    if not file.write(text):
        reason = file.trouble.strerror if file.trouble is not None else "it failed"
        raise UsageError(f"the output {file.path} cannot be written: {reason}")
