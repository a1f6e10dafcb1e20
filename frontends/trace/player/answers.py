"""What a SAT solver was asked in a trace, and whether its model satisfies that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from reducekit.frontends.trace.formats.convert import BY_BOOLEAN, DROP_ASSUMPTIONS, WHOLE, names_of
from reducekit.frontends.trace.language.calls import Call, Value

SAT, UNSAT = 10, 20
_FALSE, _TRUE = 1, 2
# Calls that change the formula in ways that are not followed here.
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


def rounds_of(
    calls: Sequence[Call], results: Sequence[Value | None], api: str
) -> tuple[list[int], list[Round]]:
    """Return the literals of a trace's clauses, each ended by a 0, and its solves with an answer.

    `results` are those of the calls. Nothing is found for an API that is not known, nor after calls
    that go beyond clauses and assumptions.
    """
    literals: list[int] = []
    rounds: list[Round] = []
    names = names_of(api)
    solves = {names[key] for key in ("solve", "limited", "simplify") if key in names}
    add, assume = names.get("add"), names.get("assume")
    begins = {add, assume, _CONSTRAIN, *solves}
    assumed: list[int] = []
    solved = constrained = False
    for index, (call, answer) in enumerate(zip(calls, results, strict=False)):
        if not names or call.name in _BEYOND:
            break
        if call.name in begins:
            # Assumptions hold for one solve.
            assumed = [] if solved else assumed
            solved = call.name in solves
        if call.name == add:
            literals += call.arguments  # type: ignore[arg-type]  # literals
            literals += [0] * (api == WHOLE)
        elif call.name == assume:
            assumed += call.arguments  # type: ignore[arg-type]  # a literal
        elif call.name == _CONSTRAIN:
            constrained = True
        elif call.name in DROP_ASSUMPTIONS:
            assumed, solved = [], False
        elif call.name == "fixate":
            # The assumptions become clauses, ahead of one that is not closed yet.
            end = len(literals)
            while end and literals[end - 1]:
                end -= 1
            literals[end:end] = [each for literal in assumed for each in (literal, 0)]
        elif call.name in solves:
            if api == WHOLE:
                assumed = list(call.arguments)  # type: ignore[arg-type]  # literals
                answer = BY_BOOLEAN.get(answer)
            # A constraint holds for one solve: its part in a refutation is not looked at.
            if answer == SAT or (answer == UNSAT and not constrained):
                assert isinstance(answer, int)
                simplifies = call.name == names.get("simplify")
                rounds.append(Round(index, len(literals), tuple(assumed), answer, simplifies))
            constrained = False
    return literals, rounds


def queries(
    solve: Round, literals: Sequence[int], names: Mapping[str, str]
) -> tuple[str, list[int]]:
    """Return what has to be asked after a solve to check its answer: a call, and of what.

    `literals` are those of the clauses, up to the solve or further.
    """
    # Of a model every variable that has to be true or false, of a core the assumptions.
    if solve.answer == SAT:
        variables = set(map(abs, literals[: solve.end]))
        variables.update(map(abs, solve.assumed))
        variables.discard(0)
        return names["value"], sorted(variables)
    return names["failed"], [] if solve.simplifies else sorted(set(solve.assumed))


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
    # With false literals removed, a falsified clause is an empty one: two ends in a row.
    left = bytes(map(kinds.__getitem__, literals)).translate(None, bytes([_FALSE]))
    return not left.startswith(b"\0") and b"\0\0" not in left
