"""Commands that read journals: `history` lists steps, `report` writes a page or a bug report."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import click

from reducekit.cli.command import PATH, Command, adding, file, flag, number
from reducekit.cli.process import STANDARD_OUTPUT, ProcessContext, print_bytes
from reducekit.errors import UsageError
from reducekit.hunt.events import Bug
from reducekit.hunt.folder import known_bug
from reducekit.oracle.command import PLACE
from reducekit.reports.account import Account, account, ending
from reducekit.reports.film import film_of
from reducekit.reports.issue import VERSION_OPTIONS, issue, program
from reducekit.reports.page import page, picture
from reducekit.session.place.history import Contents, as_json, diff_of, open_history, step_of
from reducekit.session.place.output import write_file
from reducekit.text import printable, shortened

_COLUMNS = 100  # maximum width of a step's description
_VERSION = 20_000  # bytes
_LINE = 120  # characters of its first line at most
_COMPLAINT = re.compile(
    r"(?i)error|cannot|could not|unable|unknown|invalid|unrecogni[sz]ed|usage|no such|not found"
)
_VERSION_SECONDS = 5  # time limit for printing a solver's version


@click.command("history", cls=Command)
@click.argument("journal", type=PATH, metavar="JOURNAL_OR_OUTPUT")
@adding(
    (
        number("restore", "Write the text of step N.", least=0),
        file("output", "File to write the step to (default: -, standard output).", short="o"),
        number("diff", "Show the change of step N as a unified diff.", least=1),
        file("plot", "Draw the size over checks and time as an SVG picture."),
        flag("json_wanted", "Print the list as one JSON object.", spelled="json"),
    )
)
@click.pass_obj
def history(
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
    given = [name for name, there in asked.items() if there]
    if len(given) > 1:
        raise UsageError(f"{' and '.join(given)} are mutually exclusive: give one")
    if output is not None and restore is None:
        raise UsageError("-o requires --restore N: which step?")
    if output in (None, STANDARD_OUTPUT) and not process.output_open:
        raise UsageError("standard output is closed: use --restore N -o FILE")
    path, found = open_history(journal)
    if restore is not None:
        text = found.text(step_of(path, found, restore).number)
        if output in (None, STANDARD_OUTPUT):
            print_bytes([text])
        else:
            _write(output, text, journal=path)
            print(f"{output}: step {restore}, {len(text):,} bytes")
    elif diff is not None:
        print_bytes(diff_of(found, step_of(path, found, diff)))
    elif plot is not None:
        if plot.suffix != ".svg":
            raise UsageError(f"a plot is an SVG picture: {plot} must have the suffix .svg")
        reduction = account(found, path)
        write_file(plot, picture(reduction.curve, reduction.name).encode())
        print(f"{plot}: {len(reduction.curve):,} points")
    elif json_wanted:
        print(json.dumps(as_json(path, found)))
    else:
        print(_text(path, found))
    return 0


def _facts(found: Contents) -> list[tuple[str, str]]:
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
    again = shlex.quote(f"./{path}" if str(path).startswith("-") else str(path))
    more = f"; what it changed: --diff {found.current}" if found.current else ""
    lines.append(
        f"To restore one: reducekit history {again} --restore {found.current} -o FILE{more}"
    )
    return "\n".join(lines)


def _table(found: Contents) -> list[str]:
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
    lines = []
    for row in rows:
        numbers = (cell.rjust(width) for cell, width in zip(row[:4], widths[:4], strict=True))
        lines.append("  ".join([*numbers, row[4].ljust(widths[4]), row[5]]).rstrip())
    for back in reversed(found.returns):
        said = f"back to step {back.step}: step {back.given_up} did not fail every time"
        lines.insert(back.after + 1, f"{'':>{widths[0]}}  {said}")
    return [f"  {line}" for line in lines]


@click.command("report", cls=Command)
@click.argument("journal", type=PATH, metavar="JOURNAL_OR_OUTPUT")
@adding(
    (
        file(
            "output",
            "File to write (default: OUTPUT.html; with --issue, standard output).",
            short="o",
        ),
        flag(
            "as_issue",
            "Write a bug report instead, in the form for z3, cvc5, Bitwuzla or Boolector.",
            spelled="issue",
        ),
        file("animated", "Write a film of the steps instead, an SVG picture.", spelled="film"),
    )
)
def report(journal: Path, output: Path | None, as_issue: bool, animated: Path | None) -> int:
    """Write a report of a reduction, even if it was stopped or is still running.

    JOURNAL_OR_OUTPUT is a journal, the output of a reduction, or a file that was reduced to the
    default output, such as an input found by a hunt. The report is one HTML file that needs no
    network access: the curve, the costs and gains of each pass, the steps, the failure and how to
    reproduce it. The solver is run once for its version. With --film: nodes move to their places in
    each step, in an SVG picture without scripts, for a README or a bug report.
    """
    if animated is not None and (as_issue or output is not None):
        other = "--issue" if as_issue else "-o"
        raise UsageError(f"--film and {other} are mutually exclusive: give one")
    try:
        path, found = open_history(journal)
    except UsageError:
        bug = known_bug(journal)
        if bug is None:
            raise
        why = f" ({bug.not_reduced})" if bug.not_reduced else ""
        raise UsageError(
            f"the hunt has not reduced {bug.path}{why}, so there is nothing to report. To reduce "
            f"it:\n  {_reduction(bug)}"
        ) from None
    reduction = account(found, path)
    if animated is not None:
        if animated.suffix != ".svg":
            raise UsageError(f"a film is an SVG picture: {animated} must have the suffix .svg")
        if (drawn := film_of(found)) is None:
            raise UsageError(f"{path} has no film: its format has no graphs, or they are too large")
        _write(animated, drawn.file(reduction.name).encode(), journal=path)
        print(f"{animated}: {animated.stat().st_size:,} bytes")
        return 0
    version = solver_version(reduction)
    text = issue(reduction, version) if as_issue else page(reduction, film_of(found), version)
    if output is None:
        output = Path("-") if as_issue else path.with_name(f"{reduction.name}.html")
    if output == Path("-"):
        print(text, end="")
        return 0
    _write(output, text.encode("utf-8", "backslashreplace"), journal=path)
    print(f"{output}: {len(text.encode()):,} bytes")
    return 0


def _reduction(bug: Bug) -> str:
    runs = [
        [PLACE if Path(word).name == bug.path.name else word for word in shlex.split(run)]
        for run in bug.runs
    ]
    if runs[0][:2] == ["reducekit", "replay"]:
        options = [word for word in runs[0][2:] if word != PLACE]
        return shlex.join(["reducekit", "trace", str(bug.path), *options])
    words = ["reducekit", str(bug.path)]
    for option, run in zip(("--cmd", "--reference"), runs, strict=False):
        line = " ".join(word if word == PLACE else shlex.quote(word) for word in run)
        words += [option, line.removesuffix(f" {PLACE}")]
    return shlex.join(words)


def write_page(reduced: Path, output: Path) -> None:
    """Write the report of the reduction that has just ended."""
    path, found = open_history(reduced)
    text = page(account(found, path), film_of(found))
    _write(output, text.encode("utf-8", "backslashreplace"), journal=path)


def _write(output: Path, text: bytes, *, journal: Path) -> None:
    if os.path.exists(output) and output.samefile(journal):
        raise UsageError(f"the output {output} is the journal itself: choose another with -o")
    write_file(output, text)


def solver_version(reduction: Account) -> str | None:
    """Ask the command's program for its version; None if it does not answer."""
    name = program(reduction) if ending(reduction.found).subject is None else None
    found = None if name is None else shutil.which(name)
    if found is None:
        return None
    option = VERSION_OPTIONS.get(Path(found).name, "--version")
    try:
        done = subprocess.run(
            [found, option],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_VERSION_SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    said = (done.stdout.strip() or done.stderr.strip())[:_VERSION]
    text = said.decode("utf-8", "backslashreplace")
    first = text.partition("\n")[0]
    # A script may take the option for a file, complain, and end with 0 all the same.
    plain = len(first) <= _LINE and _COMPLAINT.search(first) is None
    return text if plain and (re.search("[0-9]", first) or len(first.split()) == 1) else None
