"""The options of a bisection: input, source of the versions, and the failure with its commands.

Commands have placeholders for the version, and options that may be dropped.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path

from reducekit.bisect.versions import Builds, Checkout, Source, Wheels
from reducekit.errors import UsageError
from reducekit.executors.executor import Repeat
from reducekit.option import option
from reducekit.oracle.command import PLACE
from reducekit.runtime import cache_folder
from reducekit.session.failure import MISSING_COMMAND, Failure, Words
from reducekit.text import with_places

SOLVER, VERSION, OPTIONS = "{solver}", "{version}", "{options}"
_FIXED = (SOLVER, VERSION, OPTIONS, PLACE)
_NUMBER = re.compile(r"(|.*[=:])([0-9]{1,18})")
"""An option that is a number or contains one: `5`, `seed=5`, `-T:5`."""
_SOURCES = ("wheels", "builds", "git")


@dataclass(frozen=True, slots=True)
class Template:
    """A failure whose commands have placeholders: `{solver}`, `{version}` and `{options}`."""

    failure: Failure
    options: tuple[str, ...]
    """The words that may be dropped: those of the command, then those of a file."""
    _words: tuple[str | int, ...]
    """The words of the command; its numbers count as options. Empty if a shell reads it."""
    _extra: tuple[int, ...]  # the options that replace `{options}`

    @classmethod
    def of(cls, failure: Failure, extra: Sequence[str] = ()) -> Template:
        """Make a template of a failure and of further options. Raises UsageError."""
        if not (failure.command or failure.oracle):
            raise UsageError(MISSING_COMMAND)
        said = ""

        def note(words: Words) -> Words:
            nonlocal said
            said += words if isinstance(words, str) else " ".join(words)
            return words

        failure.with_commands(note)
        if SOLVER not in said and VERSION not in said:
            raise UsageError(
                f"no command contains {SOLVER}, the place for the program of a version: "
                f"`command` '{SOLVER} --opt'"
            )
        words = [] if failure.shell or failure.command is None else failure.command
        if isinstance(words, str):
            try:
                words = shlex.split(words)
            except ValueError:
                words = []  # refused later, with what is wrong with it
        placed = OPTIONS in said
        if extra and not placed and not words:
            raise UsageError(f"`options_file`: say with {OPTIONS} where in the command they go")
        if extra and not placed:
            words = [words[0], OPTIONS, *words[1:]]
        options: list[str] = []
        numbered: list[str | int] = []
        for number, word in enumerate(words):
            if number == 0 or any(place in word for place in _FIXED):
                numbered.append(word)
            else:
                numbered.append(len(options))
                options.append(word)
        own = len(options)
        options += extra
        return cls(failure, tuple(options), tuple(numbered), tuple(range(own, len(options))))

    def pairs(self) -> list[int]:
        """Return the options that seem to be followed by their value: `-t 5`."""
        together = zip(self.options, self.options[1:], strict=False)
        return [
            number
            for number, (option, value) in enumerate(together)
            if option.startswith("-") and not value.startswith("-")
        ]

    def number_in(self, option: int) -> int | None:
        """Return the number that an option is or contains; None if there is none."""
        found = _NUMBER.fullmatch(self.options[option])
        return None if found is None else int(found[2])

    def with_number(self, option: int, number: int) -> Template:
        """Return an option with its number replaced."""
        words = list(self.options)
        words[option] = _NUMBER.sub(rf"\g<1>{number}", words[option])
        return replace(self, options=tuple(words))

    def filled(self, version: str, program: Path, kept: Collection[int] | None = None) -> Failure:
        """Return the failure with the program of a version, and only the options `kept`."""
        left = range(len(self.options)) if kept is None else kept
        extra = [self.options[each] for each in self._extra if each in left]
        places = {SOLVER: str(program), VERSION: version}

        def fill(words: Words) -> Words:
            if isinstance(words, str):
                quoted = {place: shlex.quote(each) for place, each in places.items()}
                return with_places(words.replace(OPTIONS, shlex.join(extra)), quoted)
            found: list[str] = []
            for word in words:
                found += extra if word == OPTIONS else [with_places(word, places)]
            return found

        failure = self.failure
        if self._words:
            chosen = [
                self.options[word] if isinstance(word, int) else word
                for word in self._words
                if not isinstance(word, int) or word in left
            ]
            failure = replace(failure, command=chosen)
        return failure.with_commands(fill)


def read_options(path: Path) -> list[str]:
    """Return the options in a file: words as in a shell; `#` begins a comment."""
    try:
        return shlex.split(path.read_text(encoding="utf-8"), comments=True)
    except OSError as error:
        raise UsageError(f"`options_file`: {path} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise UsageError(f"`options_file`: {path}: {error}") from None


@dataclass(frozen=True, kw_only=True)
class BisectOptions:
    """All options of a bisection, as plain data.

    The commands of `failure` have placeholders: `{solver}` for the program of a version,
    `{version}` for its name, and `{options}` for the options of a file.
    """

    input: bytes
    name: str  # the name of the input in messages, and of its file
    failure: Failure
    repeat: Repeat | None = None
    wheels: str | None = option(
        "Versions: the wheels of PACKAGE, installed with pip.", "Inputs", metavar="PACKAGE"
    )
    builds: Path | None = option(
        "Versions: the programs, or folders with a program, in DIR.", "Inputs", metavar="DIR"
    )
    git: Path | None = option(
        "Versions: the revisions of a repository, from --good to --bad.", "Inputs", metavar="DIR"
    )
    build: str | None = option(
        "Shell command that builds a revision of --git.", "Inputs", metavar="CMD"
    )
    program: str | None = option(
        "Program of a version, such as bin/z3 (default: the only one).", "Inputs", metavar="PATH"
    )
    good: str | None = option(
        "Version that does not fail (default: the oldest).", "Inputs", metavar="VERSION"
    )
    bad: str | None = option(
        "Version that fails (default: the newest).", "Inputs", metavar="VERSION"
    )
    options_file: Path | None = option(
        "Further options of the command, one or more a line.", "Inputs", metavar="FILE"
    )
    keep_options: bool = option("Do not look for the options that matter.", "Search", False)
    reduce: Path | None = option(
        "Reduce INPUT and option values, too; write the input to FILE.", "Output", metavar="FILE"
    )
    format: str | None = option(
        "Format of INPUT, for --reduce (default: by suffix or content).", "Output", metavar="NAME"
    )
    scan: bool = option("Test every version, not only those that bisection needs.", "Search", False)
    cache: Path | None = option(
        "Folder of downloads and clones (default: ~/.cache/reducekit).",
        "Output",
        metavar="DIR",
        rare=True,
    )

    def source(self) -> Source:
        """Return the versions. Raises UsageError."""
        given = [name for name in _SOURCES if getattr(self, name) is not None]
        if len(given) > 1:
            raise UsageError(f"`{given[0]}` and `{given[1]}` are mutually exclusive: give one")
        if not given:
            raise UsageError(
                "Missing versions: `wheels` PACKAGE, `builds` DIR, or `git` DIR with `build` CMD"
            )
        if self.build is not None and self.git is None:
            raise UsageError("`build` requires `git`")
        cache = cache_folder(self.cache)
        if self.wheels is not None:
            return Wheels(self.wheels, cache, self.program)
        if self.builds is not None:
            return Builds(self.builds, self.program)
        assert self.git is not None
        for name, example in (
            ("build", "the command that builds a revision, such as 'make -j4'"),
            ("program", "the program that it makes, such as build/z3"),
            ("good", "a revision that does not fail"),
            ("bad", "a revision that fails"),
        ):
            if getattr(self, name) is None:
                raise UsageError(f"`git` requires `{name}`: {example}")
        return Checkout(
            self.git, self.build or "", self.program or "", self.good or "", self.bad or "", cache
        )

    def template(self) -> Template:
        """Return the commands, with placeholders. Raises UsageError."""
        path = self.options_file
        return Template.of(self.failure, () if path is None else read_options(path))


OWN = tuple(
    each.name
    for each in fields(BisectOptions)
    if each.name not in ("input", "name", "failure", "repeat")
)
"""The options that only a bisection has."""
