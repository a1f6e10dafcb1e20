"""The options of a session: input, failure, limits, search, output.

All faces are made from them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self, TypeAlias, get_args

from reducekit import quantities
from reducekit.errors import UsageError
from reducekit.executors.executor import Executor, Repeat
from reducekit.executors.own import Subject
from reducekit.format import Effort, Format
from reducekit.option import given_fields, in_group, read_fields, several
from reducekit.oracle.also import Accepts, Also, Resolved, about_answers
from reducekit.oracle.command import Command, Vary, checking_model
from reducekit.oracle.command import Words as Words
from reducekit.oracle.criterion import Criterion, Kind, Making, Oracle, regex
from reducekit.oracle.flips import Unstable
from reducekit.oracle.kinds import KINDS, kind_of
from reducekit.oracle.own import Own
from reducekit.oracle.printed import Matches, Pattern, Test, WrongModel
from reducekit.run import Limits
from reducekit.session.cluster import Cluster

Opener: TypeAlias = Callable[[Oracle, int], Executor]
"""Opens an executor for an oracle and a number of parallel checks."""

MISSING_COMMAND = (
    "Missing `command`: the program that fails, such as './solver --opt' "
    "(or `oracle`: a test that exits with 0 if the file is interesting)"
)
EFFORTS: tuple[Effort, ...] = get_args(Effort)
FRESH = 16
"""Number of variants that no check uses.

A solver with a chance of 1 in 4 answers 4 of them, give or take 1.7.
"""


def _repeat(given: str | Repeat) -> Repeat:
    return given if isinstance(given, Repeat) else Repeat.parse(given)


def _pairs(given: Any) -> Any:
    one = isinstance(given, str) or (len(given) == 2 and isinstance(given[1], str))
    pairs = [given] if one else given
    if any(isinstance(each, str) or len(each) != 2 for each in pairs):
        raise ValueError("each is a pair of a command and a regular expression")
    return tuple(map(tuple, pairs))


def _frames(given: int | str) -> int | str:
    if isinstance(given, str) and not given.strip().isdecimal():
        return given
    if int(given) < 1:
        raise ValueError("expected a number of functions, at least 1, or a regular expression")
    return int(given)


def _paths(given: Any) -> tuple[Path, ...]:
    return tuple(map(Path, several(given)))


@dataclass(frozen=True, slots=True)
class KnownFailure:
    """A failure that is already known: the commands that show it, and what is preserved of it."""

    commands: tuple[Command, ...]
    criterion: Criterion
    subject: Callable[[], Subject] | None = None
    """What fails, for a bug report, if it is not the first command's program."""


@dataclass(frozen=True, kw_only=True)
class Known(Kind):
    """A failure that was found already, as in a hunt."""

    asked_by: ClassVar[tuple[str, ...]] = ("known",)
    known: KnownFailure | None = None
    """The failure if it is already known, as in a hunt."""

    def commands(self, made: Making) -> tuple[Command, ...]:
        return () if self.known is None else self.known.commands

    def criterion(self) -> Criterion:
        assert self.known is not None
        return self.known.criterion


_failure = in_group("Failure")
_limit = in_group("Limits")
_search = in_group("Search")
_output = in_group("Output")
_cluster = in_group("Cluster")
_KINDS: tuple[type[Kind], ...] = (*KINDS, Known)


_OF_KINDS: dict[str, Any] = {
    each.name: field(default=each.default, metadata=each.metadata)
    for kind in _KINDS
    for each in fields(kind)
}
"""The options that the kinds of failure declare, with their help and defaults."""


@dataclass(frozen=True, kw_only=True)
class Failure:
    """What is preserved, and the limits of each run. Times are in seconds, sizes in bytes.

    All options also take text, as on the command line: `timeout="90s"`, `memory="4G"`. Exactly one
    of `command`, `oracle`, `interesting` and `known` defines the failure. With `command` alone, the
    command's own failure is preserved: its exit status or signal and its failure line.
    """

    # The options of the kinds of failure, which `reducekit.oracle.kinds` explains, in the order of
    # the help.
    command: Words | None = _OF_KINDS["command"]
    oracle: Words | None = _OF_KINDS["oracle"]
    interesting: Callable[[bytes], bool] | None = None
    """The same as a function. It must always return the same for the same text."""
    known: KnownFailure | None = None
    """The failure if it is already known, as in a hunt."""
    exit_code: int | None = _OF_KINDS["exit_code"]
    match_out: Sequence[str] = _OF_KINDS["match_out"]
    match_err: Sequence[str] = _OF_KINDS["match_err"]
    reference: Words | None = _OF_KINDS["reference"]
    wrong_model: bool = _OF_KINDS["wrong_model"]
    slower_than: float | None = _OF_KINDS["slower_than"]
    slower_ratio: float | None = None
    """The least ratio of the run's time to that of the `reference`."""
    cost: str | None = _OF_KINDS["cost"]
    at_least: float | None = _OF_KINDS["at_least"]
    times: float | None = _OF_KINDS["times"]
    floor: float | None = _OF_KINDS["floor"]
    regression: bool = _OF_KINDS["regression"]
    unstable: int | None = _OF_KINDS["unstable"]
    good: int = _OF_KINDS["good"]
    bad: int = _OF_KINDS["bad"]
    ignore_out: bool = _OF_KINDS["ignore_out"]
    ignore_err: bool = _OF_KINDS["ignore_err"]
    # Those of every failure.
    also_passes: Sequence[Words] = _failure(
        "CMD must also accept the file (exit 0). Repeatable.", (), read=several, metavar="CMD"
    )
    also_match: Sequence[tuple[Words, str]] = _failure(
        "Stdout of CMD must also match REGEX. Repeatable.",
        (),
        read=_pairs,
        metavar="CMD REGEX",
        rare=True,
    )
    match_stack: int | str | None = _failure(
        "The crash stays in the same N innermost functions, or in one that matches REGEX (gdb).",
        read=_frames,
        metavar="N|REGEX",
        rare=True,
    )
    unresolved: int | None = _failure(
        "Status or signal by which --cmd or --oracle says that it cannot judge a file.",
        read=quantities.exit_code,
        metavar="N|SIGNAL",
        rare=True,
    )
    stdin: bool = _failure("Pass the file on standard input.", False, rare=True)
    shell: bool = _failure("Run commands with /bin/sh (pipes, variables).", False, rare=True)
    timeout: float | None = _limit(
        "Limit of a run: 90s, 5m (default: 4 times the best file's).",
        read=quantities.seconds,
        metavar="S",
    )
    first_timeout: float | None = _limit(
        "Time limit of a run on the input.", read=quantities.seconds, spelled=None
    )
    cpu: float | None = _limit(
        "CPU time of each process of a run, such as 90s; rounded up to seconds.",
        read=quantities.seconds,
        metavar="S",
        rare=True,
    )
    memory: int | None = _limit(
        "Address space of each process, in megabytes or as 4G.", read=quantities.size, metavar="MB"
    )
    max_output: int | None = _limit(
        "Output kept of each stream; a run that prints more is stopped "
        f"(default: {Limits().output / 1e6:.1f}).",
        read=quantities.size,
        metavar="MB",
        rare=True,
    )

    def __post_init__(self) -> None:
        """Parse a value that is written as on the command line: `90s`, `4G`, `auto`.

        Raises UsageError.
        """
        for name, read in read_fields(self):
            if isinstance(read, quantities.Slowness):
                object.__setattr__(self, "slower_ratio", read.ratio or self.slower_ratio)
                read = read.seconds
            object.__setattr__(self, name, read)

    @cached_property
    def kind(self) -> Kind:
        """The kind of failure that the options ask for. Raises UsageError if they contradict."""
        return kind_of(given_fields(self), _KINDS)

    @property
    def says_what_fails(self) -> bool:
        """Whether a command, a test or a function is given."""
        return bool(self.command or self.oracle or self.interesting or self.known)

    def with_commands(self, change: Callable[[Words], Words]) -> Self:
        """Return the same failure with each command changed by a function."""
        named = ("command", "oracle", "reference")
        given = {name: getattr(self, name) for name in named}
        changed: dict[str, Any] = {
            name: change(words) for name, words in given.items() if words is not None
        }
        return replace(
            self,
            also_passes=tuple(map(change, self.also_passes)),
            also_match=tuple((change(words), pattern) for words, pattern in self.also_match),
            **changed,
        )

    def limits(self) -> Limits:
        """Return the limits of each run."""
        output = Limits().output if self.max_output is None else self.max_output
        return Limits(self.timeout, self.cpu, self.memory, output)

    def commands_and_criterion(
        self, vary: Vary | None = None, frontend: Format | None = None
    ) -> tuple[tuple[Command, ...], Criterion]:
        """Return the commands of the oracle, and the criterion that judges their outcomes.

        `vary` makes variants of a text, if its format does (`Format.variant`); `frontend`
        checks models, if it can. Raises UsageError for options that contradict each
        other.
        """
        if not self.says_what_fails:
            raise UsageError(MISSING_COMMAND)
        kind, made = self.kind, self._made
        commands, criterion = _varied(kind.commands(made), vary), kind.criterion()
        if isinstance(kind, WrongModel):
            commands = (_checking(commands, frontend),)
        if self.unresolved is not None:
            if not commands:
                raise UsageError("`unresolved` requires `command` or `oracle`")
            criterion = Resolved(criterion, self.unresolved)
        if self.slower_than is not None and self.timeout is not None:
            raise UsageError("`slower_than` is the time limit: it does not go with `timeout`")
        others: list[tuple[str, Command, Criterion]] = [
            (command.words[0], command, Accepts()) for command in map(made, self.also_passes)
        ]
        for words, pattern in self.also_match:
            command = made(words)
            wanted = Matches(out=(regex("also_match", pattern),))
            others.append((command.shell_line("FILE"), command, wanted))
        if others:
            names, added, criteria = zip(*others, strict=True)
            criterion = Also(criterion, len(commands), criteria, names)
            commands = (*commands, *added)
        if self.match_stack is None:
            return commands, criterion
        if not isinstance(kind, Own | Pattern | Test):
            raise UsageError(
                "`match_stack` requires `command` or `oracle`, and no other kind of failure"
            )
        from reducekit.oracle.stack import SameStack, under_gdb

        found = SameStack(criterion, len(commands))
        if isinstance(self.match_stack, int):
            found = replace(found, count=self.match_stack)
        else:
            pattern = regex("match_stack", self.match_stack).pattern.decode()
            found = replace(found, pattern=re.compile(pattern))
        gdb = under_gdb(commands[0])
        return (commands if gdb is None else (*commands, gdb)), found

    def fresh_commands(
        self, commands: Sequence[Command], criterion: Criterion, vary: Vary | None
    ) -> tuple[Command, ...]:
        """Return the commands on variants that no check uses, for a failure about answers."""
        if isinstance(self.kind, Unstable):
            return _varied(self.kind.fresh(FRESH, self._made), vary)
        if vary is None or not about_answers(criterion):
            return ()
        return tuple(
            replace(each, variant=number, vary=vary)
            for number in range(1, FRESH + 1)
            for each in commands
        )

    def _made(self, words: Words) -> Command:
        return Command.of(words, stdin=self.stdin, shell=self.shell)


def _checking(commands: Sequence[Command], frontend: Format | None) -> Command:
    """Return the command of the test of models, by the format and perhaps by the last command.

    Raises UsageError.
    """
    if frontend is None or not frontend.model_check:
        raise UsageError("`wrong_model`: models of this format are not checked")
    if commands[1:] and not frontend.asks_checkers:
        raise UsageError("`wrong_model` needs no `reference` for this format: omit it")
    return checking_model(frontend.model_check, *commands)


def _varied(commands: Sequence[Command], vary: Vary | None) -> tuple[Command, ...]:
    """Return commands with the function that makes variants.

    Raises UsageError if the variants would be equal.
    """
    if vary is None:
        found = tuple(replace(each, variant=0) for each in commands)
    else:
        found = tuple(replace(each, vary=vary) if each.variant else each for each in commands)
    if len(set(found)) < len(set(commands)):
        raise UsageError(
            "`unstable`: files of this format have no variants, so the command needs {seed}, "
            "as in 'z3 smt.random_seed={seed}'"
        )
    return found


@dataclass(frozen=True, kw_only=True)
class Options(Failure):
    """All options of a session, as plain data."""

    input: Path | bytes
    """A file or a folder, or the text itself."""
    more_inputs: Sequence[Path] = ()
    """Files and folders below the current one, to reduce together with the input."""
    name: str = ""
    """The name of the input in messages (default: its path)."""
    format: str | Format | None = None
    """A frontend or its name; None: found by the suffix of the file or by the text, else `text`."""
    repeat: Repeat | None = _failure(
        "Flaky failure: require K failing runs out of N.", read=_repeat, metavar="K-of-N"
    )
    max_checks: int | None = _limit("Stop after N checks.", read=quantities.count, metavar="N")
    max_time: float | None = _limit(
        "Stop after S seconds, or as 10m, 2h.", read=quantities.seconds, metavar="S"
    )
    until: int | None = _limit(
        "Stop when the file has at most BYTES bytes.",
        read=quantities.count,
        metavar="BYTES",
        rare=True,
    )
    patience: int | None = _limit(
        "Stop after N checks without success; 0: never.",
        2000,
        read=quantities.count,
        metavar="N",
        rare=True,
    )
    strategy: str = _search("The search algorithm.", "adaptive", metavar="NAME")
    effort: Effort = _search(
        "quick, normal, or thorough: also detours over larger files.",
        "normal",
        choices=EFFORTS,
        metavar="LEVEL",
    )
    jobs: int = _search(
        "Parallel checks, or auto (default: 2; 1 for scripts and --slower-than).",
        1,
        read=quantities.jobs,
        metavar="N",
        short="j",
    )
    width: int | None = _search(
        "Size of the speculation window (default: --jobs). Determines the result.",
        read=quantities.width,
        metavar="N",
        rare=True,
    )
    fast: bool = _search("Process results as they arrive; not reproducible.", False, rare=True)
    only: Sequence[str] = _search(
        "Run only this pass. Repeatable; `reducekit passes FORMAT` lists the names.",
        (),
        read=several,
        metavar="PASS",
        rare=True,
    )
    without: Sequence[str] = _search(
        "Skip this pass. Repeatable.", (), read=several, metavar="PASS", rare=True
    )
    protect: Sequence[str] = _search(
        "What REGEX matches in the file has to stay. Repeatable.", (), read=several, metavar="REGEX"
    )
    propose: Sequence[Words] = _search(
        "Also try what CMD prints for the best file: paths or edits, one a line. Repeatable.",
        (),
        read=several,
        metavar="CMD",
        rare=True,
    )
    prefer: Words | None = _search(
        "Of files of one size, prefer those for which CMD prints a smaller number.",
        metavar="CMD",
        rare=True,
    )
    prefer_first: bool = _search(
        "Compare the numbers of --prefer before the sizes.", False, rare=True
    )
    output: Path | None = _output(
        "Result, or - for stdout (default: in.reduced.SUFFIX); a folder for several files.",
        read=Path,
        metavar="FILE",
        short="o",
    )
    in_place: bool = _output("Replace INPUT; the original is kept as .orig.", False)
    restart: bool = _output("Start over; existing results are renamed.", False)
    resume: bool = _output(
        "Require an earlier run to resume. (A matching run is resumed automatically.)",
        False,
        rare=True,
    )
    journal: bool = _output(
        "Do not write a journal next to the output.", True, spelled="no-journal", rare=True
    )
    also_interesting: Path | None = _output(
        "Keep the smallest file for each other failure in DIR.", read=Path, metavar="DIR", rare=True
    )
    pretty: bool = _output("Pretty-print the result if it still fails.", False)
    lenient: bool = _output("Reduce a file that does not parse as any text.", False, rare=True)
    workdir: Path | None = _output(
        "Write candidates below DIR (default: TMPDIR if set, otherwise in memory).",
        read=Path,
        metavar="DIR",
        rare=True,
    )
    cluster: str | Cluster | None = _cluster(
        "Run checks on a Dask cluster: tcp://HOST:PORT, local:N or a YAML file.",
        metavar="WHERE",
        rare=True,
    )
    ship: Sequence[Path] = _cluster(
        "Send FILE to the workers. Repeatable.", (), read=_paths, metavar="FILE", rare=True
    )
    local_slots: int = _cluster(
        "Fall back to N local jobs when the cluster is lost.",
        0,
        read=quantities.count,
        metavar="N",
        rare=True,
    )
    opener: Opener | None = None
    """Where checks run; None: on this machine, or in this process for `interesting`."""

    @cached_property
    def several(self) -> bool:
        """Whether the input is several files, or a folder."""
        return bool(self.more_inputs) or (isinstance(self.input, Path) and self.input.is_dir())

    @property
    def input_name(self) -> str:
        """The name of the input in messages."""
        if self.name:
            return self.name
        return "input" if isinstance(self.input, bytes) else str(self.input)
