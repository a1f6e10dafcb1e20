"""Measures the cost of the page: checks per second of a reduction with and without a browser.

`python -m benchmarks.page_cost > benchmarks/results/page_cost.md`, with Debian's Chromium

The same reduction runs alternately from the command line and from the page; on the page, Chromium
shows text, graph and curve as they shrink. The input is a random BTOR file, the test a shell
script that counts lines, so that about a hundred of the checks are steps that the page has to show.
The aim is at most 2 % (median of the ratios). Run it on an idle machine: a run has enough
checks that loading the page and drawing the first graph, about 2 s of CPU time, hardly count.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from reducekit import registry
from tests.ui.browser import Visit, chromium
from tests.ui.serving import Serving, serving

NODES, KEPT = 2000, 1000
SETTINGS = ((0.0, 3000, 5), (0.02, 1500, 3))
"""Seconds that a check sleeps, the checks of a run, and how many runs of both there are: one check
of 2 ms, and one of about 20 ms."""
TEST = """#!/bin/sh
{sleep}[ "$(grep -c ' and ' "$1")" -ge {kept} ]
"""
STRATEGY = "ddmin"
"""Takes many small steps."""
_LONGEST = 600.0  # seconds for a run


def make_input() -> bytes:
    """Return the BTOR file to reduce, with `NODES` nodes."""
    lines = ["1 var 8"]
    for node in range(2, NODES):
        other = max(1, node // 2)
        lines.append(f"{node} and 8 {node - 1} {other}" if node % 3 else f"{node} not 8 {node - 1}")
    lines += [f"{NODES} redor 1 {NODES - 1}", f"{NODES + 1} root 1 {NODES}"]
    return "\n".join([*lines, ""]).encode()


def from_the_command_line(source: Path, test: str, checks: int) -> float:
    """Return the checks a second of a run without a page."""
    output = source.with_name("out.btor")
    run = subprocess.run(
        [sys.executable, "-m", "reducekit", "btor", str(source), "-o", str(output), "--restart",
         "--oracle", test, "--strategy", STRATEGY, "--max-checks", str(checks), "--json"],
        capture_output=True, check=False,
    )  # fmt: skip
    return rate(json.loads(run.stdout))


def from_the_page(visit: Visit, test: str, checks: int, number: int) -> float:
    """Return the checks a second of the run with this number, which the page shows."""
    page = visit.start()
    visit.open("in.btor")
    visit.fails(test)
    visit.algorithms(STRATEGY)
    if not page.locator("#max_checks").is_visible():
        page.locator("details:has(#max_checks) > summary").click()
    page.fill("#max_checks", str(checks))
    page.click("#start")
    page.wait_for_selector(f".run >> nth={number - 1}")
    runs = visit.served.api.runs
    assert runs.wait_for_end(number, _LONGEST)
    run = runs.get(number)
    assert run.result is not None, run.error
    page.wait_for_selector(".run[data-status=running]", state="detached")
    return rate(run.result)


def rate(report: dict[str, float]) -> float:
    """Return the checks a second of a report."""
    return report["checks"] / report["seconds"]


def rates(
    served: Serving, visit: Visit, pause: float, checks: int, numbers: range
) -> list[tuple[float, float]]:
    """Return the checks a second of both, in turns; the runs of the page have these numbers."""
    source = served.folder / "in.btor"
    source.write_bytes(make_input())
    script = served.folder / "test.sh"
    script.write_text(TEST.format(kept=KEPT, sleep=f"sleep {pause}\n" if pause else ""))
    script.chmod(0o755)
    test = f"{script} {{}}"
    return [
        (
            from_the_command_line(source, test, checks),
            from_the_page(visit, test, checks, number),
        )
        for number in numbers
    ]


def main() -> int:
    """Print the table."""
    print(__doc__)
    print("| a check sleeps | checks of a run | runs | checks/s, command line | page | cost |")
    print("|---|--:|--:|--:|--:|--:|")
    assert STRATEGY in registry.names(registry.STRATEGIES)
    with (
        tempfile.TemporaryDirectory() as name,
        chromium() as browser,
        serving(Path(name)) as served,
    ):
        first = 1
        for pause, checks, turns in SETTINGS:
            visit = Visit(browser, served)
            pairs = rates(served, visit, pause, checks, range(first, first + turns))
            first += turns
            visit.end()
            alone, watched = (statistics.median(each) for each in zip(*pairs, strict=True))
            cost = 1 - statistics.median(page / line for line, page in pairs)
            print(
                f"| {pause * 1000:.0f} ms | {checks:,} | {turns} | {alone:.0f} | {watched:.0f} "
                f"| {cost:.1%} |",
                flush=True,
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
