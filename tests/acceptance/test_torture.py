"""Whatever happens to a run: its output is whole and interesting, and nothing else is left."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from reducekit.executors import marks
from tests.acceptance.torture import Lane
from tests.cli.tool import PROGRAM

pytestmark = pytest.mark.slow

CHECKOUT = Path(__file__).resolve().parents[2]
SEEDS = (1, 2)
KILLS = 40


def test_killed_again_and_again(tmp_path: Path) -> None:
    """Us or our children, by SIGKILL, SIGTERM or SIGINT; in two lanes, as that is quicker."""
    lanes = []
    for seed in SEEDS:
        folder = tmp_path / str(seed)
        folder.mkdir()
        command = [sys.executable, "-m", "tests.acceptance.torture"]
        arguments = [str(folder), str(seed), str(KILLS // len(SEEDS))]
        lanes.append(
            subprocess.Popen(
                [*command, *arguments],
                cwd=CHECKOUT,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
        )
    said = dict(zip(SEEDS, (lane.communicate()[0] for lane in lanes), strict=True))
    assert said == dict.fromkeys(SEEDS, "")


@pytest.fixture
def lane(tmp_path: Path) -> Iterator[Lane]:
    marks.set_adopting(True)
    yield Lane(tmp_path)
    marks.set_adopting(False)


def is_whole(lane: Lane, code: int) -> None:
    """See that the output is whole, or the result that had to be saved elsewhere.

    A run that ended with another `code` than 0 may have none.
    """
    lane.check_output()
    output, rescued = lane.output, list(lane.temporary.glob("reduced-*.smt2"))
    for lane.output in rescued:
        lane.check_output()
        lane.output.unlink()
    lane.output = output
    lane.check_rest()
    lane.check_words()
    lane.check_folder()
    assert lane.wrong == []
    assert rescued or output.exists() or code != 0


JUMPING = """
import random, runpy, sys, time
choose = random.Random(int(sys.argv.pop(1)))
for name, unit in (("time", 1.0), ("time_ns", 10**9)):
    real = getattr(time, name)
    jump = lambda real=real, unit=unit: real() + choose.randrange(-10**7, 10**7) * unit
    setattr(time, name, jump)
runpy.run_module("reducekit", run_name="__main__")
"""
"""Runs reducekit with a clock that somebody sets at every moment."""


def test_clock_jumps(lane: Lane) -> None:
    program = [sys.executable, "-c", JUMPING]
    results = set()
    for seed in range(2):
        process = lane.start("--jobs", "2", "--timeout", "60", program=[*program, str(seed)])
        is_whole(lane, process.wait())
        results.add((lane.folder / "out.smt2").read_bytes())
    assert len(results) == 1


def test_no_time_is_taken_from_a_clock_that_can_jump() -> None:
    jumping = {"time.time", "time.time_ns", "datetime.now", "datetime.datetime.now"}
    found = [
        f"{path}:{node.lineno}"
        for folder in ("reducekit", "frontends", "strategies")
        for path in sorted((CHECKOUT / folder).rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and ast.unparse(node.func) in jumping
    ]
    assert found == []


@pytest.mark.parametrize("checks", [6, 25])
def test_output_folder_goes(lane: Lane, checks: int) -> None:
    """In the middle of the run it becomes one that cannot be written."""
    (lane.folder / "results").mkdir()
    lane.output = lane.folder / "results" / "out.smt2"
    process = lane.start("--jobs", "2")
    lane.wait_for(process, checks)
    (lane.folder / "results").rename(lane.folder / "away")
    (lane.folder / "results").touch()
    code = process.wait()
    lane.output = lane.folder / "away" / "out.smt2"
    lane.before |= {"results", "away"}
    is_whole(lane, code)


@pytest.mark.parametrize("checks", [0, 15])
@pytest.mark.parametrize("remount", [False, True])
def test_disk_gets_full_or_read_only(lane: Lane, checks: int, remount: bool) -> None:
    """A small file system where it may be mounted; else no file may be larger than 512 bytes."""
    place = lane.folder / "small"
    place.mkdir()
    lane.before |= {"small"}
    lane.output = place / "out.smt2"
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(place)]
    if subprocess.run(mount, stderr=subprocess.DEVNULL).returncode:
        limited = ("sh", "-c", 'ulimit -f 1; exec "$@"', "sh", *PROGRAM)
        is_whole(lane, lane.start("--jobs", "2", program=limited).wait())
        return
    # A file system with a journal that is being written is too busy to become read-only.
    journal = ["--no-journal"] if remount else []
    try:
        process = lane.start("--jobs", "2", *journal)
        lane.wait_for(process, checks)
        if remount:
            subprocess.run(["mount", "-o", "remount,ro", str(place)], check=True)
        else:
            with suppress(OSError), (place / "filling").open("wb", buffering=0) as file:
                while True:
                    file.write(bytes(4096))
        is_whole(lane, process.wait())
        left = {path.name for path in place.iterdir()}
        assert left <= {"out.smt2", "out.smt2.journal", "filling"}
    finally:
        subprocess.run(["umount", str(place)], check=True)
