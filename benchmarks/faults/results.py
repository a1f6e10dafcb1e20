"""What became of the cases, as a table of files and as the published one."""

import csv
import math
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from benchmarks.faults.field import Case, versions
from benchmarks.faults.reduce import SHARES, Reduced

_NAMES = (
    "name", "calls", "settings", "runs", "cpu", "ended", "fails", "until", "smallest", "passes",
)  # fmt: skip
_FEW = 300
"""Replays within which nearly all reductions should end."""


def append(result: Reduced, path: Path) -> None:
    """Add a line to a file of results."""
    fresh = not path.exists()
    with path.open("a", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter="\t", lineterminator="\n")
        if fresh:
            writer.writerow(_NAMES)
        until = " ".join("-" if each is None else str(each) for each in result.until)
        writer.writerow(
            [
                result.name, result.calls, result.settings, result.runs, f"{result.cpu:.2f}",
                int(result.ended), int(result.fails), until,
                " ".join(f"{runs}:{size}" for runs, size in result.smallest),
                ", ".join(
                    f"{name}: {runs} {result.gains[name]}"
                    for name, runs in result.passes.most_common() if runs
                ),
            ]
        )  # fmt: skip


def read(path: Path) -> dict[str, Reduced]:
    """Return the results of a file by the names of the cases; none if there is no file."""
    if not path.exists():
        return {}
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t")
        return {row["name"]: _result(row) for row in rows}


def _result(row: Mapping[str, str]) -> Reduced:
    until = tuple(None if each == "-" else int(each) for each in row["until"].split())
    pairs = [each.split(":") for each in (row.get("smallest") or "").split()]
    return Reduced(
        row["name"], int(row["calls"]), int(row["settings"]), int(row["runs"]), float(row["cpu"]),
        row["ended"] == "1", row["fails"] == "1", until,
        smallest=[(int(runs), int(size)) for runs, size in pairs],
    )  # fmt: skip


def by_pass(path: Path) -> str:
    """Return what each pass cost, and how many calls and options it dropped, over all cases."""
    runs: Counter[str] = Counter()
    gains: Counter[str] = Counter()
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            for part in (row.get("passes") or "").split(", "):
                name, _, numbers = part.rpartition(": ")
                if name:
                    one, gain = map(int, numbers.split())
                    runs[name] += one
                    gains[name] += gain
    lines = ["| pass | runs | calls and options dropped | a run |", "|---|---:|---:|---:|"]
    for name, count in runs.most_common():
        lines.append(f"| {name} | {count:,} | {gains[name]:,} | {gains[name] / count:.1f} |")
    return "\n".join(lines) + "\n"


def table(cases: Iterable[Case], before: Mapping[str, Reduced], now: Mapping[str, Reduced]) -> str:
    """Return both in Markdown, those cases that both have results of."""
    cases = [*cases]
    both = [case for case in cases if case.name in before and case.name in now]
    thirds = sorted({case.third for case in both})
    total = sum(case.third in thirds for case in cases)
    shares = ", ".join(f"{share:.0%}" for share in SHARES)
    lines = [
        f"{len(both)} of the {total} cases of the third `{', '.join(thirds)}`; {versions()}. Sizes",
        f"are calls + options; `until` says after how many replays {shares} of the calls were",
        "left (checks, where it was read from a journal; -: never). A ! marks a result that does",
        "not fail in the same way when it is replayed, which a corrupted memory may also do by",
        "itself. Cases that either side refused, as two runs ended differently, are in no number.",
        "",
        *_summary(both, before, now),
        "",
        "| case | engine, API, fault | seed | trace | before | runs | until | now | runs | until |",
        "|---|---|---:|---:|---:|---:|---|---:|---:|---|",
    ]
    for case in both:
        place = f"{case.engine}, {case.api}, `{case.fault}`"
        made = f"{case.seed}{' options' if case.options else ''}"
        lines.append(
            f"| {case.name} | {place} | {made} | {case.calls}+{case.settings} | "
            f"{_columns(before[case.name])} | {_columns(now[case.name])} |"
        )
    return "\n".join(lines) + "\n"


def _was_refused(result: Reduced) -> bool:
    """Say whether nothing was reduced; a trace of one call takes no run, and is its own result."""
    return not result.runs and not (result.ended and result.fails)


def _columns(result: Reduced) -> str:
    if _was_refused(result):
        return "refused | – | –"
    marks = ("" if result.fails else " !") + ("" if result.ended else " (stopped)")
    until = " ".join("-" if each is None else str(each) for each in result.until)
    return f"{result.calls}+{result.settings}{marks} | {result.runs} | {until}"


def _summary(
    cases: Sequence[Case], before: Mapping[str, Reduced], now: Mapping[str, Reduced]
) -> Iterable[str]:
    if not cases:
        return
    pairs = [(before[case.name], now[case.name]) for case in cases]
    pairs = [pair for pair in pairs if not any(map(_was_refused, pair))]
    refused = len(cases) - len(pairs)
    ratios = [math.log(new.runs / old.runs) for old, new in pairs if old.runs and new.runs]
    size = [(old.size, new.size) for old, new in pairs]
    if not ratios:
        return
    yield "| | before | now |"
    yield "|---|---:|---:|"
    for what, picked in (
        ("runs in all", [sum(each.runs for each in side) for side in zip(*pairs, strict=True)]),
        ("median runs", [statistics.median(e.runs for e in s) for s in zip(*pairs, strict=True)]),
        ("median calls", [statistics.median(e.calls for e in s) for s in zip(*pairs, strict=True)]),
        ("calls + options in all", [sum(side) for side in zip(*size, strict=True)]),
        ("seconds of CPU", [round(sum(e.cpu for e in s)) for s in zip(*pairs, strict=True)]),
        ("ended", [sum(each.ended for each in side) for side in zip(*pairs, strict=True)]),
        (
            f"within {_FEW} runs",
            [sum(e.ended and e.runs <= _FEW for e in s) for s in zip(*pairs, strict=True)],
        ),
    ):
        yield f"| {what} | {picked[0]:,} | {picked[1]:,} |"
    if all(new.smallest for _, new in pairs):
        reached = sum(new.runs_until(old.size) for old, new in pairs)
        yield f"| runs until as small as before | | {reached:,} |"
    yield ""
    larger = [sum(new > factor * old for old, new in size) for factor in (1, 1.1)]
    yield (
        f"Runs, now to before: {math.exp(statistics.mean(ratios)):.2f} (geometric mean). Larger: "
        f"{larger[0]} of {len(size)}; than 1.1 times: {larger[1]} ({larger[1] / len(size):.0%}); "
        f"smaller than by a tenth: {sum(1.1 * new < old for old, new in size)}. "
        f"Refused by either: {refused}."
    )
