"""The options of a bisection: input, failure, and the source of the versions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path

from reducekit.bisect.builds import Builds
from reducekit.bisect.checkout import Checkout
from reducekit.bisect.commands import Template, read_options
from reducekit.bisect.versions import Source
from reducekit.bisect.wheels import Wheels
from reducekit.errors import UsageError
from reducekit.executors.repeating import Repeat
from reducekit.folders import cache_folder
from reducekit.option import option
from reducekit.session.options import Failure

_SOURCES = ("wheels", "builds", "git")


@dataclass(frozen=True, kw_only=True)
class BisectOptions:
    """All options of a bisection, as plain data.

    The commands of `failure` have placeholders: `{solver}` for the program of a version,
    `{version}` for its name, and `{options}` for the options of a file.
    """

    input: bytes
    name: str
    """The name of the input in messages, and of its file."""
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
        extra: Sequence[str] = () if self.options_file is None else read_options(self.options_file)
        return Template.of(self.failure, extra)


OWN = tuple(
    each.name
    for each in fields(BisectOptions)
    if each.name not in ("input", "name", "failure", "repeat")
)
"""The options that only a bisection has."""
