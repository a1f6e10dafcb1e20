"""The commands, and what becomes of the errors that they raise."""

from __future__ import annotations

import os
import platform
import sys
import tempfile
import traceback
from dataclasses import dataclass
from importlib import import_module

import click

from reducekit import __version__
from reducekit.cli import INTERRUPTED, NOTHING_YET
from reducekit.cli.interrupts import Interrupts
from reducekit.cli.streams import say
from reducekit.errors import ReducekitError

_COMMANDS = {
    "btor": "Reduce a BTOR or BTOR2 file.",
    "compare": "Compare algorithms on files of your own.",
    "convert": "Convert between BTOR dialects, and to SMT-LIB v2.",
    "generate": "Generate random inputs.",
    "history": "List, restore and compare the accepted steps of a reduction.",
    "hunt": "Look for failures on random inputs, and reduce them.",
    "replay": "Replay an API trace.",
    "show": "Show what a BTOR file is made of, or draw it.",
    "smt2": "Reduce an SMT-LIB v2 script.",
    "trace": "Reduce a trace of API calls.",
}
_INTERNAL = 4


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the process was given: signals, and whether somebody can read its output."""

    interrupts: Interrupts
    output_open: bool


class _Lazy(click.Group):
    """Loads a command's module when the command is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        command = import_module(f"reducekit.cli.{cmd_name}").command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what the commands do without loading them."""
        with formatter.section("Commands"):
            formatter.write_dl(sorted(_COMMANDS.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name in _COMMANDS or name.startswith("-"):
            return super().resolve_command(ctx, args)
        known = ", ".join(sorted(_COMMANDS))
        hint = f"; did you mean: reducekit smt2 {name} ...?" if os.path.exists(name) else ""
        raise click.UsageError(f"There is no command {name!r} (there is: {known}){hint}", ctx)


@click.group(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="%(prog)s %(version)s")
def reducekit() -> None:
    """Find the smallest input on which a solver still fails."""


def invoke(arguments: list[str], surroundings: Surroundings) -> int:
    """Run a command; return the exit code. Errors are said here, each in one message."""
    try:
        # Not click's main(): that ends the process itself when an output breaks.
        with reducekit.make_context("reducekit", list(arguments), obj=surroundings) as context:
            code = reducekit.invoke(context)
        return code if isinstance(code, int) else 0
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        say(error.format_message())
        return error.exit_code
    except click.ClickException as error:
        context_of = getattr(error, "ctx", None)
        usage = f"{context_of.get_usage()}\n" if context_of is not None else ""
        say(f"{usage}reducekit: {error.format_message()}")
        return error.exit_code
    except ReducekitError as error:
        say("\n".join([f"reducekit: {error}", *getattr(error, "__notes__", ())]))
        return error.exit_code
    except KeyboardInterrupt:
        say(NOTHING_YET)
        return INTERRUPTED
    except Exception as error:
        return _bug(error)


def _bug(error: Exception) -> int:
    """Say that there is a bug of ours, and leave what helps to find it."""
    if isinstance(error, MemoryError):
        say("\n".join(["reducekit: out of memory", *getattr(error, "__notes__", ())]))
        return _INTERNAL
    details = "".join(
        [
            f"reducekit {__version__}, Python {platform.python_version()}, {platform.platform()}\n",
            f"{sys.argv}\n",
            *traceback.format_exception(error),
        ]
    )
    try:
        with tempfile.NamedTemporaryFile(
            "w", prefix="reducekit-bug-", suffix=".txt", delete=False, errors="backslashreplace"
        ) as file:
            file.write(details)
        where = f"the traceback is in {file.name}"
    except OSError:
        where = details.rstrip()
    notes = getattr(error, "__notes__", ())
    said = str(error).partition("\n")[0]
    summary = type(error).__name__ + (f": {said}" if said else "")
    say(
        "\n".join(
            [f"reducekit: a bug in reducekit, please report it: {summary}", f"  {where}", *notes]
        )
    )
    return _INTERNAL
