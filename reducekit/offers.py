"""What a format may offer besides being reduced: random inputs, conversions, and a look inside.

Each offer is plain data with a function or an abstract class to fill in. A frontend returns its
offers from the methods of the same names (`frontend.Frontend`), where it imports what they need;
the faces make commands of them: `generate`, `hunt`, `convert`, `show`.
"""

from __future__ import annotations

import shlex
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from reducekit.errors import UsageError
from reducekit.executors.executor import Closing
from reducekit.executors.guard import Guard
from reducekit.oracle.limits import Limits
from reducekit.oracle.outcome import Outcome as Outcome  # for formats, who see nothing of oracles


@dataclass(frozen=True, slots=True)
class FormatOption:
    """An option that a format adds to a command, as plain data for every face.

    The format gets its value by `name`: a `str` for text, choice and path, a `bool` for a flag,
    an `int` or a `float` for numbers, a tuple of `str` for texts that can be repeated; the
    default where it is not given.
    """

    name: str
    """As in Python; the command line spells it with dashes."""
    help: str
    kind: Literal["text", "flag", "choice", "path", "whole", "decimal", "texts"] = "text"
    """A flag that is on by default, or neither on nor off, can be switched off: `--no-name`."""
    default: str | bool | int | float | tuple[str, ...] | None = None
    choices: tuple[str, ...] = ()
    metavar: str = ""
    spelled: str = ""
    """How the command line spells it, where that is not its name: `vars`."""
    short: str = ""
    """One letter that stands for it, too: `n` for `-n`."""
    least: float | None = None
    most: float | None = None
    """The smallest and largest number that is accepted."""

    @property
    def long(self) -> str:
        """How it is spelled on the command line, with the dashes."""
        return "--" + (self.spelled or self.name.replace("_", "-"))

    def words(self, value: Any) -> list[str]:
        """Return the words that give it this value on a command line; none for the default."""
        if value == self.default:
            return []
        if self.kind == "flag":
            return [self.long if value else f"--no-{self.long[2:]}"]
        if self.kind == "texts":
            return [word for each in value for word in (self.long, each)]
        return [self.long, str(value)]


def words_of(options: Iterable[FormatOption], values: Mapping[str, Any]) -> list[str]:
    """Return the words that give options their values on a command line, defaults left out."""
    return [word for each in options for word in each.words(values[each.name])]


def with_defaults(options: Sequence[FormatOption], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of all options. Raises UsageError for one that there is not."""
    unknown = given.keys() - {each.name for each in options}
    if unknown:
        known = ", ".join(each.name for each in options)
        raise UsageError(f"unknown option {min(unknown)!r}; options: {known}")
    return {each.name: given.get(each.name, each.default) for each in options}


@dataclass(frozen=True, slots=True)
class Generated:
    """A random input; `note` is what the user should know of how it was made."""

    text: bytes
    note: str = ""


class InputGenerator(Closing):
    """Makes random inputs of a format, each from a seed; use it in a `with`.

    The same seed gives the same text, on any machine.
    """

    suffix: str
    """Of the files, with the dot."""
    notes: Sequence[str] = ()
    """What the user should know of all of them, in sentences."""
    frontend_options: Mapping[str, Any] = MappingProxyType({})
    """Those of the frontend that reads its inputs."""
    rules_broken: str = "broke the rules of the format"
    """What a hunt's summary says of those by which a run `breaks_rules`, after their number."""

    @abstractmethod
    def generate(self, seed: int) -> Generated:
        """Make the input of a seed. Raises UsageError for options that contradict each other."""

    @abstractmethod
    def words(self, seed: int) -> Sequence[str]:
        """Return the options that make the input again, as words after `generate FORMAT`."""

    def breaks_rules(self, outcome: Outcome) -> bool:
        """Say whether a run complains of an input that its program need not accept.

        Such a run is no bug.
        """
        return False


@dataclass(frozen=True, slots=True)
class Generation:
    """A format's generator of random inputs, and its options."""

    make: Callable[[Mapping[str, Any]], InputGenerator]
    """Takes the values of all options, and those of `default_seed` and `seed`."""
    options: tuple[FormatOption, ...] = ()
    help: str = ""
    """A paragraph or two for the help of `generate`."""
    noun: str = "file"
    """What an input is called: a file, a trace."""
    default_seed: int = 0
    asked_by: str = ""
    """The option without which another format's inputs, converted, are taken where they can be."""
    respelled: Callable[[Sequence[str]], Sequence[str]] = lambda words: words
    """Puts words of an older program's command line into those of ours."""


def made_by(format_name: str, words: Iterable[str]) -> str:
    """Return the command line that makes an input again."""
    return shlex.join(["reducekit", "generate", format_name, *words])


@dataclass(frozen=True, slots=True)
class Notation:
    """One way to write texts that a conversion reads or writes, such as a dialect."""

    name: str
    suffixes: tuple[str, ...] = ()
    """Of files, with the dot; the same suffix may stand for several, then the first one counts."""


@dataclass(frozen=True, slots=True)
class Converted:
    """A text in another notation; `notes` say what was lost."""

    text: bytes
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Conversions:
    """What a format converts, from which notations to which."""

    reads: tuple[Notation, ...]
    writes: tuple[Notation, ...]
    convert: Callable[[bytes, str | None, str], Converted]
    """Converts a text from a notation (None: to be detected) to another.

    Raises ParseError if the text is none, UsageError for what has no counterpart.
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
    command: str | Sequence[str] | None
    """An interpreter that plays it; None: the format does, by a library."""
    values: Mapping[str, Any]
    """Of the options of `Playing`."""
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
    lines: tuple[str, ...] = ()
    """What is printed of it, such as results."""
    notes: tuple[str, ...] = ()
    """What the user should know, in sentences."""


@dataclass(frozen=True, slots=True)
class Playing:
    """How a format plays an input once, for `replay`, and the options of that."""

    play: Callable[[PlayRequest], PlayEnd]
    """Raises UsageError."""
    options: tuple[FormatOption, ...] = ()
    epilog: str = ""
    """What the exit statuses mean."""
