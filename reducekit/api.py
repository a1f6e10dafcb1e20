"""Reducing from Python, with an oracle written in Python."""

from __future__ import annotations

from collections.abc import Callable

from reducekit import registry
from reducekit.errors import NotInterestingError
from reducekit.executors.inprocess import InProcess
from reducekit.oracle.limits import Limits
from reducekit.reduction import Budget, Reduction, Result


def reduce(
    text: bytes,
    interesting: Callable[[bytes], bool],
    *,
    frontend: str = "smt2",
    strategy: str = "adaptive",
    budget: Budget | None = None,
) -> Result:
    """Return the smallest text found on which `interesting` still holds, and what it cost.

    `interesting` gets the bytes of a candidate; it must always say the same of
    the same text. `frontend` and `strategy` are names of registered frontends
    and strategies. Raises ParseError if the text is not of the format,
    NotInterestingError if it is not interesting, UsageError for unknown names.
    """
    if not interesting(text):
        raise NotInterestingError("the text to reduce is not interesting itself")
    reduction = Reduction(
        registry.load(registry.FRONTENDS, frontend)(),
        registry.strategy(strategy),
        InProcess(interesting),
        lambda seconds: Limits(),
        budget=budget or Budget(),
    )
    return reduction.run(text, 0.0)
