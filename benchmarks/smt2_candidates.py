"""Runs solvers on random candidates: are our candidates well-formed and well-sorted?

`python -m benchmarks.smt2_candidates FOLDER [FOLDER ...] --count 1000 --out TABLE.md`

For each solver: random scripts that it accepts, and for each script a random candidate of the
search over its graph (moves on nodes, closing moves, kicks), which it should also accept. Nothing
is solved.
"""

from __future__ import annotations

import argparse
import multiprocessing
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from random import Random

import bitwuzla
import cvc5
import z3

from benchmarks import publish
from benchmarks.smt2_corpus import files
from reducekit.errors import ParseError
from reducekit.frontends.smt2 import Smt2
from reducekit.frontends.smt2.graph.build import build
from reducekit.frontends.smt2.graph.closing import CLOSING, LATE, RARE
from reducekit.frontends.smt2.graph.listing import list_commands
from reducekit.frontends.smt2.graph.moves import Candidate, Material, Moves
from reducekit.frontends.smt2.graph.printing import Style, Unprintable
from reducekit.frontends.smt2.language.view import ScriptView
from reducekit.frontends.smt2.thorough.kicks import kick

_PATIENCE = 20
"""Seconds after which a script is passed over."""
_MOST = 20_000
_CLOSING = 40
_DECLARING = ("declare", "define", "push", "pop", "set-logic", "reset")


def ask_z3(text: str) -> str:
    """Return what Z3 says against a script; nothing if it reads it."""
    try:
        z3.parse_smt2_string(text, ctx=z3.Context())
    except z3.Z3Exception as error:
        return str(error.args[0])
    return ""


def ask_cvc5(text: str) -> str:
    """Return what cvc5 says against a script; nothing if it reads it."""
    solver = cvc5.Solver(cvc5.TermManager())
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text, "script")
    try:
        symbols = parser.getSymbolManager()
        while not (command := parser.nextCommand()).isNull():
            if command.getCommandName().startswith(_DECLARING):
                said = command.invoke(solver, symbols)
                if "error" in said:
                    return str(said)
    except RuntimeError as error:
        return str(error)
    return ""


def ask_bitwuzla(text: str) -> str:
    """Return what Bitwuzla says against a script; nothing if it reads it."""
    try:
        bitwuzla.Parser(bitwuzla.TermManager(), bitwuzla.Options()).parse(text, True, False)
    except Exception as error:
        return str(error)
    return ""


SOLVERS: dict[str, Callable[[str], str]] = {
    "z3": ask_z3,
    "cvc5": ask_cvc5,
    "bitwuzla": ask_bitwuzla,
}


def candidate_of(view: ScriptView, random: Random) -> tuple[str, bytes] | None:
    """Return what a random candidate does, and the script that it is; None if there is none."""
    graph = build(view)
    moves = Moves(graph, Material(view.terms))
    if not moves.nodes:
        return None
    kind = random.random()
    found: list[Candidate] = []
    if kind < 0.6:
        found = list(islice(moves.of(random.choice(moves.nodes)), 60))
    elif kind < 0.85:
        found = list(islice(random.choice((*CLOSING, *LATE, *RARE))[1](moves), _CLOSING))
    else:
        kicked = kick(moves, random)
        found = [] if kicked is None else [kicked]
    if not found:
        return None
    candidate = random.choice(found)
    try:
        listing = list_commands(graph, Style.SHORTEST)
        printed, _ = listing.printed_again(
            candidate.graph, Style.SHORTEST, candidate.replaced, range(len(listing.commands))
        )
    except Unprintable:
        return None
    return candidate.what, printed.whole()


@dataclass(slots=True)
class Tally:
    """What a solver said of candidates."""

    tried: int = 0
    refused: int = 0
    inputs: int = 0
    """Scripts that it does not read itself."""
    by_move: Counter[str] = field(default_factory=Counter)
    examples: list[tuple[str, str, str]] = field(default_factory=list)
    """The file, the move, what was said."""


def _work(name: str, connection: multiprocessing.connection.Connection) -> None:
    """Answer questions: in a process of its own, as a solver may crash."""
    ask = SOLVERS[name]
    while True:
        connection.send(ask(connection.recv()))


class Worker:
    """A solver in a process of its own, started again when it crashes or hangs."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._start()

    def _start(self) -> None:
        self.connection, other = multiprocessing.Pipe()
        self.process = multiprocessing.Process(target=_work, args=(self.name, other), daemon=True)
        self.process.start()
        other.close()

    def ask(self, text: str) -> str | None:
        """Return what the solver says; None if it crashed or did not end."""
        try:
            self.connection.send(text)
            if self.connection.poll(_PATIENCE):
                return str(self.connection.recv())
        except (EOFError, OSError):
            pass
        self.process.kill()
        self._start()
        return None


def measure(name: str, paths: Sequence[Path], count: int, seed: int) -> Tally:
    """Ask a solver about random candidates of random scripts."""
    random, tally, worker = Random(seed), Tally(), Worker(name)
    known: dict[Path, ScriptView | None] = {}
    while tally.tried < count:
        path = random.choice(paths)
        if path not in known:
            known[path] = _readable(path, worker)
            tally.inputs += known[path] is None
        view = known[path]
        made = None if view is None else candidate_of(view, random)
        if made is None:
            continue
        what, text = made
        said = worker.ask(text.decode("utf-8", "surrogateescape"))
        if said is None:
            continue
        tally.tried += 1
        if said:
            tally.refused += 1
            tally.by_move[what] += 1
            tally.examples.append((path.name, what, " ".join(said.split())[:150]))
    return tally


def _readable(path: Path, worker: Worker) -> ScriptView | None:
    """Return a script if we and the solver read it, and all its terms have sorts."""
    text = path.read_bytes()
    try:
        view = Smt2().parse(text)
    except ParseError:
        return None
    said = worker.ask(text.decode("utf-8", "surrogateescape"))
    return view if said == "" else None


def table(found: dict[str, Tally], seed: int) -> Iterator[str]:
    """Yield the lines of a page."""
    yield "# Random candidates read by solvers\n"
    yield f"Made by `python -m benchmarks.smt2_candidates FOLDERS --seed {seed}`.\n"
    yield "| solver | candidates | read | refused, by move |"
    yield "|---|--:|--:|---|"
    for name, tally in found.items():
        share = 100 * (tally.tried - tally.refused) / max(1, tally.tried)
        moves = ", ".join(f"{what} {times}" for what, times in tally.by_move.most_common())
        yield f"| {name} | {tally.tried:,} | {share:.2f} % | {moves} |"
    yield "\nWhat was said, of the first few:\n"
    for name, tally in found.items():
        for path, what, said in tally.examples[:12]:
            yield f"- {name}, {path}, {what}: {said}"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--solvers", default=",".join(SOLVERS))
    parser.add_argument("--out", type=Path)
    given = parser.parse_args(arguments)
    paths = list(files(given.folders, _MOST))
    found = {
        name: measure(name, paths, given.count, given.seed) for name in given.solvers.split(",")
    }
    text = "\n".join(table(found, given.seed)) + "\n"
    publish(text, given.out)


if __name__ == "__main__":
    main()
