"""Reads the conditions and effects of a model; raises ModelError where one cannot be used."""

from __future__ import annotations

from reducekit.frontends.trace.model.conditions import (
    Code,
    LanguageError,
    Scope,
    compile_condition,
    compile_value,
)
from reducekit.frontends.trace.model.definition import Effect, Rule
from reducekit.frontends.trace.model.effects import compile_effect
from reducekit.frontends.trace.model.tables import Table, shown


def read_rules(table: Table, key: str, scope: Scope) -> tuple[Rule, ...]:
    """Return a list of conditions; each is a text, or a text and why it holds."""
    value = table.take(key, [])
    if isinstance(value, (str, dict)):
        value = [value]
    if not isinstance(value, list):
        table.fail(key, f"expected a list of conditions, found {shown(value)}")
    found: list[Rule] = []
    for number, each in enumerate(value):
        where = f"{key}[{number}]"
        text, why = each, ""
        if isinstance(each, dict):
            text, why = each.get("is"), each.get("why", "")
            if set(each) - {"is", "why"} or not isinstance(why, str):
                table.fail(where, f"expected {{is = ..., why = ...}}, found {shown(each)}")
        found.append(read_condition(table, where, text, why, scope))
    return tuple(found)


def read_rule(table: Table, key: str, scope: Scope) -> Rule | None:
    """Return the condition that a key holds, None if there is no such key."""
    if key not in table.content:
        return None
    return read_condition(table, key, table.take(key), "", scope)


def read_condition(table: Table, key: str, text: object, why: str, scope: Scope) -> Rule:
    """Compile a condition."""
    if not isinstance(text, str):
        table.fail(key, f"expected a condition, found {shown(text)}")
    try:
        return Rule(text, why, compile_condition(text, scope))
    except LanguageError as error:
        table.fail(key, str(error))


def read_effects(table: Table, scope: Scope) -> tuple[Effect, ...]:
    """Return a list of effects."""
    found: list[Effect] = []
    for number, text in enumerate(table.words("effects")):
        try:
            found.append(Effect(text, tuple(compile_effect(text, scope))))
        except LanguageError as error:
            table.fail(f"effects[{number}]", str(error))
    return tuple(found)


def read_number(table: Table, key: str, value: object, scope: Scope) -> Code:
    """Compile an expression for a number."""
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str):
        table.fail(key, f"expected a number or an expression, found {shown(value)}")
    try:
        return compile_value(value, scope, "number")
    except LanguageError as error:
        table.fail(key, str(error))
