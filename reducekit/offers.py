"""What a format may offer besides being reduced: random inputs, conversions, a look inside, ...

`Offers` has a method for each, which a format overrides. Where an offer has more to say it returns
plain data with functions to fill in. The faces make commands of these: `generate`, `hunt`,
`convert`, `show`, `replay`.
"""

from __future__ import annotations

import shlex
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import getattr_static
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, Self

from reducekit.diagram import Diagram
from reducekit.option import FormatOption as FormatOption
from reducekit.option import with_defaults as with_defaults
from reducekit.option import words_of as words_of
from reducekit.run import Closing, Guard, Limits, Outcome

KILLED = "killed"
"""What tests count as an input on which the solver was killed from outside, each time."""


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
    files: Sequence[Path] = ()
    """The files that inputs are made from."""
    well_formed: bool = True
    """Whether programs have to accept its inputs, unless they lack what these use."""
    unruly: bool = False
    """Whether its inputs may break any rule: only crashes on them are bugs."""
    has_options: bool = False
    """Whether its inputs have options in comments, for `{options}` in a command."""
    rules_broken: str = "broke the rules of the format"
    """What a hunt's summary says of those by which a run `breaks_rules`, after their number."""

    @abstractmethod
    def generate(self, seed: int) -> Generated:
        """Make the input of a seed. Raises UsageError for options that contradict each other."""

    @abstractmethod
    def words(self, seed: int) -> Sequence[str]:
        """Return the options that make the input again, as words after `generate FORMAT`."""

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
    help: str = ""
    """A paragraph or two for the help of `generate`."""
    noun: str = "file"
    """What an input is called: a file, a trace."""
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


@dataclass(frozen=True, slots=True)
class Probe:
    """A way to ask a program more about the input: what it says of another text."""

    variant: int
    """On which variant of the input the program ran."""
    run: Callable[[bytes], bytes]
    """Runs it on a text as it is, and returns what it prints."""


class Part(NamedTuple):
    """A part of a result that its user may know, such as an axiom of a verifier."""

    name: str
    """As in the input; '' if it has none."""
    line: int | None
    """Where it begins in the input, from 1; None if that is not known."""
    now: int
    """Where it begins in the result, from 1."""


class Offers:
    """What a format may do besides being reduced, as hooks: their defaults offer nothing.

    Import what a hook needs inside of it. The types of the hooks without one are in
    `reducekit.executors.own`.
    """

    @classmethod
    def offers(cls, hook: str) -> bool:
        """Return whether a format has a hook of its own: `offers("variant")`."""
        return getattr_static(cls, hook) is not vars(Offers)[hook]

    # For commands.

    @classmethod
    def generation(cls) -> Generation | None:
        """Return the generator of random inputs, for `generate` and `hunt`."""
        return None

    @classmethod
    def conversions(cls) -> Conversions | None:
        """Return what is translated between notations, for `convert`."""
        return None

    @classmethod
    def named(cls, name: str) -> Inspection | None:
        """Look into what is no file but has this name, such as a model that is shipped."""
        return None

    @classmethod
    def playing(cls) -> Playing | None:
        """Return how an input is played once, for `replay`."""
        return None

    @classmethod
    def respelled(cls, words: Sequence[str]) -> Sequence[str]:
        """Translate the command line of an older program into ours."""
        return words

    def diagram(self, view: Any) -> Diagram | None:
        """Return what the page draws of a parsed text."""
        return None

    notes: Sequence[str] = ()
    """What the user should know before a reduction, in sentences."""

    def of_file(self, name: str) -> Self:
        """Return the format for a file of this name."""
        return self

    # For the result.

    def pretty(self, text: bytes) -> bytes:
        """Pretty-print a text."""
        return text

    def in_form(self, text: bytes, suffix: str) -> bytes:
        """Return a text in the form of files with a suffix, where a format has several."""
        return text

    def remark(self, text: bytes) -> str | None:
        """Return what a person should know about a result in which everything is needed."""
        return None

    def labels(self, texts: Sequence[bytes]) -> Sequence[Part]:
        """Return the parts of the last text, followed from the first over the steps between.

        Such as the axioms of a verifier.
        """
        return ()

    def instances(self, text: bytes, probe: Probe) -> Sequence[int | None]:
        """Return how often each part is used in a run, in the order of `labels`; None: unknown."""
        return ()

    # Which candidates run. These are asked about each one, and about the input.

    def refuses(self, text: bytes) -> str | None:
        """Return why a text must not run, and what to type instead; None: it may run."""
        return None

    def misread(self, view: Any, base: bytes, text: bytes) -> bool:
        """Return whether a text breaks the rules of the format where that it is made from did not.

        `view` is of a text that both come from. Such texts do not run, but for a few: if one of
        these fails, all run from then on.
        """
        return False

    def fingerprint(self, text: bytes) -> bytes | None:
        """Return a fingerprint: texts with equal fingerprints are assumed to behave alike.

        Such as a hash of all but the names. A text is not run if one of the same fingerprint was
        refuted, except in the sweep of a schedule. None: only the text itself is remembered.
        """
        return None

    # How the input fails.

    def beside(self, passing: bytes) -> Self:
        """Return the format that compares with this text, which passes, in place of `baseline`.

        A candidate that passes becomes the baseline, so that both sides come nearer to each other.
        """
        return self

    def for_failure(self, described: str, *, by_chance: bool) -> Self:
        """Return the format to reduce with, given in words how the input fails.

        `by_chance`: it is unstable, so that parts of it fail or not as if by chance.
        """
        return self

    def guesses(self, text: bytes, good: Sequence[Probe], bad: Probe | None) -> Iterable[bytes]:
        """Return parts of the input, the smallest first: the reduction begins with one that fails.

        The runs `good` answered unsat; `bad` did not, or was costly. Without a failure about
        answers there are no runs to ask.
        """
        return ()

    def variant(self, text: bytes, number: int) -> bytes:
        """Return a variant of a text, on which programs should end in the same way.

        Such as the same query with other names. It is always the same for a number; that of 0, and
        of what cannot be parsed, is the text.
        """
        return text

    def overrides(self, text: bytes, words: Sequence[str]) -> Sequence[str]:
        """Return the options that a text sets and that decide how the command's words end."""
        return ()

    def yielding(
        self, text: bytes, commands: Sequence[Sequence[str]]
    ) -> tuple[bytes, Sequence[str]]:
        """Return a text that leaves the options to the commands which all of them set, and these.

        Lines keep their numbers.
        """
        return text, ()

    def claimed(self, text: bytes) -> str | None:
        """Return the answer that a text claims; None if there is none, or several.

        Some programs fail if they answer otherwise.
        """
        return None

    def unclaimed(self, text: bytes) -> bytes:
        """Return a text without its claims."""
        return text

    # Bugs in a hunt.

    def rejects(self, line: str, *, well_formed: bool) -> bool:
        """Return whether the failure line of a run means that its program need not accept the text.

        Texts of the format's own generator are `well_formed`.
        """
        return False

    def skeleton(self, text: bytes) -> str:
        """Return what a reduced text is made of, in a few words.

        Failures without a place in the code are different bugs if these words differ.
        Raises ParseError.
        """
        return ""

    model_check: str = ""
    """The module that evaluates models as an interestingness test, for `--wrong-model`.

    Its words are a program's, after `--` those of one that may check models, and a file.
    """
    asks_checkers: bool = False
    """Whether it asks another program about a model that it cannot evaluate."""

    def wrong_model(self, text: bytes, output: bytes) -> bool:
        """Return whether the model in a program's output violates the text."""
        return False

    # Checks of its own, where inputs can be played to a library.

    def own_oracle(self, request: Any) -> Any:
        """Return how candidates are checked without a command: an `OwnOracle`, or None.

        Raises NotInterestingError if the input does not fail so.
        """
        return None

    @classmethod
    def testing(cls) -> Any:
        """Return the `Testing` of random inputs in hunts without a command, if it has one."""
        return None

    def opener(self, opener: Any, text: bytes) -> Any:
        """Return what opens executors for a command, given what does so for any text.

        Candidates that break the rules of the format are no failures then.
        """
        return opener
