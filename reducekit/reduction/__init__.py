"""One reduction: passes over a text, repeated until none of them makes it smaller."""

from reducekit.reduction.budget import Budget
from reducekit.reduction.control import Control
from reducekit.reduction.counts import Counts
from reducekit.reduction.loop import Reduction, Result
from reducekit.reduction.plan import STAGES, PassChoice

__all__ = ["STAGES", "Budget", "Control", "Counts", "PassChoice", "Reduction", "Result"]
