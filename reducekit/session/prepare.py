"""Prepares a session: everything that can be wrong with the options is found before any run."""

from __future__ import annotations

import os
import re
import shlex
import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, fields, replace
from operator import itemgetter
from pathlib import Path

from reducekit import registry
from reducekit.errors import ParseError, UsageError
from reducekit.executors.executor import Guard
from reducekit.frontend import Frontend, Order, View
from reducekit.offers import ChecksModels, Claims, Overrides, Skips, Varies
from reducekit.oracle.also import Quiet, about_answers, compares_answers
from reducekit.oracle.command import Command, Vary
from reducekit.oracle.criterion import Criterion
from reducekit.oracle.kinds import regex
from reducekit.oracle.limits import Limits
from reducekit.oracle.outcome import Outcome
from reducekit.own_checks import ChecksCandidates, GuardsCommand, OracleRequest, OwnOracle, Subject
from reducekit.reduction import PassChoice, Protection
from reducekit.search.strategy import Strategy
from reducekit.session.cluster import Cluster
from reducekit.session.executors import opener_of
from reducekit.session.options import MISSING_COMMAND, Failure, Opener, Options, Words
from reducekit.session.other_failures import OtherFailures
from reducekit.session.place import journal_setup
from reducekit.session.place.files import (
    HEAD,
    name_of,
    naming,
    output_path,
    read,
    refuse_blank,
    refuse_other_format,
)
from reducekit.session.place.journal_setup import Opened
from reducekit.session.place.output import OutputFile
from reducekit.session.place.unpack import plain_path
from reducekit.session.programs import Preference, Program, Proposals
from reducekit.session.runs.fresh import FRESH, on_fresh

_FALLBACK = "text"
"""The frontend that reads any text, by lines and tokens."""
_YIELDED = "left out, as the commands set them and the input would override that: {}"
_SEEDS_ALONE = "files of this format have no variants: the runs of `unstable` differ by seeds only"


@dataclass(frozen=True, slots=True)
class Unclaimed:
    """Removes the answer that a text claims from what programs see, since parts of it have others.

    A reduction removes what no program sees, so the result claims none either.
    """

    unclaimed: Callable[[bytes], bytes]
    vary: Vary | None
    """Makes the variant before."""

    def __call__(self, text: bytes, number: int) -> bytes:
        """Return the variant with this number, without claims."""
        return self.unclaimed(text if self.vary is None else self.vary(text, number))


@dataclass(frozen=True, slots=True)
class Job:
    """The work of a session, prepared."""

    name: str
    """The name of the input in messages."""
    read: bytes
    """The input as it was read."""
    text: bytes
    """What is reduced: the input, without options that the commands set."""
    frontend: Frontend
    views: list[View]
    """The parsed text; empty once it has been taken."""
    strategy: Strategy
    choice: PassChoice
    commands: tuple[Command, ...]
    """The commands of the oracle; none if it is a function."""
    criterion: Criterion
    limits: Limits
    opened: Opened
    """The journal, and results of an earlier run."""
    output: OutputFile | None
    backup: Path | None
    """The path of the backup if the input is replaced."""
    other_failures: OtherFailures | None
    opener: Opener
    own: OwnOracle | None
    """How the format checks candidates if no command is given."""
    jobs: int
    """The number of parallel checks."""
    cluster: Cluster | None = None
    """The cluster that runs them, if any."""
    subject: Callable[[], Subject] | None = None
    """What fails, for a bug report, if it is not the first command's program."""
    protection: Protection = field(default_factory=Protection)
    """What every candidate has to contain."""
    programs: tuple[Program, ...] = ()
    """The user's programs that steer the search."""
    preference: Preference | None = None
    """The numbers that texts are also compared by."""
    fresh: tuple[Command, ...] = ()
    """For a failure about answers or costs: the commands on variants that no check uses."""
    notes: tuple[str, ...] = ()
    """Notes for the user."""
    closing: ExitStack = field(default_factory=ExitStack)
    """Closes everything opened for this job."""

    def prefer(self, order: Order) -> Order:
        """Return the order in which texts have to get smaller, given the frontend's."""
        return order if self.preference is None else self.preference.over(order)

    def take_view(self) -> View:
        """Return the parsed text, once: it is large, so nothing else may keep it."""
        return self.views.pop()

    def as_if_run_on(self, outcome: Outcome, path: str) -> Outcome:
        """Replace the name of the candidate's file, which is gone, by that of the output."""
        place = re.compile(
            rb"/[^\s:'\"]*/reducekit-[^\s/]+/\d+/(?:input"
            + re.escape(os.fsencode(self.frontend.suffix))
            + rb"|"
            + re.escape(os.fsencode(Path(self.name).name))
            + rb")"
        )
        name = os.fsencode(path)
        return replace(
            outcome,
            stdout=place.sub(lambda _: name, outcome.stdout),
            stderr=place.sub(lambda _: name, outcome.stderr),
        )


def prepare(options: Options, guard: Guard) -> Job:
    """Check everything that the options name; write no result. Raises UsageError or ParseError.

    Raises NotInterestingError if the format checks the input itself and that does not fail.
    """
    with ExitStack() as opened:
        job = _prepare(options, guard, opened)
        return replace(job, closing=opened.pop_all())


def _prepare(options: Options, guard: Guard, stack: ExitStack) -> Job:
    """Do the same; the stack closes everything that is opened."""
    name = name_of(options)
    strategy = registry.strategy(options.strategy)
    whole, backup = read(options)
    text = whole
    path = output_path(options)
    frontend = _frontend(options, text)
    if options.workdir is not None and not os.access(options.workdir, os.W_OK | os.X_OK):
        raise UsageError(f"`workdir`: {options.workdir} is no folder that can be written")
    with naming(name):
        refuse_blank(text)
        if not options.lenient:
            refuse_other_format(frontend, text, name)
        own = None if options.says_what_fails else _own_oracle(options, frontend, text, guard)
    if own is not None:
        stack.callback(own.close)
    for name_, given in (
        ("also_passes", options.also_passes),
        ("also_match", options.also_match),
        ("match_stack", options.match_stack),
        ("cluster", options.cluster),
    ):
        if given and (own is not None or options.interesting is not None):
            raise UsageError(f"`{name_}` requires `command` or `oracle`")
    if own is not None:
        frontend, limits = own.frontend, own.limits
        options = replace(options, command=own.command, opener=own.opener)
    else:
        limits = options.limits()
    vary = frontend.variant if isinstance(frontend, Varies) else None
    models = frontend if isinstance(frontend, ChecksModels) else None
    commands, criterion = options.commands_and_criterion(vary, models)
    fresh = options.fresh_commands(FRESH, vary)
    if not fresh and vary is not None and about_answers(criterion):
        fresh = on_fresh(commands, vary)
    yielded: Sequence[str] = ()
    if about_answers(criterion):
        criterion = Quiet(criterion)
        if isinstance(frontend, Overrides):
            text, yielded = frontend.yielding(text, [each.words[1:] for each in commands])
    compares = compares_answers(criterion)
    if compares and isinstance(frontend, Claims) and frontend.unclaimed(text) != text:
        commands, fresh = (
            tuple(replace(each, vary=Unclaimed(frontend.unclaimed, each.vary)) for each in some)
            for some in (commands, fresh)
        )
    protection = _protection(options, text)
    with naming(name):
        parsed, view = _parsed(options, frontend, text)
    proposing, preferring = _programs(options, parsed.suffix, limits, guard, stack)
    own_passes = (Proposals(proposing),) if proposing else ()
    choice = PassChoice(tuple(options.only), tuple(options.without), own_passes)
    refused = parsed.refuses(text) if isinstance(parsed, Skips) else None
    if refused is not None:
        raise UsageError(refused)
    choice.of(parsed.schedule(strategy.passes))
    with guard.held():
        output = None if path is None else _writable(path)
    folder = options.also_interesting
    others = None if folder is None else OtherFailures(folder, parsed.suffix)
    options = _with_cluster(options, stack)
    opener = opener_of(options, parsed.suffix, guard)
    runs = options.command or (options.known and options.opener is None)
    if own is None and runs and isinstance(frontend, GuardsCommand):
        opener = frontend.opener(opener, text)
    with guard.held():
        opened = journal_setup.open_for(
            options,
            text,
            path,
            format_name=parsed.name,
            commands=commands,
            criterion=criterion,
            libraries=() if own is None else own.libraries,
        )
    return Job(
        name=name,
        read=whole,
        text=text,
        frontend=parsed,
        views=[view],
        strategy=strategy,
        choice=choice,
        commands=commands,
        criterion=criterion,
        limits=limits,
        output=output,
        backup=backup,
        opened=opened,
        other_failures=others,
        opener=opener,
        own=own,
        jobs=options.jobs,
        cluster=options.cluster if isinstance(options.cluster, Cluster) else None,
        subject=getattr(own or options.known, "subject", None),
        protection=protection,
        programs=(*proposing, *preferring),
        preference=next(
            (Preference(each, first=options.prefer_first) for each in preferring), None
        ),
        fresh=fresh,
        notes=(
            *(() if own is None else own.notes),
            *([_SEEDS_ALONE] if options.unstable and vary is None else ()),
            *([_YIELDED.format(", ".join(f":{each}" for each in yielded))] if yielded else ()),
        ),
    )


def _protection(options: Options, text: bytes) -> Protection:
    """Return what has to stay. Raises UsageError for an expression that matches nothing."""
    patterns = [regex("protect", each) for each in options.protect]
    for given, pattern in zip(options.protect, patterns, strict=True):
        if not any(map(itemgetter(0), pattern.finditer(text))):
            raise UsageError(f"`protect`: {given!r} matches nothing in the input")
    return Protection.of(text, patterns)


def _programs(
    options: Options, suffix: str, limits: Limits, guard: Guard, stack: ExitStack
) -> tuple[tuple[Program, ...], tuple[Program, ...]]:
    """Return the user's programs that propose candidates, and the one that prefers some."""
    if options.prefer_first and options.prefer is None:
        raise UsageError("`prefer_first` requires `prefer`")

    def made(option: str, words: Words) -> Program:
        command = Command.of(words, shell=options.shell)
        workdir = None if options.workdir is None else str(options.workdir.absolute())
        program = Program(option, words, command, suffix, limits, guard, workdir)
        stack.callback(program.close)
        return program

    return (
        tuple(made("propose", each) for each in options.propose),
        () if options.prefer is None else (made("prefer", options.prefer),),
    )


def _writable(path: Path) -> OutputFile:
    """Return the output. Raises UsageError, with what to type if its folder is read-only."""
    try:
        return OutputFile(path)
    except UsageError as error:
        if path.parent.is_dir() and not os.access(path.parent, os.W_OK):
            other = Path(tempfile.gettempdir(), path.name)
            error.add_note(f"write elsewhere: `output` {shlex.quote(str(other))}")
        raise


def _with_cluster(options: Options, stack: ExitStack) -> Options:
    """Connect to the cluster, if there is one; `jobs` then defaults to its capacity."""
    cluster = options.cluster
    if cluster is None:
        for name in ("ship", "local_slots"):
            if getattr(options, name):
                raise UsageError(f"`{name}` requires `cluster`")
        return options
    if isinstance(cluster, str):
        cluster = stack.enter_context(
            Cluster(cluster, ship=options.ship, local_slots=options.local_slots)
        )
    return replace(
        options, cluster=cluster, jobs=options.jobs if options.jobs > 1 else cluster.slots
    )


def _frontend(options: Options, text: bytes) -> Frontend:
    given = options.format
    if given is None:
        path = plain_path(options.input) if isinstance(options.input, Path) else Path()
        given = registry.guess_format(str(path), text[:HEAD])
        if given is None:
            return registry.frontend(_FALLBACK, suffix=path.suffix)
    return registry.frontend(given) if isinstance(given, str) else given


def _own_oracle(options: Options, frontend: Frontend, text: bytes, guard: Guard) -> OwnOracle:
    """Return how the format checks candidates. Raises UsageError if it requires a command."""
    failure = {field.name: getattr(options, field.name) for field in fields(Failure)}
    file = "-" if isinstance(options.input, bytes) else str(options.input)
    if not isinstance(frontend, ChecksCandidates):
        raise UsageError(MISSING_COMMAND)
    return frontend.own_oracle(
        OracleRequest(text, name_of(options), file, failure, options.limits(), guard)
    )


def _parsed(options: Options, frontend: Frontend, text: bytes) -> tuple[Frontend, View]:
    """Parse the input; with `lenient`, a text that does not parse is read as lines."""
    try:
        view = frontend.parse(text)
    except ParseError as error:
        if not options.lenient:
            error.add_note("(`lenient` reduces such a file too, by lines and tokens)")
            raise
        frontend = registry.frontend(_FALLBACK, suffix=frontend.suffix)
        view = frontend.parse(text)
    return frontend, view
