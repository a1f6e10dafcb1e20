"""Remembers in which call replays ended, and what that proves about other traces."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence

from reducekit.frontends.trace.language.calls import Call
from reducekit.frontends.trace.player.batch import Passed, Trust, key_of
from reducekit.frontends.trace.player.outcome import ReplayOutcome

ENDED = ("signal", "exit", "mismatch", "timeout")
"""Ends of a replay that belong to a call."""
_MOST = 4096  # proofs that are kept


class CrashCache:
    """The call in which the replay of each text ended.

    If the replay of a trace died in call k, its first k + 1 calls alone also die:
    the library saw nothing else. Such a proof replaces a replay once; further
    requests are replayed. `replay`, if given, plays a text that is not cached.
    """

    def __init__(
        self, replay: Callable[[bytes], tuple[Sequence[Call], ReplayOutcome]] | None = None
    ) -> None:
        self._replay = replay
        self._last: dict[bytes, int | None] = {}
        self._proofs: dict[int, ReplayOutcome] = {}
        self._used: set[int] = set()
        self._looked_at: set[bytes] = set()
        self.trust = Trust()
        """Whether a trace that fails after others in a process also fails alone."""
        self.passed = Passed()
        """What passed when traces shared a replay."""

    def last(self, text: bytes) -> int | None:
        """Return the index of the call in which the replay of a text ended; None if not known."""
        key = digest(text)
        if key not in self._last and self._replay is not None:
            self._last[key] = None
            self.remember(text, *self._replay(text))
        return self._last.get(key)

    def remember(self, text: bytes, calls: Sequence[Call], outcome: ReplayOutcome) -> None:
        """Take in how a replay ended."""
        if outcome.kind not in ENDED or outcome.last_call < 0:
            return
        self._last[digest(text)] = outcome.last_call
        if outcome.last_call + 1 == len(calls):
            return
        key = key_of(calls[: outcome.last_call + 1])
        if key not in self._used:
            self._keep(key, outcome)

    def prove(self, calls: Sequence[Call], outcome: ReplayOutcome) -> None:
        """Take in how a replay ended that somebody has made who is about to ask for it again."""
        if outcome.kind in ENDED:
            self._keep(key_of(calls), outcome)

    def first_look(self, text: bytes) -> bool:
        """Return whether nobody has asked this of a text before."""
        key = digest(text)
        known = key in self._looked_at
        self._looked_at.add(key)
        return not known

    def _keep(self, key: int, outcome: ReplayOutcome) -> None:
        if len(self._proofs) >= _MOST:
            self._proofs.pop(next(iter(self._proofs)))
        self._proofs[key] = outcome

    def proof(self, text: bytes, calls: Sequence[Call]) -> ReplayOutcome | None:
        """Return how the replay of a text has to end, once, if an earlier one shows it."""
        key = key_of(calls)
        outcome = self._proofs.pop(key, None)
        if outcome is not None:
            self._used.add(key)
            self._last[digest(text)] = outcome.last_call
        return outcome


def digest(text: bytes) -> bytes:
    """Return 128 bits that stand for a text."""
    return hashlib.blake2b(text, digest_size=16).digest()
