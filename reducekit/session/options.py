"""The options of a session: input, failure, limits, search, output.

All faces are made from them.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from reducekit import quantities
from reducekit.executors.executor import Repeat
from reducekit.format import Effort, Format
from reducekit.option import in_group, several
from reducekit.session.failure import Failure, Opener, Words

if TYPE_CHECKING:
    from reducekit.session.cluster import Cluster

EFFORTS: tuple[Effort, ...] = get_args(Effort)


def _paths(given: Any) -> tuple[Path, ...]:
    return tuple(map(Path, several(given)))


_failure = in_group("Failure")
_limit = in_group("Limits")
_limit_rare = in_group("Limits", rare=True)
_search = in_group("Search")
_search_rare = in_group("Search", rare=True)
_output = in_group("Output")
_output_rare = in_group("Output", rare=True)
_cluster = in_group("Cluster")
_cluster_rare = in_group("Cluster", rare=True)


@dataclass(frozen=True, kw_only=True)
class Options(Failure):
    """All options of a session, as plain data."""

    input: Path | bytes
    """A file or a folder, or the text itself."""
    more_inputs: Sequence[Path] = ()
    """Files and folders below the current one, to reduce together with the input."""
    name: str = ""
    """The name of the input in messages (default: its path)."""
    format: str | Format | None = None
    """A frontend or its name; None: found by the suffix of the file or by the text, else `text`."""
    repeat: Repeat | None = _failure(
        "Flaky failure: require K failing runs out of N.", read=Repeat.parse, metavar="K-of-N"
    )
    max_checks: int | None = _limit("Stop after N checks.", read=quantities.count)
    max_time: float | None = _limit("Stop after S seconds, or as 10m, 2h.", read=quantities.seconds)
    until: int | None = _limit_rare(
        "Stop when the file has at most BYTES bytes.", read=quantities.count, metavar="BYTES"
    )
    patience: int | None = _limit_rare(
        "Stop after N checks without success; 0: never.", 2000, read=quantities.count
    )
    strategy: str = _search("The search algorithm.", "adaptive", metavar="NAME")
    effort: Effort = _search(
        "quick, normal, or thorough: also detours over larger files.",
        "normal",
        choices=EFFORTS,
        metavar="LEVEL",
    )
    jobs: int = _search(
        "Parallel checks, or auto (default: 2; 1 for scripts and --slower-than).",
        1,
        read=quantities.jobs,
        short="j",
    )
    width: int | None = _search_rare(
        "Size of the speculation window (default: --jobs). Determines the result.",
        read=quantities.width,
    )
    fast: bool = _search_rare("Process results as they arrive; not reproducible.", False)
    only: Sequence[str] = _search_rare(
        "Run only this pass. Repeatable; `reducekit passes FORMAT` lists the names.",
        (),
        metavar="PASS",
    )
    without: Sequence[str] = _search_rare("Skip this pass. Repeatable.", (), metavar="PASS")
    protect: Sequence[str] = _search(
        "What REGEX matches in the file has to stay. Repeatable.", (), metavar="REGEX"
    )
    propose: Sequence[Words] = _search_rare(
        "Also try what CMD prints for the best file: paths or edits, one a line. Repeatable.",
        (),
        metavar="CMD",
    )
    prefer: Words | None = _search_rare(
        "Of files of one size, prefer those for which CMD prints a smaller number.", metavar="CMD"
    )
    prefer_first: bool = _search_rare("Compare the numbers of --prefer before the sizes.", False)
    output: Path | None = _output(
        "Result, or - for stdout (default: in.reduced.SUFFIX).", metavar="FILE", short="o"
    )
    in_place: bool = _output("Replace INPUT; the original is kept as .orig.", False)
    restart: bool = _output("Start over; existing results are renamed.", False)
    resume: bool = _output_rare(
        "Require an earlier run to resume. (A matching run is resumed automatically.)", False
    )
    journal: bool = _output_rare(
        "Do not write a journal next to the output.", True, spelled="no-journal"
    )
    also_interesting: Path | None = _output_rare(
        "Keep the smallest file for each other failure in DIR.", metavar="DIR"
    )
    pretty: bool = _output("Pretty-print the result if it still fails.", False)
    lenient: bool = _output_rare("Reduce a file that does not parse as any text.", False)
    workdir: Path | None = _output_rare(
        "Write candidates below DIR (default: TMPDIR if set, otherwise in memory).", metavar="DIR"
    )
    cluster: str | Cluster | None = _cluster_rare(
        "Run checks on a Dask cluster: tcp://HOST:PORT, local:N or a YAML file.", metavar="WHERE"
    )
    ship: Sequence[Path] = _cluster_rare(
        "Send FILE to the workers. Repeatable.", (), read=_paths, metavar="FILE"
    )
    local_slots: int = _cluster_rare(
        "Fall back to N local jobs when the cluster is lost.", 0, read=quantities.count
    )
    opener: Opener | None = None
    """Where checks run; None: on this machine, or in this process for `interesting`."""

    @cached_property
    def several(self) -> bool:
        """Whether the input is several files, or a folder."""
        return bool(self.more_inputs) or (
            isinstance(self.input, Path) and os.path.isdir(self.input)
        )

    @property
    def input_name(self) -> str:
        """The name of the input in messages."""
        if self.name:
            return self.name
        return "input" if isinstance(self.input, bytes) else str(self.input)
