"""A hunt: each new bug is kept in a folder and reduced there, and all are counted.

Knows no format, and not where inputs come from: `hunting_commands.py` runs programs on
files, `hunting_traces.py` plays traces against a library.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple, Protocol

from reducekit.cli import INTERRUPTED
from reducekit.cli.files import make_folder, write_file
from reducekit.cli.findings import Finding
from reducekit.cli.interrupts import Interrupts
from reducekit.cli.streams import say
from reducekit.errors import NotInterestingError, ParseError, UsageError
from reducekit.events import Accepted, Event, WentBack
from reducekit.executors.executor import Executor
from reducekit.frontend import Frontend
from reducekit.golden import establish, limits_for
from reducekit.oracle.command import Command
from reducekit.oracle.limits import Limits
from reducekit.oracle.oracle import Oracle
from reducekit.output import OutputFile
from reducekit.reduction import Budget, Reduction
from reducekit.registry import FRONTENDS, load, strategy


class Plan(Protocol):
    """What every hunt is told."""

    @property
    def folder(self) -> Path:
        """Where bugs are kept."""

    @property
    def suffix(self) -> str:
        """The ending of the inputs' names."""

    @property
    def seconds(self) -> float | None:
        """The time for all, reductions included; None is no limit."""

    @property
    def frontend(self) -> str | None:
        """Reduce by the frontend of that name; None: not at all."""

    @property
    def strategy(self) -> str:
        """How to search while reducing."""

    @property
    def quiet(self) -> bool:
        """Say nothing on the way."""


class Shown(NamedTuple):
    """An input that shows a bug.

    `made_by` is the command line that makes it again, `run_by` the commands that show the
    bug. `which` is said of the input when the bug is new.
    """

    finding: Finding
    text: bytes
    made_by: str
    run_by: tuple[Command, ...]
    which: str = ""


@dataclass(frozen=True, slots=True)
class Way:
    """How an input is reduced.

    `limits` are those of a run on it; with `strict` the wall limit is that of candidates
    too, which else follows the time of the best one. `patience` is the number of checks in
    a row without success that end it. What is told of the result is its `size`, in `unit`.
    """

    frontend: Frontend
    open: Callable[[Oracle, int], Executor]
    limits: Limits
    patience: int
    jobs: int = 1
    strict: bool = False
    size: Callable[[bytes], int] = len
    unit: str = "bytes"


@dataclass(slots=True)
class Kept:
    """A bug that is kept: how often it was met, in which file, and how small it became."""

    finding: Finding
    path: Path
    size: int
    count: int = 1
    old: bool = False
    """The folder had it before."""
    reduced: int | None = None
    why_not: str = ""
    unwritten: bool = False
    """A file of it could not be written."""

    def cannot_be_written(self, why: str) -> None:
        """Take note of that, for the summary and the exit code: the hunt goes on."""
        self.reduced, self.why_not, self.unwritten = None, why, True


@dataclass(slots=True)
class Tally:
    """What a hunt has come to so far."""

    inputs: int = 0
    timeouts: int = 0
    kept: dict[str, Kept] = field(default_factory=dict)
    interrupted: bool = False
    begin: float = field(default_factory=time.monotonic)

    @property
    def seconds(self) -> float:
        """Seconds since the hunt began."""
        return time.monotonic() - self.begin

    @property
    def exit_code(self) -> int:
        """That of the hunt: 0, unless it was interrupted or has lost something."""
        if self.interrupted:
            return INTERRUPTED
        return UsageError.exit_code if any(k.unwritten for k in self.kept.values()) else 0


def prepare(folder: Path) -> None:
    """Make the folder. Raises UsageError if it cannot be had, or not be written."""
    make_folder(folder)
    if not os.access(folder, os.W_OK | os.X_OK):
        raise UsageError(f"the folder {folder} cannot be written")
    OutputFile(folder / "probe")  # tries it out


class Hunting:
    """The bugs of a hunt under way."""

    def __init__(self, plan: Plan, tally: Tally, interrupts: Interrupts) -> None:
        self._plan = plan
        self._tally = tally
        self._interrupts = interrupts
        self.new: list[tuple[Kept, bytes]] = []
        """What `reduce_new` is to reduce, with its text."""
        self.frontend = None if plan.frontend is None else _frontend(plan.frontend)
        """What makes the frontend that reduces, if there is one."""
        if plan.frontend is not None and self.frontend is None:
            self.say(f"reducekit: there is no frontend {plan.frontend!r} yet: nothing is reduced")

    def say(self, text: str) -> None:
        """Say what happens, unless the hunt is quiet."""
        if not self._plan.quiet:
            say(text)

    def left(self) -> float | None:
        """Return the seconds that are left; None is no limit."""
        seconds = self._plan.seconds
        return None if seconds is None else max(0.0, seconds - self._tally.seconds)

    def met(self, shown: Shown) -> None:
        """Count a bug, and keep it if it is new."""
        kept = self._tally.kept
        known = kept.get(shown.finding.name)
        if known is not None:
            known.count += 1
            return
        with self._interrupts.held():  # what has files is in the summary
            kept[shown.finding.name] = self._keep(shown)

    def _keep(self, shown: Shown) -> Kept:
        """Write a new bug's files, unless the folder has them."""
        finding = shown.finding
        path = self._plan.folder / f"{finding.name}{self._plan.suffix}"
        kept = Kept(finding, path, len(shown.text))
        if path.exists():
            kept.old = True
            kept.size = path.stat().st_size
            return kept
        runs = [f"run: {each.shell_line(str(path))}" for each in shown.run_by]
        note = "\n".join([finding.title, f"made by: {shown.made_by}", *runs, ""])
        try:
            write_file(path, shown.text)
            write_file(path.with_suffix(".txt"), note.encode())
        except UsageError as error:  # a full disk: what has been found is told all the same
            kept.cannot_be_written(str(error))
            return kept
        self.say(f"new: {finding.title}{shown.which}\n     {path}")
        self.new.append((kept, shown.text))
        return kept

    def reduce_new(self, way_of: Callable[[Finding, Callable[..., Frontend]], Way]) -> None:
        """Reduce what is new, one after the other, while there is time.

        `way_of` returns how that is done, by what makes the frontend.
        """
        while self.new:
            kept, text = self.new.pop(0)
            if self.frontend is not None and self.left() != 0:
                self._reduce(kept, text, way_of(kept.finding, self.frontend))

    def _reduce(self, kept: Kept, text: bytes, way: Way) -> None:
        """Reduce an input; every improvement is written."""
        commands, criterion = kept.finding.commands, kept.finding.criterion
        path = kept.path.with_suffix(f".reduced{self._plan.suffix}")
        try:
            output = OutputFile(path)
        except UsageError as error:
            kept.cannot_be_written(str(error))
            return

        def listen(event: Event) -> None:
            if isinstance(event, Accepted | WentBack):
                with self._interrupts.held():
                    output.write(event.text)
                kept.reduced = len(event.text)

        limits = way.limits if way.strict else replace(way.limits, wall=None)
        try:
            golden = establish(
                commands,
                criterion,
                text,
                way.limits,
                lambda oracle: way.open(oracle, 1),
                path=str(kept.path),
            )
            with way.open(Oracle(commands, golden.criterion), way.jobs) as executor:
                reduction = Reduction(
                    way.frontend,
                    strategy(self._plan.strategy),
                    executor,
                    partial(limits_for, golden.criterion, limits),
                    width=way.jobs,
                    repeats=1,
                    budget=Budget(seconds=self.left(), patience=way.patience),
                    listen=listen,
                )
                result = reduction.run(text, golden.seconds)
        except NotInterestingError:
            kept.why_not = "it does not show every time"
        except ParseError as error:
            kept.why_not = f"our own frontend does not read it: {error}"
        else:
            if output.trouble is not None:
                kept.cannot_be_written(f"{path} cannot be written: {output.trouble.strerror}")
                return
            kept.reduced = len(result.text)
            before, after = way.size(text), way.size(result.text)
            self.say(f"     reduced from {before:,} to {after:,} {way.unit}")


def _frontend(name: str) -> Callable[..., Frontend] | None:
    """Return what makes a frontend, by its name; None if nobody has registered one."""
    try:
        found: Callable[..., Frontend] = load(FRONTENDS, name)
    except UsageError:
        return None
    return found


def summary(tally: Tally, what: str = "input", more: Sequence[str] = ()) -> str:
    """Say in words what a hunt has come to; `more` is said of the inputs besides."""
    kept = sorted(tally.kept.values(), key=lambda each: -each.count)
    head = f"{_count(tally.inputs, what)} in {tally.seconds:.1f} s"
    if tally.timeouts:
        head += f", {tally.timeouts} out of time"
    if tally.interrupted:
        head += ", interrupted"
    lines = [f"{head}: {_count(len(kept), 'bug')}", *(f"  {each}" for each in more)]
    for each in kept:
        times = "once" if each.count == 1 else f"{each.count} times"
        lines.append(f"  {times}: {each.finding.title}")
        sizes = f"{each.size:,} bytes" + (", known before" if each.old else "")
        if each.reduced is not None:
            sizes += f", reduced to {each.reduced:,}"
        elif each.why_not:
            sizes += f", not reduced: {each.why_not}"
        lines.append(f"    {each.path} ({sizes})")
    return "\n".join(lines)


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
