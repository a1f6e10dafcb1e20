"""`reducekit completion SHELL`: completion of commands, options and names in a shell."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class, shell_complete

from reducekit.cli.command import Command

VARIABLE = "_REDUCEKIT_COMPLETE"
"""Set by the shell while it completes, to its own name."""


@click.command("completion", cls=Command)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(ctx: click.Context, shell: str) -> int:
    """Print the completion for a shell.

    bash: eval "$(reducekit completion bash)" in ~/.bashrc; zsh: the same in ~/.zshrc; fish:
    reducekit completion fish > ~/.config/fish/completions/reducekit.fish
    """
    found = get_completion_class(shell)
    assert found is not None
    print(found(ctx.find_root().command, {}, "reducekit", VARIABLE).source())
    return 0


def complete(instruction: str) -> int:
    """Print completions for the shell; return the exit code."""
    from reducekit.cli.group import reducekit

    return shell_complete(reducekit, {}, "reducekit", VARIABLE, instruction)
