"""Compiles the effects of calls: what they do to the state of a model.

    effect: TARGET = EXPR | TARGET += EXPR | TARGET -= EXPR | clear NAME | clear all
            | goto STATE [or STATE ...], then [for V in FLAG | for V in LOW..HIGH],
            then [when CONDITION]

Expressions and conditions are those of `reducekit.frontends.trace.model.conditions`.
"""

from __future__ import annotations

import re
from dataclasses import replace

from reducekit.frontends.trace.model.conditions import (
    LanguageError,
    Name,
    Reader,
    Scope,
    Variable,
    compile_condition,
)


def compile_effect(text: str, scope: Scope) -> list[str]:
    """Compile an effect to lines of Python. Raises LanguageError with what was expected.

    An effect that mentions `result` happens only where the result is known.
    """
    reader = Reader(text, scope)
    head, loop, condition = _split(reader)
    inner = scope
    lines: list[str] = []
    indent = ""
    if loop is not None:
        variable, opening, flag = loop
        entity = Name("v_", "word" if flag and flag.per.startswith("handle:") else "number")
        inner = replace(scope, names={**scope.names, variable: entity})
        lines.append(opening)
        indent = "    "
    used: frozenset[str] = frozenset()
    if loop is not None and (at_once := _at_once(head, loop, condition, scope, inner)):
        return at_once
    if condition is not None:
        code = compile_condition(condition, inner)
        used |= code.names
        lines.append(f"{indent}if {code.text}:")
        indent += "    "
    statement, names = _statement(head, inner)
    used |= names
    starred = sorted(name for name in used if name in inner.names and inner.names[name].star)
    if starred:
        if len(starred) > 1 or loop is not None:
            raise LanguageError(f"only one list of arguments, and no 'for', may occur in {text!r}")
        name = inner.names[starred[0]]
        lines = [f"for {name.code} in {name.code}s:", *("    " + line for line in lines)]
        indent += "    "
    lines += [indent + line for line in statement]
    if "result" in used or (loop is not None and re.search("[^a-z_]r[^a-z_]", loop[1])):
        lines = ["if r is not None:", *("    " + line for line in lines)]
    return lines


_EACH = re.compile(r"for v_ in (range\([1-9]\d*, .*\)|tuple\((d\[\d+\])\)):")
_FLAGGED = re.compile(r"if k_: (d\[\d+\])\.add\(k_\)")


def _at_once(
    head: str,
    loop: tuple[str, str, Variable | None],
    condition: str | None,
    scope: Scope,
    inner: Scope,
) -> list[str]:
    """Return a line that sets a flag of many variables, if the effect is no more than that.

    Its condition must not ask for the flag. Nothing is returned for other effects.
    """
    variable, opening, flag = loop
    each = _EACH.fullmatch(opening)
    if each is None or (flag is not None and flag.per != "variable"):
        return []
    statement, names = _statement(head, inner)
    setting = _FLAGGED.fullmatch(statement[-1])
    if setting is None or statement[:-1] != ["k_ = abs(v_)"]:
        return []
    domain = each[2] or each[1]
    if condition is None:
        return [f"{setting[1]}.update({domain})"]
    code = compile_condition(condition, inner)
    if code.names & {*names, "result"} - {variable} or any(
        name.star for name in scope.names.values()
    ):
        return []
    if "v_" not in code.text:
        return [f"if {code.text}: {setting[1]}.update({domain})"]
    text = code.text.replace("abs(v_)", "v_")
    return [f"{setting[1]}.update([v_ for v_ in {domain} if {text}])"]


def _split(reader: Reader) -> tuple[str, tuple[str, str, Variable | None] | None, str | None]:
    """Part an effect into the statement, its loop (variable, opening line, flag), its condition."""
    source = reader.source
    rest, condition = source, None
    found = re.search(r"\bwhen\b", rest)
    if found is not None:
        rest, condition = rest[: found.start()], rest[found.end() :]
    loop: tuple[str, str, Variable | None] | None = None
    found = re.search(r"\bfor\b", rest)
    if found is not None:
        rest, domain = rest[: found.start()], rest[found.end() :]
        inner = Reader(domain, reader.scope)
        variable = inner.name("the name of a variable")
        inner.expect("in")
        kind, token = inner.tokens[inner.at]
        flag = reader.scope.variables.get(token)
        if kind == "name" and flag is not None and flag.per:
            inner.at += 1
            if not flag.flag or flag.initial:
                raise LanguageError(f"expected a flag that is false at first in {source!r}")
            opening = f"for v_ in tuple(d[{flag.slot}]):"
        else:
            flag = None
            low = inner.sum()
            inner.expect("..")
            high = inner.sum()
            if low.kind != "number" or high.kind != "number":
                raise LanguageError(f"expected numbers on both sides of '..' in {source!r}")
            opening = f"for v_ in range({low.text}, {high.text} + 1):"
        inner.done()
        loop = (variable, opening, flag)
    return rest, loop, condition


def _statement(text: str, scope: Scope) -> tuple[list[str], frozenset[str]]:
    """Compile the statement of an effect: its lines, and the names in it."""
    reader = Reader(text, scope)
    if reader.take("clear"):
        if reader.take("all"):
            reader.done()
            return ["m.clear()"], frozenset()
        variable = reader.lookup(reader.name("the name of a counter or flag"))
        reader.done()
        if variable.per:
            return [f"d[{variable.slot}].clear()"], frozenset()
        return [f"d[{variable.slot}] = {_initial(variable)}"], frozenset()
    if reader.take("goto"):
        mask = reader.states()
        while reader.take("or"):
            mask |= reader.states()
        reader.done()
        return [f"m.mask = {mask}"], frozenset()
    name = reader.name("a counter, a flag, 'clear' or 'goto'")
    variable = reader.lookup(name)
    slot = variable.slot
    key, names = "", frozenset((name,))
    if variable.per:
        reader.expect("(")
        key, inside = reader.key(variable)
        names |= inside
        reader.expect(")")
    sign = reader.take("=", "+=", "-=")
    if sign is None:
        reader.fail("'=', '+=' or '-='")
    value = reader.condition()
    reader.done()
    names |= value.names
    if value.kind != ("truth" if variable.flag else "number"):
        what = "a condition" if variable.flag else "a number"
        raise LanguageError(f"expected {what} behind {sign!r}, found a {value.kind} in {text!r}")
    if variable.flag:
        if sign != "=":
            raise LanguageError(f"expected '=' behind the flag {name!r} in {text!r}")
        return _set_flag(variable, key, value.text), names
    if not variable.per:
        return [f"d[{slot}] {sign} {value.text}"], names
    if sign != "=":
        old = f"d[{slot}].get(k_, {variable.initial})"
        return [f"k_ = {key}", f"if k_: d[{slot}][k_] = {old} {sign[0]} {value.text}"], names
    return [f"k_ = {key}", f"if k_: d[{slot}][k_] = {value.text}"], names


def _set_flag(variable: Variable, key: str, value: str) -> list[str]:
    """Return the lines that set a flag; entity 0 is none, and has no flags."""
    slot = variable.slot
    if not variable.per:
        return [f"d[{slot}] = {value}"]
    add, discard = ("discard", "add") if variable.initial else ("add", "discard")
    if value in ("True", "False"):
        method = add if value == "True" else discard
        return [f"k_ = {key}", f"if k_: d[{slot}].{method}(k_)"]
    return [
        f"k_ = {key}",
        f"if k_: (d[{slot}].{add} if {value} else d[{slot}].{discard})(k_)",
    ]


def _initial(variable: Variable) -> str:
    return repr(bool(variable.initial)) if variable.flag else repr(variable.initial)
