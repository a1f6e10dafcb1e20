"""Checks what a SAT solver answered in a trace: its models against the clauses, its cores anew.

A model is right if it satisfies every clause and assumption. For unsatisfiable
another solver has to agree, on the clauses and the assumptions that are said to
have failed; where it does not, its model is the proof, and is checked as well.
So no solver is believed when it says that another one is wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from reducekit.frontends.trace.calls import Call, Value
from reducekit.frontends.trace.convert import NAMES
from reducekit.frontends.trace.replay.client import ReplayServer
from reducekit.frontends.trace.replay.outcome import ReplayOutcome
from reducekit.oracle.limits import Limits

Kind = Literal["model", "unsat", "core"]
SAT, UNSAT = 10, 20
# What changes the formula in ways that are not followed here.
_BEYOND = frozenset(("constrain", "lemma", "connect", "push", "pop"))
_SAID = {
    "model": "the model does not satisfy the formula",
    "unsat": "unsatisfiable, but there is a model",
    "core": "the failed assumptions do not fail together",
}


@dataclass(frozen=True, slots=True)
class Wrong:
    """A wrong answer: what is wrong, and which solve (counted from 1) of the trace gave it."""

    kind: Kind
    solve: int

    def describe(self) -> str:
        """Say in words what is wrong, the same for the same kind."""
        return f"wrong answer: {_SAID[self.kind]}"


@dataclass(frozen=True, slots=True)
class Round:
    """A solve: the index of its call, what was asked, and the answer.

    `clauses` is how many of the trace's clauses there were. `simplifies` says that it
    only simplified, and need not have looked at the assumptions.
    """

    index: int
    clauses: int
    assumed: tuple[int, ...]
    answer: int
    simplifies: bool


def rounds_of(
    calls: Sequence[Call], results: Sequence[Value | None], api: str
) -> tuple[list[tuple[int, ...]], list[Round]]:
    """Return the clauses of a trace, and its solves that were answered.

    `results` are those of the calls. Nothing is returned for an API that is not
    known, or calls beyond clauses and assumptions.
    """
    names = NAMES.get("cadical" if api == "mobical" else api)
    clauses: list[tuple[int, ...]] = []
    rounds: list[Round] = []
    if names is None:
        return clauses, rounds
    add, assume, solve = names["add"], names["assume"], names["solve"]
    simplify = names.get("simplify", "")
    clause: list[int] = []
    assumed: list[int] = []
    solved = False
    for index, call in enumerate(calls[: len(results)]):
        name = call.name
        if name in (add, assume):
            literal = call.arguments[0]
            assert isinstance(literal, int)
            if solved:
                assumed, solved = [], False
            if name == assume:
                assumed.append(literal)
            elif literal:
                clause.append(literal)
            else:
                clauses.append(tuple(clause))
                clause = []
        elif name == "fixate":
            clauses += [(literal,) for literal in assumed]
        elif name in (solve, simplify):
            if solved:
                assumed = []
            solved = True
            answer = results[index]
            if answer in (SAT, UNSAT):
                assert isinstance(answer, int)
                simplifies = name == simplify
                rounds.append(Round(index, len(clauses), tuple(assumed), answer, simplifies))
        elif name in _BEYOND:
            break
    return clauses, rounds


class AnswerChecker:
    """Checks answers of the solver that `server` plays, with the help of `reference`.

    `reference` plays the API `ipasir`. The servers are not closed here.
    """

    def __init__(
        self, api: str, server: ReplayServer, reference: ReplayServer, limits: Limits
    ) -> None:
        self._api = api
        self._names = NAMES.get("cadical" if api == "mobical" else api, {})
        self._server = server
        self._reference = reference
        self._limits = limits

    @property
    def able(self) -> bool:
        """Whether the API is one whose answers can be checked."""
        return bool(self._names)

    def check(self, calls: Sequence[Call], results: Sequence[Value | None]) -> Wrong | None:
        """Return the first wrong answer of a trace whose calls returned `results`."""
        clauses, rounds = rounds_of(calls, results, self._api)
        if not rounds:
            return None
        asked, places = self._with_queries(calls, clauses, rounds)
        answers: Sequence[Value | None] = ()
        if len(asked) > len(calls):
            answers = self._server.replay(asked, self._limits).results
        for number, (each, (first, literals)) in enumerate(zip(rounds, places, strict=True), 1):
            said = answers[first : first + len(literals)]
            if len(said) < len(literals):
                return None  # asking has changed how it ends: nothing is known
            wrong = self._wrong(clauses[: each.clauses], each, literals, said)
            if wrong is not None:
                return Wrong(wrong, number)
        return None

    def _with_queries(
        self, calls: Sequence[Call], clauses: list[tuple[int, ...]], rounds: list[Round]
    ) -> tuple[list[Call], list[tuple[int, list[int]]]]:
        """Return the calls with a query for all that is to be known after each solve.

        Besides, for each solve, where its queries begin and of which literals they are.
        """
        asked: list[Call] = []
        places: list[tuple[int, list[int]]] = []
        before = 0
        variables: set[int] = set()
        seen = 0
        for each in rounds:
            asked += calls[before : each.index + 1]
            before = each.index + 1
            if each.answer == SAT:
                variables.update(abs(lit) for cl in clauses[seen : each.clauses] for lit in cl)
                seen = each.clauses
                literals = sorted(variables | {abs(literal) for literal in each.assumed})
                name = self._names["value"]
            else:
                literals = [] if each.simplifies else sorted(set(each.assumed))
                name = self._names["failed"]
            places.append((len(asked), literals))
            asked += [Call(name, (literal,)) for literal in literals]
        asked += calls[before:]
        return asked, places

    def _wrong(
        self,
        clauses: Sequence[tuple[int, ...]],
        solve: Round,
        literals: Sequence[int],
        said: Sequence[Value | None],
    ) -> Kind | None:
        """Say what is wrong with an answer; None if nothing is, or nothing is known."""
        if solve.answer == SAT:
            true = _true(literals, said)
            assumed = () if solve.simplifies else solve.assumed
            return None if _satisfied(clauses, assumed, true) else "model"
        core = [lit for lit, failed in zip(literals, said, strict=True) if failed]
        if solve.simplifies:
            core = list(solve.assumed)
        if not self._has_model(clauses, core):
            return None
        if len(core) < len(set(solve.assumed)) and not self._has_model(clauses, solve.assumed):
            return "core"
        return "unsat"

    def _has_model(self, clauses: Sequence[tuple[int, ...]], assumed: Sequence[int]) -> bool:
        """Say whether the other solver finds a model, and it is one."""
        variables = sorted({abs(lit) for each in (*clauses, tuple(assumed)) for lit in each})
        calls = [Call("init", ())]
        added = {lit: Call("add", (lit,)) for v in variables for lit in (v, -v)}
        end = Call("add", (0,))
        for each in clauses:
            calls += [added[literal] for literal in each]
            calls.append(end)
        calls += [Call("assume", (literal,)) for literal in assumed]
        calls.append(Call("solve", ()))
        outcome = self._reference.replay(calls, self._limits)
        if not _answered(outcome, len(calls)) or outcome.results[len(calls) - 1] != SAT:
            return False
        asked = [*calls, *(Call("val", (variable,)) for variable in variables)]
        outcome = self._reference.replay(asked, self._limits)
        if not _answered(outcome, len(asked)):
            return False
        return _satisfied(clauses, assumed, _true(variables, outcome.results[len(calls) :]))


def _answered(outcome: ReplayOutcome, calls: int) -> bool:
    return outcome.kind == "ok" and len(outcome.results) >= calls


def _true(variables: Sequence[int], values: Sequence[Value | None]) -> set[int]:
    """Return the literals that are true.

    Of a variable, all APIs return a positive number for true and a negative one for false.
    """
    return {
        variable if value > 0 else -variable
        for variable, value in zip(variables, values, strict=False)
        if isinstance(value, int) and value
    }


def _satisfied(clauses: Sequence[tuple[int, ...]], assumed: Sequence[int], true: set[int]) -> bool:
    return true.issuperset(assumed) and not any(map(true.isdisjoint, clauses))
