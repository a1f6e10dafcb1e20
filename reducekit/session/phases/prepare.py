"""Prepares a session: everything that can be wrong with the options is found before any run.

In this order: the input and its format; the test, which is a command, a function or the format's
own; the search; the place of the output. Nothing is written before the last.
"""

from __future__ import annotations

import os
import shlex
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, fields, replace
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING

from reducekit import registry
from reducekit.errors import ParseError, UsageError
from reducekit.format import Format, Pass, View, help_of
from reducekit.oracle.command import Command, Vary
from reducekit.oracle.criterion import Criterion, regex
from reducekit.reduction import STAGES, PassChoice, Protection
from reducekit.reduction.control import Control
from reducekit.run import Guard, Limits
from reducekit.session.failure import MISSING_COMMAND, Failure, Words
from reducekit.session.options import Options
from reducekit.session.place.inputs import (
    format_of,
    naming,
    output_path,
    plain_path,
    read,
    refuse_blank,
    refuse_other_format,
)
from reducekit.session.place.journal import open_for
from reducekit.session.place.output import OutputFile, OutputFolder
from reducekit.session.runs.run import Job, Steering, opener_of

if TYPE_CHECKING:
    from reducekit.executors.own import OwnOracle
    from reducekit.session.cluster import Cluster


@dataclass(frozen=True, slots=True)
class Unclaimed:
    """Removes the answer that a text claims from what programs see, since parts of it have others.

    A reduction removes what no program sees, so the result claims none either.
    """

    unclaimed: Callable[[bytes], bytes]
    vary: Vary | None  # makes the variant before

    def __call__(self, text: bytes, number: int) -> bytes:
        """Return the variant with this number, without claims."""
        return self.unclaimed(text if self.vary is None else self.vary(text, number))


@dataclass(slots=True, eq=False)
class _Test:
    frontend: Format  # the one to reduce with: a format's own test may know more of the text
    options: Options  # those given, with what the format's own test adds
    own: OwnOracle | None
    limits: Limits
    commands: tuple[Command, ...]
    fresh: tuple[Command, ...]
    criterion: Criterion
    text: bytes  # the input, without options that the commands set
    notes: list[str]


def prepare(options: Options, guard: Guard) -> Job:
    """Check everything that the options name; write no result. Raises UsageError or ParseError.

    Raises NotInterestingError if the format checks the input itself and that does not fail.
    """
    with ExitStack() as stack:
        strategy = registry.strategy(options.strategy)
        whole, backup = read(options)
        path = output_path(options)
        test = _test(options, *_format(options, whole, guard, stack), whole)
        own, text = test.own, test.text
        with naming(options.input_name):
            frontend, view = _parsed(options, test.frontend, text)
        header = "" if frontend is test.frontend else test.frontend.header
        protection = _protection(options, text, header)
        own_passes, steering = _programs(options, text, frontend.suffix, test.limits, guard, stack)
        choice = PassChoice(tuple(options.only), tuple(options.without), own_passes)
        refused = frontend.refuses(text)
        if refused is not None:
            raise UsageError(refused)
        choice.of(frontend.schedule(strategy.passes))
        with guard.held():
            output = None if path is None else _writable(path, several=options.several)
        others = None
        if options.also_interesting is not None:
            from reducekit.session.place.other_failures import OtherFailures

            others = OtherFailures(options.also_interesting, frontend.suffix)
        options, cluster = _with_cluster(test.options, stack)
        opener = opener_of(options, frontend.suffix, guard)
        runs = options.command or (options.known and options.opener is None)
        if own is None and runs:
            opener = frontend.opener(opener, text)
        with guard.held():
            opened = open_for(
                options,
                text,
                path,
                frontend=frontend,
                commands=test.commands,
                criterion=test.criterion,
                libraries=() if own is None else own.libraries,
            )
        return Job(
            name="." if options.more_inputs else options.input_name,
            read=whole,
            text=text,
            frontend=frontend,
            views=[view],
            strategy=strategy,
            choice=choice,
            commands=test.commands,
            fresh=test.fresh,
            criterion=test.criterion,
            limits=test.limits,
            opened=opened,
            output=output,
            backup=backup,
            other_failures=others,
            opener=opener,
            own=own,
            jobs=options.jobs,
            cluster=cluster,
            subject=getattr(own or options.known, "subject", None),
            protection=protection,
            steering=steering,
            notes=tuple(test.notes),
            closing=stack.pop_all(),
        )


def _format(
    options: Options, text: bytes, guard: Guard, stack: ExitStack
) -> tuple[Format, OwnOracle | None]:
    """Return the format of the input, and how it checks candidates if no command is given.

    Raises UsageError, ParseError.
    """
    frontend = _frontend(options, text)
    if options.several and not frontend.several:
        raise UsageError(
            f"the format {frontend.name} is of single files: {registry.ANY_TEXT} reduces several"
        )
    if options.workdir is not None and not os.access(options.workdir, os.W_OK | os.X_OK):
        raise UsageError(f"`workdir`: {options.workdir} is no folder that can be written")
    with naming(options.input_name):
        refuse_blank(text)
        if not options.lenient:
            refuse_other_format(frontend, text, options.input_name)
        if options.says_what_fails:
            return frontend, None
        from reducekit.executors.own import OracleRequest

        failure = {field.name: getattr(options, field.name) for field in fields(Failure)}
        file = "-" if isinstance(options.input, bytes) else str(options.input)
        request = OracleRequest(text, options.input_name, file, failure, options.limits(), guard)
        own: OwnOracle | None = frontend.own_oracle(request)
    if own is None:
        raise UsageError(MISSING_COMMAND)
    stack.callback(own.close)
    return frontend, own


def _test(options: Options, frontend: Format, own: OwnOracle | None, text: bytes) -> _Test:
    needing = ("also_passes", "also_match", "match_stack", "cluster")
    if own is not None or options.interesting is not None:
        for name in needing:
            if getattr(options, name):
                raise UsageError(f"`{name}` requires `command` or `oracle`")
    limits, notes = options.limits(), list(frontend.notes)
    if own is not None:
        frontend, limits, notes = own.frontend, own.limits, list(own.notes)
        options = replace(options, command=own.command, opener=own.opener)
    vary = frontend.variant if frontend.offers("variant") else None
    commands, criterion = options.commands_and_criterion(vary, frontend)
    fresh = options.fresh_commands(commands, criterion, vary)
    if options.several:
        from reducekit.packed import spans

        paths = {each.path for each in spans(text)}
        first = os.path.relpath(os.fsdecode(options.input)) if options.more_inputs else "."
        commands = tuple(each.on_files(first, paths) for each in commands)
        notes.append(
            f"{len(paths):,} files are reduced together: a folder with them is the current folder "
            "of each run"
        )
    if options.unstable and vary is None:
        notes.append(
            "files of this format have no variants: the runs of `unstable` differ by seeds only"
        )
    if criterion.about_answers:
        from reducekit.oracle.also import Quiet

        criterion = Quiet(criterion)
        text, yielded = frontend.yielding(text, [each.words[1:] for each in commands])
        if yielded:
            names = ", ".join(f":{each}" for each in yielded)
            notes.append(
                f"left out, as the commands set them and the input would override that: {names}"
            )
    if criterion.compares_answers and frontend.unclaimed(text) != text:
        commands, fresh = (
            tuple(each._replace(vary=Unclaimed(frontend.unclaimed, each.vary)) for each in some)
            for some in (commands, fresh)
        )
    return _Test(frontend, options, own, limits, commands, fresh, criterion, text, notes)


def _frontend(options: Options, text: bytes) -> Format:
    path = plain_path(options.input) if isinstance(options.input, Path) else Path()
    given = options.format
    if given is None:
        given = registry.ANY_TEXT if options.several else format_of(path, text)
    found = registry.frontend(given) if isinstance(given, str) else given
    return found.of_file(path.name)


def _protection(options: Options, text: bytes, header: str) -> Protection:
    """Return what has to stay, the `header` if there is one.

    Raises UsageError for an expression that matches nothing.
    """
    patterns = [regex("protect", each) for each in options.protect]
    for given, pattern in zip(options.protect, patterns, strict=True):
        if not any(map(itemgetter(0), pattern.finditer(text))):
            raise UsageError(f"`protect`: {given!r} matches nothing in the input")
    return Protection.of(text, [*patterns, *([regex("lenient", header)] if header else [])])


def _parsed(options: Options, frontend: Format, text: bytes) -> tuple[Format, View]:
    """Parse the input; with `lenient`, what does not parse is read as any text."""
    try:
        view = frontend.parse(text)
    except ParseError as error:
        if not options.lenient:
            error.add_note("(`lenient` reduces such a file too, as any text)")
            raise
        frontend = registry.frontend(registry.ANY_TEXT, suffix=frontend.suffix)
        view = frontend.parse(text)
    return frontend, view


def _programs(
    options: Options, text: bytes, suffix: str, limits: Limits, guard: Guard, stack: ExitStack
) -> tuple[tuple[Pass, ...], Steering]:
    if options.prefer_first and options.prefer is None:
        raise UsageError("`prefer_first` requires `prefer`")
    if not options.propose and options.prefer is None:
        return (), Steering()
    from reducekit.session.runs.programs import Preference, Program, Proposals

    workdir = None if options.workdir is None else str(options.workdir.absolute())

    def made(option: str, words: Words) -> Program:
        command = Command.of(words, shell=options.shell)
        program = Program(option, words, command, suffix, limits, guard, workdir)
        stack.callback(program.close)
        return program

    proposing = tuple(made("propose", each) for each in options.propose)
    preference = None
    if options.prefer is not None:
        preference = Preference(made("prefer", options.prefer), first=options.prefer_first)

    def attach(control: Control, say: Callable[[str], None]) -> None:
        for each in proposing:
            each.attach(control, say)
        if preference is not None:
            preference.program.attach(control, say)
            preference.require_number(text)

    passes = (Proposals(proposing),) if proposing else ()
    return passes, Steering(attach) if preference is None else Steering(attach, preference.over)


def _writable(path: Path, *, several: bool) -> OutputFile:
    """Return the output. Raises UsageError, with what to type if its folder is read-only."""
    try:
        return OutputFolder(path) if several else OutputFile(path)
    except UsageError as error:
        if path.parent.is_dir() and not os.access(path.parent, os.W_OK):
            other = Path(tempfile.gettempdir(), path.name)
            error.add_note(f"write elsewhere: `output` {shlex.quote(str(other))}")
        raise


def _with_cluster(options: Options, stack: ExitStack) -> tuple[Options, Cluster | None]:
    """Connect to the cluster, if there is one; `jobs` then defaults to its capacity."""
    if not (options.cluster or options.ship or options.local_slots):
        return options, None
    from reducekit.session.cluster import connected

    cluster = connected(options.cluster, options.ship, options.local_slots, stack)
    assert cluster is not None
    jobs = options.jobs if options.jobs > 1 else cluster.slots
    return replace(options, cluster=cluster, jobs=jobs), cluster


def described(name: str, strategy: str) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return the stages of a format's schedule: in words, with their passes and what those do.

    A pass that occurs several times in a stage is listed once. Raises UsageError for unknown names.
    """
    schedule = registry.frontend(name).schedule(registry.strategy(strategy).passes)
    rows = []
    for stage, words in STAGES.items():
        passes = {each.name: _what(each) for each in getattr(schedule, stage)}
        if passes:
            rows.append((words, list(passes.items())))
    return rows


def _what(each: Pass) -> str:
    said = help_of(each)
    first = " ".join(said.partition("\n\n")[0].split()).partition(". ")[0].rstrip(".")
    return first.removeprefix("The pass ").removeprefix("A pass ").removeprefix("that ")
