"""`reducekit cnf`, cnfdd, python-sat's MUS extractors, wcnfddmin and qbfdd on made pairs.

    python -m benchmarks.cnf_peers cnf|mus|wcnf|qbf --tools FOLDER --first 0 --count 40

A pair is a formula and a program with a seeded fault, both drawn from a seed (`cnf_pairs`). All
reducers ask the same Python function, which counts: the others by a shell script that passes the
name of a file through a FIFO. FOLDER has the checkouts of cnfdd, cnfuzz, qbfdd and MaxSAT-Fuzzer,
with their programs built. The table goes to standard output.
"""

import argparse
import math
import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from pysat.examples.musx import MUSX
from pysat.examples.optux import OptUx
from pysat.formula import WCNF

import reducekit
from benchmarks.cnf_pairs import Pair, clauses_of, cnf_pair, mus_pair, qbf_pair, wcnf_pair
from reducekit.events import Accepted
from reducekit.frontends.cnf.reader import View

_SECONDS = 30.0  # for one reducer on one pair
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


def ours(pair: Pair) -> Run:
    """Reduce a pair by reducekit; all runs count, those before and after the search, too."""
    calls = last = 0

    def fails(text: bytes) -> bool:
        nonlocal calls, last
        calls += 1
        return pair.fails(text)

    def listen(event: object) -> None:
        nonlocal last
        if isinstance(event, Accepted):
            last = calls

    begin = time.process_time()
    found = reducekit.reduce(pair.text, fails, listen=listen, format="cnf", max_time=_SECONDS)
    spent = time.process_time() - begin
    return Run(*_sizes(found.text), calls, calls - last, spent, found.stopped is None)


def theirs(pair: Pair, words: Sequence[str], suffix: str) -> Run:
    """Reduce a pair by another program; its words have {input}, {output}, {oracle}, {temp}."""
    with tempfile.TemporaryDirectory() as name:
        folder, calls, best, last = Path(name), 0, pair.text, 0
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

        def serve() -> None:
            nonlocal calls, best, last
            while True:
                path = asks.read_text().strip()
                if not path:
                    return
                calls += 1
                text = Path(path).read_bytes()
                fails = pair.fails(text)
                if fails and _sizes(text)[::-1] < _sizes(best)[::-1]:
                    best, last = text, calls
                answers.write_text(f"{_FAILS if fails else 0}\n")

        server = threading.Thread(target=serve, daemon=True)
        server.start()
        places = {"input": source, "output": folder / "out", "oracle": oracle, "temp": folder / "t"}
        begin, ended = time.monotonic(), True
        with subprocess.Popen(
            [each.format(**places) for each in words], stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, cwd=folder, start_new_session=True,
        ) as process:  # fmt: skip
            try:
                process.wait(_SECONDS)
            except subprocess.TimeoutExpired:
                ended = False
                os.killpg(process.pid, signal.SIGKILL)
        seconds = time.monotonic() - begin
        # A server that waits for an answer to be read, or for a name, is released.
        for place, flags in ((answers, os.O_RDONLY | os.O_NONBLOCK), (asks, os.O_RDWR)):
            handle = os.open(place, flags)
            if place == asks:
                os.write(handle, b"\n")
                server.join(5)
            os.close(handle)
        return Run(*_sizes(best), calls, calls - last, seconds, ended)


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
_PAIRS: dict[str, Callable[[int, Path | None], Pair]] = {
    "cnf": cnf_pair, "mus": mus_pair, "wcnf": wcnf_pair, "qbf": qbf_pair,
}  # fmt: skip


def extracted(pair: Pair) -> Run:
    """Return the best of python-sat's `musx` and `OptUx`, the latter for 20 seconds."""
    formula = WCNF()
    for each in clauses_of(View(pair.text)):
        formula.append(list(each), weight=1)
    with MUSX(formula, verbosity=0) as extractor:
        best = extractor.compute()
    ended, came = True, [0]
    child = os.fork()
    if not child:  # its search cannot be interrupted
        signal.alarm(20)
        with OptUx(formula) as optimal:
            os._exit(min(255, len(optimal.compute())))
    status = os.waitpid(child, 0)[1]
    came = [os.waitstatus_to_exitcode(status)]
    ended = 0 < came[0] < 255
    return Run(min(len(best), came[0]) if ended else len(best), 0, 0, 0, 0.0, ended)


def _version(folder: Path) -> str:
    words = ["git", "-C", str(folder), "rev-parse", "--short", "HEAD"]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()


def _mean(ratios: Sequence[float]) -> float:
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def table(kind: str, tools: Path, first: int, count: int) -> None:
    """Print the table of a kind of pairs."""
    name, suffix, words = _PEERS.get(kind, ("musx, OptUx", "", ()))
    version = _version(tools / name) if words else ""
    print(f"## {kind}: reducekit / {name} {version}\n")
    print("| seed | fault | bytes | clauses | literals | checks | after the last success | CPU s |")
    print("|---|---|---|---|---|---|---|---|")
    sizes, checks, late = [], [], []
    for seed in range(first, first + count):
        pair = _PAIRS[kind](seed, tools)
        mine = ours(pair)
        command = [str(tools / words[0]), *words[1:]] if words else []
        other = theirs(pair, command, suffix) if words else extracted(pair)
        cut = "" if other.ended else " (cut off)"
        print(
            f"| {seed} | {pair.name} | {len(pair.text):,} | {mine.clauses} / {other.clauses}{cut} "
            f"| {mine.literals} / {other.literals} | {mine.checks} / {other.checks} | {mine.late} "
            f"| {mine.seconds:.1f} |",
            flush=True,
        )
        late.append(mine.late / mine.checks)
        if words:
            sizes.append((mine.literals + 1) / (other.literals + 1))
            checks.append(mine.checks / max(1, other.checks))
        else:
            sizes.append(mine.clauses / other.clauses)
            checks.append(float(mine.checks))
    larger = sum(each > 1.05 for each in sizes)
    print(
        f"\nGeometric means: {'literals + 1' if words else 'clauses'} {_mean(sizes):.2f}, checks "
        f"{_mean(checks):.2f}. Larger by more than 5 %: {larger} of {count}. After the last "
        f"success: {sum(late) / count:.0%} of the checks; at most {max(checks):.2f} checks.\n"
    )


def main() -> None:
    """Print the table of the arguments."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("kind", choices=[*_PAIRS])
    parser.add_argument("--tools", type=Path, required=True)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=40)
    given = parser.parse_args()
    table(given.kind, given.tools.resolve(), given.first, given.count)


if __name__ == "__main__":
    main()
