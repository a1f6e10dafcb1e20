"""Many small traces played one after the other in one replay."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from reducekit.frontends.trace.calls import Call
from reducekit.frontends.trace.replay.outcome import ReplayOutcome

_MOST = 20_000
"""Calls in one replay: it takes some 50 ms, as one of a long recorded trace does."""
_STRAY = 3
"""So many traces that end in another way are passed over, each for one more replay."""
_SLOW = 2
"""So many of these does one count as that runs out of time."""
_AGREED = 2
"""So many traces have to fail by themselves too before that is taken for granted."""
_CPU_LEAST = 2.0
_CPU = 5
"""Seconds of CPU that many small traces get in one replay, at least and in times of the first
one's, which is as long as all of them. Most take 50 ms, but a fault may make some hang."""


def cpu_of_many(first: ReplayOutcome) -> float:
    """Return after how many seconds of CPU a replay of many traces hangs."""
    return max(_CPU_LEAST, _CPU * first.cpu)


@dataclass(slots=True)
class Trust:
    """Whether what fails after other traces in a process is known to fail by itself too.

    It does, unless memory is corrupted or read before it is set. So a few are played
    once more, and if all of them fail again, the others are not. The result of a reduction is
    played once more in any case. One that does not fail again ends this for good.
    """

    agreed: int = 0

    @property
    def earned(self) -> bool:
        """Whether enough have failed again, and no other has not."""
        return self.agreed >= _AGREED

    def note(self, *, again: bool) -> None:
        """Take in whether one failed again by itself."""
        self.agreed = self.agreed + 1 if again and self.agreed >= 0 else -1


def alone(outcome: ReplayOutcome, begin: int, size: int) -> ReplayOutcome:
    """Return how a trace ended by itself that began as call `begin` of a replay and ended it."""
    last = min(outcome.last_call - begin, size - 1)
    return replace(outcome, last_call=last, results=outcome.results[begin : begin + size])


def _nothing(calls: Sequence[Call], outcome: ReplayOutcome) -> None:
    """Take in how a trace ends."""


@dataclass(frozen=True, slots=True)
class BatchReplay:
    """Finds the first of many small traces that fails, in as few replays as can be.

    A trace begins with the call that makes the solver; `release` is the call
    that takes it down again, so that the next trace finds a new one. What is
    found has failed by itself too, or is trusted to: then `prove` is told how. A trace with a
    call that is not `playable`, by its name, does not fail.
    """

    replay: Callable[[Sequence[Call]], ReplayOutcome]
    release: Call
    wanted: ReplayOutcome
    playable: Callable[[str], bool] = lambda name: True
    prove: Callable[[Sequence[Call], ReplayOutcome], None] = _nothing
    trust: Trust = field(default_factory=Trust)

    def first(self, traces: Sequence[Sequence[Call]]) -> int | None:
        """Return the index of the first trace that fails as wanted; None if none does."""
        playable = {call.name for trace in traces for call in trace}
        playable = {name for name in playable if self.playable(name)}
        numbers = [
            number
            for number, trace in enumerate(traces)
            if playable.issuperset([call.name for call in trace])
        ]
        at = stray = 0
        while at < len(numbers) and stray <= _STRAY:
            calls: list[Call] = []
            begins: list[int] = []
            for number in numbers[at:]:
                trace = traces[number]
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
            place = max(0, bisect_right(begins, outcome.last_call) - 1)
            at += place
            wanted = self._fails(outcome)
            if wanted:
                trace = traces[numbers[at]]
                # The first one had a fresh process. What the solver died of when it was taken
                # down is not in the trace itself.
                inside = outcome.last_call - begins[place] < len(trace)
                if inside and (place == 0 or self.trust.earned):
                    self.prove(trace, alone(outcome, begins[place], len(trace)))
                    return numbers[at]
                again = self._fails(self.replay(trace))
                self.trust.note(again=again)
                if again:
                    return numbers[at]
            at += 1
            stray += 1 if wanted or outcome.kind != "timeout" else _SLOW
        return None

    def _fails(self, outcome: ReplayOutcome) -> bool:
        wanted = self.wanted
        if wanted.kind == "timeout":
            return outcome.kind == "timeout"
        return (outcome.kind, outcome.signal, outcome.status) == (
            wanted.kind,
            wanted.signal,
            wanted.status,
        )
