"""Mutates the engine with mutmut, and writes which mutants no test notices.

    python -m benchmarks.mutants --sample 40

samples that many mutants of each room, the same ones each time, and writes
`results/mutants.md`. A survivor is either explained in `reasons.toml` or counts
as a hole in the tests.
"""

import argparse
import os
import resource
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib import import_module
from math import ceil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.mutants.hits import FAILED, FOLDER

ROOMS = ("search", "strategies", "oracle", "reduction", "journal", "session")
SEARCH = ("search", "strategies", "reduction")
"""Rooms that only work together: the tests of each exercise all three."""
LEAST = 85
"""Percent of the mutants that can be noticed: fewer killed ones are an error."""
MEMORY = 6 << 30
"""Bytes of address space: a mutant may be a loop that allocates."""
HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parents[1]
TABLE = CHECKOUT / "benchmarks" / "results" / "mutants.md"
NO_TESTS = 33
"""The exit code that stands for a mutant that no test reaches, in mutmut."""
KILLED = frozenset(("killed", "timeout", "segfault"))
"""What mutmut calls a mutant that some test noticed."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """A mutant: one place that is changed."""

    name: str
    """As mutmut has it."""
    path: str
    status: str
    """What became of it, in mutmut's words."""

    @property
    def room(self) -> str:
        """The package that it is in."""
        return self.name.split(".")[1]

    @property
    def where(self) -> str:
        """The module and function, as one would write them."""
        module, _, function = self.name.partition("__mutmut_")[0].rpartition(".")
        function = function.removeprefix("x_").removeprefix("xǁ").replace("ǁ", ".")
        return f"{module.removeprefix('reducekit.')}.{function}"


@dataclass(frozen=True, slots=True)
class Survivor:
    """A mutant that no test noticed, as the lines that it takes out and puts in."""

    where: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a mutant survives; an `equivalent` one does the same as the original."""

    text: str
    equivalent: bool


def sample(mutants: Sequence[Mutant], count: int, seed: int = 0) -> list[Mutant]:
    """Return a sample of the mutants of each room, or all if there are fewer.

    Which ones depends on the seed and their names alone, so they are the same while a function
    stays as it is. Another seed shows whether tests written for one sample help elsewhere.
    """
    ranked = sorted(mutants, key=lambda each: sha256(f"{seed} {each.name}".encode()).digest())
    return [
        each
        for room in ROOMS
        for each in [mutant for mutant in ranked if mutant.room == room][: count or None]
    ]


def read_reasons(path: Path) -> dict[Survivor, Reason]:
    """Read why mutants survive."""
    tables = tomllib.loads(path.read_text("utf-8")).get("survivor", [])
    return {
        Survivor(each["where"], each["before"], each["after"]): Reason(
            each["reason"], each.get("equivalent", False)
        )
        for each in tables
    }


def as_survivor(mutant: Mutant, diff: str) -> Survivor:
    """Read the lines that a mutant changes from a diff."""
    lines = diff.splitlines()
    before, after = (
        " ".join(
            line[1:].strip()
            for line in lines
            if line.startswith(sign) and not line.startswith(sign * 3)
        )
        for sign in "-+"
    )
    return Survivor(mutant.where, before, after)


def table(
    total: Sequence[Mutant],
    tried: Sequence[Mutant],
    survivors: Mapping[Mutant, Survivor],
    reasons: Mapping[Survivor, Reason],
) -> tuple[str, bool]:
    """Return the report, and whether enough are killed in each room."""
    lines = [
        "# Mutants",
        "",
        "Made by `make mutants`: [mutmut](https://mutmut.readthedocs.io) changes one place of the",
        "code at a time, and the tests that reach the place are run. `equivalent` mutants do the",
        f"same as the original; of the others, at least {LEAST} % have to be killed in each room.",
        "",
        "| room | mutants | tried | killed | equivalent | survived | rate |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    enough = True
    for room in (*ROOMS, ""):
        some = [each for each in tried if each.room == room or not room]
        if not some:
            continue
        lived = [survivors[each] for each in some if each in survivors]
        same = sum(each in reasons and reasons[each].equivalent for each in lived)
        killed = len(some) - len(lived)
        rate = 100 * killed / max(1, len(some) - same)
        enough = enough and rate >= LEAST
        known = sum(each.room == room or not room for each in total)
        cells = (room or "all", known, len(some), killed, same, len(lived) - same, f"{rate:.0f} %")
        lines.append(f"| {' | '.join(map(str, cells))} |")
    lines += ["", "## Survivors", ""]
    lines += ["| where | original | mutant | reason |", "|---|---|---|---|"]
    for each in sorted(set(survivors.values()), key=lambda each: (each.where, each.after)):
        reason = reasons.get(each)
        said = "not explained" if reason is None else reason.text
        if reason is not None and reason.equivalent:
            said = f"equivalent: {said}"
        lines.append(f"| {each.where} | {_code(each.before)} | {_code(each.after)} | {said} |")
    return "\n".join(lines) + "\n", enough


def _code(text: str) -> str:
    """Return a line of code for a cell of a table."""
    text = text.replace("|", "\\|")
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def main() -> int:
    """Sample, run, write the table; 1 if too few are killed."""
    parser = argparse.ArgumentParser(prog="benchmarks.mutants", description=__doc__)
    parser.add_argument("--sample", type=int, default=40, help="mutants of each room; 0: all")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument(
        "--seconds",
        type=float,
        default=60.0,
        help="run of the tests that reach a mutant those that take so long together",
    )
    parser.add_argument("--room", choices=ROOMS, action="append", help="only this room")
    parser.add_argument(
        "--survivors", action="store_true", help="run again only what no test failed on last time"
    )
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    os.chdir(CHECKOUT)
    # Also for the processes that tests start: they are to import the mutated copy, and to say
    # what they reach.
    os.environ["PYTHONPATH"] = f"{CHECKOUT / 'mutants'}{os.pathsep}{HERE / 'started'}"
    with TemporaryDirectory() as hits:
        os.environ[FOLDER] = hits
        return _measure(options)


def _measure(options: argparse.Namespace) -> int:
    engine = Engine(options.jobs, options.seconds)
    total = [each for each in engine.mutants() if each.room in (options.room or ROOMS)]
    tried = sample(total, options.sample, options.seed)
    engine.run([each for each in tried if not (options.survivors and each.status == "killed")])
    now = {each.name: each for each in engine.mutants()}
    survivors = {
        now[each.name]: as_survivor(now[each.name], engine.diff(each))
        for each in tried
        if now[each.name].status not in KILLED
    }
    tried = [now[each.name] for each in tried]
    text, enough = table(total, tried, survivors, read_reasons(HERE / "reasons.toml"))
    TABLE.write_text(text, "utf-8")
    print(text)
    return 0 if enough else 1


class Engine:
    """mutmut, by the parts of its command `run`: that has no samples and no order of tests."""

    def __init__(self, jobs: int, seconds: float) -> None:
        self._seconds = seconds
        # Not at the top of the file: mutmut reads its configuration while it is imported.
        mutmut: Any = import_module("mutmut.__main__")
        self._mutmut = mutmut
        mutmut.set_mutant_under_test("mutant_generation")
        Path("mutants").mkdir(exist_ok=True)
        mutmut.copy_src_dir()
        mutmut.copy_also_copy_files()
        mutmut.setup_source_paths()
        # What a run left that was stopped meanwhile is an empty file, which mutmut takes for done.
        for path in mutmut.walk_source_files():
            made = "mutants" / path
            if mutmut.config().should_mutate(path) and not Path(f"{made}.meta").exists():
                made.unlink(missing_ok=True)
        mutmut.create_mutants(jobs)
        self._runner: Any = mutmut.get_mutant_runner(jobs)
        self._files = mutmut.collect_source_file_mutation_data(mutant_names=())[1]

    def mutants(self) -> list[Mutant]:
        """Return all mutants, and what became of them so far."""
        return [
            Mutant(name, path, self._mutmut.status_by_exit_code[code])
            for path, data in self._files.items()
            for name, code in data.exit_code_by_key.items()
        ]

    def diff(self, mutant: Mutant) -> str:
        """Return what a mutant changes, as a unified diff."""
        return str(self._mutmut.get_diff_for_mutant(mutant.name, path=mutant.path))

    def run(self, mutants: Sequence[Mutant]) -> None:
        """Run the tests that reach each mutant, those of its room first, until one fails.

        Before that all tests run on the code as it is, to know how long each takes and what it
        reaches; those that fail are left out.
        """
        self._mutmut.collect_or_load_stats(self._runner)
        if Path("mutants", FAILED).exists():
            print(f"tests that fail without a mutant are left out: mutants/{FAILED}", flush=True)
        self._mutmut.set_mutant_under_test("")
        settings = self._mutmut.config()
        files = {each.name: self._files[each.path] for each in mutants}
        self._runner.startup()
        try:
            for mutant in mutants:
                tests, seconds = self._tests(mutant)
                if not tests:
                    self._note(files, mutant.name, NO_TESTS, 0.0)
                    continue
                while not self._runner.has_capacity():
                    self._take(files)
                limit = (seconds + settings.timeout_constant) * settings.timeout_multiplier
                self._runner.submit(mutant.name, tests, ceil(2 * limit), seconds)
            self._runner.signal_work_complete()
            while self._runner.pending_count():
                self._take(files)
        finally:
            self._runner.shutdown()

    def _tests(self, mutant: Mutant) -> tuple[list[str], float]:
        """Return the tests to run, and how long they took in the clean run."""
        state, function = self._mutmut.state(), mutant.name.partition("__mutmut_")[0]
        took = state.duration_by_test
        room = mutant.room
        rooms = SEARCH if room in SEARCH else (room,)
        own = tuple(f"tests/{each}" for room in rooms for each in (f"{room}/", f"test_{room}"))
        found: list[str] = []
        seconds = 0.0
        # Nearly every test reaches the engine: those that are about it come first.
        for test in sorted(
            state.tests_by_mangled_function_name[function],
            key=lambda test: (not test.startswith(own), took[test]),
        ):
            if found and seconds + took[test] > self._seconds:
                break
            found.append(test)
            seconds += took[test]
        return found, seconds

    def _take(self, files: Mapping[str, Any]) -> None:
        result = self._runner.wait_for_result()
        self._note(files, result.mutant_name, result.exit_code, result.duration)

    def _note(self, files: Mapping[str, Any], name: str, code: int, seconds: float) -> None:
        data = files[name]
        data.exit_code_by_key[name], data.durations_by_key[name] = code, seconds
        data.save()
        print(f"{self._mutmut.status_by_exit_code[code]:10} {name}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
