"""`reducekit FORMAT INPUT --cmd CMD`: reduce a file of a format and print the summary."""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from typing import Any

import click

from reducekit import registry
from reducekit.cli.command import Command, same
from reducekit.cli.interrupts import INTERRUPTED, STOPPED_EARLY, ProcessContext
from reducekit.cli.live import watch
from reducekit.cli.options import adding, format_option
from reducekit.cli.reduce_options import options_from, reduce_options
from reducekit.cli.streams import STANDARD_OUTPUT, print_bytes, read_text, say
from reducekit.errors import NotInterestingError, ParseError, UsageError
from reducekit.frontend import Frontend
from reducekit.offers import Respells
from reducekit.session import Options, Session
from reducekit.session.place.inputs import naming, refuse_blank, refuse_other_format
from reducekit.session.report import Report
from reducekit.usage.summary import summary


def command_for(name: str) -> click.Command:
    """Return the command that reduces files of a registered format."""
    frontend = registry.frontend_class(name)

    @click.pass_obj
    def callback(process: ProcessContext, /, **values: Any) -> int:
        chosen = {each.name: values.pop(each.name) for each in frontend.options}
        json, quiet = values["json"], values["quiet"]
        if json and not process.output_open:
            raise UsageError("standard output is closed: --json has nowhere to go")
        made = frontend(**chosen)
        if values["check"]:
            return check(made, values["input"], process, quiet=quiet)
        with process.interrupts.allowed():
            options, page = options_from(values, made), values["report"]
        return run(options, process, json=json, quiet=quiet, page=page, tui=values["tui"])

    add_options = adding((reduce_options, *map(format_option, frontend.options)))
    return click.command(
        name,
        cls=Command,
        respelled=frontend.respelled if issubclass(frontend, Respells) else same,
        reduces=True,
        examples=frontend.examples
        or (
            f"reducekit {name} in{frontend.suffix} --cmd './solver --opt'",
            f"reducekit {name} in{frontend.suffix} --oracle ./test.sh -o small{frontend.suffix}",
        ),
        help=f"Reduce {frontend.title or name} and keep the failure.\n\n{frontend.help}".strip(),
        epilog=f"Algorithms: {', '.join(registry.names(registry.STRATEGIES))}.",
    )(add_options(callback))


class _Told(NotInterestingError):
    """An error that came after the summary was printed."""

    told = True


def check(frontend: Frontend, path: Path, process: ProcessContext, *, quiet: bool) -> int:
    """Print whether a file follows the rules of its format; return the exit code."""
    with process.interrupts.allowed():
        text = read_text(path)
    with naming(str(path)):
        refuse_blank(text)
        refuse_other_format(frontend, text, str(path))
        found = frontend.check(text)
    for problem in found.problems:
        say(f"{path}, {problem}")
    for note in () if quiet else found.notes:
        say(f"note: {path}, {note}")
    if not found.problems and not quiet:
        print(f"{path}: {found.summary}")
    return ParseError.exit_code if found.problems else 0


def run(
    options: Options,
    process: ProcessContext,
    *,
    json: bool,
    quiet: bool,
    page: Path | None = None,
    tui: bool = False,
) -> int:
    """Run a session, show it, print its report; return the exit code.

    `page` is the path of the HTML report, if one is wanted; `tui` shows the full screen.
    """
    if quiet and tui:
        raise UsageError("--tui and --quiet are mutually exclusive: give one")
    filters = options.output == STANDARD_OUTPUT
    if page is not None and (filters or not options.journal):
        with_ = "-o -" if filters else "--no-journal"
        raise UsageError(f"--report is drawn from the journal: it does not go with {with_}")
    if filters and json:
        raise UsageError("--json and -o - are mutually exclusive: both write to standard output")
    if filters and not process.output_open:
        raise UsageError("standard output is closed: name a file with -o")
    with watch(options, process.interrupts, quiet=quiet, tui=tui) as watcher:
        session = Session(options, watcher.see, guard=process.interrupts)
        watcher.steer(session)
        signal.signal(signal.SIGCONT, lambda *_: session.continued())
        report = session.run()
    if page is not None and report.output is not None:
        from reducekit.cli.report import write_page  # takes a tenth of the time to start

        write_page(report.output, page)
    if filters:
        print_bytes([report.text])
    if json:
        print(report.json())
    elif not quiet:
        print(summary(report), file=sys.stderr if filters else sys.stdout)
    return exit_code(report)


def exit_code(report: Report[bytes]) -> int:
    """Return the exit code of a reduction. Raises NotInterestingError for an unstable result."""
    if report.interrupted:
        return INTERRUPTED
    if report.verified is False:
        raise _Told(
            f"{report.output or 'the result'} did not show the failure in any of {report.tries} "
            "more runs: the command does not always end the same way"
        )
    return STOPPED_EARLY if report.early else 0
