"""Commands that read a file of a format: `show`, `convert` and `variant`."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import click

from reducekit import graphs, registry
from reducekit.cli.command import PATH, Command, adding, file
from reducekit.cli.process import STANDARD_OUTPUT, ProcessContext, print_bytes, read_text, say
from reducekit.errors import UsageError
from reducekit.format import Format
from reducekit.offers import Conversions, Inspection, Notation
from reducekit.option import Option
from reducekit.session.place.inputs import naming, plain_path, refuse_blank
from reducekit.session.place.output import write_file
from reducekit.text import without_mark


@click.command("show", cls=Command)
@click.argument("input", metavar="INPUT")
@adding(
    (
        Option(
            "notation",
            "Dialect or format of INPUT (default: detected).",
            metavar="FORMAT",
            spelled="from",
        ),
        file(
            "output",
            "Draw a picture into FILE: .svg; for BTOR graphs also .dot (Graphviz) and .graphml.",
            short="o",
        ),
    )
)
@click.pass_obj
def show(
    process: ProcessContext,
    input: str,  # noqa: A002
    notation: str | None,
    output: Path | None,
) -> int:
    """Print statistics of the file INPUT, or draw it.

    For a BTOR file: which nodes dominate most others. A node dominates the nodes that are reachable
    from the roots only through it. Pictures show the same as `alone`, with the layer of each node
    and its immediate dominator. For an API trace: its timeline. For a model of an API (a .toml
    file, or a name such as lingeling): its states; with -o, their chart. For any other text: its
    largest parts.
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
    path = Path(name)
    names = registry.names(registry.FRONTENDS)
    if not os.path.exists(path):
        for each in names:
            if (found := registry.frontend_class(each).named(name)) is not None:
                return found
    text = without_mark(read_text(path))
    with naming(name):
        refuse_blank(text)
        frontend = registry.frontend_class(_format_shown(plain_path(path), text, notation, names))
        found = frontend.inspect(text, notation, path)
        if ".svg" not in found.pictures and frontend.offers("diagram"):
            svg = partial(_picture, frontend, text)
            return replace(found, pictures={**found.pictures, ".svg": svg})
        return found


def _picture(frontend: type[Format], text: bytes) -> bytes:
    it = frontend()
    if (diagram := it.diagram(it.parse(text))) is None:
        raise UsageError("there is nothing to draw")
    return graphs.picture(graphs.boxes_of(diagram))


def _format_shown(path: Path, text: bytes, notation: str | None, names: list[str]) -> str:
    """Return the format of a file: by its notation if given, its suffix, or its content."""
    classes = {name: registry.frontend_class(name) for name in names}
    if notation is not None:
        for name, each in classes.items():
            found = each.conversions()
            if found is not None and notation in _names(found.reads):
                return name
        raise UsageError(f"--from: unknown format {notation!r}")
    for name, each in classes.items():
        if path.suffix in (*each.inspected, *each.suffixes):
            return name
    for name, each in classes.items():
        if each.recognises(text):
            return name
    return registry.ANY_TEXT


def conversions() -> list[Conversions]:
    """Return the conversions of all registered formats."""
    classes = map(registry.frontend_class, registry.names(registry.FRONTENDS))
    return [found for each in classes if (found := each.conversions()) is not None]


def _notation(kind: str) -> Callable[[str], str]:
    def read(value: str) -> str:
        known = sorted({each.name for found in conversions() for each in getattr(found, kind)})
        if value not in known:
            raise ValueError(f"{value!r} is not one of {', '.join(known)}")
        return value

    return read


class _Convert(Command):
    """A command whose help lists the conversions, determined when it is printed."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Conversions"):
            formatter.write_dl(
                (", ".join(_names(found.reads)), "to " + ", ".join(_names(found.writes)))
                for found in conversions()
            )


@click.command("convert", cls=_Convert)
@click.argument("input", type=PATH, metavar="INPUT")
@click.argument("output", type=PATH, metavar="OUTPUT")
@adding(
    (
        Option(
            "source",
            "Format of INPUT (default: detected).",
            metavar="FORMAT",
            spelled="from",
            read=_notation("reads"),
        ),
        Option(
            "target",
            "Format of OUTPUT (default: by its suffix; for -, the first of the list below).",
            metavar="FORMAT",
            spelled="to",
            read=_notation("writes"),
        ),
    )
)
@click.pass_obj
def convert(
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
    for found in known:
        for each in found.writes:
            if output.suffix in each.suffixes:
                return each.name
    raise UsageError(f"cannot tell the format of {output} from its suffix: give --to")


def _reading(known: list[Conversions], path: Path, text: bytes, source: str | None) -> Conversions:
    reading = (
        [found for found in known if source in _names(found.reads)]
        or _by_suffix(known, path)
        or [found for found in known if found.recognises(text)]
    )
    if not reading:
        raise UsageError(f"cannot tell the format of {path}: give --from and --to")
    return reading[0]


def _chosen(
    known: list[Conversions], path: Path, text: bytes, source: str | None, target: str
) -> Conversions:
    fitting = [found for found in known if target in _names(found.writes)]
    if source is not None:
        reading = [found for found in fitting if source in _names(found.reads)]
        if not reading:
            raise UsageError(f"cannot convert {source} to {target}")
        # Of several that read this notation, the one that the file looks like.
        alike = _by_suffix(reading, path) or [each for each in reading if each.recognises(text)]
        return (alike or reading)[0]
    by_suffix = _by_suffix(fitting, path)
    if by_suffix:
        return by_suffix[0]
    candidates = [found for found in fitting if found.recognises(text)] or fitting
    owners = _by_suffix(known, path)
    # Files with a suffix that only other formats read belong to these.
    of_suffix = [each for each in candidates if not any(found is not each for found in owners)]
    if candidates and not of_suffix:
        raise UsageError(f"cannot convert {path} to {target}")
    if len(of_suffix) != 1:
        hint = ": give --from" if of_suffix else ""
        raise UsageError(f"cannot convert the format of {path} to {target}{hint}")
    return of_suffix[0]


def _names(notations: Iterable[Notation]) -> list[str]:
    return [each.name for each in notations]


def _by_suffix(fitting: Sequence[Conversions], path: Path) -> list[Conversions]:
    return [found for found in fitting if any(path.suffix in each.suffixes for each in found.reads)]


@click.command("variant", cls=Command)
@click.argument("input", metavar="INPUT", type=PATH)
@click.argument("number", metavar="NUMBER", type=click.IntRange(min=0))
@adding([file("output", "Write it to FILE (default: standard output).", short="o")])
@click.pass_obj
def variant(
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
        frontend = registry.frontend(registry.guess_format(input.name, text))
        if not frontend.offers("variant"):
            raise UsageError(f"cannot make variants of {input}: it must be an SMT-LIB script")
        with naming(str(input)):
            frontend.parse(text)
        made = frontend.variant(text, number)
    if output is not None:
        write_file(output, made)
        return 0
    print_bytes([made])
    return 0
