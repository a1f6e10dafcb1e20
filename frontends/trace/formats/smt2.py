"""Traces of SMT solvers as SMT-LIB scripts: what each call is there is said by its model."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from reducekit.errors import UsageError
from reducekit.frontends.trace.language.calls import Call, Value
from reducekit.frontends.trace.model.definition import CallModel, Model, Type

_PLACE = re.compile(r"\{(\w+)(\.width)?\}")
_WIDTH = re.compile(r"\(_ BitVec (\d+)\)")
# The type of handles that are sorts.
_SORT = "sort"
# Roles of calls that change no answer, or that a script has none of.
_OMITTED = ("query", "hint", "option", "init", "release")


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


class _Term(NamedTuple):
    """A term or command, and the names of the terms in it; a declared constant has no text."""

    text: str
    inner: tuple[str, ...]


class _Writer:
    """Writes calls as commands. What is assumed holds for the next solve."""

    def __init__(self, model: Model) -> None:
        self.lines = ["(set-logic ALL)"]
        self.left_out: list[Call] = []
        self._model = model
        self._logic = 0  # the index of its line
        self._sorts: dict[str, str] = {}
        self._terms: dict[str, _Term] = {}
        self._assumed: list[_Term] = []

    def add(self, call: Call) -> None:
        """Write a call. Raises UsageError."""
        known = self._model.calls.get(call.name)
        if known is None:
            return
        if known.role == "init" and len(self.lines) > self._logic + 1:
            self._logic = len(self.lines) + 1
            self.lines += ["(reset)", "(set-logic ALL)"]
            self._sorts, self._terms, self._assumed = {}, {}, []
        if not known.smt:
            if known.role not in _OMITTED:
                raise UsageError(f"{call.place}: SMT-LIB has nothing like it")
            if known.role in ("query", "hint"):
                self.left_out.append(call)
            return
        filled = self._filled(known, call)
        if filled.text.startswith("(set-logic"):
            self.lines[self._logic] = filled.text
        elif filled.text.startswith("(declare-"):
            # Beyond all levels: a term of an API outlives the level that it is made in.
            self.lines.insert(self._logic + 1, filled.text)
            self._terms[str(call.result)] = _Term("", ())
        elif known.produces == _SORT:
            self._sorts[str(call.result)] = filled.text
        elif known.produces:
            self._terms[str(call.result)] = filled
        elif known.role == "assume":
            self._assumed.append(filled)
        elif known.role == "solve" and self._assumed:
            self.lines.append("(push 1)")
            self.lines += [
                self._with_terms(f"(assert {each.text})", each.inner) for each in self._assumed
            ]
            self.lines += [filled.text, "(pop 1)"]
            self._assumed = []
        else:
            self.lines.append(self._with_terms(*filled))

    def _filled(self, known: CallModel, call: Call) -> _Term:
        """Return what a call is. Raises UsageError where it takes what SMT-LIB has no name for."""
        given = list(call.arguments)
        more = len(given) - sum(not each.star for each in known.arguments)
        spelled = {"call": call.name, "result": str(call.result)}
        inner: dict[str, None] = {}
        shown = {match[1] for match in _PLACE.finditer(known.smt)}
        for each in known.arguments:
            count = more if each.star else 1
            values, given = given[:count], given[count:]
            texts = []
            for value in values:
                text, name = self._spelled(value, each.type)
                if name and name not in self._terms and each.name in shown:
                    raise UsageError(f"{call.place}: SMT-LIB has no name for {value}")
                inner |= {name: None} if name else {}
                texts.append(text)
            spelled[each.name] = " ".join(texts)

        def put(match: re.Match[str]) -> str:
            text = spelled[match[1]]
            width = _WIDTH.search(text) if match[2] else None
            return text if width is None else width[1]

        text = _PLACE.sub(put, known.smt).replace(" )", ")")
        return _Term(text, tuple(name for name in inner if name in self._terms))

    def _spelled(self, value: Value, kind: Type) -> tuple[str, str]:
        """Return how a value is written, and the term that it names, "" for none."""
        if isinstance(value, int):
            return (str(value) if value >= 0 else f"(- {-value})"), ""
        if kind.kind != "handle":
            return value, ""
        if value in self._sorts:
            return self._sorts[value], ""
        name = value.replace(kind.negation, "", 1) if kind.negation else value
        return (name if name == value else f"(bvnot {name})"), name

    def _with_terms(self, text: str, inner: Sequence[str]) -> str:
        """Return a command, with the terms in its assertion defined around what is asserted."""
        needed: set[str] = set()
        stack = [*inner]
        while stack:
            name = stack.pop()
            if name not in needed:
                needed.add(name)
                stack += self._terms[name].inner
        defined = [name for name, term in self._terms.items() if name in needed and term.text]
        if not defined:
            return text
        before = "".join(f"(let (({name} {self._terms[name].text})) " for name in defined)
        begin, asserted, rest = text.partition("(assert ")
        end = _closing(rest)
        return f"{begin}{asserted}{before}{rest[:end]}{')' * len(defined)}{rest[end:]}"


def _closing(text: str) -> int:
    """Return where the bracket is that closes one before the text."""
    depth = 0
    for at, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if depth < 0:
            return at
    return len(text)
