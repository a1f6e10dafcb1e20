"""reducekit: finds the smallest input on which a solver still fails."""

from reducekit.api import reduce
from reducekit.change import Change, Edit, Template
from reducekit.document import Document
from reducekit.errors import NotInterestingError, ParseError, ReducekitError, UsageError
from reducekit.frontend import Frontend, Pass, Schedule, View
from reducekit.oracle.command import Command
from reducekit.reduction import Budget, Counts, Reduction, Result
from reducekit.search.problem import Closure, Items, Move, Search, Strategy, Tree

__version__ = "0.1.0"

__all__ = [
    "Budget",
    "Change",
    "Closure",
    "Command",
    "Counts",
    "Document",
    "Edit",
    "Frontend",
    "Items",
    "Move",
    "NotInterestingError",
    "ParseError",
    "Pass",
    "ReducekitError",
    "Reduction",
    "Result",
    "Schedule",
    "Search",
    "Strategy",
    "Template",
    "Tree",
    "UsageError",
    "View",
    "reduce",
]
