"""`reducekit hunt FORMAT`: look for failures on random inputs, and reduce what is new."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from reducekit import registry
from reducekit.cli.command import Command, same
from reducekit.cli.context import INTERRUPTED, ProcessContext
from reducekit.cli.format_options import format_option
from reducekit.cli.generate import seed_option
from reducekit.cli.lazy import LazyGroup
from reducekit.cli.options import CLUSTER, JOBS, MEGABYTES, PATH, SECONDS, Option, adding
from reducekit.cli.streams import say
from reducekit.errors import UsageError
from reducekit.frontend import Testing
from reducekit.hunt import Hunt, HuntOptions, HuntStats
from reducekit.hunt.events import HuntEvent, HuntNotice, InputTested, NewBug, Reduced
from reducekit.hunt.inputs import generation_of
from reducekit.hunt.report import to_json, to_junit
from reducekit.offers import Generation
from reducekit.session.output import write_file
from reducekit.text import shortened

_MEGABYTE = 1_000_000
_SILENCE = 30.0  # seconds after which there is a sign of life
_TITLE = 200  # characters of a failure that are shown; its file has all of them

_PROGRAMS: tuple[Option, ...] = (
    click.option(
        "--cmd",
        "programs",
        multiple=True,
        metavar="CMD",
        help="A program under test; several have to agree on sat and unsat.",
    ),
    click.option(
        "--reference", metavar="CMD", help="A program that is right where others disagree."
    ),
    click.option("--keep-timeouts", is_flag=True, help="A run that takes longer is a bug, too."),
    click.option(
        "--seeds",
        type=PATH,
        metavar="DIR",
        help="Test the files of this folder instead of random ones.",
    ),
)


def _common(noun: str, memory: int | None) -> tuple[Option, ...]:
    """Return the options of every hunt; they speak of inputs by that noun."""
    most = "" if memory is None else f"; default without --cmd: {memory // _MEGABYTE}"
    return (
        click.option(
            "--out",
            "folder",
            type=PATH,
            default=Path("failures"),
            show_default=True,
            metavar="DIR",
            help="The folder for the bugs; what it has is not reported as new again.",
        ),
        click.option(
            "--count",
            type=click.IntRange(min=1),
            metavar="N",
            help=f"Test N {noun}s; default: no end.",
        ),
        click.option("--max-time", type=SECONDS, metavar="S", help="Stop after S seconds."),
        click.option(
            "-j",
            "--jobs",
            type=JOBS,
            default=1,
            show_default=True,
            metavar="N",
            help=f"{noun.capitalize()}s at the same time; auto: one for each processor.",
        ),
        click.option(
            "--timeout",
            type=SECONDS,
            default=10.0,
            show_default=True,
            metavar="S",
            help="Seconds for a run.",
        ),
        click.option(
            "--memory",
            type=MEGABYTES,
            metavar="MB",
            help=f"Megabytes of address space for each process of a run{most}.",
        ),
        *CLUSTER,
        click.option(
            "--restart",
            is_flag=True,
            help="On a cluster: begin with the first seed again; otherwise a hunt goes on where "
            "an earlier one with the same options and folder has ended.",
        ),
        click.option("--no-reduce", is_flag=True, help="Keep bugs as they were found."),
        click.option(
            "--strategy",
            default="adaptive",
            show_default=True,
            metavar="NAME",
            help="The algorithm of the reductions.",
        ),
        click.option("--json", is_flag=True, help="Print the summary as one JSON object."),
        click.option(
            "--junit",
            type=PATH,
            metavar="FILE",
            help="Write the bugs as failed tests for a CI server (XML).",
        ),
        click.option("-q", "--quiet", is_flag=True, help="Only the summary."),
    )


def _names() -> list[str]:
    return registry.names(registry.FRONTENDS)


def _command_for(name: str) -> click.Command | None:
    if name not in registry.names(registry.FRONTENDS):
        return None
    frontend = registry.frontend_class(name)
    generation = generation_of(name)
    testing = frontend.testing()

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
        return exit_code(stats)

    seed = () if generation is None else (seed_option(generation),)
    made = () if generation is None else generation.options
    own = () if testing is None else testing.options
    add_options = adding(
        (
            *_PROGRAMS,
            *_common(
                "file" if generation is None else generation.noun,
                None if testing is None else testing.memory,
            ),
            *map(format_option, own),
            *seed,
            *map(format_option, made),
        )
    )
    paragraphs = (
        f"Run programs on random {name} inputs until one fails, or two disagree.",
        "" if testing is None else testing.help,
        "Each bug is kept once, by its signature: the input that showed it first, how to make "
        "and run it, and the reduced input. The options after --quiet are those of "
        f"`generate {name}`.",
    )
    return click.command(
        name,
        cls=Command,
        respelled=same if generation is None else generation.respelled,
        help="\n\n".join(filter(None, paragraphs)),
    )(add_options(callback))


@click.group("hunt", cls=LazyGroup, names=_names, load=_command_for)
def command() -> None:
    """Look for failures on random inputs, and reduce what is new."""


def _options(
    name: str, values: dict[str, Any], generation: Generation | None, testing: Testing | None
) -> HuntOptions:
    declared = (
        *(() if generation is None else generation.options),
        *(() if testing is None else testing.options),
    )
    same = (
        "folder", "reference", "seeds", "count", "max_time", "jobs", "timeout", "keep_timeouts",
        "strategy", "programs", "cluster", "ship", "local_slots", "restart",
    )  # fmt: skip
    memory = values["memory"]
    return HuntOptions(
        format=name,
        seed=values.get("seed"),
        memory=None if memory is None else memory * _MEGABYTE,
        reduce=not values["no_reduce"],
        format_options={each.name: values[each.name] for each in declared},
        **{each: values[each] for each in same},
    )


def _listener(*, quiet: bool) -> Callable[[HuntEvent], None]:
    """Return what tells a person of a hunt under way."""
    last = time.monotonic()

    def listen(event: HuntEvent) -> None:
        nonlocal last
        match event:
            case NewBug(bug, which):
                said = f" ({which})" if which else ""
                text = f"new: {shortened(bug.finding.title, _TITLE)}{said}\n     {bug.path}"
            case Reduced(before=before, after=after, unit=unit):
                text = f"     reduced from {before:,} to {after:,} {unit}"
            case HuntNotice(note):
                text = f"reducekit: note: {note}"
            case InputTested(stats) if time.monotonic() - last > _SILENCE:
                text = f"     {_counted(stats.inputs, stats.noun)}, " + _counted(
                    len(stats.bugs), "bug"
                )
            case _:
                return
        last = time.monotonic()
        if not quiet:
            say(text)

    return listen


def exit_code(stats: HuntStats) -> int:
    """Return the exit code: 0, unless the hunt was interrupted or has lost something."""
    if stats.stopped is not None:
        return INTERRUPTED
    return 0 if stats.complete else UsageError.exit_code


def summary(stats: HuntStats) -> str:
    """Say in words what a hunt has come to, the most frequent bug first."""
    bugs = sorted(stats.bugs.values(), key=lambda each: -each.count)
    head = f"{_counted(stats.inputs, stats.noun)} in {stats.seconds:.1f} s"
    if stats.timeouts:
        head += f", {stats.timeouts:,} out of time"
    if stats.stopped is not None:
        head += f", {stats.stopped}"
    lines = [f"{head}: {_counted(len(bugs), 'bug')}", *(f"  {each}" for each in stats.details)]
    for each in bugs:
        times = "once" if each.count == 1 else f"{each.count:,} times"
        lines.append(f"  {times}: {shortened(each.finding.title, _TITLE)}")
        sizes = f"{each.size:,} bytes" + (", known before" if each.known_before else "")
        if each.reduced_size is not None:
            sizes += f", reduced to {each.reduced_size:,}"
        elif each.not_reduced:
            sizes += f", not reduced: {each.not_reduced}"
        lines.append(f"    {each.path} ({sizes})")
    return "\n".join(lines)


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
