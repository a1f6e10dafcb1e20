"""`reducekit variant`: writes a variant of a file."""

from __future__ import annotations

from pathlib import Path

import click

from reducekit import registry
from reducekit.cli.command import Command
from reducekit.cli.interrupts import ProcessContext
from reducekit.cli.options import PATH
from reducekit.cli.streams import print_bytes, read_text
from reducekit.errors import UsageError
from reducekit.offers import Varies
from reducekit.session.place.inputs import naming, refuse_blank
from reducekit.session.place.output import write_file


@click.command("variant", cls=Command)
@click.argument("input", metavar="INPUT", type=PATH)
@click.argument("number", metavar="NUMBER", type=click.IntRange(min=0))
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write it to FILE (default: standard output).",
)
@click.pass_obj
def command(
    process: ProcessContext,
    input: Path,  # noqa: A002
    number: int,
    output: Path | None,
) -> int:
    """Write variant NUMBER of the file INPUT: the query that --unstable runs.

    Of an SMT-LIB script: its functions and sorts have other names, and its assertions, between
    push, pop and check-sat, another order. A number always makes the same variant; 0 is the file.
    """
    with process.interrupts.allowed():
        text = read_text(input)
        with naming(str(input)):
            refuse_blank(text)
        name = registry.guess_format(input.name, text)
        frontend = None if name is None else registry.frontend(name)
        if not isinstance(frontend, Varies):
            raise UsageError(f"cannot make variants of {input}: it must be an SMT-LIB script")
        with naming(str(input)):
            frontend.parse(text)
        made = frontend.variant(text, number)
    if output is not None:
        write_file(output, made)
        return 0
    print_bytes([made])
    return 0
