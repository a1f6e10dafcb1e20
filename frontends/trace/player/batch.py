"""Many small traces played one after the other in one replay, and what replays have shown so far.

Most candidates of a reduction do not fail, and a process costs more than a short trace. So traces
share a process, each with a solver of its own. It dies of the first trace that fails: those
before it have passed, by one replay in all, and those after it are mostly not needed any more.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from reducekit.frontends.trace.language.calls import Call
from reducekit.frontends.trace.model.definition import Model
from reducekit.frontends.trace.player.checker import Checker
from reducekit.frontends.trace.player.contract import was_lawful
from reducekit.frontends.trace.player.outcome import ReplayOutcome
from reducekit.frontends.trace.player.server_pool import ReplayServer
from reducekit.run import Limits

# Ends of a replay that belong to a call.
ENDED = ("signal", "exit", "mismatch", "timeout")
# Calls in one replay: it takes some 50 ms, as one of a long recorded trace does.
CALLS_TOGETHER = 20_000
# Of wall time, for many small traces in one replay.
_SECONDS = 10.0
# The number of traces with another outcome that are skipped, each at the cost of a replay.
_STRAY = 3
# A timeout counts as this number of them.
_SLOW = 2
# The number of traces that have to fail alone, too, before a shared process is trusted.
#
# A trace that does not fail alone is detected at the end, when the result is played alone, and the
# search goes back. With one instead of two, each reduction takes a replay less, but that of a fault
# that corrupts memory went back 32 times: 1,682 replays instead of 598, for a larger trace.
_AGREED = 2
# Sharing ends after this number of traces that pass alone, if they are also at least twice as
# many as those that fail: each costs a replay, while passing in a shared replay costs little.
_LOST = 10
# How much a replay still counts after the next one, for what to expect of those to come.
_LATE = 0.8
# Seconds of CPU that many small traces get in one replay, at least and in times of the first
# one's, which is as long as all of them. Most take 50 ms, but a fault may make some hang.
_CPU_LEAST = 2.0
_CPU = 5
_MOST = 4096  # proofs that are kept


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
        self.agreed += again
        self.refused += not again


@dataclass(slots=True)
class Reach:
    """How many traces passed in recent replays before one ended it with another outcome.

    With a fault that corrupts memory most traces end the replay, so few are played in each. To
    expect many would lead to many small steps, each of them a run.
    """

    passed: float = 32.0
    strays: float = 0.5

    def note(self, passed: int, *, stray: bool, late: bool = False) -> None:
        """Record how many passed in a replay, and whether another outcome ended it.

        One that runs out of time (`late`) takes as long as hundreds: the next few are alone.
        """
        self.passed = 0.0 if stray and late else _LATE * self.passed + passed
        self.strays = _LATE * self.strays + stray

    @property
    def traces(self) -> int:
        """How many traces are worth playing together."""
        return 1 + int(self.passed / self.strays)


def ends_alike(wanted: ReplayOutcome, outcome: ReplayOutcome) -> bool:
    """Return whether a replay ended in the same way as another one."""
    # Which limit ends a hang, and by which signal, depends on the load of the machine.
    if wanted.kind == "timeout":
        return outcome.kind == "timeout"
    # A wrong answer has no status of the program's; the reason says what is wrong.
    if wanted.kind == "mismatch":
        return (outcome.kind, outcome.reason) == (wanted.kind, wanted.reason)
    return (outcome.kind, outcome.signal, outcome.status) == (
        wanted.kind,
        wanted.signal,
        wanted.status,
    )


def key_of(calls: Iterable[Call]) -> int:
    """Return 64 bits that stand for calls as they are played, whatever they returned."""
    return hash(tuple([(call.name, call.arguments) for call in calls if call.name != "return"]))


class CrashCache:
    """The call in which the replay of each text ended.

    If the replay of a trace died in call k, its first k + 1 calls alone also die: the library saw
    nothing else. Such a proof replaces one replay. `replay`, if given, plays a text that is not
    cached.
    """

    def __init__(
        self, replay: Callable[[bytes], tuple[Sequence[Call], ReplayOutcome]] | None = None
    ) -> None:
        self._replay = replay
        self._last: dict[bytes, int | None] = {}
        self._proofs: dict[int, ReplayOutcome] = {}
        self._used: set[int] = set()
        self._looked_at: set[bytes] = set()
        # Whether a trace that fails after others in a process also fails alone.
        self.trust = Trust()
        # By `key_of`, the traces that passed in a shared replay, whoever had them played: they are
        # not played again. A trace that has to be seen to fail each time has not passed before.
        self.passed: set[int] = set()

    def last(self, text: bytes) -> int | None:
        """Return the index of the call in which the replay of a text ended; None if not known."""
        key = digest(text)
        if key not in self._last and self._replay is not None:
            # Noted first: a replay that passes is remembered nowhere, and would be made again.
            self._last[key] = None
            self.remember(text, *self._replay(text))
        return self._last.get(key)

    def remember(self, text: bytes, calls: Sequence[Call], outcome: ReplayOutcome) -> None:
        """Record how a replay ended."""
        if outcome.kind not in ENDED or outcome.last_call < 0:
            return
        self._last[digest(text)] = outcome.last_call
        # The whole trace proves nothing about a shorter one.
        if outcome.last_call + 1 == len(calls):
            return
        key = key_of(calls[: outcome.last_call + 1])
        # Who asks for a text again wants a replay, such as the one that confirms a result.
        if key not in self._used:
            self._keep(key, outcome)

    def prove(self, calls: Sequence[Call], outcome: ReplayOutcome) -> None:
        """Record how a replay ended that whoever made it is about to ask for again."""
        if outcome.kind in ENDED:
            self._keep(key_of(calls), outcome)

    def first_look(self, text: bytes) -> bool:
        """Return whether this is the first time that this is asked of a text."""
        key = digest(text)
        known = key in self._looked_at
        self._looked_at.add(key)
        return not known

    def _keep(self, key: int, outcome: ReplayOutcome) -> None:
        if len(self._proofs) >= _MOST:  # the oldest goes
            self._proofs.pop(next(iter(self._proofs)))
        self._proofs[key] = outcome

    def proof(self, text: bytes, calls: Sequence[Call]) -> ReplayOutcome | None:
        """Return how the replay of a text has to end, once, if an earlier one shows it."""
        key = key_of(calls)
        outcome = self._proofs.pop(key, None)
        if outcome is not None:
            self._used.add(key)
            self._last[digest(text)] = outcome.last_call
        return outcome


def digest(text: bytes) -> bytes:
    """Return 128 bits that stand for a text."""
    return hashlib.blake2b(text, digest_size=16).digest()


@dataclass(frozen=True, slots=True)
class Joint:
    """A replay of several traces: the first `passed` of them passed, and the next one ended it.

    `ended` is the outcome of that one, None if all passed. `released`: all its calls returned, so
    the solver died when it was taken down.
    """

    outcome: ReplayOutcome
    passed: int
    ended: ReplayOutcome | None = None
    released: bool = False


def play_together(
    traces: Sequence[Sequence[Call]],
    release: Call,
    replay: Callable[[Sequence[Call]], ReplayOutcome],
) -> Joint:
    """Play traces one after the other; `release` takes down the solver of each."""
    calls: list[Call] = []
    begins: list[int] = []
    for trace in traces:
        begins.append(len(calls))
        calls += trace
        # The next trace makes a solver, and the contract allows one at a time.
        if not trace or trace[-1].name != release.name:
            calls.append(release)
    outcome = replay(calls)
    if outcome.kind == "ok":
        return Joint(outcome, len(traces))
    # It ended in the last trace that begins no later than the call in which it did.
    passed = max(0, bisect_right(begins, outcome.last_call) - 1)
    begin, size = begins[passed], len(traces[passed])
    last = outcome.last_call - begin
    ended = replace(
        outcome, last_call=min(last, size - 1), results=outcome.results[begin : begin + size]
    )
    return Joint(outcome, passed, ended, last >= size)


@dataclass(frozen=True, slots=True)
class Batching:
    """How traces share a process, one after the other, each with a solver of its own.

    `begins` are the names of the calls that make a solver, `release` takes it down; `ending` is
    how a replay that fails as wanted ends.
    """

    begins: frozenset[str]
    release: Call
    ending: ReplayOutcome

    def wanted(self, outcome: ReplayOutcome) -> bool:
        """Return whether a replay ended as one that fails as wanted."""
        return ends_alike(self.ending, outcome)

    def limits(self, limits: Limits) -> Limits:
        """Return the limits of a replay of many traces. One that hangs keeps the limit of one."""
        # All of them together are no longer than a recorded trace, which takes less time.
        if self.ending.kind == "timeout":
            return limits
        wall = None if limits.wall is None else limits.wall + _SECONDS
        return limits._replace(wall=wall, cpu=_cpu_of_many(self.ending))

    def separable(self, calls: Sequence[Call]) -> bool:
        """Return whether others can be played after a trace in the same process."""
        # It has to make one solver, first, and to take it down last if at all.
        names = [call.name for call in calls]
        # A `return` belongs to the latest call with a result, which may be one of another trace.
        if not names or names[0] not in self.begins or "return" in names:
            return False
        if sum(map(names.count, self.begins)) != 1:
            return False
        return self.release.name not in names[:-1]


def batching(model: Model, ending: ReplayOutcome) -> Batching | None:
    """Return how traces of a model share a process; None if they cannot."""
    # The failure has to be the way in which a replay ends, and a call has to take the solver down.
    release = release_of(model)
    if ending.kind not in ENDED or release is None:
        return None
    # The name of a handle keeps its meaning in the next trace.
    if any(call.produces for call in model.calls.values()):
        return None
    return Batching(frozenset(_named(model, "init")), release, ending)


def release_of(model: Model) -> Call | None:
    """Return the call that destroys the solver; None if it cannot be made again."""
    releases = _named(model, "release")
    if len(releases) != 1 or model.calls[releases[0]].arguments or not _named(model, "init"):
        return None
    return Call(releases[0], ())


def _named(model: Model, role: str) -> list[str]:
    return [name for name, call in model.calls.items() if call.role == role]


def _cpu_of_many(first: ReplayOutcome) -> float:
    """Return after how many seconds of CPU a replay of many traces hangs."""
    return max(_CPU_LEAST, _CPU * first.cpu)


@dataclass(frozen=True, slots=True)
class BatchReplay:
    """Finds the first of many small traces that fails, in as few replays as can be.

    A trace begins with the call that makes the solver; `release` takes it down. The trace that is
    returned fails alone, too, or is trusted to: `prove` gets its outcome. Traces with a call that
    is not `playable`, by its name, are skipped, and so are those that are not `lawful` by what
    their calls returned. What has `passed`, by `key_of`, is not played again.
    """

    replay: Callable[[Sequence[Call]], ReplayOutcome]
    release: Call
    wanted: ReplayOutcome
    playable: Callable[[str], bool] = lambda name: True
    prove: Callable[[Sequence[Call], ReplayOutcome], None] = lambda calls, outcome: None
    trust: Trust = field(default_factory=Trust)
    lawful: Callable[[Sequence[Call], ReplayOutcome], bool] = lambda calls, outcome: True
    passed: set[int] = field(default_factory=set)

    def first(self, traces: Sequence[Sequence[Call]]) -> int | None:
        """Return the index of the first trace that fails as wanted; None if none does."""
        playable = {call.name for trace in traces for call in trace}
        playable = {name for name in playable if self.playable(name)}
        numbers = [
            number
            for number, trace in enumerate(traces)
            if playable.issuperset([call.name for call in trace])
            and key_of(trace) not in self.passed
        ]
        at = stray = 0
        while at < len(numbers) and stray <= _STRAY and not self.trust.lost:
            some: list[Sequence[Call]] = []
            size = 0
            for number in numbers[at:]:
                trace = traces[number]
                if some and size + len(trace) > CALLS_TOGETHER:
                    break
                some.append(trace)
                size += len(trace) + (trace[-1].name != self.release.name)
            joint = play_together(some, self.release, self.replay)
            self.passed.update(map(key_of, some[: joint.passed]))
            at += joint.passed
            if joint.ended is None:
                continue
            trace, ended = some[joint.passed], joint.ended
            at += 1
            if joint.released:
                self.passed.add(key_of(trace))
                stray += 1
                continue
            wanted = self._fails(trace, ended)
            # The first one had a fresh process, so it need not be played once more.
            again = wanted and (joint.passed == 0 or self.trust.earned)
            if wanted and not again:
                ended = self.replay(trace)
                again = self._fails(trace, ended)
                self.trust.note(again=again)
            if again:
                self.prove(trace, ended)
                return numbers[at - 1]
            # What runs out of time costs as much as several others.
            stray += 1 if wanted or joint.outcome.kind != "timeout" else _SLOW
        return None

    def _fails(self, trace: Sequence[Call], outcome: ReplayOutcome) -> bool:
        return ends_alike(self.wanted, outcome) and self.lawful(trace, outcome)


def small_traces(
    model: Model,
    ending: ReplayOutcome,
    server: ReplayServer,
    crashes: CrashCache,
    limits: Limits,
    count: Callable[[], None],
    *,
    lawful: bool,
    checker: Checker | None = None,
    hangs: float | None = None,
) -> BatchReplay | None:
    """Return what finds the first of many small traces that ends as `ending`; None if none can.

    `count` is called before each replay. With `lawful`, a trace that breaks the contract, given
    what its calls return, is skipped. `checker` finds wrong answers; `hangs` is after how many
    seconds of CPU a trace hangs, if that is the failure.
    """
    release = release_of(model)
    if ending.kind not in ENDED or release is None:
        return None
    # One that hangs is known by a limit of its own: as long as all others, but no longer.
    cpu = _cpu_of_many(ending) if hangs is None else hangs
    limits = limits._replace(wall=_SECONDS, cpu=cpu)

    def replay(calls: Sequence[Call]) -> ReplayOutcome:
        count()
        outcome = server.replay(calls, limits)
        return outcome if checker is None else checker.judged(calls, outcome)

    def kept(calls: Sequence[Call], outcome: ReplayOutcome) -> bool:
        return not lawful or was_lawful(model, calls, outcome)

    return BatchReplay(
        replay, release, ending, server.playable, crashes.prove, crashes.trust, kept, crashes.passed
    )
