"""The best text so far: what a reduction has achieved, and would leave if it ended now.

Why every reduction ends, and never leaves a worse file: each frontend defines a
strict total order of texts in which nothing descends for ever (fewer nodes,
then fewer bytes, for example). A text is told, and so written to the output and
to the journal, only if it is strictly below the one told before. So whatever
the passes propose, and whenever the reduction is interrupted, there are only
finitely many steps, and the input is above them all.

Some changes only pay later: spelling out all options of a trace makes it larger
before the options that matter are known. Such a change, which only the passes
that prepare a text may make, begins a transaction: the passes go on from the
larger text, of which nobody is told. When something falls below the text told
last, that is told, and the transaction is done. If nothing ever does, it is
rolled back.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from reducekit.events import Accepted, Event, RolledBack
from reducekit.journal import Journal
from reducekit.reduction.budget import Spending

_HISTORY = 1 << 16  # bytes; larger texts are not kept to go back to


@dataclass(slots=True)
class Best:
    """The interesting texts at hand, and how many seconds the oracle took on each.

    Invariants: `text` is what the passes work on. `told` is the last text that
    `listen` and the journal were told of, or the input; each was strictly below
    the one before. Both are interesting as far as is known.
    """

    text: bytes
    seconds: float
    order: Callable[[bytes], Any]
    spending: Spending
    listen: Callable[[Event], None]
    journal: Journal | None
    told: bytes = field(init=False)
    _told_seconds: float = field(init=False)
    _history: list[bytes] = field(default_factory=list)
    """The texts told, of which it may turn out that the last ones do not fail every time."""

    def __post_init__(self) -> None:
        self.told, self._told_seconds = self.text, self.seconds

    def is_below(self, text: bytes, other: bytes) -> bool:
        """Return whether a text is strictly smaller than another in the frontend's order."""
        return bool(self.order(text) < self.order(other))

    def accept(
        self, text: bytes, seconds: float, what: str, pass_name: str, key: bytes | None
    ) -> bool:
        """Go on from an interesting text; return whether it was told.

        Raises Stopped if it is as small as was asked for.
        """
        self.text, self.seconds = text, seconds
        if not self.is_below(text, self.told):
            return False
        self.told, self._told_seconds = text, seconds
        spending = self.spending
        spending.counts.accepted += 1
        if len(text) <= _HISTORY:
            self._history.append(text)
        if self.journal is not None:
            checks = spending.counts.checks
            self.journal.step(
                text, what, pass_name, seconds=spending.elapsed, checks=checks, key=key
            )
        self.listen(Accepted(text, what, pass_name))
        spending.require_larger(len(text))
        return True

    def roll_back(self) -> bool:
        """Give up what did not get below the text told last; return whether there was anything."""
        if self.text == self.told:
            return False
        self.text, self.seconds = self.told, self._told_seconds
        return True

    def return_to(self, holds: Callable[[bytes], bool], otherwise: bytes) -> None:
        """Go back from a text that did not fail again to the last one told that `holds`."""
        given_up = len(self.told)
        history = self._history
        history.pop()
        while history and not holds(history[-1]):
            history.pop()
        self.text = self.told = history[-1] if history else otherwise
        if self.journal is not None:
            self.journal.rolled_back(self.told)
        self.listen(RolledBack(self.told, given_up))
