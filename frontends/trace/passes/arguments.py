"""Passes on arguments: renaming and merging variables, signs, numbers; calls for clauses."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, permutations

from reducekit.frontends.trace.language.calls import Call, Value, altered
from reducekit.frontends.trace.model.definition import CallModel
from reducekit.frontends.trace.passes.alterations import Alteration
from reducekit.frontends.trace.passes.drop import literal_places, mentions
from reducekit.frontends.trace.passes.items import (
    CallItems,
    Substitutions,
    items,
    substitutions,
    together,
)
from reducekit.frontends.trace.passes.view import TraceView

_FEW = 40
"""The maximum number of variables to try one by one."""
_FEW_CLAUSES = 20
"""The maximum number of clauses to try one by one."""
_FIXED = ("init", "release", "option")


class Compact:
    """Renumbers variables from 1, without gaps.

    It keeps their order, which changes the solver's decisions least, or else orders by first use.
    """

    name = "compact variables"

    def problem(self, view: TraceView) -> Substitutions | None:
        """Return the two ways as one place."""
        ways = []
        for names in _numberings(view):
            way = renamed(view, lambda value, names=names: _renamed(value, names))  # type: ignore[misc]
            if way and way not in ways:
                ways.append(way)
        return substitutions(view, [ways], self.name)


class Merge:
    """Replaces a variable by one that occurs before it."""

    name = "merge variables"

    def problem(self, view: TraceView) -> Substitutions | None:
        """Return the variables with those to put in their place."""
        used = list(dict.fromkeys(variable for _, variable in mentions(view)))
        if len(used) > _FEW:
            return None
        places = []
        for at, variable in enumerate(used):
            others = [used[0], used[at - 1]] if at > 1 else used[:at]
            places.append(
                [
                    renamed(view, lambda value, v=variable, w=new: _renamed(value, {v: w}))  # type: ignore[misc]
                    for new in dict.fromkeys(others)
                ]
            )
        return substitutions(view, places, self.name)


class Fold:
    """Replaces the upper half of the variables by the lower half.

    Merging two variables makes clauses shorter, equal, or true, and merging many at once
    takes no more runs than merging two.
    """

    name = "fold variables"

    def __init__(self, least: int) -> None:
        self._least = least

    def problem(self, view: TraceView) -> CallItems | None:
        """Return the upper half of the variables as items; None if there are few."""
        used = sorted({variable for _, variable in mentions(view)})
        if len(used) < self._least:
            return None
        names = dict(zip(used[(len(used) + 1) // 2 :], used, strict=False))
        units: dict[int, dict[int, tuple[Call, ...]]] = {}
        for index, call in enumerate(view.bare):
            places = literal_places(view, call)
            if len(places) != 1:
                continue
            value = call.arguments[places[0]]
            if isinstance(value, int) and abs(value) in names:
                new = _with_argument(call, places[0], _renamed(value, names))
                units.setdefault(abs(value), {})[index] = (new,)
        return items(view, units.values(), self.name)


class Signs:
    """Makes literals positive: first negates all literals of a variable, then single ones."""

    name = "signs"

    def problem(self, view: TraceView) -> Substitutions | None:
        """Return variables and literals as places."""
        negative: dict[int, list[int]] = {}
        for index, call in enumerate(view.bare):
            for place in literal_places(view, call):
                value = call.arguments[place]
                if isinstance(value, int) and value < 0:
                    negative.setdefault(-value, []).append(index)
        if len(negative) > _FEW:
            return None
        places: list[list[Alteration]] = []
        for variable, indices in negative.items():
            places.extend([{index: (_positive(view, view.bare[index]),)}] for index in indices)
            flip = renamed(view, lambda value, v=variable: -value if abs(value) == v else value)  # type: ignore[misc]
            if sum(map(len, map(view.text_of, flip.values()))) < sum(
                len(view.calls[index].raw) for index in flip
            ):
                places.append([flip])
        return substitutions(view, [*places, *together(view, places)], self.name)


class Numbers:
    """Decreases numbers that are not literals, such as limits."""

    name = "numbers"

    def problem(self, view: TraceView) -> Substitutions | None:
        """Return the calls with smaller numbers to try."""
        models = view.model.calls
        options = set(view.options)
        places: list[list[Alteration]] = []
        for index, call in enumerate(view.bare):
            model = models.get(call.name)
            if model is None or index in options:
                continue
            for place, argument in enumerate(model.arguments[: len(call.arguments)]):
                value = call.arguments[place]
                if argument.type.kind != "int" or not isinstance(value, int):
                    continue
                low = argument.type.low
                tries = [each for each in (0, 1, 10) if low is None or each >= low]
                places.append(
                    [
                        {index: (_with_argument(call, place, each),)}
                        for each in tries
                        if abs(each) < abs(value)
                    ]
                )
        return substitutions(view, places, self.name)


class Shorten:
    """Replaces a clause by a single call on a literal."""

    name = "clauses to calls"

    def problem(self, view: TraceView) -> Substitutions | None:
        """Return the clauses with the calls to try."""
        if len(view.groups) > _FEW_CLAUSES:
            return None
        places = []
        for group in view.groups:
            literals = _literals(view, group)
            if literals and len(group) > 1:
                places.append([*_calls_for(view, group, literals[0])])
        return substitutions(view, [*places, *together(view, places)], self.name)


def renamed(view: TraceView, name: Callable[[int], int]) -> dict[int, tuple[Call, ...]]:
    """Return the alteration that replaces each literal by `name(literal)`."""
    found: dict[int, tuple[Call, ...]] = {}
    for index, call in enumerate(view.bare):
        arguments: list[Value] = list(call.arguments)
        for place in literal_places(view, call):
            value = arguments[place]
            if isinstance(value, int) and value:
                arguments[place] = name(value)
        if tuple(arguments) != call.arguments:
            found[index] = (altered(call, arguments=arguments),)
    return found


def _numberings(view: TraceView) -> list[dict[int, int]]:
    """Return two ways to number the variables without gaps: in their order, and by first use."""
    used = list(dict.fromkeys(variable for _, variable in mentions(view)))
    return [{old: new for new, old in enumerate(order, 1)} for order in (sorted(used), used)]


def tidied(view: TraceView) -> Iterator[Alteration]:
    """Yield alterations that renumber the variables and make all literals positive, at once."""
    for names in _numberings(view):
        yield renamed(view, lambda value, names=names: names[abs(value)])  # type: ignore[misc]


def without_gaps(view: TraceView) -> Sequence[Call]:
    """Return the calls with their variables numbered from 1 on, in their order."""
    names = _numberings(view)[0]
    return view.after(renamed(view, lambda value: _renamed(value, names)))


def merged(view: TraceView) -> Iterator[Alteration]:
    """Yield alterations that replace a variable by another one or its negation."""
    used = list(dict.fromkeys(variable for _, variable in mentions(view)))
    for old, new in permutations(used, 2):
        for sign in (1, -1):
            names = {old: sign * new}
            yield renamed(view, lambda value, names=names: _renamed(value, names))  # type: ignore[misc]


def flipped(view: TraceView) -> Iterator[Alteration]:
    """Yield alterations that negate a single literal."""
    for index, call in enumerate(view.bare):
        model = view.model.calls.get(call.name)
        for place in literal_places(view, call):
            value = call.arguments[place]
            kind = None if model is None else model.arguments[0].type.kind
            if isinstance(value, int) and value and kind == "literal":
                yield {index: (_with_argument(call, place, -value),)}


def swapped(view: TraceView) -> Iterator[Alteration]:
    """Yield alterations that swap two variables."""
    used = list(dict.fromkeys(variable for _, variable in mentions(view)))
    for first, second in combinations(used, 2):
        names = {first: second, second: first}
        yield renamed(view, lambda value, names=names: _renamed(value, names))  # type: ignore[misc]


def replaced(view: TraceView) -> Iterator[Alteration]:
    """Yield alterations that replace a literal by any other, including one of a new variable."""
    used = sorted({variable for _, variable in mentions(view)})
    for index, call in enumerate(view.bare):
        model = view.model.calls.get(call.name)
        for place in literal_places(view, call):
            value = call.arguments[place]
            if model is None or not isinstance(value, int) or not value:
                continue
            signs = (1, -1) if model.arguments[0].type.kind == "literal" else (1,)
            for new in (*used, max(used) + 1):
                for sign in signs:
                    if sign * new not in (value, -value):
                        yield {index: (_with_argument(call, place, sign * new),)}


def exchanged(view: TraceView) -> Iterator[Alteration]:
    """Yield alterations that replace a call by another one with the same arguments, or any solve.

    If the new call takes an additional number, it gets the smallest value.
    """
    models = [each for each in view.model.calls.values() if not (each.rejected or each.produces)]
    for index, call in enumerate(view.bare):
        old = view.model.calls.get(call.name)
        if old is None or old.group or old.produces or old.role in _FIXED:
            continue
        for new in models:
            if new is old or new.group or new.role in _FIXED:
                continue
            if _kinds(new) == _kinds(old):
                yield {index: (altered(call, new.name),)}
            elif old.role == new.role == "solve" and _kinds(new) in ([], ["int"]):
                least = [each.type.low or 0 for each in new.arguments]
                yield {index: (Call(new.name, tuple(least)),)}


def moved(view: TraceView) -> Iterator[Alteration]:
    """Yield alterations that move a call or a literal of a clause."""
    calls, kept = view.bare, {*view.roles("init"), *view.options}
    for index, call in enumerate(calls):
        if index in kept:
            continue
        for to, other in enumerate(calls):
            if to not in kept and to not in (index, index - 1):
                both = (other, call) if to > index else (call, other)
                yield {index: (), to: both}


def _kinds(model: CallModel) -> Sequence[str]:
    return [each.type.kind for each in model.arguments]


def as_call(view: TraceView) -> Iterator[Alteration]:
    """Yield alterations that replace a clause by a single call on one of its literals."""
    for group in view.groups:
        if len(group) > 1:
            for literal in _literals(view, group):
                yield from _calls_for(view, group, literal)


def _literals(view: TraceView, group: Sequence[int]) -> Sequence[int]:
    arguments = (value for index in group for value in view.calls[index].arguments)
    return [value for value in arguments if isinstance(value, int) and value]


def _calls_for(view: TraceView, group: Sequence[int], literal: int) -> Iterator[Alteration]:
    """Yield the alterations that replace a clause by a call on this literal."""
    rest: dict[int, tuple[Call, ...]] = dict.fromkeys(group[1:], ())
    for name, model in view.model.calls.items():
        if model.rejected or model.group or not (model.role == "assume" or model.pair):
            continue
        if [argument.type.kind for argument in model.arguments] == ["literal"]:
            yield {**rest, group[0]: (Call(name, (literal,)),)}


def _renamed(value: int, names: dict[int, int]) -> int:
    new = names.get(abs(value), abs(value))
    return new if value > 0 else -new


def _positive(view: TraceView, call: Call) -> Call:
    places: Sequence[int] = literal_places(view, call)
    return altered(
        call,
        arguments=[
            abs(value) if place in places and isinstance(value, int) else value
            for place, value in enumerate(call.arguments)
        ],
    )


def _with_argument(call: Call, place: int, value: int) -> Call:
    arguments: list[Value] = list(call.arguments)
    arguments[place] = value
    return altered(call, arguments=arguments)
