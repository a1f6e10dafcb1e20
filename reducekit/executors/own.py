"""Checks that a format makes by itself: candidates and random inputs that it plays to a library.

These are what the hooks `own_oracle` and `testing` of a format return (`reducekit.hooks.Hooks`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from reducekit.executors.executor import Executor
from reducekit.format import Format
from reducekit.offers import FormatOption
from reducekit.oracle.command import Command
from reducekit.oracle.criterion import Criterion, Oracle
from reducekit.run import Closing, Guard, Limits

Opener: TypeAlias = Callable[[Oracle, int], Executor]  # for an oracle and a number of jobs


@dataclass(frozen=True, slots=True)
class OracleRequest:
    """What a format needs to check candidates by itself.

    `failure` are the options about the failure by name, `limits` those of a run.
    """

    text: bytes
    name: str  # what the input is called in messages
    file: str  # how one types its name: `-` where it is no file
    failure: Mapping[str, Any]
    limits: Limits
    guard: Guard


@dataclass(frozen=True, slots=True)
class Subject:
    """The solver under test, where it is not the program that the command runs."""

    name: str
    version: str  # what it says of itself, and which file it is


@dataclass(frozen=True, slots=True)
class OwnOracle:
    """How a format checks candidates without a command: by a library that it plays them to."""

    frontend: Format  # the frontend to reduce with; it may know more than the one that was asked
    command: tuple[str, ...]  # the words of a command that shows the failure again
    opener: Opener
    limits: Limits
    libraries: tuple[Path, ...] = ()  # what it plays to: a journal belongs to their content
    notes: tuple[str, ...] = ()  # what the user should know, in sentences
    subject: Callable[[], Subject] | None = None  # describes the library for a bug report
    finish: Callable[[bytes], bytes] = lambda text: text
    """Makes of the result what is written in the end, such as a trace with its results."""
    close: Callable[[], None] = lambda: None


@dataclass(frozen=True, slots=True)
class Tested:
    """How an input was tested by its format: the bug that it shows, if any."""

    seed: int = 0
    text: bytes = b""  # the input where it shows a bug, otherwise it may be empty
    criterion: Criterion | None = None
    """What is to be kept of the bug; None: no bug. Equal criteria are the same bug."""
    preceding: int = 0  # how many inputs `text` begins with, those of the seeds just before
    timed_out: bool = False
    counts: Mapping[str, int] = field(default_factory=dict)  # of the format, added up


class Tester(Closing, Protocol):
    """Makes and tests inputs of a format; use it in a `with`."""

    def test(self, seed: int) -> Tested:
        """Make the input of a seed and test it. Raises UsageError if it cannot be tested."""

    def test_text(self, text: bytes) -> Tested:
        """Test an input. Raises ParseError, or UsageError if it cannot be tested."""


@dataclass(frozen=True, slots=True)
class OwnReduction:
    """How an input of a hunt is reduced."""

    frontend: Format
    opener: Opener | None  # of executors for candidates; None: this machine
    patience: int  # checks in a row without success that end it
    size: Callable[[bytes], int] = len
    unit: str = "bytes"  # what `size` counts


@dataclass(frozen=True, slots=True)
class OwnTests:
    """How a format tests inputs without a command: by a library that it plays them to."""

    label: tuple[str, ...]  # what a bug is said to be in, such as the library's name
    command: Command  # shows a bug again
    suffix: str
    limits: Limits  # of a test
    open: Callable[[], Tester]  # opens a tester, in several processes where there are several jobs
    words: Callable[[int], Sequence[str]]
    """Returns the options that make the input of a seed again, after `generate FORMAT`."""
    reduction: Callable[[Criterion, bytes], OwnReduction]  # how an input with a bug is reduced
    summary: Callable[[Mapping[str, int], int, float], tuple[str, ...]]
    """Says what was counted, in sentences; takes the counts, the inputs and the seconds."""
    libraries: tuple[Path, ...] = ()
    """What the inputs are played to: the state of a hunt belongs to their content."""
    subject: Callable[[], Subject] | None = None  # describes the library for a bug report
    notes: tuple[str, ...] = ()  # what the user should know, in sentences


@dataclass(frozen=True, slots=True)
class Testing:
    """A format's own tests of random inputs, and the options that its generator does not have."""

    make: Callable[[Mapping[str, Any], Limits], OwnTests]
    """Takes the values of the options, those of the generator included."""
    options: tuple[FormatOption, ...] = ()
    help: str = ""  # a paragraph for the help of `hunt`
    examples: tuple[str, ...] = ()  # two uses, for that help
    memory: int | None = None
    """Bytes of address space of a test where no limit is given; None: no limit."""

    __test__ = False  # for pytest: its name begins with Test
