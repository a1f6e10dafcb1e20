"""Seeds one-line faults into CaDiCaL, and counts how many mobical and reducekit find.

    python -m benchmarks.api_faults ~/cadical-2.2.0 --count 30
    python -m benchmarks.api_faults ~/cadical-2.2.0 --faults faults.tsv --processors 8

SOURCE is an unpacked CaDiCaL from 2.2 on. It is copied and built once with `configure -c -shared`
(without assertions: --no-assertions); each fault compiles one file again and links. Faults are
drawn by --seed, or read from a file with the columns name, file, line, old, new, parted by tabs.
Both tools stop at their first failure, else after --processor seconds of CPU time of their whole
process tree; each row is the median of three seeds. What reducekit reports of the library without
a fault does not count. The table is printed; those of three runs are in results/api_faults.md.
"""

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from benchmarks.hunts_beside import spent

_SEEDS = 3
_AREAS = (
    *("analyze", "assume", "backbone", "block", "collect", "congruence", "constrain", "decompose"),
    *("deduplicate", "elim", "extend", "external", "external_propagate", "factor", "flip"),
    *("gates", "instantiate", "lucky", "minimize", "probe", "propagate", "reduce", "restore"),
    *("shrink", "subsume", "sweep", "ternary", "transred", "vivify"),
)
_NEVER = re.compile(r"LOG|assert|stats|PROFILE|START|STOP|verbose|report|PHASE|#|//|return")


@dataclass(frozen=True, slots=True)
class Fault:
    """A line that is changed."""

    name: str
    file: str
    line: int
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Found:
    """Whether a tool has found a fault, and after how many processor seconds."""

    name: str
    seconds: float

    def __str__(self) -> str:
        return f"{self.seconds:.1f} s, {self.name[:60]}" if self.name else "-"


def middle(runs: Sequence[Found]) -> Found:
    """Return the median of some runs; those that found nothing come last."""
    return sorted(runs, key=lambda each: (not each.name, each.seconds))[len(runs) // 2]


def mutations(line: str) -> Iterator[tuple[str, str]]:
    """Yield what of a line of C++ may become what."""
    if match := re.search(r"\bif \((.+)\)( \{)?$", line):
        yield match[1], f"!({match[1]})"
    for old, new in ((" < ", " <= "), (" > ", " >= "), (" == ", " != "), (" != ", " == ")):
        if old in line:
            yield old, new
    if match := re.search(r"\(-(\w+)\)", line):
        yield match[0], f"({match[1]})"
    if match := re.fullmatch(r"\s*([\w.>\[\]-]+ (?:\(.*\)|= [^;]+);)", line):
        yield match[1], ";"


def drawn(source: Path, count: int, seed: int) -> list[Fault]:
    """Draw `count` faults, each from a random area."""
    random = Random(seed)
    found: list[Fault] = []
    while len(found) < count:
        area = random.choice(_AREAS)
        path = source / "src" / f"{area}.cpp"
        if not path.exists():
            continue
        lines = path.read_text().split("\n")
        number = random.randrange(len(lines))
        options = [] if _NEVER.search(lines[number]) else list(mutations(lines[number]))
        if options:
            old, new = random.choice(options)
            found.append(Fault(f"{area}-{number + 1}", path.name, number + 1, old, new))
    return found


def read(path: Path) -> list[Fault]:
    """Read faults from a table."""
    rows = (line.split("\t") for line in path.read_text().splitlines() if line.strip())
    return [Fault(name, file, int(line), old, new) for name, file, line, old, new in rows]


def run(words: list[str], folder: Path) -> None:
    """Run a command; end with its output if it fails."""
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(words)}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")


def build(
    source: Path, base: Path, *, assertions: bool, more: str = "-O1", extra: str = ""
) -> None:
    """Copy and build CaDiCaL with `more` options, unless that is done; `extra` is code to add."""
    made = base / "build"
    if (base / "built").exists():
        return
    shutil.copytree(source, base, ignore=shutil.ignore_patterns("build", "*.gch", ".git"))
    run(["./configure", *(["-c"] if assertions else []), "-shared"], base)
    makefile = made / "makefile"
    text = re.sub(r"(?m)^(CX*FLAGS)=.*", rf"\1={more} -fPIC -w", makefile.read_text())
    if not assertions:
        text = text.replace("-fPIC", "-fPIC -DNDEBUG")
    makefile.write_text(text)
    run(["make", "-j2", "libcadical.a", "cadical.o", "mobical.o"], made)
    if extra:
        (base / "src" / "extra.cpp").write_text(extra)
        run(["g++", *flags(made), "-c", "../src/extra.cpp"], made)
    link(made, made, "")
    (base / "built").touch()


def flags(made: Path) -> list[str]:
    """Return the compiler's options of a build."""
    match = re.search(r"(?m)^CXXFLAGS=(.*)", (made / "makefile").read_text())
    assert match
    return match[1].split()


def link(made: Path, into: Path, changed: str) -> None:
    """Link library, program and mobical, one object from the folder `into`."""
    objects = [
        str((into if each.name == changed else made) / each.name)
        for each in sorted(made.glob("*.o"))
        if each.name not in ("cadical.o", "mobical.o")
    ]
    # By hand: the link of 2.2.0's makefile leaves kitten.o out.
    words = ["g++", *flags(made)]
    run([*words, "-shared", "-o", str(into / "libcadical.so"), *objects], made)
    for name in ("cadical", "mobical"):
        run([*words, "-o", str(into / name), str(made / f"{name}.o"), *objects], made)


def mutant(base: Path, fault: Fault, into: Path) -> bool:
    """Build a faulty CaDiCaL; return whether it compiles."""
    if (into / "mobical").exists():
        return True
    into.mkdir(parents=True, exist_ok=True)
    lines = (base / "src" / fault.file).read_text().split("\n")
    line = lines[fault.line - 1]
    if fault.old not in line:
        raise SystemExit(f"{fault.file}:{fault.line}: {fault.old!r} is not in {line!r}")
    lines[fault.line - 1] = line.replace(fault.old, fault.new, 1)
    changed = into / fault.file
    changed.write_text("\n".join(lines))
    made = base / "build"
    words = ["g++", *flags(made), "-I.", "-I../src", "-c", str(changed)]
    object_ = changed.with_suffix(".o")
    if subprocess.run([*words, "-o", str(object_)], cwd=made, capture_output=True).returncode:
        return False
    link(made, into, object_.name)
    return True


def tried(words: list[str], folder: Path, found: Callable[[], str], seconds: float) -> Found:
    """Run a tool until it has found something, or has used its time."""
    folder.mkdir(parents=True, exist_ok=True)
    process = subprocess.Popen(
        words, cwd=folder, start_new_session=True, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    name, cpu = "", 0.0
    while not name and cpu < seconds and process.poll() is None:
        time.sleep(0.05)
        cpu = max(cpu, spent(process.pid)[0])
        name = found()
    os.killpg(process.pid, signal.SIGKILL) if process.poll() is None else None
    process.wait()
    return Found(name or found(), cpu)


def by_mobical(made: Path, folder: Path, seed: int, seconds: float) -> Found:
    """Let mobical look for a failure."""
    words = [str(made / "mobical"), "--no-terminal", "-L", "1000000", str(seed)]
    return tried(words, folder, lambda: next((p.name for p in folder.glob("bug-*")), ""), seconds)


def failures(folder: Path, suffix: str) -> dict[str, Path]:
    """Return the inputs that a hunt has found, by the name of their failure.

    The end of a file's name is a hash, which differs by the call that a failure ends in.
    """
    return {each.stem.rpartition("-")[0]: each for each in sorted(folder.glob(f"*{suffix}"))}


def by_reducekit(
    made: Path, folder: Path, seed: int, seconds: float, known: frozenset[str]
) -> Found:
    """Let reducekit look for a failure that is not `known`."""
    words = [
        sys.executable, "-m", "reducekit", "hunt", "trace", "--model", "cadical", "--library",
        str(made / "libcadical.so"), "--no-reduce", "--count", "1000000", "--seed",
        str(1_000_000 * seed), "--out", str(folder / "out"),
    ]  # fmt: skip

    def found() -> str:
        return min(failures(folder / "out", ".trace").keys() - known, default="")

    return tried(words, folder, found, seconds)


def main() -> None:
    """Measure, and write the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("source", type=Path)
    parser.add_argument("--work", type=Path, default=Path(".cache/api-faults"))
    parser.add_argument("--faults", type=Path)
    parser.add_argument("--count", type=int, default=30)
    parser.add_argument("--seed", type=int, default=2027, help="of the faults")
    parser.add_argument("--first", type=int, default=1, help="seed of both tools, of three")
    parser.add_argument("--processor", type=float, default=8.0, help="seconds a fault and tool")
    parser.add_argument("--no-assertions", action="store_true")
    given = parser.parse_args()
    work = given.work.resolve() / ("plain" if given.no_assertions else "checked")
    base = work / "base"
    build(given.source.resolve(), base, assertions=not given.no_assertions)
    faults = read(given.faults) if given.faults else drawn(base, given.count, given.seed)
    runs = work / f"runs-{os.getpid()}"
    seeds = range(given.first, given.first + _SEEDS)
    alone = [
        by_reducekit(base / "build", runs / f"base-{seed}", seed, 4 * given.processor, frozenset())
        for seed in seeds
    ]
    known = frozenset({each.name for each in alone} - {""})
    rows, hits = [], [0, 0]
    for fault in faults:
        made = work / fault.name
        if not mutant(base, fault, made):
            continue
        here = runs / fault.name
        theirs = middle(
            [by_mobical(made, here / f"m{each}", each, given.processor) for each in seeds]
        )
        ours = middle(
            [by_reducekit(made, here / f"r{each}", each, given.processor, known) for each in seeds]
        )
        hits = [hits[0] + bool(theirs.name), hits[1] + bool(ours.name)]
        change = f"`{fault.old}` => `{fault.new}`".replace("|", "\\|")
        rows.append(f"| {fault.name} | {fault.file}:{fault.line} {change} | {theirs} | {ours} |")
        print(rows[-1], file=sys.stderr, flush=True)
    words = " ".join(sys.argv[1:])
    print(
        f"One-line faults in CaDiCaL, at most {given.processor:g} processor seconds each, medians"
        f" of {_SEEDS} seeds; made by `python -m benchmarks.api_faults {words}`.\n\n"
        f"mobical found {hits[0]} of {len(rows)}, reducekit {hits[1]}.\n\n"
        "| fault | change | mobical | reducekit |\n|---|---|---|---|"
    )
    print("\n".join(rows))


if __name__ == "__main__":
    main()
