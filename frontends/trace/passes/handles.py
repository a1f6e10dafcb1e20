"""Replaces handles by other live ones of the same sort, so that the calls that made them can go.

A call that takes a handle needs the call that returned it, and all handles that this one takes. If
another handle is used instead, the whole cone may become unnecessary.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from reducekit.change import Change
from reducekit.frontends.trace.language.calls import Alteration, Call, Value, altered
from reducekit.frontends.trace.model.definition import CallModel
from reducekit.frontends.trace.model.machine import Machine
from reducekit.frontends.trace.passes.view import TraceView
from reducekit.search.problem import NOTHING, Closure, Items, Selection


class Handles:
    """Replaces handles by earlier ones of the same sort, and removes the calls that made them.

    Among the earlier handles of its sort, each handle is replaced by the one with this `rank`:
    first come the arguments of the call that made it, then the oldest.
    """

    name = "other handles"

    def __init__(self, rank: int = 0) -> None:
        self._rank = rank

    def problem(self, view: TraceView) -> HandleItems | None:
        """Return the handles as items; None if no two have one sort."""
        if not any(each.produces for each in view.model.calls.values()):
            return None
        units = _units(view, _handles(view), self._rank)
        return HandleItems(view, units, self.name) if units else None


@dataclass(frozen=True, slots=True)
class Unit:
    """A handle and its replacement, by name; the calls that return the handle, that release it,
    and that use it otherwise."""

    name: str
    other: str
    made: Sequence[int]
    released: Sequence[int]
    used: Sequence[int]


class HandleItems(Items):
    """Replacements of handles by others, as items.

    Replacements taken together are applied transitively. The calls that release a replaced
    handle are dropped, as are those that would release a handle that is needed longer, and all
    calls that the model then does not allow: these calls are items too, after the units.
    """

    def __init__(self, view: TraceView, units: Sequence[Unit], what: str) -> None:
        self.view = view
        self.units = units
        self.what = what
        self.weights = [len(unit.made) + len(unit.released) for unit in units]
        models = view.model.calls
        self._places = {
            index: _places(call, models[call.name])
            for index, call in enumerate(view.bare)
            if call.name in models
        }
        # Who gives a handle back, to drop what would release one that is needed longer now.
        self._releases: dict[str, list[int]] = {}
        for index, places in self._places.items():
            call = view.bare[index]
            if models[call.name].releases:
                for place in places:
                    self._releases.setdefault(str(call.arguments[place]), []).append(index)

    def close(self, chosen: Selection, taken: Selection) -> Closure:
        """Add the calls that the model no longer allows."""
        both = chosen | taken
        after = self._altered(both)
        gone = self.view.contract_closure(after)
        if gone is None:
            gone = frozenset(range(len(self.view.calls)))
        count = len(self.units)
        needed = {count + index for index in gone if after.get(index, (None,)) != ()}
        return Closure(frozenset(needed - both), NOTHING)

    def change(self, chosen: Selection, taken: Selection) -> Change:
        """Alter the calls that take these handles, and drop the others."""
        before, after = self._altered(taken), self._altered(chosen | taken)
        return Change(self.view.edits(after, before), self.what)

    def _altered(self, selected: Selection) -> Alteration:
        count, calls = len(self.units), self.view.bare
        units = [self.units[item] for item in selected if item < count]
        names: dict[Value, str] = {unit.name: unit.other for unit in units}
        for name in names:
            # One may be replaced by another that is replaced itself.
            # A replacement was made before its handle, so this terminates.
            while names[name] in names:
                names[name] = names[names[name]]
        # The last use of each replacement: it must not be released before.
        last: dict[str, int] = {}
        found: dict[int, tuple[Call, ...]] = {}
        for unit in units:
            other = names[unit.name]
            last[other] = max(last.get(other, -1), unit.used[-1])
            for index in unit.used:
                call = calls[index]
                arguments = list(call.arguments)
                for place in self._places[index]:
                    arguments[place] = names.get(arguments[place], arguments[place])
                found[index] = (altered(call, arguments=arguments),)
        for name, end in last.items():
            found.update({index: () for index in self._releases.get(name, ()) if index < end})
        for unit in units:
            found.update(dict.fromkeys((*unit.made, *unit.released), ()))
        found.update({item - count: () for item in selected if item >= count})
        return found


@dataclass(slots=True)
class _Handle:
    """A handle by its name: the calls that return it, and those that take it.

    `given` are the handles that the first of these calls takes; `sort` is its type, and what
    the model counts for it. A negated one has another name, and is another handle.
    """

    name: str
    sort: tuple[object, ...]
    given: Sequence[Value]
    made: list[int] = field(default_factory=list)
    taken: list[int] = field(default_factory=list)


def _handles(view: TraceView) -> list[_Handle]:
    """Return the handles of a trace in the order in which they are made.

    Names that are given to handles of different sorts are left out.
    """
    machine, models = Machine(view.model), view.model.calls
    counted = [
        name
        for name, each in view.model.variables.items()
        if each.per.startswith("handle") and not each.flag
    ]
    found: dict[str, _Handle] = {}
    other: set[str] = set()
    for index, call in enumerate(view.bare):
        model = models.get(call.name)
        if model is None or machine.allowed(call) is not None:
            continue
        machine.after(call)
        # A call that the model does not allow says nothing of the handles that it takes.
        given = [call.arguments[place] for place in _places(call, model)]
        for name in dict.fromkeys(given):
            if name in found:
                found[str(name)].taken.append(index)
        if not model.produces or call.result is None:
            continue
        name, sort = str(call.result), tuple[object, ...]()
        names = view.model.types[model.produces].names
        if names is None:
            sort = (model.produces, *(machine.value(each, name) for each in counted))
        else:  # the call returns the sort together with the term
            name = name.split()[0]
            sort = (names.get(name, name),)
        known = found.setdefault(name, _Handle(name, sort, given))
        known.made.append(index)
        # One name for terms of two sorts: no other term could stand for both.
        if known.sort != sort:
            other.add(name)
    return [each for name, each in found.items() if name not in other]


def _places(call: Call, model: CallModel) -> Sequence[int]:
    """Return where a call takes handles; a list of arguments counts as often as it is long."""
    types = [each.type for each in model.arguments]
    star = next((place for place, each in enumerate(model.arguments) if each.star), None)
    if star is not None:
        more = len(call.arguments) - len(types) + 1
        types[star : star + 1] = [types[star]] * max(0, more)
    return [
        place
        for place, (found, value) in enumerate(zip(types, call.arguments, strict=False))
        if found.kind == "handle"
        and isinstance(value, str)
        and (found.names is None or value in found.names)
    ]


def _units(view: TraceView, handles: Sequence[_Handle], rank: int) -> list[Unit]:
    """Return the handles that can be replaced by earlier ones of the same sort."""
    models, calls = view.model.calls, view.bare
    older: dict[tuple[object, ...], list[str]] = {}
    found = []
    for each in handles:
        # The arguments of the call that made it come first: `x + y` by `x` keeps most of what the
        # term is about, and the call itself goes.
        alike = older.setdefault(each.sort, [])
        given = [name for name in dict.fromkeys(map(str, each.given)) if name in alike]
        others = [*given, *(name for name in alike[: rank + 1 + len(given)] if name not in given)]
        alike.append(each.name)
        released = [index for index in each.taken if models[calls[index].name].releases]
        used = [index for index in each.taken if index not in {*released, *each.made}]
        if used and len(others) > rank and models[calls[each.made[0]].name].role != "init":
            found.append(Unit(each.name, others[rank], each.made, released, used))
    return found
