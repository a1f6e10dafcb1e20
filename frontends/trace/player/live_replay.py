"""An interactive replay: calls are played as they arrive, and their results are returned at once.

So a generator can ask the solver which calls are allowed next. The child waits for
the next calls in a read(2) on an event counter, which is a record like any other.

Starting a process takes as long as playing a short trace. So a process may play
several traces in succession, if each releases the object that it created. Their
concatenation is a trace, too, which has to be played again if the last trace alone
does not reproduce the failure.
"""

from __future__ import annotations

import os
import re
import select
import time
from collections.abc import Sequence
from dataclasses import dataclass

from reducekit.executors.executor import Closing, ExecutorError
from reducekit.frontends.trace.language.calls import Call
from reducekit.frontends.trace.player.faults import Patch
from reducekit.frontends.trace.player.libraries import Library
from reducekit.frontends.trace.player.outcome import Ending, ReplayOutcome, interpret, unplayable
from reducekit.frontends.trace.player.records import Encoder, UnplayableCall
from reducekit.frontends.trace.player.results import Results
from reducekit.frontends.trace.player.server_pool import DEFAULT_LIMITS, server_arguments
from reducekit.frontends.trace.player.server_process import (
    STRINGS,
    ChildEnd,
    ServerGone,
    started,
)
from reducekit.oracle.limits import Limits


@dataclass(frozen=True, slots=True)
class PendingQuery:
    """What a copy of a child was asked: the call, the answer's place, how many literals."""

    name: str
    place: int
    count: int


class LiveReplay(Closing):
    """Plays one trace after the other, each in pieces; use it in a `with`.

    `begin` starts an empty trace, `play` appends calls to it, `finish` ends it.
    Once `outcome` is not None the trace has ended by itself. A process plays up to
    `together` traces; `company` is how many it has played before this one. That there is
    one live object is not checked here: calls are taken to be in order. Raises
    UsageError if the library cannot be used, ExecutorError if the server dies.
    """

    def __init__(self, library: Library, *, patch: Patch | None = None, together: int = 1) -> None:
        self._encoder = Encoder(library.interface)
        self._contract = re.compile(library.interface.contract)
        self._process = started(library.path, server_arguments(self._encoder, patch, native=True))
        self._encoder.missing = self._process.missing
        self._together = together if self._encoder.separable else 1
        self._limits = DEFAULT_LIMITS
        self._calls: list[Call] = []  # of all traces of the process
        self._first = 0  # call of this trace
        self._end = 0
        self._open = False
        self._alive = False
        self._waits = False  # the child has played all that it was given
        self._begun = 0.0
        self._last: tuple[ChildEnd, tuple[bytes, bytes]] | None = None
        self.company = 0
        self.outcome: ReplayOutcome | None = None

    def begin(self, limits: Limits = DEFAULT_LIMITS, *, alone: bool = False) -> None:
        """Start an empty trace; the one before is ended.

        `limits` hold for all that a process plays, so what they have ended is worth a second
        try: `alone` in a process of its own.
        """
        if self._open:
            self.finish()
        self.outcome = self._last = None
        self._begun = time.monotonic()
        self._open = True
        if self._alive and not alone and limits == self._limits and self._has_room():
            self._first = len(self._calls)
            self.company += 1
            return
        self._end_process()
        for counter in (self._process.go, self._process.done):
            if select.select([counter], [], [], 0)[0]:
                os.eventfd_read(counter)
        self._limits = limits
        self._calls = []
        self._first = self.company = 0
        self._waits = False
        try:
            self._end = self._process.start(self._encoder, self._encoder.pause, limits)
        except ServerGone as error:
            self._open = False
            raise ExecutorError(f"the replay server died: {error}") from None
        self._alive = True

    def play(self, calls: Sequence[Call], *, wall: float | None = None) -> Sequence[int | None]:
        """Play calls, and return their results; fewer than calls if the trace has ended by that.

        A call that cannot be played ends the trace with the outcome "parse". The process is
        killed if the calls take more than `wall` seconds.
        """
        assert self._open, "no trace was begun"
        first = len(self._calls)
        try:
            records = self._encoder.plain(calls)
        except UnplayableCall as error:
            self.finish()
            self.outcome = unplayable(error.index, calls[error.index], str(error))
            return ()
        self._calls += calls
        self._continue(records + self._encoder.report + self._encoder.pause)
        process = self._process
        ready, _, _ = select.select([process.done, process.socket.fileno()], [], [], wall)
        if not ready:
            process.kill_child()
        if process.done in ready:
            os.eventfd_read(process.done)
            self._waits = True
            raw = process.results(first, len(self._calls))
            return Results(raw, calls, self._encoder.results)
        self.outcome = self._ended()
        return self.outcome.results[first - self._first :]

    @property
    def room(self) -> int:
        """How many bytes are left for records: 32 a call, or more; 4 for a number of `each`."""
        return self._process.results_at - self._end

    def put(self, calls: Sequence[Call]) -> None:
        """Have calls played ahead of those that come next. Raises UnplayableCall."""
        records = self._encoder.plain(calls)
        self._calls += calls
        self._put(records)

    def each(self, name: str, numbers: Sequence[int]) -> None:
        """Have a call made for each number, ahead of those that come next.

        It does not belong to the trace, and has no results.
        """
        self._put(self._encoder.each(name, numbers, self._process.distance(self._end)))

    def ask(self, name: str, literals: Sequence[int]) -> PendingQuery:
        """Ask a copy of the child what a call returns for each literal, ahead of the next calls.

        The child itself is left as it is: the copy is a fork. Look at `answer` later.
        """
        records, start = self._encoder.ask(name, literals, self._process.distance(self._end))
        asked = PendingQuery(name, self._end + start, len(literals))
        self._put(records)
        return asked

    def answer(self, asked: PendingQuery) -> list[int] | None:
        """Return what was asked before the latest calls; None if the copy did not live to say it.

        To be had until the next trace begins.
        """
        end = asked.place + 4 * (asked.count + 1)
        return self._encoder.answered(asked.name, self._process.memory[asked.place : end])

    def finish(self) -> ReplayOutcome:
        """End the trace, and return how that went.

        Of one whose process lives on, the CPU time is not known: it is 0.
        """
        if self._open:
            if self._may_live_on():
                self._open = False
                end = ChildEnd(0, False, time.monotonic() - self._begun, 0.0)
                self.outcome = self._interpreted(end, self._process.outputs(), self._first)
            else:
                self._continue(self._encoder.done)
                self.outcome = self._ended()
        assert self.outcome is not None, "no trace was begun"
        return self.outcome

    def together(self) -> tuple[Sequence[Call], ReplayOutcome]:
        """Return all that a process has played which has ended by itself, and how it ended.

        To be had until the next trace begins.
        """
        assert self._last is not None, "the process has not ended"
        return self._calls, self._interpreted(*self._last, first=0)

    def close(self) -> None:
        self._process.close()
        self._open = self._alive = False

    def _may_live_on(self) -> bool:
        """Return whether another trace may follow in the process: the object is gone."""
        return (
            self.company + 1 < self._together
            and self._waits
            and len(self._calls) > self._first
            and self._calls[-1].name in self._encoder.ends
        )

    def _has_room(self) -> bool:
        """Return whether there is room for another trace after those that were played."""
        return (
            self._end < self._process.results_at // 2 and len(self._encoder.strings) < STRINGS // 4
        )

    def _end_process(self) -> None:
        """End the process that has played the traces before, if it still waits."""
        if self._alive:
            self._continue(self._encoder.done)
            self._wait()
            self._process.outputs()

    def _continue(self, records: bytes) -> None:
        """Let the child play more records, which follow those before."""
        self._put(records)
        self._waits = False
        os.eventfd_write(self._process.go, 1)

    def _put(self, records: bytes) -> None:
        """Put records after those before; the child waits in the last one that it was let play."""
        process = self._process
        strings = len(self._encoder.strings)
        if self._end + len(records) > process.results_at or strings > STRINGS // 2:
            raise ExecutorError("the trace is too long to be played in pieces")
        process.put_strings(self._encoder)
        process.memory[self._end : self._end + len(records)] = records
        self._end += len(records)

    def _ended(self) -> ReplayOutcome:
        """Wait for the end of the process, and return what it says of the trace."""
        self._open = False
        self._last = (self._wait(), self._process.outputs())
        return self._interpreted(*self._last, first=self._first)

    def _wait(self) -> ChildEnd:
        self._alive = False
        try:
            return self._process.end()
        except ServerGone as error:
            raise ExecutorError(f"the replay server died: {error}") from None

    def _interpreted(
        self, end: ChildEnd, outputs: tuple[bytes, bytes], first: int
    ) -> ReplayOutcome:
        """Return the outcome of the calls from a given one on."""
        process = self._process
        calls = self._calls[first:]
        # One more has begun where the last one came back: the end of the process.
        begun = len(calls) + 1 if self._alive else max(0, process.begun - first)
        raw = process.results(first, first + min(begun, len(calls)))
        ending = Ending(
            wait_status=end.wait_status,
            begun=begun,
            results=Results(raw, calls, self._encoder.results),
            late=end.late,
            illegal=None,
            stdout=outputs[0],
            stderr=outputs[1],
            seconds=end.seconds,
            cpu=end.cpu,
        )
        return interpret(calls, ending, self._contract, check_results=False)
