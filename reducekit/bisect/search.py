"""Which version to test next, and which items to leave out: pure, nothing runs here."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from typing import Literal, TypeAlias

from reducekit.search.selecting import Selector
from reducekit.strategies.ddmin import selector

Verdict: TypeAlias = Literal["good", "bad", "skipped"]

_PART = re.compile(r"([0-9]+)|([A-Za-z]+)")
_BEFORE = ("dev", "a", "alpha", "b", "beta", "c", "pre", "preview", "rc")
"""What marks a version that came before the release of the same number, in their order."""
_END, _AFTER, _NUMBER = 0, 1, 2


def version_key(name: str) -> list[tuple[int, int, str]]:
    """Return a sort key for names with versions: `z3-4.8.9`, `z3-4.8.10rc1`, `z3-4.8.10`."""
    key = []
    for number, word in _PART.findall(name):
        if number:
            key.append((_NUMBER, int(number), ""))
        elif word.lower() in _BEFORE:
            key.append((_END - 1, _BEFORE.index(word.lower()), ""))
        else:
            key.append((_AFTER, 0, word))
    return [*key, (_END, 0, "")]


def next_version(good: int, bad: int, skipped: Collection[int]) -> int | None:
    """Return the version to test, between `good` and `bad`; None if none is left.

    It is the one closest to the middle. After a version that could not be tested, its neighbours
    probably cannot be tested either, so the distance doubles, on alternate sides.
    """
    left = [each for each in range(good + 1, bad) if each not in skipped]
    if not left:
        return None
    count = sum(good < each < bad for each in skipped)
    step = min((1 << min(count, 40)) - 1, (bad - good) // 4)
    target = (good + bad) // 2 + (step if count % 2 else -step)
    return min(left, key=lambda each: (abs(each - target), each))


def smallest(
    count: int, shows: Callable[[frozenset[int]], bool], pairs: Iterable[int] = ()
) -> frozenset[int]:
    """Return a set of the items `0 .. count-1` for which `shows` holds, as it does for all of them.

    No single item of it can be left out, nor can `i` and `i + 1` together for `i` in `pairs`. The
    empty set is tested first, since often nothing is needed. Then ddmin.
    """
    known: dict[frozenset[int], bool] = {frozenset(range(count)): True}

    def ask(kept: frozenset[int]) -> bool:
        if kept not in known:
            known[kept] = shows(kept)
        return known[kept]

    if ask(frozenset()):
        return frozenset()
    kept, pairs = frozenset(range(count)), tuple(pairs)
    while True:
        kept = _by_ddmin(kept, ask)
        couples = (frozenset((each, each + 1)) for each in pairs)
        found = next((each for each in couples if each <= kept and ask(kept - each)), None)
        if found is None:
            return kept
        kept -= found


def lowest(number: int, shows: Callable[[int], bool]) -> int:
    """Return the lowest number for which `shows` holds, as it does for `number`.

    0 and 1 are tested first: they are the least special values. Then bisection, which assumes that
    `shows` is monotone: about log2(number) tests.
    """
    for each in range(min(number, 2)):
        if shows(each):
            return each
    low = min(number, 2) - 1
    while number - low > 1:
        middle = (low + number) // 2
        low, number = (low, middle) if shows(middle) else (middle, number)
    return number


def _by_ddmin(items: frozenset[int], ask: Callable[[frozenset[int]], bool]) -> frozenset[int]:
    order, left = sorted(items), items
    state: Selector = selector(len(order))
    while (proposed := state.propose()) is not None:
        rest = left - {order[each] for each in proposed}
        if ask(rest):
            left, state = rest, state.after(proposed)
        else:
            state = state.after(())
    return left
