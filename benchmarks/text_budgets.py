"""What reducers leave of texts by 50, 150, 300 and 500 checks, and at their end.

    python -m benchmarks.text_budgets ROWS.json [MORE.json ...] [--seeds A-B | --cases FOLDER]

Runs each of `--tools` once on each case, on those that `texts` makes from seeds, or on a folder of
cases (`input.SUFFIX` and `oracle`). Every check passes through this program, which counts it and
notes the smallest text accepted so far; so one run has the sizes at all budgets. What a version of
a tool has in ROWS.json is kept. Prints the table of all files of rows.

Needs what `texts` needs, and `shrinkray` and `cvise` in PATH for these. Shrink Ray gets the
grammars that are installed as `tree_sitter_*` packages next to it, and asks this program for each
check itself, not by a script.
"""

import _thread
import argparse
import json
import os
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from benchmarks import peers, texts
from reducekit.compare.reducers import run
from reducekit.compare.runs import mean_ratio
from reducekit.compare.tables import grid

BUDGETS = (50, 150, 300, 500)
_BY = [f"by {each}" for each in BUDGETS]
_OURS = f"{shlex.quote(sys.executable)} -m reducekit text {{input}} -o {{output}} -q -j 1"
_OURS += " --oracle {oracle}"
TOOLS = {"reducekit": _OURS, "ddmin": _OURS + " --strategy ddmin", **peers.COMMANDS}
_ORACLE = """#!/bin/bash
file=${{!#}}; [[ $file == /* ]] || file=$PWD/$file
exec 3<>/dev/tcp/127.0.0.1/{port} || exit 1
printf '%s\\n' "$file" >&3; read -r verdict <&3; exit "$verdict"
"""


class Case(NamedTuple):
    """A text, and whether a file still has what is to be kept."""

    name: str
    input: Path
    interesting: Callable[[Path], bool]


class Row(NamedTuple):
    """A run. Sizes in bytes."""

    case: str
    tool: str
    version: str
    date: str
    bytes: int
    sizes: list[int]
    """After each of BUDGETS, as far as the run went."""
    end: int
    checks: int
    seconds: int
    capped: bool

    def figures(self) -> list[int]:
        """Return the sizes by BUDGETS and at the end, and the checks; 0 if it did not go so far."""
        return [*self.sizes, *[0] * (len(BUDGETS) - len(self.sizes)), self.end, self.checks]


class Checks:
    """Answers `most` checks at a port, one after the other, and keeps the curve.

    Then it interrupts the main thread.
    """

    def __init__(self, case: Case, server: socket.socket, most: int) -> None:
        self.interesting = case.interesting
        self.most = most
        self.best = case.input.read_bytes()
        self.sizes: list[int] = []
        self.count = 0
        self.thread = threading.Thread(target=self.serve, args=[server], daemon=True)
        self.thread.start()

    def serve(self, server: socket.socket) -> None:
        with suppress(OSError):  # the server is closed
            while self.count < self.most:
                with server.accept()[0] as client, client.makefile("rw") as stream:
                    path = Path(stream.readline().rstrip("\n"))
                    with suppress(OSError):  # the client is gone
                        print(int(not self.check(path)), file=stream, flush=True)
            _thread.interrupt_main()

    def check(self, path: Path) -> bool:
        self.count += 1
        if accepted := path.is_file() and self.interesting(path):
            self.best = min(self.best, path.read_bytes(), key=len)
        if self.count in BUDGETS:
            self.sizes.append(len(self.best))
        return accepted


def measure(case: Case, tool: str, version: str, cap: float, most: int) -> tuple[Row, bytes]:
    """Run a reducer until its end, `cap` seconds or `most` checks; return what is smallest, too."""
    with tempfile.TemporaryDirectory() as name, socket.create_server(("127.0.0.1", 0)) as server:
        given, oracle = Path(name) / f"in{case.input.suffix}", Path(name) / "oracle"
        shutil.copyfile(case.input, given)
        port = str(server.getsockname()[1])
        oracle.write_text(_ORACLE.format(port=port), encoding="utf-8")
        oracle.chmod(0o755)
        checks = Checks(case, server, most)
        line = TOOLS[tool].format(input=given, output=f"{given}.out", oracle=oracle)
        begin = time.monotonic()
        try:
            cost = run(shlex.split(line), cap, environment={"CHECKS": port})
        except KeyboardInterrupt:
            if checks.count < most:
                raise
            cost = None
        wall, capped = time.monotonic() - begin, cost is None or cost.capped
        if not checks.count or (cost and not checks.thread.is_alive()):
            sys.exit(f"{line}: {cost} after {checks.count} checks")
        server.shutdown(socket.SHUT_RDWR)
    end = len(checks.best)
    sizes = checks.sizes + [end] * (0 if capped else len(BUDGETS) - len(checks.sizes))
    today, size = datetime.now(UTC).date().isoformat(), case.input.stat().st_size
    measured = (size, sizes, end, checks.count, round(wall), capped)
    return Row(case.name, tool, version, today, *measured), checks.best


def version_of(tool: str) -> str:
    """Return the version of a reducer, for reducekit the commit; "" if it is not in PATH."""
    if tool in peers.COMMANDS:
        if shutil.which(tool) is None:
            return ""
        words = [tool, "--version"]
    else:
        words = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty"]
    environment = {**os.environ, **peers.ENVIRONMENT}
    done = subprocess.run(words, capture_output=True, text=True, check=True, env=environment)
    return done.stdout.split("(")[0].split()[-1]


def from_seeds(seeds: Sequence[int], folder: Path) -> Iterator[Case]:
    for seed in seeds:
        case = texts.case_of(seed)
        path = folder / f"{case.name}.{case.language}"
        path.write_bytes(case.text)

        def interesting(path: Path, case: texts.Case = case) -> bool:
            return case.holds(path.read_bytes())

        yield Case(case.name, path, interesting)


def from_folder(folder: Path) -> Iterator[Case]:
    for oracle in sorted(folder.glob("*/oracle")):
        (path,) = oracle.parent.glob("input.*")

        def interesting(path: Path, oracle: Path = oracle) -> bool:
            words = [str(oracle.resolve()), str(path)]
            return not subprocess.run(words, capture_output=True, check=False).returncode

        yield Case(oracle.parent.name, path, interesting)


def read(paths: Sequence[Path]) -> list[Row]:
    """Read rows; of one tool on one case, the last."""
    lines = [
        line for path in paths if path.exists() for line in path.read_text("utf-8").splitlines()
    ]
    found = {(row.case, row.tool): row for row in (Row(*json.loads(line)) for line in lines)}
    return list(found.values())


def table(rows: Sequence[Row]) -> str:
    """Return a line for each case and reducer, then the first reducer compared with the others."""
    tools = list(dict.fromkeys(row.tool for row in rows))
    lines = []
    for row in sorted(rows, key=lambda row: (row.case, tools.index(row.tool))):
        figures = [f"{each:,}" if each else "-" for each in row.figures()]
        seconds = f"{row.seconds:,}{'+' if row.capped else ''}"
        lines.append([row.case, f"{row.bytes:,}", row.tool, *figures, seconds])
    versions = {row.tool: f"{row.tool} {row.version} ({row.date})" for row in rows}
    parts = [
        grid(["case", "bytes", "reducer", *_BY, "at its end", "checks", "s"], lines),
        ", ".join(versions.values()) + ". +: stopped at a limit.",
    ]
    return "\n\n".join([*parts, *(compared(rows, tools[0], other) for other in tools[1:])]) + "\n"


def compared(rows: Sequence[Row], one: str, other: str) -> str:
    """Return ratios of what two reducers leave: geometric means, and the cases above 1.05."""
    found = {(row.case, row.tool): row for row in rows}
    pairs = [(a, b) for a in rows if a.tool == one and (b := found.get((a.case, other)))]
    lines = []
    for at, name in enumerate([*_BY, "at the end", "checks to the end"]):
        figures = ((a.case, a.figures()[at], b.figures()[at]) for a, b in pairs)
        values = {case: (mine, its) for case, mine, its in figures if mine and its}
        ratios = {case: mine / max(its, 1) for case, (mine, its) in values.items()}
        worst = sorted(ratios.items(), key=lambda item: -item[1])
        shown = ", ".join(f"{case} {ratio:.2f}" for case, ratio in worst if ratio > 1.05)
        mean = mean_ratio(values.values(), 1.0)
        lines.append([name, f"{mean:.3f}" if mean else "-", str(len(values)), shown])
    return grid([f"{one} / {other}", "mean", "cases", "above 1.05"], lines)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("rows", type=Path, nargs="+", help="the first is written")
    parser.add_argument("--seeds", type=texts.seeds, default=texts.seeds("1-30"), metavar="A-B")
    parser.add_argument("--cases", type=Path, help="a folder of cases, in place of seeds")
    parser.add_argument("--tools", default="reducekit,ddmin,shrinkray,cvise", help="comma between")
    parser.add_argument("--cap", type=float, default=1200.0, help="seconds of each run")
    parser.add_argument("--checks", type=int, default=1 << 20, help="the most of each run")
    parser.add_argument("--keep", type=Path, help="a folder for the results")
    given = parser.parse_args(arguments)
    versions = {tool: version_of(tool) for tool in given.tools.split(",") if tool}
    done = {(row.case, row.tool, row.version) for row in read(given.rows)}
    with tempfile.TemporaryDirectory() as name:
        for case in (
            from_folder(given.cases) if given.cases else from_seeds(given.seeds, Path(name))
        ):
            for tool, version in versions.items():
                known = not version or (case.name, tool, version) in done
                if known or (tool == "cvise" and case.input.suffix != ".c"):
                    continue
                row, best = measure(case, tool, version, given.cap, given.checks)
                print(*row, file=sys.stderr)
                with given.rows[0].open("a", encoding="utf-8") as file:
                    print(json.dumps(row), file=file)
                if given.keep:
                    given.keep.mkdir(parents=True, exist_ok=True)
                    (given.keep / f"{case.name}.{tool}{case.input.suffix}").write_bytes(best)
    if rows := read(given.rows):
        print(table(rows), end="")
    else:
        sys.exit("nothing was run: a case is a folder with input.* and an executable oracle")


if __name__ == "__main__":
    main()
