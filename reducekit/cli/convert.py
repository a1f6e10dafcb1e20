"""`reducekit convert`."""

from __future__ import annotations

import contextlib
from pathlib import Path

import click

from reducekit.cli.files import naming, refuse_blank, write_file
from reducekit.cli.group import Surroundings
from reducekit.errors import UsageError
from reducekit.frontends.btor.convert import convert
from reducekit.frontends.btor.operators import Dialect
from reducekit.frontends.btor.reader import read
from reducekit.frontends.btor.smtlib import to_smtlib
from reducekit.frontends.btor.write import canonical
from reducekit.output import read_input

_SMTLIB = "smt2"
_BY_SUFFIX = {
    ".btor": Dialect.BTOR1.value,
    ".btor2": Dialect.BTOR2.value,
    ".smt2": _SMTLIB,
}
_READ = [each.value for each in Dialect]
_WRITTEN = [each.value for each in Dialect if each is not Dialect.BTOR_2007] + [_SMTLIB]


@click.command("convert")
@click.argument("input", type=click.Path(path_type=Path), metavar="INPUT")
@click.argument("output", type=click.Path(path_type=Path), metavar="OUTPUT")
@click.option(
    "--from", "source", type=click.Choice(_READ), help="Dialect of INPUT, if not to be detected."
)
@click.option(
    "--to", "target", type=click.Choice(_WRITTEN), help="Format of OUTPUT, if not by its suffix."
)
@click.pass_obj
def command(
    surroundings: Surroundings,
    /,
    input: Path,  # noqa: A002
    output: Path,
    source: str | None,
    target: str | None,
) -> int:
    """Convert the BTOR or BTOR2 file INPUT to another dialect, or to SMT-LIB v2.

    The meaning stays; what has no counterpart is refused, and nothing is written then.
    OUTPUT ends in .btor (for btor1), .btor2 or .smt2, or --to names the format.
    """
    if target is None:
        target = _BY_SUFFIX.get(output.suffix)
        if target is None:
            raise UsageError(f"the format of {output} is not plain from its suffix: say --to")
    with contextlib.suppress(OSError):
        if output.samefile(input):
            raise UsageError(f"the output {output} is the input: name another file")
    with surroundings.interrupts.allowed():
        result = _converted(input, source, target)
    write_file(output, result)
    return 0


def _converted(path: Path, source: str | None, target: str) -> bytes:
    """Return a file in another format. Raises ParseError or UsageError."""
    text = read_input(path)
    with naming(path):
        refuse_blank(text)
        dag = read(text, Dialect(source) if source else None)
    return to_smtlib(dag) if target == _SMTLIB else canonical(convert(dag, Dialect(target)))
