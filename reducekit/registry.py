"""Finds frontends and strategies by their entry points, ours and those of other packages."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from reducekit.errors import UsageError
from reducekit.search.problem import Strategy

FRONTENDS = "reducekit.frontends"
STRATEGIES = "reducekit.strategies"
DEFAULT = "adaptive"
"""The strategy that each frontend has passes of its own for."""
AUTO = "auto"
"""Another name of it."""


def names(group: str) -> list[str]:
    """Return the names registered in a group, sorted."""
    return sorted({entry.name for entry in entry_points(group=group)})


def load(group: str, name: str, others: Sequence[str] = ()) -> Any:
    """Return what is registered by a name. Raises UsageError with the names there are.

    `others` are names that the caller knows besides.
    """
    found: list[EntryPoint] = list(entry_points(group=group, name=name))
    if not found:
        known = ", ".join(sorted([*names(group), *others]))
        raise UsageError(f"there is no {name!r} among the {group.split('.')[1]}: {known}")
    return found[0].load()


def strategy(name: str) -> Strategy:
    """Return a strategy by name; `auto` is another name of the default."""
    found = load(STRATEGIES, DEFAULT if name == AUTO else name, [AUTO])
    if not isinstance(found, Strategy):
        raise UsageError(f"the strategy {name!r} is not a Strategy but {found!r}")
    return found
