"""What a format brings along: how to read it, what may be changed, what to count."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal, Protocol, TypeAlias

from reducekit.diagram import Diagram
from reducekit.document import Document
from reducekit.executors.executor import Closing, Executor
from reducekit.executors.guard import Guard
from reducekit.offers import Conversions, Generation, Inspection, Playing
from reducekit.offers import FormatOption as FormatOption
from reducekit.oracle.command import Command
from reducekit.oracle.criterion import Criterion
from reducekit.oracle.limits import Limits
from reducekit.oracle.oracle import Oracle
from reducekit.search.problem import Problem
from reducekit.search.strategy import Passes

Effort: TypeAlias = Literal["quick", "normal", "thorough"]
"""How much is tried."""


class View(Protocol):
    """A parsed text, with whatever a frontend finds out about it."""

    @property
    def document(self) -> Document:
        """The text and its nodes."""


class Pass(Protocol):
    """One kind of change over a whole text. Says what may be changed; neither searches nor runs."""

    @property
    def name(self) -> str:
        """A short name, unique within the frontend."""

    def problem(self, view: Any) -> Problem | None:
        """Return what there is to search in a text of the frontend; None if nothing is."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """The order of passes.

    `prepare` brings the text into a normal form, in which it may stay as long
    as it was; each of its passes runs once. `once` are the quick ones that come
    first. `rounds` are repeated while any of them helps; in them, a change that
    was refuted is not tried again where nothing has changed. `closing` are the
    expensive ones, for the result of the rounds, and `sweep` those that are tried
    in full on the result of all; when one helps, the rounds go on, and the next time
    those come first of which anything has changed. Without a `sweep`, it is the
    rounds. With quick effort a schedule ends with what runs once, or, where nothing
    does, after the closing passes, whether they helped or not. Only with thorough
    effort, `thorough` are the ones that look beyond what is smaller right away; when
    one helps, the rounds go on.
    """

    rounds: Sequence[Pass]
    prepare: Sequence[Pass] = ()
    once: Sequence[Pass] = ()
    closing: Sequence[Pass] = ()
    sweep: Sequence[Pass] = ()
    thorough: Sequence[Pass] = ()
    effort: Effort = "normal"
    alone: frozenset[str] = frozenset()
    """The names of passes that are not begun before those before them have ended.

    Such a pass checks candidates by itself to say what there is to search.
    """
    drawn: frozenset[str] = frozenset()
    """The names of passes that draw their candidates at random.

    There are always others to draw: one that found nothing is left out until the text is a good
    deal smaller.
    """


def by_size(text: bytes) -> tuple[int, bytes]:
    """Return the key of the usual order of texts: fewer bytes first, then by bytes."""
    return len(text), text


@dataclass(frozen=True, slots=True)
class OracleRequest:
    """What a frontend is told that has to check candidates by itself.

    `failure` are the options about the failure by name, `limits` those of a run.
    """

    text: bytes
    name: str
    """What the input is called in messages."""
    file: str
    """How one types its name: `-` where it is no file."""
    failure: Mapping[str, Any]
    limits: Limits
    guard: Guard


@dataclass(frozen=True, slots=True)
class OwnOracle:
    """How a format checks candidates without a command: by a library that it plays them to."""

    frontend: Frontend
    """The frontend to reduce with; it may know more than the one that was asked."""
    command: tuple[str, ...]
    """The words of a command that shows the failure again."""
    opener: Callable[[Oracle, int], Executor]
    limits: Limits
    notes: tuple[str, ...] = ()
    """What the user should know, in sentences."""
    finish: Callable[[bytes], bytes] = lambda text: text
    """Makes of the result what is written in the end, such as a trace with its results."""
    close: Callable[[], None] = lambda: None


@dataclass(frozen=True, slots=True)
class FormatCheck:
    """What is wrong with a text by the rules of its format, and how it is described otherwise."""

    problems: Sequence[str]
    """Each with its place, such as `line 3: ...`."""
    summary: str
    """Such as `12 calls as the API allows them`."""


@dataclass(frozen=True, slots=True)
class Tested:
    """How an input was tested by its format: the bug that it shows, if any."""

    seed: int = 0
    text: bytes = b""
    """The input where it shows a bug, otherwise it may be empty."""
    criterion: Criterion | None = None
    """What is to be kept of the bug; None: there is none. Equal criteria are the same bug."""
    preceding: int = 0
    """How many inputs `text` begins with, those of the seeds just before."""
    timed_out: bool = False
    counts: Mapping[str, int] = field(default_factory=dict)
    """What the format counts, to be added up."""


class Tester(Closing, Protocol):
    """Makes and tests inputs of a format; use it in a `with`."""

    def test(self, seed: int) -> Tested:
        """Make the input of a seed and test it. Raises UsageError if it cannot be tested."""

    def test_text(self, text: bytes) -> Tested:
        """Test an input. Raises ParseError if it is none, UsageError if it cannot be tested."""


@dataclass(frozen=True, slots=True)
class OwnReduction:
    """How an input is reduced that failed a format's own test."""

    frontend: Frontend
    opener: Callable[[Oracle, int], Executor]
    patience: int
    """Checks in a row without success that end it."""
    size: Callable[[bytes], int] = len
    unit: str = "bytes"
    """What `size` counts."""


@dataclass(frozen=True, slots=True)
class OwnTests:
    """How a format tests inputs without a command: by a library that it plays them to."""

    label: tuple[str, ...]
    """What a bug is said to be in, such as the library's name."""
    command: Command
    """Shows a bug again."""
    suffix: str
    limits: Limits
    """Of a test."""
    open: Callable[[], Tester]
    """Opens a tester. It is called in several processes where there are several jobs."""
    words: Callable[[int], Sequence[str]]
    """Returns the options that make the input of a seed again, after `generate FORMAT`."""
    reduction: Callable[[Criterion, bytes], OwnReduction]
    """Returns how an input is reduced that shows a bug."""
    summary: Callable[[Mapping[str, int], int, float], tuple[str, ...]]
    """Says what was counted, in sentences; takes the counts, the inputs and the seconds."""
    notes: tuple[str, ...] = ()
    """What the user should know, in sentences."""


@dataclass(frozen=True, slots=True)
class Testing:
    """A format's own tests of random inputs, and the options that its generator does not have."""

    make: Callable[[Mapping[str, Any], Limits], OwnTests]
    """Takes the values of the options, those of the generator included."""
    options: tuple[FormatOption, ...] = ()
    help: str = ""
    """A paragraph for the help of `hunt`."""
    memory: int | None = None
    """Bytes of address space of a test where no limit is given; None: no limit."""

    __test__ = False  # for pytest: its name begins with Test


class Frontend(ABC):
    """A format: inherit, and write what is abstract. All else has a default.

    `options` become keyword arguments of the class. Importing a frontend's module should be
    quick, for its name stands in the help of the command line: import what is slow inside the
    functions that need it.
    """

    name: str
    """The name of the format and of its command."""
    title: ClassVar[str] = ""
    """What a file of the format is called, for the help: `an SMT-LIB v2 script`."""
    suffix: str = ""
    """The usual suffix of its files, with the dot: candidates get it."""
    suffixes: ClassVar[tuple[str, ...]] = ()
    """All usual suffixes, if there are several."""
    unit: ClassVar[str] = "bytes"
    """What sizes are counted in where reductions are compared: one of the names of `measure`."""
    strict: bool = False
    """Whether `parse` refuses most of what the oracle's programs would refuse to read.

    Then candidates that mix the changes of several passes are parsed before they run.
    """
    options: ClassVar[tuple[FormatOption, ...]] = ()
    """What its command offers besides the options of all formats."""
    help: ClassVar[str] = ""
    """A paragraph for the help of its command."""
    inspected: ClassVar[tuple[str, ...]] = ()
    """Suffixes of other files that `inspect` reads, such as models."""

    @classmethod
    def recognises(cls, text: bytes) -> bool:
        """Say whether a text looks like one of this format, by its first few lines."""
        return False

    @classmethod
    def respelled(cls, words: Sequence[str]) -> Sequence[str]:
        """Put words of an older program's command line into those of our command."""
        return words

    @abstractmethod
    def parse(self, text: bytes) -> View:
        """Read a text. Raises ParseError with the place and what was expected."""

    @abstractmethod
    def schedule(self, passes: Passes) -> Schedule:
        """Return the passes of a kind; a frontend without such has others instead."""

    def order(self, text: bytes) -> Any:
        """Return the key of a strict total order without infinite descent: smaller texts first.

        Only steps down are accepted, so every reduction ends, whatever the passes propose. It is
        called for every candidate.
        """
        return by_size(text)

    def measure(self, view: Any) -> Mapping[str, int]:
        """Count what users of the format count, for the summary: bytes, commands, terms, ..."""
        return {"bytes": len(view.document.text)}

    def check(self, text: bytes) -> FormatCheck:
        """Say whether a text keeps the rules of its format. Raises ParseError if it is none."""
        counts = self.measure(self.parse(text))
        return FormatCheck((), ", ".join(f"{count:,} {name}" for name, count in counts.items()))

    def pretty(self, text: bytes) -> bytes:
        """Lay a text out for people."""
        return text

    def remark(self, text: bytes) -> str | None:
        """Return what a person should know about a result in which everything is needed."""
        return None

    def diagram(self, view: Any) -> Diagram | None:
        """Return what a face can draw of a parsed text; None if nothing."""
        return None

    def own_oracle(self, request: OracleRequest) -> OwnOracle | None:
        """Return how candidates are checked where no command is given; None: not at all.

        Raises NotInterestingError if the input does not fail so.
        """
        return None

    def for_failure(self, described: str) -> Frontend:
        """Return the frontend to reduce with, given in words how the input fails."""
        return self

    def refuses(self, text: bytes) -> str | None:
        """Return why a text is not to be tried, with what to type instead; None: it is.

        It is called for every candidate that would be run, and for the input.
        """
        return None

    def fingerprint(self, text: bytes) -> bytes | None:
        """Return what a text has in common with others that hardly fail where it does not.

        Such as all but the names in it. A text is not run if one of the same fingerprint was
        refuted, but in the sweep of a schedule. It is called for every candidate. None:
        only the text itself is remembered.
        """
        return None

    def opener(self, opener: Callable[[Oracle, int], Executor], text: bytes) -> Any:
        """Return what opens executors for a command, given what does so for any text.

        A format may refuse candidates that break its rules before the command sees them.
        """
        return opener

    @classmethod
    def generation(cls) -> Generation | None:
        """Return the generator of random inputs, for `generate` and `hunt`; None: there is none."""
        return None

    @classmethod
    def testing(cls) -> Testing | None:
        """Return how the format tests random inputs without a command; None: not at all."""
        return None

    @classmethod
    def conversions(cls) -> Conversions | None:
        """Return what the format converts, for `convert`; None: nothing."""
        return None

    @classmethod
    def playing(cls) -> Playing | None:
        """Return how the format plays an input once, for `replay`; None: not at all."""
        return None

    @classmethod
    def inspect(cls, text: bytes, notation: str | None, path: Path | None) -> Inspection:
        """Look into a text, for `show`: in a notation of the format (None: to be detected).

        Raises ParseError if it is none.
        """
        frontend = cls()
        counts = frontend.measure(frontend.parse(text))
        return Inspection(lambda: [f"{count:,} {name}" for name, count in counts.items()])

    @classmethod
    def named(cls, name: str) -> Inspection | None:
        """Look into something that the format knows by name; None if there is no such thing."""
        return None
