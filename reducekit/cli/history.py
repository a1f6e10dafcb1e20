"""`reducekit history`."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

import click

from reducekit.cli.differences import unified
from reducekit.cli.files import write_file
from reducekit.cli.group import Surroundings
from reducekit.errors import UsageError
from reducekit.journal import Contents, Step, journal_path, load

SCHEMA = 1
_COLUMNS = 100  # of what a step did
_STDOUT = Path("-")


@click.command("history")
@click.argument("journal", type=click.Path(path_type=Path), metavar="JOURNAL_OR_OUTPUT")
@click.option(
    "--restore", type=click.IntRange(min=0), metavar="N", help="Write the text of step N."
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Where --restore writes to; default: -, standard output.",
)
@click.option(
    "--diff",
    type=click.IntRange(min=1),
    metavar="N",
    help="Show what step N changed, line by line, as a unified diff.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the list as one JSON object.")
@click.pass_obj
def command(
    surroundings: Surroundings,
    /,
    journal: Path,
    restore: int | None,
    output: Path | None,
    diff: int | None,
    as_json: bool,
) -> int:
    """List, restore and compare the accepted steps of a reduction.

    JOURNAL_OR_OUTPUT is the journal, or the output that it stands beside. Step
    0 is the input. The reduction may still go on, or have been killed.
    """
    asked = {"--restore": restore is not None, "--diff": diff is not None, "--json": as_json}
    given = [name for name, there in asked.items() if there]
    if len(given) > 1:
        raise UsageError(f"{' and '.join(given)} do not go together: give one")
    if output is not None and restore is None:
        raise UsageError("-o is where --restore N writes to: say which step")
    if output in (None, _STDOUT) and not surroundings.output_open:
        raise UsageError("standard output is closed: name a file with --restore N -o FILE")
    path = _find(journal)
    found = load(path)
    if found.head is None or not found.steps:
        raise UsageError(f"the journal {path} ends before the input: it holds nothing yet")
    if restore is not None:
        _restore(path, found, restore, output or _STDOUT)
    elif diff is not None:
        _check(path, found, diff)
        _print_bytes(_diff(found, found.steps[diff]))
    elif as_json:
        print(_json(path, found))
    else:
        print(_text(path, found))
    return 0


def _find(named: Path) -> Path:
    """Return the journal that is meant: the one beside a file, unless that is one itself."""
    beside = journal_path(named)
    if os.path.exists(beside):  # not Path.exists, which raises what is no answer
        return beside
    if not os.path.exists(named):
        raise UsageError(f"there is no file {named}, and no journal {beside}")
    try:
        load(named)
    except UsageError as error:
        error.add_note(f"(and there is no journal {beside})")
        raise
    return named


def _check(path: Path, found: Contents, number: int) -> None:
    last = len(found.steps) - 1
    if number > last:
        there = f"the steps are 0 to {last}" if last else "there is only step 0, the input"
        raise UsageError(f"the journal {path} has no step {number}: {there}")


def _restore(path: Path, found: Contents, number: int, output: Path) -> None:
    _check(path, found, number)
    text = found.text(number)
    if output == _STDOUT:
        _print_bytes([text])
        return
    if os.path.exists(output) and output.samefile(path):
        raise UsageError(f"the output {output} is the journal itself: name another with -o")
    write_file(output, text)
    print(f"{output}: step {number}, {len(text):,} bytes")


def _print_bytes(parts: Iterable[bytes]) -> None:
    """Print bytes as they are."""
    try:
        sys.stdout.flush()
        sys.stdout.buffer.writelines(parts)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        pass  # who reads has seen enough
    except OSError as error:
        raise UsageError(f"standard output cannot be written: {error.strerror}") from None


def _diff(found: Contents, step: Step) -> Iterable[bytes]:
    base = found.steps[step.base]
    return unified(
        found.text(base.number),
        found.text(step.number),
        f"step {base.number}, {base.size:,} bytes",
        f"step {step.number}, {step.size:,} bytes, {_words(step)}",
    )


def _text(path: Path, found: Contents) -> str:
    head = found.head
    assert head is not None
    good = sum(interesting for interesting, _ in found.verdicts.values())
    facts = [
        ("input", f"{head.input_size:,} bytes, sha256 {head.input_digest}..."),
        *(("command", each) for each in head.commands),
        ("failure", head.criterion),
        ("strategy", f"{head.strategy}, format {head.frontend}"),
        *sorted(head.settings.items()),
        ("verdicts", f"{len(found.verdicts):,}, interesting: {good:,}"),
    ]
    if found.cut:
        facts.append(("unread", f"{found.cut:,} bytes at the end: torn by a kill, or damaged"))
    width = max(len(name) for name, _ in facts)
    lines = [str(path)]
    lines += [f"  {name:<{width}}  {_plain(value)}".rstrip() for name, value in facts]
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
    """Return the steps in columns, with the returns in between."""
    rows = [("step", "bytes", "checks", "time", "pass", "what")]
    rows += [
        (
            str(step.number),
            f"{step.size:,}",
            f"{step.checks:,}",
            f"{step.seconds:,.1f} s",
            _plain(step.pass_name),
            _short(step.what) if step.number else "the input",
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


def _json(path: Path, found: Contents) -> str:
    head = found.head
    assert head is not None
    return json.dumps(
        {
            "schema": SCHEMA,
            "journal": str(path),
            "head": asdict(head),
            "verdicts": len(found.verdicts),
            "interesting": sum(interesting for interesting, _ in found.verdicts.values()),
            "current": found.current,
            "steps": [
                {
                    "number": step.number,
                    "base": step.base,
                    "bytes": step.size,
                    "checks": step.checks,
                    "seconds": round(step.seconds, 3),
                    "pass": step.pass_name,
                    "what": step.what,
                }
                for step in found.steps
            ],
            "returns": [asdict(back) for back in found.returns],
            "notes": found.notes,
            "unread": found.cut,
        }
    )


def _words(step: Step) -> str:
    return ": ".join(_short(each) for each in (step.pass_name, step.what) if each)


def _short(words: str) -> str:
    shown = _plain(words)
    return shown if len(shown) <= _COLUMNS else f"{shown[:_COLUMNS]}..."


def _plain(words: str) -> str:
    """Return words fit for one line of a terminal."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in words)
