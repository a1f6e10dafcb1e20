"""Passes on options: import all, set to the minimum, reset to the default, simplify values.

Options matter most: with all of them at their minimum a solver does little except
fail, so far fewer calls are needed (Artho, Biere, Seidl: Model-based testing for
verification back-ends, TAP 2013, table 1: 2.3 % of the size instead of 13.1 %).
At the end, as many of them as possible are reset to their defaults.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isqrt
from typing import Literal, NamedTuple

from reducekit.format import pass_
from reducekit.frontends.trace.language.calls import Alteration, Call, Value, with_argument
from reducekit.frontends.trace.model.definition import Option
from reducekit.frontends.trace.passes.items import (
    CallItems,
    Substitutions,
    items,
    parts_of,
    substitutions,
)
from reducekit.frontends.trace.passes.view import TraceView

OptionMode = Literal["none", "explicit", "all"]
"""Which options are reduced: none, those that the trace sets, all that the model knows."""


class _Places(NamedTuple):
    """Which arguments of the call that sets an option are its name and its value."""

    option: int
    value: int


class Setting(NamedTuple):
    """A call that sets a known option to a value; `at` is the index of the call."""

    at: int
    call: Call
    places: _Places
    option: Option
    value: int

    def to(self, value: int) -> Call:
        """Return the call that sets the option to another value."""
        return with_argument(self.call, self.places.value, value)


@pass_("import options")
def import_options(view: TraceView) -> Substitutions | None:
    """Adds a call for every option of the model, setting it to its default.

    Options that set others, and those that only print or wait, are left out. With corrupted
    memory, that many extra calls may hide the failure: then half of them are added, or a quarter,
    or an eighth, if all of these share a replay.
    """
    places, begins = _places(view), view.roles("init")
    if places is None or not begins:
        return None
    begin = begins[0]
    more = [_setting(view, places, option, option.default) for option in _missing(view, places)]
    if not more:
        return None
    counts = (1, 2, 4, 8) if view.first_failing else (1,)
    parts = [part for count in counts for part in parts_of(more, count) if part]
    steps = [view.repaired({begin: (view.bare[begin], *part)}) for part in parts]
    return substitutions(view, [[each for each in steps if each]], "import options")


class Lower:
    """Sets options to their minimum, which mostly means off.

    Adjacent options in the solver's table mostly belong to the same technique, so they
    are changed together: a failure that needs one of them at its default needs the
    others, too, and separating them takes more runs than it saves.
    """

    name = "options to least"

    def __init__(self, together: int = 1) -> None:
        self._together = together

    def problem(self, view: TraceView) -> CallItems | None:
        """Return the options that have another value, some at a time, as items."""
        wanted = {
            each.at: (each.to(each.option.low),)
            for each in settings(view)
            if each.value != each.option.low
        }
        # In the order of the solver's table: neighbours there share a unit.
        order = {name: number for number, name in enumerate(view.model.options.table)}
        found = sorted(settings(view), key=lambda each: order[each.option.name])
        units: dict[int, dict[int, tuple[Call, ...]]] = {}
        for each in found:
            if each.at in wanted:
                unit = units.setdefault(order[each.option.name] // self._together, {})
                unit[each.at] = wanted[each.at]
        return items(view, units.values(), self.name)


@pass_("unset options")
def unset(view: TraceView) -> CallItems | None:
    """Removes all calls that set an option to its default, in one step."""
    unit = {each.at: () for each in settings(view) if each.value == each.option.default}
    return items(view, [unit], "unset options")


@pass_("options to default")
def default(view: TraceView) -> CallItems | None:
    """Removes calls that set options, which resets these to their defaults."""
    return items(view, [{index: ()} for index in view.options], "options to default")


@pass_("option values")
def values(view: TraceView) -> Substitutions | None:
    """Simplifies the values of options: to 0, 1, a bound, or next to the default."""
    return substitutions(
        view,
        [[{each.at: (each.to(value),)} for value in _simpler(each)] for each in settings(view)],
        "option values",
    )


def lowered(view: TraceView, *, together: bool) -> Iterator[Alteration]:
    """Yield what sets options that are not set to their least values: each, or some `together`.

    Together, these are about as many sets as options in each. Most of what fails, fails
    in a solver that is like the default in nearly everything; and neighbours in
    the solver's table, which mostly are about the same technique, are apart.
    """
    places, begins = _places(view), view.roles("init")
    if places is None or not begins:
        return
    missing, begin = _missing(view, places), begins[0]
    sets = isqrt(len(missing)) if together else len(missing)
    for first in range(sets):
        some = missing[first::sets]
        calls = (_setting(view, places, each, each.low) for each in some)
        yield {begin: (view.bare[begin], *calls)}


def free_settings(view: TraceView) -> Sequence[Setting]:
    """Return for each option that may be set to anything, given or not, what sets it to default.

    The place of these calls is right after the call that begins.
    """
    places, begins = _places(view), view.roles("init")
    if places is None or not begins:
        return ()
    model = view.model.options
    return [
        Setting(
            begins[0],
            _setting(view, places, option, option.default),
            places,
            option,
            option.default,
        )
        for name, option in model.table.items()
        if name not in model.exclude and name not in model.meta
    ]


def _simpler(given: Setting) -> Iterator[int]:
    """Yield the values of an option that are shorter, or equally long and nearer to 0."""
    option, value = given.option, given.value
    tries = (0, 1, 2, 9, 99, 999, option.low, option.high)
    seen = {value, option.default}
    for each in sorted(tries, key=lambda number: (len(str(number)), abs(number))):
        if option.low <= each <= option.high and each not in seen:
            seen.add(each)
            if (len(str(each)), abs(each)) < (len(str(value)), abs(value)):
                yield each


def _places(view: TraceView) -> _Places | None:
    model = view.model.calls.get(view.model.options.call)
    if model is None:
        return None
    kinds = [argument.type.kind for argument in model.arguments]
    if "word" not in kinds or "int" not in kinds:
        return None
    # A number of the option may stand before its name.
    return _Places(kinds.index("word"), len(kinds) - 1 - kinds[::-1].index("int"))


def settings(view: TraceView) -> Sequence[Setting]:
    """Return the calls that set an option whose bounds are known and that sets no others."""
    places = _places(view)
    if places is None:
        return ()
    options = view.model.options
    found = []
    for index, name in _given(view, places):
        call = view.bare[index]
        value, option = call.arguments[places.value], options.table.get(name)
        if option is not None and name not in options.meta and isinstance(value, int):
            found.append(Setting(index, call, places, option, value))
    return found


def _given(view: TraceView, places: _Places) -> Iterator[tuple[int, str]]:
    """Yield the calls that set an option, with its name.

    A call without its name or value sets none: only a command can read such a trace.
    """
    for index in view.options:
        arguments = view.bare[index].arguments
        if len(arguments) > max(places):
            yield index, str(arguments[places.option])


def _missing(view: TraceView, places: _Places) -> Sequence[Option]:
    """Return the options that are not set and have less than their default to be set to."""
    options = view.model.options
    given = {name for _, name in _given(view, places)}
    left_out = given | options.exclude | options.meta
    return [
        option
        for name, option in options.table.items()
        if name not in left_out and option.low < option.default
    ]


def _setting(view: TraceView, places: _Places, option: Option, value: int) -> Call:
    arguments: list[Value] = [0] * len(view.model.calls[view.model.options.call].arguments)
    arguments[places.option] = option.name
    arguments[places.value] = value
    return Call(view.model.options.call, tuple(arguments))
