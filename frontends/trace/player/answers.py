"""What a SAT solver was asked in a trace, and whether its model satisfies that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

from reducekit.frontends.trace.formats.rounds import BY_BOOLEAN, WHOLE, asked
from reducekit.frontends.trace.language.calls import Call, Value

SAT, UNSAT = 10, 20
_FALSE, _TRUE = 1, 2
# Calls that change the formula in ways that are not followed here.
_BEYOND = frozenset(("lemma", "connect", "push", "pop", "cubing", "lookahead_cubes"))


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
    followed = takewhile(lambda call: call.name not in _BEYOND, calls[: len(results)])
    literals, solves = asked(followed, api)
    rounds: list[Round] = []
    for each in solves:
        answer = results[each.at]
        answer = BY_BOOLEAN.get(answer) if api == WHOLE else answer
        # A constraint holds for one solve: its part in a refutation is not looked at.
        right = answer == SAT or (answer == UNSAT and each.constraint is None)
        if right and isinstance(answer, int) and each.what not in ("fixate", "lookahead"):
            simplifies = each.what == "simplify"
            rounds.append(Round(each.at, each.end, each.assumed, answer, simplifies))
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
