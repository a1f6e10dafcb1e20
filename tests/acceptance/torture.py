"""Kills reducekit again and again, and looks at what is left: run by `test_torture.py`.

`python -m tests.acceptance.torture FOLDER SEED KILLS` prints what was wrong, one
line each, and nothing else. It is a process of its own because it adopts all
orphans of the runs: whatever they leave behind becomes its child.
"""

import fcntl
import hashlib
import math
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from reducekit.cli.process import INTERRUPTED
from reducekit.executors import marks
from reducekit.executors.marks import read
from reducekit.executors.run_directory import RunDirectory
from tests.cli.tool import PATIENCE, PROGRAM, problem

ENDING = (signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
OUTPUT = "out.smt2"
NEEDED = 3
REPEATED = 3
"""Runs on the result that are made to be sure of it, after the check in which it was found."""
LINE = 68
"""Bytes of a line of sha256sum: the hash, two blanks, a hyphen, a newline."""
WATCHDOG = "reducekit-watchdog"
"""In the command line of the process that cleans up after a kill."""
ORACLE = """#!/bin/sh
sha256sum < "$1" >> "{log}" || exit 1
setsid env -i sleep 600 &
[ "$(grep -c '(needle' "$1")" -ge {needed} ]
"""
"""Notes every candidate, and leaves a process behind that is hard to find."""


@dataclass
class Runs:
    """A folder in which reducekit runs and is killed, and what went wrong there."""

    folder: Path
    wrong: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.temporary = self.folder / "temporary"
        self.temporary.mkdir()
        self.errors = self.folder / "errors"
        self.unguarded = False

    def begin(self, command: Sequence[str]) -> subprocess.Popen[bytes]:
        """Start a command, in a process group of its own."""
        with self.errors.open("wb") as errors:
            return subprocess.Popen(
                command,
                cwd=self.folder,
                env={**os.environ, "TMPDIR": str(self.temporary)},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                start_new_session=True,
            )

    def expect(self, good: bool, what: str) -> None:
        if not good:
            self.wrong.append(what)

    def kill(self, process: subprocess.Popen[bytes], pid: int, number: int) -> None:
        """Send a signal to a run, to its group (-pid) or to a process below it.

        Where the watchdog may be killed by that, or a run that has none yet, it is for the
        next run to clean up. A child that has not yet become what it will be has our name.
        """
        if number == signal.SIGKILL:
            named = {child: command_line(child) for child in marks.children(process.pid)}
            guarded = any(WATCHDOG in name for name in named.values())
            own = command_line(process.pid)
            ours = WATCHDOG in (name := named.get(pid, "")) or name == own
            self.unguarded = self.unguarded or ours or not guarded
        with suppress(OSError):  # it has just gone
            os.kill(pid, number)

    def cleaned(self) -> bool:
        """Do what the next run does when it starts; say whether all has gone."""
        RunDirectory(str(self.temporary)).remove()
        return not survivors() and not os.listdir(self.temporary)

    def check_rest(self) -> None:
        """No process is left and no file; both may take a moment to go."""
        if self.unguarded:
            settled(self.cleaned)
            self.unguarded = False
        self.expect(settled(lambda: not survivors()), f"alive: {survivors()}")
        self.expect(settled(lambda: not abandoned()), f"not removed: {abandoned()}")
        gone = settled(lambda: not os.listdir(self.temporary))
        self.expect(gone, f"left: {os.listdir(self.temporary)}")

    def check_words(self) -> None:
        """No traceback."""
        self.expect(b"Traceback" not in self.errors.read_bytes(), self.errors.read_text())


@dataclass
class Lane(Runs):
    """A folder with an input, and an oracle that notes what it is asked."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.log = self.folder / "log"
        self.log.touch()
        self.input = self.folder / "in.smt2"
        self.input.write_text(problem(24, needed=(5, 12, 20)))
        self.oracle = self.folder / "oracle"
        self.oracle.write_text(ORACLE.format(log=self.log, needed=NEEDED))
        self.oracle.chmod(0o755)
        self.output = self.folder / OUTPUT
        self.before = set(os.listdir(self.folder)) | {"errors"}

    def start(
        self, *options: str, program: Sequence[str] = tuple(PROGRAM)
    ) -> subprocess.Popen[bytes]:
        """Start a run, in a process group of its own."""
        arguments = ["smt2", self.input, "--oracle", self.oracle, "-o", self.output, "--quiet"]
        return self.begin([*program, *map(str, arguments), *options])

    @property
    def journal(self) -> Path:
        """What is resumed from."""
        return self.output.with_name(f"{self.output.name}.journal")

    def wait_for(self, process: subprocess.Popen[bytes], checks: int) -> None:
        """Wait until so many more checks have begun, or the run has ended."""
        enough = self.log.stat().st_size + checks * LINE
        while self.log.stat().st_size < enough and process.poll() is None:
            time.sleep(0.001)

    def check_output(self) -> None:
        """The output is whole, and byte for byte what was found to be interesting."""
        with suppress(FileNotFoundError):
            text = self.output.read_bytes()
            lines = sum(b"(needle" in line for line in text.splitlines())
            self.expect(lines >= NEEDED, f"not interesting: {text!r}")
            self.expect(text.count(b"(") == text.count(b")"), f"not whole: {text!r}")
            seen = hashlib.sha256(text).hexdigest() in self.log.read_text()
            self.expect(seen, f"was never checked: {text!r}")

    def is_check(self, pid: int) -> bool:
        """Say whether a process is that of an oracle."""
        return str(self.oracle) in command_line(pid)

    def check_folder(self) -> None:
        """Nothing is left beside the output."""
        stem, suffix = re.escape(self.output.stem), re.escape(self.output.suffix)
        ours = re.compile(rf"{stem}(\.[0-9]+)?{suffix}(\.journal)?")
        left = {
            name for name in set(os.listdir(self.folder)) - self.before if not ours.fullmatch(name)
        }
        self.expect(not left, f"left beside the output: {left}")


def settled(ready: Callable[[], bool]) -> bool:
    """Wait for what must come; say whether it did."""
    give_up = time.monotonic() + PATIENCE
    while not ready() and time.monotonic() < give_up:
        time.sleep(0.002)
    return ready()


def survivors() -> list[str]:
    """Return the command lines of all descendants, reaping the dead among our children."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    return [command_line(pid) for pid in descendants(os.getpid())]


def command_line(pid: int) -> str:
    return read(f"/proc/{pid}/cmdline").decode(errors="replace").replace("\0", " ")


def descendants(pid: int) -> list[int]:
    found: list[int] = []
    waiting = [pid]
    while waiting:
        children = marks.children(waiting.pop())
        found += children
        waiting += children
    return found


def abandoned() -> list[str]:
    """Return the directories of runs that nobody holds."""
    found = []
    for base in ("/dev/shm", tempfile.gettempdir()):
        for path in Path(base).glob("reducekit-" + "[0-9]" * 13):
            with suppress(OSError):
                fd = os.open(path, os.O_RDONLY)
                try:
                    fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
                    found.append(str(path))
                finally:
                    os.close(fd)
    return found


def moments(lane: Lane, process: subprocess.Popen[bytes], choose: Random) -> Iterator[None]:
    """Come back at random moments of a run, for as long as it lives."""
    if choose.random() < 0.25:  # before the first check: while it starts
        time.sleep(choose.uniform(0, 0.4))
        if process.poll() is None:
            yield
    while process.poll() is None:
        lane.wait_for(process, choose.randrange(1, 9))
        time.sleep(choose.uniform(0, 0.005))
        if process.poll() is None:
            yield


def victim(process: subprocess.Popen[bytes], choose: Random) -> int:
    """Return a process below a run; the run itself if none is."""
    return choose.choice(descendants(process.pid) or [process.pid])


def torment(lane: Lane, choose: Random, kills: int) -> int:
    """Make one run and kill it, or parts of it, at most so many times; return how often."""
    lane.output.unlink(missing_ok=True)
    before = lane.log.stat().st_size
    process = lane.start("--restart", "--jobs", str(choose.choice([1, 2, 3])))
    done = 0
    for _ in moments(lane, process, choose):
        if done == kills:
            continue
        done += 1
        number = choose.choice(ENDING)
        if choose.random() < 0.8:
            pid = victim(process, choose)
        else:
            pid = -process.pid if choose.random() < 0.3 else process.pid
        lane.kill(process, pid, number)
        lane.check_output()
    try:
        process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        lane.wrong.append("hangs")
        process.kill()
    lane.check_output()
    lane.check_rest()
    if lane.log.stat().st_size > before:  # else it was perhaps still Python that was starting
        lane.check_words()
    return done


def resumed(lane: Lane, choose: Random, kills: int, undisturbed: bytes) -> int:
    """Kill one reduction again and again and resume it each time, up to its end; return how often.

    Its checks too are killed: the oracle's own process, as that is no verdict. A
    check may be made again if it was under way, else none is; but that a run which was
    told to end looks once more whether what it leaves fails, and that all runs of the input
    and of the result are made again until one has lived to see how these fail.
    """
    jobs, done, code = 2, 0, -1
    left = Counter[str]()  # by what was told to end, and looked at once more
    lane.output.unlink(missing_ok=True)
    lane.journal.unlink(missing_ok=True)
    before = lane.log.stat().st_size
    while code != 0 and not lane.wrong:
        resume = ["--resume"] if done else ["--restart"]
        process = lane.start("--jobs", str(jobs), *resume)
        for _ in moments(lane, process, choose):
            if done == kills:
                continue
            done += 1
            checks = [pid for pid in marks.children(process.pid) if lane.is_check(pid)]
            pid = choose.choice(checks) if checks and choose.random() < 0.3 else process.pid
            lane.kill(process, pid, choose.choice(ENDING))
            lane.check_output()
        code = process.wait(PATIENCE)
        if code == INTERRUPTED and lane.output.exists():
            left[hashlib.sha256(lane.output.read_bytes()).hexdigest()] += 1
        lane.check_rest()
    lane.expect(lane.output.read_bytes() == undisturbed, "another result after all the kills")
    asked = Counter(lane.log.read_text()[before:].split("  -\n"))
    del asked[hashlib.sha256(lane.input.read_bytes()).hexdigest()]
    again = {text: max(0, count - 1 - left[text]) for text, count in asked.items()}
    result = again.pop(hashlib.sha256(undisturbed).hexdigest())
    others = sum(again.values())
    # A kill costs what was under way; between the runs of the result, those that had ended too.
    late = max(0, math.ceil(result / REPEATED) - 1)
    most = jobs * (done - late)
    lane.expect(others <= most, f"{others} + {result} checks made again, after {done} kills")
    return done


def main(folder: Path, seed: int, kills: int) -> None:
    """Kill as often as that, and see that in the end all is as if nothing had been."""
    marks.set_adopting(True)
    choose = Random(seed)
    lane = Lane(folder)
    lane.start("--jobs", "2").wait(PATIENCE)
    undisturbed = lane.output.read_bytes()
    lane.check_output()
    lane.check_rest()
    most = kills // 2
    while most > 0 and not lane.wrong:
        done = resumed(lane, choose, min(most, 15), undisturbed)
        most, kills = most - done, kills - done
    while kills > 0 and not lane.wrong:
        kills -= torment(lane, choose, kills)
    if not lane.wrong:
        # An oracle of which a part was killed has lied, and the journal keeps what it said.
        code = lane.start("--jobs", "2", "--restart").wait(PATIENCE)
        lane.expect(code == 0, f"exit code {code}")
        lane.expect(lane.output.read_bytes() == undisturbed, "another result")
        lane.check_rest()
        lane.check_words()
        lane.check_folder()
    print("\n".join(lane.wrong), end="")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
