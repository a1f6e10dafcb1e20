"""`reducekit history`."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Mapping
from pathlib import Path

import click

from reducekit.cli.command import Command
from reducekit.cli.interrupts import ProcessContext
from reducekit.cli.streams import STANDARD_OUTPUT, print_bytes
from reducekit.errors import UsageError
from reducekit.reports import account, picture
from reducekit.session.place.journal import Contents, as_json, diff_of, open_history, step_of
from reducekit.session.place.output import write_file
from reducekit.text import printable, shortened

_COLUMNS = 100  # maximum width of a step's description


@click.command("history", cls=Command)
@click.argument("journal", type=click.Path(path_type=Path), metavar="JOURNAL_OR_OUTPUT")
@click.option(
    "--restore", type=click.IntRange(min=0), metavar="N", help="Write the text of step N."
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="File to write the step to (default: -, standard output).",
)
@click.option(
    "--diff",
    type=click.IntRange(min=1),
    metavar="N",
    help="Show the change of step N as a unified diff.",
)
@click.option(
    "--plot",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Draw the size over checks and time as an SVG picture.",
)
@click.option("--json", "json_wanted", is_flag=True, help="Print the list as one JSON object.")
@click.pass_obj
def command(
    process: ProcessContext,
    /,
    journal: Path,
    restore: int | None,
    output: Path | None,
    diff: int | None,
    plot: Path | None,
    json_wanted: bool,
) -> int:
    """List, restore and compare the accepted steps of a reduction.

    JOURNAL_OR_OUTPUT is a journal, or the output of a reduction. Step 0 is the input. The
    reduction may still be running, or have been killed.
    """
    asked = {
        "--restore": restore is not None,
        "--diff": diff is not None,
        "--plot": plot is not None,
        "--json": json_wanted,
    }
    _refuse_several(asked)
    if output is not None and restore is None:
        raise UsageError("-o requires --restore N: which step?")
    if output in (None, STANDARD_OUTPUT) and not process.output_open:
        raise UsageError("standard output is closed: use --restore N -o FILE")
    path, found = open_history(journal)
    if restore is not None:
        _restore(path, found, restore, output or STANDARD_OUTPUT)
    elif diff is not None:
        print_bytes(diff_of(found, step_of(path, found, diff)))
    elif plot is not None:
        _plot(path, found, plot)
    elif json_wanted:
        print(json.dumps(as_json(path, found)))
    else:
        print(_text(path, found))
    return 0


def _restore(path: Path, found: Contents, number: int, output: Path) -> None:
    text = found.text(step_of(path, found, number).number)
    if output == STANDARD_OUTPUT:
        print_bytes([text])
        return
    if os.path.exists(output) and output.samefile(path):
        raise UsageError(f"the output {output} is the journal itself: choose another with -o")
    write_file(output, text)
    print(f"{output}: step {number}, {len(text):,} bytes")


def _plot(path: Path, found: Contents, output: Path) -> None:
    if output.suffix != ".svg":
        raise UsageError(f"a plot is an SVG picture: {output} must have the suffix .svg")
    reduction = account(found, path)
    write_file(output, picture(reduction.curve, reduction.name).encode())
    print(f"{output}: {len(reduction.curve):,} points")


def _refuse_several(asked: Mapping[str, bool]) -> None:
    given = [name for name, there in asked.items() if there]
    if len(given) > 1:
        raise UsageError(f"{' and '.join(given)} are mutually exclusive: give one")


def _facts(found: Contents) -> list[tuple[str, str]]:
    """Return the data of a journal on the whole reduction, each item with its name."""
    head = found.head
    assert head is not None
    good = sum(interesting for interesting, _ in found.verdicts.values())
    facts = [
        ("input", f"{head.input_size:,} bytes, sha256 {head.input_digest}..."),
        *(("command", each) for each in head.commands),
        ("failure", head.criterion),
        ("strategy", f"{head.strategy}, format {head.frontend}"),
        *head.given,
        ("verdicts", f"{len(found.verdicts):,}, interesting: {good:,}"),
    ]
    if found.cut:
        facts.append(("unread", f"{found.cut:,} bytes at the end: torn by a kill, or damaged"))
    return facts


def _text(path: Path, found: Contents) -> str:
    facts = _facts(found)
    width = max(len(name) for name, _ in facts)
    lines = [str(path)]
    lines += [f"  {name:<{width}}  {printable(value)}".rstrip() for name, value in facts]
    lines += ["", *_table(found), ""]
    again = shlex.quote(str(path))
    if again.startswith("-"):
        again = f"./{again}"
    more = f"; what it changed: --diff {found.current}" if found.current else ""
    lines.append(
        f"To restore one: reducekit history {again} --restore {found.current} -o FILE{more}"
    )
    return "\n".join(lines)


def _table(found: Contents) -> list[str]:
    """Return the steps as a table, including returns to earlier steps."""
    rows = [("step", "bytes", "checks", "time", "pass", "what")]
    rows += [
        (
            str(step.number),
            f"{step.size:,}",
            f"{step.checks:,}",
            f"{step.seconds:,.1f} s",
            printable(step.pass_name),
            shortened(step.what, _COLUMNS) if step.number else "the input",
        )
        for step in found.steps
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(
            [
                *(cell.rjust(width) for cell, width in zip(row[:4], widths[:4], strict=True)),
                row[4].ljust(widths[4]),
                row[5],
            ]
        ).rstrip()
        for row in rows
    ]
    for back in reversed(found.returns):
        said = f"back to step {back.step}: step {back.given_up} did not fail every time"
        lines.insert(back.after + 1, f"{'':>{widths[0]}}  {said}")
    return [f"  {line}" for line in lines]
