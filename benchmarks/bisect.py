"""Real changes between versions of z3, found by `reducekit bisect` and by testing every version.

    python -m benchmarks.bisect [--cache DIR]

The inputs are random scripts (`reducekit generate smt2 --logic any --seed N`) and that of
`examples/mod_by_zero.py`. Each is bisected by the command line between two releases, with wheels
from the package index. Then every release between the two is run, and judged by what it prints,
without code of the bisection. Runs are bounded by `rlimit`, so the numbers repeat.

Writes `results/bisect.md`. Needs about 7 GB in the cache: all releases get installed in the end.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from reducekit.bisect.versions import Version
from reducekit.bisect.wheels import Wheels
from reducekit.compare.tables import grid
from reducekit.folders import cache_folder

RESULTS = Path(__file__).parent / "results"
EXAMPLE = Path(__file__).parents[1] / "examples" / "mod_by_zero.py"
PACKAGE = "z3-solver"
OPTIONS = ("model_validate=true", "rlimit=1000000")
SECONDS = 20
INVALID = r"an invalid model was generated"
ASSERTION = r"ASSERTION VIOLATION"


class Case(NamedTuple):
    """An input, and two releases of which one fails."""

    seed: int | None
    """Of the script; None for the example."""
    shows: str
    """What a release that fails prints."""
    good: str
    bad: str
    own: bool = False
    """Whether that is the program's own failure: no option says what to look for."""


CASES = (
    Case(None, INVALID, "5.4.1.0", "4.8.5.0", own=True),
    Case(5008, INVALID, "5.4.1.0", "4.8.7.0"),
    Case(5013, r"^unknown$", "4.5.1.0.post2", "4.13.1.0"),
    Case(5013, r"^unknown$", "5.1.0.0", "4.8.7.0"),
    Case(5013, r"^unknown$", "4.13.2.0", "5.4.1.0"),
    Case(5030, r"^sat$", "5.4.1.0", "4.5.1.0.post2"),
    Case(5037, r"^unknown$", "4.5.1.0.post2", "4.8.12.0"),
    Case(5037, r"^unknown$", "5.4.1.0", "4.8.7.0"),
    Case(5051, r"^unknown$", "4.5.1.0.post2", "5.4.1.0"),
    Case(5053, r"^unknown$", "5.4.1.0", "4.5.1.0.post2"),
    Case(5065, r"^sat$", "5.4.1.0", "4.5.1.0.post2"),
    Case(5074, r"^unknown$", "5.4.1.0", "4.5.1.0.post2"),
    Case(5075, r"^unknown$", "4.5.1.0.post2", "5.4.1.0"),
    Case(5089, r"^unknown$", "4.5.1.0.post2", "5.4.1.0"),
    Case(5098, ASSERTION, "4.5.1.0.post2", "4.8.15.0"),
    Case(5098, ASSERTION, "5.4.1.0", "4.8.8.0"),
    Case(5127, r"\Aunsat$", "4.5.1.0.post2", "5.4.1.0"),
    Case(5127, r"^unsat$", "4.5.1.0.post2", "5.4.1.0"),
    Case(5127, r"\(error", "5.4.1.0", "4.5.1.0.post2"),
    Case(5134, ASSERTION, "4.5.1.0.post2", "4.8.15.0"),
    Case(5134, ASSERTION, "5.4.1.0", "4.8.8.0"),
    Case(5134, r"^unknown$", "4.16.0.0", "4.8.16.0"),
    Case(5134, r"^unknown$", "5.1.0.0", "5.4.1.0"),
)


def script(case: Case) -> bytes:
    """Return the input of a case."""
    generate = ["-m", "reducekit", "generate", "smt2", "--logic", "any", "--seed", f"{case.seed}"]
    words = [str(EXAMPLE)] if case.seed is None else generate
    return subprocess.run([sys.executable, *words], capture_output=True, check=True).stdout


def bisected(case: Case, path: Path, cache: Path) -> dict[str, Any]:
    """Return what the command line prints."""
    words = ["bisect", str(path), "--wheels", PACKAGE, "--cache", str(cache), "--json"]
    words += ["--cmd", " ".join(["{solver}", *OPTIONS]), "--timeout", str(SECONDS)]
    words += ["--good", case.good, "--bad", case.bad]
    stream = "--match-err" if case.shows == ASSERTION else "--match-out"
    words += [] if case.own else [stream, case.shows]
    command = [sys.executable, "-m", "reducekit", *words]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def shows(case: Case, path: Path, program: Path) -> bool:
    """Run a release and look at what it prints."""
    try:
        done = subprocess.run(
            [program, *OPTIONS, path], capture_output=True, text=True, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return False
    return re.search(case.shows, done.stdout + done.stderr, re.MULTILINE) is not None


def scanned(case: Case, path: Path, wheels: Wheels) -> list[tuple[str, bool]]:
    """Run every release from the good one to the bad one; return which show the failure."""
    names = [version.name for version in wheels.versions]
    first, last = names.index(case.good), names.index(case.bad)
    step = 1 if first < last else -1
    chosen = names[first : last + step if last + step >= 0 else None : step]
    return [(name, shows(case, path, wheels.program(Version(name)))) for name in chosen]


def row(case: Case, found: dict[str, Any], scan: Sequence[tuple[str, bool]]) -> tuple[str, ...]:
    """Return a line of the table."""
    fixed = "first_good" in found
    good, bad = (
        (found["first_good"], found["last_bad"])
        if fixed
        else (found["last_good"], found["first_bad"])
    )
    changes = [(one[0], other[0]) for one, other in pairwise(scan) if one[1] != other[1]]
    right = (good, bad) in changes and not found["between"]
    return (
        "example" if case.seed is None else f"{case.seed}",
        f"`{case.shows}`",
        case.good,
        case.bad,
        f"{len(scan)}",
        f"first {'good' if fixed else 'bad'}: {good if fixed else bad}",
        ", ".join(one if fixed else other for one, other in changes),
        "yes" if right and len(changes) == 1 else "one of several" if right else "NO",
        f"{len(found['versions']) + 1}",
        f"{math.ceil(math.log2(len(scan))) + 1}",
        " ".join(found["options"]) or "none",
        f"{found['runs']}",
        f"{found['fetched']}",
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Bisect all cases, then test every release, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--cache", type=Path)
    cache = cache_folder(parser.parse_args(arguments).cache)
    with tempfile.TemporaryDirectory() as name:
        paths = [Path(name) / f"{number}.smt2" for number in range(len(CASES))]
        found = []
        for case, path in zip(CASES, paths, strict=True):
            path.write_bytes(script(case))
            found.append(bisected(case, path, cache))
        fetched = sum(each["fetched"] for each in found)
        runs = sum(each["runs"] for each in found)
        wheels = Wheels(PACKAGE, cache, None)
        scans = [scanned(case, path, wheels) for case, path in zip(CASES, paths, strict=True)]
    rows = [row(*each) for each in zip(CASES, found, scans, strict=True)]
    right = sum(line[7] == "yes" for line in rows)
    header = (
        "seed", "failure", "good", "bad", "releases", "found", "changes by testing all", "right",
        "runs of versions", "log2 + 1", "options needed", "runs in all", "downloads",
    )  # fmt: skip
    inputs = len({case.seed for case in CASES})
    releases = len({name for scan in scans for name, _ in scan})
    text = f"""# Bisection over the releases of z3

`python -m benchmarks.bisect`: {len(CASES)} changes of behaviour on {inputs} inputs.
{right} of {len(CASES)} are right. {runs} runs and {fetched} downloads in all; testing every release
takes {sum(map(len, scans))} runs and {releases} downloads.

- Failure: what a bad release prints for the input, with `{" ".join(OPTIONS)}`.
- An invalid model or assertion violation is looked for by its text on the inputs of seeds 5008,
  5098 and 5134. By the program's own failure, whose text differs between releases, bisection
  skipped releases there and missed these five changes.
- Runs of versions: two on the bad end, one on the good end, one on each release between that was
  tested. "Log2 + 1" is ceil(log2(releases)) + 1: all of these but the two on the bad end.
- Runs in all: with those for the options.
- Downloads: those that the lines above had not made.

{grid(header, rows)}
"""
    (RESULTS / "bisect.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
