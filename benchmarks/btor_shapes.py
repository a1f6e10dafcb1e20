"""The thesis' experiments with its generator: a solver's answers on random graphs by shape.

    python -m benchmarks.btor_shapes [--cmd boolector] [--seconds 10] [--scale 1.0]
                                     [--chain CASES] [--only NAME,...]

Experiments of A. Vida (Linz 2008), chapter 3, with the parameters of its section 3.1.1:

* `sizes` (figures 3.1 to 3.4): graphs of 10 to 2,010 nodes, 4 files each: CPU seconds, answers,
  and the share of failures divided by the mean time, which says what size finds bugs fastest.
* `clauses` (figure 3.5): graphs of 100, 150 and 200 nodes below a CNF, 1 to 10 clauses per
  variable, 100 files each: how many are unsatisfiable.
* `shapes` (future work of its chapter 6): the same over sharing, variables and nodes a layer.

With --chain CASES, also the sizes after each algorithm in turn (section 4.4), in
`results/btor_chain.md`. A case is a folder with `input.btor` and `oracle`, as for
`benchmarks.btor_thesis`.

The program gets a file as its last argument, and a CPU limit (--seconds, Linux's prlimit). Exit
status 10 is sat, 20 unsat; exceeding the limit is a timeout, everything else a failure. Answers are
reproducible, except for files near the limit; times are not. --scale 0.1 takes a tenth of
the files, but four at each point (--least). Writes `results/btor_shapes.tsv` (a line for each
file), `.md`, and a chart for each experiment.
"""

import argparse
import csv
import json
import os
import shlex
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from reducekit import linechart, svg
from reducekit.frontends.btor.drawing.drawing import graph_of, shape
from reducekit.frontends.btor.generate.generator import Parameters, generate
from reducekit.frontends.btor.model.writer import canonical
from reducekit.linechart import Axis, Line

RESULTS = Path(__file__).parent / "results"
ANSWERS = {10: "sat", 20: "unsat", -24: "timeout", -9: "timeout"}  # SIGXCPU, then SIGKILL
THESIS = Parameters(
    variables=10, arrays=3, writes=5, min_width=1, max_width=5, max_index_width=4, sharing=50,
    depth=9999, clauses=4,
)  # fmt: skip
CHAIN = ("ddmin", "hdd", "bfs", "lw", "changeref+", "changeref")


class Point(NamedTuple):
    """A place in an experiment: the line of the chart, the value on its x axis, the parameters."""

    experiment: str
    line: str
    at: float
    parameters: Parameters


class Row(NamedTuple):
    """A file: where it belongs, what it looks like, what the solver said, in CPU seconds."""

    experiment: str
    line: str
    at: float
    seed: int
    nodes: int
    layers: int
    widest: int
    shared: int
    answer: str
    seconds: float


def sizes() -> Iterator[Point]:
    """Yield experiments 1 and 2."""
    for nodes in range(10, 2011, 100):
        yield Point("sizes", "all", nodes, replace(THESIS, nodes=nodes))


def clauses() -> Iterator[Point]:
    """Yield experiment 3."""
    for nodes in (100, 150, 200):
        for ratio in range(1, 11):
            parameters = replace(THESIS, nodes=nodes, cnf=True, clauses=float(ratio))
            yield Point("clauses", f"{nodes} nodes", ratio, parameters)


def shapes() -> Iterator[Point]:
    """Yield the shapes: one parameter at a time, of graphs of 200 nodes with and without CNF."""
    for name, base in (
        ("", replace(THESIS, nodes=200)),
        (" below a CNF", replace(THESIS, nodes=200, cnf=True, clauses=3.0)),
    ):
        for share in range(0, 101, 20):
            yield Point("sharing", f"merged{name}", share, replace(base, sharing=share))
        for count in (2, 5, 10, 20, 40, 80):
            yield Point("variables", f"merged{name}", count, replace(base, variables=count))
        for layer in (2, 4, 8, 16, 32, 64):
            yield Point("layer", f"merged{name}", layer, replace(base, layer=layer))


EXPERIMENTS: Mapping[str, tuple[Callable[[], Iterator[Point]], int]] = {
    "sizes": (sizes, 4),
    "clauses": (clauses, 100),
    "shapes": (shapes, 100),
}
"""Each with the number of files at a point."""


def solve(command: Sequence[str], path: Path, seconds: int) -> tuple[str, float]:
    """Run the program on a file; return the answer and the CPU seconds it took."""
    words = ["prlimit", f"--cpu={seconds}:{seconds + 1}", *command, str(path)]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = code = os.waitstatus_to_exitcode(status)
    return ANSWERS.get(code, "failure"), usage.ru_utime + usage.ru_stime


def measured(
    points: Iterable[Point], files: int, command: Sequence[str], seconds: int
) -> Iterator[Row]:
    """Yield a row for each file; seeds count on from point to point, as in the thesis."""
    seed = 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "in.btor"
        for point in points:
            for _ in range(files):
                seed += 1
                dag = generate(replace(point.parameters, seed=seed))
                path.write_bytes(canonical(dag))
                found = shape(graph_of(dag))
                answer, used = solve(command, path, seconds)
                yield Row(
                    point.experiment, point.line, point.at, seed, found.nodes, found.layers,
                    found.widest, found.shared, answer, round(used, 3),
                )  # fmt: skip


def grouped(rows: Iterable[Row], *names: str) -> dict[tuple[object, ...], list[Row]]:
    """Return rows by some columns, in the order in which those first occur."""
    found: dict[tuple[object, ...], list[Row]] = {}
    for row in rows:
        found.setdefault(tuple(getattr(row, name) for name in names), []).append(row)
    return found


def table(rows: Sequence[Row]) -> Iterator[str]:
    """Yield the table of an experiment in Markdown: a row for each point."""
    columns = ["line", "at", "files", "sat", "unsat", "timeout", "failure", "unsat, %"]
    columns += ["mean CPU, s", "failures a second", "layers", "shared nodes"]
    yield f"| {' | '.join(columns)} |"
    yield "|---|" + "---:|" * (len(columns) - 1)
    for (line, at), found in grouped(rows, "line", "at").items():
        said = Counter(row.answer for row in found)
        time = statistics.mean(row.seconds for row in found)
        rate = said["failure"] / len(found) / max(time, 0.001)
        counts = " | ".join(str(said[each]) for each in ("sat", "unsat", "timeout", "failure"))
        layers, shared = (
            statistics.mean(getattr(row, name) for row in found) for name in ("layers", "shared")
        )
        yield (
            f"| {line} | {at:g} | {len(found)} | {counts} | {unsat_percent(found):.0f} | "
            f"{time:.2f} | {rate:.2f} | {layers:.0f} | {shared:.0f} |"
        )


def unsat_percent(rows: Sequence[Row]) -> float:
    """Return how many percent of the answers are unsat."""
    said = Counter(row.answer for row in rows)
    return 100 * said["unsat"] / max(1, said["sat"] + said["unsat"])


def curves(rows: Sequence[Row], value: Callable[[Sequence[Row]], float]) -> dict[str, list[float]]:
    """Return the values of each line, in the order of its points."""
    found: dict[str, list[float]] = {}
    for (line, _), at in grouped(rows, "line", "at").items():
        found.setdefault(str(line), []).append(value(at))
    return found


def chart(
    title: str, across: str, up: str, xs: Sequence[float], lines: dict[str, list[float]]
) -> str:
    """Return a picture of lines over the same x values, both axes linear from 0."""
    width, height = 640, 374
    most = max(max(each) for each in lines.values()) or 1.0
    drawn = linechart.chart(
        [Line([*zip(xs, ys, strict=True)], name) for name, ys in lines.items()],
        Axis(across, "linear", 0, max(xs)),
        Axis(up, "linear", 0, most),
        width=width,
        height=height,
        steps=False,
    )
    heading = [svg.text(64, -20, title, class_="title"), svg.text(64, -4, up)]
    parts = [
        svg.style(linechart.STYLE),
        svg.rect(0, 0, width + 220, height + 46, class_="paper"),
        svg.group([*heading, *drawn], 0, 46, class_="chart"),
    ]
    return svg.picture(width + 220, height + 46, parts, title=title)


TITLES = {
    "sizes": ("Graph size", "nodes", "CPU s"),
    "clauses": ("Clauses for each variable (figure 3.5)", "clauses a variable", "unsat, %"),
    "sharing": ("Operands that may be shared", "percent (--dag)", "unsat, %"),
    "variables": ("Variables at the start", "variables (--vars)", "unsat, %"),
    "layer": ("Nodes of the same depth", "limit of nodes a layer (--layer)", "unsat, %"),
}


def report(rows: Sequence[Row], how: str, folder: Path) -> Iterator[str]:
    """Yield the lines of the page, and write the charts that it shows into the folder."""
    yield "# What a solver says of random graphs, by their shape"
    yield f"\nMade by `{how}`. Answers repeat, CPU times do not."
    for (name,), found in grouped(rows, "experiment").items():
        title, across, up = TITLES[str(name)]
        value = (
            (lambda at: statistics.mean(row.seconds for row in at))
            if name == "sizes"
            else unsat_percent
        )
        xs = list(dict.fromkeys(row.at for row in found))
        picture = chart(title, across, up, xs, curves(found, value))
        (folder / f"btor_shapes_{name}.svg").write_text(picture)
        yield f"\n## {title}\n\n![{title}](btor_shapes_{name}.svg)\n"
        yield from table(found)


def chained(cases: Path) -> Iterator[str]:
    """Yield the page of sizes after each algorithm, one after the other (section 4.4)."""
    yield "# One algorithm after the other"
    yield "\nMade by `python -m benchmarks.btor_shapes --only '' --chain CASES`, as section 4.4 of"
    yield "the thesis: nodes left, and checks in brackets, with simplification. The thesis has"
    yield "other files, with a real crash: ex1 732, 72, 30, 30, 30, 22, 17; ex5 1,853, 72, 38, 38,"
    yield "38, 19, 19."
    yield "\n| file | nodes | " + " | ".join(CHAIN) + " |"
    yield "|---|" + "---:|" * (len(CHAIN) + 1)
    for case in sorted(each.parent for each in cases.glob("ex*/input.btor")):
        cells: list[str] = []
        with tempfile.TemporaryDirectory() as folder:
            text = (case / "input.btor").read_bytes()
            start = 0
            for name in CHAIN:
                path, out = Path(folder) / "in.btor", Path(folder) / f"{len(cells)}.btor"
                path.write_bytes(text)
                words = [sys.executable, "-m", "reducekit", "btor", str(path), "-o", str(out)]
                words += ["--oracle", str(case / "oracle"), "--strategy", name, "--json"]
                done = subprocess.run(words, check=True, capture_output=True, text=True)
                said = json.loads(done.stdout)
                start = start or said["before"]["nodes"]
                cells.append(f"{said['after']['nodes']:,} ({said['checks']:,})")
                text = out.read_bytes()
        yield f"| {case.name} | {start:,} | {' | '.join(cells)} |"


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--cmd", default="boolector", help="the program")
    parser.add_argument("--seconds", type=int, default=10, help="CPU seconds for each file")
    parser.add_argument("--scale", type=float, default=1.0, help="share of the files")
    parser.add_argument("--least", type=int, default=4, help="files at a point, at least")
    parser.add_argument("--only", default=",".join(EXPERIMENTS), help="experiments, comma between")
    parser.add_argument("--chain", type=Path, metavar="CASES", help="folder of cases")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where to write")
    options = parser.parse_args(words)
    rows: list[Row] = []
    for name in filter(None, options.only.split(",")):
        points, files = EXPERIMENTS[name]
        count = min(files, max(options.least, round(files * options.scale)))
        rows += measured(points(), count, shlex.split(options.cmd), options.seconds)
    given = {"--cmd": options.cmd, "--seconds": options.seconds, "--scale": options.scale}
    given |= {"--least": options.least, "--only": options.only}
    shown = [
        str(each)
        for name, value in given.items()
        if value != parser.get_default(name.strip("-"))
        for each in (name, value)
    ]
    how = shlex.join(["python", "-m", "benchmarks.btor_shapes", *shown])
    if options.chain:
        (options.results / "btor_chain.md").write_text("\n".join([*chained(options.chain), ""]))
    if not rows:
        return
    page = "\n".join([*report(rows, how, options.results), ""])
    (options.results / "btor_shapes.md").write_text(page)
    with (options.results / "btor_shapes.tsv").open("w", newline="") as file:
        writer = csv.writer(file, delimiter="\t", lineterminator="\n")
        writer.writerow(Row._fields)
        writer.writerows(rows)


if __name__ == "__main__":
    main()
