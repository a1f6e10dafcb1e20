"""`reducekit report`: what a reduction did, as an HTML page or as the text of a bug report."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import click

from reducekit.cli.command import Command
from reducekit.errors import UsageError
from reducekit.reports import Account, account, issue, page
from reducekit.reports.issue import VERSION_OPTIONS, program
from reducekit.session.history import open_history
from reducekit.session.output import write_file

_SECONDS = 5  # for a solver to tell its version


@click.command("report", cls=Command)
@click.argument("journal", type=click.Path(path_type=Path), metavar="JOURNAL_OR_OUTPUT")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Where to write; default: the output's name with .html, or standard output for --issue.",
)
@click.option(
    "--issue",
    "as_issue",
    is_flag=True,
    help="Write the text of a bug report instead, in the form that z3, cvc5, Bitwuzla and "
    "Boolector ask for; the solver is run once to tell its version.",
)
def command(journal: Path, output: Path | None, as_issue: bool) -> int:
    """Write a report of a reduction, also of one that was stopped or still runs.

    JOURNAL_OR_OUTPUT is the journal, or the output that it stands beside. The report is one
    HTML file that needs no network: the curve, what each pass cost and gave, the steps, the
    failure and how to see it again.
    """
    path, found = open_history(journal)
    told = account(found, path)
    text = issue(told, solver_version(told)) if as_issue else page(told)
    if output is None:
        output = Path("-") if as_issue else path.with_name(f"{told.name}.html")
    if output == Path("-"):
        print(text, end="")
        return 0
    _write(output, text, journal=path)
    print(f"{output}: {len(text.encode()):,} bytes")
    return 0


def write_page(reduced: Path, output: Path) -> None:
    """Write the page of the reduction that has just ended with this result."""
    path, found = open_history(reduced)
    _write(output, page(account(found, path)), journal=path)


def _write(output: Path, text: str, *, journal: Path) -> None:
    if os.path.exists(output) and output.samefile(journal):
        raise UsageError(f"the output {output} is the journal itself: name another")
    write_file(output, text.encode("utf-8", "backslashreplace"))


def solver_version(told: Account) -> str | None:
    """Ask the program of the command for its version; None if it does not answer."""
    name = program(told)
    found = None if name is None else shutil.which(name)
    if found is None:
        return None
    option = VERSION_OPTIONS.get(Path(found).name, "--version")
    try:
        done = subprocess.run(
            [found, option],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout[:20_000].decode("utf-8", "backslashreplace") if not done.returncode else None
