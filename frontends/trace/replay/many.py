"""Many small traces played one after the other in one replay."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from reducekit.frontends.trace.calls import Call
from reducekit.frontends.trace.replay.outcome import ReplayOutcome

_MOST = 20_000
"""Calls in one replay: it takes some 50 ms, as one of a long recorded trace does."""
_STRAY = 8
"""So many traces that end in another way are passed over, each for one more replay."""


@dataclass(frozen=True, slots=True)
class Many:
    """Finds the first of many small traces that fails, in as few replays as can be.

    A trace begins with the call that makes the solver; `release` is the call
    that takes it down again, so that the next trace finds a new one. What is
    found has failed by itself too.
    """

    replay: Callable[[Sequence[Call]], ReplayOutcome]
    release: Call
    wanted: ReplayOutcome

    def first(self, traces: Sequence[Sequence[Call]]) -> int | None:
        """Return the index of the first trace that fails as wanted; None if none does."""
        at = stray = 0
        while at < len(traces) and stray <= _STRAY:
            calls: list[Call] = []
            begins: list[int] = []
            for trace in traces[at:]:
                if begins and len(calls) + len(trace) > _MOST:
                    break
                begins.append(len(calls))
                calls += trace
                if trace[-1].name != self.release.name:
                    calls.append(self.release)
            outcome = self.replay(calls)
            if outcome.kind == "ok":
                at += len(begins)
                continue
            number = at + max(0, bisect_right(begins, outcome.last_call) - 1)
            if self._fails(outcome) and self._fails(self.replay(traces[number])):
                return number
            at = number + 1
            stray += 1 if outcome.kind != "timeout" else _STRAY // 2
        return None

    def _fails(self, outcome: ReplayOutcome) -> bool:
        wanted = self.wanted
        return (outcome.kind, outcome.signal, outcome.status) == (
            wanted.kind,
            wanted.signal,
            wanted.status,
        )
