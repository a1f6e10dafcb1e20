"""Checks by replay that remember in which call each one ended, and what that proves."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace

from reducekit.errors import ParseError
from reducekit.executors.executor import Executor, Finished
from reducekit.frontends.trace.calls import Call
from reducekit.frontends.trace.model import Model
from reducekit.frontends.trace.replay.client import ReplayServer
from reducekit.frontends.trace.replay.lawful import was_lawful
from reducekit.frontends.trace.replay.outcome import PARSE, ReplayOutcome
from reducekit.oracle.criterion import Criterion, verdict
from reducekit.oracle.limits import Limits
from reducekit.oracle.outcome import Outcome

_ENDED = ("signal", "exit", "mismatch")
_MOST = 4096  # proofs that are kept
_PATIENCE = 10  # times the wall limit for a replay that did not get to run


class Crashes:
    """In which call the replays of texts ended, by text.

    A trace whose replay died in call k proves that its first k + 1 calls by
    themselves do: the library saw no more of it. Such a proof is used once, in
    place of a replay; whoever asks again gets a replay. `replay`, if given,
    plays a text of which nothing is known.
    """

    def __init__(
        self, replay: Callable[[bytes], tuple[Sequence[Call], ReplayOutcome]] | None = None
    ) -> None:
        self._replay = replay
        self._last: dict[bytes, int | None] = {}
        self._proofs: dict[bytes, ReplayOutcome] = {}
        self._used: set[bytes] = set()

    def last(self, text: bytes) -> int | None:
        """Return the index of the call in which the replay of a text ended; None if not known."""
        key = _digest(text)
        if key not in self._last and self._replay is not None:
            self._last[key] = None
            self.remember(text, *self._replay(text))
        return self._last.get(key)

    def remember(self, text: bytes, calls: Sequence[Call], outcome: ReplayOutcome) -> None:
        """Take in how a replay ended."""
        if outcome.kind not in _ENDED or outcome.last_call < 0:
            return
        self._last[_digest(text)] = outcome.last_call
        if outcome.last_call + 1 == len(calls):
            return
        key = _key(calls[: outcome.last_call + 1])
        if key not in self._used:
            if len(self._proofs) >= _MOST:
                self._proofs.pop(next(iter(self._proofs)))
            self._proofs[key] = outcome

    def proof(self, text: bytes, calls: Sequence[Call]) -> ReplayOutcome | None:
        """Return how the replay of a text has to end, once, if an earlier one shows it."""
        key = _key(calls)
        outcome = self._proofs.pop(key, None)
        if outcome is not None:
            self._used.add(key)
            self._last[_digest(text)] = outcome.last_call
        return outcome


class CrashExecutor(Executor):
    """Checks traces by replay.

    `runs` counts the replays. With `proofs`, what an earlier replay proves is
    not replayed. A replay in which a call was made that `model` does not allow
    after what the calls before it returned is not interesting, however it ended;
    without a model none is refused. The server is closed with the executor.
    """

    def __init__(
        self,
        server: ReplayServer,
        read: Callable[[bytes], Sequence[Call]],
        criterion: Criterion,
        crashes: Crashes,
        *,
        proofs: bool,
        model: Model | None = None,
    ) -> None:
        self._server = server
        self._read = read
        self._criterion = criterion
        self._crashes = crashes
        self._proofs = proofs
        self._model = model
        self._known: list[Finished] = []
        self._texts: dict[int, tuple[bytes, Sequence[Call], Limits]] = {}
        self._again: set[int] = set()
        self.runs = 0

    @property
    def free(self) -> int:
        """How many checks may be submitted now."""
        return self._server.free - len(self._known)

    def submit(self, ticket: int, text: bytes, limits: Limits) -> None:
        """Start a check of `text`; `ticket` is a number of the caller's, not in use."""
        try:
            calls = self._read(text)
        except ParseError as error:
            self._know(ticket, Outcome(PARSE, None, b"", str(error).encode(), None, 0.0))
            return
        known = self._crashes.proof(text, calls) if self._proofs else None
        if known is not None:
            self._know(ticket, known.as_outcome())
            return
        self.runs += 1
        self._texts[ticket] = text, calls, limits
        self._server.submit(ticket, calls, limits)

    def wait(self, timeout: float | None = None) -> list[Finished]:
        """Wait for at least one check to finish, at most `timeout` seconds; return all finished."""
        finished, self._known = self._known, []
        for ticket, replayed in self._server.wait(0 if finished else timeout):
            text, calls, limits = self._texts.pop(ticket)
            if self._starved(ticket, replayed, limits):
                self._again.add(ticket)
                patient = replace(limits, wall=_PATIENCE * (limits.wall or 0))
                self.runs += 1
                self._texts[ticket] = text, calls, patient
                self._server.submit(ticket, calls, patient)
                continue
            self._again.discard(ticket)
            outcome = replayed.as_outcome()
            judged = verdict(self._criterion, [outcome])
            if judged and not self._lawful(calls, replayed):
                judged = False
            else:
                self._crashes.remember(text, calls, replayed)
            finished.append(Finished(ticket, judged, (outcome,)))
        return finished

    def cancel(self, ticket: int) -> None:
        """End a check and forget it; one that is not running is ignored."""
        self._known = [done for done in self._known if done.ticket != ticket]
        self._texts.pop(ticket, None)
        self._again.discard(ticket)
        self._server.cancel(ticket)

    def close(self) -> None:
        """End all checks."""
        self._known.clear()
        self._server.close()

    def _starved(self, ticket: int, replayed: ReplayOutcome, limits: Limits) -> bool:
        """Say whether time was up because the machine was busy: it is to be played once more.

        A replay does not sleep. One that has used little CPU time has not had its turn.
        """
        if replayed.kind != "timeout" or limits.wall is None or ticket in self._again:
            return False
        return self._criterion.wall is None and replayed.cpu < limits.wall / 2

    def _lawful(self, calls: Sequence[Call], replayed: ReplayOutcome) -> bool:
        ended = replayed.kind in ("signal", "exit")
        return self._model is None or not ended or was_lawful(self._model, calls, replayed)

    def _know(self, ticket: int, outcome: Outcome) -> None:
        self._known.append(Finished(ticket, verdict(self._criterion, [outcome]), (outcome,)))


def _digest(text: bytes) -> bytes:
    return hashlib.blake2b(text, digest_size=16).digest()


def _key(calls: Sequence[Call]) -> bytes:
    """Stand for the calls as they are played: what they returned does not matter."""
    played = [(call.name, call.arguments) for call in calls if call.name != "return"]
    return hashlib.blake2b(repr(played).encode(), digest_size=16).digest()
