"""The last answer of a trace as a program can check it: its formula, and what another solver says.

A reduced wrong answer is the last one of its trace. Asking for values changes what some solvers
do next, so only an answer that nothing but queries follows is checked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reducekit.errors import UsageError
from reducekit.frontends.trace.formats.convert import names_of
from reducekit.frontends.trace.language.calls import Call
from reducekit.frontends.trace.model.definition import Model
from reducekit.frontends.trace.player.answers import (
    SAT,
    UNSAT,
    Formula,
)
from reducekit.frontends.trace.player.checker import reference_for
from reducekit.frontends.trace.player.libraries import Library
from reducekit.frontends.trace.player.server_pool import ReplayServer
from reducekit.frontends.trace.player.session import DEFAULT_LIMITS

_CONSTRAIN = "constrain"


@dataclass(frozen=True, slots=True)
class FinalAnswer:
    """The last solve of a trace.

    `solve` is the index of its call, and `end` that of the first call after which the model may
    be gone. `value` is the name of the call that asks for values. `formula` are the literals of
    the clauses, each ended by a 0, and of the assumptions as clauses. `expected` is the answer of
    another solver, None if it is not known.
    """

    solve: int
    end: int
    value: str
    formula: tuple[int, ...]
    expected: int | None


def final_answer(calls: Sequence[Call], model: Model) -> FinalAnswer | None:
    """Return the last answer of a trace; None if it cannot be checked."""
    names = names_of(model.name)
    begins = [index for index, call in enumerate(calls) if call.name == names.get("init")]
    if not begins:
        return None
    own = calls[begins[-1] :]
    formula = Formula(model.name)
    formula.take(own, [SAT] * len(own))
    roles = {name: known.role for name, known in model.calls.items()}
    if not formula.rounds or formula.rounds[-1].simplifies:
        return None
    last = formula.rounds[-1]
    after = [roles.get(call.name, "other") for call in own[last.index + 1 :]]
    queries = next((at for at, role in enumerate(after) if role != "query"), len(after))
    if set(after[queries:]) - {"release"}:
        return None
    literals = formula.literals[: last.end]
    while literals and literals[-1]:
        literals.pop()  # of a clause that is not closed
    literals += [each for literal in last.assumed for each in (literal, 0)]
    constrained = any(call.name == _CONSTRAIN for call in own)
    expected = None if constrained else _by_another(literals, model.name)
    if expected is None and not literals:
        return None
    return FinalAnswer(
        solve=begins[-1] + last.index,
        end=begins[-1] + last.index + 1 + queries,
        value=names["value"],
        formula=tuple(literals),
        expected=expected,
    )


def _by_another(literals: Sequence[int], api: str) -> int | None:
    """Return what another solver answers; None if it does not, or there is none."""
    try:
        reference = reference_for(api, None)
    except UsageError:
        return None
    if not isinstance(reference, Library):
        return None
    calls = [Call("init", ()), *(Call("add", (literal,)) for literal in literals)]
    calls.append(Call("solve", ()))
    with ReplayServer(reference) as server:
        results = server.replay(calls, DEFAULT_LIMITS).results
    answer = results[-1] if len(results) == len(calls) else None
    return answer if answer in (SAT, UNSAT) else None
