"""Kills commands of reducekit at random moments, and runs them again to the end.

`python -m benchmarks.kills --count 500` writes `results/kills.md`. A command is run once
undisturbed for each number of jobs. Then it is run, killed, and run again until it ends, and the
files that it leaves must have the same bytes; no process may be left, and no folder for temporary
files. Only reducekit's own processes are killed: a program under test that dies has failed.
"""

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random

import reducekit
from reducekit.executors import marks
from tests.acceptance.torture import WATCHDOG, Runs, command_line, descendants
from tests.cli.test_trace import FAULT, MELTS
from tests.cli.tool import PROGRAM, problem

RESULTS = Path(__file__).resolve().parent / "results"
JOBS = (1, 2, 4)
PATIENCE = 600.0
"""Seconds until a run is said to hang: among others a niced one gets 2 % of a processor."""
PACKAGE = os.fsencode(Path(reducekit.__file__).parent)
"""In the tracebacks of its code."""
KINDS = ("process", "group", "helper", "tree", "TERM", "HUP", "INT")
"""By SIGKILL: the process of the command, its group, one of its helpers, or all at once."""
SOLVER = """#!/bin/sh
sleep 0.01
grep -q '{}' "$1" && {{ echo "assertion one failed" >&2; exit 3; }}
grep -q '{}' "$1" && {{ echo "assertion two failed" >&2; exit 4; }}
echo sat
"""
TEST = """#!/bin/sh
sleep 0.01
"""


@dataclass(frozen=True)
class Work:
    """A command, and what it needs."""

    arguments: Sequence[str]
    files: Mapping[str, str]
    test: str = ""
    """What the program `test` does after a moment of sleep; it gets a file."""
    with_jobs: bool = True


def _test(*words: str) -> str:
    return TEST + " && ".join(f"grep -q -- '{word}' \"$1\"" for word in words) + "\n"


LINES = "".join(f"alpha{n} beta{n % 7} gamma{n % 5}\n" for n in range(60))
BTOR = "".join(
    [
        "1 var 8\n2 var 8\n",
        *(f"{n} {('add', 'and', 'mul')[n % 3]} 8 {n - 1} {n - 2}\n" for n in range(3, 30)),
        "30 redor 1 29\n31 root 1 30\n",
    ]
)
WORKS: Mapping[str, Work] = {
    "smt2": Work(
        ("smt2", "in.smt2", "--oracle", "./test", "-o", "out.smt2"),
        {"in.smt2": problem(16, needed=(5, 12))},
        _test("needle.* 5", "needle.* 12"),
    ),
    "smt2 --in-place": Work(
        ("smt2", "in.smt2", "--oracle", "./test", "--in-place"),
        {"in.smt2": problem(12, needed=(7,))},
        _test("needle.* 7"),
    ),
    "btor": Work(
        ("btor", "in.btor", "--oracle", "./test", "-o", "out.btor"),
        {"in.btor": BTOR},
        _test(" and ", " mul "),
    ),
    "text": Work(
        ("text", "in.txt", "--oracle", "./test", "-o", "out.txt"),
        {"in.txt": LINES},
        _test("alpha17 ", "alpha31 ", "alpha58 "),
    ),
    "trace --oracle": Work(
        ("trace", "in.trace", "--oracle", "./test", "-o", "out.trace", "--options", "none"),
        {"in.trace": MELTS * 3},
        _test("freeze", "melt", "add 2"),
    ),
    "trace": Work(
        ("trace", "in.trace", "-o", "out.trace", "--options", "none", *FAULT),
        {"in.trace": MELTS},
        with_jobs=False,
    ),
    "hunt btor": Work(
        ("hunt", "btor", "--cmd", "./test", "--count", "10", "--nodes", "40", "--out", "found"),
        {},
        SOLVER.format(" rol ", " udiv "),
    ),
    "hunt text": Work(
        ("hunt", "text", "--cmd", "./test", "--seeds", "seeds", "--out", "found"),
        {f"seeds/{n}.txt": "".join(LINES.splitlines(True)[n:]) for n in range(0, 50, 10)},
        SOLVER.format("alpha3 ", "alpha55 "),
    ),
    "hunt trace": Work(
        ("hunt", "trace", *FAULT, "--variables", "12", "--count", "12", "--no-compare",
         "--out", "found"),
        {},
    ),
    "compare": Work(
        ("compare", "a.smt2", "b.smt2", "--oracle", "./test", "--strategies", "ddmin,auto",
         "--markdown", "table.md", "--quiet", "--timeout", "60"),
        {"a.smt2": problem(6, needed=(2,)), "b.smt2": problem(5, needed=(3,))},
        _test("needle"),
    ),
}  # fmt: skip


@dataclass
class Trial(Runs):
    """A work in a folder of its own."""

    def prepare(self, work: Work, jobs: int) -> None:
        self.work, self.jobs = work, jobs
        for name, text in work.files.items():
            path = self.folder / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        test = self.folder / "test"
        test.write_text(work.test)
        test.chmod(0o755)

    def start(self) -> subprocess.Popen[bytes]:
        jobs = ["--jobs", str(self.jobs)] if self.work.with_jobs else []
        return self.begin([*PROGRAM, *self.work.arguments, *jobs])

    def results(self) -> dict[str, bytes]:
        """Return what the command has left, but for what it keeps to be resumed."""
        ours = {"errors", "test", *self.work.files}
        found = {}
        for path in sorted(self.folder.rglob("*")):
            name = str(path.relative_to(self.folder))
            kept = path.suffix == ".journal" or path.name == "hunt.json"
            if path.is_file() and name not in ours and not kept:
                found[name] = path.read_bytes()
        if "--in-place" in self.work.arguments:
            found |= {name: (self.folder / name).read_bytes() for name in self.work.files}
        return found

    def to_the_end(self) -> int | None:
        """Run the command to its end; return its exit code, None if it hangs."""
        process = self.start()
        try:
            return process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.wrong.append("hangs")
            process.kill()
            process.wait()
            return None

    def strike(self, process: subprocess.Popen[bytes], kind: str, choose: Random) -> bool:
        """Kill what is meant by a kind; return whether there was anything."""
        if kind in ("TERM", "HUP", "INT"):
            self.kill(process, process.pid, signal.Signals[f"SIG{kind}"])
            return True
        if kind == "process":
            self.kill(process, process.pid, signal.SIGKILL)
        elif kind == "group":
            self.kill(process, -process.pid, signal.SIGKILL)
        elif kind == "helper":
            there = helpers(process.pid)
            if not there:
                return False
            self.kill(process, choose.choice(there), signal.SIGKILL)
        else:
            self.unguarded = True
            for pid in (process.pid, *descendants(process.pid)):
                with suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
        return True


def helpers(pid: int) -> list[int]:
    """Return the processes of reducekit below one, without those of programs under test.

    A child that has not yet become another program has the command line of its parent.
    """
    python = os.path.realpath(sys.executable)
    found = []
    for each in marks.children(pid):
        words = command_line(each)
        with suppress(OSError):
            ours = os.readlink(f"/proc/{each}/exe") == python and words != command_line(pid)
            if WATCHDOG in words or ours:
                found.append(each)
    return found


@dataclass(frozen=True)
class Undisturbed:
    """The results of an undisturbed run of a work."""

    code: int | None
    results: Mapping[str, bytes]
    seconds: float


class Campaign:
    """Trials in turn, over all works, numbers of jobs and kinds of kills."""

    def __init__(self, folder: Path, seed: int, works: Sequence[str], tell: Callable[[str], None]):
        self.folder = folder
        self.works = works
        self.choose = Random(seed)
        self.tell = tell
        self.kills = Counter[tuple[str, str]]()
        self.trials = Counter[str]()
        self.failures: list[tuple[str, str, str]] = []
        """The work, the kinds of the kills, and what was wrong."""
        self._undisturbed: dict[tuple[str, int], Undisturbed] = {}

    def run(self, count: int) -> None:
        """Kill so often."""
        number = 0
        while sum(self.kills.values()) < count:
            name = self.works[number % len(self.works)]
            number += 1
            jobs = self.choose.choice(JOBS) if WORKS[name].with_jobs else 1
            self._trial(name, jobs)
            if number % len(self.works) == 0:
                self.tell(f"{sum(self.kills.values())} kills, {len(self.failures)} failures")

    def undisturbed(self, name: str, jobs: int) -> Undisturbed:
        """Return the results of an undisturbed run of a work."""
        if (name, jobs) not in self._undisturbed:
            trial = self._made(name, jobs)
            begin = time.monotonic()
            code = trial.to_the_end()
            seconds = time.monotonic() - begin
            trial.check_rest()
            if trial.wrong or not trial.results():
                sys.exit(f"{name}, not killed: {code}, {trial.wrong}, {trial.errors.read_text()}")
            self._undisturbed[name, jobs] = Undisturbed(code, trial.results(), seconds)
            shutil.rmtree(trial.folder)
        return self._undisturbed[name, jobs]

    def _made(self, name: str, jobs: int) -> Trial:
        folder = self.folder / "trial"  # the names of bugs depend on the path of the program
        folder.mkdir()
        trial = Trial(folder)
        trial.prepare(WORKS[name], jobs)
        return trial

    def _trial(self, name: str, jobs: int) -> None:
        """Run a work, kill it up to three times, and run it to its end."""
        wanted = self.undisturbed(name, jobs)
        trial = self._made(name, jobs)
        kinds = []
        for _ in range(self.choose.randrange(1, 4)):
            process = trial.start()
            kind = self.choose.choice(KINDS)
            with suppress(subprocess.TimeoutExpired):
                process.wait(self.choose.uniform(0.05, wanted.seconds))
            while kind == "helper" and process.poll() is None and not helpers(process.pid):
                time.sleep(0.01)
            if process.poll() is None and trial.strike(process, kind, self.choose):
                kinds.append(kind)
                self.kills[name, kind] += 1
            try:
                process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                trial.wrong.append(f"hangs after {kind}")
                process.kill()
            trial.check_rest()
            # Python itself prints a traceback for a SIGINT while it starts.
            if kind != "INT" or PACKAGE in trial.errors.read_bytes():
                trial.check_words()
        code = trial.to_the_end()
        trial.check_rest()
        trial.check_words()
        found = trial.results()
        trial.expect(code == wanted.code, f"exit code {code}: {trial.errors.read_text()}")
        different = {
            each: (wanted.results.get(each), found.get(each))
            for each in sorted({*found, *wanted.results})
            if found.get(each) != wanted.results.get(each)
        }
        trial.expect(not different, f"other bytes: {different}")
        self.trials[name] += 1
        for wrong in trial.wrong:
            self.failures.append((name, ", ".join(kinds), wrong))
            self.tell(f"{name} --jobs {jobs}, {', '.join(kinds)}: {wrong[:2000]}")
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        shutil.rmtree(trial.folder)

    def table(self) -> str:
        """Return the kills by work and kind, and the failures."""
        lines = [
            "| command | trials | " + " | ".join(KINDS) + " | failures |",
            "|---|" + "--:|" * (len(KINDS) + 2),
        ]
        for name in self.works:
            counts = [str(self.kills[name, kind]) for kind in KINDS]
            failed = sum(each[0] == name for each in self.failures)
            lines.append(f"| {name} | {self.trials[name]} | {' | '.join(counts)} | {failed} |")
        totals = [str(sum(self.kills[name, kind] for name in self.works)) for kind in KINDS]
        total = sum(self.trials.values())
        lines.append(f"| all | {total} | {' | '.join(totals)} | {len(self.failures)} |")
        return "\n".join(lines) + "\n"


HEAD = """# Kills

`python -m benchmarks.kills --count {count} --seed {seed}`: {made} kills at random moments. Each
command was then run again until it ended. A failure is any of: other bytes or another exit code
than undisturbed, a process or a folder left, a traceback, a hang. Each trial has 1, 2 or 4 jobs.

process, group, helper and tree: SIGKILL of the command, its process group, a helper of its own
(such as the watchdog), or all of its processes. Programs under test are killed with the tree only.

"""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kills")
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=WORKS, action="append", help="repeatable")
    parser.add_argument("--out", type=Path, default=RESULTS / "kills.md")
    arguments = parser.parse_args()
    marks.set_adopting(True)
    # What a shell's & and nohup ignore, children inherit.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    with tempfile.TemporaryDirectory(prefix="kills-") as folder:
        works = arguments.only or list(WORKS)
        campaign = Campaign(
            Path(folder), arguments.seed, works, lambda line: print(line, flush=True)
        )
        with suppress(KeyboardInterrupt):  # the table still has what ran until then
            campaign.run(arguments.count)
    made = sum(campaign.kills.values())
    head = HEAD.format(count=arguments.count, seed=arguments.seed, made=made)
    arguments.out.write_text(head + campaign.table(), encoding="utf-8")
    print(campaign.table(), end="")
    sys.exit(bool(campaign.failures))


if __name__ == "__main__":
    main()
