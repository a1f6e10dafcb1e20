"""LiveTester: makes a trace, plays it while it is made, and checks what the solver answered.

One replay is enough: of a SAT solver, a copy of the process is asked for models and cores, which
leaves the trace as it is. What seems to be wrong is checked again by a `checker.Checker`, as a
reduction does.

Some traces share a process, one after the other, as a process of its own would cost a third of a
short one's time. A trace that is not the first of its process and fails is made and played again
in a process of its own, and that outcome counts: so a failure is that of one seed, and its trace
shows it by itself. Only if it does not fail again there, and the process has died, all traces of
the process are the failing one: they are legal together.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

from reducekit.frontends.trace.formats.rounds import names_of
from reducekit.frontends.trace.generate.generator import Generated, Generator
from reducekit.frontends.trace.language.calls import Call, Value
from reducekit.frontends.trace.player import answers
from reducekit.frontends.trace.player.checker import Checked, Checker, Reference, Wrong, checker_of
from reducekit.frontends.trace.player.faults import Patch
from reducekit.frontends.trace.player.libraries import Library
from reducekit.frontends.trace.player.live_replay import LiveReplay, PendingQuery
from reducekit.frontends.trace.player.outcome import ReplayOutcome
from reducekit.frontends.trace.player.server_pool import ReplayServer
from reducekit.frontends.trace.player.session import DEFAULT_LIMITS
from reducekit.run import Closing, Limits

_FORMULAS = 200  # that a process of the other solver takes, one after the other
# Traces that share a process: by then the cost of a process does not matter any more.
TOGETHER = 10
_SPARE = 1 << 16  # bytes of records besides those of clauses and assumptions


@dataclass(frozen=True, slots=True)
class Trial:
    """A trace that was made and played; `checked` says whether its answers were checked.

    `company` is how many other traces `made` begins with, those of the seeds just before: 0
    unless the process dies of all of them, and not of the last one alone.
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
        self._opened: tuple[ReplayServer, Checker | None] | None = None
        self._row = self._next = 0  # the first seed of a row of them, and the next
        with ExitStack() as opened:
            self._live = opened.enter_context(LiveReplay(library, patch=patch, together=TOGETHER))
            self._other = None
            if isinstance(reference, Library):
                self._other = opened.enter_context(_Other(reference, limits))
            self._stack = opened.pop_all()

    def run(self, seed: int) -> Trial:
        """Make the trace of a seed, play it, and check its answers.

        Groups of consecutive seeds share a process, counted from the first one: so what is found
        does not depend on what else was run.
        """
        live = self._live
        if seed != self._next:
            self._row = seed
        self._next = seed + 1
        live.begin(self._limits, alone=(seed - self._row) % TOGETHER == 0)
        trial, right = self._played(seed)
        if right and (not live.company or trial.outcome.kind == "ok"):
            return trial
        together = None
        if live.company:
            # It may be the doing of a trace before it: what counts is how it ends alone.
            if right and trial.outcome.kind in ("signal", "exit"):
                calls, outcome = live.together()
                made = Generated(tuple(calls), ((0, outcome.results),), trial.made.whole)
                together = Trial(made, outcome, company=live.company)
            live.begin(self._limits, alone=True)
            trial, right = self._played(seed)
        if not right:
            return self._checked(trial)
        return trial if together is None or trial.outcome.kind != "ok" else together

    def _played(self, seed: int) -> tuple[Trial, bool]:
        """Make and play a trace that was begun; also return whether no answer may be wrong."""
        watched = None
        if self._other is not None:
            watched = _Watched(self._live, answers.Formula(self._api), names_of(self._api))
        made = self._generator.generate(seed, (watched or self._live).play)
        outcome = self._live.finish()
        if self._reference is None or outcome.kind != "ok":
            return Trial(made, outcome), True
        trial = Trial(made, outcome, True)
        if watched is not None:
            return trial, self._right(watched)
        trial = self._checked(trial)
        return trial, trial.wrong is None

    def _checked(self, trial: Trial) -> Trial:
        """Check the answers of a trace by further replays, or by another solver."""
        _, checker = self._replays()
        assert checker is not None
        found = checker.check(trial.made.calls, trial.outcome.results)
        wrong = found if isinstance(found, Wrong) else None
        return replace(trial, checked=found != "unknown", wrong=wrong)

    def replay(self, calls: Sequence[Call]) -> tuple[ReplayOutcome, Checked]:
        """Play a whole trace in a process of its own, and check its answers if it passes."""
        server, checker = self._replays()
        outcome = server.replay(calls, self._limits)
        if checker is None or outcome.kind != "ok":
            return outcome, "unknown"
        return outcome, checker.check(calls, outcome.results)

    def _replays(self) -> tuple[ReplayServer, Checker | None]:
        if self._opened is None:
            server = self._stack.enter_context(ReplayServer(self._library, patch=self._patch))
            checker = None
            if self._reference is not None:
                checker = checker_of(self._api, self._reference, server, self._limits, self._stack)
            self._opened = server, checker
        return self._opened

    def close(self) -> None:
        self._stack.close()

    def _right(self, watched: _Watched) -> bool:
        """Return whether all answers are right; False if anything is unknown."""
        literals = watched.formula.literals
        for solve, (asked, about) in zip(watched.formula.rounds, watched.asked, strict=True):
            said = None if asked is None else self._live.answer(asked)
            if about and said is None:
                return False
            if solve.answer == answers.SAT:
                if not answers.satisfied(literals[: solve.end], solve, about, said or ()):
                    return False
            elif self._other is None or not self._other.unsatisfiable(
                literals[: solve.end], answers.core_of(solve, about, said or ())
            ):
                return False
        return True


class _Watched:
    """A trace that is played: notes what is asked of the solver, and asks for its reasons.

    `asked` has for each solve what was asked (None: nothing), and the literals.
    """

    def __init__(
        self, live: LiveReplay, formula: answers.Formula, names: Mapping[str, str]
    ) -> None:
        self.live = live
        self.formula = formula
        self.asked: list[tuple[PendingQuery | None, list[int]]] = []
        self._names = names
        self._played = 0

    def play(self, calls: Sequence[Call]) -> Sequence[Value | None]:
        results = self.live.play(calls)
        if len(results) < len(calls):
            return results
        self._played += len(calls)
        self.formula.take(calls, results)
        # A copy is asked at once: the model is gone with the next call.
        for solve in self.formula.rounds[len(self.asked) :]:
            name, about = answers.queries(solve, self.formula.literals, self._names)
            asked = None
            if about and solve.index == self._played - 1:  # else there is no asking any more
                asked = self.live.ask(name, about)
            self.asked.append((asked, about))
        return results


class _Other(Closing):
    """Another solver; many formulas are asked in the same process, a new object for each."""

    def __init__(self, library: Library, limits: Limits) -> None:
        self._live = LiveReplay(library)
        # A process waits for formulas: only its work is limited, that of each by `_wall`.
        self._limits = limits._replace(wall=None)
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
        # The clauses go by as numbers: a record for each literal would take eight times the room.
        self._left -= 1
        live.put([Call("init", ())])
        live.each("add", array("i", literals))
        asked = [*(Call("assume", (literal,)) for literal in assumed), Call("solve", ())]
        results = live.play([*asked, Call("release", ())], wall=self._wall)
        return len(results) == len(asked) + 1 and results[len(asked) - 1] == answers.UNSAT

    def close(self) -> None:
        self._live.close()
