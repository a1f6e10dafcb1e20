"""Random traces as programs: do they compile alone, and end as the replay of their trace?

    python -m benchmarks.trace_programs [--count N] > benchmarks/results/trace_programs.md

Each API is played on a real library; IPASIR also on one of a few lines that fails by a signal, and
one that gives wrong answers (a program checks the last answer). python-sat's library has no
functions of IPASIR to link with, so that is for Python alone. Needs a C and a C++ compiler.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from reducekit.errors import UsageError
from reducekit.frontends.trace.calls import Trace
from reducekit.frontends.trace.formats import print_trace, read_trace
from reducekit.frontends.trace.generate.generator import Generator
from reducekit.frontends.trace.model.loader import load_model
from reducekit.frontends.trace.programs import program
from reducekit.frontends.trace.replay import Library, find_library
from reducekit.frontends.trace.replay.live_replay import LiveReplay
from tests.frontends.trace.replay.test_stock_cadical import stock

TINY = Path(__file__).parents[1] / "tests" / "frontends" / "trace" / "replay" / "tiny_ipasir.c"
COMPILERS = {"c": ["gcc", "-std=c11"], "cpp": ["g++", "-std=c++17"]}
FORMS = {"lingeling": "lgl", "cadical": "mobical"}
_SECONDS = 60


class Made(NamedTuple):
    """Programs of an API, and what came of them."""

    what: str
    library: Library
    languages: tuple[str, ...]


def libraries(folder: Path) -> Iterator[Made]:
    """Yield what is played, with the languages that can call it."""
    yield Made("IPASIR, of python-sat", find_library("ipasir", "cadical153"), ("py",))
    for fault, said in (("BUG", "IPASIR, fails by a signal"), ("WRONG", "IPASIR, wrong answers")):
        path = folder / f"lib{fault.lower()}.so"
        words = ["gcc", "-shared", "-fPIC", f"-D{fault}", str(TINY), "-o", str(path)]
        subprocess.run(words, check=True)
        yield Made(said, find_library("ipasir", str(path)), ("c", "cpp", "py"))
    yield Made("Lingeling", find_library("lingeling", "boolector-lingeling"), ("c", "cpp", "py"))
    yield Made("CaDiCaL's class", find_library("cadical", stock("cvc5")), ("cpp",))


def traces(library: Library, count: int) -> Iterator[Trace]:
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
    given = parser.parse_args()
    print(
        "# Traces as programs\n\n"
        f"Made by `python -m benchmarks.trace_programs --count {given.count}`.\n"
    )
    print("| API | language | programs | that fail | end as the replay |\n|---|---|--:|--:|--:|")
    good = True
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for made in libraries(folder):
            played = list(traces(made.library, given.count))
            codes = [replayed(folder, trace, made.library) for trace in played]
            for language in made.languages:
                same = 0
                for trace, code in zip(played, codes, strict=True):
                    try:
                        source, _ = program(
                            trace, language, made.library.interface.api, made.library
                        )
                        same += ending(folder, source, language, made.library) == code
                    except (UsageError, subprocess.SubprocessError) as error:
                        print(f"{made.what}, {language}: {error}", file=sys.stderr)
                good = good and same == len(played)
                failing = sum(code != 0 for code in codes)
                print(
                    f"| {made.what} | {language} | {len(played)} | {failing} | {same} |", flush=True
                )
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
