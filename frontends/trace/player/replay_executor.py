"""Checks traces by replay, several in one process where they can share it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from reducekit.errors import ParseError
from reducekit.executors.executor import Executor, Finished
from reducekit.frontends.trace.language.calls import Call
from reducekit.frontends.trace.model.definition import Model
from reducekit.frontends.trace.player.batch import (
    CALLS_TOGETHER,
    Batching,
    CrashCache,
    Joint,
    Reach,
    digest,
    key_of,
    play_together,
)
from reducekit.frontends.trace.player.checker import Checker
from reducekit.frontends.trace.player.contract import was_lawful
from reducekit.frontends.trace.player.outcome import PARSE, ReplayOutcome
from reducekit.frontends.trace.player.server_pool import ReplayServer
from reducekit.oracle.criterion import Criterion, verdict
from reducekit.run import Limits, Outcome

# Checks that share a replay at most: each one that was not played was proposed for nothing.
MOST_TOGETHER = 32
# Calls that are looked ahead for: to propose candidates that are not played costs time too.
_LOOKAHEAD_CALLS = 16_000
# Times as long as all calls before took together, after which a call hangs, at a first look.
_HANGS = 5
# Seconds after which it does so at least: a hundred times as long as most replays take.
_HANGS_LEAST = 0.1
# Times as long as the longest replay that passed, after which one hangs at least.
_SLOWER = 3
_PATIENCE = 10  # times the wall limit for a replay that did not get to run


@dataclass(slots=True)
class _Waiting:
    """A check that was submitted and is not finished; its calls, once it was looked at.

    `again`: it is played once more, as it was starved. `confirms`: it failed after others in a
    process, so its own replay tells whether those can be trusted that do.
    """

    ticket: int
    text: bytes
    limits: Limits
    calls: Sequence[Call] = ()
    again: bool = False
    confirms: bool = False


def hangs_after(calls: Sequence[Call], ending: ReplayOutcome, server: ReplayServer) -> float:
    """Return after how many seconds of CPU a replay hangs at a first look."""
    # As long as the calls before the one in which it hung take, several times. Fewer calls seldom
    # take much longer.
    before = server.replay(calls[: max(0, ending.last_call)])
    return max(_HANGS_LEAST, _HANGS * before.cpu)


class ReplayExecutor(Executor):
    """Checks traces by replay.

    `runs` counts the replays. With `proofs`, what an earlier replay proves is not replayed. A
    replay with a call that `model` does not allow, by what the calls before it returned, is not
    interesting, however it ended. With a `checker`, the answers of a replay that passed are
    checked: see `Checker.judged`. The server is closed with the executor, and so is `opened`.

    If the failure is a hang, `hangs` says after how many seconds of CPU a replay hangs at a first
    look (see `hangs_after`), so that no success has to wait for the limit. With a `batch`, checks
    that wait share a replay (see `Batching`), whatever the `jobs`.
    """

    def __init__(
        self,
        server: ReplayServer,
        read: Callable[[bytes], Sequence[Call]],
        criterion: Criterion,
        crashes: CrashCache,
        *,
        proofs: bool,
        model: Model | None = None,
        checker: Checker | None = None,
        opened: ExitStack | None = None,
        batch: Batching | None = None,
        hangs: float | None = None,
    ) -> None:
        self._server = server
        self._read = read
        self._criterion = criterion
        self._crashes = crashes
        self._proofs = proofs
        self._model = model
        self._checker = checker
        self._opened = ExitStack() if opened is None else opened
        self._batch = batch
        self._hangs = hangs
        self._queue: list[_Waiting] = []
        self._known: list[Finished] = []
        self._played: dict[int, _Waiting] = {}  # alone, by ticket
        self._trusted: set[bytes] = set()
        """The texts that were taken to fail alone, without a replay."""
        self.runs = 0
        self._reach = Reach()

    @property
    def free(self) -> int:
        if self._batch is not None:
            return max(0, MOST_TOGETHER - len(self._queue) - len(self._known))
        return self._server.free - len(self._known)

    @property
    def steady(self) -> bool:
        """Whether a replay by itself always ends in the same way: all but hangs do.

        Each begins in the same memory.
        """
        return self._server.native and self._batch is not None and self._hangs is None

    def lookahead(self, text: bytes) -> int:
        """Return how many candidates of this size share a replay; fewer if they end early."""
        if self._batch is None or self._crashes.trust.lost:
            return 1
        most = min(MOST_TOGETHER, self._reach.traces)
        return max(1, min(most, _LOOKAHEAD_CALLS // (text.count(b"\n") + 1)))

    def submit(self, ticket: int, text: bytes, limits: Limits) -> None:
        """Start a check of `text`; `ticket` is a number of the caller's, not in use.

        With a batch, it is read when its turn has come: most are cancelled before.
        """
        waiting = _Waiting(ticket, text, limits)
        if self._batch is not None:
            self._queue.append(waiting)
        elif self._has_to_be_played(waiting):
            self._start(waiting)

    def _has_to_be_played(self, waiting: _Waiting) -> bool:
        """Read a trace, unless that was done; if its verdict is known, finish the check."""
        ticket, text = waiting.ticket, waiting.text
        if not waiting.calls:
            try:
                waiting.calls = self._read(text)
            except ParseError as error:
                self._know(ticket, Outcome(PARSE, None, b"", str(error).encode(), None, 0.0))
                return False
            # Once: who asks again, as at the end of a reduction, gets a replay of full length.
            if self._hangs is not None and self._crashes.first_look(text):
                waiting.limits = waiting.limits._replace(cpu=self._hangs)
        calls = waiting.calls
        known = self._crashes.proof(text, calls) if self._proofs else None
        if known is not None:
            self._know(ticket, known.as_outcome())
            return False
        shares = self._batch is not None
        if not calls or (shares and key_of(calls) in self._crashes.passed):
            self._know(ticket)
            return False
        return True

    def wait(self, timeout: float | None = None) -> list[Finished]:
        if self._batch is not None and self._queue and not (self._known or self._played):
            self._play_queue(self._batch)
        finished, self._known = self._known, []
        # What is looked ahead for shall not depend on what ends meanwhile.
        if finished and self._batch is not None:
            return finished
        for ticket, replayed in self._server.wait(0 if finished else timeout):
            waiting = self._played.pop(ticket)
            replayed = self._checked(waiting.calls, replayed)
            self._note_time(replayed)
            if self._starved(waiting, replayed):
                waiting.again = True
                wall = _PATIENCE * (waiting.limits.wall or 0)
                waiting.limits = waiting.limits._replace(wall=wall)
                self._start(waiting)
                continue
            if self._batch and (waiting.confirms or digest(waiting.text) in self._trusted):
                self._crashes.trust.note(again=self._batch.wanted(replayed))
            judged = self._judged(waiting, replayed)
            passed = replayed.kind == "ok"
            self._reach.note(int(passed), stray=not (passed or judged.interesting))
            finished.append(judged)
        return finished

    def cancel(self, ticket: int) -> None:
        self._known = [done for done in self._known if done.ticket != ticket]
        self._queue = [each for each in self._queue if each.ticket != ticket]
        self._played.pop(ticket, None)
        self._server.cancel(ticket)

    def close(self) -> None:
        self._known.clear()
        self._queue.clear()
        self._server.close()
        self._opened.close()

    def count_run(self) -> None:
        """Count a replay that somebody else has made for the same reduction."""
        self.runs += 1

    def _start(self, waiting: _Waiting) -> None:
        self.runs += 1
        self._played[waiting.ticket] = waiting
        self._server.submit(waiting.ticket, waiting.calls, waiting.limits)

    def _play_queue(self, batch: Batching) -> None:
        """Play as many of the waiting checks as fit, and take the verdict on each."""
        # Only the first one has a fresh process; so if another one seems to fail as wanted, it
        # is played once more by itself. What comes after it was not played, and goes on waiting.
        together = self._together(batch)
        # A single one is played as it is, so that its verdict needs no confirmation.
        if len(together) < 2:
            for each in together:
                self._start(each)
            return
        limits = batch.limits(together[0].limits)

        def replay(calls: Sequence[Call]) -> ReplayOutcome:
            self.runs += 1
            return self._checked(calls, self._server.replay(calls, limits))

        joint = play_together([each.calls for each in together], batch.release, replay)
        self._note_time(joint.outcome)
        for each in together[: joint.passed]:
            self._crashes.passed.add(key_of(each.calls))
            self._know(each.ticket)
        stray = joint.ended is not None and self._take_last(
            batch, together[joint.passed], joint, joint.ended
        )
        self._queue[:0] = together[joint.passed + 1 :]
        self._reach.note(joint.passed, stray=stray, late=joint.outcome.kind == "timeout")

    def _take_last(
        self, batch: Batching, last: _Waiting, joint: Joint, ended: ReplayOutcome
    ) -> bool:
        """Record how the check `ended` in which a shared replay did.

        Return whether that was in another way than wanted.
        """
        after = joint.passed > 0
        if joint.released or (after and not batch.wanted(ended)):
            # The solver died when it was taken down, or else of something that may be the doing
            # of those before: it is no failure to keep.
            self._know(last.ticket)
            return True
        # A timeout of many traces says nothing of one, which has a limit of its own.
        if (after and not self._crashes.trust.earned) or (
            ended.kind == "timeout" and self._hangs is None
        ):
            last.confirms = after
            self._start(last)
            return False
        if after:
            self._trusted.add(digest(last.text))
        judged = self._judged(last, ended)
        self._known.append(judged)
        return not judged.interesting

    def _together(self, batch: Batching) -> list[_Waiting]:
        """Take from the queue what one replay plays; nothing if all verdicts are known."""
        found: list[_Waiting] = []
        size = 0
        while self._queue:
            each = self._queue.pop(0)
            if not self._has_to_be_played(each):
                continue
            size += len(each.calls) + 1
            separable = batch.separable(each.calls)
            if found and (size > CALLS_TOGETHER or not separable):
                self._queue.insert(0, each)
                break
            found.append(each)
            if self._crashes.trust.lost or not separable:
                break
        return found

    def _judged(self, waiting: _Waiting, replayed: ReplayOutcome) -> Finished:
        text, calls = waiting.text, waiting.calls
        outcome = replayed.as_outcome()
        # A failure after a broken contract is not a fault of the library.
        fails = (
            replayed.kind in ("signal", "exit")
            or (replayed.kind == "timeout" and self._hangs is not None)
            or (replayed.kind == "mismatch" and self._checker is not None)
        )
        judged = verdict(self._criterion, [outcome])
        if (
            judged
            and fails
            and self._model is not None
            and not was_lawful(self._model, calls, replayed)
        ):
            judged = False
        else:
            self._crashes.remember(text, calls, replayed)
        return Finished(waiting.ticket, judged, (outcome,))

    def _checked(self, calls: Sequence[Call], replayed: ReplayOutcome) -> ReplayOutcome:
        """Return how a replay ended, its answers checked if they are."""
        return replayed if self._checker is None else self._checker.judged(calls, replayed)

    def _note_time(self, replayed: ReplayOutcome) -> None:
        """Wait longer for a hang, if what does not hang takes nearly as long."""
        if self._hangs is not None and replayed.kind == "ok":
            self._hangs = max(self._hangs, _SLOWER * replayed.cpu)

    def _starved(self, waiting: _Waiting, replayed: ReplayOutcome) -> bool:
        """Return whether time was up because the machine was busy."""
        # A replay does not sleep. One that has used little CPU time has not had its turn.
        wall = waiting.limits.wall
        # Once is enough: on a machine that stays that busy, a hang would never end.
        if replayed.kind != "timeout" or wall is None or waiting.again:
            return False
        if self._hangs is not None or self._criterion.wall is not None:
            return False
        return replayed.cpu < wall / 2

    def _know(self, ticket: int, outcome: Outcome | None = None) -> None:
        """Finish a check without a replay of its own: by an outcome, or as not interesting."""
        outcomes = () if outcome is None else (outcome,)
        judged = outcome is not None and verdict(self._criterion, [outcome])
        self._known.append(Finished(ticket, judged, outcomes))
