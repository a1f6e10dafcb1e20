"""Many small traces played one after the other in one replay."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from reducekit.frontends.trace.language.calls import Call
from reducekit.frontends.trace.player.outcome import ReplayOutcome

_MOST = 20_000
"""Calls in one replay: it takes some 50 ms, as one of a long recorded trace does."""
_STRAY = 3
"""The number of traces with another outcome that are skipped, each at the cost of a replay."""
_SLOW = 2
"""A timeout counts as this number of them."""
_AGREED = 2
"""The number of traces that have to fail alone, too, before a shared process is trusted.

A trace that does not fail alone is detected at the end, when the result is played alone, and the
search goes back. With one instead of two, each reduction takes a replay less, but that of a fault
that corrupts memory went back 32 times: 1,682 replays instead of 598, for a larger trace.
"""
_LOST = 10
"""Sharing ends after this number of traces that pass alone, if they are also at least twice as
many as those that fail: each costs a replay, while passing in a shared replay costs little."""
_LATE = 0.8
"""How much a replay still counts after the next one, for what to expect of those to come."""
_CPU_LEAST = 2.0
_CPU = 5
"""Seconds of CPU that many small traces get in one replay, at least and in times of the first
one's, which is as long as all of them. Most take 50 ms, but a fault may make some hang."""


def cpu_of_many(first: ReplayOutcome) -> float:
    """Return after how many seconds of CPU a replay of many traces hangs."""
    return max(_CPU_LEAST, _CPU * first.cpu)


@dataclass(slots=True)
class Trust:
    """Whether a trace that fails after others in a process can be trusted to fail alone, too.

    It does, unless memory is corrupted or read uninitialised. So the first few are replayed
    alone, and if all of them fail again, later ones are not. The result of a reduction is
    always replayed. A single one that does not fail again ends the trust for good.
    """

    agreed: int = 0
    refused: int = 0

    @property
    def earned(self) -> bool:
        """Whether enough have failed again, and no other has not."""
        return self.agreed >= _AGREED and not self.refused

    @property
    def lost(self) -> bool:
        """Whether sharing a process is useless: most traces that fail there pass alone."""
        return self.refused >= max(_LOST, 2 * self.agreed)

    def note(self, *, again: bool) -> None:
        """Record whether a trace failed again when replayed alone."""
        if again:
            self.agreed += 1
        else:
            self.refused += 1


@dataclass(slots=True)
class Reach:
    """How many traces passed in recent replays before one ended it with another outcome.

    With a fault that corrupts memory most traces do so, and no trace is played after them.
    Expecting many traces per replay would then lead to many small steps, each of them a run.
    """

    passed: float = 32.0
    strays: float = 0.5

    def note(self, passed: int, *, stray: bool, late: bool = False) -> None:
        """Take in how many passed in a replay, and whether it ended in another way.

        One that runs out of time (`late`) takes as long as hundreds: the next few are alone.
        """
        self.passed = 0.0 if stray and late else _LATE * self.passed + passed
        self.strays = _LATE * self.strays + stray

    @property
    def traces(self) -> int:
        """How many traces are worth to be played together."""
        return 1 + int(self.passed / self.strays)


def ends_alike(wanted: ReplayOutcome, outcome: ReplayOutcome) -> bool:
    """Return whether a replay ended in the same way as another one."""
    if wanted.kind == "timeout":
        return outcome.kind == "timeout"
    if wanted.kind == "mismatch":
        return (outcome.kind, outcome.reason) == (wanted.kind, wanted.reason)
    return (outcome.kind, outcome.signal, outcome.status) == (
        wanted.kind,
        wanted.signal,
        wanted.status,
    )


def alone(outcome: ReplayOutcome, begin: int, size: int) -> ReplayOutcome:
    """Return how a trace ended by itself that began as call `begin` of a replay and ended it."""
    last = min(outcome.last_call - begin, size - 1)
    return replace(outcome, last_call=last, results=outcome.results[begin : begin + size])


class Passed:
    """Which traces have passed in a replay, whoever had them played: they are not played again.

    One whose replay has to show that it fails every time did not pass before.
    """

    def __init__(self) -> None:
        self._keys: set[int] = set()

    def __contains__(self, calls: Iterable[Call]) -> bool:
        return key_of(calls) in self._keys

    def add(self, calls: Iterable[Call]) -> None:
        """Take in a trace that has passed."""
        self._keys.add(key_of(calls))


def key_of(calls: Iterable[Call]) -> int:
    """Stand for calls as they are played, in 64 bits: what they returned does not matter."""
    return hash(tuple([(call.name, call.arguments) for call in calls if call.name != "return"]))


def _nothing(calls: Sequence[Call], outcome: ReplayOutcome) -> None:
    """Take in how a trace ends."""


@dataclass(frozen=True, slots=True)
class BatchReplay:
    """Finds the first of many small traces that fails, in as few replays as can be.

    A trace begins with the call that makes the solver; `release` is the call
    that takes it down again, so that the next trace finds a new one. What is
    found has failed by itself too, or is trusted to: then `prove` is told how. A trace with a
    call that is not `playable`, by its name, does not fail, nor does one that is not `lawful`
    after what its calls returned. What has `passed` is not played again.
    """

    replay: Callable[[Sequence[Call]], ReplayOutcome]
    release: Call
    wanted: ReplayOutcome
    playable: Callable[[str], bool] = lambda name: True
    prove: Callable[[Sequence[Call], ReplayOutcome], None] = _nothing
    trust: Trust = field(default_factory=Trust)
    lawful: Callable[[Sequence[Call], ReplayOutcome], bool] = lambda calls, outcome: True
    passed: Passed = field(default_factory=Passed)

    def first(self, traces: Sequence[Sequence[Call]]) -> int | None:
        """Return the index of the first trace that fails as wanted; None if none does."""
        playable = {call.name for trace in traces for call in trace}
        playable = {name for name in playable if self.playable(name)}
        numbers = [
            number
            for number, trace in enumerate(traces)
            if playable.issuperset([call.name for call in trace]) and trace not in self.passed
        ]
        at = stray = 0
        while at < len(numbers) and stray <= _STRAY and not self.trust.lost:
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
            place = len(begins)
            if outcome.kind != "ok":
                place = max(0, bisect_right(begins, outcome.last_call) - 1)
            for number in numbers[at : at + place]:
                self.passed.add(traces[number])
            at += place
            if outcome.kind == "ok":
                continue
            trace = traces[numbers[at]]
            ended = alone(outcome, begins[place], len(trace))
            if outcome.last_call - begins[place] >= len(trace):
                # All its calls came back: what died is the solver when it was taken down.
                self.passed.add(trace)
                at += 1
                stray += 1
                continue
            wanted = self._fails(trace, ended)
            if wanted:
                if place == 0 or self.trust.earned:  # the first one had a fresh process
                    self.prove(trace, ended)
                    return numbers[at]
                ended = self.replay(trace)
                again = self._fails(trace, ended)
                self.trust.note(again=again)
                if again:
                    self.prove(trace, ended)
                    return numbers[at]
            at += 1
            stray += 1 if wanted or outcome.kind != "timeout" else _SLOW
        return None

    def _fails(self, trace: Sequence[Call], outcome: ReplayOutcome) -> bool:
        return ends_alike(self.wanted, outcome) and self.lawful(trace, outcome)
