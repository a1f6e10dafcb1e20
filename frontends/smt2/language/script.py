"""The analysis of a script: its commands, scopes and definitions, and the sort of each term.

`analyse` is the only entry point: a linear pass over a parsed document. It never raises on
ill-formed parts, but leaves their sorts unknown (None) and their references unresolved (-1).
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable, Mapping
from typing import NamedTuple

from reducekit.document import Document
from reducekit.frontends.smt2.language.commands import MAX_PUSH, count_levels
from reducekit.frontends.smt2.language.declarations import declare
from reducekit.frontends.smt2.language.forms import FORMS
from reducekit.frontends.smt2.language.inference import Inference
from reducekit.frontends.smt2.language.scopes import CommandScope, Definition
from reducekit.frontends.smt2.language.sorts import Sort, canonical, family

__all__ = ["CommandScope", "Definition", "Script", "Sort", "analyse"]

_OPEN = ord("(")

# Which arguments of a command are terms: from the first index to before the
# second, and whether they are the elements of a list there.
_TERMS: Mapping[bytes, tuple[int, int | None, bool]] = {
    **dict.fromkeys((b"assert", b"check-sat", b"get-implied-equalities"), (0, None, False)),
    **dict.fromkeys(
        b"assert-soft simplify eval minimize maximize query rule constraint assume display get-qe"
        b" get-qe-disjunct".split(),
        (0, 1, False),
    ),
    **dict.fromkeys((b"get-interpolant", b"get-abduct"), (1, 2, False)),
    **dict.fromkeys((b"check-sat-assuming", b"get-value", b"block-model-values"), (0, 1, True)),
    b"check-sat-assuming-model": (1, 2, True),
}
# Commands whose symbols are names of options and logics, or free text.
_WORDLESS = frozenset(
    b"set-logic set-info set-option get-info get-option echo include meta-info".split()
)
# Logics with Reals and without Ints, where a numeral is a Real (theory Reals).
_REAL_LOGICS = frozenset(
    b"LRA QF_LRA UFLRA QF_UFLRA AUFLRA QF_AUFLRA QF_ALRA NRA QF_NRA UFNRA QF_UFNRA AUFNRA QF_RDL"
    b" RDL QF_AUFNRA QF_UFRDL".split()
)


class Script(NamedTuple):
    """The results of the analysis. Lists are indexed by node unless noted otherwise.

    `commands` are the top-level nodes in order and `names` the symbols they start with, b"" without
    one. `sort` is the sort of a node that stands where a term stands, None if it does not or the
    sort is unknown. `is_term` is 1 for nodes that stand where a term stands: no symbol at the head
    of an application, sort, binder, attribute name, index, identifier inside `as`. `refs` is an
    index into `definitions`: what a symbol refers to, -1 for nothing in the script. `scopes` are
    the command-level scopes, the root first. `constructors` are the datatype constructors as
    indices into `definitions`, by the name of the sort.
    """

    document: Document
    commands: list[int]
    names: list[bytes]
    sort: list[Sort | None]
    is_term: bytearray
    refs: array[int]
    definitions: list[Definition]
    scopes: list[CommandScope]
    constructors: dict[str, list[int]]

    def command_of(self, node: int) -> int:
        """Return the index into `commands` of the command that holds a node; -1 for the root."""
        return bisect_right(self.commands, node) - 1


def analyse(document: Document) -> Script:
    """Resolve the names of a script and infer the sorts of its terms."""
    text, start, end, stop = document.text, document.start, document.end, document.stop
    walk = Inference(document, FORMS)
    levels = _Levels(walk)
    commands: list[int] = []
    names: list[bytes] = []
    node = 1
    while node < stop[0]:
        head = node + 1
        is_command = text[start[node]] == _OPEN and stop[node] > head and text[start[head]] != _OPEN
        name = text[start[head] : end[head]] if is_command else b""
        position = len(commands)
        commands.append(node)
        names.append(name)
        if declare(walk, node, name):
            pass
        elif name in _TERMS:
            _visit_terms(walk, node, *_TERMS[name])
        elif (handle := _STATE.get(name)) is not None:
            handle(levels, node, position)
        elif name not in _WORDLESS:
            walk.scopes.note_uses(node, stop[node])
        # Names given inside a binder remain visible outside of it.
        for definition in walk.named:
            walk.scopes.show(definition)
        walk.named.clear()
        node = stop[node]
    constructors: dict[str, list[int]] = {}
    for number, (_, kind, _, _, _, sort) in enumerate(walk.scopes.definitions):
        if kind == "constructor" and sort is not None:
            constructors.setdefault(family(sort), []).append(number)
    return Script(
        document,
        commands,
        names,
        walk.sort,
        walk.is_term,
        walk.scopes.refs,
        walk.scopes.definitions,
        levels.finish(len(commands)),
        constructors,
    )


def _visit_terms(walk: Inference, command: int, first: int, last: int | None, listed: bool) -> None:
    document = walk.document
    stop = document.stop
    child = stop[command + 1]
    limit = stop[command]
    position = 0
    while child < limit and position < first:
        walk.scopes.note_uses(child, stop[child])
        child = stop[child]
        position += 1
    if child >= limit:
        return
    if last is None:
        walk.visit(child, limit)
        return
    if not listed:
        walk.visit(child, stop[child])
    elif document.text[document.start[child]] == _OPEN:
        walk.visit(child + 1, stop[child])
    else:
        walk.scopes.note_uses(child, stop[child])


class _Levels:
    """The command-level scopes while a script is read (standard 2.7, section 4.1.4)."""

    def __init__(self, walk: Inference) -> None:
        self.walk = walk
        self.scopes = [CommandScope(0, -1, -1, -1)]
        self.open: list[tuple[int, int]] = []  # index into scopes, mark of the trail
        self.global_declarations = False

    def finish(self, count: int) -> list[CommandScope]:
        self._close(len(self.open), count)
        self.scopes[0] = self.scopes[0]._replace(last=count)
        return self.scopes

    def push(self, node: int, position: int) -> None:
        for _ in range(min(count_levels(self.walk.document, node), MAX_PUSH)):
            parent = self.open[-1][0] if self.open else 0
            self.open.append((len(self.scopes), self.walk.scopes.mark()))
            self.scopes.append(CommandScope(len(self.open), position, -1, parent))

    def pop(self, node: int, position: int) -> None:
        """(pop n); popping more levels than are open has no effect, as in solvers."""
        count = min(count_levels(self.walk.document, node), MAX_PUSH)
        if 0 < count <= len(self.open):
            mark = self.open[-count][1]
            self._close(count, position)
            if not self.global_declarations:
                self.walk.scopes.undo(mark)

    def reset(self, _: int, position: int) -> None:
        self._close(len(self.open), position)
        self.global_declarations = False
        self.walk.numeral = "Int"
        self.walk.scopes.forget(self.walk.theories())

    def reset_assertions(self, _: int, position: int) -> None:
        """(reset-assertions): also undoes declarations, unless global (standard, 4.2.2)."""
        self._close(len(self.open), position)
        if not self.global_declarations:
            self.walk.scopes.forget(self.walk.theories())

    def set_option(self, node: int, _: int) -> None:
        """(set-option :global-declarations true)."""
        words = [
            self.walk.document.source(n) for n in range(node + 2, self.walk.document.stop[node])
        ]
        if words[:1] in ([b":global-declarations"], [b":global-decls"]):
            self.global_declarations = words[1:2] == [b"true"]

    def set_logic(self, node: int, _: int) -> None:
        """(set-logic L): determines the sort of numerals."""
        if node + 2 < self.walk.document.stop[node]:
            logic = canonical(self.walk.document.source(node + 2))
            self.walk.numeral = "Real" if logic in _REAL_LOGICS else "Int"

    def _close(self, count: int, position: int) -> None:
        for _ in range(count):
            scope, _mark = self.open.pop()
            self.scopes[scope] = self.scopes[scope]._replace(last=position)


_STATE: Mapping[bytes, Callable[[_Levels, int, int], None]] = {
    b"push": _Levels.push,
    b"pop": _Levels.pop,
    b"reset": _Levels.reset,
    b"reset-assertions": _Levels.reset_assertions,
    b"set-option": _Levels.set_option,
    b"set-logic": _Levels.set_logic,
}
