"""What a hunt is told: which format, which programs, how many inputs, where bugs are kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reducekit.session.cluster import Cluster
from reducekit.session.options import Opener, Words


@dataclass(frozen=True, slots=True, kw_only=True)
class HuntOptions:
    """All that a hunt is told, as plain data. Times are in seconds, sizes in bytes."""

    format: str
    """The name of a registered format."""
    folder: Path
    """Where bugs are kept; what it holds from earlier hunts is not new."""
    programs: Sequence[Words] = ()
    """Programs under test; none: a library, for formats that play inputs to one."""
    reference: Words | None = None
    """A program that is right where others disagree."""
    seeds: Path | None = None
    """Test the files of this folder instead of random inputs."""
    seed: int | None = None
    """That of the first random input; None: the format's default."""
    count: int | None = None
    """Inputs; None: no end."""
    max_time: float | None = None
    """For all, reductions included; None: no end."""
    jobs: int = 1
    """Inputs tested at the same time."""
    timeout: float = 10.0
    """Wall time of a run."""
    memory: int | None = None
    """Address space of each process of a run; None: no limit, or the format's."""
    keep_timeouts: bool = False
    """A run that takes longer than `timeout` is a bug, too."""
    reduce: bool = True
    strategy: str = "adaptive"
    """How to search while reducing."""
    format_options: Mapping[str, Any] = field(default_factory=dict)
    """Those of the format's generator and tests, by name; others have their defaults."""
    opener: Opener | None = None
    """Where programs run; None: on this machine."""
    cluster: str | Cluster | None = None
    """Test seeds on a cluster: `tcp://HOST:PORT` of a Dask scheduler, `local:N`, a YAML file.

    A hunt in the same folder with the same options goes on where an earlier one has ended.
    """
    ship: Sequence[Path] = ()
    """Files to be sent along to the workers, such as the programs under test."""
    local_slots: int = 0
    """Checks of a reduction at the same time on this machine when no worker is left."""
    restart: bool = False
    """On a cluster: begin with the first seed again."""
