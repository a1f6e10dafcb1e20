"""Finds frontends and strategies by their entry points, ours and those of other packages."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any

from reducekit.errors import UsageError

if TYPE_CHECKING:  # the help of the command line must be quick
    from reducekit.format import Format
    from reducekit.search.strategy import Strategy

FRONTENDS = "reducekit.frontends"
STRATEGIES = "reducekit.strategies"
_KINDS = {FRONTENDS: "format", STRATEGIES: "strategy"}
DEFAULT = "adaptive"  # the strategy that each frontend has passes of its own for
ANY_TEXT = "text"  # the format that reads any text
AUTO = "auto"  # another name of it


_all = cache(entry_points)
"""Returns those of all groups: it reads a file of each installed package, so once for all."""


def _entries(group: str) -> Sequence[EntryPoint]:
    return tuple(_all().select(group=group))


def _named(group: str, name: str) -> list[EntryPoint]:
    return [entry for entry in _entries(group) if entry.name == name]


def names(group: str) -> list[str]:
    """Return the names registered in a group, sorted."""
    return sorted({entry.name for entry in _entries(group)})


def known(group: str, name: str) -> bool:
    """Return whether a name, or an older spelling of one, is registered in a group."""
    return any(_named(each, name) for each in (group, f"{group}.aliases"))


def load(group: str, name: str, others: Sequence[str] = ()) -> Any:
    """Return what is registered under a name. Raises UsageError with the names there are.

    Names in the group's `.aliases` (older or foreign spellings) are accepted and not listed.
    `others` are names that only the caller knows.
    """
    found: list[EntryPoint] = [*_named(group, name), *_named(f"{group}.aliases", name)]
    if not found:
        known = sorted([*names(group), *others])
        close = get_close_matches(name, known, 1)
        hint = f". Did you mean {close[0]}?" if close else ""
        raise UsageError(
            f"unknown {_KINDS.get(group, 'name')} {name!r}; known: {', '.join(known)}{hint}"
        )
    return found[0].load()


def strategy(name: str) -> Strategy:
    """Return a strategy by name; `auto` is another name of the default."""
    from reducekit.search.strategy import Strategy

    found = load(STRATEGIES, DEFAULT if name == AUTO else name, [AUTO])
    if not isinstance(found, Strategy):
        raise UsageError(f"the strategy {name!r} is not a Strategy but {found!r}")
    return found


def frontend(name: str, /, **options: Any) -> Format:
    """Return a frontend by name, made with its options. Raises UsageError for unknown names."""
    return frontend_class(name)(**options)


def guess_format(name: str, text: bytes) -> str | None:
    """Return the name of the frontend for a file, by its suffix or else by its content.

    `text` is the file, or its beginning; None if no format is certain.
    """
    classes = [frontend_class(each) for each in names(FRONTENDS)]
    name = name.lower()
    for chosen in (
        [each for each in classes if name.endswith(each.suffixes or (each.suffix or "\0",))],
        [each for each in classes if each.recognises(text)],
    ):
        if len(chosen) == 1:
            return chosen[0].name
    return None


def frontend_class(name: str) -> type[Format]:
    """Return the class of a frontend by name. Raises UsageError for unknown names."""
    from reducekit.format import Format

    found = load(FRONTENDS, name)
    if not (isinstance(found, type) and issubclass(found, Format)):
        raise UsageError(f"the frontend {name!r} is not a subclass of reducekit.Frontend")
    return found
