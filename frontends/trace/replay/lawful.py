"""A broken contract is never the failure that is looked for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from reducekit.frontends.trace.model import Sign
from reducekit.frontends.trace.replay.classify import classified
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
