"""Makes a Markdown table of measured runs of reducers on cases.

`python -m benchmarks.summary FIRST.tsv [MORE.tsv ...] > TABLE.md`

The files are those that `benchmarks.side_by_side` writes. The others are compared with the first
reducer, by geometric means of the ratios: bytes over all cases, where an output that is not
verified counts as no reduction; checks and CPU where both outputs are verified.
"""

import csv
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec

from reducekit.compare.reducers import Measured, by_test_set, ratios


def read(path: Path) -> list[Measured]:
    """Read the runs of one file."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = csv.DictReader(file, delimiter="\t")
        return [msgspec.convert([*row.values()], Measured, strict=False) for row in rows]


def table(rows: Sequence[Measured]) -> str:
    """Return a line for each case with all reducers, the test sets and the ratios, as Markdown."""
    reducers = list(dict.fromkeys(row.reducer for row in rows))
    found = {(row.case, row.reducer): row for row in rows}
    cases = [
        case
        for case in dict.fromkeys(row.case for row in rows)
        if all((case, reducer) in found for reducer in reducers)
    ]
    head = "".join(f" {name}: bytes | checks | CPU s |" for name in reducers)
    lines = [f"| case | bytes |{head}", "|---|---:|" + "---:|" * 3 * len(reducers)]
    for case in cases:
        cells = [case, f"{found[case, reducers[0]].bytes_in:,}"]
        for reducer in reducers:
            row = found[case, reducer]
            note = "" if row.verified else " (not verified)"
            note += " (capped)" if row.capped else ""
            cells += [f"{row.bytes:,}{note}", f"{row.checks:,}", f"{row.cpu:.1f}"]
        lines.append("| " + " | ".join(cells) + " |")
    compared = [found[case, reducer] for case in cases for reducer in reducers]
    parts = ["\n".join(lines), "Average, minimum and maximum:", by_test_set(compared)]
    return "\n\n".join([*parts, *ratios(compared)])


def main() -> None:
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    print(table([row for name in sys.argv[1:] for row in read(Path(name))]))


if __name__ == "__main__":
    main()
