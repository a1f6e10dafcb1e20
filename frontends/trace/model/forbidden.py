"""Combinations of options that a model forbids, written out as rules of the call that sets them.

So they hold wherever the contract does: in the generator, `--check` and every candidate. An option
that was not set has its default (Artho, Biere, Seidl: Model-based testing for verification
back-ends, TAP 2013, section 3.1: "valid combinations of options").
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from reducekit.frontends.trace.model.tables import Table, shown


class _Part(NamedTuple):
    """An option with values of its that a combination is about."""

    option: str
    low: int
    high: int

    def holds(self, value: int) -> bool:
        return self.low <= value <= self.high

    def condition(self, value: str) -> str:
        if self.low == self.high:
            return f"{value} = {self.low}"
        return f"{value} >= {self.low} and {value} <= {self.high}"

    def __str__(self) -> str:
        above = f"..{self.high}" if self.high > self.low else ""
        return f"{self.option} = {self.low}{above}"


def with_forbidden(content: dict[str, Any], source: str) -> dict[str, Any]:
    """Return a model's content with `forbid` of its options as flags, conditions and effects."""
    found = content.get("options", {})
    if not isinstance(found, dict) or "forbid" not in found:
        return content
    options = Table(source, "options", found)
    combinations = _combinations(options)
    calls = Table(source, "calls", content.get("calls", {})).content
    setting = options.text("call")
    call = Table(source, f"calls.{setting}", calls.get(setting, {}))
    name, value = _places(call, Table(source, "types", content.get("types", {})).content)
    flags, defaults = dict(content.get("flags", {})), _defaults(options)
    named: dict[_Part, str] = {}
    for part in dict.fromkeys(part for each in combinations for part in each):
        flag = re.sub(r"\W+", "_", str(part))
        while flag in flags:
            flag += "_"
        flags[flag] = {"initial": part.holds(defaults[part.option])}
        named[part] = flag

    rules = []
    for each in combinations:
        why = f"the model forbids {' with '.join(map(str, each))}"
        for part in each:
            set_now = [f"{name} = '{part.option}'", part.condition(value)]
            set_before = [named[other] for other in each if other != part]
            rules.append({"is": f"not ({' and '.join([*set_now, *set_before])})", "why": why})
    effects = [
        f"{flag} = {part.condition(value)} when {name} = '{part.option}'"
        for part, flag in named.items()
    ]
    changed = {
        **call.content,
        "requires": [*_listed(call.content.get("requires", [])), *rules],
        "effects": [*_listed(call.content.get("effects", [])), *effects],
    }
    rest = {key: value for key, value in found.items() if key != "forbid"}
    return {**content, "options": rest, "flags": flags, "calls": {**calls, setting: changed}}


def _combinations(options: Table) -> list[tuple[_Part, ...]]:
    """Read the combinations; each has to be one that neither defaults nor presets are."""
    defaults, found = _defaults(options), []
    presets = [
        {**defaults, **each.get("set", {})}
        for key in ("instead", "besides")
        for each in options.content.get(key, [])
        if isinstance(each, dict) and isinstance(each.get("set", {}), dict)
    ]
    for table in options.tables("forbid"):
        parts = []
        for name, value in table.content.items():
            if name not in defaults:
                table.fail(name, "expected the name of an option")
            if isinstance(value, int) and not isinstance(value, bool):
                parts.append(_Part(name, value, value))
            else:
                parts.append(_Part(name, *table.range(name)))
        for values in (defaults, *presets):
            if all(part.holds(values[part.option]) for part in parts):
                what = "the defaults are not" if values is defaults else "no preset is"
                table.fail("", f"expected a combination that {what}, found {shown(table.content)}")
        found.append(tuple(parts))
    return found


def _defaults(options: Table) -> Mapping[str, int]:
    """Return the defaults of the options; what is wrong with the table is said where it is read."""
    table = options.content.get("table", {})
    rows = table.items() if isinstance(table, dict) else ()
    return {name: row[0] for name, row in rows if isinstance(row, list) and row}


def _places(call: Table, types: Mapping[str, Any]) -> tuple[str, str]:
    """Return the names of the arguments of a call that are an option's name and its value."""
    named: dict[str, str] = {}
    for text in call.words("args"):
        name, _, kind = text.rpartition(":")
        found = types.get(kind.strip(), {})
        shape = found.get("kind", "") if isinstance(found, dict) else ""
        named.setdefault(shape, "")
        # A number of the option may stand before its name: the value is the last one.
        if shape != "word" or not named[shape]:
            named[shape] = name.strip() or kind.strip()
    if not named.get("word") or not named.get("int"):
        call.fail("args", "expected a word, the option, and a number, its value, to `forbid` some")
    return named["word"], named["int"]


def _listed(value: object) -> Sequence[object]:
    return value if isinstance(value, list) else [value]
