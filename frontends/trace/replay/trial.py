"""Trials: a trace is made, played while it is made, and what the solver answered is checked.

One replay is enough: a copy of the process is asked for models and cores, so that the
trace knows nothing of it. What seems to be wrong is looked at again by `answers.AnswerChecker`,
as a reduction does.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

from reducekit.executors.executor import Closing
from reducekit.frontends.trace.calls import Call, Value
from reducekit.frontends.trace.generate import Generated, Generator
from reducekit.frontends.trace.replay.answers import (
    SAT,
    UNSAT,
    AnswerChecker,
    Formula,
    Wrong,
    core_of,
    names_of,
    queries,
    satisfied,
)
from reducekit.frontends.trace.replay.client import DEFAULT_LIMITS, ReplayServer
from reducekit.frontends.trace.replay.faults import Patch
from reducekit.frontends.trace.replay.libraries import Library
from reducekit.frontends.trace.replay.live import Asked, LiveReplay
from reducekit.frontends.trace.replay.outcome import ReplayOutcome
from reducekit.oracle.limits import Limits

_FORMULAS = 200  # that a process of the other solver takes, one after the other
_SPARE = 1 << 16  # bytes of records besides those of clauses and assumptions


@dataclass(frozen=True, slots=True)
class Trial:
    """A trace that was made and played; `checked` says whether its answers were checked."""

    made: Generated
    outcome: ReplayOutcome
    checked: bool = False
    wrong: Wrong | None = None


class Trials(Closing):
    """Makes and plays traces of a library, with `patch` applied to it; use it in a `with`.

    `reference` plays the API `ipasir`, and has to agree on what is unsatisfiable; None:
    answers are not checked. Raises UsageError if a library cannot be used.
    """

    def __init__(
        self,
        generator: Generator,
        library: Library,
        *,
        patch: Patch | None = None,
        reference: Library | None = None,
        limits: Limits = DEFAULT_LIMITS,
    ) -> None:
        self._generator = generator
        self._library = library
        self._patch = patch
        self._reference = reference
        self._limits = limits
        self._api = library.interface.api
        self._checks = reference is not None and bool(names_of(self._api))
        self._checker: AnswerChecker | None = None
        with ExitStack() as opened:
            self._live = opened.enter_context(LiveReplay(library, patch=patch))
            self._other = None
            if reference is not None and self._checks:
                self._other = opened.enter_context(_Other(reference, limits))
            self._stack = opened.pop_all()

    def run(self, seed: int) -> Trial:
        """Make the trace of a seed, play it, and check its answers."""
        self._live.begin(self._limits)
        if not self._checks:
            made = self._generator.generate(seed, self._live.play)
            return Trial(made, self._live.finish())
        watched = _Watched(self._live, Formula(self._api), names_of(self._api))
        made = self._generator.generate(seed, watched.play)
        outcome = self._live.finish()
        if outcome.kind != "ok":
            return Trial(made, outcome)
        wrong = None
        if not self._right(watched):
            wrong = self._again().check(made.calls, outcome.results)
        return Trial(made, outcome, True, wrong)

    def close(self) -> None:
        """End all servers."""
        self._stack.close()

    def _right(self, watched: _Watched) -> bool:
        """Say whether all answers are right; not if anything is unknown."""
        literals = watched.formula.literals
        for solve, (asked, about) in zip(watched.formula.rounds, watched.asked, strict=True):
            said = None if asked is None else self._live.answer(asked)
            if about and said is None:
                return False
            if solve.answer == SAT:
                if not satisfied(literals[: solve.end], solve, about, said or ()):
                    return False
            elif self._other is None or not self._other.unsatisfiable(
                literals[: solve.end], core_of(solve, about, said or ())
            ):
                return False
        return True

    def _again(self) -> AnswerChecker:
        """Return what checks a whole trace by further replays; it is seldom needed."""
        if self._checker is None:
            assert self._reference is not None
            server = self._stack.enter_context(ReplayServer(self._library, patch=self._patch))
            reference = self._stack.enter_context(ReplayServer(self._reference))
            self._checker = AnswerChecker(self._api, server, reference, self._limits)
        return self._checker


class _Watched:
    """A trace that is played: notes what is asked of the solver, and asks for its reasons.

    `asked` has for each solve what was asked (None: nothing), and of which literals.
    """

    def __init__(self, live: LiveReplay, formula: Formula, names: Mapping[str, str]) -> None:
        self.live = live
        self.formula = formula
        self.asked: list[tuple[Asked | None, list[int]]] = []
        self._names = names
        self._played = 0

    def play(self, calls: Sequence[Call]) -> Sequence[Value | None]:
        """Play calls."""
        results = self.live.play(calls)
        if len(results) < len(calls):
            return results
        self._played += len(calls)
        self.formula.take(calls, results)
        for solve in self.formula.rounds[len(self.asked) :]:
            name, about = queries(solve, self.formula.literals, self._names)
            asked = None
            if about and solve.index == self._played - 1:  # else there is no asking any more
                asked = self.live.ask(name, about)
            self.asked.append((asked, about))
        return results


class _Other(Closing):
    """Another solver; many formulas are asked in the same process, a new object for each."""

    def __init__(self, library: Library, limits: Limits) -> None:
        self._live = LiveReplay(library)
        # A process waits for formulas: only its work is limited.
        self._limits = replace(limits, wall=None)
        self._left = 0

    def unsatisfiable(self, literals: Sequence[int], assumed: Sequence[int]) -> bool:
        """Say whether it takes clauses and assumptions for unsatisfiable; not if it cannot tell."""
        live = self._live
        room = 4 * len(literals) + 64 * len(assumed) + _SPARE
        if not self._left or live.outcome is not None or live.room < room:
            live.begin(self._limits)
            self._left = _FORMULAS
            if live.room < room:
                return False
        self._left -= 1
        live.put([Call("init", ())])
        live.each("add", array("i", literals))
        asked = [*(Call("assume", (literal,)) for literal in assumed), Call("solve", ())]
        results = live.play([*asked, Call("release", ())])
        return len(results) == len(asked) + 1 and results[len(asked) - 1] == UNSAT

    def close(self) -> None:
        """End the process."""
        self._live.close()
