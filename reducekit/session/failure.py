"""The options of a failure: what is preserved, and the limits of each run."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeAlias

from reducekit import quantities
from reducekit.errors import UsageError
from reducekit.executors.executor import Executor
from reducekit.option import given_fields, in_group, read_fields
from reducekit.oracle.command import Command, Vary, checking_model
from reducekit.oracle.command import Words as Words
from reducekit.oracle.criterion import Criterion, Kind, Making, Oracle, regex
from reducekit.run import Limits

if TYPE_CHECKING:
    from reducekit.executors.own import Subject
    from reducekit.format import Format

Opener: TypeAlias = Callable[[Oracle, int], Executor]
"""Opens an executor for an oracle and a number of parallel checks."""

MISSING_COMMAND = (
    "Missing `command`: the program that fails, such as './solver --opt' "
    "(or `oracle`: a test that exits with 0 if the file is interesting)"
)
FRESH = 16
"""Number of variants that no check uses.

A solver with a chance of 1 in 4 answers 4 of them, give or take 1.7.
"""


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


class KnownFailure(NamedTuple):
    """A failure that is already known: the commands that show it, and what is preserved of it."""

    commands: tuple[Command, ...]
    criterion: Criterion
    subject: Callable[[], Subject] | None = None  # what fails, if not the first command's program


@dataclass(frozen=True, kw_only=True)
class Known(Kind):
    """A failure that was found already, as in a hunt."""

    known: KnownFailure | None = None  # the failure if it is already known, as in a hunt

    def commands(self, made: Making) -> tuple[Command, ...]:
        return () if self.known is None else self.known.commands

    def criterion(self) -> Criterion:
        assert self.known is not None
        return self.known.criterion


Kinds: TypeAlias = Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]
"""By module and class: the options that ask for a kind, and its other ones.

A kind has a file of its own, with what runs and what judges that. It is imported only if its kind
is asked for; a test compares this table with the fields of the classes.
"""
_PRINTED = ("exit_code", "match_out", "match_err")
_COMPARED = ("command", "reference")
KINDS: Kinds = {
    "reducekit.oracle.printed:Test": (("oracle",), ()),
    "reducekit.oracle.printed:Predicate": (("interesting",), ()),
    "reducekit.oracle.compared:Disagreement": (("reference",), ("command", *_PRINTED)),
    "reducekit.oracle.printed:WrongModel": (("wrong_model",), _COMPARED),
    "reducekit.oracle.proof:WrongProof": (("proof", "checker"), ()),
    "reducekit.oracle.compared:Slow": (("slower_than", "slower_ratio"), _COMPARED),
    "reducekit.oracle.cost:Costly": (
        ("cost", "regression"),
        (*_COMPARED, *_PRINTED, "at_least", "times", "floor"),
    ),
    "reducekit.oracle.flips:Unstable": (("unstable",), ("command", "good", "bad")),
    "reducekit.oracle.printed:Pattern": (_PRINTED, ("command",)),
    "reducekit.session.failure:Known": (("known",), ()),
    "reducekit.oracle.own:Own": (("command",), ("ignore_out", "ignore_err")),
}


def kind_of(given: Mapping[str, Any], kinds: Kinds = KINDS) -> Kind:
    """Return the kind that the given options ask for: those whose value is not the default.

    Raises UsageError where no kind has them all, or where what asks for their kind is missing.
    """
    known = {name for own in kinds.values() for some in own for name in some}
    chosen = [name for name in given if name in known]
    for home, (asked_by, more) in kinds.items():
        if {*asked_by, *more}.issuperset(chosen) and not set(asked_by).isdisjoint(chosen):
            module, _, name = home.partition(":")
            kind: Kind = getattr(import_module(module), name)(
                **{name: given[name] for name in chosen}
            )
            return kind
    raise UsageError(_contradiction(chosen, kinds))


def _contradiction(chosen: Sequence[str], kinds: Kinds) -> str:
    names = [({*asked_by, *more}, asked_by) for asked_by, more in kinds.values()]
    for at, one in enumerate(chosen):
        for other in chosen[:at]:
            if not any({one, other} <= own for own, _ in names):
                return f"`{other}` and `{one}` are mutually exclusive: give one"
    asked_by = next((asked_by for own, asked_by in names if own.issuperset(chosen)), None)
    if asked_by is None:
        return f"{', '.join(f'`{each}`' for each in chosen)} are mutually exclusive: give fewer"
    needless = next(each for each in reversed(chosen))
    return f"`{needless}` requires {' or '.join(f'`{each}`' for each in asked_by)}"


_failure = in_group("Failure")
_failure_rare = in_group("Failure", rare=True)
_limit = in_group("Limits")
_limit_rare = in_group("Limits", rare=True)


@dataclass(frozen=True, kw_only=True)
class Failure:
    """What is preserved, and the limits of each run. Times are in seconds, sizes in bytes.

    All options also take text, as on the command line: `timeout="90s"`, `memory="4G"`. Exactly one
    of `command`, `oracle`, `interesting` and `known` defines the failure. With `command` alone, the
    command's own failure is preserved: its exit status or signal and its failure line.
    """

    # The options of the kinds of failure, in the order of the help.
    command: Words | None = _failure(
        "The program under test; its failure is kept.", metavar="CMD", spelled="cmd"
    )
    oracle: Words | None = _failure(
        "An interestingness test: exit status 0 keeps a file.", metavar="CMD"
    )
    interesting: Callable[[bytes], bool] | None = None
    """The same as a function. It must always return the same for the same text."""
    known: KnownFailure | None = None  # the failure if it is already known, as in a hunt
    exit_code: int | None = _failure(
        "The failure: this status or signal (139, SIGSEGV).", read=quantities.exit_code
    )
    match_out: Sequence[str] = _failure(
        "The failure: stdout matches REGEX. Repeatable.", (), metavar="REGEX"
    )
    match_err: Sequence[str] = _failure(
        "The failure: stderr matches REGEX. Repeatable.", (), metavar="REGEX"
    )
    reference: Words | None = _failure(
        "The failure: --cmd and CMD disagree (sat/unsat).", metavar="CMD"
    )
    wrong_model: bool = _failure("The failure: --cmd prints a wrong model.", False)
    proof: Words | None = _failure_rare(
        "The failure: --checker rejects the proof that CMD writes to {proof}.", metavar="CMD"
    )
    checker: Words | None = _failure_rare("Checks the proof of --proof.", metavar="CMD")
    slower_than: float | None = _failure(
        "The failure: a run takes S seconds or more, or R times as long as --reference.",
        read=quantities.slowness,
        metavar="S|Rx",
    )
    slower_ratio: float | None = None  # the least ratio of the time to that of the `reference`
    cost: str | None = _failure("The failure: this counter of --cmd is high.", metavar="NAME")
    at_least: float | None = _failure_rare(
        "The least --cost to keep (default: a tenth of what it is on INPUT).",
        read=quantities.number,
    )
    times: float | None = _failure_rare(
        "The least --cost to keep, as a multiple of that of --reference.",
        read=quantities.number,
        metavar="K",
    )
    floor: float | None = _failure_rare(
        "The --cost of --reference counts as N if it is less; replaces the default of --at-least.",
        read=quantities.number,
    )
    regression: bool = _failure_rare(
        "The failure: --cmd takes --times the steps of --reference (default: 4).", False
    )
    unstable: int | None = _failure(
        "The failure: of N variants, --cmd solves some only.", read=quantities.positive
    )
    good: int = _failure_rare(
        "As many runs of --unstable must be answered.", 1, read=quantities.positive
    )
    bad: int = _failure_rare(
        "As many runs of --unstable must end with unknown.", 1, read=quantities.positive
    )
    ignore_out: bool = _failure_rare("Ignore stdout when matching the failure.", False)
    ignore_err: bool = _failure_rare("Ignore stderr when matching the failure.", False)
    # Those of every failure.
    also_passes: Sequence[Words] = _failure(
        "CMD must also accept the file (exit 0). Repeatable.", (), metavar="CMD"
    )
    also_match: Sequence[tuple[Words, str]] = _failure_rare(
        "Stdout of CMD must also match REGEX. Repeatable.", (), read=_pairs, metavar="CMD REGEX"
    )
    match_stack: int | str | None = _failure_rare(
        "The crash stays in the same N innermost functions, or in one that matches REGEX (gdb).",
        read=_frames,
        metavar="N|REGEX",
    )
    unresolved: int | None = _failure_rare(
        "Status or signal by which --cmd or --oracle says that it cannot judge a file.",
        read=quantities.exit_code,
    )
    stdin: bool = _failure_rare("Pass the file on standard input.", False)
    shell: bool = _failure_rare("Run commands with /bin/sh (pipes, variables).", False)
    timeout: float | None = _limit(
        "Limit of a run: 90s, 5m (default: 4 times the best file's).", read=quantities.seconds
    )
    first_timeout: float | None = _limit(
        "Time limit of a run on the input.", read=quantities.seconds, spelled=None
    )
    cpu: float | None = _limit_rare(
        "CPU time of each process of a run, such as 90s; rounded up to seconds.",
        read=quantities.seconds,
    )
    memory: int | None = _limit(
        "Address space of each process, in megabytes or as 4G.", read=quantities.size
    )
    max_output: int | None = _limit_rare(
        "Output kept of each stream; a run that prints more is stopped "
        f"(default: {Limits().output / 1e6:.1f}).",
        read=quantities.size,
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
        return kind_of(given_fields(self), KINDS)

    @property
    def says_what_fails(self) -> bool:
        """Whether a command, a test or a function is given."""
        given = (self.command, self.oracle, self.interesting, self.known, self.proof)
        return any(given)

    def with_commands(self, change: Callable[[Words], Words]) -> Self:
        """Return the same failure with each command changed by a function."""
        named = ("command", "oracle", "reference", "proof", "checker")
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
        if self.wrong_model:
            if frontend is None or not frontend.model_check:
                raise UsageError("`wrong_model`: models of this format are not checked")
            if commands[1:] and not frontend.asks_checkers:
                raise UsageError("`wrong_model` needs no `reference` for this format: omit it")
            commands = (checking_model(frontend.model_check, *commands),)
        if self.unresolved is not None:
            if not commands:
                raise UsageError("`unresolved` requires `command` or `oracle`")
            from reducekit.oracle.also import Resolved

            criterion = Resolved(criterion, self.unresolved)
        if self.slower_than is not None and self.timeout is not None:
            raise UsageError("`slower_than` is the time limit: it does not go with `timeout`")
        if self.also_passes or self.also_match:
            commands, criterion = self._and_others(commands, criterion)
        if self.match_stack is None:
            return commands, criterion
        if not kind.crashes:
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
        if found := self.kind.fresh(FRESH, self._made):
            return _varied(found, vary)
        if vary is None or not criterion.about_answers:
            return ()
        return tuple(
            each._replace(variant=number, vary=vary)
            for number in range(1, FRESH + 1)
            for each in commands
        )

    def _and_others(
        self, commands: tuple[Command, ...], criterion: Criterion
    ) -> tuple[tuple[Command, ...], Criterion]:
        from reducekit.oracle.also import Accepts, Also
        from reducekit.oracle.printed import Matches

        others: list[tuple[str, Command, Criterion]] = [
            (command.words[0], command, Accepts()) for command in map(self._made, self.also_passes)
        ]
        for words, pattern in self.also_match:
            command = self._made(words)
            wanted = Matches(out=(regex("also_match", pattern),))
            others.append((command.shell_line("FILE"), command, wanted))
        names, added, criteria = zip(*others, strict=True)
        return (*commands, *added), Also(criterion, len(commands), criteria, names)

    def _made(self, words: Words) -> Command:
        return Command.of(words, stdin=self.stdin, shell=self.shell)


def _varied(commands: Sequence[Command], vary: Vary | None) -> tuple[Command, ...]:
    """Return commands with the function that makes variants.

    Raises UsageError if the variants would be equal.
    """
    if vary is None:
        found = tuple(each._replace(variant=0) for each in commands)
    else:
        found = tuple(each._replace(vary=vary) if each.variant else each for each in commands)
    if len(set(found)) < len(set(commands)):
        raise UsageError(
            "`unstable`: files of this format have no variants, so the command needs {seed}, "
            "as in 'z3 smt.random_seed={seed}'"
        )
    return found
