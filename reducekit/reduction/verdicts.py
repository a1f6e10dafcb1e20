"""What is known of texts by their hashes, and the checks that are running to know more."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from reducekit.executors.executor import Executor, Finished
from reducekit.journal import Journal, digest
from reducekit.oracle.limits import Limits
from reducekit.reduction.budget import Spending
from reducekit.reduction.control import POLL
from reducekit.reduction.counts import Counts

_AGAIN = b"again %d"
"""In place of the hash of a text that is run once more: shorter than one."""


class Verdict(NamedTuple):
    """What the oracle said of a text, and how long it took."""

    interesting: bool
    seconds: float


class _Running(NamedTuple):
    """A check that is running."""

    ticket: int
    text: bytes
    again: bool
    """The text was found interesting before."""


@dataclass(slots=True)
class Verdicts:
    """Keeps verdicts by the hash of the text, and gets those that are missing from the executor.

    A verdict may come in before the search needs it. Until then it has not been
    *used*, and the search does not know of it: what it does must not depend on timing.

    `limits(seconds)` gives the limits of a check when the best text took that many
    seconds; `on_checked` is told of every check that has run and its text.
    """

    executor: Executor
    limits: Callable[[float], Limits]
    on_checked: Callable[[bytes, Finished], None]
    journal: Journal | None
    spending: Spending
    confirmations: int = 0
    """How many more runs a success has to survive, since one did not."""
    _known: dict[bytes, Verdict] = field(default_factory=dict)
    _used: set[bytes] = field(default_factory=set)
    _recorded: set[bytes] = field(default_factory=set)
    """The hashes of the verdicts that came from the journal, and were not used yet."""
    _running: dict[bytes, _Running] = field(default_factory=dict)
    _tickets: dict[int, bytes] = field(default_factory=dict)
    """The keys of the checks that are running, by their tickets."""

    @property
    def counts(self) -> Counts:
        """What the checks have cost."""
        return self.spending.counts

    def preload(self, text: bytes, *, interesting: bool) -> None:
        """Take in a verdict that is known before, as if it had been used."""
        key = digest(text)
        self._known[key] = Verdict(interesting, 0.0)
        self._used.add(key)

    def restore(self, verdicts: Mapping[bytes, tuple[bool, float]]) -> None:
        """Take in the verdicts of a journal by hash: checks that are not run again."""
        for key, (interesting, seconds) in verdicts.items():
            if key not in self._used:
                self._known[key] = Verdict(interesting, seconds)
                self._recorded.add(key)

    def __contains__(self, key: bytes | None) -> bool:
        """Return whether a verdict has come in."""
        return key in self._known

    def used(self, key: bytes) -> Verdict | None:
        """Return a verdict if it has been used."""
        return self._known[key] if key in self._used else None

    def use(self, key: bytes, text: bytes, seconds: float) -> Verdict:
        """Return a verdict that has come in, and count it as a check.

        A success that does not show in all confirmations is none. Raises Stopped.
        """
        self._used.add(key)
        self.counts.checks += 1
        if key in self._recorded:
            self._recorded.discard(key)
            self.counts.replayed += 1
        verdict = self._known[key]
        again = self.confirmations
        if verdict.interesting and again and not self.always(text, seconds, again):
            verdict = self._known[key] = verdict._replace(interesting=False)
        self.spending.take(verdict.interesting)
        return verdict

    def is_recorded(self, key: bytes) -> bool:
        """Return whether a verdict came from the journal, and was not used yet."""
        return key in self._recorded

    def start(self, key: bytes, text: bytes, seconds: float) -> None:
        """Start a check, if it is needed, the budget allows it and there is room."""
        if key in self._known or key in self._running or self.spending.spent:
            return
        if self.executor.free:
            self._submit(key, text, seconds)

    def obey(self) -> None:
        """Do what was asked from outside: stay here while paused. Raises Stopped if asked to stop.

        Checks that run go on meanwhile.
        """
        control = self.spending.control
        control.check()
        while control.paused:
            begin = time.monotonic()
            if self._running:
                self._take_in(POLL)
            else:
                control.wait()
            control.seconds_paused += time.monotonic() - begin
            control.check()

    def wait(self, timeout: float | None) -> None:
        """Wait for verdicts: until there is one, or something is asked from outside.

        At most `timeout` seconds, if given, and never more than POLL. Raises Stopped.
        """
        control = self.spending.control
        if control.paused:
            return self.obey()
        control.check()
        return self._take_in(POLL if timeout is None else min(timeout, POLL))

    def _take_in(self, timeout: float) -> None:
        for finished in self.executor.wait(timeout):
            key = self._tickets.pop(finished.ticket)
            _, text, again = self._running.pop(key)
            spent = sum(outcome.seconds for outcome in finished.outcomes)
            self._known[key] = Verdict(finished.interesting, spent)
            if not again:
                self.on_checked(text, finished)
                if self.journal is not None:
                    self.journal.verdict(key, finished.interesting, spent)

    def cancel(self, keys: Iterable[bytes]) -> None:
        """End checks that nobody needs any more; others are ignored."""
        for key in keys:
            running = self._running.pop(key, None)
            if running is not None:
                del self._tickets[running.ticket]
                self.executor.cancel(running.ticket)

    def cancel_all(self) -> None:
        """End all checks."""
        self.cancel(list(self._running))

    def always(self, text: bytes, seconds: float, times: int) -> bool:
        """Return whether a text is interesting in `times` more runs, side by side if there is room.

        They are taken in order, up to the first that is not.
        """
        waiting = [_AGAIN % number for number in range(times)]
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
        """Forget all successes: they have to show again."""
        doubtful = [key for key, verdict in self._known.items() if verdict.interesting]
        for key in doubtful:
            del self._known[key]
            self._used.discard(key)

    def _submit(self, key: bytes, text: bytes, seconds: float, *, again: bool = False) -> None:
        self.counts.runs += 1
        self._running[key] = _Running(self.counts.runs, text, again)
        self._tickets[self.counts.runs] = key
        self.executor.submit(self.counts.runs, text, self.limits(seconds))
