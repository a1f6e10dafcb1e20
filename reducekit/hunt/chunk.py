"""What travels between a hunt and a worker that tests some of its seeds: an order, and results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from reducekit.hunt.options import HuntOptions
from reducekit.hunt.results import InputResult
from reducekit.oracle.command import Command


@dataclass(frozen=True, slots=True)
class Order:
    """Seeds to be tested: those that the options name, by the client's commands."""

    options: HuntOptions
    commands: tuple[Command, ...]
    """With places for the files that are sent along; a reference is the last one."""
    known: tuple[Command, ...]
    """The same as the client has them."""
    directory: str
    """The client's current directory: ours, too, where it exists."""


class Tested(NamedTuple):
    """What came of an order: a result for each seed, in their order."""

    results: tuple[InputResult, ...] = ()
    seconds: float = 0.0
    failed: str | None = None
    """Why the seeds could not be tested."""
