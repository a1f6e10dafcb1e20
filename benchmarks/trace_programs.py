"""Random traces as programs: do they compile alone, and end as the replay of their trace?

    python -m benchmarks.trace_programs [--count N] [--faulty WORK]

Each API is played on a real library; IPASIR also on one of a few lines that fails by a signal, and
one that gives wrong answers (a program checks the last answer). WORK is that of
`benchmarks.trace_mobical`: faulty builds of CaDiCaL, each with the trace that reducekit left and
the one that mobical left. Boolector's model makes no traces: it has those of its test. python-sat's
library has no functions of IPASIR to link with, so that is for Python alone. Needs a C and a C++
compiler.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from reducekit.errors import UsageError
from reducekit.frontends.trace.formats import print_trace, read_trace
from reducekit.frontends.trace.generate.generator import Generator
from reducekit.frontends.trace.language.calls import Trace
from reducekit.frontends.trace.model.loader import load_model
from reducekit.frontends.trace.player import Library, find_library
from reducekit.frontends.trace.player.live_replay import LiveReplay
from reducekit.frontends.trace.programs import program
from tests.frontends.trace.player.test_every_call import CASES, calls_of
from tests.frontends.trace.player.test_stock_cadical import stock

TINY = Path(__file__).parents[1] / "tests" / "frontends" / "trace" / "player" / "tiny_ipasir.c"
COMPILERS = {"c": ["gcc", "-std=c11"], "cpp": ["g++", "-std=c++17"]}
FORMS = {
    "lingeling": "lgl",
    "cadical": "mobical",
    "mobical": "mobical",
    "boolector": "boolector",
}
_SECONDS = 60


class Made(NamedTuple):
    """Programs of an API: the traces, each with its library, and the languages they are made in."""

    what: str
    languages: tuple[str, ...]
    played: Sequence[tuple[Library, Trace]]


def libraries(folder: Path) -> Iterator[tuple[str, Library, tuple[str, ...]]]:
    """Yield what plays random traces, with the languages that can call it."""
    yield "IPASIR, of python-sat", find_library("ipasir", "cadical153"), ("py",)
    for fault, said in (("BUG", "IPASIR, fails by a signal"), ("WRONG", "IPASIR, wrong answers")):
        path = folder / f"lib{fault.lower()}.so"
        words = ["gcc", "-shared", "-fPIC", f"-D{fault}", str(TINY), "-o", str(path)]
        subprocess.run(words, check=True)
        yield said, find_library("ipasir", str(path)), ("c", "cpp", "py")
    yield "Lingeling", find_library("lingeling", "boolector-lingeling"), ("c", "cpp", "py")
    yield "PicoSAT", find_library("picosat"), ("c", "cpp", "py")
    yield "CaDiCaL's class", find_library("cadical", stock("cvc5")), ("cpp",)


def random_traces(library: Library, count: int) -> Iterator[Trace]:
    """Yield random traces, as they are read from a file."""
    api = library.interface.api
    generator = Generator(load_model(api), variables=8)
    form = FORMS.get(api, "words")
    for seed in range(count):
        with LiveReplay(library) as live:
            live.begin()
            made = generator.generate(seed, live.play)
            live.finish()
        yield read_trace(print_trace(made.calls, form), form)


def of_boolector() -> Iterator[tuple[Library, Trace]]:
    """Yield the traces of the test that makes every call of Boolector's model."""
    library = find_library("boolector")
    for api, line in CASES:
        if api == "boolector":
            yield library, read_trace(print_trace(calls_of(line), "boolector"), "boolector")


def of_faults(work: Path, name: str) -> Iterator[tuple[Library, Trace]]:
    """Yield the traces that a reducer left of those of faulty builds of CaDiCaL."""
    for path in sorted(work.glob(f"*/traces/{name}.trace")):
        library = find_library("mobical", str(path.parents[1] / "libcadical.so"))
        yield library, read_trace(path.read_bytes(), "mobical")


def all_made(folder: Path, count: int, faulty: Path | None) -> Iterator[Made]:
    """Yield all rows of the table."""
    for what, library, languages in libraries(folder):
        played = [(library, trace) for trace in random_traces(library, count)]
        yield Made(what, languages, played)
    yield Made("Boolector", ("c", "cpp", "py"), [*of_boolector()])
    if faulty:
        for name in ("reducekit", "mobical"):
            what = f"faulty CaDiCaL, reduced by {name}"
            yield Made(what, ("cpp",), [*of_faults(faulty, name)])


def replayed(folder: Path, trace: Trace, library: Library) -> int:
    """Return the status with which `reducekit replay` ends, or its signal, negative."""
    api = library.interface.api
    path = folder / "in.trace"
    path.write_bytes(print_trace(trace.calls, FORMS.get(api, "words")))
    words = ["replay", str(path), "--model", api, "--library", library.path]
    done = subprocess.run([sys.executable, "-m", "reducekit", *words], capture_output=True)
    return done.returncode


def ending(folder: Path, source: bytes, language: str, library: Library) -> int:
    """Compile a program if that is needed, and return the status with which it ends."""
    path = folder / f"bug.{language}"
    path.write_bytes(source)
    words = [sys.executable, str(path)]
    if language in COMPILERS:
        words = [str(folder / "bug")]
        place = Path(library.path)
        linked = [str(place), f"-Wl,-rpath,{place.parent},--allow-shlib-undefined"]
        compiler = [*COMPILERS[language], "-Wall", "-Wextra", "-Werror", str(path)]
        subprocess.run([*compiler, *linked, "-o", *words], check=True, capture_output=True)
    return subprocess.run(words, capture_output=True, timeout=_SECONDS).returncode


def main() -> int:
    """Print the table; 1 if a program ends in another way than its trace."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--count", type=int, default=20, help="traces of each API (default: 20)")
    parser.add_argument("--faulty", type=Path, metavar="WORK")
    given = parser.parse_args()
    asked = f"--count {given.count}" + " --faulty WORK" * bool(given.faulty)
    print(f"# Traces as programs\n\nMade by `python -m benchmarks.trace_programs {asked}`.\n")
    print("| API | language | programs | that fail | end as the replay |\n|---|---|--:|--:|--:|")
    good = True
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for made in all_made(folder, given.count, given.faulty):
            codes = [replayed(folder, trace, library) for library, trace in made.played]
            for language in made.languages:
                same = 0
                for (library, trace), code in zip(made.played, codes, strict=True):
                    try:
                        source, _ = program(trace, language, library.interface.api, library)
                        ended = ending(folder, source, language, library)
                    except (UsageError, subprocess.SubprocessError) as error:
                        print(f"{made.what}, {language}: {error}", file=sys.stderr)
                        continue
                    if ended != code:
                        print(f"{made.what}, {language}: {ended}, not {code}", file=sys.stderr)
                    same += ended == code
                good = good and same == len(made.played)
                failing = sum(code != 0 for code in codes)
                count = len(made.played)
                print(f"| {made.what} | {language} | {count} | {failing} | {same} |", flush=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
