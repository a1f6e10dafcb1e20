"""The oracle: says whether a candidate is interesting."""

from __future__ import annotations

from dataclasses import dataclass

from reducekit.oracle.command import Command
from reducekit.oracle.criterion import Criterion


@dataclass(frozen=True, slots=True)
class Oracle:
    """Commands, run one after the other on the same candidate, and what to make of their ends.

    The criterion is asked after each command; it may spare the rest.
    """

    commands: tuple[Command, ...]
    criterion: Criterion
