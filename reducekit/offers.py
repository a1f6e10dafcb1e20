"""What a format may offer besides being reduced: random inputs, conversions, a look inside, ...

`Hooks` has a method for each, which a format overrides. Where one has more to say it returns plain
data with functions to fill in: the classes here. The faces make commands of these: `generate`,
`hunt`, `convert`, `show`, `replay`.
"""

from __future__ import annotations

import shlex
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from reducekit.option import FormatOption as FormatOption
from reducekit.option import with_defaults as with_defaults
from reducekit.option import words_of as words_of
from reducekit.run import Closing, Guard, Limits, Outcome

KILLED = "killed"  # what tests count as an input on which the solver was killed from outside


@dataclass(frozen=True, slots=True)
class Generated:
    """A random input; `note` is what the user should know of how it was made."""

    text: bytes
    note: str = ""


class InputGenerator(Closing):
    """Makes random inputs of a format, each from a seed; use it in a `with`.

    The same seed gives the same text, on any machine.
    """

    suffix: str  # of the files, with the dot
    notes: Sequence[str] = ()  # what the user should know of all of them, in sentences
    frontend_options: Mapping[str, Any] = MappingProxyType({})
    """Those of the frontend that reads its inputs."""
    files: Sequence[Path] = ()  # the files that inputs are made from
    well_formed: bool = True  # whether programs have to accept its inputs, or lack what these use
    unruly: bool = False  # whether its inputs may break any rule: only crashes on them are bugs
    has_options: bool = False  # whether its inputs have options in comments, for `{options}`
    rules_broken: str = "broke the rules of the format"
    """What a hunt's summary says of those by which a run `breaks_rules`, after their number."""

    @abstractmethod
    def generate(self, seed: int) -> Generated:
        """Make the input of a seed. Raises UsageError for options that contradict each other."""

    @abstractmethod
    def words(self, seed: int) -> Sequence[str]:
        """Return the options that make the input again, as words after `generate FORMAT`."""

    def close(self) -> None:
        """Release all resources: by default there are none."""
        return

    def breaks_rules(self, outcome: Outcome) -> bool:
        """Return whether a run complains of an input that its program need not accept.

        Such a run is no bug.
        """
        return False


@dataclass(frozen=True, slots=True)
class Generation:
    """A format's generator of random inputs, and its options."""

    make: Callable[[Mapping[str, Any]], InputGenerator]
    """Takes the values of all options, and those of `default_seed` and `seed`."""
    options: tuple[FormatOption, ...] = ()
    help: str = ""  # a paragraph or two for the help of `generate`
    noun: str = "file"  # what an input is called: a file, a trace
    default_seed: int = 0
    asked_by: tuple[str, ...] = ()
    """Options that select it: without any, inputs of another format are converted, if possible."""
    changes: str | None = None
    """The option that names files to change. Of a hunt it is a flag: `seeds` names the files."""
    respelled: Callable[[Sequence[str]], Sequence[str]] = lambda words: words
    """Translates the command line of an older program into ours."""
    presets: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Values of options that go together, by what the page calls them."""


def made_by(format_name: str, words: Iterable[str]) -> str:
    """Return the command line that makes an input again."""
    return shlex.join(["reducekit", "generate", format_name, *words])


@dataclass(frozen=True, slots=True)
class Notation:
    """One way to write texts that a conversion reads or writes, such as a dialect."""

    name: str
    suffixes: tuple[str, ...] = ()
    """Of files, with the dot; if several formats share a suffix, the first one wins."""


@dataclass(frozen=True, slots=True)
class Converted:
    """A text in another notation; `notes` say what is missing."""

    text: bytes
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Conversions:
    """What a format converts, from which notations to which."""

    reads: tuple[Notation, ...]
    writes: tuple[Notation, ...]
    convert: Callable[[bytes, str | None, str], Converted]
    """Converts a text from a notation (None: to be detected) to another.

    Raises ParseError for another text, UsageError for what has no counterpart.
    """
    recognises: Callable[[bytes], bool] = field(default=lambda text: False)
    """Whether a text looks like one that can be read, by its first few lines."""


@dataclass(frozen=True, slots=True)
class Inspection:
    """What a text is made of: lines to print, and pictures by the suffix of their files."""

    lines: Callable[[], Iterable[str]]
    pictures: Mapping[str, Callable[[], bytes]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PlayRequest:
    """An input that is to be played once, such as a trace of calls."""

    path: Path
    text: bytes
    command: str | Sequence[str] | None  # an interpreter that plays it; None: the format does
    values: Mapping[str, Any]  # of the options of `Playing`
    limits: Limits
    guard: Guard


@dataclass(frozen=True, slots=True)
class PlayEnd:
    """How that ended: exactly one of `status` and `signal` is not None."""

    status: int | None
    signal: int | None
    summary: str
    stdout: bytes = b""
    stderr: bytes = b""
    lines: tuple[str, ...] = ()  # what is printed of it, such as results
    notes: tuple[str, ...] = ()  # what the user should know, in sentences


@dataclass(frozen=True, slots=True)
class Playing:
    """How a format plays an input once, for `replay`, and the options of that."""

    play: Callable[[PlayRequest], PlayEnd]  # raises UsageError
    options: tuple[FormatOption, ...] = ()
    epilog: str = ""  # what the exit statuses mean


@dataclass(frozen=True, slots=True)
class Probe:
    """A way to ask a program more about the input: what it says of another text."""

    variant: int  # on which variant of the input the program ran
    run: Callable[[bytes], bytes]  # runs it on a text as it is, and returns what it prints


class Part(NamedTuple):
    """A part of a result that its user may know, such as an axiom of a verifier."""

    name: str  # as in the input; '' if it has none
    line: int | None  # where it begins in the input, from 1; None if that is not known
    now: int  # where it begins in the result, from 1
