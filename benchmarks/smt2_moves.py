"""What each closing move of SMT-LIB's graph gains: it is switched off on cases made by the hundred.

    python -m benchmarks.smt2_moves ROWS.tsv [CASES...] > benchmarks/results/smt2_moves_off.md

The cases are folders that `benchmarks.smt2_faults` made; rows that are there are not made again,
and without cases the table is printed. Each case is reduced as it is, which counts what each move
tries, and how much of that is accepted. Then each move is switched off in the cases in which it
succeeded: in the others every candidate of it failed, so without it the result is the same.
"""

import argparse
import csv
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

import msgspec

from benchmarks.smt2_tables import tokens
from reducekit.api import reduce
from reducekit.errors import NotInterestingError
from reducekit.events import Checked, Event
from reducekit.frontends.smt2.graph import descent
from reducekit.frontends.smt2.graph.closing import CLOSING, Closing
from reducekit.frontends.smt2.graph.site import Candidate, Site

_MOVE = "closing move: "


class Row(NamedTuple):
    """A reduction without a move, or with all."""

    case: str
    off: str
    finished: bool
    tokens: int
    checks: int
    moves: str
    """How often each was tried and accepted, as JSON."""

    def counts(self, move: str) -> Sequence[int]:
        """Return how often a move was tried and accepted."""
        found: dict[str, list[int]] = msgspec.json.decode(self.moves)
        return found.get(move, (0, 0))


def _named(name: str, move: Closing) -> Closing:
    def named(site: Site) -> Iterator[Candidate]:
        return (each._replace(what=_MOVE + name) for each in move(site))

    return named


@contextmanager
def without(name: str) -> Iterator[None]:
    """Leave a move out in the body; the others are named in the events."""
    kept = [(each, _named(each, move)) for each, move in CLOSING if each != name]
    with patch.object(descent, "CLOSING", kept):
        yield


def run(case: Path, off: str, cap: float) -> Row:
    """Reduce a case."""
    tried, accepted = Counter[str](), Counter[str]()

    def listen(event: Event) -> None:
        if isinstance(event, Checked) and not event.remembered and event.what.startswith(_MOVE):
            tried[event.what.removeprefix(_MOVE)] += 1
            accepted[event.what.removeprefix(_MOVE)] += event.interesting

    with without(off):
        report = reduce(
            (case / "input.smt2").read_bytes(), oracle=str(case / "oracle"), format="smt2",
            journal=False, max_time=cap, listen=listen,
        )  # fmt: skip
    moves = msgspec.json.encode({name: [count, accepted[name]] for name, count in tried.items()})
    checks, size = report.counts.checks, tokens(report.text)
    return Row(case.name, off, report.stopped is None, size, checks, moves.decode())


def read(path: Path) -> dict[tuple[str, str], Row]:
    """Return the rows by case and move."""
    if not path.exists():
        return {}
    with path.open(newline="", encoding="utf-8") as file:
        found = [msgspec.convert(each, Row, strict=False) for each in csv.reader(file)]
    return {(each.case, each.off): each for each in found}


def measure(path: Path, case: Path, cap: float) -> None:
    """Add the rows of a case."""
    rows = read(path)

    def row(off: str) -> Row:
        known = rows.get((case.name, off))
        if known is not None:
            return known
        made = run(case, off, cap)
        with path.open("a", newline="", encoding="utf-8") as file:
            csv.writer(file).writerow(made)
        return made

    every = row("")
    for name, _ in CLOSING:
        if every.finished and every.counts(name)[1]:
            row(name)


def table(rows: dict[tuple[str, str], Row]) -> Iterator[str]:
    """Yield the lines of the table, over the cases with all rows."""
    cases = [
        each
        for each in rows.values()
        if not each.off
        and each.finished
        and all((each.case, name) in rows for name, _ in CLOSING if each.counts(name)[1])
    ]
    before, checks = sum(each.tokens for each in cases), sum(each.checks for each in cases)
    yield f"{len(cases)} cases, {before:,} tokens left after {checks:,} checks.\n"
    yield "| off | tried | accepted | cases | tokens more | % | worst case | checks more |"
    yield "|---|--:|--:|--:|--:|--:|--:|--:|"
    for name, _ in CLOSING:
        tried, accepted = (sum(each.counts(name)[k] for each in cases) for k in (0, 1))
        both = [(each, rows[each.case, name]) for each in cases if each.counts(name)[1]]
        more = [new.tokens - old.tokens for old, new in both]
        saved = sum(each.counts(name)[0] for each in cases if not each.counts(name)[1])
        others = sum(new.checks - old.checks for old, new in both) - saved
        yield (
            f"| {name} | {tried:,} | {accepted:,} | {len(both)} | {sum(more):+,} "
            f"| {100 * sum(more) / max(1, before):+.2f} | {max(more, default=0):+,} | {others:+,} |"
        )


def main() -> None:
    """Reduce the cases, and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("rows", type=Path)
    parser.add_argument("cases", type=Path, nargs="*", help="folders with input.smt2 and oracle")
    parser.add_argument("--cap", type=float, default=600.0, help="seconds for each reduction")
    given = parser.parse_args()
    for case in given.cases:
        with suppress(NotInterestingError):  # where the machine is too busy for the oracle's limit
            measure(given.rows, case, given.cap)
    print("# SMT-LIB: a closing move switched off\n", *table(read(given.rows)), sep="\n")


if __name__ == "__main__":
    main()
