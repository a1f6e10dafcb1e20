"""Checks the reader of SMT-LIB on a folder of scripts: does each parse, print back, and have sorts?

`python -m benchmarks.smt2_corpus FOLDER [FOLDER ...] --out TABLE.md`

A term has a sort if the analysis finds one for it. Solvers' test suites contain
files that are wrong on purpose, so the files with the most unsorted terms are listed, with the
operators of those terms.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks import publish
from reducekit.errors import ParseError
from reducekit.frontends.smt2 import Smt2
from reducekit.frontends.smt2.graph.build import build
from reducekit.frontends.smt2.graph.listing import list_commands
from reducekit.frontends.smt2.graph.printing import Style, Unprintable

SUFFIXES = (".smt2", ".sy", ".sl")
_GRAPH_NODES = 100_000
_SHOWN = 15


@dataclass(frozen=True, slots=True)
class File:
    """What was found about a file."""

    path: Path
    problem: str = ""
    """Why it does not parse; empty if it does."""
    identical: bool = True
    """Whether rendering it gives back its bytes."""
    terms: int = 0
    sorted: int = 0
    """How many terms have a sort."""
    heads: Counter[str] = field(default_factory=Counter)
    """Of the terms without a sort whose arguments all have one: their operators."""
    graph: str = ""
    """Whether its graph could be built and printed: `yes`, `no`, or why it was not tried."""


def read(path: Path) -> File:
    """Read a file."""
    text = path.read_bytes()
    try:
        view = Smt2().parse(text)
    except ParseError as error:
        return File(path, str(error).splitlines()[0])
    document, script = view.document, view.script
    identical = document.render({}) == text
    heads: Counter[str] = Counter()
    terms = known = 0
    unknown: set[int] = set()
    for node in range(len(document) - 1, 0, -1):
        if not script.is_term[node]:
            continue
        terms += 1
        if script.sort[node] is not None:
            known += 1
            continue
        if unknown.isdisjoint(range(node + 1, document.stop[node])):
            first = node + (document.stop[node] > node + 1)
            heads[document.source(first).decode(errors="replace")[:40]] += 1
        unknown.add(node)
    graph = "large"
    if len(document) <= _GRAPH_NODES:
        try:
            list_commands(build(view), Style.SHORTEST)
            graph = "yes"
        except Unprintable:
            graph = "no"
    return File(path, "", identical, terms, known, heads, graph)


def files(folders: Iterable[Path], most: int) -> Iterator[Path]:
    """Yield the scripts in some folders, in order, up to a maximum size in bytes."""
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.suffix in SUFFIXES and path.is_file() and path.stat().st_size <= most:
                yield path


def table(found: Sequence[File]) -> str:
    """Return what was found as Markdown."""
    read_ones = [each for each in found if not each.problem]
    terms, known = (
        sum(each.terms for each in read_ones),
        sum(each.sorted for each in read_ones),
    )
    graphs = Counter(each.graph for each in read_ones)
    whole = sum(each.terms == each.sorted for each in read_ones)
    rows = [
        ("files", f"{len(found):,}"),
        ("that parse", f"{len(read_ones):,}"),
        ("that print back byte for byte", f"{sum(each.identical for each in read_ones):,}"),
        ("terms", f"{terms:,}"),
        ("with a sort", f"{known:,} ({100 * known / max(1, terms):.3f} %)"),
        ("files with a sort for every term", f"{whole:,}"),
        ("files that are read as a graph", f"{graphs['yes']:,} (too large: {graphs['large']:,})"),
    ]
    lines = ["# SMT-LIB scripts read", "", "| | |", "|---|---|"]
    lines += [f"| {name} | {value} |" for name, value in rows]
    heads: Counter[str] = Counter()
    of: dict[str, set[Path]] = {}
    for each in read_ones:
        heads.update(each.heads)
        for head in each.heads:
            of.setdefault(head, set()).add(each.path)
    lines += ["", "Operators of terms without a sort whose arguments have one:", ""]
    lines += ["| operator | terms | files | one of them |", "|---|--:|--:|---|"]
    lines += [
        f"| `{head.replace('|', '¦')}` | {count} | {len(of[head])} | {min(of[head]).name} |"
        for head, count in heads.most_common(_SHOWN)
    ]
    lines += ["", "Files that do not parse:", ""]
    lines += [f"- {each.path.name}: {each.problem}" for each in found if each.problem][:_SHOWN]
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--most", type=int, default=1_000_000, help="bytes of a file, at most")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--jobs", type=int, default=1)
    given = parser.parse_args(arguments)
    paths = list(files(given.folders, given.most))
    with ProcessPoolExecutor(given.jobs) as pool:
        text = table(list(pool.map(read, paths, chunksize=50)))
    publish(text, given.out)


if __name__ == "__main__":
    main()
