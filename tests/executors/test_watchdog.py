"""What is left of a run that is killed by what it cannot catch: nothing."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from reducekit.executors.run_directory import RunDirectory
from tests.executors.runner import LIMITS, NAP, local, marked, sh
from tests.executors.test_hostile import HIDDEN

RUN = f"""
import sys
from tests.executors.runner import LIMITS, local, python
executor = local(python({HIDDEN!r} + "import time\\ntime.sleep({NAP})\\n"), jobs=2)
executor.submit(0, b"", LIMITS)
executor.submit(1, b"", LIMITS)
print(executor._watchdog.pid, executor._directory.path, flush=True)
executor.wait()
"""
"""A run with two checks in flight, each with a daemon in hiding."""


@dataclass
class Run:
    """A run that hangs, in a session of its own."""

    process: subprocess.Popen[str]
    watchdog: int
    directory: Path


@contextmanager
def hanging() -> Iterator[Run]:
    command = [sys.executable, "-c", RUN]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        assert process.stdout is not None
        watchdog, directory = process.stdout.readline().split()
        # The commands, and their daemons: a shell and a sleep each.
        until(lambda: len([line for line in marked() if line.startswith("sleep")]) == 2)
        yield Run(process, int(watchdog), Path(directory))


def until(ready: Callable[[], bool]) -> None:
    give_up = time.monotonic() + 60
    while not ready():
        assert time.monotonic() < give_up, "waited in vain"
        time.sleep(0.005)


def exists(pid: int) -> bool:
    """Say whether a process runs; a zombie does not, and who has to reap it may be slow."""
    return state(pid) not in ("Z", "X", "")


def check_nothing_is_left(run: Run) -> None:
    until(lambda: not marked() and not run.directory.exists() and not exists(run.watchdog))


def test_we_are_killed() -> None:
    with hanging() as run:
        run.process.kill()
        check_nothing_is_left(run)


def test_our_process_group_is_killed() -> None:
    """As when a terminal is closed, or by `kill -9 -PGID`."""
    with hanging() as run:
        os.killpg(run.process.pid, signal.SIGHUP)
        os.killpg(run.process.pid, signal.SIGKILL)
        check_nothing_is_left(run)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_the_watchdog_does_not_go_before_us(number: int) -> None:
    with hanging() as run:
        os.kill(run.watchdog, number)
        run.process.kill()
        check_nothing_is_left(run)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_it_is_held_from_its_first_moment(number: int) -> None:
    """A shell that sets a trap can be ended before that."""
    for _ in range(10):
        with local(sh("true")) as executor:
            process = Path(f"/proc/{executor._watchdog.pid}")
            os.kill(executor._watchdog.pid, number)
            while os.readlink(process / "cwd") != "/":  # it has not begun
                time.sleep(0.001)
            assert exists(executor._watchdog.pid)


def test_the_watchdog_is_killed_too() -> None:
    """Then the next run cleans up, also what hides."""
    with hanging() as run:
        os.kill(run.watchdog, signal.SIGKILL)
        run.process.kill()
        run.process.wait()
        assert marked() != []
        assert run.directory.exists()
        local(sh("true")).close()
        check_nothing_is_left(run)


def test_only_the_watchdog_is_killed() -> None:
    with local(sh("echo x")) as executor:
        os.kill(executor._watchdog.pid, signal.SIGKILL)
        executor.submit(0, b"", LIMITS)
        assert executor.wait(30)[0].interesting


def test_a_run_that_stops_for_a_while_is_not_dead() -> None:
    with hanging() as run:
        run.process.send_signal(signal.SIGSTOP)
        until(lambda: state(run.process.pid) == "T")
        RunDirectory().remove()  # another starts meanwhile
        assert run.directory.exists()
        assert exists(run.watchdog)
        assert marked() != []
        run.process.send_signal(signal.SIGCONT)
        run.process.kill()
        check_nothing_is_left(run)


def state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""


def test_a_closed_run_has_no_watchdog() -> None:
    executor = local(sh("true"))
    pid = executor._watchdog.pid
    assert exists(pid)
    executor.close()
    assert not exists(pid)


def test_the_watchdog_keeps_nothing_open(tmp_path: Path) -> None:
    """Neither a terminal nor a folder of the user's, so that disks can be unmounted."""
    with local(sh("true")) as executor:
        process = Path(f"/proc/{executor._watchdog.pid}")
        until(lambda: os.readlink(process / "cwd") == "/")
        assert os.getsid(executor._watchdog.pid) == executor._watchdog.pid
        assert os.readlink(process / "fd/1") == os.readlink(process / "fd/2") == os.devnull


def test_without_a_shell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reducekit.executors.run_directory._SHELL", "/nonexistent")
    with local(sh("true")) as executor:
        assert executor._watchdog.pid == -1
