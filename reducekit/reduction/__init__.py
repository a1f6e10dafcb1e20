"""One reduction: passes over a text, repeated until none of them makes it smaller."""

from reducekit.reduction.control import Budget, Control, Counts
from reducekit.reduction.loop import EARLIER, GUESSES, Reduction, Result
from reducekit.reduction.plan import STAGES, PassChoice
from reducekit.reduction.skips import Protection, Skip

__all__ = [
    "EARLIER",
    "GUESSES",
    "STAGES",
    "Budget",
    "Control",
    "Counts",
    "PassChoice",
    "Protection",
    "Reduction",
    "Result",
    "Skip",
]
