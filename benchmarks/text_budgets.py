"""What reducers leave of texts by 50, 150, 300 and 500 checks, and at their end.

    python -m benchmarks.text_budgets ROWS.json [--seeds A-B | --cases FOLDER] [--tools NAMES]

Runs each reducer once on each case: on those that `texts` makes from seeds, or on a folder of cases
(`input.SUFFIX` and `oracle`). Every check passes through this program, which counts it and notes
the smallest text accepted so far; so one run has the sizes at all budgets. Rows that a version of
a reducer has in ROWS.json already are kept. Prints the table of all rows there are.

Needs what `texts` needs, and `shrinkray` and `cvise` in PATH for these. Shrink Ray gets the
grammars that are installed as `tree_sitter_*` packages beside it.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from benchmarks import peers, texts
from reducekit.compare.runs import mean_ratio
from reducekit.compare.tables import grid

BUDGETS = (50, 150, 300, 500)
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
    stopped: str
    """`checks` or `cap`, by which it was stopped, or nothing."""


@dataclass(slots=True)
class Checks:
    """Answers checks at a port, one after the other, and keeps the curve."""

    case: Case
    best: bytes
    limit: int | None
    count: int = 0
    sizes: list[int] = field(default_factory=list)

    def serve(self, server: socket.socket) -> None:
        with suppress(OSError):  # the server is closed
            while True:
                with server.accept()[0] as client, client.makefile("rw") as stream:
                    path = Path(stream.readline().rstrip("\n"))
                    with suppress(OSError):  # the client is gone
                        print(int(not self.check(path)), file=stream, flush=True)

    def check(self, path: Path) -> bool:
        if self.full():
            return False
        self.count += 1
        accepted = path.is_file() and self.case.interesting(path)
        if accepted:
            self.best = min(self.best, path.read_bytes(), key=len)
        if self.count in BUDGETS:
            self.sizes.append(len(self.best))
        return accepted

    def full(self) -> bool:
        return self.limit is not None and self.count >= self.limit


def measure(
    case: Case, tool: str, version: str, limit: int | None, cap: float
) -> tuple[Row, bytes]:
    """Run a reducer until its end, a number of checks, or `cap` seconds; return its best, too."""
    checks = Checks(case, case.input.read_bytes(), limit)
    begin, stopped = time.monotonic(), ""
    with tempfile.TemporaryDirectory() as name, socket.create_server(("127.0.0.1", 0)) as server:
        folder = Path(name)
        given, oracle = folder / f"in{case.input.suffix}", folder / "oracle"
        shutil.copyfile(case.input, given)
        oracle.write_text(_ORACLE.format(port=server.getsockname()[1]), encoding="utf-8")
        oracle.chmod(0o755)
        thread = threading.Thread(target=checks.serve, args=[server], daemon=True)
        thread.start()
        line = TOOLS[tool].format(input=given, output=f"{given}.out", oracle=oracle)
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(
                shlex.split(line),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
            while (
                thread.is_alive() and process.poll() is None and not checks.full() and not stopped
            ):
                stopped = "cap" if time.monotonic() - begin > cap else ""
                time.sleep(0.1)
            stopped = "checks" if checks.full() else stopped
            for number in (signal.SIGINT, signal.SIGKILL) if stopped else (signal.SIGKILL,):
                with suppress(ProcessLookupError, subprocess.TimeoutExpired):
                    os.killpg(process.pid, number)
                    process.wait(5)
        if not checks.count or not thread.is_alive():
            raise SystemExit(f"{line}\n{(folder / 'log').read_text(errors='replace')}")
        server.shutdown(socket.SHUT_RDWR)
    seconds = round(time.monotonic() - begin)
    end = len(checks.best)
    sizes = checks.sizes if stopped else [*checks.sizes, *[end] * len(BUDGETS)][: len(BUDGETS)]
    today = datetime.now(UTC).date().isoformat()
    run = (case.input.stat().st_size, sizes, end, checks.count, seconds, stopped)
    return Row(case.name, tool, version, today, *run), checks.best


def version_of(tool: str) -> str:
    """Return the version of a reducer; of ours, the commit. Empty if it is not in PATH."""
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


def read(path: Path) -> list[Row]:
    """Read the rows of a file; of one tool on one case, the last."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    found = {(row.case, row.tool): row for row in (Row(*json.loads(line)) for line in lines)}
    return list(found.values())


def table(rows: Sequence[Row]) -> str:
    """Return a line for each case and reducer, then the first reducer compared with the others."""
    names = [f"by {each}" for each in BUDGETS]
    header = ["case", "bytes", "reducer", *names, "at its end", "checks", "s"]
    tools = list(dict.fromkeys(row.tool for row in rows))
    lines = [
        [
            *(row.case, f"{row.bytes:,}", row.tool),
            *[f"{size:,}" for size in row.sizes],
            *["-"] * (len(BUDGETS) - len(row.sizes)),
            *(f"{row.end:,}" if row.stopped != "checks" else "-", f"{row.checks:,}"),
            f"{row.seconds:,}{'+' if row.stopped == 'cap' else ''}",
        ]
        for row in sorted(rows, key=lambda row: (row.case, tools.index(row.tool)))
    ]
    versions = {row.tool: f"{row.tool} {row.version} ({row.date})" for row in rows}
    parts = [grid(header, lines), ", ".join(versions.values()) + ". +: stopped at the time limit."]
    return "\n\n".join([*parts, *(compared(rows, tools[0], other) for other in tools[1:])]) + "\n"


def compared(rows: Sequence[Row], one: str, other: str) -> str:
    """Return ratios of what two reducers leave: geometric means, and the worst cases."""
    found = {(row.case, row.tool): row for row in rows}
    pairs = [
        (row, found[row.case, other])
        for row in rows
        if row.tool == one and (row.case, other) in found
    ]
    named: list[tuple[str, list[tuple[str, float, float]]]] = []
    for at, budget in enumerate(BUDGETS):
        both = [(a, b) for a, b in pairs if len(a.sizes) > at and len(b.sizes) > at]
        named.append((f"by {budget}", [(a.case, a.sizes[at], b.sizes[at]) for a, b in both]))
    ended = [(a, b) for a, b in pairs if "checks" not in (a.stopped, b.stopped)]
    named.append(("at the end", [(a.case, a.end, b.end) for a, b in ended]))
    named.append(("checks to the end", [(a.case, a.checks, b.checks) for a, b in ended]))
    lines = []
    for name, values in named:
        mean = mean_ratio([(mine, its) for _, mine, its in values], 1.0)
        worst = sorted(((a / max(b, 1), case) for case, a, b in values), reverse=True)[:3]
        above = sum(a > 1.05 * b for _, a, b in values)
        shown = ", ".join(f"{case} {ratio:.2f}" for ratio, case in worst)
        lines.append([name, f"{mean or 0:.3f}", str(len(values)), str(above), shown])
    return grid([f"{one} / {other}", "mean", "cases", "above 1.05", "worst"], lines)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("rows", type=Path)
    parser.add_argument("--seeds", type=texts.seeds, default=texts.seeds("1-30"), metavar="A-B")
    parser.add_argument("--cases", type=Path, help="a folder of cases, in place of seeds")
    parser.add_argument("--tools", default="reducekit,ddmin,shrinkray,cvise", help="comma between")
    parser.add_argument("--checks", type=int, help="stop each run after that many")
    parser.add_argument("--cap", type=float, default=1200.0, help="seconds of each run")
    parser.add_argument("--keep", type=Path, help="a folder for what is left")
    given = parser.parse_args(arguments)
    done = {(row.case, row.tool): row for row in read(given.rows)}
    with tempfile.TemporaryDirectory() as name:
        cases = from_folder(given.cases) if given.cases else from_seeds(given.seeds, Path(name))
        for case in cases:
            for tool in given.tools.split(","):
                version = version_of(tool)
                old = done.get((case.name, tool))
                kept = old and old.version == version and (given.checks or old.stopped != "checks")
                if not version or kept or (tool == "cvise" and case.input.suffix != ".c"):
                    continue
                row, best = measure(case, tool, version, given.checks, given.cap)
                print(*row, file=sys.stderr)
                with given.rows.open("a", encoding="utf-8") as file:
                    print(json.dumps(row), file=file)
                if given.keep:
                    given.keep.mkdir(parents=True, exist_ok=True)
                    (given.keep / f"{case.name}.{tool}{case.input.suffix}").write_bytes(best)
    print(table(read(given.rows)), end="")


if __name__ == "__main__":
    main()
