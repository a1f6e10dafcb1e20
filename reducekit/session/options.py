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


def _repeat(given: str | Repeat) -> Repeat:
    return given if isinstance(given, Repeat) else Repeat.parse(given)


def _paths(given: Any) -> tuple[Path, ...]:
    return tuple(map(Path, several(given)))


_failure = in_group("Failure")
_limit = in_group("Limits")
_search = in_group("Search")
_output = in_group("Output")
_cluster = in_group("Cluster")


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
        "Flaky failure: require K failing runs out of N.", read=_repeat, metavar="K-of-N"
    )
    max_checks: int | None = _limit("Stop after N checks.", read=quantities.count, metavar="N")
    max_time: float | None = _limit(
        "Stop after S seconds, or as 10m, 2h.", read=quantities.seconds, metavar="S"
    )
    until: int | None = _limit(
        "Stop when the file has at most BYTES bytes.",
        read=quantities.count,
        metavar="BYTES",
        rare=True,
    )
    patience: int | None = _limit(
        "Stop after N checks without success; 0: never.",
        2000,
        read=quantities.count,
        metavar="N",
        rare=True,
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
        metavar="N",
        short="j",
    )
    width: int | None = _search(
        "Size of the speculation window (default: --jobs). Determines the result.",
        read=quantities.width,
        metavar="N",
        rare=True,
    )
    fast: bool = _search("Process results as they arrive; not reproducible.", False, rare=True)
    only: Sequence[str] = _search(
        "Run only this pass. Repeatable; `reducekit passes FORMAT` lists the names.",
        (),
        read=several,
        metavar="PASS",
        rare=True,
    )
    without: Sequence[str] = _search(
        "Skip this pass. Repeatable.", (), read=several, metavar="PASS", rare=True
    )
    protect: Sequence[str] = _search(
        "What REGEX matches in the file has to stay. Repeatable.", (), read=several, metavar="REGEX"
    )
    propose: Sequence[Words] = _search(
        "Also try what CMD prints for the best file: paths or edits, one a line. Repeatable.",
        (),
        read=several,
        metavar="CMD",
        rare=True,
    )
    prefer: Words | None = _search(
        "Of files of one size, prefer those for which CMD prints a smaller number.",
        metavar="CMD",
        rare=True,
    )
    prefer_first: bool = _search(
        "Compare the numbers of --prefer before the sizes.", False, rare=True
    )
    output: Path | None = _output(
        "Result, or - for stdout (default: in.reduced.SUFFIX).",
        read=Path,
        metavar="FILE",
        short="o",
    )
    in_place: bool = _output("Replace INPUT; the original is kept as .orig.", False)
    restart: bool = _output("Start over; existing results are renamed.", False)
    resume: bool = _output(
        "Require an earlier run to resume. (A matching run is resumed automatically.)",
        False,
        rare=True,
    )
    journal: bool = _output(
        "Do not write a journal next to the output.", True, spelled="no-journal", rare=True
    )
    also_interesting: Path | None = _output(
        "Keep the smallest file for each other failure in DIR.", read=Path, metavar="DIR", rare=True
    )
    pretty: bool = _output("Pretty-print the result if it still fails.", False)
    lenient: bool = _output("Reduce a file that does not parse as any text.", False, rare=True)
    workdir: Path | None = _output(
        "Write candidates below DIR (default: TMPDIR if set, otherwise in memory).",
        read=Path,
        metavar="DIR",
        rare=True,
    )
    cluster: str | Cluster | None = _cluster(
        "Run checks on a Dask cluster: tcp://HOST:PORT, local:N or a YAML file.",
        metavar="WHERE",
        rare=True,
    )
    ship: Sequence[Path] = _cluster(
        "Send FILE to the workers. Repeatable.", (), read=_paths, metavar="FILE", rare=True
    )
    local_slots: int = _cluster(
        "Fall back to N local jobs when the cluster is lost.",
        0,
        read=quantities.count,
        metavar="N",
        rare=True,
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
