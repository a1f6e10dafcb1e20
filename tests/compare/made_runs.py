"""Runs to compute statistics and tables from: made up, and small enough to check by hand."""

from collections.abc import Sequence

from reducekit.compare.runs import Point, Run, Settings

ON: Settings = (("simplify", "on"),)
OFF: Settings = (("simplify", "off"),)


def run(
    algorithm: str,
    points: Sequence[tuple[int, int]],
    checks: int,
    file: str = "a",
    settings: Settings = ON,
    stopped: str | None = None,
) -> Run:
    """Return a run whose sizes are `points`, the first one before any check."""
    curve = tuple(Point(*point) for point in points)
    return Run(
        "btor", file, algorithm, settings, "nodes", curve[0].size, 10 * curve[0].size,
        10 * curve[-1].size, checks, 2 * checks, curve, stopped,
    )  # fmt: skip


AUTO = [run("auto", [(0, 100), (2, 40), (9, 8)], 20), run("auto", [(0, 200), (5, 6)], 30, "b")]
SLOW = [run("slow", [(0, 100), (30, 8)], 40), run("slow", [(0, 200), (60, 10)], 70, "b")]
EARLY = [run("early", [(0, 100), (1, 40)], 2), run("early", [(0, 200), (3, 20)], 9, "b")]
SMALL = [run("small", [(0, 100), (50, 7)], 90), run("small", [(0, 200), (50, 9)], 90, "b")]
ALL = [*AUTO, *SLOW, *EARLY, *SMALL]
