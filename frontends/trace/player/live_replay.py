"""An interactive replay: calls are played as they arrive, and their results are returned at once.

So a generator can ask the solver which calls are allowed next. The child waits for the next calls
in a read(2) on an event counter, which is a record like any other.
"""

from __future__ import annotations

import os
import select
from collections.abc import Sequence

from reducekit.executors.executor import ExecutorError
from reducekit.frontends.trace.language.calls import Call
from reducekit.frontends.trace.player.faults import Patch
from reducekit.frontends.trace.player.libraries import Library
from reducekit.frontends.trace.player.outcome import ReplayOutcome, unplayable
from reducekit.frontends.trace.player.records import UnplayableCall
from reducekit.frontends.trace.player.session import DEFAULT_LIMITS, STRINGS, Session, Setup
from reducekit.run import Limits


class LiveReplay(Session):
    """Plays one trace after the other, each in pieces; use it in a `with`.

    `begin` starts an empty trace, `play` appends calls to it, `finish` ends it. Once `outcome` is
    not None the trace has ended by itself. Callers have to keep to one live object. Raises
    UsageError if the library cannot be used, ExecutorError if the server dies.
    """

    def __init__(self, library: Library, *, patch: Patch | None = None) -> None:
        super().__init__(Setup.of(library, patch))
        self._calls: list[Call] = []
        self._end = 0  # of the records in the memory
        self._running = False
        self.outcome: ReplayOutcome | None = None

    def begin(self, limits: Limits = DEFAULT_LIMITS) -> None:
        """Start an empty trace; the one before is ended."""
        if self._running:
            self.finish()
        self.outcome = None
        # A child that was killed may have left a counter raised.
        for counter in (self.go, self.done):
            if select.select([counter], [], [], 0)[0]:
                os.eventfd_read(counter)
        self._calls = []
        self._end = self.start(self.encoder.pause, limits)
        self._running = True

    def play(self, calls: Sequence[Call]) -> Sequence[int | None]:
        """Play calls, and return their results; fewer than calls if the trace has ended by that.

        A call that cannot be played ends the trace with the outcome "parse".
        """
        assert self._running, "no trace was begun"
        first = len(self._calls)
        try:
            records = self.encoder.plain(calls)
        except UnplayableCall as error:
            self.finish()
            self.outcome = unplayable(error.index, calls[error.index], str(error))
            return ()
        self._calls += calls
        self._continue(records + self.encoder.report + self.encoder.pause)
        ready, _, _ = select.select([self.done, self.socket.fileno()], [], [])
        if self.done in ready:
            os.eventfd_read(self.done)
            return self.results(calls, first, len(calls))
        return self._ended().results[first:]

    def finish(self) -> ReplayOutcome:
        """End the trace, and return its outcome."""
        if self._running:
            self._continue(self.encoder.done)
            self._ended()
        assert self.outcome is not None, "no trace was begun"
        return self.outcome

    def close(self) -> None:
        super().close()
        self._running = False

    def _continue(self, records: bytes) -> None:
        """Put records after those before, and let the child play them."""
        end = self._end + len(records)
        if end > self.results_at or len(self.encoder.tables.strings) > STRINGS // 2:
            raise ExecutorError("the trace is too long to be played in pieces")
        self.put_strings()
        self.memory[self._end : end] = records
        self._end = end
        os.eventfd_write(self.go, 1)

    def _ended(self) -> ReplayOutcome:
        self._running = False
        self.outcome = self.outcome_of(self._calls, self.end())
        return self.outcome
