"""Programs of the user's that steer a search: one proposes candidates, one says which it prefers.

`--propose CMD` is a pass in any language. It gets the best file and prints candidates, one a line:
the path of a file, or `START END REPLACEMENT`, which replaces these bytes of the best file by a
JSON string. `--prefer CMD` prints a number for a file; the order of texts compares these numbers.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from typing import Any, NamedTuple

from reducekit.change import Change, Edit
from reducekit.delta import same_end, same_front
from reducekit.errors import UsageError
from reducekit.executors.local import LocalExecutor
from reducekit.executors.run_directory import RunDirectory, remove
from reducekit.format import Order, View
from reducekit.journal import digest
from reducekit.oracle.command import Command
from reducekit.oracle.criterion import Everything, Oracle
from reducekit.reduction.control import Control
from reducekit.run import Closing, Guard, Limits, Outcome
from reducekit.search.problem import IndependentItems, Selection
from reducekit.session.runs.run import Stoppable, run_once
from reducekit.text import printable

_SECONDS = 60.0  # time limit of a run if none is given
_MOST = 10_000  # candidates taken of one run
_BYTES = 1 << 28  # bytes of all files that one run proposes
_EDIT = re.compile(rb'([0-9]{1,12}) ([0-9]{1,12}) (".*")')
_NUMBER = re.compile(rb"[0-9]{1,30}(?:\.[0-9]{1,30})?(?:[eE][+-]?[0-9]{1,2})?")
_PLACES = 6  # decimal places that count: between two numbers there are finitely many others


@dataclass(slots=True)
class Program(Closing):
    """A command of the user's that is run on texts. `attach` it to a session before the first run.

    What it leaves in its TMPDIR, `folder`, is there until the next run.
    """

    option: str
    words: str | Sequence[str]
    command: Command
    suffix: str
    limits: Limits
    guard: Guard
    workdir: str | None = None
    _control: Control | None = None
    _folder: RunDirectory | None = None
    _executor: LocalExecutor | None = None
    _say: Callable[[str], None] = lambda said: None
    _said: set[str] = field(default_factory=set)

    def attach(self, control: Control, say: Callable[[str], None]) -> None:
        """Let the control of a session stop it, and tell the session's user what it does wrong."""
        self._control, self._say = control, say

    def run(self, text: bytes) -> Outcome:
        """Run it on a text. Raises Stopped."""
        assert self._control is not None, "not attached"
        executor = self._executor or self._opened()
        assert self._folder is not None
        for name in os.listdir(self._folder.path):
            remove(os.path.join(self._folder.path, name))
        return run_once(Stoppable(executor, self._control), text, self.limits).outcomes[0]

    def named(self, problem: str) -> str:
        """Return a sentence that says what is wrong with it."""
        words = self.words if isinstance(self.words, str) else " ".join(self.words)
        return f"`{self.option}` {printable(words)}: {printable(problem)}"

    def warn(self, kind: str, problem: str) -> None:
        """Report a problem of the program, the first of its kind only."""
        if kind not in self._said:
            self._said.add(kind)
            self._say(self.named(problem))

    def close(self) -> None:
        if self._executor is not None:
            self._executor.close()
        if self._folder is not None:
            self._folder.remove()
        self._executor = self._folder = None

    def _opened(self) -> LocalExecutor:
        with self.guard.held():
            self._folder = RunDirectory(self.workdir)
            # The executor's own TMPDIR is emptied as soon as a run has ended.
            words = ("/usr/bin/env", f"TMPDIR={self._folder.path}", *self.command.words)
            oracle = Oracle((self.command._replace(words=words),), Everything(1))
            self._executor = LocalExecutor(
                oracle, 1, self.suffix, guard=self.guard, workdir=self.workdir
            )
        return self._executor


class Replacement(NamedTuple):
    """Bytes `start .. end` of a text replaced by others."""

    start: int
    end: int
    text: bytes


class Replacements(IndependentItems):
    """Replacements in a text as items; those that overlap do not go together."""

    def __init__(self, text: bytes, found: Sequence[Replacement]) -> None:
        self._text = text
        self._found = found

    @cached_property
    def weights(self) -> Sequence[int]:
        return [max(1, each.end - each.start - len(each.text)) for each in self._found]

    def change(self, chosen: Selection, taken: Selection) -> Change:
        """Return the text with all of them; no change if two overlap."""
        pieces, at = [], 0
        for start, end, text in sorted(self._found[each] for each in chosen | taken):
            if start < at:
                return Change(())
            pieces += [self._text[at:start], text]
            at = end
        return Change((Edit(0, (b"".join((*pieces, self._text[at:])),)),), Proposals.name)


@dataclass(frozen=True, slots=True)
class Proposals:
    """Tries what the programs of `--propose` print."""

    programs: tuple[Program, ...]
    name = "proposals"

    def problem(self, view: View) -> Replacements | None:
        """Run the programs on a text, and return what they propose."""
        text = view.document.text
        found = [each for program in self.programs for each in _proposed(program, text)]
        # The first of them first: the default search goes from the back.
        return Replacements(text, found[::-1]) if found else None


def _proposed(program: Program, text: bytes) -> Iterator[Replacement]:
    outcome = program.run(text)
    lines = outcome.stdout.split(b"\n")
    last = lines.pop()
    if outcome.limit is not None or outcome.signal is not None:
        program.warn("end", outcome.describe() + "; what it printed before is tried")
    elif last:
        lines.append(last)
    if outcome.status and not lines:
        program.warn("end", f"{outcome.describe()}, and no candidate")
    if len(lines) > _MOST:
        program.warn("many", f"more than {_MOST:,} candidates; only the first are tried")
    left = _BYTES
    for line in lines[:_MOST]:
        found = _read(line, text, left)
        if isinstance(found, str):
            program.warn("line", found)
        elif found.text != text[found.start : found.end]:
            left -= len(found.text)
            yield found


def _read(line: bytes, text: bytes, most: int) -> Replacement | str:
    """Read a candidate of at most `most` bytes; if that is impossible, return why."""
    shown = f"{os.fsdecode(line)[:60]!r}"
    edit = _EDIT.fullmatch(line)
    if edit is None:
        try:
            if os.path.isfile(line):
                with open(line, "rb") as file:
                    data = file.read(most + 1)
                return _difference(text, data) if len(data) <= most else "its files are too large"
        except OSError as error:
            return f"{shown} cannot be read: {error.strerror}"
        except ValueError:  # a NUL in the name
            pass
        return f'{shown} is no file, and no edit such as: 10 20 "text"'
    start, end = int(edit[1]), int(edit[2])
    try:
        with_ = json.loads(edit[3])
    except ValueError as error:
        return f"{shown} ends with no JSON string: {error}"
    if not start <= end <= len(text):
        return f"{shown} is no part of the file, which has {len(text):,} bytes"
    return Replacement(start, end, with_.encode("utf-8", "surrogateescape"))


def _difference(text: bytes, other: bytes) -> Replacement:
    start = same_front(text, 0, other, 0)
    end = same_end(text, other, min(len(text), len(other)) - start)
    return Replacement(start, len(text) - end, other[start : len(other) - end])


@dataclass(slots=True)
class Preference:
    """The order of texts with the number that a program prints for each, cached by text.

    Numbers are from 0 up, and count to six decimal places, so there are finitely many below one:
    the order has no infinite descent. A text without a number is below no other.
    """

    program: Program
    first: bool
    _numbers: dict[bytes, int | None] = field(default_factory=dict)

    def over(self, order: Order) -> Order:
        """Return the order that compares numbers before an order, or before its last component."""
        return lambda text: _Key(self, order(text), text)

    def number(self, text: bytes) -> int | None:
        """Return the number of a text, in millionths; None if the program prints none."""
        key = digest(text)
        if key not in self._numbers:
            outcome = self.program.run(text)
            word = next(iter(outcome.stdout.split()), b"")
            read = outcome.limit is None and outcome.signal is None and _NUMBER.fullmatch(word)
            self._numbers[key] = int(Decimal(word.decode()).scaleb(_PLACES)) if read else None
        return self._numbers[key]

    def require_number(self, text: bytes) -> None:
        """Raise UsageError if the input has no number."""
        if self.number(text) is None:
            raise UsageError(
                self.program.named("it prints no number from 0 up as its first word for the input")
            )


@dataclass(slots=True, eq=False)
class _Key:
    preference: Preference
    key: Any
    text: bytes

    def __lt__(self, other: _Key) -> bool:
        # Numbers are asked for only where they decide: each takes a run.
        mine, its = self.key, other.key
        refines = isinstance(mine, tuple) and mine[:-1] == its[:-1]
        if not (self.preference.first or refines):
            return bool(mine < its)
        if self.text == other.text:
            return False
        number, than = map(self.preference.number, (self.text, other.text))
        if number is None or number == than:
            return number is not None and bool(mine < its)
        return than is None or number < than
