"""What a session is told: which input, which failure, how to search, where to write."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias, get_args

from reducekit.errors import UsageError
from reducekit.executors.executor import Executor
from reducekit.executors.repeating import Repeat
from reducekit.frontend import Effort, Frontend
from reducekit.oracle.command import Command
from reducekit.oracle.criterion import (
    Criterion,
    Disagree,
    ExitZero,
    Matches,
    SlowerThan,
    SlowerThanReference,
)
from reducekit.oracle.limits import Limits
from reducekit.oracle.oracle import Oracle
from reducekit.session.cluster import Cluster

Words: TypeAlias = str | Sequence[str]
"""A command: a line, quoted as for a shell, or its words."""
Opener: TypeAlias = Callable[[Oracle, int], Executor]
"""Opens an executor for an oracle and a number of checks at the same time."""

MISSING_COMMAND = (
    "Missing `command`: the program that fails, such as './solver --opt' "
    "(or `oracle`: a test that exits with 0 if the file is interesting)"
)
EFFORTS: tuple[Effort, ...] = get_args(Effort)


@dataclass(frozen=True, slots=True)
class KnownFailure:
    """A failure that was found already: the commands that show it, and what is kept of it."""

    commands: tuple[Command, ...]
    criterion: Criterion


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """What is kept alive, and the limits of each run. Times are in seconds, sizes in bytes.

    Exactly one of `command`, `oracle`, `interesting` and `known` says what fails. With `command`
    alone its own failure is kept: its exit status or signal and its failure line. At most one of
    `reference`, `slower_than` and the patterns (`exit_code`, `match_out`, `match_err`) says
    otherwise.
    """

    command: Words | None = None
    """The program under test."""
    oracle: Words | None = None
    """An interestingness test: exit status 0 keeps a candidate."""
    interesting: Callable[[bytes], bool] | None = None
    """The same as a function. It must always say the same of the same text."""
    known: KnownFailure | None = None
    """The same where it is known already, as in a hunt."""
    reference: Words | None = None
    """A second program: kept is that the two disagree about sat and unsat."""
    slower_than: float | None = None
    """Kept is that a run takes this many seconds; with `reference`, and the other one does not."""
    slower_ratio: float | None = None
    """Kept is that a run takes this many times as long as the `reference`."""
    also_passes: Sequence[Words] = ()
    """Programs that have to accept each candidate: they end with 0 and print no error."""
    exit_code: int | None = None
    """Above 128 or negative: a signal."""
    match_out: Sequence[str] = ()
    match_err: Sequence[str] = ()
    ignore_out: bool = False
    ignore_err: bool = False
    stdin: bool = False
    """Feed the candidate to the command's standard input."""
    shell: bool = False
    """Have /bin/sh run the commands, so that pipes and variables work."""
    timeout: float | None = None
    """Wall time of a run; None: follows the time of the best text so far."""
    first_timeout: float | None = None
    """Wall time of a run on the input; None: `timeout`."""
    cpu: float | None = None
    memory: int | None = None
    max_output: int | None = None
    """Kept of each output stream; a run that prints more is stopped. None: a few megabytes."""

    @property
    def says_what_fails(self) -> bool:
        """Whether there is a command, a test or a function."""
        return bool(self.command or self.oracle or self.interesting or self.known)

    def limits(self) -> Limits:
        """Return the limits of each run."""
        given = Limits(wall=self.timeout, cpu=self.cpu, memory=self.memory)
        if self.max_output is None:
            return given
        return Limits(given.wall, given.cpu, given.memory, self.max_output)

    def commands_and_criterion(self) -> tuple[tuple[Command, ...], Criterion | None]:
        """Return the commands of the oracle, and the criterion that was asked for.

        None for the criterion stands for the command's own failure, whatever it is. Raises
        UsageError for options that contradict each other.
        """
        self._refuse_contradictions()
        commands, criterion = self._own_commands_and_criterion()
        others = (Command.of(each, stdin=self.stdin, shell=self.shell) for each in self.also_passes)
        return (*commands, *others), criterion

    def _own_commands_and_criterion(self) -> tuple[tuple[Command, ...], Criterion | None]:
        """Return the same without the programs of `also_passes`."""
        if self.known is not None:
            return self.known.commands, self.known.criterion
        if self.interesting is not None:
            return (), ExitZero()
        if self.oracle:
            return (Command.of(self.oracle, stdin=self.stdin, shell=self.shell),), ExitZero()
        command = Command.of(self.command or "", stdin=self.stdin, shell=self.shell)
        if self.reference is not None:
            other = Command.of(self.reference, stdin=self.stdin, shell=self.shell)
            if self.slower_than is not None or self.slower_ratio is not None:
                return (command, other), SlowerThanReference(self.slower_than, self.slower_ratio)
            return (command, other), Disagree()
        if self.slower_than is not None:
            return (command,), SlowerThan(self.slower_than)
        if self._matches:
            out = tuple(map(_pattern, self.match_out))
            err = tuple(map(_pattern, self.match_err))
            return (command,), Matches(self.exit_code, out, err)
        return (command,), None

    @property
    def _matches(self) -> bool:
        return self.exit_code is not None or bool(self.match_out or self.match_err)

    def _refuse_contradictions(self) -> None:
        """Raise UsageError where options contradict each other.

        Messages name an option `like_this`, as in Python; a face spells it in its own way.
        """
        given = [
            name for name in ("command", "oracle", "interesting", "known") if getattr(self, name)
        ]
        if not given:
            raise UsageError(MISSING_COMMAND)
        if len(given) > 1:
            raise UsageError(f"`{given[0]}` and `{given[1]}` exclude each other: give one")
        ways = [
            name
            for name, used in (
                ("reference", self.reference is not None),
                ("slower_than", self.slower_than is not None),
                ("exit_code", self.exit_code is not None),
                ("match_out", bool(self.match_out)),
                ("match_err", bool(self.match_err)),
            )
            if used
        ]
        ignored = [name for name in ("ignore_out", "ignore_err") if getattr(self, name)]
        if given != ["command"]:
            if ways or ignored:
                raise UsageError(
                    f"`{(ways + ignored)[0]}` goes with `command`: "
                    f"with `{given[0]}` only its verdict counts"
                )
            return
        if self.slower_ratio is not None and self.reference is None:
            raise UsageError("`slower_than` as a ratio needs `reference`: slower than what?")
        if ways == ["reference", "slower_than"]:
            ways = ["slower_than"]
        if len({"match" if name[:5] in ("match", "exit_") else name for name in ways}) > 1:
            raise UsageError(
                "`reference`, `slower_than` and the patterns (`match_out`, `match_err`, "
                "`exit_code`) each say what is wrong: give one"
            )
        if ways and ignored:
            raise UsageError(
                f"`{ignored[0]}` is about the command's own failure: "
                f"it does not go with `{ways[0]}`, which says what is wrong"
            )
        if self.slower_than is not None and self.slower_ratio is not None:
            raise UsageError("`slower_than` is a time or a ratio: give one")
        if self.also_passes and given == ["interesting"]:
            raise UsageError("`also_passes` goes with `command` or `oracle`")
        if self.slower_than is not None and self.timeout is not None:
            raise UsageError("`slower_than` is the time limit: it does not go with `timeout`")


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(Failure):
    """All that a session is told, as plain data."""

    input: Path | bytes
    """A file, or the text itself."""
    name: str = ""
    """What the input is called in messages; default: its path."""
    format: str | Frontend = "smt2"
    """The name of a registered frontend, or a frontend."""
    strategy: str = "adaptive"
    effort: Effort = "normal"
    """quick: stop after the first, most productive passes; thorough: search beyond the minimum."""
    only: Sequence[str] = ()
    """The names of the passes to run; none: all of them."""
    without: Sequence[str] = ()
    """The names of passes that are not run."""
    pretty: bool = False
    """Lay the result out for people, if it still fails so."""
    lenient: bool = False
    """Reduce a text that does not parse by lines and tokens."""
    jobs: int = 1
    """Checks at the same time."""
    width: int | None = None
    """Candidates tried at once, None: as many as `jobs`. The result depends only on this number."""
    fast: bool = False
    """Take verdicts as they come: quicker, but results may differ between runs."""
    repeat: Repeat | None = None
    """For a failure that does not show every time."""
    output: Path | None = None
    """The best text so far, always whole; None: `in.reduced.smt2` beside a file `in.smt2`."""
    in_place: bool = False
    """Replace the input; the original is kept as `in.smt2.orig`."""
    journal: bool = True
    """Keep every verdict and step beside the output."""
    resume: bool = False
    """Insist on going on from the earlier session whose journal stands beside the output.

    Without it a session goes on from an earlier one of the same input, command and options, and
    keeps what any other has left under a numbered name.
    """
    restart: bool = False
    """Begin anew; what is there is kept under a numbered name."""
    also_interesting: Path | None = None
    """A folder for the smallest text of each other failure met on the way."""
    max_checks: int | None = None
    max_time: float | None = None
    """Seconds."""
    until: int | None = None
    """Stop at this size in bytes."""
    patience: int | None = 2000
    """Stop after this many checks in a row without success; None or 0: never."""
    workdir: Path | None = None
    """Where candidates are written, each in a folder of its own; None: in memory, or in TMPDIR."""
    cluster: str | Cluster | None = None
    """Run checks on a cluster: `tcp://HOST:PORT` of a Dask scheduler, `local:N`, a YAML file.

    `jobs` stands for all that its workers can run at a time, unless it is given.
    """
    ship: Sequence[Path] = ()
    """Files to be sent along to the workers, such as the program under test."""
    local_slots: int = 0
    """Checks at the same time on this machine when no worker of the cluster is left."""
    opener: Opener | None = None
    """Where checks run; None: on this machine, or in this process for `interesting`."""


def _pattern(text: str) -> re.Pattern[bytes]:
    try:
        return re.compile(text.encode("utf-8", "surrogateescape"), re.MULTILINE)
    except re.error as error:
        raise UsageError(f"{text!r} is not a regular expression: {error}") from None
