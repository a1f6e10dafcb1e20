"""`reducekit hunt FORMAT`: fuzz solvers with random inputs, and reduce what fails."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import click

from reducekit import registry
from reducekit.cli.command import Command, adding, click_option, declared, file, flag, same
from reducekit.cli.generate import LazyGroup, seed_option
from reducekit.cli.process import INTERRUPTED, ProcessContext, say
from reducekit.errors import UsageError
from reducekit.executors.own import Testing
from reducekit.hunt import Hunt, HuntOptions, HuntStats
from reducekit.hunt.events import (
    HuntEvent,
    HuntNotice,
    InputTested,
    NewBug,
    Reduced,
    to_json,
    to_junit,
)
from reducekit.hunt.inputs import generation_of
from reducekit.offers import Generation
from reducekit.option import Option, options_of
from reducekit.session.place.output import write_file
from reducekit.text import counted, shortened
from reducekit.usage.messages import spelled

NEW_BUG = 1  # the exit code of a hunt that has found a bug, if that was to be an error
_SILENCE = 30.0  # seconds after which there is a sign of life
_TITLE = 200  # characters of a failure that are shown; its file has all of them

_CHANGES = "Change the files of --seeds slightly, and test the results."

_SHOWING = (
    flag("json", "Print the summary as JSON.", group="Output"),
    file("junit", "Write the bugs as failed tests for a CI server (XML).", group="Output"),
    flag("fail", "Exit with 1 if a bug is new.", group="Output"),
    flag("quiet", "Print only the summary.", short="q", group="Output"),
)


def _names() -> list[str]:
    return [name for name in registry.names(registry.FRONTENDS) if _can_hunt(name)]


def _can_hunt(name: str) -> bool:
    """Return whether hunts need no option of the format, such as a second file."""
    return not any(each.required for each in registry.frontend_class(name).options)


def _command_for(name: str) -> click.Command | None:
    if name not in registry.names(registry.FRONTENDS) or not _can_hunt(name):
        return None
    frontend = registry.frontend_class(name)
    generation = generation_of(name)
    testing: Testing | None = frontend.testing()

    @click.pass_obj
    def callback(process: ProcessContext, /, **values: Any) -> int:
        if values["json"] and not process.output_open:
            raise UsageError("standard output is closed: --json has nowhere to go")
        options = _options(name, values, generation, testing)
        hunt = Hunt(options, _listener(quiet=values["quiet"]), guard=process.interrupts)
        stats = hunt.run()
        if values["junit"] is not None:
            write_file(values["junit"], to_junit(stats, f"reducekit hunt {name}"))
        print(to_json(stats) if values["json"] else summary(stats))
        return exit_code(stats, fail=values["fail"])

    seed = () if generation is None else (seed_option(generation),)
    made: list[Option] = []
    if generation is not None:  # of its options, --seeds and this flag make it mutate files
        flag = {"kind": "flag", "default": False, "metavar": "", "help": _CHANGES}
        changes = generation.changes
        made += [replace(o, **flag) if o.name == changes else o for o in generation.options]  # type: ignore[arg-type]
    own = () if testing is None else testing.options
    formats = (click_option(each, "Inputs") for each in (*own, *made))
    add_options = adding((*declared(HuntOptions), *_SHOWING, *seed, *formats))
    paragraphs = (
        f"Run solvers on random {name} inputs; report crashes and disagreements.",
        "" if testing is None else testing.help,
        "Keeps one input for each kind of failure, with the commands that make and run it, and "
        "reduces it.",
    )
    files = generation is None or generation.asked_by
    amount = "--seeds inputs" if files else "--count 20"
    return click.command(
        name,
        cls=Command,
        short_help=f"Test solvers with random {name} inputs.",
        examples=(() if testing is None else testing.examples)
        or (
            f"reducekit hunt {name} --cmd ./solver {amount}",
            f"reducekit hunt {name} --cmd ./solver --cmd ./other {amount}",
        ),
        respelled=same if generation is None else generation.respelled,
        help="\n\n".join(filter(None, paragraphs)),
    )(add_options(callback))


@click.group("hunt", cls=LazyGroup, names=_names, load=_command_for)
def hunt() -> None:
    """Fuzz solvers with random inputs, and reduce what fails."""


def _options(
    name: str, values: dict[str, Any], generation: Generation | None, testing: Testing | None
) -> HuntOptions:
    names = {each.name for each in options_of(HuntOptions)} & values.keys()
    chosen = {name: values[name] for name in names if values[name] is not None}
    offers = (offer for offer in (generation, testing) if offer is not None)
    formats = {each.name: values[each.name] for offer in offers for each in offer.options}
    changes = None if generation is None else generation.changes
    if changes is not None:
        if values[changes] and "seeds" not in chosen:
            raise UsageError(f"`{changes}` requires `seeds`: the folder of files to change")
        formats[changes] = chosen.pop("seeds") if values[changes] else None
    return HuntOptions(**chosen, format=name, seed=values.get("seed"), format_options=formats)


def _listener(*, quiet: bool) -> Callable[[HuntEvent], None]:
    last = time.monotonic()

    def listen(event: HuntEvent) -> None:
        nonlocal last
        match event:
            case NewBug(bug, which):
                said = f" ({which})" if which else ""
                text = f"new: {shortened(bug.title, _TITLE)}{said}\n     {bug.path}"
            case Reduced(before=before, after=after, unit=unit):
                text = f"     reduced from {before:,} to {after:,} {unit}"
            case HuntNotice(note):
                text = f"reducekit: note: {spelled(note)}"
            case InputTested(stats) if time.monotonic() - last > _SILENCE:
                text = f"     {counted(stats.inputs, stats.noun)}, " + counted(
                    len(stats.bugs), "bug"
                )
            case _:
                return
        last = time.monotonic()
        if not quiet:
            say(text)

    return listen


def exit_code(stats: HuntStats, *, fail: bool = False) -> int:
    """Return the exit code: 0, unless the hunt was interrupted, lost a bug or tested nothing.

    With `fail` a new bug is an error, too.
    """
    if stats.stopped is not None:
        return INTERRUPTED
    if not stats.complete:
        return UsageError.exit_code
    if fail and not all(bug.known_before for bug in stats.bugs.values()):
        return NEW_BUG
    return UsageError.exit_code if stats.tested_nothing else 0


def summary(stats: HuntStats) -> str:
    """Describe the result of a hunt, the most frequent bug first."""
    bugs = sorted(stats.bugs.values(), key=lambda each: -each.count)
    head = f"{counted(stats.inputs, stats.noun)} in {stats.seconds:.1f} s"
    if stats.timeouts:
        head += f", {stats.timeouts:,} out of time"
    if stats.stopped is not None:
        head += f", {stats.stopped}"
    lines = [f"{head}: {counted(len(bugs), 'bug')}", *(f"  {each}" for each in stats.details)]
    for each in bugs:
        times = "once" if each.count == 1 else f"{each.count:,} times"
        lines.append(f"  {times}: {shortened(each.title, _TITLE)}")
        sizes = f"{each.size:,} bytes" + (", known before" if each.known_before else "")
        if each.reduced_size is not None:
            sizes += f", reduced to {each.reduced_size:,}"
        elif each.not_reduced:
            sizes += f", not reduced: {each.not_reduced}"
        lines.append(f"    {each.path} ({sizes})")
    return "\n".join(lines)
