"""Prepares a hunt: everything that can be wrong with its options is found before any run.

A hunt may be for a smaller input with the failure of a given file: so a failure is had without
reducing a file that is too large for it (Artho, Biere, Seidl: Model-based testing for verification
back-ends, TAP 2013, section 5.2).
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from reducekit import quantities, registry
from reducekit.errors import NotInterestingError, ParseError, UsageError
from reducekit.executors.local import LocalExecutor
from reducekit.executors.own import OwnReduction, OwnTests, Testing
from reducekit.format import Format
from reducekit.hunt.events import MANY_REJECTED, Control, HuntStats, InputResult, rejections
from reducekit.hunt.folder import TestFiles, bug_of, remove_bug
from reducekit.hunt.inputs import (
    WITHOUT_END,
    Input,
    files_in,
    generated_input,
    generation_of,
    input_from,
)
from reducekit.hunt.reduce import ReductionConfig
from reducekit.hunt.testers import (
    ALL_REJECTED,
    CHUNK,
    OUT_OF_MEMORY,
    RULES_BROKEN,
    CommandTests,
    LibraryTests,
)
from reducekit.offers import KILLED, Generation, InputGenerator, with_defaults
from reducekit.option import option, read_fields, same
from reducekit.oracle.command import OPTIONS, Command
from reducekit.oracle.criterion import Criterion, Everything, Oracle
from reducekit.run import Guard, Limits
from reducekit.runtime import __version__
from reducekit.session.cluster import Cluster, connected
from reducekit.session.failure import Opener, Words
from reducekit.session.options import Options
from reducekit.session.place.inputs import plain_path, read_input

MISSING_PROGRAMS = "Missing `command`: the program that fails, such as './solver --opt'"
_FILE, _INPUT = "file", "input"  # the noun for an input from the generator of files, and in a hunt
_REFUSED_OPTION = re.compile(
    r"\b(?:invalid|unknown|unrecogni[sz]ed|illegal|bad|unsupported)\b.{0,40}\b(?:option|argument)"
    r"|\b(?:option|argument)s?\b.{0,80}\b(?:invalid|unknown|not supported|not allowed|combined)\b"
    r"|\bnot supported with\b",
    re.IGNORECASE,
)
"""What programs say of an option that they lack, or not with another one."""
_PATIENCE = 500  # consecutive checks without success that end a reduction
_TO_THE_END = Control(lambda: False, lambda: None)
SHOWN = "failure of the file"  # the counter for inputs that show it
SMALLER = "smaller than the file"  # the counter for those that were smaller than all before


@dataclass(frozen=True, slots=True, kw_only=True)
class HuntOptions:
    """All options of a hunt, as plain data. Times are in seconds, sizes in bytes."""

    format: str  # the name of a registered format
    folder: Path = option(
        "Folder for the bugs and the state of the hunt; bugs in it are not new.",
        "Output",
        Path("failures"),
        metavar="DIR",
        spelled="out",
    )
    programs: Sequence[Words] = option(
        "Solver to test; repeat it to compare answers.", "Failure", (), metavar="CMD", spelled="cmd"
    )
    reference: Words | None = option("A solver whose answers are right.", "Failure", metavar="CMD")
    keep_timeouts: bool = option("Report runs that exceed --timeout as bugs.", "Failure", False)
    seeds: Path | None = option(
        "Test the files of this folder, not random ones.", "Inputs", metavar="DIR"
    )
    like: Path | None = option(
        "Hunt for a smaller input that fails like FILE.", "Failure", metavar="FILE"
    )
    seed: int | None = None  # the first seed; None: the format's default
    count: int | None = option("Stop after N inputs.", "Limits", read=quantities.positive)
    max_time: float | None = same(
        Options, "max_time", help="Stop after S seconds, or as 10m, 2h; reductions included."
    )
    timeout: float = same(
        Options, "timeout", default=10.0, help="Time limit of a run, such as 90s."
    )
    memory: int | None = same(Options, "memory")
    jobs: int = same(Options, "jobs", help="Inputs tested in parallel, or auto.")
    strategy: str = same(Options, "strategy", help="The algorithm of the reductions.")
    reduce: bool = option("Keep bugs as they were found.", "Search", True, spelled="no-reduce")
    restart: bool = option(
        "Start over with the first seed. (An earlier run of the hunt is continued automatically.)",
        "Output",
        False,
    )
    format_options: Mapping[str, Any] = field(default_factory=dict)
    """Options of the format's generator and tests, by name; others have their defaults."""
    opener: Opener | None = None  # where programs run; None: on this machine
    cluster: str | Cluster | None = same(
        Options,
        "cluster",
        help="Test seeds on a Dask cluster: tcp://HOST:PORT, local:N or a YAML file.",
    )
    ship: Sequence[Path] = same(Options, "ship")
    local_slots: int = same(Options, "local_slots")

    def __post_init__(self) -> None:
        """Parse a value that is written as on the command line: `90s`, `4G`, `auto`.

        Raises UsageError.
        """
        for name, read in read_fields(self):
            object.__setattr__(self, name, read)


class Campaign(ABC):
    """A prepared hunt."""

    test: TestFiles  # the programs and libraries under test
    suffix: str  # the suffix of the files of bugs
    frontend: Format  # knows what reduced inputs are made of
    notes: tuple[str, ...] = ()
    commands: tuple[Command, ...] = ()  # the user's programs, a reference last
    row: int = 1
    """The number of inputs tested together: findings for one may depend on those before it."""

    def __init__(self, options: HuntOptions, values: Mapping[str, Any], noun: str) -> None:
        self.options = options
        self.noun = _INPUT if noun == _FILE else noun  # the noun for an input
        self._values = values
        self._paths = () if options.seeds is None else tuple(files_in(options.seeds))
        self._files: Sequence[Path] = self._paths  # what inputs are made of
        seed: int = values["seed"]
        self.numbers = range(seed, seed + (options.count or WITHOUT_END))
        """All inputs: their seeds, or their indices among the files of a folder."""
        if self._paths:
            self.numbers = range(len(self._paths))[: options.count]

    @abstractmethod
    def results(self, numbers: range, control: Control) -> Iterator[InputResult | None]:
        """Test inputs in order; yield None when a reduction would not slow down any test."""

    @abstractmethod
    def test_file(self, path: Path) -> Iterator[InputResult | None]:
        """Test a file as the inputs are."""

    @abstractmethod
    def reduction(self, criterion: Criterion, text: bytes) -> ReductionConfig:
        """Return how to reduce an input that shows a bug."""

    @abstractmethod
    def summary(self, stats: HuntStats) -> tuple[str, ...]:
        """Return sentences about what was counted."""

    @property
    def cluster(self) -> Cluster | None:
        """The cluster that tests the seeds, if there is one."""
        cluster = self.options.cluster
        return cluster if isinstance(cluster, Cluster) and not self._paths else None

    @property
    def deciding(self) -> object:
        """What the results depend on besides `test`; its `repr` identifies it."""
        options = self.options
        stats = [(path, path.stat()) for path in self._files]
        files = [(str(path), status.st_size, status.st_mtime_ns) for path, status in stats]
        return (
            __version__, options.format, [each.words for each in self.test.commands],
            options.reference is not None, options.timeout, options.memory, options.keep_timeouts,
            sorted(self._values.items()), files, options.like and read_input(options.like),
        )  # fmt: skip


def prepare(options: HuntOptions, guard: Guard, stack: ExitStack) -> Campaign:
    """Prepare all that the options name; the stack closes what is opened. Raises UsageError."""
    registry.strategy(options.strategy)
    frontend = registry.frontend_class(options.format)
    generation = generation_of(options.format)
    testing: Testing | None = frontend.testing()
    values = _values(options, generation, testing)
    cluster = connected(options.cluster, options.ship, options.local_slots, stack)
    options = replace(options, cluster=cluster)
    if options.programs:
        return _ByPrograms(options, generation, values, guard, stack)
    if testing is None:
        raise UsageError(MISSING_PROGRAMS)
    for name in ("reference", "keep_timeouts"):
        if getattr(options, name):
            raise UsageError(f"`{name}` requires `command`")
    limits = Limits(wall=options.timeout, memory=options.memory or testing.memory)
    noun = _FILE if generation is None else generation.noun
    return _ByLibrary(options, testing.make(values, limits), values, noun, guard, stack)


def _values(
    options: HuntOptions, generation: Generation | None, testing: Testing | None
) -> dict[str, Any]:
    given = dict(options.format_options)
    asked_by = () if generation is None else generation.asked_by
    missing = all(given.get(each) is None for each in asked_by)
    if options.seeds is None and missing and (generation is None or asked_by):
        raise UsageError(
            f"there is no generator for {options.format}: give a folder of files (`seeds`)"
        )
    made = () if generation is None else generation.options
    own = () if testing is None else testing.options
    if options.programs:
        for each in own:
            if given.get(each.name, each.default) != each.default:
                raise UsageError(f"`{each.name}` has no effect with `command`: give one of them")
    default_seed = 0 if generation is None else generation.default_seed
    seed = default_seed if options.seed is None else options.seed
    return {**with_defaults((*made, *own), given), "seed": seed}


class _ByPrograms(Campaign):
    def __init__(
        self,
        options: HuntOptions,
        generation: Generation | None,
        values: Mapping[str, Any],
        guard: Guard,
        stack: ExitStack,
    ) -> None:
        self.commands = tuple(map(Command.of, options.programs))
        if options.reference is not None:
            self.commands = (*self.commands, Command.of(options.reference))
        self.test = TestFiles(self.commands, tuple(options.ship))
        if options.seeds is not None:
            generation = None
        super().__init__(options, values, _FILE if generation is None else generation.noun)
        self._generator: InputGenerator | None = None
        self._frontend_options: Mapping[str, Any] = {}
        if generation is None:
            self.suffix = plain_path(self._paths[0]).suffix
        else:
            with guard.held():
                self._generator = stack.enter_context(generation.make(values))
            self.suffix, self.notes = self._generator.suffix, tuple(self._generator.notes)
            self._frontend_options = self._generator.frontend_options
            self._files = self._generator.files
            places = any(each.takes_options for each in self.commands)
            if self._generator.has_options and not places:
                raise UsageError(
                    f"`solver_options`: no `command` has {OPTIONS}, the place for the options: "
                    f"'{Path(self.commands[0].words[0]).name} {OPTIONS} {{}}'"
                )
        self.frontend = self._fresh_frontend()
        with guard.allowed():  # contradicting options are rejected before anything is generated
            self._first = {self.numbers.start: self._made(self.numbers.start)}
        self._limits = Limits(wall=options.timeout, memory=options.memory)
        oracle = Oracle(self.commands, Everything(len(self.commands)))
        self._opener, self._jobs = options.opener, options.jobs
        if isinstance(options.cluster, Cluster):
            self._opener = options.cluster.opener(self.suffix)
            self._jobs = max(options.jobs, options.cluster.slots)
        with guard.held():
            executor = stack.enter_context(
                LocalExecutor(oracle, self._jobs, self.suffix, guard=guard)
                if self._opener is None
                else self._opener(oracle, self._jobs)
            )
        generator, frontend = self._generator, self.frontend
        well_formed = generator is not None and generator.well_formed
        with_options = generator is not None and generator.has_options

        def rejects(line: str) -> bool:
            if generator is not None and generator.unruly:
                return True
            if frontend.offers("rejects"):
                return frontend.rejects(line, well_formed=well_formed)
            return with_options and _REFUSED_OPTION.search(line) is not None

        self._tests = CommandTests(
            self.commands,
            options.reference is not None,
            self._limits,
            executor,
            options.keep_timeouts,
            options.keep_timeouts or options.seeds is not None,
            (lambda _: False) if generator is None else generator.breaks_rules,
            rejects,
            frontend if frontend.offers("wrong_model") else None,
            foreign=not well_formed,
        )

    def _fresh_frontend(self) -> Format:
        made = registry.frontend(self.options.format, **self._frontend_options)
        made.suffix = made.suffix or self.suffix
        return made

    def _made(self, number: int) -> Input:
        if self._generator is None:
            return input_from(self._paths, number)
        return generated_input(self.options.format, self._generator, number)

    def results(self, numbers: range, control: Control) -> Iterator[InputResult | None]:
        first = self._first
        inputs = (first.pop(each) if each in first else self._made(each) for each in numbers)
        return self._tests.results(inputs, control)

    def test_file(self, path: Path) -> Iterator[InputResult | None]:
        return self._tests.results(iter([input_from([path], 0)]), _TO_THE_END)

    def reduction(self, criterion: Criterion, text: bytes) -> ReductionConfig:
        return ReductionConfig(
            OwnReduction(self._fresh_frontend(), self._opener, _PATIENCE),
            self._limits,
            self.options.strategy,
            self._jobs,
            strict=self.options.keep_timeouts,
        )

    def summary(self, stats: HuntStats) -> tuple[str, ...]:
        said = _killed(stats)
        if stats.rejected_share >= MANY_REJECTED:
            said.append(rejections(stats))
        elif broken := stats.counts[RULES_BROKEN]:
            assert self._generator is not None
            said.append(f"{broken:,} {self._generator.rules_broken}")
        elif stats.rejected:
            said.append(f"{stats.rejected:,} need what a program does not support")
        if len(self.commands) > 1 and (refused := stats.counts[ALL_REJECTED]):
            said.append(f"{refused:,} of these by all programs")
        if lacking := stats.counts[OUT_OF_MEMORY]:
            said.append(f"{lacking:,} not tested: a program ran out of memory")
        return tuple(said)


class _ByLibrary(Campaign):
    def __init__(
        self,
        options: HuntOptions,
        own: OwnTests,
        values: Mapping[str, Any],
        noun: str,
        guard: Guard,
        stack: ExitStack,
    ) -> None:
        super().__init__(options, values, noun)
        self._own = own
        self._tests = LibraryTests(options.format, own, options.jobs, guard, stack)
        self.test = TestFiles((own.command,), own.libraries)
        self.suffix, self.notes = own.suffix, own.notes
        self.frontend = registry.frontend(options.format)
        self.row = 1 if self._paths else CHUNK

    def results(self, numbers: range, control: Control) -> Iterator[InputResult | None]:
        if self._paths:
            return self._tests.files(self._paths, numbers, control)
        return self._tests.seeds(numbers, control)

    def test_file(self, path: Path) -> Iterator[InputResult | None]:
        return self._tests.files([path], range(1), _TO_THE_END)

    def reduction(self, criterion: Criterion, text: bytes) -> ReductionConfig:
        own, found = self._own, self._own.reduction(criterion, text)
        return ReductionConfig(found, own.limits, self.options.strategy, subject=own.subject)

    def summary(self, stats: HuntStats) -> tuple[str, ...]:
        said = self._own.summary(stats.counts, stats.inputs, stats.seconds)
        return (*said, *_killed(stats))


def _killed(stats: HuntStats) -> list[str]:
    killed = stats.counts[KILLED]
    why = "the solver was killed by SIGKILL from outside each time (out of memory?)"
    return [f"{killed:,} not tested: {why}"] if killed else []


@dataclass(frozen=True, slots=True)
class Like:
    """The failures of a file, by the names of their findings."""

    path: Path
    text: bytes
    titles: Mapping[str, str]
    order: Callable[[bytes], Any]

    def only_smaller(
        self, result: InputResult, folder: Path, suffix: str, pending: Mapping[str, int]
    ) -> tuple[InputResult, list[str]]:
        """Return a result without failures of the file that a smaller input shows.

        Also returns the names of those that it keeps, after removing what `folder` has of them. A
        `pending` one is kept, as its input is tested again.
        """
        found, smaller, shown = [], [], 0
        for each in result.findings:
            shown += each.name in self.titles
            if each.name in self.titles and pending.get(each.name) != result.input.number:
                bug = bug_of(folder, suffix, each.name, each, result)
                files = [path for path in (bug.path, bug.reduced_path) if path.exists()]
                known = [self.text, *(path.read_bytes() for path in files)]
                if self.order(result.input.text) >= min(map(self.order, known)):
                    continue
                remove_bug(bug)
                smaller.append(each.name)
            found.append(each)
        counts = {**result.counts, SHOWN: shown, SMALLER: len(smaller)}
        return replace(result, findings=tuple(found), counts=counts), smaller

    def summary(self, stats: HuntStats) -> str:
        """Return a sentence on how many inputs show the failure."""
        shown, smaller = stats.counts[SHOWN], stats.counts[SMALLER]
        return f"{shown:,} fail like {self.path}, {smaller:,} of them smaller than any before"


def like_file(path: Path, campaign: Campaign) -> Like:
    """Test a file, and return its failures. Raises NotInterestingError if there are none."""
    (result,) = (each for each in campaign.test_file(path) if each is not None)
    text = result.input.text
    titles = {each.name: each.title for each in result.findings}
    if not titles:
        said = "" if result.rejection is None else f' ("{result.rejection.message}")'
        said = " in the time limit" if result.timed_out else said
        raise NotInterestingError(f"`like`: {path} shows no failure{said}, so none can be hunted")
    with suppress(ParseError):
        campaign.frontend.parse(text)  # traces are ordered by the calls of their format
    return Like(path, text, titles, campaign.frontend.order)
