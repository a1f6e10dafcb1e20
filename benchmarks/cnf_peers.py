"""`reducekit cnf`, cnfdd, python-sat's MUS extractors, wcnfddmin and qbfdd on made pairs.

    python -m benchmarks.cnf_peers --tools FOLDER --jobs 2 --out benchmarks/results/cnf_peers.md

A pair is a formula and a program with a seeded fault, both drawn from a seed (`cnf_pairs`). All
reducers ask the same Python function, which counts: the others by a shell script that passes the
name of a file through a FIFO. Each has `--seconds` of processor time for the checks of a pair;
"cut off" says that these ended it. FOLDER has the checkouts of cnfdd, cnfuzz, qbfdd and
MaxSAT-Fuzzer, with their programs built.
"""

import argparse
import math
import os
import resource
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple, TypeAlias

from pysat.examples.musx import MUSX
from pysat.examples.optux import OptUx
from pysat.formula import WCNF

import reducekit
from benchmarks.cnf_pairs import Pair, clauses_of, cnf_pair, mus_pair, qbf_pair, wcnf_pair
from reducekit.compare.tables import grid
from reducekit.frontends.cnf.reader import View

_FAILS = 3
"""The exit status of a candidate that fails: others may stand for answers."""


class Run(NamedTuple):
    """What a reducer came to."""

    clauses: int
    literals: int
    checks: int
    late: int
    """The checks after the last success."""
    seconds: float
    ended: bool = True


def _sizes(text: bytes) -> tuple[int, int]:
    view = View(text)
    counted = [at for at in range(len(view)) if view.counts(at)]
    return len(counted), sum(view.first[at + 1] - view.first[at] for at in counted)


class Asked:
    """The test of a pair, which counts; after some seconds of processor time it raises."""

    def __init__(self, pair: Pair, seconds: float) -> None:
        self.pair, self.left, self.best = pair, seconds, pair.text
        self.calls = self.last = 0

    def __call__(self, text: bytes) -> bool:
        if self.left <= 0:
            raise KeyboardInterrupt
        self.calls += 1
        begin = time.process_time()
        fails = self.pair.fails(text)
        self.left -= time.process_time() - begin
        if fails and _sizes(text)[::-1] < _sizes(self.best)[::-1]:
            self.best, self.last = text, self.calls
        return fails

    def run(self, begin: float, ended: bool) -> Run:
        """Return what it came to since `begin`."""
        late = self.calls - self.last
        return Run(*_sizes(self.best), self.calls, late, time.process_time() - begin, ended)


def ours(pair: Pair, seconds: float) -> Run:
    """Reduce a pair by reducekit; all runs count, those before and after the search, too."""
    asked, begin = Asked(pair, seconds), time.process_time()
    try:
        reducekit.reduce(pair.text, asked, listen=lambda event: None, format="cnf")
    except KeyboardInterrupt:
        return asked.run(begin, ended=False)
    return asked.run(begin, ended=True)


def theirs(pair: Pair, words: Sequence[str], suffix: str, seconds: float) -> Run:
    """Reduce a pair by another program; its words have {input}, {output}, {oracle}, {temp}."""
    with tempfile.TemporaryDirectory() as name:
        folder, asked, begin = Path(name), Asked(pair, seconds), time.process_time()
        asks, answers = folder / "asks", folder / "answers"
        for each in (asks, answers):
            os.mkfifo(each)
        oracle = folder / "oracle.sh"
        oracle.write_text(
            f'#!/bin/sh\nfor f; do :; done\necho "$f" > {asks}\nread v < {answers}\nexit $v\n'
        )
        oracle.chmod(0o755)
        source = folder / f"input{suffix}"
        source.write_bytes(pair.text)

        places = {"input": source, "output": folder / "out", "oracle": oracle, "temp": folder / "t"}
        process = subprocess.Popen(
            [each.format(**places) for each in words], stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, cwd=folder, start_new_session=True,
        )  # fmt: skip

        def serve() -> None:
            while path := asks.read_text().strip():
                try:
                    fails = asked(Path(path).read_bytes())
                except KeyboardInterrupt:
                    os.killpg(process.pid, signal.SIGKILL)
                    return
                answers.write_text(f"{_FAILS if fails else 0}\n")

        server = threading.Thread(target=serve, daemon=True)
        server.start()
        ended = process.wait() != -signal.SIGKILL
        # A server that waits for an answer to be read, or for a name, is released.
        for place, flags in ((answers, os.O_RDONLY | os.O_NONBLOCK), (asks, os.O_RDWR)):
            handle = os.open(place, flags)
            if place == asks:
                os.write(handle, b"\n")
                server.join(5)
            os.close(handle)
        return asked.run(begin, ended)


_PEERS: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "cnf": ("cnfdd", ".cnf", ("cnfdd/cnfdd", "{input}", "{output}", "{oracle}")),
    "wcnf": (
        "MaxSAT-Fuzzer", ".wcnf",
        ("MaxSAT-Fuzzer/DeltaDebugger/wcnfddmin/wcnfddmin", "-C", "-V", "-L", "-W2O", "-S2H",
         "-WBS", "-e", "0", "-s", "{oracle}", "{input}"),
    ),
    "qbf": (
        "qbfdd", ".qdimacs",
        ("qbfdd/qbfdd.py", "-S", "-f", str(_FAILS), "-p", "0", "-o", "{output}", "-O", "{temp}",
         "{input}", "{oracle}"),
    ),
}  # fmt: skip
_COUNTS = {"cnf": 40, "mus": 30, "wcnf": 10, "qbf": 10}
_PAIRS: dict[str, Callable[[int, Path | None], Pair]] = {
    "cnf": cnf_pair, "mus": mus_pair, "wcnf": wcnf_pair, "qbf": qbf_pair,
}  # fmt: skip


def extracted(pair: Pair, seconds: float) -> Run:
    """Return the best of python-sat's `musx` and `OptUx`, the latter for some CPU seconds."""
    formula = WCNF()
    for each in clauses_of(View(pair.text)):
        formula.append(list(each), weight=1)
    with MUSX(formula, verbosity=0) as extractor:
        best = extractor.compute()
    child = os.fork()
    if not child:  # its search cannot be interrupted
        resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(seconds),) * 2)
        with OptUx(formula) as optimal:
            os._exit(min(255, len(optimal.compute())))
    status = os.waitpid(child, 0)[1]
    came = os.waitstatus_to_exitcode(status)
    ended = 0 < came < 255
    return Run(min(len(best), came) if ended else len(best), 0, 0, 0, 0.0, ended)


def _version(folder: Path) -> str:
    words = ["git", "-C", str(folder), "rev-parse", "--short", "HEAD"]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()


def _mean(ratios: Sequence[float]) -> float:
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


Row: TypeAlias = tuple[int, str, int, Run, Run]
"""The seed of a pair, its name, its bytes, and what reducekit and the other tool came to."""


def compared(kind: str, seed: int, tools: Path, seconds: float) -> Row:
    """Reduce a pair by both."""
    pair = _PAIRS[kind](seed, tools)
    mine = ours(pair, seconds)
    if kind == "mus":
        other = extracted(pair, seconds)
    else:
        _, suffix, (program, *words) = _PEERS[kind]
        other = theirs(pair, [str(tools / program), *words], suffix, seconds)
    return seed, pair.name, len(pair.text), mine, other


def section(kind: str, tools: Path, rows: Sequence[Row]) -> str:
    """Return the table of a kind of pairs."""
    name = _PEERS[kind][0] if kind in _PEERS else "musx, OptUx"
    version = " " + _version(tools / name) if kind in _PEERS else ""
    what = "clauses" if kind == "mus" else "literals + 1"
    columns = ("seed", "fault", "bytes", "clauses", "literals", "checks", "late", "CPU s")
    lines = []
    for seed, fault, size, mine, other in rows:
        notes = ["" if each.ended else " (cut off)" for each in (mine, other)]
        lines.append([
            str(seed), fault, f"{size:,}", f"{mine.clauses}{notes[0]} / {other.clauses}{notes[1]}",
            *((f"{mine.literals}", f"{mine.checks}") if kind == "mus" else
              (f"{mine.literals} / {other.literals}", f"{mine.checks} / {other.checks}")),
            f"{mine.late}", f"{mine.seconds:.1f}",
        ])  # fmt: skip
    parts = [f"## {kind}: reducekit / {name}{version}", grid(columns, lines)]
    # A tool without a check has not read the input.
    both = [
        row for row in rows if row[3].ended and row[4].ended and (kind == "mus" or row[4].checks)
    ]
    sizes, checks = [], []
    for *_, mine, other in both:
        if kind == "mus":
            sizes.append(mine.clauses / other.clauses)
            checks.append(float(mine.checks))
        else:
            sizes.append((mine.literals + 1) / (other.literals + 1))
            checks.append(mine.checks / other.checks)
    if both:
        larger = sum(each > 1.05 for each in sizes)
        parts.append(
            f"Of the {len(both)} pairs that both finish ({len(rows) - len(both)} did not): "
            f"geometric means of {what} {_mean(sizes):.2f}, of checks {_mean(checks):.2f}; "
            f"larger by more than 5 %: {larger}."
        )
    return "\n\n".join(parts)


def main() -> None:
    """Print or write the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("kinds", nargs="*", help="cnf, mus, wcnf, qbf; default: all")
    parser.add_argument("--tools", type=Path, required=True)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--count", type=int, help=f"pairs of each kind; default: {_COUNTS}")
    parser.add_argument("--seconds", type=float, default=60.0, help="for the checks of a pair")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    tools, seconds = given.tools.resolve(), given.seconds
    todo = [
        (kind, seed)
        for kind in given.kinds or _COUNTS
        for seed in range(given.first, given.first + (given.count or _COUNTS[kind]))
    ]
    rows: dict[str, list[Row]] = defaultdict(list)
    with ProcessPoolExecutor(given.jobs) as pool:
        running = [pool.submit(compared, *each, tools, seconds) for each in todo]
        for (kind, _), each in zip(todo, running, strict=True):
            rows[kind].append(each.result())
            print(kind, *rows[kind][-1], file=sys.stderr, flush=True)
    words = shlex.join(sys.argv[1:])
    about = __doc__.split("\n\n", 2)[2].strip() if __doc__ else ""
    text = "\n\n".join([
        "# `reducekit cnf` and cnfdd, musx and OptUx, wcnfddmin, qbfdd",
        f"`python -m benchmarks.cnf_peers {words}` made this page. {about}",
        "Sizes are written as reducekit / the other tool. CPU seconds are reducekit's, tests "
        "included. *late*: its checks after the last success.",
        *(section(kind, tools, found) for kind, found in rows.items()),
    ]) + "\n"  # fmt: skip
    given.out.write_text(text, "utf-8") if given.out else print(text, end="")


if __name__ == "__main__":
    main()
