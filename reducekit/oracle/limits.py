"""The limits of one run of a command."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of each single run of a command; None means no limit.

    `wall` and `cpu` are seconds. `cpu` and `memory` (bytes of address space) apply to each process
    separately; `cpu` is rounded up to whole seconds. `output` is the number of bytes kept of each
    stream; a run that prints more is stopped.
    """

    wall: float | None = None
    cpu: float | None = None
    memory: int | None = None
    output: int = 8 << 20
