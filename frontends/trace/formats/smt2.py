"""Traces of SMT solvers as SMT-LIB scripts: what each call is there is said by its model."""

from __future__ import annotations

import re
from collections.abc import Sequence

from reducekit.errors import UsageError
from reducekit.frontends.trace.calls import Call, Value
from reducekit.frontends.trace.model.definition import CallModel, Model

_PLACE = re.compile(r"\{(\w+)\}")
_OMITTED = ("query", "hint", "option", "init", "release")
"""Roles of calls that change no answer, or that a script has none of."""


def to_smt2(calls: Sequence[Call], model: Model) -> tuple[bytes, tuple[Call, ...]]:
    """Return the script that asks what a trace asks, and the calls that it leaves out.

    Terms are named by what the call that makes them returns, and defined in each command that
    needs them: what a level has declared goes with it. Raises UsageError for a call that SMT-LIB
    has nothing like.
    """
    if not any(call.smt for call in model.calls.values()):
        raise UsageError(f"the model {model.name} does not say what its calls are in SMT-LIB")
    writer = _Writer(model)
    for call in calls:
        writer.add(call)
    return "".join(f"{line}\n" for line in writer.lines).encode(), tuple(writer.left_out)


class _Writer:
    """Writes calls as commands; `terms` are the definitions of terms, in their order."""

    def __init__(self, model: Model) -> None:
        self.lines = ["(set-logic ALL)"]
        self.left_out: list[Call] = []
        self._model = model
        self._sorts: dict[str, str] = {}
        self._terms: dict[str, tuple[str, tuple[str, ...]]] = {}
        """Of a name its term, and the names of those in it."""

    def add(self, call: Call) -> None:
        """Write a call. Raises UsageError."""
        known = self._model.calls.get(call.name)
        if call.name == "return" or known is None or not known.smt:
            if known is not None and known.role not in _OMITTED:
                raise UsageError(f"{_place(call)}: SMT-LIB has nothing like it")
            if known is not None and known.role in ("query", "hint"):
                self.left_out.append(call)
            return
        given, text = self._given(known, call), known.smt
        if text.startswith("(set-logic"):
            self.lines[0] = self._filled(text, given)
        elif known.produces and text.startswith("(declare-"):
            # Beyond all levels: a term of an API outlives the level that it is made in.
            self.lines.insert(1, self._filled(text, given))
            self._terms[str(call.result)] = ("", ())
        elif known.produces:
            parts = tuple(str(each) for values in given.values() for each in values)
            inner = tuple(dict.fromkeys(each for each in parts if each in self._terms))
            made = self._filled(text, given)
            if inner or not self._is_sort(known):
                self._terms[str(call.result)] = (made, inner)
            else:
                self._sorts[str(call.result)] = made
        else:
            self.lines.append(self._command(text, given))

    def _is_sort(self, known: CallModel) -> bool:
        return self._model.types[known.produces].name == "sort"

    def _given(self, known: CallModel, call: Call) -> dict[str, list[Value]]:
        """Return the values of a call's arguments by their names. Raises UsageError."""
        given = list(call.arguments)
        more = len(given) - sum(not each.star for each in known.arguments)
        found: dict[str, list[Value]] = {"call": [call.name]}
        for each in known.arguments:
            count = more if each.star else 1
            found[each.name], given = given[:count], given[count:]
            for value in found[each.name] if each.type.kind == "handle" else ():
                if value not in self._terms and value not in self._sorts:
                    raise UsageError(f"{_place(call)}: SMT-LIB has no name for {value}")
        if call.result is not None:
            found["result"] = [call.result]
        return found

    def _filled(self, text: str, given: dict[str, list[Value]]) -> str:
        spelled = {name: " ".join(map(self._spelled, values)) for name, values in given.items()}
        return _PLACE.sub(lambda match: spelled.get(match[1], match[0]), text).replace(" )", ")")

    def _spelled(self, value: Value) -> str:
        if isinstance(value, int):
            return str(value) if value >= 0 else f"(- {-value})"
        return self._sorts.get(value, value)

    def _command(self, text: str, given: dict[str, list[Value]]) -> str:
        """Return a command, with the terms in it defined around them."""
        names = [str(each) for values in given.values() for each in values]
        needed: set[str] = set()
        stack = [name for name in names if name in self._terms]
        while stack:
            name = stack.pop()
            if name not in needed:
                needed.add(name)
                stack += self._terms[name][1]
        defined = [name for name in self._terms if name in needed and self._terms[name][0]]
        filled = self._filled(text, given)
        if not defined:
            return filled
        before = "".join(f"(let (({name} {self._terms[name][0]})) " for name in defined)
        begin, term, end = re.split(r"(\(assert )", filled, maxsplit=1)[0:3]
        body, rest = end[: _closing(end)], end[_closing(end) :]
        return f"{begin}{term}{before}{body}{')' * len(defined)}{rest}"


def _closing(text: str) -> int:
    """Return where the bracket is that closes one before the text."""
    depth = 0
    for at, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if depth < 0:
            return at
    return len(text)


def _place(call: Call) -> str:
    return f"line {call.line}: {call}" if call.line else str(call)
