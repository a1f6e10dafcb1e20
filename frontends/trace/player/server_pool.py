"""Replays of whole traces, several at a time; survives the death of the fork servers."""

from __future__ import annotations

import select
import time
from collections.abc import Sequence
from dataclasses import dataclass

from reducekit.executors.executor import ExecutorError
from reducekit.frontends.trace.language.calls import Call
from reducekit.frontends.trace.player.faults import Patch
from reducekit.frontends.trace.player.libraries import Library
from reducekit.frontends.trace.player.outcome import ReplayOutcome, unplayable
from reducekit.frontends.trace.player.records import Illegal, UnplayableCall
from reducekit.frontends.trace.player.session import (
    DEFAULT_LIMITS,
    ROOM,
    ServerGone,
    Session,
    Setup,
    room_for,
)
from reducekit.run import Closing, Limits

_PATIENCE = 1.0  # seconds to wait for what has been killed


@dataclass(slots=True)
class _Running:
    """A replay in flight. `tries` counts the servers that died of it."""

    ticket: int
    calls: Sequence[Call]
    records: bytes
    illegal: Illegal | None
    limits: Limits
    tries: int = 0
    cancelled: bool = False


class ReplayServer(Closing):
    """Replays traces against a library, at most `jobs` at a time; use it in a `with`.

    Each replay runs in a child process of its own, forked from a server that has loaded the
    library once, with `patch` applied to it. With `check_results` a call that returns something
    else than its `result` ends the replay as a "mismatch". `native=False` plays the calls in
    Python, as without a compiler. Raises UsageError if the library cannot be used.
    """

    def __init__(
        self,
        library: Library,
        *,
        jobs: int = 1,
        patch: Patch | None = None,
        check_results: bool = False,
        native: bool = True,
    ) -> None:
        self.jobs = jobs
        self._check_results = check_results
        self._setup = Setup.of(library, patch, native=native)
        self._servers: dict[int, Session] = {}  # by their sockets' descriptors
        self._running: dict[int, _Running] = {}  # by the same; other servers are idle
        self._ready: list[tuple[int, ReplayOutcome]] = []
        self._poll = select.poll()
        self._tickets = 0
        self.native = self._servers[self._start()].native

    @property
    def free(self) -> int:
        """How many replays may be submitted now."""
        return self.jobs - self._in_flight() - len(self._ready)

    def replay(self, calls: Sequence[Call], limits: Limits = DEFAULT_LIMITS) -> ReplayOutcome:
        """Replay one trace and wait for its end. Not while others are in flight."""
        self._tickets -= 1
        self.submit(self._tickets, calls, limits)
        while True:
            for ticket, outcome in self.wait():
                if ticket == self._tickets:
                    return outcome

    def submit(self, ticket: int, calls: Sequence[Call], limits: Limits = DEFAULT_LIMITS) -> None:
        """Start a replay; `ticket` is a number of the caller's, not in use.

        Raises ExecutorError if no server can be had.
        """
        assert self.free > 0, "more replays than jobs"
        try:
            records, illegal = self._setup.encoder.encode(calls)
        except UnplayableCall as error:
            outcome = unplayable(error.index, calls[error.index], str(error))
            self._ready.append((ticket, outcome))
            return
        self._send(_Running(ticket, calls, records, illegal, limits))

    def playable(self, name: str) -> bool:
        """Return whether the library has all functions of a call."""
        return self._setup.encoder.playable(name)

    def wait(self, timeout: float | None = None) -> list[tuple[int, ReplayOutcome]]:
        """Wait for at least one replay to end, at most `timeout` seconds; return all that have.

        Returns at once if none is in flight.
        """
        give_up = None if timeout is None else time.monotonic() + timeout
        while True:
            rest = None if give_up is None else max(0.0, give_up - time.monotonic()) * 1000
            if self._ready or not self._in_flight():
                rest = 0
            for fd, _ in self._poll.poll(rest):
                # An end that was received before may have replaced the server of this one.
                if fd in self._servers:
                    self._receive(fd)
            expired = give_up is not None and time.monotonic() >= give_up
            if self._ready or expired or not self._in_flight():
                ready, self._ready = self._ready, []
                return ready

    def cancel(self, ticket: int) -> None:
        """End a replay and forget it; one that is not running is ignored."""
        self._ready = [pair for pair in self._ready if pair[0] != ticket]
        for fd, running in self._running.items():
            if running.ticket == ticket and not running.cancelled:
                # Its end still comes, and frees the server.
                running.cancelled = True
                self._servers[fd].kill_child()

    def close(self) -> None:
        """End all replays and servers; may be called twice."""
        for fd in list(self._servers):
            self._discard(fd)
        self._ready.clear()

    def _in_flight(self) -> int:
        return sum(not running.cancelled for running in self._running.values())

    def _send(self, running: _Running) -> None:
        """Give a replay to a server that is idle, or to a new one."""
        idle = self._idle() or self._freed()
        fd = idle[0] if idle else self._start()
        # A server keeps the memory that it shares, so a long trace needs a new one.
        strings = len(self._setup.encoder.tables.strings)
        needed = room_for(len(running.calls), len(running.records), strings)
        if self._servers[fd].size < needed:
            self._discard(fd)
            fd = self._start(2 * needed)
        self._running[fd] = running
        try:
            self._servers[fd].start(running.records, running.limits)
        except ServerGone as error:
            self._revive(fd, error)

    def _idle(self) -> list[int]:
        return [fd for fd in self._servers if fd not in self._running]

    def _freed(self) -> list[int]:
        """Wait for a cancelled replay to end, if there is one: that is faster than a new server."""
        give_up = time.monotonic() + _PATIENCE
        while not (idle := self._idle()) and time.monotonic() < give_up:
            dying = [fd for fd, running in self._running.items() if running.cancelled]
            if not dying:
                break
            for fd in select.select(dying, [], [], _PATIENCE)[0]:
                self._receive(fd)
        return idle

    def _receive(self, fd: int) -> None:
        session = self._servers[fd]
        try:
            ending = session.end()
        except ServerGone as error:
            self._revive(fd, error)
            return
        except ExecutorError:
            self._discard(fd)
            raise
        running = self._running.pop(fd)
        if not running.cancelled:
            outcome = session.outcome_of(
                running.calls, ending, illegal=running.illegal, check_results=self._check_results
            )
            self._ready.append((running.ticket, outcome))

    def _revive(self, fd: int, error: ServerGone) -> None:
        """Replace a server that has gone; its replay is tried once more."""
        running = self._running.get(fd)
        self._discard(fd)
        if running is None or running.cancelled:
            return
        # A server may be killed for want of memory; one that dies twice dies of the trace.
        running.tries += 1
        if running.tries > 1:
            raise ExecutorError(f"the replay server died twice of the same trace: {error.said}")
        self._send(running)

    def _discard(self, fd: int) -> None:
        self._poll.unregister(fd)
        self._running.pop(fd, None)
        self._servers.pop(fd).close()

    def _start(self, size: int = ROOM) -> int:
        """Start a server; return its socket's descriptor."""
        session = Session(self._setup, size)
        fd = session.socket.fileno()
        self._servers[fd] = session
        self._poll.register(fd, select.POLLIN)
        return fd
