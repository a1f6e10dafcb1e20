"""Passes to a fixpoint: ties documents, searches, the executor and known verdicts together."""

from __future__ import annotations

import hashlib
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from reducekit.change import Change, Template
from reducekit.document import Document
from reducekit.errors import ParseError
from reducekit.events import Accepted, Checked, Event, PassEnded, PassStarted, WentBack
from reducekit.executors.executor import Executor
from reducekit.frontend import Frontend, Pass, View
from reducekit.oracle.limits import Limits
from reducekit.search.problem import Search, Strategy
from reducekit.search.speculation import Speculation


@dataclass(frozen=True, slots=True)
class Budget:
    """When to stop early. None: never."""

    checks: int | None = None
    """After so many checks."""
    seconds: float | None = None
    """After so many seconds."""
    patience: int | None = None
    """After so many checks in a row without success."""


@dataclass(slots=True)
class Counts:
    """What a reduction has cost so far. All but `runs` are the same for every number of jobs."""

    checks: int = 0
    """Candidates whose verdict took a run of the oracle."""
    hits: int = 0
    """Candidates whose verdict was known already."""
    runs: int = 0
    """Runs started, also of candidates that were overtaken by an earlier one's success."""
    repeats: int = 0
    """Runs on texts that had been found interesting, to see whether they always are."""
    accepted: int = 0

    @property
    def void(self) -> int:
        """Runs whose verdict was not used."""
        return self.runs - self.checks - self.repeats


@dataclass(frozen=True, slots=True)
class Result:
    """The smallest interesting text found, what it cost, and why the search ended early, if so."""

    text: bytes
    counts: Counts
    rounds: int
    seconds: float
    stopped: str | None


class _Stop(Exception):
    """The budget is used up."""


@dataclass(frozen=True, slots=True)
class _Mode:
    """Which candidates are worth a run."""

    everything: bool
    """Also what was refuted before where nothing has changed since."""
    sideways: bool = False
    """Also what is not smaller: only in passes that run once."""


_LOOK_AHEAD = 16
_AGAIN = b"again"  # in place of a key; keys are longer
_RETURNS = 3  # with twice the runs each time
_HISTORY = 1 << 16  # bytes; larger texts are not kept to go back to

_PREPARE = _Mode(everything=True, sideways=True)
_ONWARD = _Mode(everything=False)
_SWEEP = _Mode(everything=True)


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A candidate in flight."""

    text: bytes
    edits: dict[int, Template]
    what: str
    key: bytes | None
    """Stands for the text among the verdicts; None if it is not worth a run."""
    around: bytes | None
    """Stands for what is changed, and into what, among the refuted changes."""


class _Verdict(NamedTuple):
    """What the oracle said of a text, and how long it took."""

    interesting: bool
    seconds: float


def smaller(text: bytes, than: bytes) -> bool:
    """Return whether a text comes before another: fewer bytes, then by bytes.

    A strict total order without infinite descent, so every reduction ends: only
    steps down are accepted, whatever the passes propose.
    """
    return (len(text), text) < (len(than), than)


def digest(text: bytes) -> bytes:
    """Return 128 bits that stand for a text in the memory of verdicts."""
    return hashlib.sha256(text).digest()[:16]


class Surroundings:
    """What a candidate changes, seen from the nodes right above: without what it leaves alone."""

    BYTES = 1 << 16
    NODES = 64
    """A change of more bytes or nodes is not worth remembering beside its whole text."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self._tops = frozenset(document.children(0))

    def key(
        self,
        accepted: Mapping[int, Template],
        edits: Mapping[int, Template],
        more: Mapping[int, Template],
    ) -> bytes | None:
        """Return 128 bits that stand for what `more` changes and into what; None if it is large.

        Equal where the same nodes with the same siblings become the same text,
        whatever else the document holds. `edits` are `accepted` and `more`.
        """
        tops, document = self._tops, self.document
        if len(more) > self.NODES:
            return None
        above = {node if node in tops else document.parent[node] for node in more}
        if (
            0 in above
            or sum(document.end[node] - document.start[node] for node in above) > self.BYTES
        ):
            return None
        parts = []
        for node in sorted(above):
            parts += [document.render(accepted, node), document.render(edits, node)]
        return digest(b"\0".join(parts))


@dataclass(slots=True)
class Reduction:
    """One reduction: the parts it is made of, and its state.

    `limits(seconds)` gives the limits of a check when the best text so far took
    that many seconds. `listen` is told of every event. `width` candidates are
    in flight at most; the result does not depend on it.

    The result is run `repeats` more times. If it does not fail every time, the
    oracle is flaky: the search goes back to the smallest accepted text that
    does, and from there every success has to show in twice as many more runs.
    """

    frontend: Frontend
    strategy: Strategy
    executor: Executor
    limits: Callable[[float], Limits]
    width: int = 1
    budget: Budget = field(default_factory=Budget)
    listen: Callable[[Event], None] = lambda event: None
    repeats: int = 0
    counts: Counts = field(default_factory=Counts)
    _verdicts: dict[bytes, _Verdict] = field(default_factory=dict)
    _used: set[bytes] = field(default_factory=set)
    """The keys of the verdicts that have been used; the others came too late so far."""
    _refuted: set[bytes] = field(default_factory=set)
    _running: dict[bytes, int] = field(default_factory=dict)
    """The ticket of each text that is being checked."""
    _failures: int = 0
    """Checks since the last success."""
    _history: list[bytes] = field(default_factory=list)
    _returns: int = 0
    """How often the search has gone back."""
    _begin: float = field(default_factory=time.monotonic)

    @property
    def elapsed(self) -> float:
        """Seconds since the reduction was made."""
        return time.monotonic() - self._begin

    def know(self, text: bytes, *, interesting: bool) -> None:
        """Take in a verdict that is known before; it counts as a cache hit when it is needed."""
        key = digest(text)
        self._verdicts[key] = _Verdict(interesting, 0.0)
        self._used.add(key)

    def run(self, text: bytes, seconds: float) -> Result:
        """Reduce an interesting text on which the oracle took so many seconds.

        Raises ParseError if the text is not of the format. An interrupt leaves
        the executor's checks to its `close`; what was accepted was told to `listen`.
        """
        best = _Best(text, seconds)
        rounds, stopped = 0, None
        while True:
            before = best.text
            more, stopped = self._run_schedule(best)
            rounds += more
            self._cancel(list(self._running))
            if best.text in (text, before) or self._repeated(best.text, best.seconds):
                break
            self._go_back(best, text)
            if self._returns == _RETURNS:
                stopped = stopped or "the oracle does not always say the same of a text"
            if stopped is not None:
                break
        return Result(best.text, self.counts, rounds, self.elapsed, stopped)

    def _run_schedule(self, best: _Best) -> tuple[int, str | None]:
        """Run the passes until none helps; return the rounds, and why it ended early, if so."""
        schedule = self.frontend.schedule(self.strategy.name)
        view = self.frontend.parse(best.text)
        useless: dict[str, bytes] = {}  # pass -> the text on which it found nothing
        rounds = 0

        def run(passes: Sequence[Pass], mode: _Mode) -> bool:
            nonlocal view
            progress = False
            for each in passes:
                if useless.get(each.name) == best.text:
                    continue
                if self._run_pass(each, view, best, rounds, mode):
                    progress = True
                    view = self.frontend.parse(best.text)
                elif mode.everything:
                    useless[each.name] = best.text
            return progress

        try:
            run(schedule.prepare, _PREPARE)
            run(schedule.once, _ONWARD)
            while True:
                rounds += 1
                if run(schedule.rounds, _ONWARD):
                    continue
                if run(schedule.closing, _ONWARD):
                    continue
                if not run(schedule.sweep or schedule.rounds, _SWEEP):
                    return rounds, None
        except _Stop as stop:
            return rounds, str(stop)
        except ParseError as error:
            return rounds, f"the best text can no longer be parsed ({error})"

    def _go_back(self, best: _Best, text: bytes) -> None:
        """Make the smallest accepted text that fails every time the best; else the first text."""
        given_up = len(best.text)
        self._returns += 1
        # What was found interesting has to show again, and in more runs.
        doubtful = [key for key, verdict in self._verdicts.items() if verdict.interesting]
        for key in doubtful:
            del self._verdicts[key]
            self._used.discard(key)
        self._history.pop()
        while self._history and not self._repeated(self._history[-1], best.seconds):
            self._history.pop()
        best.text = self._history[-1] if self._history else text
        self.listen(WentBack(best.text, given_up))

    def _repeated(self, text: bytes, seconds: float) -> bool:
        """Return whether a text is interesting in so many more runs."""
        for _ in range(self.repeats << self._returns):
            while not self.executor.free:
                self._collect(None)
            self.counts.runs += 1
            self.counts.repeats += 1
            self._running[_AGAIN] = self.counts.runs
            self.executor.submit(self.counts.runs, text, self.limits(seconds))
            while _AGAIN in self._running:
                self._collect(None)
            if not self._verdicts.pop(_AGAIN).interesting:
                return False
        return True

    def _run_pass(self, each: Pass, view: View, best: _Best, rounds: int, mode: _Mode) -> bool:
        """Search one pass; return whether it made the best text smaller."""
        problem = each.problem(view)
        if problem is None:
            return False
        self.listen(PassStarted(each.name, rounds))
        checks, accepted = self.counts.checks, self.counts.accepted
        around = Surroundings(view.document)
        self._search(self.strategy.start(problem), around, best, each.name, mode)
        accepted = self.counts.accepted - accepted
        checks = self.counts.checks - checks
        self.listen(PassEnded(each.name, rounds, checks, accepted, len(best.text)))
        return accepted > 0

    def _search(
        self, search: Search, around: Surroundings, best: _Best, name: str, mode: _Mode
    ) -> None:
        """Try what a search proposes, several candidates at a time, verdicts in order."""
        speculation = Speculation(search)
        edits: dict[int, Template] = {}
        flight: deque[_Candidate] = deque()
        while True:
            # Known verdicts take no slot, so looking ahead goes past them, but not for ever.
            while self.executor.free and len(flight) < _LOOK_AHEAD * self.width:
                change = speculation.extend()
                if change is None:
                    break
                flight.append(self._candidate(around, edits, change, best.text, mode))
                self._start(flight[-1], best.seconds, mode)
            if not flight:
                return
            first = flight.popleft()
            checks = self.counts.checks
            verdict = self._verdict(first, best.seconds, mode)
            known = self.counts.checks == checks
            speculation.settle(verdict.interesting)
            self.listen(Checked(verdict.interesting, known, first.what, len(first.text)))
            if verdict.interesting:
                self._cancel([late.key for late in flight if late.key is not None])
                flight.clear()
                edits = first.edits
                best.text, best.seconds = first.text, verdict.seconds
                self.counts.accepted += 1
                if len(best.text) <= _HISTORY:
                    self._history.append(best.text)
                self.listen(Accepted(first.text, first.what, name))
            elif first.around is not None:
                self._refuted.add(first.around)

    def _candidate(
        self,
        around: Surroundings,
        accepted: dict[int, Template],
        change: Change,
        best: bytes,
        mode: _Mode,
    ) -> _Candidate:
        """Make the candidate of a change on top of the accepted edits."""
        more = dict(change.edits)
        edits = accepted | more
        text = around.document.render(edits) if more else best
        if text == best or not (mode.sideways or smaller(text, best)):
            return _Candidate(text, edits, change.what, None, None)
        return _Candidate(text, edits, change.what, digest(text), around.key(accepted, edits, more))

    def _start(self, candidate: _Candidate, seconds: float, mode: _Mode) -> None:
        """Start the check of a candidate, if it seems to be needed and there is room."""
        key = candidate.key
        if key is None or key in self._verdicts or key in self._running:
            return
        if self._spent or (not mode.everything and candidate.around in self._refuted):
            return
        if self.executor.free:
            self.counts.runs += 1
            self._running[key] = self.counts.runs
            self.executor.submit(self.counts.runs, candidate.text, self.limits(seconds))

    def _verdict(self, candidate: _Candidate, seconds: float, mode: _Mode) -> _Verdict:
        """Return the verdict on the first candidate in flight: now all before it are known.

        What is counted and skipped here depends on nothing that came early.
        """
        key = candidate.key
        if key is None:
            return _Verdict(interesting=False, seconds=0.0)
        if key in self._used:
            self.counts.hits += 1
            return self._verdicts[key]
        if not mode.everything and candidate.around in self._refuted:
            self.counts.hits += 1
            self._cancel([key])
            return _Verdict(interesting=False, seconds=0.0)
        if self.budget.patience is not None and self._failures >= self.budget.patience:
            raise _Stop(f"after {self._failures} checks in a row without success")
        if self._spent:
            raise _Stop(f"after {self.counts.checks} checks")
        while key not in self._verdicts:
            self._start(candidate, seconds, mode)
            self._collect(self._time_left())
        self._used.add(key)
        self.counts.checks += 1
        verdict = self._verdicts[key]
        if verdict.interesting and self._returns and not self._repeated(candidate.text, seconds):
            verdict = self._verdicts[key] = _Verdict(interesting=False, seconds=verdict.seconds)
        self._failures = 0 if verdict.interesting else self._failures + 1
        return verdict

    @property
    def _spent(self) -> bool:
        return self.budget.checks is not None and self.counts.checks >= self.budget.checks

    def _time_left(self) -> float | None:
        """Return the seconds left, None without end. Raises _Stop when there are none."""
        if self.budget.seconds is None:
            return None
        left = self.budget.seconds - self.elapsed
        if left <= 0:
            raise _Stop(f"after {self.budget.seconds:g} s")
        return left

    def _collect(self, timeout: float | None) -> None:
        """Wait for verdicts."""
        keys = {ticket: key for key, ticket in self._running.items()}
        for finished in self.executor.wait(timeout):
            key = keys[finished.ticket]
            del self._running[key]
            spent = sum(outcome.seconds for outcome in finished.outcomes)
            self._verdicts[key] = _Verdict(finished.interesting, spent)

    def _cancel(self, keys: Iterable[bytes]) -> None:
        for key in keys:
            ticket = self._running.pop(key, None)
            if ticket is not None:
                self.executor.cancel(ticket)


@dataclass(slots=True)
class _Best:
    """The smallest interesting text so far, and how long the oracle took on it."""

    text: bytes
    seconds: float
