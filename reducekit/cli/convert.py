"""`reducekit convert`: converts a file to another dialect, format or language."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path

import click

from reducekit import registry
from reducekit.cli.command import Command
from reducekit.cli.interrupts import ProcessContext
from reducekit.cli.streams import STANDARD_OUTPUT, print_bytes, read_text, say
from reducekit.errors import UsageError
from reducekit.offers import Conversions, Converts
from reducekit.session.place.inputs import naming, plain_path, refuse_blank
from reducekit.session.place.output import write_file
from reducekit.text import without_mark


def conversions() -> list[Conversions]:
    """Return the conversions of all registered formats."""
    classes = map(registry.frontend_class, registry.names(registry.FRONTENDS))
    return [each.conversions() for each in classes if issubclass(each, Converts)]


class _Formats(click.ParamType[str]):
    """The name of a notation, such as btor2; registered formats define the names."""

    name = "format"

    def __init__(self, kind: str) -> None:
        self._kind = kind

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name. Raises BadParameter if no format has it."""
        known = _names(self._kind)
        if value not in known:
            self.fail(f"{value!r} is not one of {', '.join(known)}.", param, ctx)
        return value


def _names(kind: str) -> list[str]:
    return sorted({each.name for found in conversions() for each in getattr(found, kind)})


class _Convert(Command):
    """A command whose help lists the conversions, determined when it is printed."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Conversions"):
            formatter.write_dl(
                (
                    ", ".join(each.name for each in found.reads),
                    "to " + ", ".join(each.name for each in found.writes),
                )
                for found in conversions()
            )


@click.command("convert", cls=_Convert)
@click.argument("input", type=click.Path(path_type=Path), metavar="INPUT")
@click.argument("output", type=click.Path(path_type=Path), metavar="OUTPUT")
@click.option(
    "--from",
    "source",
    type=_Formats("reads"),
    metavar="FORMAT",
    help="Format of INPUT (default: detected).",
)
@click.option(
    "--to",
    "target",
    type=_Formats("writes"),
    metavar="FORMAT",
    help="Format of OUTPUT (default: by its suffix; for -, the first of the list below).",
)
@click.pass_obj
def command(
    process: ProcessContext,
    /,
    input: Path,  # noqa: A002
    output: Path,
    source: str | None,
    target: str | None,
) -> int:
    """Convert the file INPUT to another dialect, format or language.

    The meaning is preserved. A construct without a counterpart is an error, or left out with a
    note. The suffix of OUTPUT (.btor: btor1, .btor2, .smt2, .aag, .aig, .trace: lgl, .mobical,
    .ipasir, .cnf, .icnf; .c, .cpp, .py: a program that makes the calls of a trace) or --to selects
    its format. - is standard input or output.
    """
    known = conversions()
    if target is None and output != STANDARD_OUTPUT:
        target = _target(known, output)
    with contextlib.suppress(OSError):
        if output.samefile(input):
            raise UsageError(f"the output {output} is the input: choose another file")
    with process.interrupts.allowed():
        text = without_mark(read_text(input))
        with naming(str(input)):
            refuse_blank(text)
            if target is None:
                chosen = _reading(known, plain_path(input), text, source)
                target = chosen.writes[0].name
            else:
                chosen = _chosen(known, plain_path(input), text, source, target)
            result = chosen.convert(text, source, target)
    if output == STANDARD_OUTPUT:
        print_bytes([result.text])
    else:
        write_file(output, result.text)
    for note in result.notes:
        say(f"reducekit: note: {note}")
    return 0


def _target(known: list[Conversions], output: Path) -> str:
    """Return the format that a file of that name should have. Raises UsageError."""
    for found in known:
        for each in found.writes:
            if output.suffix in each.suffixes:
                return each.name
    raise UsageError(f"cannot tell the format of {output} from its suffix: give --to")


def _reading(known: list[Conversions], path: Path, text: bytes, source: str | None) -> Conversions:
    """Return the first format that reads the input. Raises UsageError."""
    reading = (
        [found for found in known if source in [each.name for each in found.reads]]
        or _by_suffix(known, path)
        or [found for found in known if found.recognises(text)]
    )
    if not reading:
        raise UsageError(f"cannot tell the format of {path}: give --from and --to")
    return reading[0]


def _chosen(
    known: list[Conversions], path: Path, text: bytes, source: str | None, target: str
) -> Conversions:
    """Return the format that converts the input to the target. Raises UsageError."""
    fitting = [found for found in known if target in [each.name for each in found.writes]]
    if source is not None:
        return _one_that_reads(source, target, fitting, path, text)
    by_suffix = _by_suffix(fitting, path)
    if by_suffix:
        return by_suffix[0]
    candidates = [found for found in fitting if found.recognises(text)] or fitting
    of_suffix = [each for each in candidates if not _belongs_elsewhere(known, each, path)]
    if candidates and not of_suffix:
        raise UsageError(f"cannot convert {path} to {target}")
    if len(of_suffix) != 1:
        hint = ": give --from" if of_suffix else ""
        raise UsageError(f"cannot convert the format of {path} to {target}{hint}")
    return of_suffix[0]


def _one_that_reads(
    source: str, target: str, fitting: Sequence[Conversions], path: Path, text: bytes
) -> Conversions:
    """Return the format that reads a notation, of several the one that the file looks like."""
    reading = [found for found in fitting if source in [each.name for each in found.reads]]
    if not reading:
        raise UsageError(f"cannot convert {source} to {target}")
    alike = _by_suffix(reading, path) or [found for found in reading if found.recognises(text)]
    return (alike or reading)[0]


def _by_suffix(fitting: Sequence[Conversions], path: Path) -> list[Conversions]:
    return [found for found in fitting if any(path.suffix in each.suffixes for each in found.reads)]


def _belongs_elsewhere(known: list[Conversions], chosen: Conversions, path: Path) -> bool:
    """Return whether only other formats read files with this suffix."""
    return any(
        path.suffix in each.suffixes
        for found in known
        if found is not chosen
        for each in found.reads
    )
