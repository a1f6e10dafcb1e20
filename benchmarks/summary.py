"""Makes a Markdown table out of measured runs of reducers on cases.

`python -m benchmarks.summary FIRST.tsv [MORE.tsv ...] > TABLE.md`

The files have one row a run and a header line with the columns `case`,
`reducer`, `bytes_in`, `bytes_out`, `runs` (of the oracle), `cpu` (seconds of the
whole process tree), `verified` (`yes` if the oracle accepts the output) and
`capped` (`yes` if the run was stopped by a time limit). The first reducer is
what the others are compared with, by geometric means of the ratios: of bytes
over all cases, where an output that is not verified counts as no reduction; of
runs and CPU over the cases that both verified.
"""

from __future__ import annotations

import csv
import math
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple


class Run(NamedTuple):
    """One reducer on one case. `size` is that of the input if the output is not verified."""

    case: str
    reducer: str
    size_in: int
    size: int
    checks: int
    cpu: float
    verified: bool
    capped: bool


def read(path: Path) -> list[Run]:
    """Read the runs of one file."""
    with path.open(newline="") as file:
        return [
            Run(
                row["case"],
                row["reducer"],
                int(row["bytes_in"]),
                int(row["bytes_out" if row["verified"] == "yes" else "bytes_in"]),
                int(row["runs"]),
                float(row["cpu"]),
                row["verified"] == "yes",
                row["capped"] == "yes",
            )
            for row in csv.DictReader(file, delimiter="\t")
        ]


def geometric_mean(pairs: Iterable[tuple[float, float]], floor: float) -> float:
    """Return the geometric mean of the ratios of pairs, both raised to `floor` at least."""
    logs = [math.log(max(a, floor) / max(b, floor)) for a, b in pairs]
    return math.exp(sum(logs) / len(logs)) if logs else math.nan


def table(runs: Sequence[Run]) -> str:
    """Return the table of all runs, and the means, as Markdown."""
    reducers = list(dict.fromkeys(run.reducer for run in runs))
    found = {(run.case, run.reducer): run for run in runs}
    cases = [
        case
        for case in dict.fromkeys(run.case for run in runs)
        if all((case, reducer) in found for reducer in reducers)
    ]
    head = "".join(f" {name}: bytes | checks | CPU s |" for name in reducers)
    lines = [f"| case | bytes |{head}", "|---|---:|" + "---:|" * 3 * len(reducers)]
    for case in cases:
        cells = [case, f"{found[case, reducers[0]].size_in:,}"]
        for reducer in reducers:
            run = found[case, reducer]
            note = "" if run.verified else " (not verified)"
            note += " (capped)" if run.capped else ""
            cells += [f"{run.size:,}{note}", f"{run.checks:,}", f"{run.cpu:.1f}"]
        lines.append("| " + " | ".join(cells) + " |")
    lines.append("")
    for reducer in reducers[1:]:
        pairs = [(found[case, reducer], found[case, reducers[0]]) for case in cases]
        done = [pair for pair in pairs if pair[0].verified and pair[1].verified]
        size = geometric_mean(((a.size, b.size) for a, b in pairs), 1)
        checks = geometric_mean(((a.checks, b.checks) for a, b in done), 1)
        cpu = geometric_mean(((a.cpu, b.cpu) for a, b in done), 0.01)
        lines.append(
            f"{reducer} against {reducers[0]}, geometric means of the ratios: bytes {size:.3f} "
            f"({len(pairs)} cases), checks {checks:.3f} and CPU {cpu:.3f} ({len(done)} cases)."
        )
    return "\n".join(lines)


def main() -> None:
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    print(table([run for name in sys.argv[1:] for run in read(Path(name))]))


if __name__ == "__main__":
    main()
