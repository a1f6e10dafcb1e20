"""Whether a version is good, bad, or fails in another way and so gives no verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reducekit.bisect.search import Verdict
from reducekit.oracle.also import Also, innermost
from reducekit.oracle.criterion import Criterion, ExitZero, OwnFailure, verdict
from reducekit.oracle.outcome import Outcome
from reducekit.oracle.responses import read_answers
from reducekit.oracle.signature import Signature, is_failure, signature
from reducekit.oracle.stack import SameStack
from reducekit.oracle.unresolved import Resolved
from reducekit.text import printable, without_middle

_CANNOT_RUN = (126, 127)  # a shell's: not executable, not found; 127 also if a library is missing
_SKIP = 125  # a test's, as with `git bisect run`
_ANSWERS = 3  # shown
_LONGEST = 200  # characters of a failure


@dataclass(frozen=True, slots=True)
class Judge:
    """Judges a run of a version.

    If the criterion is the command's own failure (`asked`), a version that fails in another way
    gives no verdict, unless the good version fails like that too, with the signature `accepted`.
    """

    asked: Criterion
    accepted: Signature | None = None

    def of(self, outcomes: Sequence[Outcome], *, shown: bool) -> Verdict:
        """Return the verdict; `shown` says whether the runs showed the failure."""
        if shown:
            return "bad"
        if self.cannot_run(outcomes):
            return "skipped"
        first = outcomes[0]
        other = _is_own(self.asked) and is_failure(first) and signature(first) != self.accepted
        return "skipped" if other else "good"

    def cannot_run(self, outcomes: Sequence[Outcome]) -> bool:
        """Return whether a command crashed, was stopped, or could not be started."""
        skipping = (
            (*_CANNOT_RUN, _SKIP) if isinstance(innermost(self.asked), ExitZero) else _CANNOT_RUN
        )
        asked = self.asked
        while isinstance(asked, Also | SameStack):
            asked = asked.inner
        if isinstance(asked, Resolved) and any(map(asked.gives_up, outcomes)):
            return True
        return any(
            each.signal is not None or each.limit is not None or each.status in skipping
            for each in outcomes
        )


@dataclass(frozen=True, slots=True)
class Differs(Criterion):
    """The bad version shows the failure; the good one, which runs next, is good by its judge."""

    shown: Criterion
    judging: Judge
    each: int
    """The number of commands of one version."""
    captures: bool = True

    @property
    def wall(self) -> float | None:
        return self.shown.wall

    @property
    def counts_steps(self) -> bool:
        return self.shown.counts_steps

    def judge(self, outcomes: Sequence[Outcome]) -> bool | None:
        """Ask for the bad version's outcomes, then for those of the good one."""
        bad, good = outcomes[: self.each], outcomes[self.each :]
        if len(bad) < self.each:
            return False if self.shown.judge(bad) is False else None
        if not good:
            return None if verdict(self.shown, bad) else False
        if len(good) < self.each and self.shown.judge(good) is None:
            return None
        return self.judging.of(good, shown=verdict(self.shown, good)) == "good"

    def describe(self) -> str:
        return f"{self.shown.describe()}, on the bad version only"


def cannot_start(outcomes: Sequence[Outcome]) -> bool:
    """Return whether a program is missing, or a library that it needs."""
    return any(each.status in _CANNOT_RUN for each in outcomes)


def ended(outcomes: Sequence[Outcome]) -> str:
    """Describe how the commands of a version ended: their answers, or how they failed."""
    return ", then ".join(map(_ended, outcomes))


def _ended(outcome: Outcome) -> str:
    if outcome.limit is not None:
        return outcome.describe()
    answers = read_answers(outcome.stdout)
    said = [printable(each) for each in answers[:_ANSWERS]]
    said += ["..."] if len(answers) > _ANSWERS else []
    if is_failure(outcome) or not said:
        said.append(signature(outcome).describe())
    return without_middle(printable(", ".join(said)), _LONGEST)


def _is_own(criterion: Criterion) -> bool:
    return isinstance(innermost(criterion), OwnFailure)
