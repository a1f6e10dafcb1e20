"""Finds violations of the SMT-LIB standard: in commands, their order, and sorts of terms."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from reducekit.frontends.smt2.commands import count_levels
from reducekit.frontends.smt2.view import ScriptView

_OPEN = ord("(")
_ARGUMENTS: Mapping[bytes, tuple[int, int]] = {
    b"assert": (1, 1),
    b"check-sat": (0, 0),
    b"check-sat-assuming": (1, 1),
    b"declare-const": (2, 2),
    b"declare-datatype": (2, 2),
    b"declare-datatypes": (2, 2),
    b"declare-fun": (3, 3),
    b"declare-sort": (2, 2),
    b"declare-sort-parameter": (1, 1),
    b"define-const": (3, 3),
    b"define-fun": (4, 4),
    b"define-fun-rec": (4, 4),
    b"define-funs-rec": (2, 2),
    b"define-sort": (3, 3),
    b"echo": (1, 1),
    b"exit": (0, 0),
    b"get-assertions": (0, 0),
    b"get-assignment": (0, 0),
    b"get-info": (1, 1),
    b"get-model": (0, 0),
    b"get-option": (1, 1),
    b"get-proof": (0, 0),
    b"get-unsat-assumptions": (0, 0),
    b"get-unsat-core": (0, 0),
    b"get-value": (1, 1),
    b"pop": (1, 1),
    b"push": (1, 1),
    b"reset": (0, 0),
    b"reset-assertions": (0, 0),
    b"set-info": (1, 2),
    b"set-logic": (1, 1),
    b"set-option": (1, 2),
}
"""The commands of the standard (2.7, section 3.9), with their numbers of arguments."""
_BODIES = frozenset((b"define-fun", b"define-fun-rec", b"define-const"))
_NUMERAL = re.compile(rb"0|[1-9][0-9]*")
_SHOWN = 60
_MOST = 20
"""The maximum number of problems to report."""


def problems(view: ScriptView, *, extensions: bool = False) -> list[str]:
    """Return the first few problems of a script, each with its line.

    With `extensions`, commands that are not in the standard are accepted.
    """
    found: list[str] = []
    document = view.document
    for node, what in _problems(view, extensions):
        line = document.text.count(b"\n", 0, document.start[node]) + 1
        found.append(f"line {line}: {what}")
        if len(found) == _MOST:
            break
    return found


def _wrong_command(name: bytes, count: int, extensions: bool) -> str:
    """Say why a name with that many arguments is no command; empty if it is one."""
    shown = f"`{name.decode(errors='replace')}`"
    if not name:
        return "is not a command"
    if name not in _ARGUMENTS:
        return "" if extensions else f"{shown} is not a command of the standard"
    least, most = _ARGUMENTS[name]
    return "" if least <= count <= most else f"{shown} takes {_count(least, most)}"


def _content(view: ScriptView, name: bytes, children: list[int]) -> Iterator[tuple[int, str]]:
    if name == b"assert" and view.script.sort[children[1]] not in (None, "Bool"):
        yield children[1], f"`{_shown(view, children[1])}` is not Bool"
    elif name in _BODIES:
        yield from _body(view, children)


def _problems(view: ScriptView, extensions: bool) -> Iterator[tuple[int, str]]:
    """Yield the node and the description of each problem."""
    document, script = view.document, view.script
    open_levels = 0
    for node, name in zip(script.commands, script.names, strict=True):
        children = list(document.children(node))
        wrong = _wrong_command(name, len(children) - 1, extensions)
        if wrong:
            yield node, wrong if name else f"`{_shown(view, node)}` {wrong}"
            continue
        if name in (b"push", b"pop"):
            if _NUMERAL.fullmatch(document.source(children[1])) is None:
                yield node, f"`{name.decode()}` takes a numeral"
            levels = count_levels(document, node)
            open_levels += levels if name == b"push" else -levels
            if open_levels < 0:
                yield node, "`pop` of more levels than are open"
                open_levels = 0
        elif name == b"reset":
            open_levels = 0
        else:
            yield from _content(view, name, children)
    for node in _unsorted(view):
        yield node, f"`{_shown(view, node)}` has no sort"


def _body(view: ScriptView, children: Sequence[int]) -> Iterator[tuple[int, str]]:
    """Yield the body of a definition if it does not have the declared sort."""
    script = view.script
    for definition in script.definitions:
        if definition.node == children[1]:
            own = script.sort[children[-1]]
            if own is not None and definition.sort not in (None, own):
                shown = _shown(view, children[-1])
                yield children[-1], f"`{shown}` does not have the declared sort"


def _unsorted(view: ScriptView) -> Iterator[int]:
    """Yield the terms without a sort all of whose subterms have one."""
    document, script = view.document, view.script
    is_term, sort = script.is_term, script.sort
    last = -1
    for node in range(len(document) - 1, 0, -1):
        if is_term[node] and sort[node] is None:
            # Nodes come after those that contain them, so terms inside this one were seen before.
            if node < last < document.stop[node]:
                continue
            last = node
            yield node


def _shown(view: ScriptView, node: int) -> str:
    text = view.document.source(node).decode(errors="replace")
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def _count(least: int, most: int) -> str:
    if least == most:
        return f"{least or 'no'} argument{'' if least == 1 else 's'}"
    return f"{least} to {most} arguments"
