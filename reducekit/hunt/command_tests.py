"""Tests inputs by programs: all run on each input, and each failure or contradiction counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count

from reducekit.executors.executor import Executor
from reducekit.hunt.findings import Finding, findings
from reducekit.hunt.inputs import Input
from reducekit.hunt.results import Control, InputResult
from reducekit.oracle.command import Command
from reducekit.oracle.limits import Limits
from reducekit.oracle.outcome import Outcome


@dataclass(frozen=True, slots=True)
class CommandTests:
    """Runs commands one after the other on each input, several inputs at a time.

    `reference` says that the last command's answers are right. `breaks_rules` says of a run
    that it only complains of an input which its program need not accept: that is no bug.
    """

    commands: tuple[Command, ...]
    reference: bool
    limits: Limits
    executor: Executor
    """Of an oracle that runs all commands whatever happens, and keeps what they print."""
    keep_timeouts: bool
    breaks_rules: Callable[[Outcome], bool]

    def results(self, inputs: Iterator[Input], control: Control) -> Iterator[InputResult | None]:
        """Yield how each input was tested, in the order in which the tests end.

        None, while nothing runs, is the time to reduce: so no run is slower for it.
        """
        flying: dict[int, Input] = {}
        tickets = count()
        more = True
        while True:
            while more and not control.waiting() and self.executor.free and control.left() != 0:
                given = next(inputs, None)
                if given is None:
                    more = False
                    break
                ticket = next(tickets)
                flying[ticket] = given
                self.executor.submit(ticket, given.text, self.limits)
            if not flying:
                if not control.waiting():
                    return
                yield None
                continue
            for finished in self.executor.wait(control.patience()):
                yield self._result(flying.pop(finished.ticket), finished.outcomes)
            if control.left() == 0:
                more = False
                for each in flying:
                    self.executor.cancel(each)
                flying.clear()

    def _result(self, given: Input, outcomes: Sequence[Outcome]) -> InputResult:
        late = any(outcome.limit == "time" for outcome in outcomes)
        if any(map(self.breaks_rules, outcomes)):
            return InputResult(given, timed_out=late, counts={"rules broken": 1})
        wall = self.limits.wall if self.keep_timeouts else None
        found: list[Finding] = findings(
            self.commands, outcomes, reference=self.reference, timeouts=wall
        )
        return InputResult(given, tuple(found), timed_out=late)
