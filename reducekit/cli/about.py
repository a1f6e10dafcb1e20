"""Commands about this program: `completion`, `passes`, and `man`, made from the options."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import click
from click.shell_completion import get_completion_class, shell_complete

from reducekit import registry
from reducekit.cli.command import Command, adding
from reducekit.option import Option
from reducekit.runtime import __version__
from reducekit.session.phases.prepare import described

VARIABLE = "_REDUCEKIT_COMPLETE"  # set by the shell while it completes, to its own name
_EXITS = (
    ("0", "done"),
    ("1", "the input does not fail, or not every time"),
    ("2", "a wrong option, file or command"),
    ("3", "the input does not parse"),
    ("4", "a bug in reducekit"),
    ("5", "stopped early; the best result is saved"),
    ("6", "the machine lacks memory, disk space, open files, processes or workers"),
    ("130", "interrupted; the best result is saved"),
)


@click.command("completion", cls=Command)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> int:
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


@click.command("passes", cls=Command)
@click.argument("name", metavar="FORMAT")
@adding([Option("strategy", "The algorithm.", default=registry.DEFAULT, metavar="NAME")])
def passes(name: str, strategy: str) -> int:
    """List the passes that reduce files of FORMAT, in their order.

    Use their names with --only and --without when reducing.
    """
    rows = described(name, strategy)
    width = max(len(each) for _, names in rows for each, _ in names)
    for stage, names in rows:
        print(f"{stage}:")
        for each, what in names:
            print(f"  {each:<{width}}  {what}".rstrip())
    return 0


class Section(NamedTuple):
    """A part of the page: what it is about, paragraphs, and options with what they do."""

    title: str
    paragraphs: Sequence[str] = ()
    options: Sequence[tuple[str, str]] = ()
    level: int = 1


@click.command("man", cls=Command)
@click.pass_context
def man(ctx: click.Context) -> int:
    """Print the manual page: reducekit man | man -l -"""
    print(manual("reducekit", __version__, _sections(ctx.find_root())), end="")
    return 0


def _sections(root: click.Context) -> Iterator[Section]:
    group = root.command
    assert isinstance(group, click.Group)
    yield Section("NAME", ["reducekit - find the smallest input on which a solver still fails"])
    yield Section(
        "SYNOPSIS",
        ["reducekit [FORMAT] INPUT --cmd CMD [OPTIONS]", "reducekit COMMAND [OPTIONS] ..."],
    )
    formats = registry.names(registry.FRONTENDS)
    rows = {name: _options(group, root, name) for name in formats}
    common = [
        each for each in rows[formats[0]] if each in set.intersection(*map(set, rows.values()))
    ]
    yield Section("OPTIONS OF ALL FORMATS", options=common)
    yield Section("FORMATS")
    for name in formats:
        own = [each for each in rows[name] if each not in common]
        yield Section(name, _paragraphs(group, root, name), own, level=2)
    yield Section("COMMANDS")
    for name in group.list_commands(root):
        if name not in formats:
            yield from _of_command(group, root, name)
    yield Section("EXIT STATUS", options=_EXITS)


def _of_command(group: click.Group, ctx: click.Context, name: str) -> Iterator[Section]:
    found = group.get_command(ctx, name)
    assert found is not None
    inner = click.Context(found, parent=ctx, info_name=name)
    path = inner.command_path.removeprefix("reducekit ")
    yield Section(path, _paragraphs(group, ctx, name), _options(group, ctx, name), level=2)
    if isinstance(found, click.Group):
        for each in found.list_commands(inner):
            yield from _of_command(found, inner, each)


def _paragraphs(group: click.Group, ctx: click.Context, name: str) -> list[str]:
    found = group.get_command(ctx, name)
    return [] if found is None else (found.help or "").split("\n\n")


def _options(group: click.Group, ctx: click.Context, name: str) -> list[tuple[str, str]]:
    found = group.get_command(ctx, name)
    assert found is not None
    inner = click.Context(found, parent=ctx, info_name=name)
    rows = (each.get_help_record(inner) for each in found.params)
    return [each for each in rows if each is not None and each[1]]


def manual(name: str, version: str, sections: Iterable[Section]) -> str:
    """Return a manual page of section 1."""
    lines = [f'.TH {name.upper()} 1 "" "{name} {version}" "User Commands"']
    for section in sections:
        lines.append(f'.{"SH" if section.level == 1 else "SS"} "{_plain(section.title)}"')
        for number, paragraph in enumerate(section.paragraphs):
            if number:
                lines.append(".PP")
            lines.append(_line(paragraph))
        for spelled, what in section.options:
            lines += [".TP", rf"\fB{_plain(spelled)}\fR", _line(what)]
    return "\n".join(lines) + "\n"


def _plain(text: str) -> str:
    return " ".join(text.split()).replace("\\", r"\e").replace("-", r"\-").replace('"', r"\(dq")


def _line(text: str) -> str:
    """Return a text that roff does not take for a request, whatever it begins with."""
    return rf"\&{_plain(text)}"
