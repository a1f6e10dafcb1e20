"""Passes to a fixpoint: ties documents, searches, the executor and known verdicts together."""

from __future__ import annotations

import hashlib
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from reducekit.change import Template
from reducekit.document import Document
from reducekit.errors import ParseError
from reducekit.events import Accepted, Checked, Event, PassEnded, PassStarted
from reducekit.executors.executor import Executor
from reducekit.frontend import Frontend, Pass, View
from reducekit.oracle.limits import Limits
from reducekit.search.problem import Search, Strategy
from reducekit.search.speculation import Speculation


@dataclass(frozen=True, slots=True)
class Budget:
    """When to stop early: after so many checks or seconds. None: never."""

    checks: int | None = None
    seconds: float | None = None


@dataclass(slots=True)
class Counts:
    """What a reduction has cost so far."""

    checks: int = 0
    """Oracle runs of candidates."""
    hits: int = 0
    """Candidates whose verdict was known already."""
    void: int = 0
    """Runs ended unread, as an earlier candidate succeeded (only with several jobs)."""
    accepted: int = 0


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


_PREPARE = _Mode(everything=True, sideways=True)
_ONWARD = _Mode(everything=False)
_SWEEP = _Mode(everything=True)


@dataclass(slots=True)
class _Candidate:
    """A candidate in flight. The verdict is None until it is in."""

    ticket: int
    text: bytes
    edits: dict[int, Template]
    what: str
    verdict: bool | None
    local: bytes | None = None
    remembered: bool = True
    seconds: float = 0.0


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
    """

    frontend: Frontend
    strategy: Strategy
    executor: Executor
    limits: Callable[[float], Limits]
    width: int = 1
    budget: Budget = field(default_factory=Budget)
    listen: Callable[[Event], None] = lambda event: None
    verdicts: dict[bytes, bool] = field(default_factory=dict)
    counts: Counts = field(default_factory=Counts)
    _refuted: set[bytes] = field(default_factory=set)
    _tickets: int = 0
    _begin: float = field(default_factory=time.monotonic)
    _running: dict[int, _Candidate] = field(default_factory=dict)

    @property
    def elapsed(self) -> float:
        """Seconds since the reduction was made."""
        return time.monotonic() - self._begin

    def run(self, text: bytes, seconds: float) -> Result:
        """Reduce an interesting text on which the oracle took so many seconds.

        Raises ParseError if the text is not of the format. An interrupt leaves
        the executor's checks to its `close`; what was accepted was told to `listen`.
        """
        best = _Best(text, seconds)
        schedule = self.frontend.schedule(self.strategy.name)
        view = self.frontend.parse(text)
        useless: dict[str, bytes] = {}  # pass -> the text on which it found nothing
        rounds, stopped = 0, None

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
                if not run(schedule.closing or schedule.rounds, _SWEEP):
                    break
        except _Stop as stop:
            stopped = str(stop)
        except ParseError as error:
            stopped = f"the best text can no longer be parsed ({error})"
        for ticket in list(self._running):
            self.executor.cancel(ticket)
        return Result(best.text, self.counts, rounds, self.elapsed, stopped)

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
            while len(flight) < self.width and self.executor.free:
                change = speculation.extend()
                if change is None:
                    break
                flight.append(
                    self._submit(around, edits, dict(change.edits), best, change.what, mode)
                )
            if not flight:
                return
            first = flight.popleft()
            while first.verdict is None:
                self._collect()
            ok = first.verdict
            speculation.settle(ok)
            self.listen(Checked(ok, first.remembered, first.what, len(first.text)))
            if not ok and first.local is not None:
                self._refuted.add(first.local)
            if ok:
                for late in flight:
                    if self._running.pop(late.ticket, None):
                        self.executor.cancel(late.ticket)
                        self.counts.void += 1
                flight.clear()
                edits = first.edits
                best.text, best.seconds = first.text, first.seconds
                self.counts.accepted += 1
                self.listen(Accepted(first.text, first.what, name))

    def _submit(
        self,
        around: Surroundings,
        accepted: dict[int, Template],
        more: dict[int, Template],
        best: _Best,
        what: str,
        mode: _Mode,
    ) -> _Candidate:
        """Make a candidate, and start its check unless the verdict is known already."""
        self._tickets += 1
        edits = accepted | more
        text = around.document.render(edits) if more else best.text
        candidate = _Candidate(self._tickets, text, edits, what, None)
        if text == best.text or not (mode.sideways or smaller(text, best.text)):
            candidate.verdict = False
            return candidate
        candidate.local = around.key(accepted, edits, more)
        known = self.verdicts.get(digest(text))
        # A success that is remembered has no run time of its own; it is rare
        # (a success becomes the best text), so it is simply run again.
        if known is False:
            self.counts.hits += 1
            candidate.verdict = False
            return candidate
        if not mode.everything and candidate.local in self._refuted:
            self.counts.hits += 1
            candidate.verdict = False
            return candidate
        if self.budget.checks is not None and self.counts.checks >= self.budget.checks:
            raise _Stop(f"after {self.counts.checks} checks")
        self.counts.checks += 1
        candidate.remembered = False
        self._running[candidate.ticket] = candidate
        self.executor.submit(candidate.ticket, text, self.limits(best.seconds))
        return candidate

    def _collect(self) -> None:
        """Wait for verdicts, as long as the budget lasts."""
        timeout = None
        if self.budget.seconds is not None:
            timeout = self.budget.seconds - self.elapsed
            if timeout <= 0:
                raise _Stop(f"after {self.budget.seconds:g} s")
        for finished in self.executor.wait(timeout):
            candidate = self._running.pop(finished.ticket)
            candidate.verdict = finished.interesting
            candidate.seconds = sum(outcome.seconds for outcome in finished.outcomes)
            self.verdicts[digest(candidate.text)] = finished.interesting


@dataclass(slots=True)
class _Best:
    """The smallest interesting text so far, and how long the oracle took on it."""

    text: bytes
    seconds: float
