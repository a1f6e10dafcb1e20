"""Compares any reducers: what each leaves of a file, and at what cost.

A reducer is a command line that contains {input}, {output} and {oracle}, such as
`ddsmt -j1 {input} {output} {oracle}`. Its oracle counts its own runs, the cost covers all processes
that the reducer waits for, and every output is verified afterwards.
"""

from __future__ import annotations

import shlex
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from reducekit.compare.cases import filled
from reducekit.compare.cost import run
from reducekit.errors import NotInterestingError, UsageError
from reducekit.oracle.command import PLACE, Command
from reducekit.session import Failure

_PLACES = ("{input}", "{output}", "{oracle}")
_FILE = '"$file"'


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
    bytes: int
    """The size of a verified output; otherwise that of the input, as nothing was gained."""
    checks: int
    """Runs of the oracle."""
    cpu: float
    wall: float
    rss: float
    """Peak memory of the largest process, in MB (10**6 bytes)."""
    verified: bool
    """Whether the oracle accepts the output."""
    capped: bool
    """Whether it was stopped at the time limit."""
    status: int
    """The exit status, or the negative signal number."""

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
    """Run a reducer on a problem for at most `seconds` seconds.

    A verified output is copied to `keep`, if that is given.
    """
    with tempfile.TemporaryDirectory(prefix="reducers-") as name:
        folder = Path(name)
        source = folder / problem.file.name
        output = folder / f"output{problem.file.suffix}"
        source.write_bytes(problem.file.read_bytes())
        script, count = _counting(problem.oracle, folder)
        values = dict(zip(_PLACES, map(str, (source, output, script)), strict=True))
        cost = run([_filled(word, values) for word in reducer.words], seconds)
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


def _filled(word: str, values: Mapping[str, str]) -> str:
    for place, value in values.items():
        word = word.replace(place, value)
    return word


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
