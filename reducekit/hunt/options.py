"""The options of a hunt: format, programs, inputs, limits, folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reducekit import quantities
from reducekit.option import option, read_fields, same
from reducekit.session.cluster import Cluster
from reducekit.session.options import Opener, Options, Words


@dataclass(frozen=True, slots=True, kw_only=True)
class HuntOptions:
    """All options of a hunt, as plain data. Times are in seconds, sizes in bytes."""

    format: str
    """The name of a registered format."""
    folder: Path = option(
        "Folder for the bugs and the state of the hunt; bugs in it are not new.",
        "Output",
        Path("failures"),
        metavar="DIR",
        spelled="out",
    )
    programs: Sequence[Words] = option(
        "Solver to test; repeat it to compare answers.", "Failure", (), metavar="CMD", spelled="cmd"
    )
    reference: Words | None = option("A solver whose answers are right.", "Failure", metavar="CMD")
    keep_timeouts: bool = option("Report runs that exceed --timeout as bugs.", "Failure", False)
    seeds: Path | None = option(
        "Test the files of this folder, not random ones.", "Inputs", metavar="DIR"
    )
    like: Path | None = option(
        "Hunt for a smaller input that fails like FILE.", "Failure", metavar="FILE"
    )
    seed: int | None = None
    """The first seed; None: the format's default."""
    count: int | None = option(
        "Stop after N inputs.", "Limits", read=quantities.positive, metavar="N"
    )
    max_time: float | None = same(
        Options, "max_time", help="Stop after S seconds, or as 10m, 2h; reductions included."
    )
    timeout: float = same(
        Options, "timeout", default=10.0, help="Time limit of a run, such as 90s."
    )
    memory: int | None = same(Options, "memory")
    jobs: int = same(Options, "jobs", help="Inputs tested in parallel, or auto.")
    strategy: str = same(Options, "strategy", help="The algorithm of the reductions.")
    reduce: bool = option("Keep bugs as they were found.", "Search", True, spelled="no-reduce")
    restart: bool = option(
        "Start over with the first seed. (An earlier run of the hunt is continued automatically.)",
        "Output",
        False,
    )
    format_options: Mapping[str, Any] = field(default_factory=dict)
    """Options of the format's generator and tests, by name; others have their defaults."""
    opener: Opener | None = None
    """Where programs run; None: on this machine."""
    cluster: str | Cluster | None = same(
        Options,
        "cluster",
        help="Test seeds on a Dask cluster: tcp://HOST:PORT, local:N or a YAML file.",
    )
    ship: Sequence[Path] = same(Options, "ship")
    local_slots: int = same(Options, "local_slots")

    def __post_init__(self) -> None:
        """Parse a value that is written as on the command line: `90s`, `4G`, `auto`.

        Raises UsageError.
        """
        for name, read in read_fields(self):
            object.__setattr__(self, name, read)
