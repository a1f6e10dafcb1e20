"""Unstable answers: some variants of a file, or some seeds, are answered and others are not."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from reducekit.oracle.criterion import Criterion, answers, verdict
from reducekit.oracle.limits import Limits
from reducekit.oracle.outcome import Outcome
from reducekit.oracle.responses import read_answers
from reducekit.oracle.signature import failure_line


@dataclass(frozen=True, slots=True)
class Flips(Criterion):
    """Of some runs, on variants or with seeds, at least `good` are answered and `bad` are not.

    Whichever those are: a change of the text changes which runs are good, so that a criterion
    that names two of them refuses most texts that are just as unstable.

    The first run must not fail, and is always the first: so the verdict does not depend on the
    order of the others. Of those, a failed one is neither good nor bad.
    """

    runs: int
    good: int = 1
    bad: int = 1
    answer: bytes | None = None
    """What good runs answer; None: `sat` or `unsat`, before a run has shown which."""
    unknown: bytes | None = None
    """How bad runs end, as `_unknown` tells: incomplete is not the same as out of resources."""
    captures: bool = True
    wall: float | None = None
    counts_steps: bool = True

    def judge(self, outcomes: Sequence[Outcome]) -> bool | None:
        """Count; the rest need not run once both are there, or cannot be any more."""
        if _unknown(outcomes[0]) is None and answers(outcomes[0]) is None:
            return False  # an error, or nothing was asked
        good, bad = self.ends(outcomes)
        left = self.runs - len(outcomes)
        if good >= self.good and bad >= self.bad:
            return True
        if max(0, self.good - good) + max(0, self.bad - bad) > left:
            return False
        return None

    def ends(self, outcomes: Sequence[Outcome]) -> tuple[int, int]:
        """Return how many runs are good, and how many are bad."""
        found = [self._is_good(each) for each in outcomes]
        return found.count(True), found.count(False)

    def _is_good(self, outcome: Outcome) -> bool | None:
        """Return whether a run is good or bad; None if it is neither."""
        unknown, given = _unknown(outcome), answers(outcome)
        if unknown is not None:
            return False if self.unknown in (None, unknown) else None
        return True if given is not None and self.answer in (None, given[-1]) else None

    def next_order(self, order: Sequence[int], run: Sequence[Outcome]) -> Sequence[int]:
        """Put the runs that decided after the first one, as far as they were needed."""
        missing: dict[bool | None, int] = {True: self.good, False: self.bad}
        deciding = []
        for number, outcome in zip(order, run, strict=False):
            end = self._is_good(outcome)
            if missing.get(end, 0):
                missing[end] -= 1
                deciding.append(number)
        rest = [each for each in order if each not in deciding]
        return sorted((*deciding, *rest), key=lambda each: each != order[0])

    def describe(self) -> str:
        """Describe the preserved failure."""
        good = "answer" if self.answer is None else f"answer {self.answer.decode()}"
        bad = "do not" if self.unknown is None else f"end with {self.unknown.decode()}"
        return f"of {self.runs} runs at least {self.good} {good} and {self.bad} {bad}"

    def shown_by(self, run: Sequence[Outcome], limits: Limits) -> Criterion | None:
        """Return the same with the most frequent answer, and the most frequent bad end."""
        good = [given[-1] for each in run if (given := answers(each)) is not None]
        bad = [ended for each in run if (ended := _unknown(each)) is not None]
        if not good or not bad:
            return None
        pinned = replace(
            self,
            answer=max(sorted(set(good)), key=good.count),
            unknown=max(sorted(set(bad)), key=bad.count),
        )
        return pinned if verdict(pinned, run) else None

    def missing_in(self, run: Sequence[Outcome]) -> str:
        """Tell how many there were."""
        good, bad = (
            sum(each is not None for each in map(ends, run)) for ends in (answers, _unknown)
        )
        return f"{self.describe()}; {good} were answered, {bad} were not"


_REASON = re.compile(rb'\(:reason-unknown "?([^)"\n]*)')


def _unknown(outcome: Outcome) -> bytes | None:
    """Return how a run failed to answer: the solver's reason, if it was asked; None if it did not.

    A crash and an error are no such end.
    """
    if outcome.limit == "time":
        return b"the time limit"
    if outcome.signal is not None or read_answers(outcome.stdout)[-1:] != (b"unknown",):
        return None
    if failure_line(outcome.stdout, outcome.stderr) is not None:
        return None
    reason = _REASON.search(outcome.stdout)
    return b"unknown" if reason is None else b"unknown (" + reason[1].strip() + b")"
