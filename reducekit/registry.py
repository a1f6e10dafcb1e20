"""Finds frontends and strategies: ours by a table, those of other packages by entry points.

Entry points are in files of all installed packages, so they are only read for names that are not
in the table: that takes a fifth of the time to start.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from reducekit.errors import UsageError

if TYPE_CHECKING:  # the help of the command line must be quick
    from importlib.metadata import EntryPoint

    from reducekit.format import Format
    from reducekit.search.strategy import Strategy

FRONTENDS = "reducekit.frontends"
STRATEGIES = "reducekit.strategies"
_KINDS = {FRONTENDS: "format", STRATEGIES: "strategy"}
DEFAULT = "adaptive"  # the strategy that each frontend has passes of its own for
ANY_TEXT = "text"  # the format that reads any text
AUTO = "auto"  # another name of it


OURS = {
    FRONTENDS: {
        "aiger": "aiger:Aiger",
        "btor": "btor:Btor",
        "cnf": "cnf:Cnf",
        "isolate": "isolate:Isolate",
        "opb": "opb:Opb",
        "qcir": "qcir:Qcir",
        "smt2": "smt2:Smt2",
        "text": "text:Text",
        "trace": "trace:Traces",
    },
    STRATEGIES: {
        "adaptive": "adaptive:adaptive",
        "bfs": "thesis:bfs",
        "cdd": "cdd:cdd",
        "changeref": "thesis:changeref",
        "changeref+": "thesis:changeref_plus",
        "combine": "thesis:combine",
        "deltabtor": "thesis:deltabtor",
        "ddmin": "ddmin:ddmin",
        "halving": "halving:halving",
        "hdd": "thesis:hdd",
        "hdd+": "thesis:hdd_plus",
        "hdd*": "thesis:hdd_star",
        "lglddtrace": "lglddtrace:lglddtrace",
        "lw": "thesis:lw",
        "perses": "perses:perses",
        "probdd": "probdd:probdd",
        "vulcan": "vulcan:vulcan",
    },
    # As the debugger of the thesis on BTOR spelled them.
    f"{STRATEGIES}.aliases": {
        "hddplus": "thesis:hdd_plus",
        "hddstar": "thesis:hdd_star",
        "cref": "thesis:changeref",
        "cbref": "thesis:changeref_plus",
    },
}
"""By name, a module of `reducekit.frontends` or `reducekit.strategies`, and what is in it."""


@cache
def _all() -> Any:
    """Return those of all groups: it reads a file of each installed package, so once for all."""
    from importlib.metadata import entry_points

    return entry_points()


def _others(group: str) -> Iterable[EntryPoint]:
    found: Iterable[EntryPoint] = _all().select(group=group)
    return found


def names(group: str) -> list[str]:
    """Return the names registered in a group, sorted."""
    return sorted({*OURS[group], *(entry.name for entry in _others(group))})


def known(group: str, name: str) -> bool:
    """Return whether a name, or an older spelling of one, is registered in a group."""
    groups = (group, f"{group}.aliases")
    return any(name in OURS.get(each, ()) for each in groups) or any(
        entry.name == name for each in groups for entry in _others(each)
    )


def load(group: str, name: str, others: Sequence[str] = ()) -> Any:
    """Return what is registered under a name. Raises UsageError with the names there are.

    Names in the group's `.aliases` (older or foreign spellings) are accepted and not listed.
    `others` are names that only the caller knows.
    """
    groups = (group, f"{group}.aliases")
    for each in groups:
        if name in OURS.get(each, ()):
            module, _, attribute = OURS[each][name].partition(":")
            return getattr(import_module(f"{group}.{module}"), attribute)
    for entry in (entry for each in groups for entry in _others(each)):
        if entry.name == name:
            return entry.load()
    from difflib import get_close_matches

    known = sorted([*names(group), *others])
    close = get_close_matches(name, known, 1)
    hint = f". Did you mean {close[0]}?" if close else ""
    raise UsageError(
        f"unknown {_KINDS.get(group, 'name')} {name!r}; known: {', '.join(known)}{hint}"
    )


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


def guess_format(name: str, text: bytes) -> str:
    """Return the name of the frontend for a file, by its suffix or else by its content.

    `text` is the file, or its beginning; it is any text if no other format is certain.
    """
    classes = [frontend_class(each) for each in names(FRONTENDS)]
    name = name.lower()
    for chosen in (
        [each for each in classes if name.endswith(each.suffixes or (each.suffix or "\0",))],
        [each for each in classes if each.recognises(text)],
    ):
        if len(chosen) == 1:
            return chosen[0].name
    return ANY_TEXT


def frontend_class(name: str) -> type[Format]:
    """Return the class of a frontend by name. Raises UsageError for unknown names."""
    from reducekit.format import Format

    found = load(FRONTENDS, name)
    if not (isinstance(found, type) and issubclass(found, Format)):
        raise UsageError(f"the frontend {name!r} is not a subclass of reducekit.Frontend")
    return found
