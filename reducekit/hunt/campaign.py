"""Makes a hunt ready: all that can be wrong with its options is found here, before any run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Any

from reducekit import registry
from reducekit.errors import UsageError
from reducekit.executors.guard import Guard
from reducekit.executors.local import LocalExecutor
from reducekit.frontend import OwnTests, Testing
from reducekit.hunt.command_tests import CommandTests
from reducekit.hunt.findings import Finding
from reducekit.hunt.inputs import (
    WITHOUT_END,
    Input,
    files_in,
    generated_inputs,
    generation_of,
    inputs_from,
)
from reducekit.hunt.library_tests import LibraryTests
from reducekit.hunt.options import HuntOptions
from reducekit.hunt.progress import Progress
from reducekit.hunt.reduce import ReductionConfig
from reducekit.hunt.results import Control, InputResult
from reducekit.hunt.stats import HuntStats
from reducekit.offers import Generation, with_defaults
from reducekit.oracle.command import Command
from reducekit.oracle.criterion import Everything
from reducekit.oracle.limits import Limits
from reducekit.oracle.oracle import Oracle
from reducekit.oracle.outcome import Outcome
from reducekit.session.cluster import Cluster
from reducekit.session.unpack import plain_path

MISSING_PROGRAMS = "Missing `command`: the program that fails, such as './solver --opt'"
_FILE, _INPUT = "file", "input"
"""What an input is called by the generator of files, and in a hunt."""
_PATIENCE = 500  # checks in a row without success that end a reduction


@dataclass(frozen=True, slots=True)
class Campaign:
    """A hunt made ready."""

    results: Callable[[Control], Iterator[InputResult | None]]
    """Tests all inputs, and yields None where a reduction slows no test down."""
    reduction: Callable[[Finding, bytes], ReductionConfig]
    """Says how an input is reduced that shows a bug."""
    suffix: str
    """Of the files of bugs."""
    noun: str
    """What an input is called."""
    notes: tuple[str, ...]
    summary: Callable[[HuntStats], tuple[str, ...]]
    """Says in sentences what the format has counted."""
    progress: Progress | None = None
    """How far it has come, where that is kept."""
    cluster: Cluster | None = None


def prepare(options: HuntOptions, guard: Guard, stack: ExitStack) -> Campaign:
    """Look at all that the options name; the stack closes what is opened. Raises UsageError."""
    registry.strategy(options.strategy)
    frontend = registry.frontend_class(options.format)
    generation, testing = generation_of(options.format), frontend.testing()
    values = _values(options, generation, testing)
    options = _with_cluster(options, guard, stack)
    if options.programs:
        commands = tuple(map(Command.of, options.programs))
        return _by_programs(options, commands, generation, values, guard, stack)
    if testing is None:
        raise UsageError(MISSING_PROGRAMS)
    for name in ("reference", "keep_timeouts"):
        if getattr(options, name):
            raise UsageError(f"`{name}` goes with `command`")
    limits = Limits(wall=options.timeout, memory=options.memory or testing.memory)
    noun = _FILE if generation is None else generation.noun
    return _by_library(options, testing.make(values, limits), values, noun, guard, stack)


def _with_cluster(options: HuntOptions, guard: Guard, stack: ExitStack) -> HuntOptions:
    """Connect to the cluster, if there is one. Raises UsageError."""
    if options.cluster is None:
        for name in ("ship", "local_slots", "restart"):
            if getattr(options, name):
                raise UsageError(f"`{name}` goes with `cluster`")
    elif isinstance(options.cluster, str):
        cluster = Cluster(
            options.cluster, ship=options.ship, local_slots=options.local_slots, guard=guard
        )
        return replace(options, cluster=stack.enter_context(cluster))
    return options


def _on_cluster(
    campaign: Campaign,
    options: HuntOptions,
    commands: tuple[Command, ...],
    values: Mapping[str, Any],
) -> Campaign:
    """Have the seeds of a campaign tested on the cluster, if there is one."""
    cluster = options.cluster
    if not isinstance(cluster, Cluster) or options.seeds is not None:
        return campaign
    # Only who wants a cluster loads this.
    from reducekit.hunt.cluster_tests import ClusterTests

    progress = Progress.of(options, commands, values)
    tests = ClusterTests(cluster, options, commands, _seeds(options, values), progress)
    notes = campaign.notes
    if progress.earlier:
        notes += (
            f"going on after {progress.earlier:,} inputs of an earlier hunt in {options.folder}; "
            "`restart` begins anew",
        )
    return replace(campaign, results=tests.results, notes=notes, progress=progress, cluster=cluster)


def _values(
    options: HuntOptions, generation: Generation | None, testing: Testing | None
) -> dict[str, Any]:
    """Return the values of the format's options, and the first seed. Raises UsageError."""
    if generation is None and options.seeds is None:
        raise UsageError(
            f"there is no generator for {options.format}: name a folder of files (`seeds`)"
        )
    given = dict(options.format_options)
    made = () if generation is None else generation.options
    own = () if testing is None else testing.options
    if options.programs:
        for each in own:
            if given.get(each.name, each.default) != each.default:
                raise UsageError(f"`{each.name}` is for tests by a library: leave `command` out")
    default_seed = 0 if generation is None else generation.default_seed
    seed = default_seed if options.seed is None else options.seed
    return {**with_defaults((*made, *own), given), "seed": seed}


def _by_programs(
    options: HuntOptions,
    commands: tuple[Command, ...],
    generation: Generation | None,
    values: Mapping[str, Any],
    guard: Guard,
    stack: ExitStack,
) -> Campaign:
    """Prepare tests by the user's programs."""
    if options.reference is not None:
        commands = (*commands, Command.of(options.reference))
    frontend_options: Mapping[str, Any] = {}
    inputs: Iterator[Input]
    breaks_rules: Callable[[Outcome], bool] = _never
    rules_broken = ""
    notes: tuple[str, ...] = ()
    if options.seeds is not None:
        paths = files_in(options.seeds)
        suffix, noun = plain_path(paths[0]).suffix, _FILE
        inputs = islice(inputs_from(paths), options.count)
    else:
        assert generation is not None
        with guard.held():
            generator = stack.enter_context(generation.make(values))
        suffix, noun = generator.suffix, generation.noun
        notes = tuple(generator.notes)
        frontend_options = generator.frontend_options
        breaks_rules, rules_broken = generator.breaks_rules, generator.rules_broken
        inputs = generated_inputs(options.format, generator, _seeds(options, values))
    registry.frontend(options.format, **frontend_options)
    with guard.allowed():  # options that contradict each other are refused before anything is made
        first = list(islice(inputs, 1))
    limits = Limits(wall=options.timeout, memory=options.memory)
    oracle = Oracle(commands, Everything(len(commands)))
    opener, jobs = options.opener, options.jobs
    if isinstance(options.cluster, Cluster):
        opener = options.cluster.opener(suffix)
        jobs = max(jobs, options.cluster.slots)
    with guard.held():
        executor = stack.enter_context(
            LocalExecutor(oracle, jobs, suffix, guard=guard)
            if opener is None
            else opener(oracle, jobs)
        )
    tests = CommandTests(
        commands,
        options.reference is not None,
        limits,
        executor,
        options.keep_timeouts,
        breaks_rules,
    )

    def reduction(finding: Finding, text: bytes) -> ReductionConfig:
        frontend = registry.frontend(options.format, **frontend_options)
        return ReductionConfig(
            frontend,
            limits,
            _PATIENCE,
            options.strategy,
            opener,
            jobs,
            strict=options.keep_timeouts,
        )

    def summary(stats: HuntStats) -> tuple[str, ...]:
        broken = stats.counts["rules broken"]
        return (f"{broken:,} {rules_broken}",) if broken else ()

    campaign = Campaign(
        lambda control: tests.results(chain(first, inputs), control),
        reduction,
        suffix,
        _INPUT if noun == _FILE else noun,
        notes,
        summary,
    )
    return _on_cluster(campaign, options, commands, values)


def _by_library(
    options: HuntOptions,
    own: OwnTests,
    values: Mapping[str, Any],
    noun: str,
    guard: Guard,
    stack: ExitStack,
) -> Campaign:
    """Prepare tests by a library that the format plays its inputs to."""
    tests = LibraryTests(options.format, own, options.jobs, guard, stack)
    paths = None if options.seeds is None else files_in(options.seeds)[: options.count]

    def results(control: Control) -> Iterator[InputResult | None]:
        if paths is not None:
            return tests.files(paths, control)
        return tests.seeds(_seeds(options, values), control)

    def reduction(finding: Finding, text: bytes) -> ReductionConfig:
        found = own.reduction(finding.criterion, text)
        return ReductionConfig(
            found.frontend,
            own.limits,
            found.patience,
            options.strategy,
            found.opener,
            size=found.size,
            unit=found.unit,
        )

    def summary(stats: HuntStats) -> tuple[str, ...]:
        return own.summary(stats.counts, stats.inputs, stats.seconds)

    noun = _INPUT if noun == _FILE else noun
    campaign = Campaign(results, reduction, own.suffix, noun, own.notes, summary)
    return _on_cluster(campaign, options, (), values)


def _seeds(options: HuntOptions, values: Mapping[str, Any]) -> range:
    first: int = values["seed"]
    return range(first, first + (options.count or WITHOUT_END))


def _never(outcome: Outcome) -> bool:
    return False
