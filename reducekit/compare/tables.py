"""A comparison as text and as a picture.

Markdown tables like those of Vida's thesis, TSV, JSON; and the remaining share of the size over the
checks as SVG, one line for each algorithm.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TypeAlias

from reducekit import linechart, svg
from reducekit.compare.runs import (
    Dominance,
    Run,
    Table,
    change_points,
    checks_to,
    dominance,
    mean,
    mean_of_percents,
    share_at,
    size_at,
    tables,
)
from reducekit.linechart import Axis, Line

SCHEMA = 2
OURS = ("auto", "adaptive")  # the default strategy, which is compared with each of the others
_STEPS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1000)
_SHARES = (50, 10, 1)  # percentages of the size for which to show the checks until no more is left
_SEVERAL = 2

Cell: TypeAlias = Callable[[Run], str]
Summary: TypeAlias = Callable[[Sequence[Run]], str]
_WIDTH, _HEIGHT = 720, 460  # size of one chart in pixels, without its titles and legend
_TITLES, _LEGEND = 46, 220


def markdown(runs: Sequence[Run]) -> str:
    """Return all tables of a comparison."""
    parts: list[str] = []
    found = list(tables(runs))
    for table in found:
        parts += [f"## {title(table)}", *_by_file(table), *_overall(table)]
        parts += [*_dominance(table), *_anytime(table)]
    for name in dict.fromkeys(table.format for table in found):
        parts += _settings_side_by_side([table for table in found if table.format == name])
    early = [run for run in runs if run.stopped]
    if early:
        said = dict.fromkeys(f"{run.algorithm} on {run.file} {run.stopped}" for run in early)
        parts.append("`+`: stopped early, " + "; ".join(said) + ".")
    return "\n\n".join(parts) + "\n"


def title(table: Table) -> str:
    """Return the heading of a table, such as `btor, simplify on`."""
    return ", ".join([table.format, *(f"{name} {value}" for name, value in table.settings)])


def _by_file(table: Table) -> list[str]:
    """Return the tables with a column for each file (5.1 to 5.6 of the thesis)."""
    if len(table.files) < _SEVERAL:
        return []
    header = ("algorithm", *table.files, "mean")
    before = [run.before for run in next(iter(table.rows.values()))]

    def rows(cell: Cell, average: Summary, *, descending: bool = False) -> list[tuple[str, ...]]:
        found = [(name, *map(cell, runs), average(runs)) for name, runs in table.rows.items()]
        return sorted(found, key=lambda row: float(row[-1]), reverse=descending)

    return [
        "Checks:",
        grid(header, rows(lambda run: f"{run.checks}{_early([run])}", _mean("checks"))),
        "Verdicts asked for, including cached ones:",
        grid(header, rows(lambda run: f"{run.asked}", _mean("asked"))),
        f"Final {table.unit}:",
        grid(
            header,
            [
                ("before", *map(str, before), f"{mean(before):.1f}"),
                *rows(lambda run: f"{run.after}", _mean("after")),
            ],
        ),
        f"Percent of the {table.unit} removed by each check:",
        grid(header, rows(lambda run: f"{run.per_check:.3f}", _mean_per_check, descending=True)),
    ]


def _mean(name: str, form: str = ".1f") -> Summary:
    return lambda runs: format(mean([getattr(run, name) for run in runs]), form)


def _mean_per_check(runs: Sequence[Run]) -> str:
    return f"{mean_of_percents([run.per_check for run in runs]):.3f}"


def _checks(runs: Sequence[Run]) -> str:
    return _mean("checks")(runs) + _early(runs)


def _early(runs: Sequence[Run]) -> str:
    return "+" if any(run.stopped for run in runs) else ""


def _overall(table: Table) -> list[str]:
    unit = table.unit
    columns: dict[str, Summary] = {
        f"{unit} removed": _mean("removed"),
        f"final {unit}": _mean("after"),
        "percent": _mean("reduction", ".2f"),
        "final bytes": _mean("bytes_after"),
        "checks": _checks,
        "asked": _mean("asked"),
        "percent a check": _mean_per_check,
    }
    ordered = sorted(table.rows.items(), key=lambda row: mean([run.after for run in row[1]]))
    rows = [(name, *(cell(runs) for cell in columns.values())) for name, runs in ordered]
    return ["Averages:", grid(("algorithm", *columns), rows)]


def _settings_side_by_side(found: Sequence[Table]) -> list[str]:
    if len(found) < _SEVERAL:
        return []
    header = ["algorithm"]
    for table in found:
        said = ", ".join(f"{name} {value}" for name, value in table.settings)
        header += [f"{table.unit} removed, {said}", f"checks, {said}", f"asked, {said}"]
    rows = [[name] for name in found[0].rows if all(name in table.rows for table in found)]
    for row in rows:
        for table in found:
            runs = table.rows[row[0]]
            row += [_mean("removed")(runs), _checks(runs), _mean("asked")(runs)]
    return [f"## {found[0].format}, settings side by side", "Averages:", grid(header, rows)]


def dominances(table: Table) -> list[Dominance]:
    """Compare the default with each other algorithm; empty if the default has not run."""
    ours = next((name for name in OURS if name in table.rows), None)
    if ours is None:
        return []
    return [
        dominance(table.rows[ours], runs)
        for name, runs in table.rows.items()
        if name.partition(":")[0] not in OURS
    ]


def _dominance(table: Table) -> list[str]:
    found = dominances(table)
    if not found:
        return []
    ours = next(name for name in OURS if name in table.rows)
    several = len(table.files) >= _SEVERAL
    header = ["algorithm", f"final {table.unit}", "checks", f"`{ours}` is there after"]
    if several:
        header += ["its average is", "not earlier on", "larger on"]
    header.append("dominated")
    form = ".1f" if several else ".0f"
    rows = []
    for each in sorted(found, key=lambda each: each.checks):
        row = [each.algorithm, f"{each.size:{form}}", f"{each.checks:{form}}"]
        row.append("never" if each.there is None else format(each.there, form))
        if several:
            row.append("never" if each.curve is None else str(each.curve))
            row += [", ".join(each.later) or "-", ", ".join(each.larger) or "-"]
        rows.append((*row, "yes" if each.dominated else "no"))
    return [f"`{ours}` at the final size of each algorithm:", grid(header, rows)]


def _anytime(table: Table) -> list[str]:
    most = max(run.checks for runs in table.rows.values() for run in runs)
    steps = [step for step in _STEPS if step <= most]
    if not steps:
        return []
    sizes = [
        (name, *(f"{size_at(runs, step):.0f}" for step in steps))
        for name, runs in table.rows.items()
    ]
    reached = []
    for name, runs in table.rows.items():
        row = [name]
        for found in (checks_to(runs, share / 100) for share in _SHARES):
            part = "" if found.files == len(runs) else f" ({found.files} of {len(runs)})"
            row.append("never" if found.checks is None else f"{found.checks:.1f}{part}")
        reached.append(row)
    return [
        f"Mean {table.unit} after a number of checks:",
        grid(("algorithm", *map(str, steps)), sizes),
        f"Mean checks until a share of the {table.unit} is left (with the number of files, if not "
        "reached on all):",
        grid(("algorithm", *(f"{share} %" for share in _SHARES)), reached),
    ]


def grid(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table that is also readable as plain text: names left, numbers right."""
    lines = [header, *rows]
    widths = [max(3, *(len(line[at]) for line in lines)) for at in range(len(header))]

    def shown(line: Sequence[str]) -> str:
        first, *rest = line
        cells = [first.ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True)]
        return f"| {' | '.join(cells)} |"

    rule = "|".join(["", "-" * (widths[0] + 2), *("-" * (w + 1) + ":" for w in widths[1:]), ""])
    return "\n".join([shown(header), rule, *map(shown, lines[1:])])


def tsv(runs: Sequence[Run]) -> str:
    """Return a line for each run: `-` for options that are not set, the curve as `checks:size`."""
    options = list(dict.fromkeys(name for run in runs for name, _ in run.settings))
    columns = (
        "format", "file", "algorithm", *options, "unit", "before", "after", "bytes_before",
        "bytes_after", "checks", "asked", "percent", "percent_a_check", "stopped", "curve",
    )  # fmt: skip
    lines = ["\t".join(columns)]
    for run in runs:
        settings = dict(run.settings)
        cells = (
            run.format, run.file, run.algorithm, *(settings.get(name, "-") for name in options),
            run.unit, run.before, run.after, run.bytes_before, run.bytes_after, run.checks,
            run.asked, f"{run.reduction:.3f}", f"{run.per_check:.4f}", run.stopped or "-",
            " ".join(f"{point.checks}:{point.size}" for point in run.curve),
        )  # fmt: skip
        lines.append("\t".join(map(str, cells)))
    return "\n".join(lines) + "\n"


def as_json(runs: Sequence[Run]) -> str:
    """Return the runs with their curves, and the dominances, as one JSON object."""
    found = [
        {
            "format": table.format,
            "settings": dict(table.settings),
            "unit": table.unit,
            "files": table.files,
            "algorithms": [
                {**asdict(each), "dominated": each.dominated} for each in dominances(table)
            ],
        }
        for table in tables(runs)
    ]
    shown = [{**asdict(run), "settings": dict(run.settings), "after": run.after} for run in runs]
    return json.dumps({"schema": SCHEMA, "runs": shown, "dominance": found})


def line(run: Run) -> str:
    """Return a one-sentence summary of a run."""
    settings = "".join(f", {name} {value}" for name, value in run.settings)
    early = f" (stopped {run.stopped})" if run.stopped else ""
    return (
        f"{run.file}, {run.algorithm}{settings}: {run.before:,} -> {run.after:,} {run.unit} "
        f"in {run.checks:,} checks{early}"
    )


def chart(runs: Sequence[Run]) -> str:
    """Return an SVG picture with one chart for each table, one below the other.

    Both axes are logarithmic, since the first few checks remove most of a file. For several files,
    a line shows the mean remaining share. It ends, with a dot, where the last of its runs ends.
    """
    found = list(tables(runs))
    width, each = _WIDTH + _LEGEND, _TITLES + _HEIGHT
    parts = [
        svg.style(linechart.STYLE),
        svg.rect(0, 0, width, each * len(found), class_="paper"),
        *(
            svg.group(_chart(table), 0, number * each + _TITLES, class_="chart")
            for number, table in enumerate(found)
        ),
    ]
    return svg.picture(width, each * len(found), parts, title="comparison of algorithms")


def _lines(
    curves: Mapping[str, Sequence[tuple[float, float]]], ends: Mapping[str, int]
) -> list[Line]:
    last = {name: points[-1][1] for name, points in curves.items()}
    return [
        Line(
            [*curves[name], (float(ends[name]), last[name])],
            f"{name} ({last[name]:.2g} %)",
            main=name in OURS,
        )
        for name in sorted(curves, key=lambda name: (last[name], ends[name]))
    ]


def _chart(table: Table) -> Iterator[str]:
    ends = {name: max(run.checks for run in runs) for name, runs in table.rows.items()}
    curves = {
        name: [(float(max(1, at)), 100 * share_at(runs, at)) for at in change_points(runs)]
        for name, runs in table.rows.items()
    }
    lines = _lines(curves, ends)
    shares = [share for points in curves.values() for _, share in points if share > 0]
    files = len(table.files)
    over = f"mean of {files} files" if files > 1 else table.files[0]
    yield svg.text(64, -20, title(table), class_="title")
    yield svg.text(64, -4, f"{table.unit} left, percent ({over})")
    yield from linechart.chart(
        lines,
        Axis("checks", "logarithmic", 1, max(10, *ends.values())),
        Axis("percent", "logarithmic", 0.8 * min(50, *shares), 100),
        width=_WIDTH,
        height=_HEIGHT,
    )
