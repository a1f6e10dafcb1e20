"""Being stopped and continued, with real signals: no verdict comes from the time in between."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.tool import until

_STOPPED = 3.0  # seconds
_CHECK = """
import sys
from reducekit.executors.local import LocalExecutor
from reducekit.oracle.command import Command
from reducekit.oracle.criterion import Criterion
from reducekit.oracle.printed import ExitZero
from reducekit.oracle.compared import SlowerThan
from reducekit.run import Limits
from reducekit.oracle.criterion import Oracle

script, criterion = sys.argv[1:]
chosen: Criterion = SlowerThan(2) if criterion == "slow" else ExitZero()
with LocalExecutor(Oracle((Command.of(["sh", "-c", script]),), chosen), 1) as executor:
    executor.submit(0, b"", Limits(wall=2))
    (finished,) = executor.wait()
print(finished.interesting, finished.outcomes[0].limit)
"""


def start(script: str, criterion: str, folder: Path) -> subprocess.Popen[str]:
    """Start one check of a shell script in a process of its own; return when it runs."""
    process = subprocess.Popen(
        [sys.executable, "-c", _CHECK, f"echo >> {folder}/runs; {script}", criterion],
        stdout=subprocess.PIPE,
        text=True,
    )
    until((folder / "runs").exists)
    return process


def pause(pids: list[int]) -> None:
    """Stop processes for a while."""
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    time.sleep(_STOPPED)
    for pid in reversed(pids):
        os.kill(pid, signal.SIGCONT)


def children(pid: int) -> list[int]:
    return list(map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split()))


def runs(folder: Path) -> int:
    return len((folder / "runs").read_text().splitlines())


@pytest.mark.slow
def test_a_quick_run_is_not_slow_because_we_were_stopped(tmp_path: Path) -> None:
    process = start("sleep 0.2", "slow", tmp_path)
    pause([process.pid])
    assert process.communicate()[0] == "False None\n"
    assert runs(tmp_path) == 2


@pytest.mark.slow
def test_a_slow_run_is_slow_all_the_same(tmp_path: Path) -> None:
    process = start("sleep 600", "slow", tmp_path)
    pause([process.pid])
    assert process.communicate()[0] == "True time\n"
    assert runs(tmp_path) == 2


@pytest.mark.slow
def test_the_deadline_waits_when_all_is_stopped(tmp_path: Path) -> None:
    script = f"until [ -e {tmp_path}/go ]; do sleep 0.05; done"
    process = start(script, "zero", tmp_path)
    pause([process.pid, *children(process.pid)])
    (tmp_path / "go").touch()
    assert process.communicate()[0] == "True None\n"
    assert runs(tmp_path) == 1


@pytest.mark.slow
def test_what_hangs_is_ended_after_a_stop(tmp_path: Path) -> None:
    process = start("sleep 600", "zero", tmp_path)
    pause([process.pid])
    assert process.communicate()[0] == "False time\n"
    assert runs(tmp_path) == 1
