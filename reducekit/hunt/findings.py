"""What the runs of several programs on one input show: failures, and answers that differ.

Findings are grouped into bugs as far as possible: the same program and signature, or the same two
programs and answers, are the same bug.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from reducekit.oracle.also import accepts
from reducekit.oracle.answers import answers, difference, understands
from reducekit.oracle.command import Command, checking_model, tested_words
from reducekit.oracle.compared import Disagree
from reducekit.oracle.criterion import Criterion
from reducekit.oracle.own import MemoryFault, SameSignature, TimesOut
from reducekit.oracle.printed import WRONG_MODEL
from reducekit.oracle.signature import is_failure, is_memory_fault, signature
from reducekit.run import Outcome

_QUOTES = re.compile(rb"[\"'`]")
_FAULT = "signal SIGSEGV"
_LONGEST = 50  # characters of a file name that describe the failure


@dataclass(frozen=True, slots=True)
class Finding:
    """A bug: the commands that show it (one, or two that disagree), and what to preserve."""

    commands: tuple[Command, ...]
    criterion: Criterion
    spared: Command | None = None
    """A program that takes the input, where the failure may be what programs say of bad inputs."""

    @property
    def title(self) -> str:
        """Describe the bug on one line: which program does what."""
        names = [" ".join([Path(each[0]).name, *each[1:]]) for each in self._programs]
        if isinstance(self.criterion, Disagree) and self.criterion.expected is not None:
            mine, other = (answer.decode() for answer in self.criterion.expected)
            return f"{names[0]} answers {mine}, {names[1]} {other}"
        return f"{names[0]}: {self.criterion.describe()}"

    @property
    def _programs(self) -> list[Sequence[str]]:
        """The words of the programs under test, without those of a test of models."""
        return [tested_words(list(each.words)) for each in self.commands]

    @property
    def name(self) -> str:
        """Return the name of its files: readable words, and a unique hash."""
        kind: tuple[object, ...] = (tuple(each.words for each in self.commands), self.criterion)
        if isinstance(self.criterion, SameSignature) and (line := self.criterion.expected.line):
            # Releases of a solver, and places in one, differ in blanks and quotes.
            words = b" ".join(_QUOTES.sub(b" ", line).split())
            kind = (kind[0], self.criterion.expected._replace(line=words))
        key = hashlib.sha256(repr(kind).encode()).hexdigest()[:8]
        # The failure comes first: the end of a long command line is cut off.
        programs = [Path(each[0]).name for each in self._programs]
        fault = isinstance(self.criterion, MemoryFault)  # one bug, whichever way it shows
        said = " ".join([_FAULT if fault else self.criterion.describe(), *programs]).lower()
        shown = re.sub(r"[^a-z0-9]+", "-", said).strip("-")
        return f"{shown[:_LONGEST].strip('-')}-{key}"


def findings(
    commands: Sequence[Command],
    outcomes: Sequence[Outcome],
    *,
    text: bytes,
    reference: bool,
    timeouts: float | None = None,
) -> list[Finding]:
    """Return the bugs that the runs of the commands on one input, the `text`, show.

    With `reference`, the last command is right if answers differ; otherwise one disagreement is
    reported: the rarest answer against the most frequent one. A timeout is a bug if `timeouts` has
    the limit (in seconds), otherwise it is ignored.
    """
    found = []
    for command, outcome in zip(commands, outcomes, strict=True):
        if outcome.limit == "time":
            if timeouts is not None:
                found.append(Finding((command,), TimesOut(timeouts)))
        elif is_failure(outcome):
            spared = None
            if outcome.signal is None and outcome.limit is None:  # it may reject a bad input
                pairs = zip(reversed(commands), reversed(outcomes), strict=True)
                spared = next((each for each, ended in pairs if accepts(ended)), None)
            failure = signature(outcome)
            same = SameSignature(failure.without_quotes(text))
            criterion = MemoryFault(failure) if is_memory_fault(failure) else same
            found.append(Finding((command,), criterion, spared))
    return found + _disagreements(commands, outcomes, reference)


def wrong_model(command: Command, module: str) -> Finding:
    """Return the bug that the model of a command is wrong, as `module` of a format finds out."""
    return Finding((checking_model(module, command),), WRONG_MODEL)


def _disagreements(
    commands: Sequence[Command], outcomes: Sequence[Outcome], reference: bool
) -> list[Finding]:
    given = [answers(outcome) for outcome in outcomes]
    telling = [at for at, words in enumerate(given) if words is not None]
    pairs: list[tuple[int, int]] = []
    if reference:
        last = len(commands) - 1
        pairs = [(at, last) for at in telling if at != last] if last in telling else []
    elif telling:  # the last program with the rarest answer, and the first with the commonest
        often = {at: sum(given[at] == given[each] for each in telling) for at in telling}
        rarest = min(telling, key=lambda at: (often[at], -at))
        pairs = [(rarest, min(telling, key=lambda at: (-often[at], at)))]
    found = []
    for mine, other in pairs:
        expected = difference(outcomes[mine], outcomes[other])
        if expected is not None:
            understood = understands(outcomes[mine]) and understands(outcomes[other])
            criterion = Disagree(expected, understood=understood)
            found.append(Finding((commands[mine], commands[other]), criterion))
    return found
