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
    Scope,
    Variable,
    compile_condition,
    compile_target,
    compile_value,
    parse,
)

_ASSIGNMENT = re.compile(r"([^=]*?)\s*(=|\+=|-=)(?!=)\s*(.*)")
_DOMAIN = re.compile(r"([A-Za-z_]\w*)\s+in\s+(.*?)\s*(?:\.\.\s*(.*))?")


def compile_effect(text: str, scope: Scope) -> list[str]:
    """Compile an effect to lines of Python. Raises LanguageError with what was expected.

    An effect that mentions `result` happens only where the result is known.
    """
    head, loop, condition = _split(text, scope)
    inner = scope
    # From the outside in: the list of arguments, the loop, the condition, the statement.
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
    if condition:
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
    # The bounds of a loop may name the result, too; they are compiled already.
    if "result" in used or (loop is not None and re.search("[^a-z_]r[^a-z_]", loop[1])):
        lines = ["if r is not None:", *("    " + line for line in lines)]
    return lines


_EACH = re.compile(r"for v_ in (range\([1-9]\d*, .*\)|tuple\((d\[\d+\])\)):")
_FLAGGED = re.compile(r"if k_: (d\[\d+\])\.add\(k_\)")


def _at_once(
    head: str,
    loop: tuple[str, str, Variable | None],
    condition: str,
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
    # A loop over thousands of variables takes most of the time of a solve: one `update` of the set
    # does the same, if no condition asks for what the loop itself changes.
    setting = _FLAGGED.fullmatch(statement[-1])
    if setting is None or statement[:-1] != ["k_ = abs(v_)"]:
        return []
    domain = each[2] or each[1]
    if not condition:
        return [f"{setting[1]}.update({domain})"]
    code = compile_condition(condition, inner)
    if code.names & {*names, "result"} - {variable} or any(
        name.star for name in scope.names.values()
    ):
        return []
    if "v_" not in code.text:
        # It is the same for all variables, so it is asked once.
        return [f"if {code.text}: {setting[1]}.update({domain})"]
    # Variables are positive, and a list is made before the set changes.
    text = code.text.replace("abs(v_)", "v_")
    return [f"{setting[1]}.update([v_ for v_ in {domain} if {text}])"]


def _split(text: str, scope: Scope) -> tuple[str, tuple[str, str, Variable | None] | None, str]:
    """Split an effect into its statement, loop (variable, opening line, flag), and condition."""
    rest, _, condition = _part(text, "when")
    statement, looping, domain = _part(rest, "for")
    if not looping:
        return statement, None, condition
    found = _DOMAIN.fullmatch(domain)
    if found is None:
        raise LanguageError(f"expected 'for NAME in FLAG' or 'for NAME in LOW..HIGH', in {text!r}")
    variable, where, high = found.groups()
    flag = scope.variables.get(where)
    if high is None and flag is not None and flag.per:
        if not flag.flag or flag.initial:
            raise LanguageError(f"expected a flag that is false at first in {text!r}")
        # A copy: the statement may change the very flag that is looped over.
        return statement, (variable, f"for v_ in tuple(d[{flag.slot}]):", flag), condition
    if high is None:
        raise LanguageError(f"expected '..' and a number after {where!r}, in {text!r}")
    low, end = (compile_value(each, scope, "number").text for each in (where, high))
    return statement, (variable, f"for v_ in range({low}, {end} + 1):", None), condition


def _part(text: str, word: str) -> tuple[str, bool, str]:
    """Split a text at the first standalone keyword; a missing part is empty."""
    before, *after = re.split(rf"\b{word}\b", text, maxsplit=1)
    return before.strip(), bool(after), "".join(after).strip()


def _statement(text: str, scope: Scope) -> tuple[list[str], frozenset[str]]:
    """Compile the statement of an effect: its lines, and the names in it."""
    verb, _, rest = text.partition(" ")
    if verb == "goto":
        mask = 0
        for state in re.split(r"\bor\b", rest):
            mask |= scope.mask(state.strip())
        return [f"m.mask = {mask}"], frozenset()
    if verb == "clear" and rest.strip() == "all":
        return ["m.clear()"], frozenset()
    if verb == "clear":
        variable = scope.lookup(rest.strip())
        if variable.per:
            return [f"d[{variable.slot}].clear()"], frozenset()
        initial = bool(variable.initial) if variable.flag else variable.initial
        return [f"d[{variable.slot}] = {initial!r}"], frozenset()
    found = _ASSIGNMENT.fullmatch(text)
    if found is None:
        raise LanguageError(f"expected '=', '+=' or '-=', 'clear' or 'goto' in {text!r}")
    target, sign, value_text = found.groups()
    name, variable, key = compile_target(parse(target), scope)
    value = compile_value(value_text, scope)
    names = value.names | key.names | {name}
    if value.kind != ("truth" if variable.flag else "number"):
        what = "a condition" if variable.flag else "a number"
        raise LanguageError(f"expected {what} after {sign!r}, found a {value.kind} in {text!r}")
    if variable.flag:
        if sign != "=":
            raise LanguageError(f"expected '=' after the flag {name!r} in {text!r}")
        return _set_flag(variable, key.text, value.text), names
    slot = variable.slot
    if not variable.per:
        return [f"d[{slot}] {sign} {value.text}"], names
    # 0 is no variable: it has no counters, and setting them has no effect.
    old = "" if sign == "=" else f"d[{slot}].get(k_, {variable.initial}) {sign[0]} "
    return [f"k_ = {key.text}", f"if k_: d[{slot}][k_] = {old}{value.text}"], names


def _set_flag(variable: Variable, key: str, value: str) -> list[str]:
    """Return the lines that set a flag; 0 is no variable, and has no flags."""
    slot = variable.slot
    if not variable.per:
        return [f"d[{slot}] = {value}"]
    # A flag that is true at first is kept as the set of those for which it is false.
    add, discard = ("discard", "add") if variable.initial else ("add", "discard")
    if value in ("True", "False"):
        method = add if value == "True" else discard
        return [f"k_ = {key}", f"if k_: d[{slot}].{method}(k_)"]
    return [
        f"k_ = {key}",
        f"if k_: (d[{slot}].{add} if {value} else d[{slot}].{discard})(k_)",
    ]
