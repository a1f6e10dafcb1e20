"""What each pass of the text format brings: bytes and checks of all texts without it.

    python -m benchmarks.text_passes [--seeds A-B] [--passes NAME,NAME]

The texts are those that `benchmarks.texts` makes from seeds. Everything runs in this process but
the compilers that check C and Verilog.
"""

import argparse
import sys
from collections.abc import Sequence
from math import exp, fsum, log

from benchmarks import texts
from reducekit import reduce
from reducekit.compare.tables import grid
from reducekit.frontends.text import Text


def reduced(case: texts.Case, without: Sequence[str]) -> tuple[int, int]:
    """Return the bytes that are left without some passes, and the checks."""
    report = reduce(
        case.text, case.holds, format=Text(f".{case.language}"), without=without, jobs=1
    )
    return len(report.text), report.counts.checks


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seeds", type=texts.seeds, default=texts.seeds("201-230"), metavar="A-B")
    parser.add_argument("--passes", help="comma between (default: each)")
    given = parser.parse_args(arguments)
    schedule = Text().schedule("own")
    every = dict.fromkeys(each.name for each in (*schedule.rounds, *schedule.closing))
    names = given.passes.split(",") if given.passes else [*every]
    cases = [texts.case_of(seed) for seed in given.seeds]
    full = [reduced(case, ()) for case in cases]
    rows = [["none", f"{sum(a for a, _ in full):,}", f"{sum(b for _, b in full):,}", "", ""]]
    for name in names:
        found = [reduced(case, (name,)) for case in cases]
        ratios = [
            exp(fsum(log(max(b[at], 1) / max(a[at], 1)) for a, b in zip(full, found, strict=True))
                / len(cases))
            for at in (0, 1)
        ]  # fmt: skip
        sums = [f"{sum(each[at] for each in found):,}" for at in (0, 1)]
        rows.append([name, *sums, *(f"{each:.3f}" for each in ratios)])
        print(*rows[-1], file=sys.stderr, flush=True)
    print(grid(["without", "bytes", "checks", "bytes, mean ratio", "checks, mean ratio"], rows))


if __name__ == "__main__":
    main()
