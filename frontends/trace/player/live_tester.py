"""LiveTester: a trace is made, played while it is made, and what the solver answered is checked.

One replay is enough: of a SAT solver, a copy of the process is asked for models and cores, so that
the trace knows nothing of it. What seems to be wrong is looked at again by a `checker.Checker`,
as a reduction does.

Some traces share a process, one after the other, as a process of its own would cost a third
of a short one's time. Whatever is not in order about a trace that was not the first is made
and played again in a process of its own, and that is what counts: so a failure is that
of one seed, and its trace shows it by itself. Only where it does not fail again there, and
the process has died, are all traces of the process the failing one: they are legal together.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

from reducekit.executors.executor import Closing
from reducekit.frontends.trace.formats.convert import names_of
from reducekit.frontends.trace.generate.generator import Generated, Generator
from reducekit.frontends.trace.language.calls import Call, Value
from reducekit.frontends.trace.player.answers import (
    SAT,
    UNSAT,
    Formula,
    Round,
    core_of,
    queries,
    satisfied,
)
from reducekit.frontends.trace.player.checker import Checker, Reference, Wrong, checker_of
from reducekit.frontends.trace.player.faults import Patch
from reducekit.frontends.trace.player.libraries import Library
from reducekit.frontends.trace.player.live_replay import LiveReplay, PendingQuery
from reducekit.frontends.trace.player.outcome import ReplayOutcome
from reducekit.frontends.trace.player.server_pool import ReplayServer
from reducekit.frontends.trace.player.session import DEFAULT_LIMITS
from reducekit.oracle.limits import Limits

_FORMULAS = 200  # that a process of the other solver takes, one after the other
TOGETHER = 10
"""Traces that share a process: by then the cost of a process does not matter any more."""
_SPARE = 1 << 16  # bytes of records besides those of clauses and assumptions


@dataclass(frozen=True, slots=True)
class Trial:
    """A trace that was made and played; `checked` says whether its answers were checked.

    `company` is how many other traces `made` begins with, those of the seeds just before:
    not 0 only where the process dies of them all, and not of the last one alone.
    """

    made: Generated
    outcome: ReplayOutcome
    checked: bool = False
    wrong: Wrong | None = None
    company: int = 0


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
        self._library = library
        self._patch = patch
        self._reference = reference
        self._limits = limits
        self._api = library.interface.api
        self._checker: Checker | None = None
        self._last: Trial | None = None
        self._row = self._next = 0  # the first seed of a row of them, and the next
        with ExitStack() as opened:
            self._live = opened.enter_context(LiveReplay(library, patch=patch, together=TOGETHER))
            self._other = None
            if isinstance(reference, Library):
                self._other = opened.enter_context(_Other(reference, limits))
            self._stack = opened.pop_all()

    def run(self, seed: int) -> Trial:
        """Make the trace of a seed, play it, and check its answers.

        Groups of consecutive seeds share a process, counted from the
        first one: so what is found does not depend on what else was run.
        """
        live = self._live
        if seed != self._next:
            self._row = seed
        self._next = seed + 1
        live.begin(self._limits, alone=(seed - self._row) % TOGETHER == 0)
        found = self._played(seed)
        if found is not None and (not live.company or found.outcome.kind == "ok"):
            return found
        if not live.company:
            return self._looked_at_again()
        together = None if found is None else self._together(found)
        live.begin(self._limits, alone=True)
        alone = self._played(seed)
        if alone is None:
            return self._looked_at_again()
        return alone if together is None or alone.outcome.kind != "ok" else together

    def _played(self, seed: int) -> Trial | None:
        """Make and play a trace that was begun; None if an answer is not known to be right."""
        watched = None
        if self._other is not None:
            watched = _Watched(self._live, Formula(self._api), names_of(self._api))
        made = self._generator.generate(seed, (watched or self._live).play)
        outcome = self._live.finish()
        if self._reference is None or outcome.kind != "ok":
            return Trial(made, outcome)
        self._last = Trial(made, outcome, True)
        if watched is not None:
            return self._last if self._right(watched) else None
        found = self._checked(self._last)
        return None if found.wrong else found

    def _looked_at_again(self) -> Trial:
        """Say what is wrong with the answers of the trace just played, if anything is."""
        assert self._last is not None, "no answers were checked"
        return self._checked(self._last)

    def _checked(self, trial: Trial) -> Trial:
        """Check the answers of a trace by further replays, or by another solver."""
        found = self._again().check(trial.made.calls, trial.outcome.results)
        wrong = found if isinstance(found, Wrong) else None
        return replace(trial, checked=found != "unknown", wrong=wrong)

    def _together(self, found: Trial) -> Trial | None:
        """Return all traces of the process that died as one; None if that is not how it ended."""
        if found.outcome.kind not in ("signal", "exit"):
            return None
        calls, outcome = self._live.together()
        made = Generated(tuple(calls), ((0, outcome.results),), found.made.whole)
        return Trial(made, outcome, company=self._live.company)

    def close(self) -> None:
        self._stack.close()

    def _right(self, watched: _Watched) -> bool:
        """Return whether all answers are right; not if anything is unknown."""
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

    def _again(self) -> Checker:
        """Return what checks a whole trace by further replays; it is seldom needed."""
        if self._checker is None:
            assert self._reference is not None
            server = self._stack.enter_context(ReplayServer(self._library, patch=self._patch))
            self._checker = checker_of(
                self._api, self._reference, server, self._limits, self._stack
            )
        return self._checker


class _Watched:
    """A trace that is played: notes what is asked of the solver, and asks for its reasons.

    `asked` has for each solve what was asked (None: nothing), and of which literals.
    """

    def __init__(self, live: LiveReplay, formula: Formula, names: Mapping[str, str]) -> None:
        self.live = live
        self.formula = formula
        self.asked: list[tuple[PendingQuery | None, list[int]]] = []
        self._names = names
        self._played = 0
        self._seen = 0  # literals of the clauses, and
        self._variables: set[int] = set()  # their variables

    def play(self, calls: Sequence[Call]) -> Sequence[Value | None]:
        """Play calls."""
        results = self.live.play(calls)
        if len(results) < len(calls):
            return results
        self._played += len(calls)
        self.formula.take(calls, results)
        for solve in self.formula.rounds[len(self.asked) :]:
            name, about = self._queries(solve)
            asked = None
            if about and solve.index == self._played - 1:  # else there is no asking any more
                asked = self.live.ask(name, about)
            self.asked.append((asked, about))
        return results

    def _queries(self, solve: Round) -> tuple[str, list[int]]:
        """Return what `queries` does, without another look at the clauses of the solve before."""
        if solve.answer != SAT:
            return queries(solve, self.formula.literals, self._names)
        self._variables.update(map(abs, self.formula.literals[self._seen : solve.end]))
        self._seen = solve.end
        return self._names["value"], sorted(self._variables.union(map(abs, solve.assumed)) - {0})


class _Other(Closing):
    """Another solver; many formulas are asked in the same process, a new object for each."""

    def __init__(self, library: Library, limits: Limits) -> None:
        self._live = LiveReplay(library)
        # A process waits for formulas: only its work is limited, that of each by `_wall`.
        self._limits = replace(limits, wall=None)
        self._wall = limits.wall
        self._left = 0

    def unsatisfiable(self, literals: Sequence[int], assumed: Sequence[int]) -> bool:
        """Return whether the library reports clauses and assumptions as UNSAT; False if unknown."""
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
        results = live.play([*asked, Call("release", ())], wall=self._wall)
        return len(results) == len(asked) + 1 and results[len(asked) - 1] == UNSAT

    def close(self) -> None:
        self._live.close()
