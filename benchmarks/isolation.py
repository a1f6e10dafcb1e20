"""What dd costs and leaves of a difference, beside undoing changes of the failing file only.

    python -m benchmarks.isolation [--pairs N]

200 lines of which 40 are edited: one is another, is gone, or has two new ones before it. A failure
needs 1, 3 or 10 of these edits; of 0, 5 or 15 pairs of edits, a file with one but not the other is
unresolved. Prints medians over N pairs of files: checks, changes left, bytes that differ.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from statistics import median
from typing import NamedTuple

from reducekit import Change, Frontend, Schedule, Unresolved, reduce
from reducekit.frontends.isolate import Isolate
from reducekit.frontends.isolate.changes import View, distance
from reducekit.passes import pass_

_LINES, _EDITS = 200, 40
NEEDED = (1, 3, 10)
TOGETHER = (0, 5, 15)


class Edit(NamedTuple):
    """What a text has, or has not, where the edit was made."""

    word: bytes
    there: bool

    def of(self, text: bytes) -> bool:
        """Return whether a text has the edit."""
        return (self.word in text) == self.there


class Case(NamedTuple):
    """A file that passes, one that fails, and the predicate."""

    good: bytes
    bad: bytes
    fails: Callable[[bytes], bool]


def case(seed: int, needed: int, together: int) -> Case:
    """Return the case of a seed."""
    random = Random(seed)
    good = [
        f"(assert (f{random.randrange(50)} x{n} {random.randrange(99)}))" for n in range(_LINES)
    ]
    bad, edits = list(good), list[Edit]()
    for at in sorted(random.sample(range(_LINES), _EDITS), reverse=True):
        match random.randrange(3):
            case 0:
                bad[at] = f"(assert (new{at} x{at}))"
                edits.append(Edit(b"(new%d " % at, there=True))
            case 1:
                del bad[at]
                edits.append(Edit(b" x%d " % at, there=False))
            case _:
                bad[at:at] = [f"(push {at})", f"(declare y{at})"]
                edits.append(Edit(b"(push %d)" % at, there=True))
    wanted = random.sample(edits, needed)
    pairs = [random.sample(edits, 2) for _ in range(together)]

    def fails(text: bytes) -> bool:
        if any(one.of(text) != other.of(text) for one, other in pairs):
            raise Unresolved
        return all(each.of(text) for each in wanted)

    return Case("\n".join(good).encode(), "\n".join(bad).encode(), fails)


@pass_("changes")
def undo(view: View) -> Iterator[Change]:
    """Undo each change of the failing file."""
    return map(view.undone, range(1, len(view.before)))


class OneSided(Frontend):
    """The same format where only the failing file moves."""

    name = "one-sided"

    def __init__(self, path: str) -> None:
        self.baseline = Path(path).read_bytes()

    def parse(self, text: bytes) -> View:
        """Compare a text with the passing one."""
        return View(text, self.baseline)

    def order(self, text: bytes) -> tuple[int, bytes]:
        """Return by how many bytes a text differs."""
        return distance(text, self.baseline), text

    def schedule(self, passes: object) -> Schedule:
        """Return the pass that knows nothing of candidates that pass."""
        return Schedule(rounds=(undo,))


def measured(each: Case, frontend: Callable[[str], Frontend], folder: Path) -> tuple[int, int, int]:
    """Return the checks, the changes left, and the bytes that differ."""
    path = folder / "good"
    path.write_bytes(each.good)
    report = reduce(each.bad, each.fails, format=frontend(str(path)))
    passing = each.good if report.passing is None else report.passing
    left = View(report.text, passing).changes
    return report.counts.checks, len(left), distance(report.text, passing)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pairs", type=int, default=10, metavar="N")
    count = parser.parse_args().pairs
    print("| needed | pairs that go together | one side: checks | changes | bytes "
          "| both: checks | changes | bytes |\n|--:|--:|--:|--:|--:|--:|--:|--:|")  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        for needed in NEEDED:
            for together in TOGETHER:
                row = [needed, together]
                for frontend in (OneSided, Isolate):
                    found = [measured(case(seed, needed, together), frontend, Path(folder))
                             for seed in range(count)]  # fmt: skip
                    row += [round(median(each)) for each in zip(*found, strict=True)]
                print(f"| {' | '.join(map(str, row))} |", flush=True)


if __name__ == "__main__":
    main()
