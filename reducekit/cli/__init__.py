"""The command line: `reducekit FORMAT INPUT --cmd CMD`."""

from __future__ import annotations

import os
import sys
from importlib import import_module

import click

from reducekit import __version__
from reducekit.errors import ReducekitError

_COMMANDS = {"smt2": "reduce an SMT-LIB v2 script"}


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


@click.group(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__)
def reducekit() -> None:
    """Find the smallest input on which a solver still fails."""


def main() -> None:
    """Run the command line; every error a user can cause is one message and an exit code."""
    try:
        code = reducekit(standalone_mode=False)
    except click.exceptions.Abort:
        code = 130
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except ReducekitError as error:
        print(f"reducekit: {error}", file=sys.stderr)
        code = error.exit_code
    except KeyboardInterrupt:
        print("reducekit: interrupted before there was a result", file=sys.stderr)
        code = 130
    except BrokenPipeError:  # whoever read our output has gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    sys.exit(code)
