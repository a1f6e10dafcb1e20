"""The search over one document: candidates are rendered, checked and settled in order.

An epoch begins when a text has been parsed, and ends when a pass has made it smaller; then the new
text is parsed. Within an epoch the document does not change and accepted edits accumulate on top
of it, so the cost of a candidate is that of its edits.

The life of a candidate: the scheduler proposes it (`_fill`), it is rendered and its verdict looked
up (`_candidate`, `_skip`), otherwise a check is started. Verdicts are awaited in the order in
which the candidates were proposed (`_settle`) and passed to the scheduler (`_take`); what that
accepts becomes the best text. No verdict is looked at before its turn, however early it arrives:
that is why the result depends on the width alone (see `search.scheduler`).
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TypeAlias
from weakref import WeakKeyDictionary, WeakSet

from reducekit.document import Patched
from reducekit.errors import ParseError
from reducekit.events import Checked, Event, PassEnded, PassStarted
from reducekit.format import Format, Order, View
from reducekit.journal import digest
from reducekit.reduction.best import Best
from reducekit.reduction.control import Control
from reducekit.reduction.plan import SchedulePosition
from reducekit.reduction.skips import Fingerprints, LocalContext, Protection, Skip
from reducekit.reduction.verdicts import Verdict, Verdicts
from reducekit.search.pass_search import Task
from reducekit.search.scheduler import Scheduler
from reducekit.search.strategy import Strategy

# Each open pass holds its problem in memory, and the worth of its candidates falls with each pass
# (`search.scheduler`): by 0.85 ** 10 = 0.2.
_PASSES = 10  # maximum number of passes that are searched at the same time
# Resizing lets go of what is in flight, so small changes are not worth it. By hand.
_RESIZED = 1.5
"""The number in flight adapts when a run checks this many times more candidates, or fewer."""
# A fifth less: measured when it was introduced, a tenth of the runs where luck decides, for
# results of the same size.
_DRAWN_AGAIN = 0.8
"""Random draws that all failed are retried once the text has shrunk to this share of its size."""
_NOT_WORTH_A_RUN = Verdict(interesting=False, seconds=0.0, unresolved=True)

Proposed: TypeAlias = Task[Patched, SchedulePosition]
"""A candidate of the scheduler: a change of a pass to the document."""


@dataclass(slots=True, eq=False)
class Shared:
    """State shared by the epochs of one run through the schedule."""

    frontend: Format
    strategy: Strategy
    width: int
    fast: bool
    listen: Callable[[Event], None]
    control: Control
    verdicts: Verdicts
    best: Best
    refuted: set[bytes]  # the refuted changes, by their local context (see `LocalContext`)
    fingerprints: Fingerprints  # the fingerprints of refuted texts
    hurried: list[tuple[bytes | None, bytes | None]]
    """Of changes that only reached a limit shorter than the first: both of these."""
    look_again: Callable[[], None]
    """Reruns the best text. Raises Stopped, or `Refuted`, if it no longer fails."""
    useless: dict[str, bytes]  # the passes that found nothing, each with the text on which it did
    protection: Protection
    prefer: Callable[[Order], Order]  # makes the order of the frontend's, which may change
    round: int = 0  # the round of the last pass that began
    misread: int = 0  # the candidates that the format could not read; -1: the program can

    def is_useless(self, position: SchedulePosition) -> bool:
        """Return whether a pass found nothing in this text, or would need luck to in this one."""
        before, text = self.useless.get(position.pass_.name), self.best.text
        if before is not None and position.draws:
            return len(text) > _DRAWN_AGAIN * len(before)
        return text == before

    def passed(self, text: bytes) -> None:
        """Compare with this text from now on, if the format compares with one that passes."""
        other = self.frontend.beside(text)
        if other is not self.frontend:
            self.frontend = other
            self.best.order = self.prefer(other.order)

    def found_nothing(self, position: SchedulePosition) -> None:
        """Record that a pass found nothing in this text, provided that it tried everything."""
        if position.mode.everything or position.draws:
            self.useless[position.pass_.name] = self.best.text


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A candidate as text."""

    task: Proposed
    position: SchedulePosition
    text: bytes
    key: bytes | None = None
    """The text's key among the verdicts; None if its text alone shows that it needs no run."""
    skip: Skip | None = None  # why it needs no run, if its text alone shows that
    local: bytes | None = None
    """The key of the change (what is replaced by what) among the refuted changes."""
    fingerprint: bytes | None = None
    """The text's fingerprint among the refuted texts; None if everything is tried."""


@dataclass(slots=True, eq=False)
class Epoch:
    """The search over one document.

    Invariants: `flight` holds the candidates proposed and not yet settled, oldest first, at most
    `width`. `positions` are those of the scheduler's passes, in order. `accepted` counts the texts
    accepted since the document was parsed: while it is 0, the best text is the document's.
    """

    shared: Shared
    view: View
    positions: deque[SchedulePosition]
    flight: deque[Candidate] = field(default_factory=deque)
    accepted: int = 0
    accepted_by_pass: Counter[str] = field(default_factory=Counter)
    """The number of texts reported, by pass."""
    width: int = field(init=False)
    """Maximum number of candidates in flight; above the workers if one run checks several."""
    _batched: bool = field(init=False)
    """Whether one run checks all candidates in flight, up to the first success."""
    _succeeded: set[str] = field(default_factory=set)  # the passes that succeeded
    _misread_tried: WeakSet[Proposed] = field(default_factory=WeakSet)  # run all the same
    _scheduler: Scheduler[Patched, SchedulePosition] = field(init=False)
    _context: LocalContext = field(init=False)
    _base: tuple[Patched, bytes] = field(init=False)  # the tentative edits, and the text they give
    _texts: WeakKeyDictionary[Proposed, bytes] = field(default_factory=WeakKeyDictionary)
    """The texts of candidates that others may be built on."""

    def __post_init__(self) -> None:
        document = Patched(self.view.document)
        shared = self.shared
        # An executor may check many small candidates in one run (traces, which it plays in forks
        # of one process): then these are worth having in flight even with one worker.
        lookahead = self._lookahead()
        self.width = max(shared.width, lookahead)
        self._batched = shared.width == 1 and lookahead > 1
        self._scheduler = Scheduler.on(self.width, document, in_a_row=self._batched)
        self._context = LocalContext(self.view.document)
        self._base = document, self.shared.best.text

    def run(self) -> tuple[bool, SchedulePosition | None]:
        """Search from the first position on until a pass succeeds.

        Returns whether one did, and the position after it. Until one does, the following passes
        are searched as well, as far as there is room. Raises Stopped.
        """
        shared, scheduler, positions = self.shared, self._scheduler, self.positions
        counts, best = shared.verdicts.counts, shared.best
        self._add(positions[0])
        self._begin_pass()
        checks = counts.checks
        while True:
            if shared.control.requested:
                shared.verdicts.handle_requests()
                self._skip_pass()
            if self._is_vain():
                shared.verdicts.cancel_all()
                scheduler.abandon()
                shared.useless.clear()  # passes that left out what would hardly help
                return self.accepted > 0, self.positions[0].surely()
            # Between candidates, when nothing is half done.
            if shared.verdicts.sightings.due:
                shared.look_again()
            self._fill()
            while scheduler.done:
                position = positions.popleft()
                name, helped = position.pass_.name, self.accepted > 0
                spent = counts.checks - checks
                shared.listen(
                    PassEnded(
                        name, position.round, spent, self.accepted_by_pass[name], len(best.reported)
                    )
                )
                checks = counts.checks
                following = position.after(helped)
                # A success that was given up may hold on the next text, so a pass with such has
                # not found nothing: it is searched again.
                rejected = scheduler.end_pass()
                counts.rejected += rejected
                if not helped and not rejected:
                    shared.found_nothing(position)
                # A new epoch: the text has changed, so what was found in later passes is about
                # nodes that may be gone. Their runs are cancelled.
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

    def _is_vain(self) -> bool:
        """Return whether too many checks came after the last success to go on.

        A first round tries everything, but where the text is a guess that nothing makes smaller.
        """
        position, spending = self.positions[0], self.shared.verdicts.spending
        schedule = position.schedule
        if spending.guessed and 0 < schedule.enough < spending.failures:
            return True
        return (position.round > 1 or spending.guessed) and spending.is_vain(schedule.vain)

    def _begin_pass(self) -> None:
        position = self.positions[0]
        self.shared.round = position.round
        self.shared.listen(PassStarted(position.pass_.name, position.round))

    def _add_next(self, position: SchedulePosition) -> None:
        self.positions.append(position)
        self._add(position)

    def _add(self, position: SchedulePosition) -> None:
        """Search this pass as well. A pass without candidates ends at once."""
        problem = position.pass_.problem(self.view)
        if problem is not None:
            problem = self.shared.protection.within(problem, self.view.document)
        started = None if problem is None else self.shared.strategy.start(problem)
        if started is not None and self._batched:
            started = started.in_a_row(self.width)
        self._scheduler.add(position, started)

    def _fill(self) -> None:
        """Put promising candidates in flight, as many as there is room for."""
        scheduler, flight, shared = self._scheduler, self.flight, self.shared
        alike = self._start_all(flight, set())  # in order: what is needed first comes first
        while len(flight) < self.width and not shared.control.requested:
            task = scheduler.next()
            if task is None:
                if not self._look_ahead():
                    return
                continue
            candidate = self._candidate(task)
            skipped = self._skip(candidate)
            if skipped is None and self._misread(candidate):
                skipped = _NOT_WORTH_A_RUN, Skip.UNREADABLE
            if skipped is None:
                flight.append(candidate)
                self._start_all((candidate,), alike)
            else:
                self._take(candidate, *skipped)

    def _look_ahead(self) -> bool:
        """Search the next pass as well if none has changed anything; return whether there is one.

        Only if several candidates may be in flight, and some are: a search that has ended makes
        room anyway.
        """
        # What follows a success is searched in the next epoch, on the new text.
        if self.accepted or self._scheduler.merging.unproved:
            return False
        if len(self.positions) >= _PASSES or not self.flight:
            return False
        following = self.positions[-1].after(False)
        while following is not None and following.draws and self.shared.is_useless(following):
            following = following.after(False)
        # A sweep tries more than a round does: never at the same time.
        if following is None or following.mode != self.positions[-1].mode:
            return False
        if following.pass_.name in following.schedule.alone:
            return False
        self._add_next(following)
        return True

    def _first(self) -> Candidate | None:
        """Return the candidate whose verdict comes next; None if its pass is to be skipped."""
        if not self.shared.fast:
            return self.flight[0]
        verdicts = self.shared.verdicts
        while not self.shared.control.skip_asked:
            for candidate in self.flight:
                # With `fast`, whatever comes first counts; the price is that timing decides
                # between results.
                if candidate.key in verdicts or candidate.fingerprint in self.shared.fingerprints:
                    return candidate
            verdicts.spending.require_check()
            verdicts.wait(verdicts.spending.require_time())
        return None

    def _settle(self) -> None:
        """Take the verdict on a candidate in flight, or leave the pass if asked to skip it."""
        candidate = self._first()
        if candidate is None:
            return self._skip_pass()
        verdict, skip = self._skip(candidate) or (self._verdict(candidate), None)
        if verdict is None:
            return self._skip_pass()
        self.flight.remove(candidate)
        self._take(candidate, verdict, skip)
        if self.shared.width == 1:
            self._resize()
        return None

    def _skip_pass(self) -> None:
        """Leave the first pass; its tentative successes are still checked."""
        if self.shared.control.take_skip():
            self._scheduler.skip()
            self._drop_obsolete()

    def _refute(self, candidate: Candidate, remembered: bool) -> None:
        """Remember a change that does not fail, so that it is not tried in this place again."""
        # On a base that is only believed, the failure may be the base's fault.
        if candidate.local is not None and self._scheduler.merging.proved(candidate.task):
            self.shared.refuted.add(candidate.local)
        if candidate.key is not None and self.shared.verdicts.hurried(candidate.key):
            self.shared.hurried.append((candidate.local, candidate.fingerprint))
        if not remembered and candidate.fingerprint is not None:
            self.shared.fingerprints.refute(candidate.fingerprint, self.shared.best.text)

    def _take(self, candidate: Candidate, verdict: Verdict, skip: Skip | None) -> None:
        """Pass a verdict to the scheduler, and make what it accepts the best text."""
        remembered = skip is not None
        shared, scheduler, task = self.shared, self._scheduler, candidate.task
        ok, what, name = verdict.interesting, task.change.what, candidate.position.pass_.name
        if skip is not None:
            shared.verdicts.counts.skipped[skip] += 1
        shared.listen(Checked(ok, remembered, what, len(candidate.text)))
        if not ok:
            self._refute(candidate, remembered)
            if not verdict.unresolved and scheduler.merging.proved(task):
                shared.passed(candidate.text)
        if ok and task.partition is not None:
            self._succeeded.add(name)
        if ok and task in self._misread_tried:
            shared.misread = -1
        keep = not task.change.probe or shared.best.is_below(candidate.text, shared.best.text)
        if scheduler.settle(task, ok, keep=keep, unresolved=verdict.unresolved):
            self.accepted += 1
            if candidate.position.round:
                shared.verdicts.spending.guessed = False
            text, seconds, key = candidate.text, verdict.seconds, candidate.key
            if shared.best.accept(text, seconds, what, name, key):
                self.accepted_by_pass[name] += 1
        self._drop_obsolete()

    def _lookahead(self) -> int:
        """Return how many candidates one run checks."""
        return self.shared.verdicts.executor.lookahead(self.shared.best.text)

    def _resize(self) -> None:
        """Adapt the number of candidates in flight if it is far from what one run now checks.

        A run checks more when the text gets shorter, and fewer if runs turn out to end early.
        """
        width, lookahead = self.width, self._lookahead()
        if width < lookahead * _RESIZED and lookahead < width * _RESIZED:
            return
        self.width, self._batched = lookahead, lookahead > 1
        self._scheduler.resize(lookahead)
        self._drop_obsolete(refill=True)

    def _drop_obsolete(self, *, refill: bool = False) -> None:
        """Cancel the checks of candidates that are no longer needed.

        With `refill`, new candidates are put in flight first: they may have the same texts.
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
        # Two candidates may have the same text, and one of them is still wanted.
        needed = {each.key for each in flight}
        keys = [each.key for each in obsolete if each.key and each.key not in needed]
        self.shared.verdicts.cancel(keys)

    def _candidate(self, task: Proposed) -> Candidate:
        """Render a task, and decide whether it is worth a run."""
        assert task.base is not None
        strict = self.shared.frontend.strict
        keeps = self.shared.protection.keeps
        if task.partition is None:
            position = self.positions[0]
            text = task.base.render()
            if not keeps(text):
                return Candidate(task, position, text, skip=Skip.UNPROTECTED)
            if strict and len(self._succeeded) > 1 and not self._parses(text):
                return Candidate(task, position, text, skip=Skip.UNREADABLE)
            return Candidate(task, position, text, digest(text))
        position = task.partition.pass_search.position
        parent = task.assumed_parent
        base = self._base_text() if parent is None else self._texts[parent]
        text = task.base.render_with(task.edits) if task.edits else base
        self._texts[task] = text
        # The order of these questions is that of `Skip`: a comparison, a few searches, the order, a
        # parse.
        if text == base:
            return Candidate(task, position, text, skip=Skip.UNCHANGED)
        if not keeps(text):
            return Candidate(task, position, text, skip=Skip.UNPROTECTED)
        growing = position.mode.allow_growth or task.change.probe
        if not growing and not self.shared.best.is_below(text, base):
            return Candidate(task, position, text, skip=Skip.NOT_SMALLER)
        # A candidate that mixes changes of several passes may not even parse.
        if strict and self._succeeded - {position.pass_.name} and not self._parses(text):
            return Candidate(task, position, text, skip=Skip.UNREADABLE)
        # In a sweep everything is tried, so nothing is skipped for being like what failed; it is
        # still remembered for the rounds that follow.
        local = task.change.local or self._context.key(task.base, task.edits)
        everything = position.mode.everything
        fingerprint = None if everything else self.shared.fingerprints.of(text)
        return Candidate(task, position, text, digest(text), local=local, fingerprint=fingerprint)

    def _base_text(self) -> bytes:
        """Return the text with the tentative edits."""
        tentative = self._scheduler.merging.tentative
        if self._base[0] is not tentative:
            self._base = tentative, tentative.render()
            # Executors on other machines send texts as differences from this one.
            self.shared.verdicts.executor.build_on(self._base[1])
        return self._base[1]

    def _parses(self, text: bytes) -> bool:
        try:
            self.shared.frontend.parse(text)
        except ParseError:
            return False
        return True

    def _skip(self, candidate: Candidate) -> tuple[Verdict, Skip] | None:
        """Return the verdict on a candidate that takes no run, and why; None: it has to run.

        The answer does not depend on verdicts that arrived early.
        """
        shared, frontend = self.shared, self.shared.frontend
        if candidate.skip is not None:
            return _NOT_WORTH_A_RUN, candidate.skip
        assert candidate.key is not None
        known = shared.verdicts.used(candidate.key)
        if known is not None:
            return known, Skip.KNOWN
        if not candidate.position.mode.everything and candidate.local in shared.refuted:
            return _NOT_WORTH_A_RUN, Skip.REFUTED
        if candidate.fingerprint in shared.fingerprints:
            return _NOT_WORTH_A_RUN, Skip.ALIKE
        if frontend.refuses(candidate.text) is not None:
            return _NOT_WORTH_A_RUN, Skip.REFUSED
        return None

    def _misread(self, candidate: Candidate) -> bool:
        """Return whether a candidate does not run as its format cannot read it.

        Of n such, log n do run: if one fails, the program takes what the format does not.
        """
        shared = self.shared
        if shared.misread < 0:
            return False
        if not shared.frontend.misread(self.view, self._base_text(), candidate.text):
            return False
        shared.misread += 1
        if shared.misread & (shared.misread - 1):
            return True
        self._misread_tried.add(candidate.task)
        return False

    def _start_all(self, candidates: Iterable[Candidate], alike: set[bytes]) -> set[bytes]:
        """Start the checks of candidates, as many as there is room for.

        A candidate that is like an earlier one waits for it: if the earlier one is refuted, it
        needs no check. `alike` holds the fingerprints of earlier candidates; theirs are added.
        """
        shared = self.shared
        # Where a journal knows the next verdict, what is looked ahead to waits for it: the earlier
        # run has started and cancelled it, and each run that is resumed would do so again.
        if self.flight and shared.verdicts.is_recorded(self.flight[0].key):
            return alike
        for each in candidates:
            if each.task.obsolete or each.key is None:
                continue
            if each.fingerprint is not None:
                if each.fingerprint in alike or each.fingerprint in shared.fingerprints:
                    continue
                # Of candidates that look alike, one runs. If it succeeds, the others are run
                # after all, when their turn has come.
                alike.add(each.fingerprint)
            shared.verdicts.start(each.key, each.text, shared.best.seconds)
        return alike

    def _verdict(self, candidate: Candidate) -> Verdict | None:
        """Wait for the verdict on a candidate; the others in flight keep running.

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
