"""Prepares a hunt: everything that can be wrong with its options is found before any run."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from reducekit import registry
from reducekit.errors import UsageError
from reducekit.executors.executor import Guard
from reducekit.executors.local import LocalExecutor
from reducekit.frontend import Frontend
from reducekit.hunt.command_tests import ALL_REJECTED, OUT_OF_MEMORY, RULES_BROKEN, CommandTests
from reducekit.hunt.inputs import (
    WITHOUT_END,
    Input,
    files_in,
    generated_input,
    generation_of,
    input_from,
)
from reducekit.hunt.library_tests import LibraryTests
from reducekit.hunt.options import HuntOptions
from reducekit.hunt.progress import TestFiles
from reducekit.hunt.reduce import ReductionConfig
from reducekit.hunt.results import Control, InputResult
from reducekit.hunt.stats import MANY_REJECTED, HuntStats, rejections
from reducekit.hunt.workers import CHUNK
from reducekit.offers import KILLED, EvaluatesModels, Generation, ReadsFailures, with_defaults
from reducekit.oracle.command import OPTIONS, Command
from reducekit.oracle.criterion import Criterion, Everything
from reducekit.oracle.limits import Limits
from reducekit.oracle.oracle import Oracle
from reducekit.oracle.outcome import Outcome
from reducekit.own_checks import OwnTests, Testing, TestsInputs
from reducekit.session.cluster import Cluster
from reducekit.session.place.inputs import plain_path, read_input
from reducekit.version import __version__

MISSING_PROGRAMS = "Missing `command`: the program that fails, such as './solver --opt'"
_FILE, _INPUT = "file", "input"
"""The noun for an input from the generator of files, and in a hunt."""
_REFUSED_OPTION = re.compile(
    r"\b(?:invalid|unknown|unrecogni[sz]ed|illegal|bad|unsupported)\b.{0,40}\b(?:option|argument)"
    r"|\b(?:option|argument)s?\b.{0,80}\b(?:invalid|unknown|not supported|not allowed|combined)\b"
    r"|\bnot supported with\b",
    re.IGNORECASE,
)
"""What programs say of an option that they lack, or not with another one."""
_PATIENCE = 500  # consecutive checks without success that end a reduction


@dataclass(frozen=True, slots=True)
class Campaign:
    """A prepared hunt."""

    numbers: range
    """All inputs: their seeds, or their indices among the files of a folder."""
    results: Callable[[range, Control], Iterator[InputResult | None]]
    """Tests inputs in order, and yields None when a reduction would not slow down any test."""
    deciding: object
    """What the results depend on besides `test`; its `repr` identifies it."""
    test: TestFiles
    """The programs and libraries under test."""
    reduction: Callable[[Criterion, bytes], ReductionConfig]
    """Returns how to reduce an input that shows a bug."""
    suffix: str
    """The suffix of the files of bugs."""
    frontend: Frontend
    """Knows what reduced inputs are made of."""
    noun: str
    """The noun for an input."""
    notes: tuple[str, ...]
    summary: Callable[[HuntStats], tuple[str, ...]]
    """Returns sentences about what the format has counted."""
    test_file: Callable[[Path], Iterator[InputResult | None]]
    """Tests a file as the inputs are."""
    row: int = 1
    """The number of inputs tested together: findings for one may depend on those before it."""
    cluster: Cluster | None = None


def prepare(options: HuntOptions, guard: Guard, stack: ExitStack) -> Campaign:
    """Prepare all that the options name; the stack closes what is opened. Raises UsageError."""
    registry.strategy(options.strategy)
    frontend = registry.frontend_class(options.format)
    generation = generation_of(options.format)
    testing = frontend.testing() if issubclass(frontend, TestsInputs) else None
    values = _values(options, generation, testing)
    options = _with_cluster(options, stack)
    if options.programs:
        commands = tuple(map(Command.of, options.programs))
        return _by_programs(options, commands, generation, values, guard, stack)
    if testing is None:
        raise UsageError(MISSING_PROGRAMS)
    for name in ("reference", "keep_timeouts"):
        if getattr(options, name):
            raise UsageError(f"`{name}` requires `command`")
    limits = Limits(wall=options.timeout, memory=options.memory or testing.memory)
    noun = _FILE if generation is None else generation.noun
    return _by_library(options, testing.make(values, limits), values, noun, guard, stack)


def _with_cluster(options: HuntOptions, stack: ExitStack) -> HuntOptions:
    """Connect to the cluster, if there is one. Raises UsageError."""
    if options.cluster is None:
        for name in ("ship", "local_slots"):
            if getattr(options, name):
                raise UsageError(f"`{name}` requires `cluster`")
    elif isinstance(options.cluster, str):
        cluster = Cluster(options.cluster, ship=options.ship, local_slots=options.local_slots)
        return replace(options, cluster=stack.enter_context(cluster))
    return options


def _on_cluster(
    campaign: Campaign, options: HuntOptions, commands: tuple[Command, ...]
) -> Campaign:
    """Move the tests of a campaign to the cluster, if there is one."""
    cluster = options.cluster
    if not isinstance(cluster, Cluster) or options.seeds is not None:
        return campaign
    # Loaded only for clusters.
    from reducekit.hunt.cluster_tests import ClusterTests

    tests = ClusterTests(cluster, options, commands)
    return replace(campaign, results=tests.results, cluster=cluster)


def _deciding(
    options: HuntOptions,
    commands: tuple[Command, ...],
    values: Mapping[str, Any],
    paths: Sequence[Path],
) -> object:
    """Return what determines a hunt's findings, besides the programs' content and `count`."""
    stats = [(path, path.stat()) for path in paths]
    files = [(str(path), status.st_size, status.st_mtime_ns) for path, status in stats]
    return (
        __version__, options.format, [each.words for each in commands],
        options.reference is not None, options.timeout, options.memory, options.keep_timeouts,
        sorted(values.items()), files, options.like and read_input(options.like),
    )  # fmt: skip


def _values(
    options: HuntOptions, generation: Generation | None, testing: Testing | None
) -> dict[str, Any]:
    """Return the values of the format's options, and the first seed. Raises UsageError."""
    if generation is None and options.seeds is None:
        raise UsageError(
            f"there is no generator for {options.format}: give a folder of files (`seeds`)"
        )
    given = dict(options.format_options)
    made = () if generation is None else generation.options
    own = () if testing is None else testing.options
    if options.programs:
        for each in own:
            if given.get(each.name, each.default) != each.default:
                raise UsageError(f"`{each.name}` has no effect with `command`: give one of them")
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
    """Prepare tests with the user's programs."""
    if options.reference is not None:
        commands = (*commands, Command.of(options.reference))
    frontend_options: Mapping[str, Any] = {}
    paths: Sequence[Path] = ()
    well_formed = with_options = False
    make: Callable[[int], Input]
    breaks_rules: Callable[[Outcome], bool] = _never
    rules_broken = ""
    notes: tuple[str, ...] = ()
    if options.seeds is not None:
        paths = files_in(options.seeds)
        suffix, noun = plain_path(paths[0]).suffix, _FILE
        make, numbers = partial(input_from, paths), range(len(paths))[: options.count]
    else:
        assert generation is not None
        with guard.held():
            generator = stack.enter_context(generation.make(values))
        suffix, noun = generator.suffix, generation.noun
        notes = tuple(generator.notes)
        frontend_options = generator.frontend_options
        breaks_rules, rules_broken = generator.breaks_rules, generator.rules_broken
        paths, well_formed = generator.files, generator.well_formed
        make, numbers = partial(generated_input, options.format, generator), _seeds(options, values)
        with_options = generator.has_options
        if with_options and not any(each.takes_options for each in commands):
            raise UsageError(
                f"`solver_options`: no `command` has {OPTIONS}, the place for the options: "
                f"'{Path(commands[0].words[0]).name} {OPTIONS} {{}}'"
            )
    frontend = registry.frontend(options.format, **frontend_options)
    rejects: Callable[[str], bool] = _refuses_options if with_options else _never
    if isinstance(frontend, ReadsFailures):
        rejects = partial(frontend.rejects, well_formed=well_formed)
    with guard.allowed():  # contradicting options are rejected before anything is generated
        made = {numbers.start: make(numbers.start)}
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
        options.keep_timeouts or options.seeds is not None,
        breaks_rules,
        rejects,
        frontend if isinstance(frontend, EvaluatesModels) else None,
        foreign=not well_formed,
    )

    def results(numbers: range, control: Control) -> Iterator[InputResult | None]:
        inputs = (made.pop(each) if each in made else make(each) for each in numbers)
        return tests.results(inputs, control)

    def test_file(path: Path) -> Iterator[InputResult | None]:
        return tests.results(iter([input_from([path], 0)]), Control(lambda: False, lambda: None))

    def reduction(criterion: Criterion, text: bytes) -> ReductionConfig:
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
        said = _killed(stats)
        if stats.rejected_share >= MANY_REJECTED:
            said.append(rejections(stats))
        elif broken := stats.counts[RULES_BROKEN]:
            said.append(f"{broken:,} {rules_broken}")
        elif stats.rejected:
            said.append(f"{stats.rejected:,} need what a program does not support")
        if len(commands) > 1 and (refused := stats.counts[ALL_REJECTED]):
            said.append(f"{refused:,} of these by all programs")
        if lacking := stats.counts[OUT_OF_MEMORY]:
            said.append(f"{lacking:,} not tested: a program ran out of memory")
        return tuple(said)

    campaign = Campaign(
        numbers,
        results,
        _deciding(options, commands, values, paths),
        TestFiles(commands, tuple(options.ship)),
        reduction,
        suffix,
        frontend,
        _INPUT if noun == _FILE else noun,
        notes,
        summary,
        test_file,
    )
    return _on_cluster(campaign, options, commands)


def _by_library(
    options: HuntOptions,
    own: OwnTests,
    values: Mapping[str, Any],
    noun: str,
    guard: Guard,
    stack: ExitStack,
) -> Campaign:
    """Prepare tests with a library that the format plays its inputs to."""
    tests = LibraryTests(options.format, own, options.jobs, guard, stack)
    paths = () if options.seeds is None else files_in(options.seeds)
    numbers = range(len(paths))[: options.count] if paths else _seeds(options, values)

    def results(numbers: range, control: Control) -> Iterator[InputResult | None]:
        return tests.files(paths, numbers, control) if paths else tests.seeds(numbers, control)

    def test_file(path: Path) -> Iterator[InputResult | None]:
        return tests.files([path], range(1), Control(lambda: False, lambda: None))

    def reduction(criterion: Criterion, text: bytes) -> ReductionConfig:
        found = own.reduction(criterion, text)
        return ReductionConfig(
            found.frontend,
            own.limits,
            found.patience,
            options.strategy,
            found.opener,
            size=found.size,
            unit=found.unit,
            subject=own.subject,
        )

    def summary(stats: HuntStats) -> tuple[str, ...]:
        said = own.summary(stats.counts, stats.inputs, stats.seconds)
        return (*said, *_killed(stats))

    noun = _INPUT if noun == _FILE else noun
    campaign = Campaign(
        numbers,
        results,
        _deciding(options, (own.command,), values, paths),
        TestFiles((own.command,), own.libraries),
        reduction,
        own.suffix,
        registry.frontend(options.format),
        noun,
        own.notes,
        summary,
        test_file,
        row=1 if paths else CHUNK,
    )
    return _on_cluster(campaign, options, ())


def _killed(stats: HuntStats) -> list[str]:
    """Return a sentence on how many inputs the solver was killed, if it was."""
    killed = stats.counts[KILLED]
    why = "the solver was killed by SIGKILL from outside each time (out of memory?)"
    return [f"{killed:,} not tested: {why}"] if killed else []


def _seeds(options: HuntOptions, values: Mapping[str, Any]) -> range:
    first: int = values["seed"]
    return range(first, first + (options.count or WITHOUT_END))


def _refuses_options(line: str) -> bool:
    return _REFUSED_OPTION.search(line) is not None


def _never(run: object) -> bool:
    return False
