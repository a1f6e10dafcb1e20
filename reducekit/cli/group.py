"""The commands, and the handling of their errors."""

from __future__ import annotations

import itertools
import os
import shlex
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from reducekit import NOTHING_YET, registry
from reducekit.cli.command import Coloured, files, for_file
from reducekit.cli.process import INTERRUPTED, ProcessContext, say
from reducekit.errors import ReducekitError, lack_of_resources, missing_package
from reducekit.runtime import __version__, loading

_COMMANDS = {
    "bisect": "Find the solver version that introduced a failure.",
    "compare": "Compare algorithms on your files.",
    "completion": "Print the completion for a shell.",
    "convert": "Convert between formats.",
    "generate": "Generate random inputs.",
    "history": "List, restore and compare the accepted steps of a reduction.",
    "hunt": "Fuzz solvers with random inputs, and reduce the failures.",
    "report": "Write an HTML report or a bug report of a reduction.",
    "man": "Print the manual page.",
    "passes": "List the passes that reduce files of a format.",
    "replay": "Replay an API trace.",
    "variant": "Write a variant of a file, as --unstable runs it.",
    "ui": "Open the page in a browser.",
    "show": "Print statistics of a file, or draw it.",
}
"""The commands that do not belong to a format."""
_MODULES = {
    "completion": "about", "man": "about", "passes": "about", "history": "journals",
    "report": "journals", "convert": "files", "show": "files", "variant": "files",
}  # fmt: skip
"""The modules of commands, if these have not their names."""
TITLES = {
    "aiger": "an AIGER file, text or binary",
    "btor": "a BTOR or BTOR2 file",
    "smt2": "an SMT-LIB v2 script",
    "cnf": "a DIMACS file: CNF, WCNF, QDIMACS, DQDIMACS, ICNF, XCNF or KNF",
    "opb": "pseudo-Boolean constraints in OPB or WBO",
    "qcir": "a quantified circuit in QCIR",
    "isolate": "the difference between a file that fails and one that passes",
    "text": "any text, by its structure",
    "trace": "a trace of API calls",
}
"""The titles of built-in formats, so that the help need not import them; a test compares them."""
_INTERNAL = 4


class _Commands(Coloured, click.Group):
    """The commands of this package, and one for each registered format; loaded when used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*_COMMANDS, *registry.names(registry.FRONTENDS)})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in _COMMANDS:
            with loading():
                module = import_module(f"reducekit.cli.{_MODULES.get(cmd_name, cmd_name)}")
            command = getattr(module, cmd_name)
            assert isinstance(command, click.Command)
            return command
        if registry.known(registry.FRONTENDS, cmd_name):
            with loading():
                from reducekit.cli.reduce import command_for

                return command_for(cmd_name)
        return None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Reduce a file"):
            formatter.write_dl(
                (name, TITLES.get(name) or registry.frontend_class(name).title)
                for name in registry.names(registry.FRONTENDS)
            )
        with formatter.section("Commands"):
            formatter.write_dl(sorted(_COMMANDS.items()))

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        name = ctx.command_path
        formatter.write(f"Usage: {name} FILE --cmd CMD\n")
        formatter.write(f"       {name} COMMAND [OPTIONS] [ARGS]...\n")

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        return [*super().shell_complete(ctx, incomplete), *files(incomplete)]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args[:1] == ["help"] and not any(each.startswith("-") for each in args):
            args = [*args[1:], "--help"]
        elif args == ["version"] or (args[-1:] in (["-V"], ["--version"]) and len(args) <= 3):
            args = ["--version"]  # also after a command, as in `hunt smt2 --version`
        words = list(args)
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            file = for_file(error.option_name, words)
            where = (
                f". {file}"
                if file
                else (
                    " here: options come after the command or the file, as in reducekit in.smt2 "
                    "--cmd ./solver --jobs 4."
                )
            )
            raise click.UsageError(f"No such option '{error.option_name}'{where}", ctx) from None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if ctx.resilient_parsing and not os.path.isfile(name):  # in shell completion
            return super().resolve_command(ctx, args)
        if name in _COMMANDS or registry.known(registry.FRONTENDS, name):
            return super().resolve_command(ctx, args)
        if os.path.exists(name) or name == "-":
            # A file in place of a command is reduced if its format is unambiguous.
            return super().resolve_command(ctx, [_format_of(name, args, ctx), *args])
        if "." in name or "/" in name:
            raise click.UsageError(f"{name} is neither a file nor a command.", ctx)
        import difflib  # here and below, modules that only an error needs

        known = self.list_commands(ctx)
        close = difflib.get_close_matches(name, known, 1)
        hint = f" Did you mean {close[0]}?" if close else ""
        raise click.UsageError(
            f"Unknown command {name!r}. Commands: {', '.join(known)}.{hint}", ctx
        )


def _format_of(path: str, arguments: Sequence[str], ctx: click.Context) -> str:
    from reducekit.cli.process import read_text
    from reducekit.session.place.inputs import format_of

    if os.path.isdir(path):
        return registry.ANY_TEXT
    data = read_text(Path(path))
    second = len(arguments) > 1 and os.path.exists(arguments[1])
    if second and data.startswith(b"#!") and "--oracle" not in arguments:
        # C-Vise and Shrink Ray take the arguments in this order: the test, the input.
        inputs = shlex.join(itertools.takewhile(os.path.exists, arguments[1:]))
        raise click.UsageError(
            f"{path} is a script: for a test, type reducekit {inputs} --oracle {path}", ctx
        )
    return format_of(Path(path), data)


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="FILE --cmd CMD takes the format from the file. Options of a command: reducekit smt2 "
    "--help",
)
@click.version_option(__version__, "-V", "--version", message="%(prog)s %(version)s")
def reducekit() -> None:
    """Find the smallest input on which a solver still fails."""


def invoke(arguments: list[str], process: ProcessContext) -> int:
    """Run a command; return the exit code. Errors are printed here, one message each."""
    try:
        # Not click's main(), which ends the process itself when an output breaks.
        with reducekit.make_context("reducekit", list(arguments), obj=process) as context:
            code = reducekit.invoke(context)
        return code if isinstance(code, int) else 0
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        say(error.format_message())
        return error.exit_code
    except click.ClickException as error:
        message, code = error.format_message(), error.exit_code
        at = getattr(error, "ctx", None)
        usage = "" if at is None else f"{at.get_usage()}\n"
        more = "" if at is None else f"\nTry '{at.command_path} --help'."
        say(f"{usage}reducekit: {message}{more}")
    except ReducekitError as error:
        message, code = _answer(error), error.exit_code
        if getattr(error, "reported", False):
            return code
    except KeyboardInterrupt:
        say(NOTHING_YET)
        message, code = "interrupted", INTERRUPTED
    except Exception as error:
        lacking = lack_of_resources(error) or missing_package(error)
        if lacking is None:
            message, code = str(error) or type(error).__name__, _bug(error)
        else:
            message, code = _answer(lacking), lacking.exit_code
    if "--json" in itertools.takewhile(lambda word: word != "--", arguments):
        from reducekit.session.report import error_json

        print(error_json(message, code))
    return code


def _answer(error: ReducekitError) -> str:
    """Print an error with its hints; return its message, with options as on the command line."""
    try:
        from reducekit.usage.messages import explained, spelled  # slow to import, rarely needed
    except (OSError, MemoryError):  # no file can be opened: this is what the error says
        say("\n".join([f"reducekit: {error}", *getattr(error, "__notes__", ())]))
        return str(error)
    say(f"reducekit: {explained(error)}")
    return spelled(str(error))


def _bug(error: Exception) -> int:
    """Report an internal error, and save the details that help to find the bug."""
    import platform
    import tempfile
    import traceback

    machine = f"Python {platform.python_version()}, {platform.platform()}"
    trace = "".join(traceback.format_exception(error))
    details = f"reducekit {__version__}, {machine}\n{sys.argv}\n{trace}"
    try:
        with tempfile.NamedTemporaryFile(
            "w", prefix="reducekit-bug-", suffix=".txt", delete=False, errors="backslashreplace"
        ) as file:
            file.write(details)
        where = f"the traceback is in {file.name}"
    except OSError:
        where = details.rstrip()
    said = str(error).partition("\n")[0]
    summary = type(error).__name__ + (f": {said}" if said else "")
    lines = [f"reducekit: a bug in reducekit, please report it: {summary}", f"  {where}"]
    say("\n".join([*lines, *getattr(error, "__notes__", ())]))
    return _INTERNAL
