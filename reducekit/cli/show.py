"""`reducekit show`: statistics and pictures of a file."""

from __future__ import annotations

import os
from pathlib import Path

import click

from reducekit import registry
from reducekit.cli.command import Command
from reducekit.cli.interrupts import ProcessContext
from reducekit.cli.streams import read_text
from reducekit.errors import UsageError
from reducekit.frontend import Frontend
from reducekit.offers import Converts, Inspection, Inspects, KnowsByName
from reducekit.session.place.inputs import naming, plain_path, refuse_blank
from reducekit.session.place.output import write_file
from reducekit.text import without_mark


@click.command("show", cls=Command)
@click.argument("input", metavar="INPUT")
@click.option(
    "--from",
    "notation",
    metavar="FORMAT",
    help="Dialect or format of INPUT (default: detected).",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Draw a picture into FILE: .svg; for BTOR graphs also .dot (Graphviz) and .graphml.",
)
@click.pass_obj
def command(
    process: ProcessContext,
    input: str,  # noqa: A002
    notation: str | None,
    output: Path | None,
) -> int:
    """Print statistics of the file INPUT, or draw it.

    For a BTOR file: which nodes dominate most others. A node dominates the nodes that are reachable
    from the roots only through it. Pictures show the same as `alone`, with the layer of each node
    and its immediate dominator. For an API trace: its timeline. For a model of an API (a .toml
    file, or a name such as lingeling): its states; with -o, their chart.
    """
    with process.interrupts.allowed():
        found = _inspection(input, notation)
        if output is None:
            print("\n".join(found.lines()))
            return 0
        if output.suffix not in found.pictures:
            kinds = ", ".join(found.pictures)
            raise UsageError(
                f"cannot write a picture of {input} as {output.suffix or 'a file without suffix'}: "
                + (f"use the suffix {kinds}" if kinds else "this format has no pictures")
            )
        drawn = found.pictures[output.suffix]()
    write_file(output, drawn)
    return 0


def _inspection(name: str, notation: str | None) -> Inspection:
    """Inspect a file, or something that a format knows by name."""
    path = Path(name)
    names = registry.names(registry.FRONTENDS)
    if not os.path.exists(path):
        for each in names:
            known = registry.frontend_class(each)
            if issubclass(known, KnowsByName) and (found := known.named(name)) is not None:
                return found
    text = without_mark(read_text(path))
    with naming(name):
        refuse_blank(text)
        frontend = registry.frontend_class(_format_of(plain_path(path), text, notation, names))
        if issubclass(frontend, Inspects):
            return frontend.inspect(text, notation, path)
        parsed = frontend()
        counts = parsed.measure(parsed.parse(text))
        return Inspection(lambda: [f"{count:,} {name}" for name, count in counts.items()])


def _notations(frontend: type[Frontend]) -> list[str]:
    """Return the names of the notations that a format reads."""
    reads = frontend.conversions().reads if issubclass(frontend, Converts) else ()
    return [each.name for each in reads]


def _format_of(path: Path, text: bytes, notation: str | None, names: list[str]) -> str:
    """Return the format of a file: by its notation if given, its suffix, or its content."""
    classes = {name: registry.frontend_class(name) for name in names}
    if notation is not None:
        for name, each in classes.items():
            if notation in _notations(each):
                return name
        raise UsageError(f"--from: unknown format {notation!r}")
    for name, each in classes.items():
        if path.suffix in (*each.inspected, *each.suffixes):
            return name
    for name, each in classes.items():
        if each.recognises(text):
            return name
    raise UsageError(f"cannot tell the format of {path}: give --from")
