"""The search over one document: candidates are rendered, checked and settled, in order.

An epoch begins when a text has been parsed, and ends when a pass has made it
smaller; then the new text is parsed. During it the document stays as it is and
accepted edits gather on top, so a candidate costs what its edits cost.

The way of a candidate here: the scheduler names it (`_fill`), it is rendered
and its verdict looked up (`_candidate`, `_known`), otherwise a check is started;
the verdict is waited for in the order in which candidates were named
(`_settle`) and told to the scheduler (`_take`); what that accepts becomes the
best text. No verdict is looked at before its turn, however early it came in:
that is why the result depends on the width alone (see `search.scheduler`).
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TypeAlias
from weakref import WeakKeyDictionary

from reducekit.document import Patched
from reducekit.errors import ParseError
from reducekit.events import Checked, Event, PassEnded, PassStarted
from reducekit.frontend import Frontend, View
from reducekit.journal import digest
from reducekit.reduction.best import Best
from reducekit.reduction.control import Control
from reducekit.reduction.fingerprints import Fingerprints
from reducekit.reduction.local_context import LocalContext
from reducekit.reduction.plan import SchedulePosition
from reducekit.reduction.verdicts import Verdict, Verdicts
from reducekit.search.pass_search import Task
from reducekit.search.scheduler import Scheduler
from reducekit.search.strategy import Strategy

_PASSES = 10
"""Passes that are searched at the same time, at most."""
_RESIZED = 1.5
"""So many times as many candidates for a run, or as few, change how the search goes on."""
_DRAWN_AGAIN = 0.8
"""To this share of its size a text has to shrink before random draws that all failed go on."""
_NOT_WORTH_A_RUN = Verdict(interesting=False, seconds=0.0)

Proposed: TypeAlias = Task[Patched, SchedulePosition]
"""A candidate of the scheduler: a change of a pass to the document."""


@dataclass(slots=True)
class Shared:
    """What the epochs of one way through the schedule share."""

    frontend: Frontend
    strategy: Strategy
    width: int
    fast: bool
    listen: Callable[[Event], None]
    control: Control
    verdicts: Verdicts
    best: Best
    refuted: set[bytes]
    """The changes that failed, by what they change (see `local_context`)."""
    fingerprints: Fingerprints
    """Those of the texts that failed."""
    useless: dict[str, bytes]
    """The passes that found nothing, each with the text on which that was."""
    round: int = 0
    """The round of the pass that began last."""

    def is_useless(self, position: SchedulePosition) -> bool:
        """Say whether a pass has found nothing in this text, or by luck only would in this one."""
        before, text = self.useless.get(position.pass_.name), self.best.text
        if before is not None and position.draws:
            return len(text) > _DRAWN_AGAIN * len(before)
        return text == before

    def found_nothing(self, position: SchedulePosition) -> None:
        """Note that a pass has found nothing in this text, if it has tried all that it would."""
        if position.mode.everything or position.draws:
            self.useless[position.pass_.name] = self.best.text


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A candidate as text."""

    task: Proposed
    position: SchedulePosition
    text: bytes
    key: bytes | None
    """Stands for the text among the verdicts; None if it is not worth a run."""
    local: bytes | None = None
    """Stands for what is changed, and into what, among the refuted changes."""
    fingerprint: bytes | None = None
    """Stands for the text and all like it among the refuted texts; None where all is tried."""


@dataclass(slots=True)
class Epoch:
    """The search over one document.

    Invariants: `flight` are the candidates that the scheduler has named and that
    are not settled, the oldest first, at most `width`. `positions` are those of
    the scheduler's passes, in order. `accepted` counts the texts accepted since
    the document was parsed: it is 0 as long as the best text is the document's.
    """

    shared: Shared
    view: View
    positions: deque[SchedulePosition]
    flight: deque[Candidate] = field(default_factory=deque)
    accepted: int = 0
    told: Counter[str] = field(default_factory=Counter)
    """How many texts were told of, by pass."""
    width: int = field(init=False)
    """Candidates in flight at most; more than there are workers where one run checks several."""
    _in_a_row: bool = field(init=False)
    """Whether one run checks all candidates in flight, up to the first success."""
    _succeeded: set[str] = field(default_factory=set)
    """The passes with a success."""
    _scheduler: Scheduler[Patched, SchedulePosition] = field(init=False)
    _context: LocalContext = field(init=False)
    _base: tuple[Patched, bytes] = field(init=False)
    """What is tentative, and its text."""
    _texts: WeakKeyDictionary[Proposed, bytes] = field(default_factory=WeakKeyDictionary)
    """The texts of candidates that others may be made on top of."""

    def __post_init__(self) -> None:
        document = Patched(self.view.document)
        shared = self.shared
        lookahead = self._lookahead()
        self.width = max(shared.width, lookahead)
        self._in_a_row = shared.width == 1 and lookahead > 1
        self._scheduler = Scheduler.on(self.width, document, in_a_row=self._in_a_row)
        self._context = LocalContext(self.view.document)
        self._base = document, self.shared.best.text

    def run(self) -> tuple[bool, SchedulePosition | None]:
        """Search from the first position on until a pass has helped.

        Returns whether one has, and the position after it. As long as none
        does, the following passes are searched too where there is room. Raises
        Stopped.
        """
        shared, scheduler, positions = self.shared, self._scheduler, self.positions
        counts, best = shared.verdicts.counts, shared.best
        self._add(positions[0])
        self._begin_pass()
        checks = counts.checks
        while True:
            if shared.control.requested:
                shared.verdicts.obey()
                self._skip_pass()
            self._fill()
            while scheduler.done:
                position = positions.popleft()
                name, helped = position.pass_.name, self.accepted > 0
                spent = counts.checks - checks
                shared.listen(
                    PassEnded(name, position.round, spent, self.told[name], len(best.told))
                )
                checks = counts.checks
                following = position.after(helped)
                rejected = scheduler.end_pass()
                counts.rejected += rejected
                if not helped and not rejected:
                    shared.found_nothing(position)
                if helped or following is None:
                    shared.verdicts.cancel_all()
                    scheduler.abandon()
                    return helped, following
                if not positions:
                    if shared.is_useless(following):
                        return False, following
                    self._add_next(following)
                self._begin_pass()
                self._fill()
            if self.flight:
                self._settle()

    def _begin_pass(self) -> None:
        position = self.positions[0]
        self.shared.round = position.round
        self.shared.listen(PassStarted(position.pass_.name, position.round))

    def _add_next(self, position: SchedulePosition) -> None:
        self.positions.append(position)
        self._add(position)

    def _add(self, position: SchedulePosition) -> None:
        """Search a pass too. One that finds nothing to do ends at once."""
        problem = position.pass_.problem(self.view)
        started = None if problem is None else self.shared.strategy.start(problem)
        if started is not None and self._in_a_row:
            started = started.in_a_row(self.width)
        self._scheduler.add(position, started)

    def _fill(self) -> None:
        """Put candidates in flight that are likely to be of use, as many as there is room for."""
        scheduler, flight, shared = self._scheduler, self.flight, self.shared
        alike = self._start_all(flight, set())  # in order: those first that are needed first
        while len(flight) < self.width and not shared.control.requested:
            task = scheduler.next()
            if task is None:
                if not self._look_ahead():
                    return
                continue
            candidate = self._candidate(task)
            known = self._known(candidate)
            if known is None:
                flight.append(candidate)
                self._start_all((candidate,), alike)
            else:
                self._take(candidate, known, remembered=True)

    def _look_ahead(self) -> bool:
        """Search the next pass too, as long as none has changed anything; return if there is one.

        Only where several candidates may be in flight, and some are: a search
        that has ended makes room by itself.
        """
        if self.accepted or self._scheduler.merging.unproved:
            return False
        if self.width == 1 or len(self.positions) >= _PASSES or not self.flight:
            return False
        following = self.positions[-1].after(False)
        while following is not None and following.draws and self.shared.is_useless(following):
            following = following.after(False)
        if following is None or following.mode != self.positions[-1].mode:
            return False
        if following.pass_.name in following.schedule.alone:
            return False
        self._add_next(following)
        return True

    def _first(self) -> Candidate | None:
        """Return the candidate whose verdict is taken next; None if its pass is to be skipped."""
        if not self.shared.fast:
            return self.flight[0]
        verdicts = self.shared.verdicts
        while not self.shared.control.skip_asked:
            for candidate in self.flight:
                if candidate.key in verdicts or candidate.fingerprint in self.shared.fingerprints:
                    return candidate
            verdicts.spending.require_check()
            verdicts.wait(verdicts.spending.require_time())
        return None

    def _settle(self) -> None:
        """Take the verdict on a candidate in flight, or leave the pass if that is asked for."""
        candidate = self._first()
        if candidate is None:
            return self._skip_pass()
        known = self._known(candidate)
        verdict = known or self._verdict(candidate)
        if verdict is None:
            return self._skip_pass()
        self.flight.remove(candidate)
        self._take(candidate, verdict, remembered=known is not None)
        if self.shared.width == 1:
            self._resize()
        return None

    def _skip_pass(self) -> None:
        """Leave the first pass; its successes that are not proved yet are still checked."""
        if self.shared.control.take_skip():
            self._scheduler.skip()
            self._drop_obsolete()

    def _take(self, candidate: Candidate, verdict: Verdict, *, remembered: bool) -> None:
        """Tell the scheduler of a verdict, and make what it accepts the best text."""
        shared, scheduler, task = self.shared, self._scheduler, candidate.task
        ok, what, name = verdict.interesting, task.change.what, candidate.position.pass_.name
        if remembered and candidate.key is not None:
            shared.verdicts.counts.cache_hits += 1
        shared.listen(Checked(ok, remembered, what, len(candidate.text)))
        if not ok and candidate.local is not None and scheduler.merging.proved(task):
            shared.refuted.add(candidate.local)
        if not ok and not remembered and candidate.fingerprint is not None:
            shared.fingerprints.refute(candidate.fingerprint, shared.best.text)
        if ok and task.partition is not None:
            self._succeeded.add(name)
        keep = not task.change.probe or shared.best.is_below(candidate.text, shared.best.text)
        if scheduler.settle(task, ok, keep=keep):
            self.accepted += 1
            text, seconds, key = candidate.text, verdict.seconds, candidate.key
            if shared.best.accept(text, seconds, what, name, key):
                self.told[name] += 1
        self._drop_obsolete()

    def _lookahead(self) -> int:
        """Return how many candidates one run checks."""
        return self.shared.verdicts.executor.lookahead(self.shared.best.text)

    def _resize(self) -> None:
        """Have as many candidates in flight as a run checks by now, if these are many more or less.

        They are more once the text is shorter, and less where runs turn out to end early.
        """
        width, lookahead = self.width, self._lookahead()
        if width < lookahead * _RESIZED and lookahead < width * _RESIZED:
            return
        self.width, self._in_a_row = lookahead, lookahead > 1
        self._scheduler.resize(lookahead)
        self._drop_obsolete(refill=True)

    def _drop_obsolete(self, *, refill: bool = False) -> None:
        """End the checks of candidates that nobody needs any more.

        With `refill` others are put in flight first: they may be the same texts.
        """
        flight = self.flight
        obsolete = [each for each in flight if each.task.obsolete]
        if not obsolete:
            return
        for each in obsolete:
            flight.remove(each)
            self._scheduler.settle(each.task, False)
        if refill:
            self._fill()
        needed = {each.key for each in flight}
        keys = [each.key for each in obsolete if each.key and each.key not in needed]
        self.shared.verdicts.cancel(keys)

    def _candidate(self, task: Proposed) -> Candidate:
        """Render a task, and see whether it is worth a run."""
        assert task.base is not None
        strict = self.shared.frontend.strict
        if task.partition is None:
            position = self.positions[0]
            text = task.base.render()
            wrong = strict and len(self._succeeded) > 1 and not self._parses(text)
            return Candidate(task, position, text, None if wrong else digest(text))
        position = task.partition.pass_search.position
        parent = task.assumed_parent
        base = self._base_text() if parent is None else self._texts[parent]
        text = task.base.render_with(task.edits) if task.edits else base
        self._texts[task] = text
        growing = position.mode.allow_growth or task.change.probe
        below = growing or self.shared.best.is_below(text, base)
        if text == base or not below:
            return Candidate(task, position, text, None)
        # A candidate that mixes the changes of several passes may be nonsense.
        if strict and self._succeeded - {position.pass_.name} and not self._parses(text):
            return Candidate(task, position, text, None)
        local = task.change.local or self._context.key(task.base, task.edits)
        everything = position.mode.everything
        fingerprint = None if everything else self.shared.fingerprints.of(text)
        return Candidate(task, position, text, digest(text), local, fingerprint)

    def _base_text(self) -> bytes:
        """Return the text of what is tentative."""
        tentative = self._scheduler.merging.tentative
        if self._base[0] is not tentative:
            self._base = tentative, tentative.render()
            self.shared.verdicts.executor.build_on(self._base[1])
        return self._base[1]

    def _parses(self, text: bytes) -> bool:
        try:
            self.shared.frontend.parse(text)
        except ParseError:
            return False
        return True

    def _known(self, candidate: Candidate) -> Verdict | None:
        """Return the verdict on a candidate if it takes no check.

        What is known here depends on nothing that came early.
        """
        if candidate.key is None:
            return _NOT_WORTH_A_RUN
        verdict = self.shared.verdicts.used(candidate.key)
        if verdict is not None:
            return verdict
        if not candidate.position.mode.everything and candidate.local in self.shared.refuted:
            return _NOT_WORTH_A_RUN
        if candidate.fingerprint in self.shared.fingerprints:
            return _NOT_WORTH_A_RUN
        if self.shared.frontend.refuses(candidate.text) is not None:
            return _NOT_WORTH_A_RUN
        return None

    def _start_all(self, candidates: Iterable[Candidate], alike: set[bytes]) -> set[bytes]:
        """Start the checks of candidates, as many as there is room for.

        What is like one before it waits for that one: if that is refuted, it needs no check.
        `alike` are the fingerprints of those before, to which these are added.
        """
        shared = self.shared
        for each in candidates:
            if each.task.obsolete or each.key is None:
                continue
            if each.fingerprint is not None:
                if each.fingerprint in alike or each.fingerprint in shared.fingerprints:
                    continue
                alike.add(each.fingerprint)
            shared.verdicts.start(each.key, each.text, shared.best.seconds)
        return alike

    def _verdict(self, candidate: Candidate) -> Verdict | None:
        """Wait for the verdict on a candidate; the others in flight run on meanwhile.

        None if its pass is to be skipped.
        """
        verdicts, key = self.shared.verdicts, candidate.key
        assert key is not None
        verdicts.spending.require_check(known=verdicts.is_recorded(key))
        while key not in verdicts:
            if self.shared.control.skip_asked:
                return None
            self._start_all(self.flight, set())
            verdicts.wait(verdicts.spending.require_time())
        return verdicts.use(key, candidate.text, self.shared.best.seconds)
