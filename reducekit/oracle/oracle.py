"""The oracle: decides whether a candidate is interesting."""

from __future__ import annotations

from dataclasses import dataclass

from reducekit.oracle.command import Command
from reducekit.oracle.criterion import Criterion


@dataclass(frozen=True, slots=True)
class Oracle:
    """Commands, run in order on the same candidate, and the criterion that judges their outcomes.

    The criterion is asked after each command; its answer may save the remaining ones.
    """

    commands: tuple[Command, ...]
    criterion: Criterion
    resolves: bool = False
    """Whether to distinguish unresolved candidates from passing ones."""
