"""reducekit: finds the smallest input on which a solver still fails."""

from __future__ import annotations

# Here, as nothing can be imported any more where a signal interrupts the first imports.
NOTHING_YET = "reducekit: interrupted before there was a result; nothing was written"

TYPE_CHECKING = False  # importing it from typing takes as long as all that is here
if TYPE_CHECKING:
    from reducekit.api import reduce
    from reducekit.change import Change, Edit, Template
    from reducekit.document import Document
    from reducekit.errors import (
        NotInterestingError,
        ParseError,
        ReducekitError,
        ResourceError,
        Unresolved,
        UsageError,
    )
    from reducekit.format import Format, Frontend, Pass, Schedule, View
    from reducekit.offers import FormatOption
    from reducekit.oracle.command import Command
    from reducekit.reduction import Budget, Control, Counts, Reduction, Result
    from reducekit.runtime import __version__ as __version__
    from reducekit.search.problem import (
        Closure,
        FixedSearch,
        Graph,
        IndependentItems,
        Items,
        LeafTree,
        Move,
        Search,
        Tree,
    )
    from reducekit.search.strategy import Strategy
    from reducekit.session import Options, Report, Session

_HOMES = {
    "reducekit.api": "reduce",
    "reducekit.change": "Change Edit Template",
    "reducekit.document": "Document",
    "reducekit.errors": (
        "NotInterestingError ParseError ReducekitError ResourceError Unresolved UsageError"
    ),
    "reducekit.format": "Format Frontend Pass Schedule View",
    "reducekit.offers": "FormatOption",
    "reducekit.oracle.command": "Command",
    "reducekit.reduction": "Budget Control Counts Reduction Result",
    "reducekit.search.problem": (
        "Closure FixedSearch Graph IndependentItems Items LeafTree Move Search Tree"
    ),
    "reducekit.search.strategy": "Strategy",
    "reducekit.session": "Options Report Session",
    "reducekit.runtime": "__version__",
}
_HOME = {name: home for home, names in _HOMES.items() for name in names.split()}

__all__ = [
    "Budget", "Change", "Closure", "Command", "Control", "Counts", "Document", "Edit",
    "FixedSearch", "Format", "FormatOption", "Frontend", "Graph", "IndependentItems", "Items",
    "LeafTree", "Move", "NotInterestingError", "Options", "ParseError", "Pass", "ReducekitError",
    "Reduction", "Report", "ResourceError", "Result", "Schedule", "Search", "Session", "Strategy",
    "Template", "Tree", "Unresolved", "UsageError", "View", "reduce",
]  # fmt: skip


def __getattr__(name: str) -> object:
    """Load what is asked for: the command line must be ready for Ctrl-C before all else."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOME[name]), name)
