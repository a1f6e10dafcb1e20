"""What a journal tells about a reduction, as plain data that every report is drawn from.

Pure: takes what was loaded from a journal. Of a run that was killed, what its journal holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from reducekit.errors import UsageError
from reducekit.journal import Contents, Step
from reducekit.oracle.signature import signature
from reducekit.reports.ending import ending

SEARCH = "search"
OWN_FAILURE = "the command's own failure"
"""What a journal's head has for a criterion that follows from the golden run."""


@dataclass(frozen=True, slots=True)
class Point:
    """The best text so far had `size` bytes from so many checks and seconds on."""

    checks: int
    seconds: float
    size: int


@dataclass(frozen=True, slots=True)
class PassTotal:
    """What a pass came to over all rounds. Checks and seconds are None where nothing tells."""

    name: str
    accepted: int
    removed: int
    """Bytes."""
    checks: int | None
    seconds: float | None


@dataclass(frozen=True, slots=True)
class Account:
    """A reduction as its journal tells it."""

    found: Contents
    name: str
    """What the output, or else the journal, is called."""
    curve: Sequence[Point]
    """From the input to the end; the last point repeats the size of the one before."""
    passes: Sequence[PassTotal]
    """In the order in which they first ran or first helped."""
    before: bytes
    after: bytes

    @property
    def steps(self) -> Sequence[Step]:
        """The accepted texts, the input first."""
        return self.found.steps

    @property
    def checks(self) -> int:
        """How many verdicts there are."""
        return self.curve[-1].checks

    @property
    def seconds(self) -> float:
        """The time up to the last thing that the journal has."""
        return self.curve[-1].seconds

    @property
    def failure(self) -> str:
        """What is kept alive; where that is the command's own failure, that failure."""
        said = ending(self.found).failure
        if said:
            return said
        head, golden = self.found.head, self.found.golden
        assert head is not None
        outcome = (
            golden.runs[0][0] if golden is not None and golden.runs and golden.runs[0] else None
        )
        if outcome is None or head.criterion != OWN_FAILURE:
            return head.criterion
        return signature(outcome).describe()

    @property
    def ended(self) -> bool:
        """Whether the search ended by itself, and was not stopped or killed."""
        return "ended" in self.found.notes


def account(found: Contents, path: Path) -> Account:
    """Gather what a journal tells; `path` is its file. Raises UsageError if it tells nothing."""
    if found.head is None or not found.steps:
        raise UsageError(f"the journal {path} ends before the input: there is nothing to report")
    name = path.name.removesuffix(".journal")
    return Account(
        found, name, _curve(found), _passes(found), found.text(0), found.text(found.current)
    )


def _curve(found: Contents) -> list[Point]:
    """Return the sizes in the order in which they held; where a step was given up, it rises."""
    returns = iter(found.returns)
    back = next(returns, None)
    points: list[Point] = []
    checks, seconds = 0, 0.0
    for step in found.steps:
        while back is not None and back.after == step.number:
            points.append(Point(checks, seconds, found.steps[back.step].size))
            back = next(returns, None)
        # What went back to a text that had no step has a step without progress.
        checks, seconds = max(checks, step.checks), max(seconds, step.seconds)
        points.append(Point(checks, seconds, step.size))
    last = found.steps[found.current].size
    ended = [(each.checks, each.seconds) for each in found.passes]
    checks = max([checks, len(found.verdicts), *(each for each, _ in ended)])
    seconds = max([seconds, *(each for _, each in ended)])
    return [*points, Point(checks, seconds, last)]


def _passes(found: Contents) -> list[PassTotal]:
    """Add up what each pass took and gave.

    Removed bytes are those of its accepted steps, so a growth is negative. Costs are known from
    where the passes are recorded; a pass in which a run was killed has none.
    """
    accepted: dict[str, int] = {}
    removed: dict[str, int] = {}
    for step in found.steps[1:]:
        accepted[step.pass_name] = accepted.get(step.pass_name, 0) + 1
        gain = found.steps[step.base].size - step.size
        removed[step.pass_name] = removed.get(step.pass_name, 0) + gain
    checks: dict[str, int] = {}
    seconds: dict[str, float] = {}
    before = (0, 0.0)
    for each in found.passes:
        checks[each.name] = checks.get(each.name, 0) + max(0, each.checks - before[0])
        seconds[each.name] = seconds.get(each.name, 0.0) + max(0.0, each.seconds - before[1])
        before = (each.checks, each.seconds)
    names = list(dict.fromkeys([*checks, *accepted])) if checks else list(accepted)
    return [
        PassTotal(
            name or SEARCH,
            accepted.get(name, 0),
            removed.get(name, 0),
            checks.get(name),
            seconds.get(name),
        )
        for name in names
    ]
