"""Make the cases: draw scripts, see what each reaches, choose instructions that few do."""

import argparse
import csv
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, fields
from functools import partial
from itertools import islice
from pathlib import Path
from random import Random

from elftools.elf.elffile import ELFFile

from reducekit.frontends.trace.player.faults import instructions
from reducekit.hunt.inputs import generation_of
from reducekit.offers import made_by, with_defaults

_TRAPS = 60_000
"""Instructions of a solver that are looked at, drawn from all: each is a signal in every run."""
_RARE = 3
"""Scripts that reach it, at most."""
_EACH = 3
"""Cases of a script, at most."""
_SECONDS = 4
_ANSWERED = (0, 1, 10, 20)
"""Exit statuses of solvers that did not fail; cvc5's, too, of what it does not support."""


@dataclass(frozen=True, slots=True)
class Solver:
    """A program, and the object that its traps are in."""

    name: str
    command: tuple[str, ...]
    library: str = ""
    """Part of the object's name; empty: the program itself."""
    suffix: str = ".smt2"
    """Of the files that it reads."""

    def code(self) -> str:
        """Return the path of the object."""
        listed = subprocess.run(
            ["ldd", self.command[0]], capture_output=True, check=True, text=True
        )
        found = re.search(rf"{re.escape(self.library)}\S* => (\S+)", listed.stdout)
        return found[1] if self.library and found else self.command[0]


SOLVERS = (
    Solver("z3", ("/usr/bin/z3",)),
    Solver("cvc5", ("/usr/bin/cvc5", "--strings-exp", "--fp-exp", "--incremental"), "libcvc5.so"),
)


@dataclass(frozen=True, slots=True)
class Script:
    """A random script, and the command that makes it again."""

    text: bytes
    made_by: str


@dataclass(frozen=True, slots=True)
class Case:
    """A solver with a trap, as a line of `cases.tsv`."""

    case: str
    solver: str
    address: str
    """Of the instruction, from the start of the object."""
    bytes: int
    made_by: str


def scripts(dice: Random) -> Iterator[Script]:
    """Yield random scripts without end, of some hundred bytes to some hundred thousand.

    Two of three are of any logic, the others graphs of bit-vectors and arrays.
    """
    generation = generation_of("smt2")
    assert generation is not None
    while True:
        given: dict[str, object] = {"nodes": dice.choice((300, 1000, 3000)), "vary": True}
        if dice.random() < 2 / 3:
            given = {
                "logic": "any",
                "asserts": dice.choice((5, 10, 20, 40, 80)),
                "levels": dice.choice((4, 5, 6, 7)),
                "symbols": dice.choice((2, 3, 5)),
                "queries": dice.choice((1, 1, 2, 3)),
            }
        seed = dice.randrange(1 << 30)
        values = {**with_defaults(generation.options, given), "seed": seed}
        with generation.make(values) as generator:
            text = generator.generate(seed).text
            if 1500 < len(text) < 300_000:
                yield Script(text, made_by("smt2", generator.words(seed)))


def addresses(path: str) -> list[int]:
    """Return where the instructions of an object begin."""
    found: list[int] = []
    with open(path, "rb") as file:
        section = ELFFile(file).get_section_by_name(".text")
        assert section is not None
        first, code, at = section["sh_addr"], section.data(), 0
    while at < len(code):
        end = 1  # past a byte that is no instruction
        for offset, length in instructions(code[at:]):
            found.append(first + at + offset)
            end = offset + length
        at += end
    return found


def run(solver: Solver, file: Path, trap: Path, given: Mapping[str, str]) -> int | None:
    """Run a solver with traps; return its exit status, None if it takes too long."""
    environment = {
        **os.environ, "TRAP_LIBRARY": solver.library, "LD_PRELOAD": str(trap), **given
    }  # fmt: skip
    words = [*solver.command, str(file)]
    try:
        done = subprocess.run(
            words, env=environment, capture_output=True, timeout=_SECONDS, check=False
        )
        return done.returncode
    except subprocess.TimeoutExpired:
        return None


def reached(
    solver: Solver, trap: Path, traps: Path, folder: Path, numbered: tuple[int, Script]
) -> frozenset[str]:
    """Return which of the traps a script reaches; none if the solver gives no answer."""
    number, script = numbered
    file, noted = folder / f"{number}{solver.suffix}", folder / f"{number}.reached"
    file.write_bytes(script.text)
    given = {"TRAP_FILE": str(traps), "TRAP_REACHED": str(noted)}
    if run(solver, file, trap, given) not in _ANSWERED:
        return frozenset()
    return frozenset(noted.read_text().split())


def rare_traps(
    solver: Solver, some: Sequence[Script], trap: Path, folder: Path, dice: Random
) -> list[list[str]]:
    """Return for each script which instructions it reaches that few others do."""
    every, traps = addresses(solver.code()), folder / "traps"
    drawn = dice.sample(every, min(_TRAPS, len(every)))
    traps.write_text("".join(f"{address:x}\n" for address in drawn))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        reach = list(pool.map(partial(reached, solver, trap, traps, folder), enumerate(some)))
    often = Counter(address for each in reach for address in each)
    return [sorted(address for address in each if often[address] <= _RARE) for each in reach]


def built_trap(output: Path) -> Path:
    """Compile what makes an instruction a trap, into the folder of the cases."""
    trap = (output / "trap.so").resolve()
    source = Path(__file__).with_name("trap.c")
    subprocess.run(["cc", "-O", "-shared", "-fPIC", "-o", trap, source], check=True)
    return trap


def make(output: Path, seed: int, count: int, most: int, only: Sequence[str]) -> Iterator[Case]:
    """Write the cases, as many of each solver, and yield what they are."""
    trap = built_trap(output)
    solvers = [each for each in SOLVERS if each.name in only]
    for solver in solvers:
        dice = Random(f"{seed} {solver.name}")
        some = list(islice(scripts(dice), most))
        with tempfile.TemporaryDirectory() as name:
            rare = rare_traps(solver, some, trap, Path(name), dice)
        places = [(number, address) for number, each in enumerate(rare) for address in each]
        dice.shuffle(places)
        yield from islice(_chosen(solver, some, places, trap, output), -(-count // len(solvers)))


def _chosen(
    solver: Solver,
    some: Sequence[Script],
    places: Sequence[tuple[int, str]],
    trap: Path,
    output: Path,
) -> Iterator[Case]:
    """Write the cases of a solver that fail every time."""
    taken: Counter[int] = Counter()
    for number, address in places:
        if taken[number] == _EACH:
            continue
        text, made_by = some[number].text, some[number].made_by
        if not fails(solver, text, trap, address):
            continue
        name = f"{solver.name}-{sum(taken.values()):03d}"
        taken[number] += 1
        write(output / name, solver, text, trap, address)
        yield Case(name, solver.name, address, len(text), made_by)


def fails(solver: Solver, text: bytes, trap: Path, address: str) -> bool:
    """Return whether a solver with a trap fails every time."""
    with tempfile.NamedTemporaryFile(suffix=solver.suffix) as file:
        file.write(text)
        file.flush()
        tried = partial(run, solver, Path(file.name), trap, {"TRAP_AT": address})
        return all(tried() == -signal.SIGTRAP for _ in range(3))


def make_again(output: Path, table: Path) -> list[Case]:
    """Write the cases of a table; return them. Exit if a script is of another size than there."""
    trap, solvers = built_trap(output), {each.name: each for each in SOLVERS}
    with table.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    cases = [
        Case(row["case"], row["solver"], row["address"], int(row["bytes"]), row["made_by"])
        for row in rows
    ]
    for case in cases:
        words = [sys.executable, "-m", *shlex.split(case.made_by)]
        text = subprocess.run(words, capture_output=True, check=True).stdout
        if len(text) != case.bytes:
            sys.exit(f"{case.case}: {case.made_by} makes another script by now")
        write(output / case.case, solvers[case.solver], text, trap, case.address)
    return cases


def write(folder: Path, solver: Solver, text: bytes, trap: Path, address: str) -> None:
    """Write a case: the script, and the oracle, which accepts what reaches the address."""
    folder.mkdir(exist_ok=True)
    (folder / f"input{solver.suffix}").write_bytes(text)
    (folder / "oracle").write_text(_oracle(solver, trap, address))
    (folder / "oracle").chmod(0o755)


def _oracle(solver: Solver, trap: Path, address: str) -> str:
    settings = (f"TRAP_LIBRARY={solver.library}", f"TRAP_AT={address}", f"LD_PRELOAD={trap}")
    words = shlex.join(["timeout", str(_SECONDS), "env", *settings, *solver.command])
    status = 128 + signal.SIGTRAP
    return f'#!/bin/sh\nulimit -c 0\n{words} "$1" >/dev/null 2>&1 </dev/null\n[ $? = {status} ]\n'


def main(arguments: Sequence[str] | None = None) -> None:
    """Make the cases that are asked for."""
    names = [each.name for each in SOLVERS]
    parser = argparse.ArgumentParser(prog="python -m benchmarks.smt2_faults", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=90, help="cases")
    parser.add_argument("--scripts", type=int, default=150, help="scripts drawn for each solver")
    parser.add_argument("--solver", choices=names, action="append", help="default: all")
    parser.add_argument("--again", type=Path, metavar="TABLE", help="make the cases of a table")
    given = parser.parse_args(arguments)
    given.folder.mkdir(parents=True, exist_ok=True)
    if given.again:
        cases = make_again(given.folder, given.again)
    else:
        only = given.solver or names
        cases = list(make(given.folder, given.seed, given.count, given.scripts, only))
    with (given.folder / "cases.tsv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [each.name for each in fields(Case)], delimiter="\t")
        writer.writeheader()
        writer.writerows(map(asdict, cases))
    print(f"{len(cases)} cases in {given.folder}")


if __name__ == "__main__":
    main()
