"""A reduction as plain data, gathered from its journal; all reports are drawn from it.

Pure: works on a loaded journal. The journal of a killed run yields what it recorded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from reducekit.errors import UsageError
from reducekit.journal import Contents, Step
from reducekit.oracle.criterion import OWN_FAILURE
from reducekit.oracle.signature import signature
from reducekit.reports.ending import ending
from reducekit.session.progress import PassTotal, Point

SEARCH = "search"


@dataclass(frozen=True, slots=True)
class Account:
    """A reduction as recorded in its journal."""

    found: Contents
    name: str
    """The name of the output, or else of the journal."""
    curve: Sequence[Point]
    """From the input to the end; the last point repeats the size of its predecessor."""
    passes: Sequence[PassTotal]
    """In the order in which they first ran or first succeeded."""
    before: bytes
    after: bytes
    origin: int | None = None
    """Bytes of the file of which the input is a step, if it is one of another reduction."""

    @property
    def size_before(self) -> int:
        """Bytes of what the reduction began with."""
        return len(self.before) if self.origin is None else self.origin

    @property
    def steps(self) -> Sequence[Step]:
        """The accepted texts, the input first."""
        return self.found.steps

    @property
    def checks(self) -> int:
        """The number of checks; for an unfinished reduction, the number of verdicts."""
        return self.curve[-1].checks

    @property
    def seconds(self) -> float:
        """The time of the last event in the journal."""
        return self.curve[-1].seconds

    @property
    def failure(self) -> str:
        """The failure that is preserved; the command's actual failure if none was specified."""
        said = ending(self.found).failure
        if said:
            return said
        head, golden = self.found.head, self.found.golden
        assert head is not None
        outcome = (
            golden.runs[0][0] if golden is not None and golden.runs and golden.runs[0] else None
        )
        if outcome is None or not head.criterion.startswith(OWN_FAILURE):
            return head.criterion
        return signature(outcome).without_quotes(self.found.text(0)).describe()

    @property
    def ended(self) -> bool:
        """Whether the search finished, rather than being stopped or killed."""
        return "ended" in self.found.notes


def account(found: Contents, path: Path) -> Account:
    """Gather the data of a loaded journal; `path` is its file. Raises UsageError if it is empty."""
    if found.head is None or not found.steps:
        raise UsageError(f"the journal {path} ends before the input: there is nothing to report")
    name = path.name.removesuffix(".journal")
    return Account(
        found, name, _curve(found), _passes(found), found.text(0), found.text(found.current)
    )


def _curve(found: Contents) -> list[Point]:
    """Return the sizes in chronological order; they rise where a step was given up."""
    returns = iter(found.returns)
    back = next(returns, None)
    points: list[Point] = []
    checks, seconds = 0, 0.0
    for step in found.steps:
        while back is not None and back.after == step.number:
            points.append(Point(checks, seconds, found.steps[back.step].size))
            back = next(returns, None)
        # Returning to a text that has no step of its own is recorded as a step without progress.
        checks, seconds = max(checks, step.checks), max(seconds, step.seconds)
        points.append(Point(checks, seconds, step.size))
    last = found.steps[found.current].size
    ended = [(each.checks, each.seconds) for each in found.passes]
    # A journal also has verdicts that the search did not request: of an empty file, of look-ahead.
    said = ending(found).checks
    all_checks = len(found.verdicts) if said is None else said
    checks = max([checks, all_checks, *(each for each, _ in ended)])
    seconds = max([seconds, *(each for _, each in ended)])
    return [*points, Point(checks, seconds, last)]


def _passes(found: Contents) -> list[PassTotal]:
    """Add up the costs and gains of each pass.

    A pass removed the bytes that its accepted steps removed; growth counts as negative. Costs are
    known if the journal records passes; a pass that was running when the run was killed has none.
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
