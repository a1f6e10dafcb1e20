"""Known verdicts by the hash of the text, and the running checks that will add more."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass, field
from typing import NamedTuple

from reducekit.executors.executor import Executor, Finished
from reducekit.journal import Journal, digest
from reducekit.reduction.control import POLL, Counts, Spending
from reducekit.run import Limits

_LEAST = 32
"""Checks per rerun of the best text, at least: a rerun adds at most 1/32 = 3 % to their cost."""


@dataclass(slots=True, eq=False)
class Sightings:
    """Counts the checks since the failure was last seen, and says when to check for it again.

    If the solver is replaced, its licence or disk is gone, or the machine is overloaded, candidates
    stop failing. That looks like a reduction that has nothing left to remove. So the best text is
    run again when the verdicts look suspicious, and after every pause.

    A streak is a number of consecutive checks that did not show the failure. When is it suspicious?
    If checks succeeded independently and at a constant rate, then the longest streak among s
    successes would be about ln(s) / ln(1/q) checks, where q is the share of unsuccessful checks
    (Erdos and Renyi 1970, on the longest run of heads). A streak of twice that length has
    probability q^(2 ln(s) / ln(1/q)) = 1/s^2 after each success, so about 1/s within the next s
    successes. Hence the run's own record defines what is unlikely: a streak more than twice as long
    as any before.

    Near the end of a reduction successes do become rare, and such streaks occur. If the best text
    still fails, the streak joins the record, and the next one has to be twice as long: there are at
    most log2(checks) such reruns. None happens in the first `_LEAST` checks of a streak, when there
    is little to lose: so there is less than one in `_LEAST` checks, whatever the record. A rerun of
    what turns out to be the result replaces one of the reruns of the result.

    All of this is a function of the sequence of verdicts, never of time.

    Unless `active`, the best text is never due: for tests that are deterministic by definition,
    such as functions.
    """

    active: bool
    streak: int = 0
    longest: int = 0  # the longest streak after which the failure was seen again
    paused: bool = False  # whether there was a pause since then

    @property
    def due(self) -> bool:
        """Whether to run the best text again."""
        # Twice the record: probability 1/s by the argument above.
        suspicious = self.streak > max(_LEAST, 2 * self.longest)
        return self.active and (self.paused or suspicious)

    def take(self, interesting: bool, *, replayed: bool) -> None:
        """Record a verdict. A rerun that was due in a replayed run was made by that run."""
        self.streak += not interesting
        # The earlier run looked again at this very check, as it saw the same verdicts: no run is
        # repeated.
        if interesting or (replayed and self.due):
            self.seen()

    def seen(self) -> None:
        """Record that the failure was seen."""
        self.longest = max(self.longest, self.streak)
        self.streak, self.paused = 0, False


_IN_VAIN = 8
"""How many checks in a row may reach the first time limit, too, before the others are left."""
_AGAIN = b"again %d"
"""The key of a text's rerun, in place of its hash: shorter than any hash."""


class Verdict(NamedTuple):
    """The oracle's verdict on a text, and how long its slowest run took."""

    interesting: bool
    seconds: float
    unresolved: bool = False  # whether it says neither that the text fails nor that it passes


class _Running(NamedTuple):
    """A check that is running."""

    ticket: int
    text: bytes
    again: bool  # whether this reruns a text that was found interesting before


@dataclass(slots=True, eq=False)
class Verdicts:
    """Stores verdicts by the hash of the text, and gets missing ones from the executor.

    A verdict may arrive before the search needs it. Until then it is not *used*, and the search
    does not know of it: its behaviour must not depend on timing.

    `limits(seconds)` gives the limits of a check when the best text took that many seconds;
    `on_checked` receives each finished check with its text.

    A time limit that follows the best text may end a check only because the machine is busy. So
    such a verdict does not stand: after `be_patient` the text is asked for again, with the limit
    that the input has. Which verdicts these are follows from the seconds in the journal, and the
    new ones are kept under keys of their own, so that a resumed run does the same.
    """

    executor: Executor
    limits: Callable[[float], Limits]
    on_checked: Callable[[bytes, Finished], None]
    journal: Journal | None
    spending: Spending
    sightings: Sightings = field(default_factory=lambda: Sightings(active=False))
    confirmations: int = 0  # how many reruns must confirm a success, after one did not fail again
    first: float = 0.0  # how many seconds the input took
    _patient: bool = False
    _hurried: dict[bytes, bytes] = field(default_factory=dict)
    """The keys of texts that reached a limit shorter than the first, and those to ask again by."""
    _in_vain: int = 0
    _known: dict[bytes, Verdict] = field(default_factory=dict)
    _used: set[bytes] = field(default_factory=set)
    _recorded: set[bytes] = field(default_factory=set)
    """The hashes of verdicts from the journal that have not been used yet."""
    _running: dict[bytes, _Running] = field(default_factory=dict)
    _tickets: dict[int, bytes] = field(default_factory=dict)
    """The keys of the running checks by ticket."""

    @property
    def counts(self) -> Counts:
        """What the checks have cost."""
        return self.spending.counts

    def preload(self, text: bytes, *, interesting: bool) -> None:
        """Add a verdict that is already known, as if it had been used."""
        key = digest(text)
        self._known[key] = Verdict(interesting, 0.0)
        self._used.add(key)

    def restore(
        self, verdicts: Mapping[bytes, tuple[bool, float]], unresolved: Set[bytes] = frozenset()
    ) -> None:
        """Add the verdicts of a journal by hash; these checks are not run again."""
        for key, (interesting, seconds) in verdicts.items():
            if key not in self._used:
                self._known[key] = Verdict(interesting, seconds, key in unresolved)
                self._recorded.add(key)

    def __contains__(self, key: bytes | None) -> bool:
        """Return whether a verdict has arrived."""
        return key is not None and self._key(key) in self._known

    def used(self, key: bytes) -> Verdict | None:
        """Return a verdict if it has been used."""
        key = self._key(key)
        return self._known[key] if key in self._used else None

    def be_patient(self) -> bool:
        """Give all checks the first time limit; return whether that may change a verdict."""
        if self._patient or not self._hurried:
            return False
        self._patient = True
        return True

    def hurried(self, key: bytes) -> bool:
        """Return whether a check only reached a limit shorter than the first."""
        return not self._patient and key in self._hurried

    def _key(self, key: bytes) -> bytes:
        """Return the key of the verdict on a text that counts now."""
        waits = self._patient and self._in_vain < _IN_VAIN
        return self._hurried.get(key, key) if waits else key

    def _note_time(self, key: bytes, verdict: Verdict, seconds: float) -> None:
        """Note that a check reached a limit which is shorter than the first."""
        if verdict.interesting:
            self._in_vain = 0
        elif self._patient:
            self._in_vain += key in self._hurried.values()
        else:
            now = self.limits(seconds).wall
            if now is None or now > verdict.seconds:
                return
            first = self.limits(self.first).wall
            if first is not None and now < first:
                self._hurried[key] = digest(key + b" again with the first limit")

    def use(self, key: bytes, text: bytes, seconds: float) -> Verdict:
        """Return a verdict that has arrived, and count it as a check.

        A success counts only if all confirmations show it. Raises Stopped.
        """
        key = self._key(key)
        self._used.add(key)
        self.counts.checks += 1
        replayed = key in self._recorded
        if replayed:
            self._recorded.discard(key)
            self.counts.replayed += 1
        verdict = self._known[key]
        again = self.confirmations
        # Only successes are confirmed. A failure that is missed costs a larger result; a success
        # that is believed wrongly costs the result.
        if verdict.interesting and again and not self.always(text, seconds, again):
            verdict = Verdict(interesting=False, seconds=verdict.seconds, unresolved=True)
            self._known[key] = verdict
        self._note_time(key, verdict, seconds)
        self.spending.take(verdict.interesting)
        self.sightings.take(verdict.interesting, replayed=replayed)
        return verdict

    def is_recorded(self, key: bytes | None) -> bool:
        """Return whether a verdict came from the journal and has not been used yet."""
        return key is not None and self._key(key) in self._recorded

    def start(self, key: bytes, text: bytes, seconds: float) -> None:
        """Start a check if it is needed, the budget allows it, and a slot is free."""
        key = self._key(key)
        # The same text may be proposed by several passes; its check is shared.
        if key in self._known or key in self._running or self.spending.spent:
            return
        if self.executor.free:
            self._submit(key, text, seconds)

    def handle_requests(self) -> None:
        """Handle requests: block while paused. Raises Stopped if asked to stop.

        Running checks continue meanwhile.
        """
        control = self.spending.control
        control.check()
        while control.paused:
            begin = time.monotonic()
            if self._running:
                self._receive(POLL)
            else:
                control.wait()
            control.seconds_paused += time.monotonic() - begin
            control.check()
        if control.take_continued():
            self.sightings.paused = True

    def wait(self, timeout: float | None) -> None:
        """Wait until a verdict or a request arrives.

        Waits at most `timeout` seconds, if given, and never more than POLL. Raises Stopped.
        """
        control = self.spending.control
        if control.paused:
            return self.handle_requests()
        control.check()
        return self._receive(POLL if timeout is None else min(timeout, POLL))

    def _receive(self, timeout: float) -> None:
        for finished in self.executor.wait(timeout):
            key = self._tickets.pop(finished.ticket)
            _, text, again = self._running.pop(key)
            # Of the slowest run, as the time limit is one of each run.
            spent = max((outcome.seconds for outcome in finished.outcomes), default=0.0)
            # Stored at once, though it may not be looked at before its turn: `used` says so, not
            # `in`.
            self._known[key] = Verdict(finished.interesting, spent, finished.unresolved)
            if not again:
                self.on_checked(text, finished)
                if self.journal is not None:
                    self.journal.verdict(
                        key, finished.interesting, spent, unresolved=finished.unresolved
                    )

    def cancel(self, keys: Iterable[bytes]) -> None:
        """Cancel checks that are no longer needed; other keys are ignored."""
        for key in keys:
            # A verdict that has arrived stays known: the candidate may be proposed again.
            running = self._running.pop(self._key(key), None) or self._running.pop(key, None)
            if running is not None:
                del self._tickets[running.ticket]
                self.executor.cancel(running.ticket)

    def cancel_all(self) -> None:
        """Cancel all checks."""
        self.cancel(list(self._running))

    def always(self, text: bytes, seconds: float, times: int) -> bool:
        """Return whether a text is interesting in `times` more runs, in parallel if slots are free.

        Their verdicts are taken in order, up to the first negative one.
        """
        waiting = [_AGAIN % number for number in range(times)]
        # Side by side as far as there is room, but judged in order, so that the number of runs
        # that count does not depend on timing.
        unstarted = deque(waiting)
        for key in waiting:
            while key not in self._known:
                while unstarted and self.executor.free:
                    self._submit(unstarted.popleft(), text, seconds, again=True)
                self.wait(None)
            self.counts.repeats += 1
            if not self._known[key].interesting:
                break
        self.cancel(waiting)
        said = [self._known.pop(key) for key in waiting if key in self._known]
        return all(verdict.interesting for verdict in said)

    def invalidate(self) -> None:
        """Forget all successes: they must be found again."""
        doubtful = [key for key, verdict in self._known.items() if verdict.interesting]
        for key in doubtful:
            del self._known[key]
            self._used.discard(key)

    def _submit(self, key: bytes, text: bytes, seconds: float, *, again: bool = False) -> None:
        self.counts.runs += 1
        self._running[key] = _Running(self.counts.runs, text, again)
        self._tickets[self.counts.runs] = key
        longest = max(seconds, self.first) if self._patient else seconds
        self.executor.submit(self.counts.runs, text, self.limits(longest))
