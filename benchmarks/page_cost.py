"""Measures the cost of the page: checks per second of a reduction with and without a browser.

`python -m benchmarks.page_cost > benchmarks/results/page_cost.md`, with Debian's Chromium

The same reduction runs alternately from the command line and from the page; on the page, Chromium
shows text, graph and curve as they shrink. The input is a random BTOR file, the test a shell
script that counts lines, so that about a hundred of the checks are steps that the page has to show.
The aim is at most 2 % (median of the ratios). Checks a second need an idle machine: a run has
enough checks that loading the page and drawing the first graph, about 2 s of CPU time, hardly
count. The CPU time of a check, with all that its reduction does, can also be compared on a busy
machine. The last columns are that of the server, and of the browser, which has a core of its own.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from reducekit import registry
from tests.ui.browser import Visit, chromium
from tests.ui.serving import Serving, serving

NODES, KEPT = 2000, 1000
SETTINGS = ((0.0, 1000, 5), (0.02, 700, 7))
"""Seconds that a check sleeps, the checks of a run, and how many runs of both there are: one check
of 2 ms, and one of about 20 ms."""
TEST = """#!/bin/sh
{sleep}[ "$(grep -c ' and ' "$1")" -ge {kept} ]
"""
STRATEGY = "ddmin"
"""Takes many small steps."""
_LONGEST = 600.0  # seconds for a run
_TICKS = os.sysconf("SC_CLK_TCK")


class Cost(NamedTuple):
    """What a run costs."""

    rate: float
    """Checks a second."""
    own: float
    """CPU milliseconds of the reduction and its check, for each check."""
    served: float = 0.0
    """Those of the server."""
    shown: float = 0.0
    """Those of the browser."""


def ended() -> float:
    """Return the CPU seconds of the child processes that have ended, and of theirs."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def living() -> float:
    """Return the CPU seconds of the processes below this one, which are those of the browser."""
    parents, used = {}, {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            words = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(entry.name)] = int(words[1])
        used[int(entry.name)] = (int(words[11]) + int(words[12])) / _TICKS

    def below(number: int) -> bool:
        above = parents.get(number)
        return above is not None and (above == os.getpid() or below(above))

    return sum(seconds for number, seconds in used.items() if below(number))


def make_input() -> bytes:
    """Return the BTOR file to reduce, with `NODES` nodes."""
    lines = ["1 var 8"]
    for node in range(2, NODES):
        other = max(1, node // 2)
        lines.append(f"{node} and 8 {node - 1} {other}" if node % 3 else f"{node} not 8 {node - 1}")
    lines += [f"{NODES} redor 1 {NODES - 1}", f"{NODES + 1} root 1 {NODES}"]
    return "\n".join([*lines, ""]).encode()


def from_the_command_line(source: Path, test: str, checks: int) -> Cost:
    """Return what a run without a page costs."""
    before = ended()
    output = source.with_name("out.btor")
    run = subprocess.run(
        [sys.executable, "-m", "reducekit", "btor", str(source), "-o", str(output), "--restart",
         "--oracle", test, "--strategy", STRATEGY, "--max-checks", str(checks), "--json"],
        capture_output=True, check=False,
    )  # fmt: skip
    return cost(json.loads(run.stdout), ended() - before)


def from_the_page(visit: Visit, test: str, checks: int, number: int) -> Cost:
    """Return what the run with this number costs, which the page shows."""
    page = visit.start()
    visit.open("in.btor")
    visit.fails(test)
    visit.algorithms(STRATEGY)
    if not page.locator("#max_checks").is_visible():
        page.locator("details:has(#max_checks) > summary").click()
    page.fill("#max_checks", str(checks))
    before, served, shown = ended(), time.process_time(), living()
    page.click("#start")
    page.wait_for_selector(f".run >> nth={number - 1}")
    runs = visit.served.api.runs
    assert runs.wait_for_end(number, _LONGEST)
    run = runs.get(number)
    assert run.result is not None, run.error
    page.wait_for_selector(".run[data-status=running]", state="detached")
    while ended() == before:  # the process of the run is the only one that ends
        time.sleep(0.01)
    shared = (time.process_time() - served, living() - shown)
    return cost(run.result, ended() - before, *shared)


def cost(report: dict[str, float], *seconds: float) -> Cost:
    """Return the cost of a run with this report and these CPU seconds."""
    checks = report["checks"]
    return Cost(checks / report["seconds"], *(1000 * each / checks for each in seconds))


def rates(
    served: Serving, visit: Visit, pause: float, checks: int, numbers: range
) -> list[tuple[Cost, Cost]]:
    """Return the costs of both, in turns; the runs of the page have these numbers."""
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
    print(
        "| a check sleeps | checks of a run | runs | checks/s, command line | page | cost "
        "| CPU ms a check, command line | page | cost | server | browser |"
    )
    print("|---|" + "--:|" * 10)
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
            alone, watched = (
                Cost(*map(statistics.median, zip(*each, strict=True)))
                for each in zip(*pairs, strict=True)
            )
            slower = 1 - statistics.median(page.rate / line.rate for line, page in pairs)
            more = statistics.median(page.own / line.own for line, page in pairs) - 1
            print(
                f"| {pause * 1000:.0f} ms | {checks:,} | {turns} | {alone.rate:.0f} "
                f"| {watched.rate:.0f} | {slower:.1%} | {alone.own:.2f} | {watched.own:.2f} "
                f"| {more:.1%} | {watched.served:.2f} | {watched.shown:.2f} |",
                flush=True,
            )
    print(f"\nLoad average at the end: {os.getloadavg()[1]:.1f}, on {os.cpu_count()} processors.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
