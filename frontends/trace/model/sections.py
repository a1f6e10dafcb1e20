"""The tables of a model file, as they are written; `loader` makes a model of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Annotated, Any, NamedTuple

from msgspec import Meta, field

from reducekit.frontends.trace.model import definition
from reducekit.frontends.trace.model.structure import (
    Place,
    Range,
    Section,
    Words,
    is_whole,
    shown,
    structured,
)

Named = Annotated[str, Meta(pattern=r"\A[A-Za-z_][A-Za-z0-9_]*\Z")]
CallName = Annotated[str, Meta(pattern=r"\A[A-Za-z_][A-Za-z0-9_.:-]*\Z")]


class ApiTable(Section, frozen=True):
    """Which API a model is of."""

    name: str
    title: str = ""
    formats: Words = Words(("words",))
    hooks: str = ""
    extends: str = ""  # was taken care of before
    without: Words = Words()


class TypeTable(Section, frozen=True):
    """What an argument may be."""

    kind: definition.TypeKind
    min: int | None = None
    max: int | None = None
    zero: bool = False
    values: Words = Words()
    negation: str = ""

    def __post_init__(self) -> None:
        if self.kind == "choice" and not self.values:
            raise ValueError("values: expected the words that may be chosen from")


class StatesTable(Section, frozen=True):
    """The states and sets of states."""

    names: Words
    initial: Words
    sets: dict[Named, Words] = field(default_factory=dict)
    final: Words | None = None


class CounterTable(Section, frozen=True):
    """A counter."""

    per: str = ""
    initial: int = 0


class FlagTable(Section, frozen=True):
    """A flag."""

    per: str = ""
    initial: bool = False


class CallTable(Section, frozen=True):
    """A call."""

    args: Words = Words()
    # `from` is a keyword of Python; by default, the call is allowed in the set `live`.
    source: Words | None = field(name="from", default=None)
    to: Words | None = None
    result: str | dict[str, Words] | None = None
    requires: Any = ()
    careful: Any = ()
    effects: Words = Words()
    role: definition.Role | None = (
        None  # by default `define` for what produces a handle, else `other`
    )
    group: str = ""
    end: str | None = None
    pair: str = ""
    produces: str = ""
    releases: Words = Words()
    rejected: str = ""
    smt: str = ""
    means: str = ""
    c: str = ""


class StepTable(Section, frozen=True):
    """A step of a phase."""

    action: definition.Action = "call"
    call: str | dict[str, definition.Positive] = ""
    probability: Fraction = Fraction(1)
    again: Fraction = Fraction(0)
    # A number or an expression, once or as [least, most].
    times: int | str | tuple[int | str, int | str] | None = None
    share: tuple[Fraction, Fraction] | None = None
    where: str | None = None
    upto: int | str | None = None
    same: bool = False
    arguments: dict[Named, Range] = field(default_factory=dict)
    words: dict[Named, Words] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if (self.action in ("call", "group")) != bool(self.call):
            raise ValueError("call: expected the name of a call, or names with weights")
        if self.again == 1:
            raise ValueError("again: expected a probability below 1, for the generator has to end")


class NextTable(Section, frozen=True):
    """What may follow a phase."""

    to: str
    probability: Fraction = Fraction(1)
    when: str | None = None


class PhaseTable(Section, frozen=True):
    """A state of the generator."""

    steps: tuple[StepTable, ...] = ()
    next: tuple[NextTable, ...] = ()


class ContentTable(Section, frozen=True):
    """A model file."""

    api: ApiTable
    types: dict[Named, TypeTable] = field(default_factory=dict)
    states: StatesTable | None = None
    counters: dict[Named, CounterTable] = field(default_factory=dict)
    flags: dict[Named, FlagTable] = field(default_factory=dict)
    calls: dict[CallName, CallTable] = field(default_factory=dict)
    families: tuple[Any, ...] = ()  # each is among the calls by now
    options: definition.OptionModel | None = None
    data: definition.DataModel | None = None
    generate: dict[Named, PhaseTable] = field(default_factory=dict)
    classify: dict[Named, tuple[definition.Sign, ...]] = field(default_factory=dict)


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


def with_forbidden(content: dict[str, Any], place: Place) -> dict[str, Any]:
    """Return a model's content with `forbid` of its options as flags, conditions and effects.

    So combinations of options that are forbidden are rules of the call that sets them, and hold
    wherever the contract does: in the generator, `--check` and every candidate. An option that was
    not set has its default (Artho, Biere, Seidl: Model-based testing for verification back-ends,
    TAP 2013, section 3.1: "valid combinations of options").
    """
    options = content.get("options", {})
    if not isinstance(options, dict) or "forbid" not in options:
        return content
    combinations = _combinations(options, place.inner("options"))
    calls, setting = content["calls"], structured(options.get("call"), str, place, "options.call")
    inner = place.inner(f"calls.{setting}")
    call = structured(calls.get(setting, {}), dict, inner)
    name, value = _places(call, structured(content.get("types", {}), dict, place), inner)
    flags, defaults = {**content.get("flags", {})}, _defaults(options)
    named: dict[_Part, str] = {}
    for part in dict.fromkeys(part for each in combinations for part in each):
        flag = re.sub(r"\W+", "_", str(part))
        while flag in flags:
            flag += "_"
        flags[flag] = {"initial": part.holds(defaults[part.option])}
        named[part] = flag

    # A combination is broken by the call that completes it. So each of its parts has a flag that
    # says whether it holds, and a rule per part refuses to set it while all others do.
    rules = []
    for each in combinations:
        why = f"the model forbids {' with '.join(map(str, each))}"
        for part in each:
            set_now = [f"{name} = '{part.option}'", part.condition(value)]
            set_before = [named[other] for other in each if other != part]
            rules.append({"is": f"not ({' and '.join([*set_now, *set_before])})", "why": why})
    # Options that nobody set have their defaults, which the flags begin with.
    effects = [
        f"{flag} = {part.condition(value)} when {name} = '{part.option}'"
        for part, flag in named.items()
    ]
    changed = {
        **call,
        "requires": [*_listed(call.get("requires", [])), *rules],
        "effects": [*_listed(call.get("effects", [])), *effects],
    }
    return {**content, "flags": flags, "calls": {**calls, setting: changed}}


def _combinations(options: Mapping[str, Any], place: Place) -> list[tuple[_Part, ...]]:
    """Read the combinations; each has to be one that neither defaults nor presets are."""
    defaults, found = _defaults(options), []
    presets = [
        {**defaults, **each.get("set", {})}
        for key in ("instead", "besides")
        for each in options.get(key, [])
        if isinstance(each, dict) and isinstance(each.get("set", {}), dict)
    ]
    for number, table in enumerate(structured(options["forbid"], list, place, "forbid")):
        inner, parts = place.inner(f"forbid[{number}]"), []
        for name, value in structured(table, dict, inner).items():
            if name not in defaults:
                inner.fail(name, "expected the name of an option")
            given = [value, value] if is_whole(value) else value
            parts.append(_Part(name, *structured(given, Range, inner, name)))
        # Such a combination would be broken before the first call, or by each use of the preset.
        for values in (defaults, *presets):
            if all(part.holds(values[part.option]) for part in parts):
                what = "the defaults are not" if values is defaults else "no preset is"
                inner.fail("", f"expected a combination that {what}, found {shown(table)}")
        found.append(tuple(parts))
    return found


def _defaults(options: Mapping[str, Any]) -> Mapping[str, int]:
    """Return the defaults of the options; what is wrong with the table is said where it is read."""
    table = options.get("table", {})
    rows = table.items() if isinstance(table, dict) else ()
    return {name: row[0] for name, row in rows if isinstance(row, list) and row}


def _places(call: Mapping[str, Any], types: Mapping[str, Any], place: Place) -> tuple[str, str]:
    """Return the names of the arguments of a call that are an option's name and its value."""
    named: dict[str, str] = {}
    for text in structured(call.get("args", []), Words, place, "args"):
        name, _, kind = text.rpartition(":")
        found = types.get(kind.strip(), {})
        shape = found.get("kind", "") if isinstance(found, dict) else ""
        named.setdefault(shape, "")
        # A number of the option may stand before its name: the value is the last one.
        if shape != "word" or not named[shape]:
            named[shape] = name.strip() or kind.strip()
    if not named.get("word") or not named.get("int"):
        place.fail("args", "expected a word, the option, and a number, its value, to `forbid` some")
    return named["word"], named["int"]


def _listed(value: object) -> Sequence[object]:
    return value if isinstance(value, list) else [value]
