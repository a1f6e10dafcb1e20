"""`reducekit FORMAT INPUT --cmd CMD`: reduce a file of a format and print the summary."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import sys
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import click

from reducekit import registry
from reducekit.cli.command import PATH, Command, adding, click_option, declared, file, flag
from reducekit.cli.live import watch
from reducekit.cli.process import (
    INTERRUPTED,
    STANDARD_INPUT,
    STANDARD_OUTPUT,
    STOPPED_EARLY,
    ProcessContext,
    has_colours,
    print_bytes,
    read_text,
    say,
)
from reducekit.errors import NotInterestingError, ParseError, UsageError
from reducekit.format import Format
from reducekit.session import Failure, Options, Session
from reducekit.session.place.inputs import earlier_run, naming, refuse_blank, refuse_other_format
from reducekit.session.report import Report
from reducekit.usage.messages import ending, summary

_BINARY = b"\x7fELF"

_SHOWING = (
    flag("check", "Validate INPUT and exit.", group="Output"),
    file("report", "Write an HTML report.", group="Output"),
    flag("tui", "Show the run full-screen (or press t).", rare=True, group="Output"),
    flag("json", "Print the summary as JSON.", group="Output"),
    flag("quiet", "Print neither progress nor summary.", short="q", group="Output"),
)


INPUT_AND_WORDS = (
    click.argument("input", type=PATH),
    click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="[-- COMMAND]"),
)


def failure_from(values: Mapping[str, Any]) -> Failure:
    """Collect the options for the failure to preserve from a command's parameters."""
    return Failure(**_values(Failure, values), command=_command(values))


def options_from(values: Mapping[str, Any], frontend: Format) -> Options:
    """Collect the options of a session from a command's parameters. Raises UsageError."""
    chosen = _values(Options, values)
    words = values["words"]
    enough = 1 if values["command"] or values["oracle"] else 2
    if enough > 1:
        _refuse_script(values["input"], words)
    if not frontend.several and os.path.isdir(values["input"]):
        raise UsageError(f"the input {values['input']} is a directory: name a file")
    more = _more_inputs(words, enough)
    if more and not frontend.several and os.path.getsize(more[0]):
        raise UsageError(
            f"{words[0]} exists and is not a result of reducekit. Leave it out, as only `reducekit "
            f"text` reduces several files; or type -o {shlex.quote(words[0])} to write there, and "
            "rename what is there"
        )
    more = more if frontend.several else ()
    chosen["more_inputs"], words = more, words[len(more) :]
    if more and words and enough == 1:
        raise UsageError(f"the input {words[0]} does not exist")
    program = len(words) >= enough and shutil.which(os.path.expanduser(words[0]))
    if not chosen["output"] and len(words) >= enough and not program:
        # As ddSMT spells it: the input, the output, the command.
        chosen["output"], words = Path(words[0]), words[1:]
    if chosen["jobs"] is None:
        # On a cluster 1 stands for all that its workers can run.
        chosen["jobs"] = 1 if values["cluster"] else _usual_jobs(values, words)
    if chosen["input"] == STANDARD_INPUT:
        chosen["input"], chosen["name"] = read_text(STANDARD_INPUT), "standard input"
        chosen["output"] = chosen["output"] or STANDARD_OUTPUT
    return Options(format=frontend, **chosen, command=_command({**values, "words": words}))


def _usual_jobs(values: Mapping[str, Any], words: Sequence[str]) -> int:
    """Return the default number of parallel checks: 1 for scripts, as they may share files."""
    if values["oracle"] or values["shell"] or values["slower_than"]:
        return 1
    try:
        program = (shlex.split(values["command"]) if values["command"] else words)[0]
        with open(shutil.which(os.path.expanduser(program)) or "", "rb") as file:
            return 2 if file.read(len(_BINARY)) == _BINARY else 1
    except (OSError, ValueError, IndexError):
        return 1


def _refuse_script(path: Path, words: Sequence[str]) -> None:
    """Raise UsageError for a test before the input, as C-Vise and Shrink Ray have them."""
    if words and os.access(path, os.X_OK) and os.path.isfile(path) and os.path.exists(words[0]):
        with open(path, "rb") as file:
            if file.read(2) == b"#!":
                test = path if "/" in str(path) else f"./{path}"
                raise UsageError(
                    f"{path} is a script: for a test, name the input first: {shlex.join(words)} "
                    f"--oracle {test}"
                )


def _more_inputs(words: Sequence[str], enough: int) -> tuple[Path, ...]:
    """Return the paths after the input that are there: an output without -o is new, or a result.

    With `enough` above one, the command is also among the words.
    """
    found = list[Path]()
    for word in words:
        path = Path(word)
        program = enough > 1 and path.is_file() and shutil.which(os.path.expanduser(word))
        if not os.path.exists(path) or program or earlier_run(path) is not None:
            break
        found.append(path)
    return tuple(found)


def _values(cls: type, values: Mapping[str, Any]) -> dict[str, Any]:
    names = {field.name for field in fields(cls)} - {"command"}
    return {name: values[name] for name in names & values.keys()}


def _command(values: Mapping[str, Any]) -> str | Sequence[str] | None:
    words = values.get("words", ())
    if values["command"] and words:
        raise UsageError("--cmd and the command after -- are mutually exclusive: give one")
    return values["command"] or words or None


class _Reducer(Command):
    """A command whose help lists the algorithms, those of plug-ins too, when it is printed."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        self.epilog = f"Algorithms: {', '.join(registry.names(registry.STRATEGIES))}."
        super().format_epilog(ctx, formatter)


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

    formats = (click_option(each, "Format") for each in frontend.options)
    add_options = adding((*INPUT_AND_WORDS, *declared(Options), *_SHOWING, *formats))
    return click.command(
        name,
        cls=_Reducer,
        respelled=frontend.respelled,
        reduces=True,
        examples=frontend.examples
        or (
            f"reducekit {name} in{frontend.suffix} --cmd './solver --opt'",
            f"reducekit {name} in{frontend.suffix} --oracle ./test.sh -o small{frontend.suffix}",
        ),
        help=f"Reduce {frontend.title or name} and keep the failure.\n\n{frontend.help}".strip(),
    )(add_options(callback))


class _Reported(NotInterestingError):
    reported = True


def check(frontend: Format, path: Path, process: ProcessContext, *, quiet: bool) -> int:
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
    """Run a session, show it, print its report, write its `page`; return the exit code."""
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
        from reducekit.cli.journals import write_page  # takes a tenth of the time to start

        write_page(report.output, page)
    if filters:
        print_bytes([report.text])
    if json:
        print(report.json())
    elif not quiet:
        stream: Any = sys.stderr if filters else sys.stdout
        if stream.isatty():
            said = ending(report, colour=has_colours(stream), journal=options.journal)
            print(said, file=getattr(stream, "styled", stream))
        else:
            print(summary(report), file=stream)
    return exit_code(report)


def exit_code(report: Report[bytes]) -> int:
    """Return the exit code of a reduction. Raises NotInterestingError for an unstable result."""
    if report.interrupted:
        return INTERRUPTED
    if report.verified is False:
        raise _Reported(
            f"{report.output or 'the result'} did not show the failure in any of {report.tries} "
            "more runs: the command does not always end the same way"
        )
    return STOPPED_EARLY if report.early else 0
