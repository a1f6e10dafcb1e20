"""The kinds of failure that can be kept: one class each, and the options that ask for it.

A class here is all that a new kind needs. Its fields are its options, declared as everywhere by
`reducekit.option`: the command line, Python, the settings file and the reference are made of them,
because the options of a session inherit them. Which options exclude each other is declared nowhere:
options go together if there is a kind that has both (`kind_of`).
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, TypeAlias

from reducekit import quantities
from reducekit.errors import UsageError
from reducekit.option import option, several
from reducekit.oracle.also import Printing
from reducekit.oracle.command import Command
from reducekit.oracle.cost import CostAtLeast, counter
from reducekit.oracle.counters import (
    SOLVERS,
    STEPS,
    Words,
    bound_of,
    counters_of,
    counting,
    program_of,
    solver_of,
)
from reducekit.oracle.criterion import (
    WRONG_MODEL,
    Criterion,
    Disagree,
    ExitZero,
    Matches,
    OwnFailure,
    SlowerThan,
    SlowerThanReference,
)
from reducekit.oracle.flips import Flips

Making: TypeAlias = Callable[[Words], Command]
"""Makes a command as the options say, such as with a shell or standard input."""


@dataclass(frozen=True, kw_only=True)
class Kind(ABC):
    """A kind of failure: inherit, declare options as fields, and say what they mean.

    Messages name an option `like_this`, as in Python; a face spells it in its own way.
    """

    asked_by: ClassVar[tuple[str, ...]]
    """Any of these options asks for this kind."""

    @abstractmethod
    def commands(self, made: Making) -> tuple[Command, ...]:
        """Return the commands of a check, in order. Raises UsageError if one cannot be run."""

    @abstractmethod
    def criterion(self) -> Criterion:
        """Return what judges their outcomes. Raises UsageError for values that contradict."""


@dataclass(frozen=True, kw_only=True)
class OfCommand(Kind):
    """A failure of one command: for most kinds the only one that runs."""

    asked_by: ClassVar[tuple[str, ...]] = ("command",)
    command: Words | None = option(
        "The program under test; its failure is kept.", "Failure", metavar="CMD", spelled="cmd"
    )

    def commands(self, made: Making) -> tuple[Command, ...]:
        return (made(self.command or ""),)


@dataclass(frozen=True, kw_only=True)
class Test(Kind):
    """An interestingness test says which files are interesting."""

    __test__ = False  # for pytest: its name begins with Test
    asked_by: ClassVar[tuple[str, ...]] = ("oracle",)
    oracle: Words | None = option(
        "An interestingness test: exit status 0 keeps a file.", "Failure", metavar="CMD"
    )

    def commands(self, made: Making) -> tuple[Command, ...]:
        return (made(self.oracle or ""),)

    def criterion(self) -> Criterion:
        return ExitZero()


@dataclass(frozen=True, kw_only=True)
class Predicate(Kind):
    """The same as a Python function: no command runs."""

    asked_by: ClassVar[tuple[str, ...]] = ("interesting",)
    interesting: Callable[[bytes], bool] | None = None
    """The same as a function. It must always return the same for the same text."""

    def commands(self, made: Making) -> tuple[Command, ...]:
        return ()

    def criterion(self) -> Criterion:
        """Return the criterion in place of the function: exit status 0."""
        return ExitZero(words="the predicate holds")


@dataclass(frozen=True, kw_only=True)
class Printed(OfCommand):
    """How the command ends, and what it prints."""

    exit_code: int | None = option(
        "The failure: this status or signal (139, SIGSEGV).",
        "Failure",
        read=quantities.exit_code,
        metavar="N|SIGNAL",
    )
    match_out: Sequence[str] = option(
        "The failure: stdout matches REGEX. Repeatable.",
        "Failure",
        (),
        read=several,
        metavar="REGEX",
    )
    match_err: Sequence[str] = option(
        "The failure: stderr matches REGEX. Repeatable.",
        "Failure",
        (),
        read=several,
        metavar="REGEX",
    )

    def patterns(self) -> Matches:
        """Return the status and the patterns. Raises UsageError."""
        out = tuple(regex("match_out", each) for each in self.match_out)
        err = tuple(regex("match_err", each) for each in self.match_err)
        return Matches(self.exit_code, out, err)

    def printing(self, criterion: Criterion, runs: int = 1) -> Criterion:
        """Return a criterion together with the status and patterns that are given.

        The command has the first `runs` runs.
        """
        patterns = self.patterns()
        return criterion if patterns == Matches() else Printing(criterion, patterns, runs)


@dataclass(frozen=True, kw_only=True)
class Compared(OfCommand):
    """Two programs run on the same file."""

    reference: Words | None = option(
        "The failure: --cmd and CMD disagree (sat/unsat).", "Failure", metavar="CMD"
    )

    def commands(self, made: Making) -> tuple[Command, ...]:
        return (
            *super().commands(made),
            *(() if self.reference is None else (made(self.reference),)),
        )


@dataclass(frozen=True, kw_only=True)
class Disagreement(Compared, Printed):
    """Two programs answer differently."""

    asked_by: ClassVar[tuple[str, ...]] = ("reference",)

    def criterion(self) -> Criterion:
        """Return the criterion: their answers differ."""
        return self.printing(Disagree())


@dataclass(frozen=True, kw_only=True)
class WrongModel(Compared):
    """A program prints a model that violates the input."""

    asked_by: ClassVar[tuple[str, ...]] = ("wrong_model",)
    wrong_model: bool = option("The failure: --cmd prints a wrong model.", "Failure", False)

    def criterion(self) -> Criterion:
        """Return the criterion: the test of models says so."""
        return WRONG_MODEL


@dataclass(frozen=True, kw_only=True)
class Slow(Compared):
    """A run takes long, or longer than that of another program."""

    asked_by: ClassVar[tuple[str, ...]] = ("slower_than", "slower_ratio")
    slower_than: float | None = option(
        "The failure: a run takes S seconds or more, or R times as long as --reference.",
        "Failure",
        read=quantities.slowness,
        metavar="S|Rx",
    )
    slower_ratio: float | None = None
    """The least ratio of the run's time to that of the `reference`."""

    def criterion(self) -> Criterion:
        if self.slower_than is not None and self.slower_ratio is not None:
            raise UsageError("`slower_than` is a time or a ratio: give one")
        if self.reference is not None:
            return SlowerThanReference(self.slower_than, self.slower_ratio)
        if self.slower_than is None:
            raise UsageError("`slower_than` as a ratio needs `reference`: slower than what?")
        return SlowerThan(self.slower_than)


@dataclass(frozen=True, kw_only=True)
class Costly(Compared, Printed):
    """A counter that the program prints is high, or higher than that of another program.

    Counters repeat where times do not: the same file gives the same number on a loaded machine.
    """

    asked_by: ClassVar[tuple[str, ...]] = ("cost", "regression")
    cost: str | None = option(
        "The failure: this counter of --cmd is high.",
        "Failure",
        metavar="NAME",
    )
    at_least: float | None = option(
        "The least --cost to keep (default: a tenth of what it is on INPUT).",
        "Failure",
        read=quantities.number,
        metavar="N",
        rare=True,
    )
    times: float | None = option(
        "The least --cost to keep, as a multiple of that of --reference.",
        "Failure",
        read=quantities.number,
        metavar="K",
        rare=True,
    )
    floor: float | None = option(
        "The --cost of --reference counts as N if it is less; replaces the default of --at-least.",
        "Failure",
        read=quantities.number,
        metavar="N",
        rare=True,
    )

    regression: bool = option(
        "The failure: --cmd takes --times the steps of --reference (default: 4).",
        "Failure",
        False,
        rare=True,
    )

    def commands(self, made: Making) -> tuple[Command, ...]:
        given = (each for each in (self.command, self.reference) if each is not None)
        return tuple(made(words) for each in given for words in _seeded(counting(each)))

    def criterion(self) -> Criterion:
        """Return how high the counter must be. Raises UsageError for bounds that contradict."""
        if self.regression and self.reference is None:
            raise UsageError("`regression` requires `reference`")
        if self.reference is None and (self.times is not None or self.floor is not None):
            name = "floor" if self.times is None else "times"
            raise UsageError(f"`{name}` requires `reference`: how many times whose `cost`?")
        times = self.times or (None if self.reference is None else _WORSE)
        name = self._counter(self.cost or self._steps())
        counter(name)
        runs = len(_seeded(self.command or ""))
        found = CostAtLeast(
            name,
            runs,
            0 if self.reference is None else len(_seeded(self.reference)),
            self.at_least,
            times,
            self.floor,
            answered=self.regression,
            free=bool(self.match_out),
        )
        return self.printing(found, runs)

    def _counter(self, name: str) -> str:
        """Return how the solvers call a counter: by the names for all, or as it was given."""
        given = [each for each in (self.command, self.reference) if each is not None]
        own = "|".join(counters_of(each).get(name, name) for each in given)
        return "|".join(dict.fromkeys(own.split("|")))

    def _steps(self) -> str:
        """Return the counter of steps that both programs have. Raises UsageError."""
        given = [each for each in (self.command, self.reference) if each is not None]
        for each in given:
            if STEPS not in counters_of(each):
                known = ", ".join(name for name, own in SOLVERS.items() if STEPS in own.counters)
                others = ", ".join(counters_of(each))
                raise UsageError(
                    f"`regression` knows the steps of {known} only, not of {program_of(each)!r}: "
                    f"give `cost`, a counter that it prints{f' ({others})' if others else ''}"
                )
        if len({counters_of(each)[STEPS] for each in given}) > 1:
            raise UsageError("`regression`: the programs count different steps: give `cost`")
        return STEPS


_WORSE = 4.0
"""The default ratio of steps that counts as a regression."""


SEED = "{seed}"
_SEEDS = ("1", "2", "3")


def _seeded(words: Words, seeds: Sequence[str] = _SEEDS, *, always: bool = False) -> list[Words]:
    """Return the command for each seed; once if there is no place for one, unless `always`."""
    if not always and SEED not in (words if isinstance(words, str) else " ".join(words)):
        return [words]
    if isinstance(words, str):
        return [words.replace(SEED, seed) for seed in seeds]
    return [[word.replace(SEED, seed) for word in words] for seed in seeds]


@dataclass(frozen=True, kw_only=True)
class Unstable(OfCommand):
    """Some variants of the file are answered and others are not, each with a seed of its own."""

    asked_by: ClassVar[tuple[str, ...]] = ("unstable",)
    unstable: int | None = option(
        "The failure: of N variants, --cmd solves some only.",
        "Failure",
        read=quantities.positive,
        metavar="N",
    )
    good: int = option(
        "As many runs of --unstable must be answered.",
        "Failure",
        1,
        read=quantities.positive,
        metavar="N",
        rare=True,
    )
    bad: int = option(
        "As many runs of --unstable must end with unknown.",
        "Failure",
        1,
        read=quantities.positive,
        metavar="N",
        rare=True,
    )

    def commands(self, made: Making) -> tuple[Command, ...]:
        count, needed = self.unstable or 1, self.good + self.bad
        if count < needed:
            raise UsageError(f"`unstable` {count} is too few for `good` and `bad`: give {needed}")
        return self._on(range(count), made)

    def fresh(self, count: int, made: Making) -> tuple[Command, ...]:
        """Return the command on as many variants that no check uses."""
        used = self.unstable or 1
        return self._on(range(used, used + count), made)

    def _on(self, numbers: Sequence[int], made: Making) -> tuple[Command, ...]:
        command = self.command or ""
        solver = solver_of(command)
        if solver is not None and solver.bound:
            command = counting(command)
        found = _seeded(command, [str(seed) for seed in numbers], always=True)
        return tuple(
            replace(made(words), variant=number)
            for number, words in zip(numbers, found, strict=True)
        )

    def criterion(self) -> Criterion:
        """Return how many runs end in which way, and within how many steps, if that is known."""
        found = Flips(self.unstable or 1, self.good, self.bad)
        solver = solver_of(self.command or "")
        if solver is None or not solver.bound:
            return found
        return replace(
            found,
            steps=solver.counters[STEPS],
            bound=bound_of(self.command or ""),
            option=solver.bound,
        )


@dataclass(frozen=True, kw_only=True)
class Pattern(Printed):
    """A run ends with a certain status, or its output matches."""

    asked_by: ClassVar[tuple[str, ...]] = ("exit_code", "match_out", "match_err")

    def criterion(self) -> Criterion:
        return self.patterns()


@dataclass(frozen=True, kw_only=True)
class Own(OfCommand):
    """The command's own failure, whatever it is: asked for by nothing else than the command."""

    ignore_out: bool = option(
        "Ignore stdout when matching the failure.", "Failure", False, rare=True
    )
    ignore_err: bool = option(
        "Ignore stderr when matching the failure.", "Failure", False, rare=True
    )

    def criterion(self) -> Criterion:
        """Return the criterion that the runs on the input specialise."""
        return OwnFailure(out=not self.ignore_out, err=not self.ignore_err)


KINDS: tuple[type[Kind], ...] = (
    Test,
    Predicate,
    Disagreement,
    WrongModel,
    Slow,
    Costly,
    Unstable,
    Pattern,
    Own,
)


def kind_of(given: Mapping[str, Any], kinds: Iterable[type[Kind]] = KINDS) -> Kind:
    """Return the kind that the given options ask for: those whose value is not the default.

    Raises UsageError where no kind has them all, or where what asks for their kind is missing.
    """
    names = {kind: {each.name for each in fields(kind)} for kind in kinds}
    chosen = [name for name in given if any(name in own for own in names.values())]
    for kind, own in names.items():
        if own.issuperset(chosen) and not set(kind.asked_by).isdisjoint(chosen):
            return kind(**{name: given[name] for name in chosen})
    raise UsageError(_contradiction(chosen, names))


def _contradiction(chosen: Sequence[str], names: Mapping[type[Kind], set[str]]) -> str:
    """Return the error for options that no kind of failure combines."""
    for at, one in enumerate(chosen):
        for other in chosen[:at]:
            if not any({one, other} <= own for own in names.values()):
                return f"`{other}` and `{one}` are mutually exclusive: give one"
    kind = next((kind for kind, own in names.items() if own.issuperset(chosen)), None)
    if kind is None:
        return f"{', '.join(f'`{each}`' for each in chosen)} are mutually exclusive: give fewer"
    needless = next(each for each in reversed(chosen))
    return f"`{needless}` requires {' or '.join(f'`{each}`' for each in kind.asked_by)}"


def regex(option: str, text: str) -> re.Pattern[bytes]:
    """Compile a pattern for an output. Raises UsageError."""
    try:
        return re.compile(text.encode("utf-8", "surrogateescape"), re.MULTILINE)
    except re.error as error:
        raise UsageError(
            f"`{option}`: {text!r} is not a regular expression: {error}; to match the text as it "
            f"is, write '{re.escape(text)}'"
        ) from None
