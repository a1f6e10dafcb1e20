"""Passes that remove calls: the tail after the failure, rounds, clauses, single calls."""

from __future__ import annotations

from binascii import crc32
from collections.abc import Callable, Iterable, Iterator, Sequence

from reducekit.format import pass_
from reducekit.frontends.trace.language.calls import (
    Call,
    differing,
    dropped,
    plain,
    raws,
    with_result,
)
from reducekit.frontends.trace.passes.items import CallItems, items
from reducekit.frontends.trace.passes.view import TraceView
from reducekit.search.problem import FixedSearch
from reducekit.search.selecting import Selecting
from reducekit.strategies.sampling import Sampling


class Begin:
    """Normalises the spelling of calls, and removes results and calls that were never reached.

    It takes no run, since the result is what was replayed. Without `cut` all calls stay.
    """

    name = "begin"

    def __init__(self, *, cut: bool = True) -> None:
        self._cut = cut

    def problem(self, view: TraceView) -> CallItems | None:
        """Return the one item."""
        end = len(view.calls)
        if self._cut and view.last is not None:
            end = view.last + 1
        unit: dict[int, tuple[Call, ...]] = {}
        # A long trace has few calls that differ, so each is spelled once; its result is kept where
        # it is a handle, or what the failure is about.
        usual: dict[int, tuple[tuple[Call], bytes]] = {}
        for index, (call, raw) in enumerate(zip(plain(view.calls), raws(view.calls), strict=True)):
            wanted = (view.keeps_result and index == end - 1) or view.makes_handle(call)
            if index >= end or (call.name == "return" and not wanted):
                unit[index] = ()
                continue
            key = -id(call) if wanted else id(call)
            if key not in usual:
                kept = call if wanted else with_result(call, None)
                new = (Call(kept.name, kept.arguments, result=kept.result),)
                usual[key] = new, view.text_of(new)
            if usual[key][1] != raw:
                unit[index] = usual[key][0]
        return items(view, [unit], "what was never called")


@pass_("truncate")
def truncate(view: TraceView) -> CallItems | None:
    """Removes the calls after the one in which the replay ended."""
    if view.last is None:
        return None
    return items(view, [dropped(range(view.last + 1, len(view.calls)))], "truncate")


class Units:
    """Removes sets of calls: each set is removed as a whole."""

    def __init__(
        self, name: str, units: Callable[[TraceView], Iterable[Iterable[int]]], what: str = ""
    ) -> None:
        self.name = name
        self._units = units
        self._what = what or f"drop {name}"

    def problem(self, view: TraceView) -> CallItems | None:
        """Return the sets as items."""
        return items(view, [dropped(each) for each in self._units(view)], self._what)


@pass_("random drops")
def random_drops(view: TraceView) -> FixedSearch | None:
    """Removes many random clauses and other calls at a time.

    crash-00454 of the tuning third (`python -m benchmarks.faults reduce`) is reduced to 19 calls
    in 399 replays; without this pass, to 40 calls in 578. Most faults do not need it.
    """
    if view.first_failing is None:
        return None
    # The last call is the one that fails.
    kept = {*view.roles("init"), *view.options, len(view.bare) - 1}
    units = [unit for unit in (*view.groups, *singles(view)) if kept.isdisjoint(unit)]
    found = items(view, [dropped(unit) for unit in units], "random drops")
    if found is None:
        return None
    return FixedSearch(Selecting(found, Sampling(len(units), crc32(view.document.text))))


def kinds(view: TraceView) -> Sequence[Sequence[int]]:
    """Return all calls of each name, except those that form the formula and the rounds."""
    models = view.model.calls
    found: dict[str, list[int]] = {}
    for index, call in enumerate(view.calls):
        model = models.get(call.name)
        if model is None or model.role not in ("init", "clause", "solve", "option"):
            found.setdefault(call.name, []).append(index)
    return list(found.values())


def rounds(view: TraceView) -> Sequence[Sequence[int]]:
    """Return the rounds: the calls up to a solve, and those after it that query its result.

    The first round does not include the calls before the formula.
    """
    models = view.model.calls
    found: list[list[int]] = [[]]
    solved = False
    for index, call in enumerate(view.calls):
        model = models.get(call.name)
        role = "other" if model is None else model.role
        if role in ("init", "option", "release"):
            continue
        if solved and role not in ("query", "solve"):
            found.append([])
            solved = False
        found[-1].append(index)
        solved = solved or role == "solve"
    return [each for each in found if each] if len(found) > 1 else []


def solves(view: TraceView) -> Sequence[Sequence[int]]:
    """Return each solve call as a set: dropping it merges two rounds."""
    return [(index,) for index in view.roles("solve")]


def clauses(view: TraceView) -> Sequence[Sequence[int]]:
    """Return the clauses."""
    return view.groups


def singles(view: TraceView) -> Sequence[Sequence[int]]:
    """Return each call as a set, except options and the parts of clauses."""
    inside = {index for group in view.groups for index in group}
    options = set(view.options)
    return [
        (index,) for index in range(len(view.calls)) if index not in inside and index not in options
    ]


def pieces(view: TraceView) -> Sequence[Sequence[int]]:
    """Return each call that is part of a clause: a literal, or an end, whose drop merges two."""
    return [(index,) for group in view.groups for index in group]


def every_call(view: TraceView) -> Sequence[Sequence[int]]:
    """Return each call as a set, except options."""
    options = set(view.options)
    return [(index,) for index in range(len(view.calls)) if index not in options]


def variables(view: TraceView) -> Sequence[Sequence[int]]:
    """Return for each variable all clauses and other calls that mention it."""
    found: dict[int, set[int]] = {}
    inside: dict[int, tuple[int, ...]] = {index: group for group in view.groups for index in group}
    for index, variable in mentions(view):
        found.setdefault(variable, set()).update(inside.get(index, (index,)))
    return [sorted(each) for each in found.values()]


def harmless(view: TraceView) -> Sequence[Sequence[int]]:
    """Return each call that does not affect the answers of later calls."""
    models = view.model.calls
    pairs = {model.pair for model in models.values() if model.pair}
    return [
        (index,)
        for index, call in enumerate(view.calls)
        if (model := models.get(call.name)) is not None
        and (model.role in ("query", "hint", "solve") or model.pair or call.name in pairs)
    ]


def used_variables(view: TraceView) -> set[int]:
    """Return the variables that calls mention."""
    calls = differing(view.calls)
    return {abs(literal) for call in calls for _, literal in literals(view, call)}


def mentions(view: TraceView) -> Iterable[tuple[int, int]]:
    """Yield each call with each variable that it mentions."""
    for index, call in enumerate(plain(view.calls)):
        for _, literal in literals(view, call):
            yield index, abs(literal)


def literals(view: TraceView, call: Call) -> Iterator[tuple[int, int]]:
    """Yield the literals and variables in a call, after which argument each is."""
    for place in literal_places(view, call):
        value = call.arguments[place]
        if isinstance(value, int) and value:
            yield place, value


def literal_places(view: TraceView, call: Call) -> Sequence[int]:
    """Return which arguments of a call are literals or variables."""
    model = view.model.calls.get(call.name)
    if model is None:
        return ()
    found: list[int] = []
    for place, argument in enumerate(model.arguments):
        if argument.type.kind in ("literal", "variable"):
            found.extend(range(place, len(call.arguments)) if argument.star else (place,))
    return [place for place in found if place < len(call.arguments)]
