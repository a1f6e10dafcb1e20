"""Finds violations of the SMT-LIB standard: in commands, their order, and sorts of terms."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from math import inf
from typing import NamedTuple

from reducekit.frontends.smt2.language.commands import count_levels
from reducekit.frontends.smt2.language.inference import OPERATOR_NAMES
from reducekit.frontends.smt2.language.view import ScriptView

_OPEN = ord("(")
_ARGUMENTS: Mapping[bytes, tuple[int, int]] = {
    name: counts
    for counts, names in (
        ((0, 0), b"check-sat exit get-assertions get-assignment get-model get-proof"),
        ((0, 0), b"get-unsat-assumptions get-unsat-core reset reset-assertions"),
        ((1, 1), b"assert check-sat-assuming declare-sort-parameter echo get-info get-option"),
        ((1, 1), b"get-value pop push set-logic"),
        ((1, 2), b"set-info set-option"),
        ((2, 2), b"declare-const declare-datatype declare-datatypes declare-sort define-funs-rec"),
        ((3, 3), b"declare-fun define-const define-sort"),
        ((4, 4), b"define-fun define-fun-rec"),
    )
    for name in names.split()
}
"""The commands of the standard (2.7, section 3.9), with their numbers of arguments."""
_ALSO: Mapping[bytes, tuple[int, float]] = {
    b"check-sat": (0, inf), b"declare-sort": (1, 2), b"get-model": (0, 1), b"get-proof": (0, 1),
    b"get-value": (1, 3), b"pop": (0, 1), b"push": (0, 1),
}  # fmt: skip
"""The numbers of arguments that Z3 or cvc5 take, too."""
_BODIES = frozenset((b"define-fun", b"define-fun-rec", b"define-const"))
_NUMERAL = re.compile(rb"[0-9]+")
_ONE = frozenset(b"< <= > >= distinct bvadd bvmul bvand bvor bvxor".split())
_NUMERIC = frozenset(b"+ - * / div mod rem abs < <= > >= = distinct".split())
_NUMBERS = frozenset(("Bool", "Int", "Real"))
_THEORIES = frozenset(name.partition(b".")[0] for name in OPERATOR_NAMES if b"." in name)
_SHOWN = 60
_MOST = 20
"""The maximum number of problems to report."""


class Violation(NamedTuple):
    """What breaks a rule of the standard, at a node; in a `dialect`, solvers take it."""

    node: int
    what: str
    dialect: bool = False


def problems(view: ScriptView, *, extensions: bool = False) -> list[str]:
    """Return the first few violations of the standard in a script, each with its line.

    With `extensions`, those that Z3 or cvc5 take are left out.
    """
    found = _violations(view)
    return _described(view, (each for each in found if not (extensions and each.dialect)))


def notes(view: ScriptView) -> list[str]:
    """Return the first few violations of the standard that Z3 or cvc5 take."""
    taken = (each for each in _violations(view) if each.dialect)
    return [f"{each}; solvers may accept it" for each in _described(view, taken)]


def _described(view: ScriptView, found: Iterable[Violation]) -> list[str]:
    text, start = view.document.text, view.document.start
    return [
        f"line {text.count(10, 0, start[each.node]) + 1}: {each.what}"
        for each in islice(found, _MOST)
    ]


def _wrong_command(name: bytes, count: int) -> tuple[str, bool]:
    """Return why a name with that many arguments is no command, and whether solvers take it."""
    shown = f"`{name.decode(errors='replace')}`"
    if name not in _ARGUMENTS:
        return f"{shown} is not a command of the standard", True
    least, most = _ARGUMENTS[name]
    if least <= count <= most:
        return "", False
    fewest, many = _ALSO.get(name, (least, most))
    taken = f"{least} to {most}" if least < most else f"{least or 'no'}"
    plural = "" if least == most == 1 else "s"
    return f"{shown} takes {taken} argument{plural}", fewest <= count <= many


def _violations(view: ScriptView) -> Iterator[Violation]:
    document, script = view.document, view.script
    open_levels = 0
    for node, name in zip(script.commands, script.names, strict=True):
        children = list(document.children(node))
        if not name:
            yield Violation(node, f"`{_shown(view, node)}` is not a command")
            continue
        wrong, taken = _wrong_command(name, len(children) - 1)
        if wrong:
            yield Violation(node, wrong, taken)
            if not taken:
                continue
        if name in (b"push", b"pop"):
            if children[1:] and _NUMERAL.fullmatch(document.source(children[1])) is None:
                yield Violation(node, f"`{name.decode()}` takes a numeral")
            levels = count_levels(document, node)
            open_levels += levels if name == b"push" else -levels
            if open_levels < 0:
                yield Violation(node, "`pop` of more levels than are open")
                open_levels = 0
        elif name == b"reset":
            open_levels = 0
        elif name == b"assert" and script.sort[children[1]] not in (None, "Bool"):
            yield Violation(children[1], f"`{_shown(view, children[1])}` is not Bool")
        elif name in _BODIES and (number := view.bound_at(children[1])) >= 0:
            body, declared = children[-1], script.definitions[number].sort
            if script.sort[body] is not None and declared not in (None, script.sort[body]):
                yield Violation(body, f"`{_shown(view, body)}` does not have the declared sort")
    for node in _unsorted(view):
        yield Violation(node, f"`{_shown(view, node)}` has no sort", _is_taken(view, node))


def _is_taken(view: ScriptView, node: int) -> bool:
    """Return whether a solver may take a term that has no sort.

    Z3 takes one argument in place of two, and a Bool as a number. A name that begins like those of
    a theory may be an operator of a release that is not known here.
    """
    document, script = view.document, view.script
    head, *arguments = list(document.children(node)) or [node]
    words = list(document.children(head))
    name = document.source(words[1] if len(words) > 1 else head)
    if name == b"_" and arguments:
        name = document.source(arguments[0])
    if script.refs[head] >= 0:
        return False
    if name not in OPERATOR_NAMES and name.partition(b".")[0] in _THEORIES:
        return True
    sorts = [script.sort[each] for each in arguments]
    if not sorts or None in sorts:
        return False
    return (len(sorts) == 1 and name in _ONE) or (name in _NUMERIC and _NUMBERS.issuperset(sorts))


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
