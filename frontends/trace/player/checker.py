"""Checks the answers in a trace, with the help of another solver.

A model is correct if it satisfies every clause and assumption. An UNSAT answer of a SAT solver is
correct if another solver agrees, on the clauses and the failed assumptions; if it disagrees, its
model is the proof, and is checked as well. So no solver is trusted when it claims that another
one is wrong. Answers of an SMT solver are compared with those of a command.
"""

from __future__ import annotations

import os
import shutil
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

from reducekit.errors import UsageError
from reducekit.executors.local import LocalExecutor
from reducekit.frontends.trace.formats.rounds import names_of
from reducekit.frontends.trace.formats.smt2 import to_smt2
from reducekit.frontends.trace.language.calls import Call, Value
from reducekit.frontends.trace.model.definition import Model
from reducekit.frontends.trace.model.loader import load_model
from reducekit.frontends.trace.player.answers import (
    SAT,
    Round,
    core_of,
    queries,
    rounds_of,
    satisfied,
)
from reducekit.frontends.trace.player.libraries import Library, find_library
from reducekit.frontends.trace.player.outcome import MISMATCH, ReplayOutcome, where
from reducekit.frontends.trace.player.server_pool import ReplayServer
from reducekit.oracle.command import Command
from reducekit.oracle.criterion import Everything, Oracle
from reducekit.oracle.responses import read_answers
from reducekit.oracle.signature import failure_line
from reducekit.run import Limits

Kind = Literal["model", "unsat", "core", "sat"]
_SAID = {
    "model": "the model does not satisfy the formula",
    "unsat": "unsatisfiable, but there is a model",
    "core": "the failed assumptions do not fail together",
    "sat": "satisfiable, but another solver finds no model",
}
# For a script. Hardly any random one needs more; what is hard for both solvers tells nothing.
_SECONDS = 2.0
# What is wrong, by the answer in the trace and that of the other solver.
_KINDS: dict[tuple[str, bytes], Kind] = {("sat", b"unsat"): "sat", ("unsat", b"sat"): "unsat"}
_UNKNOWN = b"unknown"


@dataclass(frozen=True, slots=True)
class Wrong:
    """A wrong answer: what is wrong, the index of the call that gave it, and what shows it."""

    kind: Kind
    call: int
    proof: str = field(default="", compare=False)

    def describe(self) -> str:
        """Say in words what is wrong, the same for the same kind."""
        return f"wrong answer: {_SAID[self.kind]}"


# The first wrong answer; None if there is none, "unknown" if not all could be checked.
Checked = Wrong | Literal["unknown"] | None


class Checker(ABC):
    """Checks answers in a trace that was replayed. `init` is the name of the call that makes a
    solver; a trace may make several, one after the other.
    """

    def __init__(self, init: str) -> None:
        self._init = init

    @abstractmethod
    def check(self, calls: Sequence[Call], results: Sequence[Value | None]) -> Checked:
        """Return the first wrong answer of a trace whose calls returned `results`."""

    def judged(self, calls: Sequence[Call], outcome: ReplayOutcome) -> ReplayOutcome:
        """Return how a replay ended: as a "mismatch" in the call that gave the first wrong answer.

        Its standard error then says what is wrong. If the replay died, the answers of the solver
        that it died in are not checked.
        """
        # To ask the solver that died would end the replay before the answers that matter.
        whole = calls
        if outcome.kind != "ok":
            begins = self._begins(calls[: outcome.last_call + 1])
            whole = calls[: begins[-1]]
        wrong = self.check(whole, outcome.results[: len(whole)])
        if not isinstance(wrong, Wrong):
            return outcome
        said = wrong.describe()
        return replace(
            outcome,
            kind="mismatch",
            status=MISMATCH,
            last_call=wrong.call,
            stderr=said.encode(),
            reason=said,
            place=": ".join(
                [where(wrong.call, calls[wrong.call]), said, *filter(None, [wrong.proof])]
            ),
        )

    def _begins(self, calls: Sequence[Call]) -> list[int]:
        """Return the index of the first call of each solver of a trace."""
        # What comes before the first one belongs to it.
        begins = [index for index, call in enumerate(calls) if call.name == self._init]
        return [0, *begins[1:]]


class _Life(NamedTuple):
    """What one solver of a trace was asked (see `rounds_of`): `calls` from index `first` on."""

    first: int
    calls: Sequence[Call]
    literals: list[int]
    rounds: list[Round]


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
        begins = self._begins(calls)
        lives = []
        for first, end in zip(begins, [*begins[1:], len(calls)], strict=True):
            own = calls[first:end]
            life = _Life(first, own, *rounds_of(own, results[first:end], self._api))
            lives += [life] if life.rounds else []
        found = self._first_wrong(lives)
        if found != "unknown":
            return found
        # A replay that ends early when it is asked may be the doing of one solver of several.
        for life in lives if len(lives) > 1 else ():
            found = self._first_wrong([life])
            if isinstance(found, Wrong):
                return found
        return "unknown"

    def _first_wrong(self, lives: Sequence[_Life]) -> Checked:
        """Return the first wrong answer; unknown if the replay ends early when it is asked for."""
        asked: list[Call] = []
        solves: list[tuple[_Life, Round, int, list[int]]] = []
        for life in lives:
            before = 0
            for solve in life.rounds:
                asked += life.calls[before : solve.index + 1]
                before = solve.index + 1
                name, about = queries(solve, life.literals, self._names)
                solves.append((life, solve, len(asked), about))
                asked += [Call(name, (literal,)) for literal in about]
            asked += life.calls[before:]
        # One replay for all solves: the queries stand between the calls of the trace.
        answers: Sequence[Value | None] = ()
        if any(about for *_, about in solves):
            answers = self._server.replay(asked, self._limits).results
        for life, solve, first, about in solves:
            said = answers[first : first + len(about)]
            if len(said) < len(about):
                return "unknown"
            literals = life.literals[: solve.end]
            wrong = self._wrong(literals, solve, about, said)
            if wrong is not None:
                shown = _proof(wrong, literals, solve, about, said)
                return Wrong(wrong, life.first + solve.index, shown)
        return None

    def _wrong(
        self,
        literals: Sequence[int],
        solve: Round,
        about: Sequence[int],
        said: Sequence[Value | None],
    ) -> Kind | None:
        """Return what is wrong with an answer; None if nothing is, or nothing is known."""
        if solve.answer == SAT:
            return None if satisfied(literals, solve, about, said) else "model"
        core = core_of(solve, about, said)
        if not self._has_model(literals, core):
            return None
        # The core has a model. If all assumptions together have none, UNSAT itself was right.
        if len(core) < len(set(solve.assumed)) and not self._has_model(literals, solve.assumed):
            return "core"
        return "unsat"

    def _has_model(self, literals: Sequence[int], assumed: Sequence[int]) -> bool:
        """Return whether the other solver finds a model, and it is one."""
        # Asked twice: for values only where there is a model, as they may be many.
        about = sorted({abs(literal) for literal in (*literals, *assumed)} - {0})
        calls = [Call("init", ()), *(Call("add", (literal,)) for literal in literals)]
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
    """Name the clause or assumption that a model falsifies, or the core that has a model."""
    # The model of the other solver would be long, and another one each time.
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


class SmtAnswerChecker(Checker):
    """Checks answers of traces of `model` by a command that takes a script of SMT-LIB.

    The other solver is trusted. What it does not answer in two seconds is not checked, nor is a
    trace that cannot be written in SMT-LIB. The stack closes what runs the command.
    """

    def __init__(self, model: Model, command: Command, limits: Limits, stack: ExitStack) -> None:
        super().__init__(next(name for name, each in model.calls.items() if each.role == "init"))
        self._model = model
        self._states = {1 << bit: state for bit, state in enumerate(model.states)}
        self._name = os.path.basename(command.words[0])
        self._limits = limits._replace(wall=2 * _SECONDS, cpu=_SECONDS)
        oracle = Oracle((command,), Everything(1))
        self._executor = stack.enter_context(LocalExecutor(oracle, 1, ".smt2"))

    def check(self, calls: Sequence[Call], results: Sequence[Value | None]) -> Checked:
        known = self._model.calls
        solves = [
            (index, self._states.get(known[call.name].outcomes.get(int(result or 0), 0), ""))
            for index, (call, result) in enumerate(zip(calls, results, strict=False))
            if call.name in known and known[call.name].role == "solve"
        ]
        others = self._by_other(calls) if solves else ()
        for (index, answer), other in zip(solves, others, strict=False):
            if kind := _KINDS.get((answer, other)):
                return Wrong(kind, index, f"{self._name} answers {other.decode()}")
        return None if len(others) == len(solves) and _UNKNOWN not in others else "unknown"

    def _by_other(self, calls: Sequence[Call]) -> Sequence[bytes]:
        """Return the answers of the other solver, fewer if it does not answer all."""
        try:
            script, _ = to_smt2(calls, self._model)
        except UsageError:
            return ()
        self._executor.submit(0, script, self._limits)
        (finished,) = self._executor.wait()
        (outcome,) = finished.outcomes
        # An error says that the script is not what the solver takes, so its answers mean nothing.
        if failure_line(outcome.stdout, outcome.stderr) is not None:
            return ()
        return read_answers(outcome.stdout)


Reference = Library | Command
_SOLVERS = ("z3", "cvc5")


def reference_for(api: str, library: str | None, choice: str | None = None) -> Reference | None:
    """Return the solver that answers of an API are compared with, other than the one under test.

    `library` is the choice of that one, `choice` of the solver to return. None: answers of the API
    cannot be checked. Raises UsageError if no other solver is installed.
    """
    if names_of(api):
        # Not a solver that shares its code with the one under test, nor its faults.
        own = library or {"ipasir": "cadical195", "lingeling": ""}.get(api, "cadical195")
        return find_library("ipasir", choice or ("cadical153" if own == "cadical195" else None))
    if not any(call.smt for call in load_model(api).calls.values()):
        return None
    if choice is not None:
        return Command.of(choice)
    for name in _SOLVERS:
        if name != api and shutil.which(name) is not None:
            return Command.of(name)
    raise UsageError(f"neither {' nor '.join(_SOLVERS)} is in PATH")


def checker_of(
    api: str, reference: Reference, server: ReplayServer, limits: Limits, stack: ExitStack
) -> Checker:
    """Return what checks answers that a server gives; the stack closes the other solver."""
    if isinstance(reference, Command):
        return SmtAnswerChecker(load_model(api), reference, limits, stack)
    return AnswerChecker(api, server, stack.enter_context(ReplayServer(reference)), limits)


def opened_checker(
    api: str, choice: str | None, server: ReplayServer, limits: Limits, stack: ExitStack
) -> Checker | None:
    """Return what checks answers that a server gives; None if there is no other solver.

    `choice` is that of the library under test. The stack closes the other solver.
    """
    try:
        reference = reference_for(api, choice)
    except UsageError:
        return None
    return None if reference is None else checker_of(api, reference, server, limits, stack)
