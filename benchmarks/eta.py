"""Measures the accuracy of the displayed time left, on a folder of cases.

`python -m benchmarks.eta CASES [NAME ...]` reduces each case (a folder with one
file `input.smt2` and an executable `oracle`) and examines twenty moments of each
reduction, evenly spread over its checks: was there an estimate, and did the
remaining checks and seconds lie in its range?
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from reducekit.compare.statistics import geometric_mean
from reducekit.events import (
    Accepted,
    Checked,
    Event,
    FailureFound,
    PassStarted,
    RolledBack,
    Started,
)
from reducekit.session import Options, Session
from reducekit.session.progress import Pace, Range, checks_left

MOMENTS = 20


class Point(NamedTuple):
    """A moment of a reduction, right after a check."""

    checks: int
    seconds: float
    size: int
    round: int


class Said(NamedTuple):
    """Whether the ranges for the checks and the seconds held at a moment, and their widths."""

    checks: bool
    seconds: bool
    checks_width: float
    seconds_width: float


def record(case: Path, algorithm: str, most_seconds: float) -> tuple[list[Point], str | None]:
    """Reduce a case; return a point for each check, and why it ended early, if so."""
    points: list[Point] = []
    size, number, begin = 0, 0, time.monotonic()

    def listen(event: Event) -> None:
        nonlocal size, number, begin
        match event:
            case FailureFound():
                begin = time.monotonic()
            case Started(size=found):
                size = found
            case Checked(remembered=False):
                points.append(Point(len(points) + 1, time.monotonic() - begin, size, number))
            case Accepted(text=best) | RolledBack(text=best):
                size = len(best)
            case PassStarted(round=found):
                number = found

    options = Options(
        input=(case / "input.smt2").read_bytes(),
        oracle=[str(case / "oracle")],
        strategy=algorithm,
        max_time=most_seconds,
    )
    return points, Session(options, listen).run().stopped


def judge(points: Sequence[Point]) -> list[Said | None]:
    """Compare what is said at a few moments with what came; None where nothing is said."""
    moments = {int(len(points) * (index + 0.5) / MOMENTS) for index in range(MOMENTS)}
    pace, last, found = Pace(), points[-1], list[Said | None]()
    for index, point in enumerate(points[:-1]):
        pace.see(point.checks, point.seconds)
        if index not in moments:
            continue
        checks = checks_left(point.checks, point.size, point.round)
        seconds = None if checks is None else pace.time_for(checks)
        if checks is None or seconds is None:
            found.append(None)
            continue
        found.append(
            Said(
                _within(checks, last.checks - point.checks),
                _within(seconds, last.seconds - point.seconds),
                checks.high / checks.low,
                seconds.high / seconds.low,
            )
        )
    return found


def _within(left: Range, value: float) -> bool:
    return left.low <= value <= left.high


def main() -> None:
    """Print a line for each case and one for all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", type=Path)
    parser.add_argument("names", nargs="*", help="only these; default: all")
    parser.add_argument("--strategy", default="adaptive")
    parser.add_argument("--cap", type=float, default=120.0, help="seconds for a reduction")
    options = parser.parse_args()
    names = options.names or sorted(each.name for each in options.cases.iterdir())
    every: list[Said | None] = []
    print("case\tchecks\tseconds\tsaid\tchecks hold\tseconds hold")
    for name in names:
        points, stopped = record(options.cases / name, options.strategy, options.cap)
        if stopped is not None or len(points) < 2:
            print(f"{name}\t{len(points)}\tleft out: {stopped or 'too short'}", flush=True)
            continue
        found = judge(points)
        every += found
        _print(f"{name}\t{points[-1].checks}\t{points[-1].seconds:.1f}", found)
    _print("all\t\t", every)
    said = [each for each in every if each is not None]
    if said:
        checks, seconds = (geometric_mean([each[index] for each in said]) for index in (2, 3))
        print(f"widths, highest to lowest: {checks:.1f} in checks, {seconds:.1f} in seconds")


def _print(head: str, found: Sequence[Said | None]) -> None:
    said = [each for each in found if each is not None]
    shares = [f"{sum(each[index] for each in said)}/{len(said)}" for index in (0, 1)]
    print("\t".join([head, f"{len(said)}/{len(found)}", *shares]), flush=True)


if __name__ == "__main__":
    main()
