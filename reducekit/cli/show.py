"""`reducekit show`: what a file is made of, and pictures of it."""

from __future__ import annotations

import os
from pathlib import Path

import click

from reducekit import registry
from reducekit.cli.command import Command
from reducekit.cli.context import ProcessContext
from reducekit.cli.streams import read_text
from reducekit.errors import UsageError
from reducekit.offers import Inspection
from reducekit.session.files import naming, refuse_blank
from reducekit.session.output import write_file
from reducekit.session.unpack import plain_path


@click.command("show", cls=Command)
@click.argument("input", metavar="INPUT")
@click.option(
    "--from",
    "notation",
    metavar="FORMAT",
    help="Dialect or format of INPUT, if not to be detected.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write a picture to FILE: .svg; of a BTOR graph also .dot (Graphviz) and .graphml.",
)
@click.pass_obj
def command(
    process: ProcessContext,
    input: str,  # noqa: A002
    notation: str | None,
    output: Path | None,
) -> int:
    """Say what the file INPUT is made of, or draw it.

    Of a BTOR file: which of its nodes carry most. A node carries those that go with it: all
    paths from the roots to them pass it. The same is in the pictures as `alone`, with the layer
    of each node and its immediate dominator. Of an API trace: its time line. Of a model of an
    API (a .toml file, or a name such as lingeling): its states, with -o their chart.
    """
    with process.interrupts.allowed():
        found = _inspection(input, notation)
        if output is None:
            print("\n".join(found.lines()))
            return 0
        if output.suffix not in found.pictures:
            kinds = ", ".join(found.pictures)
            raise UsageError(
                f"no picture of {input} can be a {output.suffix or 'file without suffix'}: "
                + (f"the suffix may be {kinds}" if kinds else "there are none of this format")
            )
        drawn = found.pictures[output.suffix]()
    write_file(output, drawn)
    return 0


def _inspection(name: str, notation: str | None) -> Inspection:
    """Look into a file, or into something that a format knows by name."""
    path = Path(name)
    names = registry.names(registry.FRONTENDS)
    if not os.path.exists(path):
        for each in names:
            found = registry.frontend_class(each).named(name)
            if found is not None:
                return found
    text = read_text(path)
    with naming(name):
        refuse_blank(text)
        frontend = registry.frontend_class(_format_of(plain_path(path), text, notation, names))
        return frontend.inspect(text, notation, path)


def _format_of(path: Path, text: bytes, notation: str | None, names: list[str]) -> str:
    """Return the format of a file: of the notation, by its suffix, or by what is in it."""
    classes = {name: registry.frontend_class(name) for name in names}
    if notation is not None:
        for name, each in classes.items():
            offered = each.conversions()
            if offered is not None and notation in [known.name for known in offered.reads]:
                return name
        raise UsageError(f"--from: there is no format {notation!r}")
    for name, each in classes.items():
        if path.suffix in (*each.inspected, *each.suffixes):
            return name
    for name, each in classes.items():
        if each.recognises(text):
            return name
    raise UsageError(f"cannot tell the format of {path}: give --from")
