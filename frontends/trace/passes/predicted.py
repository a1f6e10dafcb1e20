"""Predicts whether a short trace keeps the contract of the API, by solving its formulas.

A call such as `failed` is allowed only after a certain answer of the solver, which the model alone
does not know. A trace that breaks the contract ends the replay that it shares with others. Formulas
with a few variables are solved here by trying all assignments, to avoid playing such traces.
"""

from __future__ import annotations

from collections.abc import Sequence, Set

from reducekit.frontends.trace.language.calls import Call
from reducekit.frontends.trace.model.definition import CallModel, Model
from reducekit.frontends.trace.model.machine import Machine

_VARIABLES = 8
"""Of formulas that are solved here: there are 256 assignments."""
_CALLS = 60
SAT, UNSAT = 10, 20


def doubted(model: Model, calls: Sequence[Call]) -> Set[Call]:
    """Return the calls of a trace of which only the solver knows whether they may be made."""
    machine = Machine(model)
    found = set()
    for call in calls:
        if machine.allowed(call) is not None:
            break
        if machine.careful(call) is not None:
            found.add(call)
        machine.after(call)
    return found


def may_be_allowed(model: Model, calls: Sequence[Call], doubtful: Set[Call] = frozenset()) -> bool:
    """Return whether no call breaks the contract, if that can be told before a run.

    What the solver returns is not known, apart from the answers that are predicted. Of calls
    that only the solver could allow, `doubtful` ones may be. Long traces are not looked at.
    """
    if len(calls) > _CALLS:
        return True
    machine, models = Machine(model), model.calls
    clauses: list[tuple[int, ...]] = []
    clause: list[int] = []
    assumed: list[int] = []
    solved, followed = False, True
    for call in calls:
        if call.name == "return":
            continue
        if machine.allowed(call) is not None:
            return False
        if call not in doubtful and machine.careful(call) is not None:
            return False
        known = models[call.name]
        result = None
        literal = call.arguments[0] if call.arguments else None
        if known.role in ("clause", "assume"):
            if not isinstance(literal, int) or len(call.arguments) != 1:
                followed = False
            elif known.role == "assume":
                assumed = [literal] if solved else [*assumed, literal]
            elif literal:
                clause.append(literal)
            else:
                clauses.append(tuple(clause))
                clause = []
            if solved and known.role == "clause":
                assumed = []
            solved = False
        elif known.role == "solve":
            if solved:
                assumed = []
            solved = True
            if followed and _answers(known):
                result = _answer([*clauses, *((each,) for each in assumed)])
        elif known.role not in ("init", "release", "option", "query", "hint") and not known.pair:
            followed = False  # it may change the formula, as `fixate` does
        machine.after(call, result)
    return True


def _answers(known: CallModel) -> bool:
    """Return whether a call only solves: it returns SAT or UNSAT and has no arguments."""
    return not known.arguments and {SAT, UNSAT} <= known.outcomes.keys()


def _answer(clauses: Sequence[Sequence[int]]) -> int | None:
    """Return whether clauses can be satisfied; None if they have too many variables."""
    variables = {abs(literal) for clause in clauses for literal in clause}
    if len(variables) > _VARIABLES:
        return None
    bit = {variable: 1 << number for number, variable in enumerate(sorted(variables))}
    masks = [
        (
            sum({bit[literal] for literal in clause if literal > 0}),
            sum({bit[-literal] for literal in clause if literal < 0}),
        )
        for clause in clauses
    ]
    for assignment in range(1 << len(variables)):
        if all(assignment & positive or ~assignment & negative for positive, negative in masks):
            return SAT
    return UNSAT
