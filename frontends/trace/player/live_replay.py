"""An interactive replay: calls are played as they arrive, and their results are returned at once.

So a generator can ask the solver which calls are allowed next. The child waits for the next calls
in a read(2) on an event counter, which is a record like any other.

Starting a child takes as long as playing a short trace. So a child may play several traces in
succession, if each releases the object that it created. Their concatenation is a trace, too,
which has to be played again if the last trace alone does not reproduce the failure.
"""

from __future__ import annotations

import os
import select
import time
from array import array
from collections.abc import Sequence
from dataclasses import dataclass

from reducekit.executors.executor import ExecutorError
from reducekit.frontends.trace.language.calls import Call
from reducekit.frontends.trace.player.faults import Patch
from reducekit.frontends.trace.player.libraries import Library
from reducekit.frontends.trace.player.outcome import Ending, ReplayOutcome, unplayable
from reducekit.frontends.trace.player.prototypes import Step
from reducekit.frontends.trace.player.records import (
    COPY,
    DIE_WITH_PARENT,
    OBJECT,
    Tables,
    UnplayableCall,
    after_guards,
    kinds,
    record,
    skipping,
)
from reducekit.frontends.trace.player.server import (
    CELL,
    EACH,
    FUNCTION,
    KEEPS,
    RECORD,
    STORES,
    STRING,
)
from reducekit.frontends.trace.player.session import DEFAULT_LIMITS, STRINGS, Session, Setup
from reducekit.run import Limits

_INT = array("i").itemsize
_NOT_ASKED = -1  # no wait status


@dataclass(frozen=True, slots=True)
class PendingQuery:
    """What a copy of a child was asked: the call, the answer's place, how many literals."""

    name: str
    place: int
    count: int


class LiveReplay(Session):
    """Plays one trace after the other, each in pieces; use it in a `with`.

    `begin` starts an empty trace, `play` appends calls to it, `finish` ends it. Once `outcome` is
    not None the trace has ended by itself. A child plays up to `together` traces; `company` is
    how many it has played before this one. Callers have to keep to one live object. Raises
    UsageError if the library cannot be used, ExecutorError if the server dies.
    """

    def __init__(self, library: Library, *, patch: Patch | None = None, together: int = 1) -> None:
        super().__init__(Setup.of(library, patch))
        self._together = together if self.encoder.separable else 1
        self._limits = DEFAULT_LIMITS
        self._calls: list[Call] = []  # of all traces of the child
        self._first = 0  # call of this trace
        self._end = 0  # of the records in the memory
        self._running = False
        self._alive = False
        self._waits = False  # the child has played all that it was given
        self._begun = 0.0
        self._last: Ending | None = None
        self.company = 0
        self.outcome: ReplayOutcome | None = None

    def begin(self, limits: Limits = DEFAULT_LIMITS, *, alone: bool = False) -> None:
        """Start an empty trace; the one before is ended.

        `limits` hold for all traces of a child, so what they have ended is worth a second try:
        `alone` in a child of its own.
        """
        if self._running:
            self.finish()
        self.outcome = self._last = None
        self._begun = time.monotonic()
        has_room = self._end < self.results_at // 2
        has_room &= len(self.encoder.tables.strings) < STRINGS // 4
        if self._alive and not alone and limits == self._limits and has_room:
            # The child waits for the calls of another trace.
            self._running = True
            self._first = len(self._calls)
            self.company += 1
            return
        if self._alive:
            self._continue(self.encoder.done)
            self._wait()
        # A child that was killed may have left a counter raised.
        for counter in (self.go, self.done):
            if select.select([counter], [], [], 0)[0]:
                os.eventfd_read(counter)
        self._limits = limits
        self._calls = []
        self._first = self.company = 0
        self._waits = False
        self._end = self.start(self.encoder.pause, limits)
        self._running = self._alive = True

    def play(self, calls: Sequence[Call], *, wall: float | None = None) -> Sequence[int | None]:
        """Play calls, and return their results; fewer than calls if the trace has ended by that.

        A call that cannot be played ends the trace with the outcome "parse". The child is
        killed if the calls take more than `wall` seconds.
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
        ready, _, _ = select.select([self.done, self.socket.fileno()], [], [], wall)
        if not ready:
            self.kill_child()  # its end is read below
        if self.done in ready:
            os.eventfd_read(self.done)
            self._waits = True
            return self.results(calls, first, len(calls))
        return self._ended().results[first - self._first :]

    @property
    def room(self) -> int:
        """How many bytes are left for records: 32 a call, or more; 4 for a number of `each`."""
        return self.results_at - self._end

    def put(self, calls: Sequence[Call]) -> None:
        """Have calls played ahead of those that come next. Raises UnplayableCall."""
        records = self.encoder.plain(calls)
        self._calls += calls
        self._put(records)

    def each(self, name: str, numbers: Sequence[int]) -> None:
        """Make a call for each number, ahead of the next ones; it is no part of the trace."""
        tables, data = self.encoder.tables, _slots(numbers)
        # The numbers stand after a record that skips them.
        at = self._end + RECORD.size - self.strings_at
        records = _for_each(tables, self.encoder.steps[name], at, len(numbers))
        self._put(skipping(tables, len(data)) + data + records)

    def ask(self, name: str, literals: Sequence[int]) -> PendingQuery:
        """Ask a copy of the child what a call returns for each literal, ahead of the next calls.

        The child itself is left as it is: the copy is a fork. Look at `answer` later.
        """
        tables, steps = self.encoder.tables, self.encoder.steps[name]
        # The copy's wait status and what it returned stand after the records that it plays.
        data = _slots((_NOT_ASKED, *literals))
        place = self._end + (5 + len(after_guards(steps))) * RECORD.size
        at = place - self.strings_at
        copied = (
            record(tables, "prctl", *DIE_WITH_PARENT)
            + record(tables, "close", 1)
            + record(tables, "close", 2)
            + _for_each(tables, steps, at + _INT, len(literals))
            + record(tables, "_exit", 0)
            + data
        )
        fork = skipping(tables, len(copied), "fork", STORES, COPY)
        wait = record(tables, "waitpid", COPY, at, flags=KEEPS | kinds(CELL, STRING))
        self._put(fork + copied + wait)
        return PendingQuery(name, place, len(literals))

    def answer(self, asked: PendingQuery) -> list[int] | None:
        """Return what was asked before the latest calls; None if the copy died.

        Valid until the next trace begins.
        """
        end = asked.place + _INT * (asked.count + 1)
        status, *values = array("i", self.memory[asked.place : end])
        if status:
            return None
        # Of a register, only the bits of the type mean anything.
        is_bool = self.encoder.results[asked.name] == "bool"
        return [value & 1 for value in values] if is_bool else values

    def finish(self) -> ReplayOutcome:
        """End the trace, and return its outcome; with a CPU time of 0 if the child lives on."""
        if self._running:
            if (
                self.company + 1 < self._together
                and self._waits
                and len(self._calls) > self._first
                and self._calls[-1].name in self.encoder.ends
            ):
                # The object is gone, so another trace may follow.
                self._running = False
                seconds = time.monotonic() - self._begun
                ending = Ending(0, False, seconds, 0.0, *self.outputs())
                calls = self._calls[self._first :]
                # One more has begun where the last one came back: the end of the process.
                self.outcome = self.outcome_of(
                    calls, ending, first=self._first, begun=len(calls) + 1
                )
            else:
                self._continue(self.encoder.done)
                self._ended()
        assert self.outcome is not None, "no trace was begun"
        return self.outcome

    def together(self) -> tuple[Sequence[Call], ReplayOutcome]:
        """Return all calls of a child that has ended by itself, and their outcome.

        Valid until the next trace begins.
        """
        assert self._last is not None, "the process has not ended"
        return self._calls, self.outcome_of(self._calls, self._last)

    def close(self) -> None:
        super().close()
        self._running = self._alive = False

    def _continue(self, records: bytes) -> None:
        self._put(records)
        self._waits = False
        os.eventfd_write(self.go, 1)

    def _put(self, records: bytes) -> None:
        """Put records after those before; the child waits in the last one that it was let play."""
        end = self._end + len(records)
        if end > self.results_at or len(self.encoder.tables.strings) > STRINGS // 2:
            raise ExecutorError("the trace is too long to be played in pieces")
        self.put_strings()
        self.memory[self._end : end] = records
        self._end = end

    def _wait(self) -> Ending:
        self._alive = False
        return self.end()

    def _ended(self) -> ReplayOutcome:
        self._running = False
        self._last = self._wait()
        calls = self._calls[self._first :]
        self.outcome = self.outcome_of(calls, self._last, first=self._first)
        return self.outcome


def _slots(numbers: Sequence[int]) -> bytes:
    """Return numbers to stand between records, padded to the size of whole ones."""
    data = array("i", numbers).tobytes()
    return data + bytes(-len(data) % RECORD.size)


def _for_each(tables: Tables, steps: Sequence[Step], numbers: int, count: int) -> bytes:
    """Return records that make a call of the object and a number, for many numbers.

    The C calls of it, `steps`, are made for all numbers one after the other, each with what the
    one before returned. `numbers` is where they are, an offset into the strings.
    """
    flags = KEEPS | kinds(CELL, FUNCTION, STRING)
    found = b""
    for step in after_guards(steps):
        assert step.arguments[:2] in (("$", "int"), ("$", "%")), step
        last = int(step.arguments[2]) if len(step.arguments) > 2 else 0
        function = tables.symbols[step.function]
        found += record(tables, EACH, OBJECT, function, numbers, count, last, flags=flags)
    return found
