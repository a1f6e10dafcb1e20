"""Runs checks as child processes in a single-threaded event loop.

CPU time per run: subprocess 0.4 ms, with a `preexec_fn` 1.5 ms (which rules out vfork), this loop
about 0.25 ms. Hence it uses posix_spawn(3), pidfd_open(2) and epoll(7) directly; where there is no
pidfd_open, it asks for the state of its children every few milliseconds.
"""

from __future__ import annotations

import errno
import math
import os
import selectors
import signal
import time
from collections.abc import Sequence
from typing import Literal

from reducekit.errors import UsageError
from reducekit.executors import marks
from reducekit.executors.executor import Executor, ExecutorError, Finished
from reducekit.executors.marks import Mark
from reducekit.executors.run_directory import RunDirectory, Watchdog
from reducekit.executors.slots import (
    Actions,
    NoRoomError,
    Slot,
    Stream,
    Suspensions,
    Wanted,
    has_ended,
    inherited_limits,
    kill_group,
    limit,
    pipes,
    posix_spawn,
    wanted_limits,
)
from reducekit.oracle.command import Command, why_not_run
from reducekit.oracle.criterion import Everything, Oracle
from reducekit.run import Guard, Limits, NoSignals, Outcome

_VARIABLE = os.fsencode(marks.VARIABLE)
_PASSING = (errno.EAGAIN, errno.ENOMEM, errno.ETXTBSY, errno.EMFILE, errno.ENFILE)
_PATIENCE = 3.0  # seconds to wait for a temporary shortage, and at the end for killed processes
_SHOW_EVERY = 0.25  # seconds
_SHOWN = 4096  # bytes of each stream kept for displays where the criterion needs none
_RETRY = 0.1  # seconds between attempts to start what could not be started
_FORKED = 0.02  # seconds; forks begun before limits were set have completed by then
_OF_OTHERS = 4.0  # times as long as the commands before a patient one may that take, and longer
_GLANCE = 0.5  # seconds; during a longer sleep, a stop would go unnoticed
_PIDFD = hasattr(os, "pidfd_open")  # only Linux has it
_POLL = 0.002  # seconds between looks at children without it


class _BusyError(ExecutorError):
    """The machine lacks processes or memory; this may change when other checks end."""


_FROM_OUTSIDE = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_RETRIES = 2
"""A run that is killed every time is taken as it is."""


class _Check:
    """One check in flight: which command is running, and the outcomes of the earlier ones."""

    __slots__ = (
        "cancelled", "deadline", "later", "limit", "limits", "lost", "order", "outcomes", "pid",
        "pidfd", "recheck", "retries", "slot", "spared", "started", "status", "streams", "text",
        "ticket",
    )  # fmt: skip

    def __init__(
        self, ticket: int, text: bytes, limits: Limits, slot: Slot, order: Sequence[int]
    ) -> None:
        self.ticket = ticket
        self.text = text
        self.limits = limits
        self.slot = slot
        self.order = order
        self.outcomes: list[Outcome] = []
        self.retries = _RETRIES
        self.cancelled = False
        self.limit: Literal["time", "output"] | None = None
        self.pid = self.pidfd = -1
        self.status: int | None = None
        """The wait status of a command that was reaped already, as it had no `pidfd`."""
        self.streams: list[Stream] = []
        self.started = 0.0
        self.spared = 0.0
        """Seconds of the command that do not count."""
        self.lost = 0.0
        """Seconds since the start in which this process, and perhaps the command, was stopped."""
        self.deadline = math.inf
        self.later: Wanted = {}
        """The limits that the command could not inherit."""
        self.recheck = math.inf
        """When to set them again: a fork may have been in progress the first time."""


class LocalExecutor(Executor):
    """Runs checks on this machine, at most `jobs` at a time.

    Every command runs in its own session, without a terminal, in the current directory and with
    its own TMPDIR, which is emptied afterwards. When it ends, everything that it started is
    killed, also processes that left its process group or session: this process is a "child
    subreaper", the parent of orphans, while the executor is open. If this process is killed by a
    signal that it cannot catch, a watchdog kills the processes and removes the files.

    A run that was ended by an outside signal is repeated. If this process is stopped for a while
    and continued, that time does not count, as the command may or may not have run in it; if the
    criterion depends on the time, the run is repeated.

    If other checks use up a resource (disk space, the number of processes), a check waits and
    starts when one of them ends.

    The candidate's file is called `name`, or `input` plus `suffix`, in a folder of its own below
    `workdir`; by default below TMPDIR if that is set, otherwise in memory. `shows`: if the
    criterion needs no output, the first 4 KB are kept for displays, of one run in 0.25 s at most.
    Not thread-safe.
    """

    def __init__(
        self,
        oracle: Oracle,
        jobs: int,
        suffix: str = "",
        *,
        guard: Guard | None = None,
        name: str = "",
        workdir: str | None = None,
        shows: bool = False,
    ) -> None:
        self.runs = 0
        self._shows = shows
        self._next_shown = 0.0
        self._guard = guard or NoSignals()
        self._oracle = oracle
        self._jobs = jobs
        self._name = name if name not in ("", "tmp") else f"input{suffix}"
        self._captures = oracle.criterion.captures
        self._order: Sequence[int] = range(len(oracle.commands))
        """In which order the next checks run the commands."""
        self._checks: dict[int, _Check] = {}  # by ticket
        self._dying: set[_Check] = set()  # cancelled, not yet dead
        self._parked: list[_Check] = []  # not started: no space or no process was left
        self._by_fd: dict[int, _Check] = {}
        self._leaders: set[int] = set()
        self._ready: list[Finished] = []
        self._idle: list[Slot] = []
        self._slots: list[Slot] = []
        self._environment = dict(os.environb)
        self._inherited = inherited_limits()
        self._closed = False
        if signal.getsignal(signal.SIGCHLD) is signal.SIG_IGN:
            # Some parents pass this on; exit statuses would be lost.
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        # The children's descriptors 0 to 2 are set up from these: if one of them is closed here,
        # no other descriptor of this process may get its number.
        self._fds = [os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)]
        while self._fds[-1] <= 2:
            self._fds.append(os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC))
        self._null = self._fds[-1]
        self._directory = RunDirectory(workdir)
        run = self._directory.run
        self._marked = os.environ.get(marks.VARIABLE, "")
        self._watchdog = Watchdog(run, self._directory.path, self._null)
        self._reaper = marks.ChildReaper()
        self._selector = selectors.DefaultSelector()
        self._suspensions = Suspensions()
        self._adopted_before = marks.adopting()
        marks.set_adopting(True)

    @property
    def free(self) -> int:
        return self._jobs - len(self._checks)

    @property
    def directory(self) -> str:
        """The folder that candidates are written to."""
        return self._directory.path

    def fileno(self) -> int:
        """Return a descriptor that becomes ready when an event occurs that `wait` handles.

        For callers that also wait for something else. Time limits have no events, so call `wait`
        every few milliseconds while checks run.
        """
        return self._selector.fileno()  # of epoll or kqueue

    def submit(self, ticket: int, text: bytes, limits: Limits) -> None:
        """Start a check of `text`; the caller chooses `ticket`, a number not in use.

        Raises UsageError if the command cannot be run, ExecutorError if the
        machine lacks disk space, memory or processes for it.
        """
        assert self.free > 0, "more checks than jobs"
        assert ticket not in self._checks, "the ticket is in use"
        slot = self._idle.pop() if self._idle else self._new_slot()
        check = _Check(ticket, text, limits, slot, self._order)
        self._checks[ticket] = check
        self._start(check)

    def wait(self, timeout: float | None = None) -> list[Finished]:
        """Wait for at least one check to finish, at most `timeout` seconds; return all finished.

        Returns at once if no check is in flight. Raises as `submit` does, for a check's second
        command or for a check that had to wait; that check is then forgotten.
        """
        give_up = math.inf if timeout is None else time.monotonic() + timeout
        while True:
            now = time.monotonic()
            until = min(give_up, now + _GLANCE)
            for check in self._checks.values():
                until = min(until, check.deadline, check.recheck)
            if self._parked:
                until = min(until, now + _RETRY)
            if self._ready or not self._checks:
                until = now  # but still reap what has died meanwhile
            self._turn(max(0.0, until - now))
            if self._ready or not self._checks or time.monotonic() >= give_up:
                finished, self._ready = self._ready, []
                return finished

    def cancel(self, ticket: int) -> None:
        check = self._checks.pop(ticket, None)
        if check is None:
            self._ready = [done for done in self._ready if done.ticket != ticket]
            return
        if check in self._parked:
            self._parked.remove(check)
            self._idle.append(check.slot)
            return
        check.cancelled = True
        check.deadline = math.inf
        self._dying.add(check)
        kill_group(check.pid)

    def close(self) -> None:
        """Kill all running processes and remove all files. Works at any time, and repeatedly."""
        with self._guard.held():
            self._close()

    def _close(self) -> None:
        if self._closed:
            return
        self._closed = True
        for pid in self._leaders:
            kill_group(pid)
        give_up = time.monotonic() + _PATIENCE
        for pid in self._leaders:
            while not has_ended(pid) and time.monotonic() < give_up:
                time.sleep(0.0005)
        self._reaper.sweep(Mark(self._directory.run), ())
        self._reaper.close()
        self._directory.remove()
        self._watchdog.close()
        for fd in (*self._by_fd, *self._fds):
            os.close(fd)
        self._by_fd.clear()
        self._selector.close()
        for slot in self._slots:
            slot.close()
        if not self._adopted_before:
            marks.set_adopting(False)

    def _new_slot(self) -> Slot:
        slot = Slot(self._directory, len(self._slots), self._name)
        self._slots.append(slot)
        return slot

    def _start(self, check: _Check) -> None:
        """Run the check's next command now, or once other checks have ended.

        On failure the check is forgotten.
        """
        try:
            # Written for every command: the previous one may have changed it.
            command = self._oracle.commands[check.order[len(check.outcomes)]]
            text = command.text(check.text)
            check.slot.write(text, several=command.several)
            self._spawn(check, command.with_options_of(text))
        except (NoRoomError, _BusyError):
            if self._others_run():
                self._parked.append(check)
                return
            self._forget(check)
            raise
        except BaseException:
            self._forget(check)
            raise

    def _forget(self, check: _Check) -> None:
        self._checks.pop(check.ticket, None)
        self._idle.append(check.slot)

    def _others_run(self) -> bool:
        return bool(self._leaders)

    def _spawn(self, check: _Check, command: Command) -> None:
        slot, limits = check.slot, check.limits
        null = self._null
        out = err = null
        if self._captures:
            check.streams, out, err = pipes(limits.output)
        elif self._shows and time.monotonic() >= self._next_shown:
            # Two pipes cost a twentieth of a fast check: displays need only some.
            self._next_shown = time.monotonic() + _SHOW_EVERY
            check.streams, out, err = pipes(_SHOWN, drops=True)
        actions: Actions = [
            (os.POSIX_SPAWN_OPEN, 0, slot.path, os.O_RDONLY, 0)
            if command.stdin
            else (os.POSIX_SPAWN_DUP2, null, 0),
            (os.POSIX_SPAWN_DUP2, out, 1),
            (os.POSIX_SPAWN_DUP2, err, 2),
        ]
        self._environment[b"TMPDIR"] = os.fsencode(slot.tmp)
        self._environment[_VARIABLE] = os.fsencode(self._marked + slot.mark.text)
        ours, later = wanted_limits(limits, self._inherited)
        mark = slot.mark.number if self._reaper.limits else None
        try:
            pid, check.started = self._patient_spawn(self._argv(command, slot), actions, mark, ours)
        except BaseException:
            for stream in check.streams:
                os.close(stream.fd)
            check.streams = []
            raise
        finally:
            if out != null:
                os.close(out)
                os.close(err)
        self.runs += 1
        self._leaders.add(pid)
        check.pid = pid
        limit(pid, later)
        check.later = later
        check.recheck = check.started + _FORKED if later else math.inf
        check.limit = None
        check.lost = 0.0
        wall = math.inf if limits.wall is None else limits.wall
        check.spared = command.patience
        if command.patience and check.outcomes:
            # On the input the limit says nothing: it is that for programs of unknown speed.
            wall = min(wall, _OF_OTHERS * max(each.seconds for each in check.outcomes))
        check.deadline = check.started + wall + check.spared
        check.status = None
        if _PIDFD:
            try:
                check.pidfd = os.pidfd_open(pid)
            except OSError as error:
                kill_group(pid)
                os.waitpid(pid, 0)
                self._leaders.discard(pid)
                raise ExecutorError.of("cannot watch a process", error) from None
            self._watch(check, check.pidfd)
        for stream in check.streams:
            self._watch(check, stream.fd)

    def _argv(self, command: Command, slot: Slot) -> list[str]:
        if command.in_folder is None:
            return command.argv(slot.path)
        # posix_spawn cannot change the directory; env(1) of coreutils can, within 0.5 ms.
        folder = slot.path if command.several else slot.directory
        return ["/usr/bin/env", "-C", folder, *command.argv(slot.path)]

    def _patient_spawn(
        self,
        argv: list[str],
        actions: Actions,
        mark: int | None,
        ours: Wanted,
    ) -> tuple[int, float]:
        """Start a process; return its id and the start time. Waits for temporary shortages to end.

        Raises UsageError if the command cannot be run; _BusyError if the shortage persists, or at
        once if other checks may be the cause.
        """
        pause = 0.01
        give_up = time.monotonic() + _PATIENCE
        while True:
            started = time.monotonic()
            try:
                pid = posix_spawn(argv, self._environment, actions, mark, ours, self._inherited)
            except OSError as error:
                if error.errno in _PASSING:
                    if started < give_up and not self._others_run():
                        time.sleep(pause)
                        pause *= 2
                        continue
                    raise _BusyError.of(f"cannot start {argv[0]}", error) from None
                raise UsageError(why_not_run(argv[0], error)) from None
            return pid, started

    def _watch(self, check: _Check, fd: int) -> None:
        self._by_fd[fd] = check
        self._selector.register(fd, selectors.EVENT_READ)

    def _drop(self, fd: int) -> None:
        if self._by_fd.pop(fd, None) is not None:
            self._selector.unregister(fd)
            os.close(fd)

    def _turn(self, timeout: float) -> None:
        """Handle the events within `timeout` seconds, at least once."""
        ended = []
        if not _PIDFD:
            timeout = min(timeout, _POLL)
        events = self._selector.select(timeout)
        self._allow_for(self._suspensions.look(timeout))
        for key, _ in events:
            fd = key.fd
            check = self._by_fd.get(fd)
            if check is None:
                continue
            if fd == check.pidfd:
                # Later: its next command's descriptors may get the same numbers
                # as others that are still in this list of events.
                ended.append(check)
            else:
                self._read(check, fd)
        if not _PIDFD:
            ended = [each for each in (*self._checks.values(), *self._dying) if _reaped(each)]
        for check in ended:
            self._end(check)
        parked, self._parked = self._parked, []
        try:
            while parked and not self._parked:
                self._start(parked.pop(0))
        finally:
            self._parked += parked
        now = time.monotonic()
        for check in self._checks.values():
            if check.recheck <= now:
                check.recheck = math.inf
                limit(check.pid, check.later)
            if check.deadline <= now:
                check.deadline = math.inf
                check.limit = check.limit or "time"
                kill_group(check.pid)

    def _allow_for(self, lost: float) -> None:
        """Do not count `lost` seconds, in which this process did not run, for checks in flight."""
        if not lost:
            return
        now = time.monotonic()
        for check in self._checks.values():
            its = min(lost, now - check.started)
            check.lost += its
            check.deadline += its

    def _read(self, check: _Check, fd: int) -> None:
        stream = next(stream for stream in check.streams if stream.fd == fd)
        if not stream.read():
            self._drop(fd)
            stream.fd = -1  # the number may soon be reused
            if stream.full:
                check.limit = check.limit or "output"
                kill_group(check.pid)

    def _end(self, check: _Check) -> None:
        """Record the outcome of a command that has exited, and continue its check."""
        seconds = max(0.0, time.monotonic() - check.started - check.lost - check.spared)
        # Until the leader is reaped, no other process group can have its number.
        kill_group(check.pid)
        for stream in check.streams:
            if stream.fd >= 0:
                # All that the leader wrote is in the pipe. Other processes may still hold
                # the other end, but nothing waits for them.
                stream.read()
                self._drop(stream.fd)
                if stream.full:
                    check.limit = check.limit or "output"
        self._drop(check.pidfd)
        check.pidfd = -1
        wait_status = os.waitpid(check.pid, 0)[1] if check.status is None else check.status
        self._leaders.discard(check.pid)
        check.pid = -1
        check.recheck = math.inf
        self._reaper.sweep(check.slot.mark, self._leaders)
        check.slot.tidy()
        if check.cancelled:
            self._dying.discard(check)
            self._idle.append(check.slot)
            return
        check.outcomes.append(_outcome(check, wait_status, seconds))
        judged = self._oracle.criterion.judge(check.outcomes)
        check.streams = []
        # If such a signal is the failure to preserve, it is taken as is; `Everything` has none.
        wanted = judged and not isinstance(self._oracle.criterion, Everything)
        killed = not wanted and _killed_from_outside(check.outcomes[-1])
        untimed = check.lost and self._oracle.criterion.wall is not None
        if check.retries and (killed or untimed):
            check.retries -= 1
            check.outcomes.pop()
            self._start(check)
            return
        if judged is None and len(check.outcomes) < len(self._oracle.commands):
            self._start(check)
            return
        if judged:
            self._order = self._oracle.criterion.next_order(check.order, check.outcomes)
        del self._checks[check.ticket]
        self._idle.append(check.slot)
        oracle = self._oracle
        # It is asked where it matters only: it reads all that the programs print.
        unresolved = oracle.resolves and not judged and oracle.criterion.unresolved(check.outcomes)
        self._ready.append(Finished(check.ticket, bool(judged), tuple(check.outcomes), unresolved))


def _reaped(check: _Check) -> bool:
    """Reap the command of a check if it has exited; return whether it has."""
    if check.pid > 0:
        pid, status = os.waitpid(check.pid, os.WNOHANG)
        check.status = status if pid else None
    return check.pid > 0 and check.status is not None


def _killed_from_outside(outcome: Outcome) -> bool:
    """Return whether a signal from another process ended a run: that is no verdict."""
    return outcome.limit is None and outcome.signal in _FROM_OUTSIDE


def _outcome(check: _Check, wait_status: int, seconds: float) -> Outcome:
    out, err = (b"".join(stream.parts) for stream in check.streams) if check.streams else (b"", b"")
    code = os.waitstatus_to_exitcode(wait_status)
    limit = check.limit
    if -code == signal.SIGXCPU and check.limits.cpu is not None:
        limit = limit or "time"
    return Outcome(
        status=None if code < 0 else code,
        signal=-code if code < 0 else None,
        stdout=out,
        stderr=err,
        limit=limit,
        seconds=seconds,
    )
