"""Passes on arguments: renaming and merging variables, signs, numbers; calls for clauses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, permutations

from reducekit.format import pass_
from reducekit.frontends.trace.language.calls import Alteration, Call, altered, with_argument
from reducekit.frontends.trace.model.definition import CallModel
from reducekit.frontends.trace.passes.drop import literal_places, literals, mentions
from reducekit.frontends.trace.passes.items import (
    CallItems,
    Substitutions,
    items,
    substitutions,
    together,
)
from reducekit.frontends.trace.passes.view import TraceView

# The maximum number of variables to try one by one.
_FEW = 40
# The maximum number of clauses to try one by one.
_FEW_CLAUSES = 20
_FIXED = ("init", "release", "option")


@pass_("compact variables")
def compact(view: TraceView) -> Substitutions | None:
    """Renumbers variables from 1, without gaps.

    It keeps their order, which changes the solver's decisions least, or else orders by first use.
    """
    ways = []
    for names in _numberings(view):
        way = renamed(view, names)
        if way and way not in ways:
            ways.append(way)
    return substitutions(view, [ways], "compact variables")


@pass_("merge variables")
def merge(view: TraceView) -> Substitutions | None:
    """Replaces a variable by one that occurs before it."""
    used = _by_first_use(view)
    if len(used) > _FEW:
        return None
    places = []
    for at, variable in enumerate(used):
        others = [used[0], used[at - 1]] if at > 1 else used[:at]
        places.append([renamed(view, {variable: new}) for new in dict.fromkeys(others)])
    return substitutions(view, places, "merge variables")


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
            # A clause in one call would need all its literals in one unit.
            places = literal_places(view, call)
            if len(places) != 1:
                continue
            value = call.arguments[places[0]]
            if isinstance(value, int) and abs(value) in names:
                name = names[abs(value)]
                new = with_argument(call, places[0], name if value > 0 else -name)
                units.setdefault(abs(value), {})[index] = (new,)
        return items(view, units.values(), self.name)


@pass_("signs")
def signs(view: TraceView) -> Substitutions | None:
    """Makes literals positive: first negates all literals of a variable, then single ones."""
    negative: dict[int, list[int]] = {}
    for index, call in enumerate(view.bare):
        for _, value in literals(view, call):
            if value < 0:
                negative.setdefault(-value, []).append(index)
    if len(negative) > _FEW:
        return None
    places: list[list[Alteration]] = []
    for variable, indices in negative.items():
        for index in indices:
            call = view.bare[index]
            for place, value in literals(view, call):
                call = with_argument(call, place, abs(value))
            places.append([{index: (call,)}])
        # Negating all literals of a variable changes no answer; it is tried if it saves a sign.
        flip = renamed(view, {variable: -variable})
        before = sum(len(view.calls[index].raw) for index in flip)
        if sum(map(len, map(view.text_of, flip.values()))) < before:
            places.append([flip])
    return substitutions(view, [*places, *together(view, places)], "signs")


@pass_("numbers")
def numbers(view: TraceView) -> Substitutions | None:
    """Decreases numbers that are not literals, such as limits."""
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
            tries = [each for each in tries if each < abs(value)]
            places.append([{index: (with_argument(call, place, each),)} for each in tries])
    return substitutions(view, places, "numbers")


@pass_("clauses to calls")
def shorten(view: TraceView) -> Substitutions | None:
    """Replaces a clause by a single call on a literal."""
    if len(view.groups) > _FEW_CLAUSES:
        return None
    places = []
    for group in view.groups:
        inside = _inside(view, group)
        if inside and len(group) > 1:
            places.append([*_calls_for(view, group, inside[0])])
    return substitutions(view, [*places, *together(view, places)], "clauses to calls")


def renamed(
    view: TraceView, names: Mapping[int, int], *, positive: bool = False
) -> dict[int, tuple[Call, ...]]:
    """Return the alteration that gives variables other names; a negative name negates one.

    With `positive`, all literals get the sign of the name.
    """
    found: dict[int, tuple[Call, ...]] = {}
    for index, call in enumerate(view.bare):
        new = call
        for place, value in literals(view, call):
            name = names.get(abs(value), abs(value))
            literal = name if positive or value > 0 else -name
            if literal != value:
                new = with_argument(new, place, literal)
        if new is not call:
            found[index] = (new,)
    return found


def _by_first_use(view: TraceView) -> list[int]:
    return list(dict.fromkeys(variable for _, variable in mentions(view)))


def _numberings(view: TraceView) -> list[dict[int, int]]:
    """Return two ways to number the variables without gaps: in their order, and by first use."""
    used = _by_first_use(view)
    return [{old: new for new, old in enumerate(order, 1)} for order in (sorted(used), used)]


def tidied(view: TraceView) -> Iterator[Alteration]:
    """Yield alterations that renumber the variables and make all literals positive, at once."""
    for names in _numberings(view):
        yield renamed(view, names, positive=True)


def without_gaps(view: TraceView) -> Sequence[Call]:
    """Return the calls with their variables numbered from 1 on, in their order."""
    return view.after(renamed(view, _numberings(view)[0]))


def merged(view: TraceView) -> Iterator[Alteration]:
    """Yield alterations that replace a variable by another one or its negation."""
    for old, new in permutations(_by_first_use(view), 2):
        for sign in (1, -1):
            yield renamed(view, {old: sign * new})


def flipped(view: TraceView) -> Iterator[Alteration]:
    """Yield alterations that negate a single literal."""
    for index, call in enumerate(view.bare):
        for place, value in literals(view, call):
            if view.model.calls[call.name].arguments[0].type.kind == "literal":
                yield {index: (with_argument(call, place, -value),)}


def swapped(view: TraceView) -> Iterator[Alteration]:
    """Yield alterations that swap two variables."""
    for first, second in combinations(_by_first_use(view), 2):
        yield renamed(view, {first: second, second: first})


def replaced(view: TraceView) -> Iterator[Alteration]:
    """Yield alterations that replace a literal by any other, including one of a new variable."""
    used = sorted({variable for _, variable in mentions(view)})
    for index, call in enumerate(view.bare):
        for place, value in literals(view, call):
            kind = view.model.calls[call.name].arguments[0].type.kind
            for new in (*used, max(used) + 1):
                for sign in (1, -1) if kind == "literal" else (1,):
                    if sign * new not in (value, -value):
                        yield {index: (with_argument(call, place, sign * new),)}


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
            for literal in _inside(view, group):
                yield from _calls_for(view, group, literal)


def _inside(view: TraceView, group: Sequence[int]) -> Sequence[int]:
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
