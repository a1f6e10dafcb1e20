"""`reducekit generate FORMAT`: write random inputs to standard output, a file or a folder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import Any

import click

from reducekit import registry
from reducekit.cli.command import Coloured, Command, adding, click_option, file, number
from reducekit.cli.process import (
    INTERRUPTED,
    STANDARD_OUTPUT,
    Interrupts,
    ProcessContext,
    print_bytes,
    say,
)
from reducekit.errors import UsageError
from reducekit.hunt.inputs import generating_formats, generation_of
from reducekit.offers import Generation, InputGenerator
from reducekit.option import Option
from reducekit.session.place.output import OutputFile, make_folder, write_file


class LazyGroup(Coloured, click.Group):
    """A group whose commands `load` returns by name; `names` is called for help and messages."""

    def __init__(
        self,
        *arguments: Any,
        names: Callable[[], Sequence[str]],
        load: Callable[[str], click.Command | None],
        **options: Any,
    ) -> None:
        super().__init__(*arguments, **options)
        self._names = names
        self._load = load

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names."""
        return sorted(self._names())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load a command; None if there is no such name."""
        return self._load(cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; the error for an unknown one lists the commands."""
        name = args[0]
        command = None if name.startswith("-") else self.get_command(ctx, name)
        if command is not None or ctx.resilient_parsing:
            return name, command, args[1:]
        known = self.list_commands(ctx)
        close = get_close_matches(name, known, 1)
        hint = f". Did you mean {close[0]}?" if close else ""
        raise click.UsageError(f"Unknown command {name!r}. Commands: {', '.join(known)}{hint}", ctx)


def seed_option(generation: Generation) -> Option:
    """Return the option for the seed."""
    return number(
        "seed",
        f"Seed of the first {generation.noun}.",
        generation.default_seed,
        short="s",
        group="Inputs",
    )


def _command_for(name: str) -> click.Command | None:
    if name not in registry.names(registry.FRONTENDS):
        return None
    generation = generation_of(name)
    if generation is None:
        return None

    @click.pass_obj
    def callback(process: ProcessContext, /, **values: Any) -> int:
        formats = {each.name: values[each.name] for each in generation.options}
        with generation.make({**formats, "seed": values["seed"]}) as generator:
            for note in generator.notes:
                say(f"reducekit: note: {note}")
            return _write_all(generator, generation.noun, values, process.interrupts)

    shown = (replace(each, rare=False) for each in generation.options)  # there are no others
    formats = (click_option(each, "Inputs") for each in shown)
    noun = generation.noun
    destination = (
        file("output", "Where to write; default: standard output.", short="o"),
        number(
            "count",
            f"Make N {noun}s, with seeds from --seed on; with --dir.",
            least=1,
            most=10_000_000,
        ),
        file(
            "folder",
            f"The folder for these {noun}s, named by their seeds; it is made if need be.",
            metavar="DIR",
            spelled="dir",
        ),
    )
    what = f"{noun}s" if noun == name else f"{name} {noun}s"
    words = f"Generate random {what}. The same options give the same bytes."
    add_options = adding((seed_option(generation), *formats, *destination))
    return click.command(
        name, cls=Command, respelled=generation.respelled, help=f"{words}\n\n{generation.help}"
    )(add_options(callback))


@click.group("generate", cls=LazyGroup, names=generating_formats, load=_command_for)
def generate() -> None:
    """Generate random inputs: the same options give the same files."""


def _write_all(
    generator: InputGenerator, noun: str, values: dict[str, Any], interrupts: Interrupts
) -> int:
    output, count, folder = values["output"], values["count"], values["folder"]
    if (count is None) != (folder is None):
        raise UsageError(f"--count and --dir go together: many {noun}s want a folder")
    if folder is not None and output is not None:
        raise UsageError(f"-o is for one {noun}: it does not go with --dir")
    if output == STANDARD_OUTPUT:
        output = None
    if output is not None:
        OutputFile(output)  # tries it out
    written, count = 0, count or 1
    try:
        for seed in range(values["seed"], values["seed"] + count):
            with interrupts.allowed():
                made = generator.generate(seed)
                if made.note:
                    say(f"reducekit: {made.note}")
            if folder is not None:
                make_folder(folder)
                write_file(folder / f"{seed}{generator.suffix}", made.text)
            elif output is not None:
                write_file(output, made.text)
            else:
                print_bytes([made.text])
            written += 1
    except KeyboardInterrupt:
        if not written:
            raise
        say(f"reducekit: interrupted: {written:,} of {count:,} {noun}s written")
        return INTERRUPTED
    return 0
