"""Checks the answers of a SAT solver in a trace: evaluates its models, and solves its cores again.

A model is correct if it satisfies every clause and assumption. An UNSAT answer is
correct if another solver agrees, on the clauses and the failed assumptions; if it
disagrees, its model is the proof, and is checked as well. So no solver is trusted
when it claims that another one is wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from reducekit.frontends.trace.formats.convert import (
    BY_BOOLEAN,
    DROP_ASSUMPTIONS,
    WHOLE,
    names_of,
)
from reducekit.frontends.trace.language.calls import Call, Value
from reducekit.frontends.trace.player.checker import Checked, Checker, Kind, Wrong
from reducekit.frontends.trace.player.outcome import ReplayOutcome
from reducekit.frontends.trace.player.server_pool import ReplayServer
from reducekit.oracle.limits import Limits

SAT, UNSAT = 10, 20
_FALSE, _TRUE = 1, 2
# What changes the formula in ways that are not followed here.
_BEYOND = frozenset(("lemma", "connect", "push", "pop", "cubing", "lookahead_cubes"))
_CONSTRAIN = "constrain"


@dataclass(frozen=True, slots=True)
class Round:
    """A solve: the index of its call, what was asked, and the answer.

    `end` is how many of the trace's literals there were. `simplifies` says that it
    only simplified, and need not have looked at the assumptions.
    """

    index: int
    end: int
    assumed: tuple[int, ...]
    answer: int
    simplifies: bool


class _Life(NamedTuple):
    """What a solver was asked from when it was made until it was taken down.

    `first` is the index in the trace of the first of its `calls`; the others as of `rounds_of`.
    """

    first: int
    calls: Sequence[Call]
    literals: list[int]
    rounds: list[Round]


class Formula:
    """What a trace has asked a solver: the literals of its clauses, and its solves.

    `literals` are those of all clauses, each clause ended by a 0; `rounds` the solves
    that were answered. Nothing is noted for an API that is not known, nor
    after calls that go beyond clauses and assumptions.
    """

    def __init__(self, api: str) -> None:
        self.literals: list[int] = []
        self.rounds: list[Round] = []
        self._names = names_of(api)
        self._add = self._names.get("add", "")
        self._whole = api == WHOLE
        solves = ("solve", "limited", "simplify")
        self._solves = [self._names[key] for key in solves if key in self._names]
        assume = self._names.get("assume", "")
        looked_at = (assume, "fixate", _CONSTRAIN, *DROP_ASSUMPTIONS, *self._solves, *_BEYOND)
        self._looked_at = frozenset(looked_at)
        self._constrained = False
        self._taken = 0
        self._assumed: list[int] = []
        self._solved = False
        self._followed = bool(self._names)

    def take(self, calls: Sequence[Call], results: Sequence[Value | None]) -> None:
        """Note calls that follow those before, and what they returned."""
        if not self._followed:
            return
        # Nearly all calls add literals: these are taken many at a time.
        first, begin = self._taken, 0
        self._taken += len(calls)
        looked_at = self._looked_at
        for index, call in enumerate(calls):
            if call.name in looked_at:
                self._add_literals(calls[begin:index])
                begin = index
                if call.name in _BEYOND:
                    self._followed = False
                    return
                self._note(call, first + index, results[index])
        self._add_literals(calls[begin:])

    def _add_literals(self, calls: Sequence[Call]) -> None:
        add = self._add
        if self._whole:
            given = (call.arguments for call in calls if call.name == add)
            added = [literal for clause in given for literal in (*clause, 0)]
        else:
            added = [call.arguments[0] for call in calls if call.name == add]
        if added:
            self._forget()
            self.literals += added  # type: ignore[arg-type]  # a call of this name takes a literal

    def _forget(self) -> None:
        """Assumptions hold for one solve."""
        if self._solved:
            self._assumed, self._solved = [], False

    def _note(self, call: Call, index: int, answer: Value | None) -> None:
        """Note a call other than that of a literal."""
        if call.name in self._solves:
            if self._solved:
                self._assumed = []
            self._solved = True
            if self._whole:
                self._assumed = list(call.arguments)  # type: ignore[arg-type]  # literals
                answer = BY_BOOLEAN.get(answer)
            constrained, self._constrained = self._constrained, False
            # A constraint holds for one solve: its part in a refutation is not looked at.
            if answer == SAT or (answer == UNSAT and not constrained):
                assert isinstance(answer, int)
                simplifies = call.name == self._names.get("simplify")
                assumed = tuple(self._assumed)
                round_ = Round(index, len(self.literals), assumed, answer, simplifies)
                self.rounds.append(round_)
        elif call.name == _CONSTRAIN:
            self._forget()
            self._constrained = True
        elif call.name in DROP_ASSUMPTIONS:
            self._assumed, self._solved = [], False
        elif call.name == "fixate":
            units = [each for literal in self._assumed for each in (literal, 0)]
            end = len(self.literals)
            while end and self.literals[end - 1]:
                end -= 1  # a clause is not closed yet
            self.literals[end:end] = units
        else:
            self._forget()
            literal = call.arguments[0]
            assert isinstance(literal, int)
            self._assumed.append(literal)


def rounds_of(
    calls: Sequence[Call], results: Sequence[Value | None], api: str
) -> tuple[list[int], list[Round]]:
    """Return the literals of a trace's clauses, and its solves that were answered.

    `results` are those of the calls.
    """
    formula = Formula(api)
    formula.take(calls[: len(results)], results)
    return formula.literals, formula.rounds


def queries(
    solve: Round, literals: Sequence[int], names: Mapping[str, str]
) -> tuple[str, list[int]]:
    """Return what has to be asked after a solve to check its answer: a call, and of what.

    `literals` are those of the clauses, up to the solve or further.
    """
    if solve.answer == SAT:
        variables = set(map(abs, literals[: solve.end]))
        variables.update(map(abs, solve.assumed))
        variables.discard(0)
        return names["value"], sorted(variables)
    return names["failed"], [] if solve.simplifies else sorted(set(solve.assumed))


class AnswerChecker(Checker):
    """Checks answers of the solver that `server` plays, with the help of `reference`.

    `reference` plays the API `ipasir`. The servers are not closed here.
    """

    def __init__(
        self, api: str, server: ReplayServer, reference: ReplayServer, limits: Limits
    ) -> None:
        self._api = api
        self._names = names_of(api)
        super().__init__(self._names["init"])
        self._server = server
        self._reference = reference
        self._limits = limits

    def check(self, calls: Sequence[Call], results: Sequence[Value | None]) -> Checked:
        lives = [life for life in self._lives(calls, results) if life.rounds]
        found = self._first_wrong(lives) if lives else None
        if found != "unknown":
            return found
        # Asking has changed how the replay ends: that may be the doing of one of them.
        for life in lives if len(lives) > 1 else ():
            found = self._first_wrong([life])
            if isinstance(found, Wrong):
                return found
        return "unknown"

    def _lives(self, calls: Sequence[Call], results: Sequence[Value | None]) -> Iterator[_Life]:
        """Yield what each solver of a trace was asked."""
        begins = self._begins(calls)
        for first, end in zip(begins, [*begins[1:], len(calls)], strict=True):
            own = calls[first:end]
            yield _Life(first, own, *rounds_of(own, results[first:end], self._api))

    def _first_wrong(self, lives: Sequence[_Life]) -> Checked:
        """Return the first wrong answer; unknown if the replay ends early when it is asked for."""
        asked: list[Call] = []
        places: list[tuple[int, list[int]]] = []
        for life in lives:
            self._add_queries(life, asked, places)
        answers: Sequence[Value | None] = ()
        if any(about for _, about in places):
            answers = self._server.replay(asked, self._limits).results
        solves = [(life, each) for life in lives for each in life.rounds]
        for (life, each), (first, about) in zip(solves, places, strict=True):
            said = answers[first : first + len(about)]
            if len(said) < len(about):
                return "unknown"
            literals = life.literals[: each.end]
            wrong = self._wrong(literals, each, about, said)
            if wrong is not None:
                shown = _proof(wrong, literals, each, about, said)
                return Wrong(wrong, life.first + each.index, shown)
        return None

    def _add_queries(
        self, life: _Life, asked: list[Call], places: list[tuple[int, list[int]]]
    ) -> None:
        """Add the calls of a solver, with a query for all that is to be known after each solve.

        Besides, for each solve, where its queries begin and of which literals they are.
        """
        before = 0
        for each in life.rounds:
            asked += life.calls[before : each.index + 1]
            before = each.index + 1
            name, about = queries(each, life.literals, self._names)
            places.append((len(asked), about))
            asked += [Call(name, (literal,)) for literal in about]
        asked += life.calls[before:]

    def _wrong(
        self,
        literals: Sequence[int],
        solve: Round,
        about: Sequence[int],
        said: Sequence[Value | None],
    ) -> Kind | None:
        """Say what is wrong with an answer; None if nothing is, or nothing is known."""
        if solve.answer == SAT:
            return None if satisfied(literals, solve, about, said) else "model"
        core = core_of(solve, about, said)
        if not self._has_model(literals, core):
            return None
        if len(core) < len(set(solve.assumed)) and not self._has_model(literals, solve.assumed):
            return "core"
        return "unsat"

    def _has_model(self, literals: Sequence[int], assumed: Sequence[int]) -> bool:
        """Return whether the other solver finds a model, and it is one."""
        about = sorted({abs(literal) for literal in (*literals, *assumed)} - {0})
        added = {literal: Call("add", (literal,)) for literal in set(literals)}
        calls = [Call("init", ()), *map(added.__getitem__, literals)]
        calls += [Call("assume", (literal,)) for literal in assumed]
        calls.append(Call("solve", ()))
        outcome = self._reference.replay(calls, self._limits)
        if not _answered(outcome, len(calls)) or outcome.results[len(calls) - 1] != SAT:
            return False
        asked = [*calls, *(Call("val", (variable,)) for variable in about)]
        outcome = self._reference.replay(asked, self._limits)
        if not _answered(outcome, len(asked)):
            return False
        solve = Round(len(calls) - 1, len(literals), tuple(assumed), SAT, simplifies=False)
        return satisfied(literals, solve, about, outcome.results[len(calls) :])


def _proof(
    wrong: Kind,
    literals: Sequence[int],
    solve: Round,
    about: Sequence[int],
    said: Sequence[Value | None],
) -> str:
    """Name the clause or assumption that a model falsifies, or the core that is none."""
    if wrong != "model":
        core = core_of(solve, about, said)
        return f"core {' '.join(map(str, core))}" if core else ""
    true = {
        variable if isinstance(value, int) and value > 0 else -variable
        for variable, value in zip(about, said, strict=True)
        if value
    }
    for literal in () if solve.simplifies else solve.assumed:
        if literal not in true:
            return f"assumption {literal}"
    clause: list[int] = []
    for literal in literals:
        if literal:
            clause.append(literal)
        elif true.isdisjoint(clause):
            return f"clause {' '.join(map(str, [*clause, 0]))}"
        else:
            clause = []
    return ""


def _answered(outcome: ReplayOutcome, calls: int) -> bool:
    return outcome.kind == "ok" and len(outcome.results) >= calls


def core_of(solve: Round, about: Sequence[int], said: Sequence[Value | None]) -> list[int]:
    """Return the assumptions that a solver said have failed; all where it cannot be asked."""
    if solve.simplifies:
        return list(solve.assumed)
    return [literal for literal, failed in zip(about, said, strict=True) if failed]


def satisfied(
    literals: Sequence[int], solve: Round, about: Sequence[int], said: Sequence[Value | None]
) -> bool:
    """Return whether what a solver said of variables satisfies all clauses, and the assumptions.

    `literals` are those of the clauses, `about` the variables. For true, all APIs return a
    positive number, for false a negative one.
    """
    # A byte for each literal, 0 for the end of a clause. Negative numbers count from the back.
    size = 1 + 2 * max(about, default=0)
    kinds = bytearray([_FALSE]) * size
    kinds[0] = 0
    for variable, value in zip(about, said, strict=True):
        if isinstance(value, int) and value:
            kinds[variable if value > 0 else -variable] = _TRUE
    if not solve.simplifies and any(kinds[literal] != _TRUE for literal in solve.assumed):
        return False
    # Without those that are false, a clause that is falsified is an end after an end.
    left = bytes(map(kinds.__getitem__, literals)).translate(None, bytes([_FALSE]))
    return not left.startswith(b"\0") and b"\0\0" not in left
