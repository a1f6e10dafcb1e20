"""The best text so far: what a reduction has achieved, and would leave if it ended now.

Why every reduction terminates and never leaves a worse file: each frontend defines a strict
well-founded order of texts (for example fewer nodes, then fewer bytes). A text is reported, that
is, written to the output and to the journal, only if it is strictly below the previously reported
one. So whatever the passes propose, and whenever the reduction is interrupted, there are only
finitely many steps, and the input is above them all.

Some changes only pay off later: spelling out all options of a trace makes it larger, until the
options that matter are known. Such a change, which only preparing passes may make, begins a
transaction: the passes continue from the larger text, which is not reported. The transaction is
committed when a text falls below the last reported one, which is then reported. If none does, it
is rolled back.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from reducekit.events import Accepted, Event, RolledBack
from reducekit.journal import Journal
from reducekit.reduction.control import Spending

# A flaky failure mostly shows late, when texts are small. A run accepts some hundred texts, so
# this bounds their memory to some ten MB.
_HISTORY = 1 << 16  # bytes; larger texts are not kept for going back


@dataclass(slots=True, eq=False)
class Best:
    """The interesting texts at hand, and the seconds that the oracle took on each.

    Invariants: `text` is what the passes work on. `reported` is the last text passed to `listen`
    and the journal, or the input; each was strictly below its predecessor. Both are interesting as
    far as is known.
    """

    text: bytes
    seconds: float
    order: Callable[[bytes], Any]
    spending: Spending
    listen: Callable[[Event], None]
    journal: Journal | None
    reported: bytes = field(init=False)
    _reported_seconds: float = field(init=False)
    _history: list[tuple[bytes, float]] = field(default_factory=list)
    """The reported texts, to go back to if the last ones turn out not to fail every time."""
    _first_seconds: float = field(init=False)

    def __post_init__(self) -> None:
        self.reported, self._reported_seconds = self.text, self.seconds
        self._first_seconds = self.seconds

    def is_below(self, text: bytes, other: bytes) -> bool:
        """Return whether a text is strictly smaller than another in the frontend's order."""
        return bool(self.order(text) < self.order(other))

    def accept(
        self, text: bytes, seconds: float, what: str, pass_name: str, key: bytes | None
    ) -> bool:
        """Continue from an interesting text; return whether it was reported.

        Raises Stopped if the text has reached the requested size.
        """
        # In any case the passes go on from it: it may be larger than what was reported, within a
        # transaction.
        self.text, self.seconds = text, seconds
        if not self.is_below(text, self.reported):
            return False
        self.reported, self._reported_seconds = text, seconds
        spending = self.spending
        spending.counts.accepted += 1
        # First to memory, then to the journal, then to the output file: a kill in between loses a
        # step at most, and never leaves an output that the journal does not know.
        if len(text) <= _HISTORY:
            self._history.append((text, seconds))
        if self.journal is not None:
            checks = spending.counts.checks
            self.journal.step(
                text, what, pass_name, seconds=spending.elapsed, checks=checks, key=key
            )
        self.listen(Accepted(text, what, pass_name))
        spending.require_larger(len(text))
        return True

    def roll_back(self) -> bool:
        """Give up a transaction; return whether there was one."""
        if self.text == self.reported:
            return False
        self.text, self.seconds = self.reported, self._reported_seconds
        return True

    def return_to(self, holds: Callable[[bytes], bool], otherwise: bytes) -> None:
        """Go back from a text that did not fail again to the last reported one that `holds`."""
        given_up, history = [self.reported], self._history
        if history and history[-1][0] == self.reported:
            history.pop()
        self.text, self.seconds = otherwise, self._first_seconds
        while history:
            text, seconds = history[-1]
            # Backward through the steps, not by bisection: a flaky failure need not be
            # monotonous, and the smallest text that holds is wanted.
            self.seconds = seconds  # a larger text may take longer
            if holds(text):
                self.text = text
                break
            given_up.append(history.pop()[0])
        else:
            self.seconds = self._first_seconds
        self.reported, self._reported_seconds = self.text, self.seconds
        if self.journal is not None:
            self.journal.rolled_back(self.reported)
        self.listen(RolledBack(self.reported, tuple(given_up)))
