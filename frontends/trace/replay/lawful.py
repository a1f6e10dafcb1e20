"""A broken contract is never the failure that is looked for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from reducekit.frontends.trace.calls import Call
from reducekit.frontends.trace.machine import Machine
from reducekit.frontends.trace.model import Model, Sign
from reducekit.frontends.trace.replay.classify import classified
from reducekit.frontends.trace.replay.outcome import ReplayOutcome
from reducekit.oracle.criterion import Criterion
from reducekit.oracle.outcome import Outcome

_UNLAWFUL = ("contract", "parse")


@dataclass(frozen=True, slots=True)
class Lawful:
    """A criterion that holds, of a run that did not end over a wrong use of the API.

    `table` is the `[classify]` table of the API's model.
    """

    inner: Criterion
    table: Iterable[tuple[str, Iterable[Sign]]]
    captures: bool = True

    @property
    def wall(self) -> float | None:
        """The wall limit that goes with the criterion."""
        return self.inner.wall

    def judge(self, outcomes: Sequence[Outcome]) -> bool | None:
        """Refuse what the table says is a broken contract, or no trace at all."""
        if any(classified(self.table, outcome) in _UNLAWFUL for outcome in outcomes):
            return False
        return self.inner.judge(outcomes)

    def describe(self) -> str:
        """Say in words what is kept alive."""
        return self.inner.describe()


def was_lawful(model: Model, calls: Sequence[Call], outcome: ReplayOutcome) -> bool:
    """Say whether a model allows all calls of a replay that were begun, given what they returned.

    Without the results a model is in all states that any result leads to, and
    allows what one of them does: asking for a core, say, after a `sat` that
    turns out to be satisfiable. Handles go by their names in the trace.
    """
    machine = Machine(model)
    for index, call in enumerate(calls[: outcome.last_call + 1]):
        if call.name == "return":
            continue
        if machine.allowed(call) is not None:
            return False
        known = model.calls[call.name]
        found = outcome.results[index] if index < len(outcome.results) else None
        machine.after(call, None if known.produces else found)
    return True
