"""Random accepted edits on BTOR files: do solvers agree that the results are well-sorted?

    python -m benchmarks.btor_edits FOLDER [--edits 500] [--out TABLE.md]

Every file below FOLDER whose name ends in `.btor` or `.btor2` is reduced with
random oracles, by the passes of all algorithms in any order. When no pass finds anything more, the
walk restarts from the file, until the number of edits is accepted. Each result is read by the
strict reader, and parsed by a solver:

* BTOR1 by Debian's `boolector` (1.5.118; `-de`, which parses and prints). It has no registers:
  of a file with `next` or `anext` it sees what is left without those lines. Older dialects are
  converted.
* Files with `lambda` by PyBoolector.
* BTOR2 by bitwuzla, which is for combinational files: it sees states as inputs, and neither
  `init`, `next` nor properties but constraints.

Counts are exact for a seed.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from itertools import count, islice
from pathlib import Path
from typing import NamedTuple

from reducekit.document import Patched
from reducekit.errors import ParseError
from reducekit.frontend import Pass
from reducekit.frontends.btor import Btor
from reducekit.frontends.btor.convert.conversion import convert
from reducekit.frontends.btor.model.dag import Dag
from reducekit.frontends.btor.model.operators import Dialect, Op
from reducekit.frontends.btor.model.reader import read
from reducekit.frontends.btor.model.view import BtorView
from reducekit.frontends.btor.model.writer import canonical, write
from reducekit.frontends.btor.order import Size
from reducekit.frontends.btor.schedule import own_schedule, thesis_schedule
from reducekit.registry import strategy
from reducekit.search.problem import Search
from reducekit.search.strategy import Strategy

RESULTS = Path(__file__).parent / "results" / "btor_edits.md"
EDITS, SEED = 500, 1
THESIS = ("ddmin", "hdd", "hdd+", "bfs", "lw", "deltabtor", "changeref", "changeref+")
_CANDIDATES = 300
"""What is tried of a pass before another one has its turn."""
_FRUITLESS = 20
"""Consecutive walks without an accepted edit, after which a file is given up."""
_DRIVER = Path(__file__).resolve().parents[1] / "examples" / "btor_pyboolector.py"
_ANSWERED = (10, 20)


class Searching(NamedTuple):
    """A pass, and the algorithm that searches what it offers."""

    each: Pass
    strategy: Strategy

    def start(self, view: BtorView) -> Search | None:
        """Return the search over a text; None if there is nothing to do."""
        problem = self.each.problem(view)
        return None if problem is None else self.strategy.start(problem)


@cache
def searches() -> tuple[Searching, ...]:
    """Return all passes of the default, and that of the thesis with all its algorithms."""
    own = own_schedule(simplify=True)
    passes = {each.name: each for each in (*own.once, *own.rounds, *own.closing)}
    adaptive, *thesis = map(strategy, ("adaptive", *THESIS))
    return (
        *(Searching(each, adaptive) for each in passes.values()),
        *(
            Searching(each, algorithm)
            for simplify in (False, True)
            for each in thesis_schedule(simplify=simplify).once
            for algorithm in thesis
        ),
    )


def walk(text: bytes, seed: int) -> Iterator[bytes]:
    """Yield the accepted texts of a random walk, each smaller than the one before it.

    It ends when no pass finds anything. Raises ParseError if a text cannot be read.
    """
    chance = random.Random(seed)
    everything = searches()
    view = Btor().parse(text)
    left: list[Searching] = chance.sample(everything, len(everything))
    while left:
        search = left.pop().start(view)
        if search is None:
            continue
        likely = chance.choice((0.02, 0.1, 0.3))
        last = None
        for last in accepted(search, view, lambda: chance.random() < likely):  # noqa: B023
            yield last
        if last is not None:
            view = Btor().parse(last)
            left = chance.sample(everything, len(everything))


def accepted(search: Search, view: BtorView, verdict: Callable[[], bool]) -> Iterator[bytes]:
    """Yield the smaller texts that a search finds if an oracle says so."""
    base = Patched(view.document)
    before = Size(base.render())
    for _ in range(_CANDIDATES):
        change = search.propose()
        if change is None:
            return
        ok = False
        if change.edits:
            edits = dict(change.edits)
            text = base.render_with(edits)
            ok = Size(text) < before and verdict()
            if ok:
                yield text
                base, before = base.with_(edits), Size(text)
        search = search.after(ok)


def edited(text: bytes, edits: int, seed: int) -> Iterator[bytes]:
    """Yield `edits` accepted texts, from as many walks as needed; fewer if there are no more."""
    fruitless = 0
    for again in count():
        if not edits or fruitless == _FRUITLESS:
            return
        fruitless += 1
        for found in islice(walk(text, seed * 1_000_003 + again), edits):
            edits -= 1
            fruitless = 0
            yield found


def combinational(dag: Dag) -> bytes:
    """Return the text of a graph for solvers that know no registers, without symbols.

    (bitwuzla accepts none after a `sort`.)
    """
    left_out = {Op.NEXT, Op.INIT}
    if dag.dialect is Dialect.BTOR2:
        left_out |= {Op.BAD, Op.FAIR, Op.JUSTICE, Op.OUTPUT}
    kept = []
    for line, text in enumerate(canonical(dag, renumber=False).splitlines()):
        words = text.split(b" ")
        if dag.op[line] == Op.STATE:
            words[1] = b"input"
        if dag.op[line] not in left_out:
            kept.append(b" ".join(words[:-1] if line in dag.symbols else words) + b"\n")
    return b"".join(kept)


def boolector(text: bytes, folder: Path) -> str:
    """Return what Debian's `boolector` has against a text; empty if nothing."""
    path = folder / "in.btor"
    path.write_bytes(text)
    run = subprocess.run(["boolector", "-de", "-rwl0", str(path)], capture_output=True, timeout=60)
    return "" if run.returncode == 0 else _words(run)


def pyboolector(text: bytes, folder: Path) -> str:
    """Return what PyBoolector has against a text; empty if nothing. It has to solve it, too."""
    path = folder / "in.btor"
    path.write_bytes(text)
    run = subprocess.run([sys.executable, str(_DRIVER), str(path)], capture_output=True, timeout=60)
    return "" if run.returncode in _ANSWERED else _words(run)


def bitwuzla(text: bytes, folder: Path) -> str:
    """Return what bitwuzla has against a text; empty if nothing."""
    path = folder / "in.btor2"
    path.write_bytes(text)
    module = import_module("bitwuzla")  # without types
    try:
        parser = module.Parser(module.TermManager(), module.Options(), "btor2")
        parser.parse(str(path), True)
    except module.BitwuzlaException as error:
        return str(error)
    return ""


def _words(run: subprocess.CompletedProcess[bytes]) -> str:
    return f"{run.returncode} {(run.stdout + run.stderr).decode(errors='replace').strip()}"


CHECKERS: Mapping[Dialect, Callable[[bytes, Path], str]] = {
    Dialect.OLD: boolector,
    Dialect.BTOR1: boolector,
    Dialect.FUN: pyboolector,
    Dialect.BTOR2: bitwuzla,
}


def objection(text: bytes, folder: Path) -> str:
    """Return what a reader or a solver has against a text; empty if nothing."""
    try:
        dag = read(text)
    except ParseError as error:
        return str(error)
    if write(dag) != text:
        return "printed otherwise"
    if dag.dialect is Dialect.BTOR_2007:
        return ""  # read only, and no solver that is still there takes it
    shown = convert(dag, Dialect.BTOR1) if dag.dialect is Dialect.OLD else dag
    return CHECKERS[dag.dialect](combinational(shown), folder)


class Row(NamedTuple):
    """What came of a file: its lines, edits, distinct texts, and who checked them."""

    name: str
    lines: int
    edits: int
    distinct: int
    shortest: int
    checked: str
    objections: Sequence[tuple[bytes, str]]


def measure(name: str, text: bytes, edits: int, seed: int, folder: Path) -> Row:
    """Edit a file and check every result; equal texts are checked once."""
    seen: dict[bytes, str] = {}
    total = 0
    for found in edited(text, edits, seed):
        total += 1
        if found not in seen:
            seen[found] = objection(found, folder)
    dialects = {read(each).dialect for each, what in seen.items() if not what}
    names = {CHECKERS[each].__name__ if each in CHECKERS else "reader" for each in dialects}
    return Row(
        name,
        len(read(text)),
        total,
        len(seen),
        min((each.count(b"\n") for each in seen), default=0),
        " and ".join(sorted(names)),
        [(each, what) for each, what in seen.items() if what],
    )


def table(rows: Iterable[Row], edits: int, seed: int) -> str:
    """Return the table as Markdown."""
    lines = [
        "# Random accepted edits on BTOR files",
        "",
        f"`python -m benchmarks.btor_edits FOLDER --edits {edits} --seed {seed}`: lines of each",
        "file, accepted edits, distinct texts among them, lines of the shortest, who parsed each",
        "text beside the strict reader, and to how many of them it objected.",
        "",
        "| file | lines | edits | distinct | shortest | checked by | objections |",
        "|---|--:|--:|--:|--:|---|--:|",
    ]
    lines += [
        f"| {row.name} | {row.lines} | {row.edits} | {row.distinct} | {row.shortest} "
        f"| {row.checked} | {len(row.objections)} |"
        for row in rows
    ]
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str]) -> int:
    """Edit all files of a folder and write the table; return 1 if there is an objection."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.btor_edits")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--edits", type=int, default=EDITS)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args(arguments)
    files = sorted(each for each in options.folder.rglob("*.btor*") if each.is_file())
    rows = []
    with tempfile.TemporaryDirectory(prefix="btor-edits-") as folder:
        for path in files:
            name = str(path.relative_to(options.folder))
            row = measure(name, path.read_bytes(), options.edits, options.seed, Path(folder))
            rows.append(row)
            print(*row[:6], len(row.objections), flush=True)
            for text, what in row.objections[:1]:
                print(what, text.decode(errors="replace"), sep="\n", file=sys.stderr, flush=True)
    options.out.parent.mkdir(exist_ok=True)
    options.out.write_text(table(rows, options.edits, options.seed))
    return int(any(row.objections for row in rows))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
