"""What is left of a reduced script, by which failures without a place in the code differ."""

from __future__ import annotations

from reducekit.frontends.smt2.language.parser import parse
from reducekit.frontends.smt2.language.script import Script, analyse
from reducekit.frontends.smt2.language.sorts import Sort
from reducekit.frontends.smt2.language.terms import subterms

_CONNECTIVES = frozenset(b"not and or xor => let ! true false".split())
"""They hold the rest together, and vary with the way a reduction went."""
_RELATIONS = frozenset(
    b"= distinct ite < <= > >= bvult bvule bvugt bvuge bvslt bvsle bvsgt bvsge"
    b" fp.eq fp.lt fp.leq fp.gt fp.geq str.< str.<=".split()
)
"""They compare what other operators make."""
_POLYMORPHIC = _RELATIONS | frozenset(b"select store".split())
_USUAL = (
    b"set-logic", b"set-option", b"set-info", b"assert", b"check-sat", b"check-sat-assuming",
    b"push", b"pop", b"exit",
)  # fmt: skip
_DECLARING = (b"declare-", b"define-")


def _with_sorts(script: Script, node: int, name: bytes) -> str:
    """Return the name of an operator, with the sorts of its arguments if these may be any."""
    shown = name.decode(errors="replace")
    if name in _POLYMORPHIC:
        sorts = {_head(script.sort[each]) for each in subterms(script, node)}
        shown += f" {' '.join(sorted(sorts - {'Bool'})) or 'Bool'}"
    return shown


def _is_unusual(command: bytes) -> bool:
    return bool(command) and command not in _USUAL and not command.startswith(_DECLARING)


def skeleton(text: bytes) -> str:
    """Return the operators of a script with their sorts, and its unusual commands, in one line.

    Of the kinds of operators only the one that says most counts: functions of theories, otherwise
    quantifiers and relations with the sorts that they relate. Raises ParseError.
    """
    script = analyse(parse(text))
    functions: set[str] = set()
    relations: set[str] = set()
    for node in filter(script.is_term.__getitem__, range(1, len(script.document))):
        name = _operator(script, node)
        if name is not None and name not in _CONNECTIVES:
            shown = _with_sorts(script, node, name)
            (relations if name in _RELATIONS | {b"forall", b"exists"} else functions).add(shown)
    commands = {name.decode(errors="replace") for name in filter(_is_unusual, script.names)}
    return ", ".join(sorted(functions or relations) + sorted(commands)) or "nothing"


def _operator(script: Script, node: int) -> bytes | None:
    """Return the operator that a term applies, without its indices; None for a constant."""
    document = script.document
    head = node + 1
    if head >= document.stop[node]:  # a symbol or a literal
        return None
    if script.refs[head] >= 0:
        return b"function"
    applied = document.stop[head] > head + 1
    if applied:  # (_ extract 7 0), (as const ...)
        head += 1
    name = document.source(head)
    if name not in (b"_", b"as") or head + 1 >= document.stop[node]:
        return name
    # A literal such as (_ bv0 8) or (_ NaN 8 24) tells no more than its sort.
    return document.source(head + 1) if applied or name == b"as" else None


def _head(sort: Sort | None) -> str:
    return "" if sort is None else sort if isinstance(sort, str) else str(sort[0])
