"""Reads what a model says of making and judging traces: options, data, phases, outcomes."""

from __future__ import annotations

import re
import signal
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from reducekit.frontends.trace.model.conditions import Name, Scope
from reducekit.frontends.trace.model.definition import (
    CallModel,
    DataModel,
    Kind,
    Next,
    Option,
    OptionModel,
    Phase,
    Preset,
    Sign,
    Step,
)
from reducekit.frontends.trace.model.rules import read_number, read_rule
from reducekit.frontends.trace.model.tables import Table, shown

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


def read_options(table: Table, calls: Mapping[str, CallModel]) -> OptionModel:
    """Read how options are set; there need be none."""
    if not table.content:
        return OptionModel()
    call = table.text("call")
    if call not in calls:
        table.fail("call", f"expected the name of a call, found {call!r}")
    listed = table.table("table")
    options: dict[str, Option] = {}
    for name in listed.content:
        value = listed.take(name)
        good = isinstance(value, list) and len(value) == 3
        if not good or not all(isinstance(v, int) for v in value):
            listed.fail(name, f"expected [default, least, most], found {shown(value)}")
        if not value[1] <= value[0] <= value[2]:
            listed.fail(name, f"expected least <= default <= most, found {shown(value)}")
        options[name] = Option(name, *value)
    limits = table.table("limits")
    directions = table.table("direction")
    for each in (limits, directions):
        for name in each.content:
            if name not in options:
                each.fail(name, "expected the name of an option")
    for key in ("exclude", "meta"):
        for name in table.words(key):
            if name not in options:
                table.fail(key, f"expected names of options, found {name!r}")
    touch = table.range("touch", (1, 1))
    if touch[0] < 1:
        table.fail("touch", "expected numbers of at least 1")
    fixed = {name: directions.number(name) or 0 for name in directions.content}
    for name, direction in fixed.items():
        if direction not in (-1, 1):
            directions.fail(name, "expected -1 (only lowered) or 1 (only raised)")
    found = OptionModel(
        call,
        options,
        table.flag("strict"),
        table.chance("probability", Fraction(1, 2)),
        _presets(table, "instead", options),
        _presets(table, "besides", options),
        touch,
        table.chance("lowered", Fraction(0)),
        frozenset(table.words("exclude")),
        {name: limits.range(name) for name in limits.content},
        fixed,
        frozenset(table.words("meta")),
        _weights(table.table("weights"), options),
    )
    table.done(
        "call, table, strict, probability, instead, besides, touch, weights, lowered, exclude, "
        "forbid, limits, direction, meta"
    )
    return found


def _weights(table: Table, options: Mapping[str, Option]) -> Mapping[str, float]:
    for name, weight in table.content.items():
        if name not in options:
            table.fail(name, "expected the name of an option")
        if isinstance(weight, bool) or not isinstance(weight, (int, float)) or weight < 0:
            table.fail(name, f"expected a number of at least 0, found {shown(weight)}")
    return dict(table.content)


def _presets(table: Table, key: str, options: Mapping[str, Option]) -> tuple[Preset, ...]:
    found: list[Preset] = []
    for each in table.tables(key):
        values = each.table("set")
        for name in values.content:
            if name not in options or not isinstance(values.content[name], int):
                values.fail(name, "expected the name of an option and a whole number")
        found.append(Preset(each.chance("probability", Fraction(1)), dict(values.content)))
        each.done("probability, set")
    return tuple(found)


def read_data(top: Table) -> DataModel | None:
    """Read what random clauses look like, None if nothing is said of it."""
    if "data" not in top.content:
        return None
    table = top.table("data")
    close = tuple(
        table.as_chance(f"close[{number}]", value)
        for number, value in enumerate(table.items("close"))
    )
    if not close or not close[-1]:
        table.fail("close", "expected probabilities, the last one greater than 0")
    found = DataModel(
        table.range("variables"),
        table.range("ratio"),
        close,
        table.range("growth", (100, 100)),
        table.range("fresh", (0, 0)),
        _kind(table.table("few")),
        _kind(table.table("uniform")),
        table.chance("structured", Fraction(0)),
    )
    if found.variables[0] < 1 or found.ratio[0] < 0:
        table.fail("variables", "expected at least one variable, and a ratio of at least 0")
    table.done("variables, ratio, close, growth, fresh, few, uniform, structured")
    return found


def _kind(table: Table) -> Kind:
    chance = table.chance("probability", Fraction(0))
    ratios: dict[int, int] = {}
    for text, value in (each := table.table("ratios")).content.items():
        if not text.isdecimal() or not isinstance(value, int) or int(text) < 1 or value < 1:
            each.fail(text, "expected a length, and clauses per 100 variables")
        ratios[int(text)] = value
    found = Kind(chance, ratios, table.range("variables", (1, 1)))
    if found.variables[0] < 1:
        table.fail("variables", "expected at least one variable")
    table.done("probability, ratios, variables")
    return found


def read_phases(table: Table, calls: Mapping[str, CallModel], scope: Scope) -> dict[str, Phase]:
    """Read the states of the generator."""
    found: dict[str, Phase] = {}
    for name in table.each(_NAME, "a phase"):
        each = table.table(name)
        steps = tuple(_read_step(step, calls, scope) for step in each.tables("steps"))
        following: list[Next] = []
        for after in each.tables("next"):
            target = after.text("to")
            if target not in table.content:
                after.fail("to", f"expected the name of a phase, found {target!r}")
            chance = after.chance("probability", Fraction(1))
            following.append(Next(target, chance, read_rule(after, "when", scope)))
            after.done("to, probability, when")
        found[name] = Phase(name, steps, tuple(following))
        each.done("steps, next")
    return found


def _read_step(table: Table, calls: Mapping[str, CallModel], scope: Scope) -> Step:
    action = table.text("action", "call")
    if action not in ("call", "options", "clauses", "group"):
        table.fail("action", f"expected call, options, clauses or group, found {action!r}")
    value = table.take("call", {})
    weights = {value: 1} if isinstance(value, str) else value
    if not isinstance(weights, dict) or (action in ("call", "group")) != bool(weights):
        table.fail("call", "expected the name of a call, or names with weights")
    for name, weight in weights.items():
        if name not in calls:
            table.fail("call", f"expected the name of a call, found {name!r}")
        if not isinstance(weight, int) or weight < 1:
            table.fail("call", f"expected a weight of at least 1, found {shown(weight)}")
        if action == "group" and not calls[name].group:
            table.fail("call", f"expected a call that belongs to a group, found {name!r}")
    times = table.take("times")
    if isinstance(times, (int, str)):
        times = [times, times]
    if times is not None and (not isinstance(times, list) or len(times) != 2):
        table.fail("times", f"expected [least, most], found {shown(times)}")
    share = table.take("share")
    if share is not None and (not isinstance(share, list) or len(share) != 2):
        table.fail("share", f"expected [least, most], found {shown(share)}")
    inner = replace(scope, names={"v": Name("v", "number")})
    ranges, choices = table.table("arguments"), table.table("words")
    step = Step(
        action,  # type: ignore[arg-type]  # it is one of the three
        tuple(weights.items()),
        table.chance("probability", Fraction(1)),
        table.chance("again", Fraction(0)),
        None
        if times is None
        else (
            read_number(table, "times[0]", times[0], scope),
            read_number(table, "times[1]", times[1], scope),
        ),
        None
        if share is None
        else (table.as_chance("share[0]", share[0]), table.as_chance("share[1]", share[1])),
        read_rule(table, "where", inner),
        read_number(table, "upto", table.take("upto"), scope) if "upto" in table.content else None,
        table.flag("same"),
        {name: ranges.range(name) for name in ranges.each(_NAME, "an argument")},
        {name: choices.words(name) for name in choices.each(_NAME, "an argument")},
    )
    if step.again == 1:
        table.fail("again", "expected a probability below 1, for the generator has to end")
    table.done(
        "action, call, probability, again, times, share, where, upto, same, arguments, words"
    )
    return step


def read_classify(table: Table) -> tuple[tuple[str, tuple[Sign, ...]], ...]:
    """Read how outcomes are told apart."""
    found: list[tuple[str, tuple[Sign, ...]]] = []
    for name in table.each(_NAME, "an outcome"):
        signs: list[Sign] = []
        for each in table.tables(name):
            sign = Sign(
                each.number("exit"),
                each.take("signal"),
                each.take("stderr"),
                each.take("stdout"),
            )
            if sign.signal is not None and sign.signal not in signal.Signals.__members__:
                each.fail("signal", f"expected a signal such as SIGABRT, found {sign.signal!r}")
            for key, pattern in (("stderr", sign.stderr), ("stdout", sign.stdout)):
                try:
                    re.compile(pattern or "")
                except (re.error, TypeError) as error:
                    each.fail(key, f"expected a regular expression ({error})")
            if sign == Sign():
                each.fail("", "expected some of exit, signal, stderr, stdout")
            each.done("exit, signal, stderr, stdout")
            signs.append(sign)
        if not signs:
            table.fail(name, "expected a list of signs")
        found.append((name, tuple(signs)))
    return tuple(found)
