"""Compares any reducers: what each leaves of a file, at what cost, and tables of that.

A reducer is a command line that contains {input}, {output} and {oracle}, such as
`ddsmt -j1 {input} {output} {oracle}`. Its oracle counts its own runs, the cost covers all processes
that the reducer waits for, and every output is verified afterwards.

The table of test sets is Table 1 of A. Niemetz and A. Biere, "ddSMT: A Delta Debugger for the
SMT-LIB v2 Format" (SMT 2013): reduction, time, runs and memory, each as average, minimum and
maximum.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import signal
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from reducekit.compare.runs import mean_ratio, spread
from reducekit.compare.sessions import filled
from reducekit.compare.tables import grid
from reducekit.errors import NotInterestingError, UsageError
from reducekit.oracle.command import PLACE, Command
from reducekit.session import Failure
from reducekit.text import with_places

_PLACES = ("{input}", "{output}", "{oracle}")
_FILE = '"$file"'
_LEAST: Mapping[str, float] = {"bytes": 1.0, "checks": 1.0, "cpu": 0.01}
"""The quantities compared by ratios, with their lower bounds."""
_MEASURES: Mapping[str, tuple[Callable[[Measured], float], str]] = {
    "percent": (lambda row: row.reduction, ".1f"),
    "seconds": (lambda row: row.wall, ".1f"),
    "checks": (lambda row: row.checks, ".0f"),
    "MB": (lambda row: row.rss, ".0f"),
}


class Cost(NamedTuple):
    """The cost of a command, and how it ended."""

    cpu: float  # user and system seconds, including the children it waited for
    wall: float  # seconds
    rss: float  # peak memory of the largest process, in MB (10**6 bytes)
    status: int  # the exit status, or the negative signal number
    capped: bool  # whether it was stopped at the time limit
    out: str


def run(
    command: Sequence[str | Path],
    cap: float | None = None,
    grace: float = 10.0,
    environment: Mapping[str, str] | None = None,
) -> Cost:
    """Run a command to its end in its own process group.

    After `cap` seconds the group gets SIGINT, and `grace` seconds later SIGKILL. The command
    inherits standard error, and the environment with `environment` on top.
    """
    with tempfile.TemporaryFile() as out:
        before = time.monotonic()
        process = subprocess.Popen(
            list(map(str, command)),
            stdin=subprocess.DEVNULL,
            stdout=out,
            start_new_session=True,
            env=None if environment is None else {**os.environ, **environment},
        )
        steps = [] if cap is None else [(cap, signal.SIGINT), (cap + grace, signal.SIGKILL)]
        capped = False
        try:
            while True:
                # wait4 reports on this one process, while getrusage adds up all children.
                pid, status, used = os.wait4(process.pid, os.WNOHANG if steps else 0)
                wall = time.monotonic() - before
                if pid:
                    break
                if wall >= steps[0][0]:
                    os.killpg(process.pid, steps.pop(0)[1])
                    capped = True
                time.sleep(0.01)
        finally:
            # Kills what it left running, or everything if we are interrupted.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        return Cost(
            cpu=used.ru_utime + used.ru_stime,
            wall=wall,
            rss=used.ru_maxrss * 1024 / 1e6,
            status=process.returncode,
            capped=capped,
            out=out.read().decode(errors="replace"),
        )


class Reducer(NamedTuple):
    """A reducer, given by the words of its command line."""

    name: str
    words: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> Reducer:
        """Parse `NAME=COMMAND`. Raises UsageError for a command that cannot be used."""
        name, equals, line = text.partition("=")
        missing = [place for place in _PLACES if place not in line]
        if not name or not equals or missing:
            raise UsageError(
                f"expected NAME=COMMAND, with {', '.join(missing or _PLACES)} in the command, "
                f"not {text!r}: such as 'ddsmt=ddsmt {{input}} {{output}} {{oracle}}'"
            )
        words = tuple(shlex.split(line))
        if shutil.which(words[0]) is None:
            raise UsageError(f"the program {words[0]!r} of the reducer {name!r} is not in PATH")
        return cls(name, words)


class Problem(NamedTuple):
    """A file to reduce, its interestingness test, and the test set that it belongs to."""

    test_set: str
    case: str
    file: Path
    oracle: Command

    @classmethod
    def of(cls, path: Path, label: str, failure: Failure) -> Problem:
        """Make the problem of a file. Raises UsageError if the test or the file is missing.

        For a file called `input`, the test set is the parent of its folder, otherwise its folder.
        """
        if not path.is_file():
            raise UsageError(f"{path} does not exist")
        oracle = filled(failure, path).oracle
        if not oracle:
            raise UsageError(
                "reducers need an `oracle`: a test that exits with 0 if a file is interesting"
            )
        folder = path.absolute().parent
        test_set = folder.parent if path.stem == "input" else folder
        return cls(test_set.name, label, path, Command.of(oracle))


class Measured(NamedTuple):
    """One run of one reducer on one file. CPU and wall time in seconds."""

    test_set: str
    case: str
    reducer: str
    bytes_in: int
    bytes: int  # the size of a verified output; otherwise that of the input, as nothing was gained
    checks: int  # runs of the oracle
    cpu: float
    wall: float
    rss: float  # peak memory of the largest process, in MB (10**6 bytes)
    verified: bool  # whether the oracle accepts the output
    capped: bool  # whether it was stopped at the time limit
    status: int  # the exit status, or the negative signal number

    @property
    def reduction(self) -> float:
        """The share of the bytes removed, in percent."""
        return 100 * (1 - self.bytes / self.bytes_in) if self.bytes_in else 0.0


def fires(problem: Problem) -> bool:
    """Return whether the test of a problem accepts its own file."""
    return _accepts(problem.oracle, problem.file)


def measure_all(
    problems: Sequence[Problem], reducers: Sequence[Reducer], seconds: float | None = None
) -> Iterator[Measured]:
    """Run each reducer on each problem. Raises NotInterestingError if a file does not fail."""
    for problem in problems:
        if not fires(problem):
            line = problem.oracle.shell_line(str(problem.file))
            raise NotInterestingError(f"{problem.file}: its test rejects it: {line}")
    for problem in problems:
        for reducer in reducers:
            yield measure(problem, reducer, seconds)


def measure(
    problem: Problem, reducer: Reducer, seconds: float | None, keep: Path | None = None
) -> Measured:
    """Run a reducer on a problem for at most `seconds`; copy a verified output to `keep`."""
    with tempfile.TemporaryDirectory(prefix="reducers-") as name:
        folder = Path(name)
        source = folder / problem.file.name
        output = folder / f"output{problem.file.suffix}"
        source.write_bytes(problem.file.read_bytes())
        script, count = _counting(problem.oracle, folder)
        values = dict(zip(_PLACES, map(str, (source, output, script)), strict=True))
        cost = run([with_places(word, values) for word in reducer.words], seconds)
        checks = count.stat().st_size
        verified = output.exists() and _accepts(problem.oracle, output)
        if verified and keep is not None:
            keep.write_bytes(output.read_bytes())
        return Measured(
            test_set=problem.test_set,
            case=problem.case,
            reducer=reducer.name,
            bytes_in=problem.file.stat().st_size,
            bytes=(output if verified else problem.file).stat().st_size,
            checks=checks,
            cpu=round(cost.cpu, 2),
            wall=round(cost.wall, 2),
            rss=round(cost.rss),
            verified=verified,
            capped=cost.capped,
            status=cost.status,
        )


def _accepts(oracle: Command, file: Path) -> bool:
    return run(oracle.argv(str(file.resolve()))).status == 0


def _counting(oracle: Command, folder: Path) -> tuple[Path, Path]:
    """Write a test that adds a byte to a file and then runs the given one; return both files.

    The candidate is its last argument, where all reducers put it.
    """
    script, count = folder / "oracle", folder / "count"
    count.write_bytes(b"")
    words = oracle.argv(PLACE)
    line = " ".join(_FILE.join(map(shlex.quote, word.split(PLACE))) for word in words)
    script.write_text(
        f"#!/bin/sh\nprintf . >> {shlex.quote(str(count))}\nfor file; do :; done\nexec {line}\n",
        encoding="utf-8",
    )
    script.chmod(0o755)
    return script, count


def tsv(rows: Sequence[Measured]) -> str:
    """Return one line for each run."""
    lines = ["\t".join(map(str, line)) for line in (Measured._fields, *rows)]
    return "\n".join(lines) + "\n"


def line(row: Measured) -> str:
    """Return a one-sentence summary of a run."""
    notes = ("" if row.verified else " (not verified)") + (" (stopped)" if row.capped else "")
    return (
        f"{row.case}, {row.reducer}: {row.bytes_in:,} -> {row.bytes:,} bytes{notes} in "
        f"{row.checks:,} checks, {row.wall:.1f} s, {row.rss:.0f} MB"
    )


def markdown(rows: Sequence[Measured]) -> str:
    """Return all tables."""
    parts = [each_run(rows), "By test set, as average, minimum and maximum:", by_test_set(rows)]
    parts += ratios(rows)
    return "\n\n".join(parts) + "\n"


def each_run(rows: Sequence[Measured]) -> str:
    """Return the table with one line for each run."""
    header = (
        "case", "reducer", "bytes before", "bytes", "checks", "CPU s", "wall s", "MB", "verified",
    )  # fmt: skip
    lines = [
        (
            row.case,
            row.reducer,
            f"{row.bytes_in}",
            f"{row.bytes}",
            f"{row.checks}",
            f"{row.cpu:.1f}",
            f"{row.wall:.1f}",
            f"{row.rss:.0f}",
            ("yes" if row.verified else "NO") + (", capped" if row.capped else ""),
        )
        for row in rows
    ]
    return grid(header, lines)


def by_test_set(rows: Sequence[Measured]) -> str:
    """Return the table with one line for each reducer on each test set."""
    header = ["reducer", "set", "files"]
    for name in _MEASURES:
        header += [f"{name}, avg", "min", "max"]
    lines = []
    for reducer in dict.fromkeys(row.reducer for row in rows):
        for test_set in dict.fromkeys(row.test_set for row in rows):
            here = [row for row in rows if (row.reducer, row.test_set) == (reducer, test_set)]
            if here:
                lines.append([reducer, test_set, f"{len({row.case for row in here})}"])
                for value, form in _MEASURES.values():
                    lines[-1] += [f"{each:{form}}" for each in spread([value(r) for r in here])]
    return grid(header, lines)


def ratios(rows: Sequence[Measured]) -> list[str]:
    """Return one line for each reducer but the first, which the others are compared with."""
    first, *others = dict.fromkeys(row.reducer for row in rows)
    lines = []
    for other in others:
        found = {name: ratio(rows, name, other, first) for name in _LEAST}
        said = ", ".join(
            f"{name} {value:.3f} ({count} {'case' if count == 1 else 'cases'})"
            for name, (value, count) in found.items()
            if value is not None
        )
        lines.append(f"{other} / {first}, geometric means of the ratios: {said}.")
    return lines


def ratio(
    rows: Sequence[Measured], column: str, other: str, first: str
) -> tuple[float | None, int]:
    """Return the geometric mean of other / first over the cases, and the number of cases.

    For repeated runs the medians are used. Cases where the output of either is not verified count
    for bytes only.
    """
    pairs = []
    for case in dict.fromkeys((row.test_set, row.case) for row in rows):
        both = [
            [row for row in rows if (row.test_set, row.case, row.reducer) == (*case, name)]
            for name in (other, first)
        ]
        verified = all(row.verified for each in both for row in each)
        if all(both) and (column == "bytes" or verified):
            a, b = (statistics.median(getattr(row, column) for row in each) for each in both)
            pairs.append((a, b))
    return mean_ratio(pairs, _LEAST[column]), len(pairs)
