"""What checks answers in a trace: what it is given, what it says, and how a replay ended by it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from reducekit.frontends.trace.language.calls import Call, Value
from reducekit.frontends.trace.player.outcome import MISMATCH, ReplayOutcome

Kind = Literal["model", "unsat", "core", "sat"]
_SAID = {
    "model": "the model does not satisfy the formula",
    "unsat": "unsatisfiable, but there is a model",
    "core": "the failed assumptions do not fail together",
    "sat": "satisfiable, but another solver finds no model",
}


@dataclass(frozen=True, slots=True)
class Wrong:
    """A wrong answer: what is wrong, the index of the call that gave it, and what shows it."""

    kind: Kind
    call: int
    proof: str = field(default="", compare=False)

    def describe(self) -> str:
        """Say in words what is wrong, the same for the same kind."""
        return f"wrong answer: {_SAID[self.kind]}"


Checked = Wrong | Literal["unknown"] | None
"""The first wrong answer; None if there is none, "unknown" if not all could be checked."""


class Checker(ABC):
    """Checks answers in a trace that was replayed. `init` is the name of the call that makes a
    solver; a trace may make several, one after the other.
    """

    def __init__(self, init: str) -> None:
        self._init = init

    @abstractmethod
    def check(self, calls: Sequence[Call], results: Sequence[Value | None]) -> Checked:
        """Return the first wrong answer of a trace whose calls returned `results`."""

    def judged(self, calls: Sequence[Call], outcome: ReplayOutcome) -> ReplayOutcome:
        """Return how a replay ended: as a "mismatch" in the call that gave the first wrong answer.

        What is wrong with it is the standard error then. Of a replay that died, the answers of
        the solver that it died of are not looked at: it ended as it did.
        """
        whole = calls
        if outcome.kind != "ok":
            begins = self._begins(calls[: outcome.last_call + 1])
            whole = calls[: begins[-1]]
        wrong = self.check(whole, outcome.results[: len(whole)])
        if not isinstance(wrong, Wrong):
            return outcome
        said = wrong.describe()
        return replace(
            outcome,
            kind="mismatch",
            status=MISMATCH,
            last_call=wrong.call,
            stderr=said.encode(),
            reason=said,
            place=f"{_where(wrong, calls)}: {said}{wrong.proof and ': '}{wrong.proof}",
        )

    def _begins(self, calls: Sequence[Call]) -> list[int]:
        """Return the index of the first call of each solver of a trace."""
        begins = [index for index, call in enumerate(calls) if call.name == self._init]
        return [0, *begins[1:]]


def _where(wrong: Wrong, calls: Sequence[Call]) -> str:
    call = calls[wrong.call]
    return f"{f'line {call.line}' if call.line else f'call {wrong.call + 1}'}: {call}"
