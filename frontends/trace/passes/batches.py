"""Plays many small variants of a trace in batches, and returns the smallest failing one.

Creating and releasing a solver takes microseconds, so a single replay can play
hundreds of small traces.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from reducekit.frontends.trace.language.calls import Call
from reducekit.frontends.trace.passes.alterations import Alteration
from reducekit.frontends.trace.passes.items import Substitutions, substitutions
from reducekit.frontends.trace.passes.view import TraceView

# The maximum number of calls in a batch, which is one replay.
_BATCH = 20_000

# Above this number of calls a trace is long: each search of its neighbours takes several replays.
_LONG = 25

Key = tuple[int, int, int, bytes]
"""Orders traces: calls, options, bytes, text."""


def smaller(view: TraceView, traces: Iterable[Sequence[Call]], work: int) -> Sequence[Call] | None:
    """Return one of the traces that is smaller and fails; None if there is none.

    A long trace must have fewer calls or options: a merely shorter text is not worth playing
    all its neighbours again. Only smaller traces are played, each once, up to `work` calls in
    total. `traces` is consumed lazily, so those most likely to fail should come first.
    """
    assert view.first_failing is not None
    for batch in _batches(view, traces, work):
        batch.sort(key=lambda each: each[0])
        # One replay plays a batch in order of size, so the first that fails is the smallest in it.
        number = view.first_failing([calls for _, calls in batch])
        if number is not None:
            return batch[number][1]
    return None


def step_to(view: TraceView, calls: Sequence[Call] | None, what: str) -> Substitutions | None:
    """Return the step to a trace; None if there is none."""
    return None if calls is None else substitutions(view, [[_difference(view.bare, calls)]], what)


def _batches(
    view: TraceView, traces: Iterable[Sequence[Call]], work: int
) -> Iterator[list[tuple[Key, Sequence[Call]]]]:
    """Yield batches of the traces worth playing, with their keys, each for one replay."""
    option = view.model.options.call
    given, text = len(view.options), view.text_of(view.bare)
    now = len(view.bare) - given, given, len(text), text
    what_counts = 2 if now[0] > _LONG else 3
    seen: set[object] = set()
    batch: list[tuple[Key, Sequence[Call]]] = []
    room = min(_BATCH, work)
    for calls in traces:
        given = sum([call.name == option for call in calls])
        if (len(calls) - given, given) > now[:2]:
            continue
        key = tuple([(call.name, call.arguments) for call in calls])
        if key in seen:
            continue
        seen.add(key)
        text = view.text_of(calls)
        size = len(calls) - given, given, len(text), text
        if size[:what_counts] >= now[:what_counts] or not view.keeps(calls):
            continue
        # Traces in one replay share a process, each with a solver of its own.
        cost = len(calls) + 1  # the solver is released after it
        if cost > room:
            yield batch
            batch = []
            work -= _BATCH
            room = min(_BATCH, work)
        if cost > room:
            return
        batch.append((size, calls))
        room -= cost
    if batch:
        yield batch


def _difference(before: Sequence[Call], after: Sequence[Call]) -> Alteration:
    """Return the alteration that turns one trace into another: all after their common prefix."""
    same = 0
    while same < len(after) and before[same] == after[same]:
        same += 1
    rest = dict.fromkeys(range(same + 1, len(before)), ())
    return {**rest, same: tuple(after[same:])}
