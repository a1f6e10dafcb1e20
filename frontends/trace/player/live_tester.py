"""LiveTester: makes a trace, plays it while it is made, and checks what the solver answered."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from reducekit.frontends.trace.generate.generator import Generated, Generator
from reducekit.frontends.trace.language.calls import Call
from reducekit.frontends.trace.player.checker import Checked, Checker, Reference, Wrong, checker_of
from reducekit.frontends.trace.player.faults import Patch
from reducekit.frontends.trace.player.libraries import Library
from reducekit.frontends.trace.player.live_replay import LiveReplay
from reducekit.frontends.trace.player.outcome import ReplayOutcome
from reducekit.frontends.trace.player.server_pool import ReplayServer
from reducekit.frontends.trace.player.session import DEFAULT_LIMITS
from reducekit.run import Closing, Limits


@dataclass(frozen=True, slots=True)
class Trial:
    """A trace that was made and played; `checked` says whether its answers were checked."""

    made: Generated
    outcome: ReplayOutcome
    checked: bool = False
    wrong: Wrong | None = None


class LiveTester(Closing):
    """Makes and plays traces of a library, with `patch` applied to it; use it in a `with`.

    `reference` has to agree with the answers (if it is a library, it plays the API `ipasir`); None:
    answers are not checked. Raises UsageError if a library cannot be used.
    """

    def __init__(
        self,
        generator: Generator,
        library: Library,
        *,
        patch: Patch | None = None,
        reference: Reference | None = None,
        limits: Limits = DEFAULT_LIMITS,
    ) -> None:
        self._generator = generator
        self._limits = limits
        self._checker: Checker | None = None
        with ExitStack() as opened:
            self._live = opened.enter_context(LiveReplay(library, patch=patch))
            self._server = opened.enter_context(ReplayServer(library, patch=patch))
            if reference is not None:
                api = library.interface.api
                self._checker = checker_of(api, reference, self._server, limits, opened)
            self._stack = opened.pop_all()

    def run(self, seed: int) -> Trial:
        """Make the trace of a seed, play it, and check its answers if it passes."""
        self._live.begin(self._limits)
        made = self._generator.generate(seed, self._live.play)
        outcome = self._live.finish()
        found = self._checked(made.calls, outcome)
        wrong = found if isinstance(found, Wrong) else None
        return Trial(made, outcome, found != "unknown", wrong)

    def replay(self, calls: Sequence[Call]) -> tuple[ReplayOutcome, Checked]:
        """Play a whole trace, and check its answers if it passes."""
        outcome = self._server.replay(calls, self._limits)
        return outcome, self._checked(calls, outcome)

    def _checked(self, calls: Sequence[Call], outcome: ReplayOutcome) -> Checked:
        if self._checker is None or outcome.kind != "ok":
            return "unknown"
        return self._checker.check(calls, outcome.results)

    def close(self) -> None:
        self._stack.close()
