"""How much one run of a command may use."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of each single run of a command; None is no limit.

    `wall` and `cpu` are seconds. `cpu` and `memory` (bytes of address space)
    hold for each process by itself, `cpu` is rounded up to whole seconds.
    `output` is bytes kept of each of the two streams; a run that prints more
    is stopped.
    """

    wall: float | None = None
    cpu: float | None = None
    memory: int | None = None
    output: int = 8 << 20
