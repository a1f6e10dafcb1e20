"""The calls of a trace as statements of a program, in any language, and the answer it checks.

A reduced wrong answer is the last one of its trace. Asking for values changes what some solvers
do next, so only an answer that nothing but queries follows is checked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from reducekit.errors import UsageError
from reducekit.frontends.trace.formats.rounds import names_of
from reducekit.frontends.trace.language.calls import Call
from reducekit.frontends.trace.model.definition import Model
from reducekit.frontends.trace.player.answers import SAT, UNSAT, Formula
from reducekit.frontends.trace.player.checker import reference_for
from reducekit.frontends.trace.player.libraries import Library
from reducekit.frontends.trace.player.prototypes import Interface, Step, bound, spread, steps_of
from reducekit.frontends.trace.player.server_pool import ReplayServer

SOLVER, KEPT, ANSWER = "solver", "kept", "answer"
"""Variables of a program: the object, what `%` stands for, and the answer that is checked."""
_TARGETS = {"$": SOLVER, "%": KEPT, "%%": f"{KEPT}2"}
METHOD = re.compile(r"_ZNK?\d+(CaDiCaL\d*?|Minisat)6Solver(?:(C1|D1)|\d+([a-z_]+))E(\w+)")
"""A method in the Itanium C++ ABI: its namespace, constructor or destructor, name, types."""
_NOTHING = "getppid"
"""The function that a call without an effect makes in a replay."""
_WIDTH = 96
_CONSTRAIN = "constrain"


@dataclass(frozen=True, slots=True)
class Spelling:
    """How a language writes a null pointer, the address of a function, a string, and arrays.

    These are of pointers and of numbers; `{0}` is what is in one, `{1}` how much that is. `room`
    is that for a pointer.
    """

    null: str
    address: str
    string: str
    pointers: str
    numbers: str
    room: str


C = Spelling(
    "0", "(void *) &{}", "{}", "(void *[]) {{{0}}}", "(unsigned []) {{{0}}}", "(void *[]) {0}"
)
CPP = Spelling(
    C.null,
    C.address,
    C.string,
    "std::initializer_list<void *>{{{0}}}.begin()",
    "std::initializer_list<unsigned>{{{0}}}.begin()",
    "new void *()",
)
PYTHON = Spelling(
    "None",
    'ctypes.cast(library["{}"], pointer)',
    "b{}",
    "(pointer * {1})({0})",
    "(number * {1})({0})",
    "(pointer * 1)()",
)


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
        results = server.replay(calls).results
    answer = results[-1] if len(results) == len(calls) else None
    return answer if answer in (SAT, UNSAT) else None


@dataclass(frozen=True, slots=True)
class Statement:
    """One C call of a program: where its result goes ("" for nowhere), and its arguments."""

    step: Step
    target: str
    arguments: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Code:
    """What a program does: for each call of the trace its statements.

    `handles` are the variables of what calls return. `value` asks for the value of the variable of
    `literal`, to check the answer `last`.
    """

    title: str
    body: Sequence[Sequence[Statement]]
    handles: Sequence[str]
    last: FinalAnswer | None
    value: Statement | None

    @property
    def begin(self) -> Sequence[Sequence[Statement]]:
        """What comes before the check of the answer."""
        return self.body if self.last is None else self.body[: self.last.end]

    @property
    def end(self) -> Sequence[Sequence[Statement]]:
        """What comes after it."""
        return () if self.last is None else self.body[self.last.end :]

    @property
    def steps(self) -> dict[str, Step]:
        """The functions that are called, by their symbols."""
        called = [*chain.from_iterable(self.body), *([self.value] if self.value else [])]
        return {each.step.function: each.step for each in called}


class Writer:
    """Writes calls as statements, as an interface says what they do."""

    def __init__(self, interface: Interface, spelling: Spelling, last: FinalAnswer | None) -> None:
        self._steps = {name: [*steps_of(text)] for name, text in interface.calls.items()}
        self._spelling = spelling
        self._last = last
        self._handles: dict[str, str] = {}
        self._used: frozenset[str] = frozenset()

    def code(self, title: str, calls: Sequence[Call]) -> Code:
        """Return the statements of a trace. A result that no call uses is not kept."""
        self._used = frozenset(str(value) for call in calls for value in call.arguments)
        body = [self._statements(index, call) for index, call in enumerate(calls)]
        value = None
        if self._last is not None:
            (value,) = self._statements(-1, Call(self._last.value, ("abs(literal)",)))
        return Code(title, body, [*self._handles.values()], self._last, value)

    def _statements(self, index: int, call: Call) -> list[Statement]:
        given = iter(call.arguments)
        found = []
        steps, many = spread(self._steps[call.name], len(call.arguments))
        for step in steps:
            arguments = tuple(self._argument(*each) for each in bound(step, given, many))
            target = _TARGETS.get(step.stores, "")
            if step.result == "handle" and str(call.result) in self._used:
                target = self._handle(str(call.result))
            elif self._last is not None and index == self._last.solve:
                target = ANSWER
            if step.function != _NOTHING:
                found.append(Statement(step, target, arguments))
        return found

    def _argument(self, argument: str, value: Any) -> str:
        spelling = self._spelling
        if argument == "object":
            return SOLVER
        if argument == "kept":
            return _TARGETS[value]
        if argument == "function":
            return spelling.address.format(value)
        if argument == "string":
            return spelling.null if value is None else spelling.string.format(_quoted(str(value)))
        if argument == "handle":
            return self._handle(str(value))
        if argument == "names":
            names = [self._handle(str(each)) for each in value]
            return spelling.pointers.format(", ".join(names), len(names))
        if argument == "numbers":
            return spelling.numbers.format(", ".join(map(str, value)), len(value))
        return spelling.room if argument == "room" else str(value)

    def _handle(self, name: str) -> str:
        return self._handles.setdefault(name, f"h{len(self._handles) + 1}")


def _quoted(text: str) -> str:
    """Return a string literal, which C and Python read the same: as bytes."""
    spelled = (
        chr(byte) if 32 <= byte < 127 and byte not in b'"\\' else f"\\{byte:03o}"
        for byte in text.encode("utf-8", "surrogateescape")
    )
    return f'"{"".join(spelled)}"'


def joined(calls: Iterable[tuple[str, str, bool]], indent: str) -> Iterator[str]:
    """Put calls of one name in one line, up to the end of a clause.

    Each is given as its name, its text, and whether a clause ends with it.
    """
    before, line, closed = "", "", True
    for name, text, ends in calls:
        if line and name == before and not closed and len(line) + len(text) < _WIDTH:
            line += f" {text}"
        else:
            if line:
                yield line
            line = indent + text
        before, closed = name, ends
    if line:
        yield line


def numbers(literals: Iterable[int], indent: str) -> Iterator[str]:
    """Write literals as the elements of an array, a clause a line if it is short."""
    return joined((("", f"{literal},", not literal) for literal in literals), indent)
