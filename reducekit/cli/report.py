"""`reducekit report`: an HTML report of a reduction, or the text of a bug report."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import click

from reducekit.cli.command import Command
from reducekit.errors import UsageError
from reducekit.hunt.progress import bug_of
from reducekit.hunt.stats import Bug
from reducekit.oracle.command import PLACE
from reducekit.reports import Account, account, issue, page
from reducekit.reports.ending import ending
from reducekit.reports.issue import VERSION_OPTIONS, program
from reducekit.session.place.journal import open_history
from reducekit.session.place.output import write_file

_VERSION = 20_000  # bytes
_LINE = 120  # characters of its first line at most
_COMPLAINT = re.compile(
    r"(?i)error|cannot|could not|unable|unknown|invalid|unrecogni[sz]ed|usage|no such|not found"
)
_SECONDS = 5  # time limit for printing a solver's version


@click.command("report", cls=Command)
@click.argument("journal", type=click.Path(path_type=Path), metavar="JOURNAL_OR_OUTPUT")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="File to write (default: OUTPUT.html; with --issue, standard output).",
)
@click.option(
    "--issue",
    "as_issue",
    is_flag=True,
    help="Write a bug report instead, in the form for z3, cvc5, Bitwuzla or Boolector; runs the "
    "solver once for its version.",
)
def command(journal: Path, output: Path | None, as_issue: bool) -> int:
    """Write a report of a reduction, even if it was stopped or is still running.

    JOURNAL_OR_OUTPUT is a journal, the output of a reduction, or a file that was reduced to the
    default output, such as an input found by a hunt. The report is one HTML file that needs no
    network access: the curve, the costs and gains of each pass, the steps, the failure and how to
    reproduce it.
    """
    try:
        path, found = open_history(journal)
    except UsageError:
        _refuse_unreduced(journal)
        raise
    reduction = account(found, path)
    text = issue(reduction, solver_version(reduction)) if as_issue else page(reduction)
    if output is None:
        output = Path("-") if as_issue else path.with_name(f"{reduction.name}.html")
    if output == Path("-"):
        print(text, end="")
        return 0
    _write(output, text, journal=path)
    print(f"{output}: {len(text.encode()):,} bytes")
    return 0


def _refuse_unreduced(named: Path) -> None:
    """Raise UsageError if a hunt has found this file and not reduced it."""
    bug = bug_of(named)
    if bug is None:
        return
    why = f" ({bug.not_reduced})" if bug.not_reduced else ""
    raise UsageError(
        f"the hunt has not reduced {bug.path}{why}, so there is nothing to report. To reduce it:\n"
        f"  {_reduction(bug)}"
    )


def _reduction(bug: Bug) -> str:
    """Return the command line that reduces a bug of a hunt."""
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
    _write(output, page(account(found, path)), journal=path)


def _write(output: Path, text: str, *, journal: Path) -> None:
    if os.path.exists(output) and output.samefile(journal):
        raise UsageError(f"the output {output} is the journal itself: choose another")
    write_file(output, text.encode("utf-8", "backslashreplace"))


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
            timeout=_SECONDS,
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
