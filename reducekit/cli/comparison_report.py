"""A comparison in words: Markdown tables like those of the thesis, TSV and JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from itertools import product

from reducekit.cli.comparison import (
    Dominance,
    Run,
    Table,
    dominance,
    mean,
    mean_of_percents,
    size_at,
    tables,
)

SCHEMA = 1
OURS = ("auto", "adaptive")
"""The names of the default, which is compared with each of the others."""
_STEPS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1000)
_SEVERAL = 2


def markdown(runs: Sequence[Run]) -> str:
    """Return all tables."""
    parts: list[str] = []
    found = list(tables(runs))
    for table in found:
        parts += [f"## {title(table)}", *_by_file(table), *_overall(table)]
        parts += [*_dominance(table), *_anytime(table)]
    for on, off in product(found, found):
        if on.format == off.format and on.simplify and off.simplify is False:
            parts += _both(on, off)
    early = [run for run in runs if run.stopped]
    if early:
        parts.append("`+`: stopped early, " + "; ".join(dict.fromkeys(map(_early, early))) + ".")
    return "\n\n".join(parts) + "\n"


def _early(run: Run) -> str:
    return f"{run.algorithm} on {run.file} {run.stopped}"


def title(table: Table) -> str:
    """Return the heading of a table."""
    if table.simplify is None:
        return table.format
    return f"{table.format}, simplification {'on' if table.simplify else 'off'}"


def _by_file(table: Table) -> list[str]:
    """Return the tables with a column a file (5.1 to 5.6)."""
    if len(table.files) < _SEVERAL:
        return []
    header = ("algorithm", *table.files, "mean")
    first = next(iter(table.rows.values()))
    before = [run.before for run in first]
    initial = ("before", *map(str, before), f"{mean(before):.1f}")
    return [
        "Checks:",
        grid(header, _sorted(table, lambda runs: _row(runs, _checks, _mean_checks))),
        "Texts asked for, those with a known verdict included:",
        grid(
            header,
            _sorted(table, lambda runs: _row(runs, lambda run: f"{run.asked}", _mean_asked)),
        ),
        f"Final {table.unit}:",
        grid(
            header,
            [initial, *_sorted(table, lambda runs: _row(runs, lambda run: f"{run.after}", _after))],
        ),
        f"Percent of the {table.unit} taken away for each check:",
        grid(
            header,
            _sorted(
                table,
                lambda runs: _row(runs, lambda run: f"{run.per_check:.3f}", _per_check),
                descending=True,
            ),
        ),
    ]


def _checks(run: Run) -> str:
    return f"{run.checks}{_early_mark([run])}"


def _mean_checks(runs: Sequence[Run]) -> str:
    return f"{mean([run.checks for run in runs]):.1f}"


def _mean_asked(runs: Sequence[Run]) -> str:
    return f"{mean([run.asked for run in runs]):.1f}"


def _after(runs: Sequence[Run]) -> str:
    return f"{mean([run.after for run in runs]):.1f}"


def _per_check(runs: Sequence[Run]) -> str:
    return f"{mean_of_percents([run.per_check for run in runs]):.3f}"


def _row(
    runs: Sequence[Run], cell: Callable[[Run], str], average: Callable[[Sequence[Run]], str]
) -> tuple[str, ...]:
    return (runs[0].algorithm, *map(cell, runs), average(runs))


def _sorted(
    table: Table,
    row: Callable[[Sequence[Run]], tuple[str, ...]],
    *,
    descending: bool = False,
) -> list[tuple[str, ...]]:
    """Return a row for each algorithm, by the number in its last column."""
    rows = [row(runs) for runs in table.rows.values()]
    return sorted(rows, key=lambda each: float(each[-1]), reverse=descending)


def _overall(table: Table) -> list[str]:
    """Return the table of averages (5.7)."""
    unit = table.unit
    columns: dict[str, Callable[[Sequence[Run]], str]] = {
        f"{unit} taken away": lambda runs: f"{mean([run.before - run.after for run in runs]):.1f}",
        f"final {unit}": _after,
        "percent": lambda runs: f"{mean([run.reduction for run in runs]):.2f}",
        "final bytes": lambda runs: f"{mean([run.bytes_after for run in runs]):.1f}",
        "checks": lambda runs: _mean_checks(runs) + _early_mark(runs),
        "asked": _mean_asked,
        "percent a check": _per_check,
    }
    rows = [
        (name, *(cell(runs) for cell in columns.values()))
        for name, runs in sorted(
            table.rows.items(), key=lambda row: mean([run.after for run in row[1]])
        )
    ]
    return ["Averages:", grid(("algorithm", *columns), rows)]


def _both(on: Table, off: Table) -> list[str]:
    """Return the table that compares simplification on and off (5.7)."""
    header = ["algorithm"]
    for switch in ("on", "off"):
        header += [f"{on.unit} taken away, {switch}", f"checks, {switch}", f"asked, {switch}"]
    rows = [[name] for name in on.rows if name in off.rows]
    for row in rows:
        for runs in (on.rows[row[0]], off.rows[row[0]]):
            row.append(f"{mean([run.before - run.after for run in runs]):.1f}")
            row.append(_mean_checks(runs) + _early_mark(runs))
            row.append(_mean_asked(runs))
    return [f"## {on.format}, both", "Averages:", grid(header, rows)]


def _early_mark(runs: Sequence[Run]) -> str:
    return "+" if any(run.stopped for run in runs) else ""


def dominances(table: Table) -> list[Dominance]:
    """Compare the default with each other algorithm; nothing if it has not run."""
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
    rows = []
    for each in sorted(found, key=lambda each: each.checks):
        row = [
            each.algorithm,
            f"{each.size:.1f}" if several else f"{each.size:.0f}",
            f"{each.checks:.1f}" if several else f"{each.checks:.0f}",
            _number(each.there, ".1f" if several else ".0f"),
        ]
        if several:
            row += [_number(each.curve, ".0f"), _few(each.later), _few(each.larger)]
        rows.append((*row, "yes" if each.dominated else "no"))
    return [f"`{ours}` at the final size of each algorithm:", grid(header, rows)]


def _number(value: float | None, form: str) -> str:
    return "never" if value is None else format(value, form)


def _few(names: Sequence[str]) -> str:
    return ", ".join(names) or "-"


def _anytime(table: Table) -> list[str]:
    """Return the sizes after so many checks, on average."""
    most = max(run.checks for runs in table.rows.values() for run in runs)
    steps = [step for step in _STEPS if step <= most]
    if not steps:
        return []
    header = ("algorithm", *map(str, steps))
    rows = [
        (name, *(f"{size_at(runs, step):.0f}" for step in steps))
        for name, runs in table.rows.items()
    ]
    return [f"Mean {table.unit} after so many checks:", grid(header, rows)]


def grid(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table that is one for the eye, too: names left, numbers right."""
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
    """Return one line a run; its curve as words `checks:size`."""
    columns = (
        "format", "file", "algorithm", "simplify", "unit", "before", "after", "bytes_before",
        "bytes_after", "checks", "asked", "percent", "percent_a_check", "stopped", "curve",
    )  # fmt: skip
    lines = ["\t".join(columns)]
    for run in runs:
        cells = (
            run.format, run.file, run.algorithm, _switch(run.simplify), run.unit, run.before,
            run.after, run.bytes_before, run.bytes_after, run.checks, run.asked,
            f"{run.reduction:.3f}", f"{run.per_check:.4f}", run.stopped or "-",
            " ".join(f"{point.checks}:{point.size}" for point in run.curve),
        )  # fmt: skip
        lines.append("\t".join(map(str, cells)))
    return "\n".join(lines) + "\n"


def _switch(simplify: bool | None) -> str:
    return "-" if simplify is None else "on" if simplify else "off"


def as_json(runs: Sequence[Run]) -> str:
    """Return the runs with their curves, and the dominances, as one JSON object."""
    found = [
        {
            "format": table.format,
            "simplify": table.simplify,
            "unit": table.unit,
            "files": table.files,
            "algorithms": [
                {**asdict(each), "dominated": each.dominated} for each in dominances(table)
            ],
        }
        for table in tables(runs)
    ]
    shown = [{**asdict(run), "after": run.after} for run in runs]
    return json.dumps({"schema": SCHEMA, "runs": shown, "dominance": found})
