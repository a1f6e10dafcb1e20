"""What a SAT solver was asked in a trace, and whether its model satisfies that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from reducekit.frontends.trace.formats.rounds import (
    BY_BOOLEAN,
    DROP_ASSUMPTIONS,
    WHOLE,
    names_of,
)
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
        looked_at = (assume, "fixate", _CONSTRAIN, *DROP_ASSUMPTIONS, *self._solves)
        self._looked_at = frozenset(looked_at)
        self._constrained = False
        self._taken = 0
        self._assumed: list[int] = []
        self._solved = False
        self._followed = bool(self._names)

    def take(self, calls: Sequence[Call], results: Sequence[Value | None]) -> None:
        """Note calls that follow those before, and what they returned."""
        for index, call in enumerate(calls, self._taken):
            if not self._followed:
                break
            if call.name == self._add:
                # The first literal after a solve ends its assumptions.
                self._forget()
                self.literals += call.arguments  # type: ignore[arg-type]  # literals
                if self._whole:
                    self.literals.append(0)
            elif call.name in _BEYOND:
                self._followed = False
            elif call.name in self._looked_at:
                self._note(call, index, results[index - self._taken])
        self._taken += len(calls)

    def _forget(self) -> None:
        """Assumptions hold for one solve."""
        if self._solved:
            self._assumed, self._solved = [], False

    def _note(self, call: Call, index: int, answer: Value | None) -> None:
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
            # The assumptions become clauses, ahead of one that is not closed yet.
            units = [each for literal in self._assumed for each in (literal, 0)]
            end = len(self.literals)
            while end and self.literals[end - 1]:
                end -= 1
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
