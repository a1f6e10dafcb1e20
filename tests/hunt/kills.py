"""Kills hunts at random moments, and continues them by the same command."""

import contextlib
import os
import random
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from reducekit.cli.process import INTERRUPTED
from tests.cli.tool import PATIENCE, PROGRAM

KINDS = ("process", "group", "tree", "interrupt")
KILLS = 3


def hunted(folder: Path, words: Sequence[str]) -> str:
    """Run a hunt to its end in a folder; return what it prints."""
    done = subprocess.run(
        [*PROGRAM, "hunt", *words],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def killed(folder: Path, words: Sequence[str], kind: str, due: Callable[[], bool]) -> bool:
    """Start a hunt, and kill it when that is due; return whether it still ran."""
    process = subprocess.Popen(
        [*PROGRAM, "hunt", *words],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    while process.poll() is None and not due():
        time.sleep(0.002)
    running = process.poll() is None
    if running:
        _KILL[kind](process.pid)
    assert process.wait() in (0, -signal.SIGKILL, INTERRUPTED)
    return running


def after(seconds: float) -> Callable[[], bool]:
    """Return what says whether these seconds have passed."""
    end = time.monotonic() + seconds
    return lambda: time.monotonic() > end


def found(folder: Path) -> Mapping[str, bytes]:
    """Return the bugs in a folder, reduced and as they were made, with their notes."""
    return {
        path.name: path.read_bytes()
        for path in folder.iterdir()
        if path.suffix not in (".json", ".journal")
    }


def survives(folder: Path, words: Sequence[str], seed: int) -> Mapping[str, bytes]:
    """Kill a hunt three times, and continue it.

    Asserts that it has the bugs of a hunt that nothing has interrupted, and returns these.
    """
    draw = random.Random(seed)
    whole = folder / "whole"
    whole.mkdir()
    begin = time.monotonic()
    hunted(whole, words)
    seconds = time.monotonic() - begin
    wanted = found(whole / "failures")
    place = folder / "killed"
    place.mkdir()
    for _ in range(KILLS):
        killed(place, words, draw.choice(KINDS), after(draw.uniform(0.2, seconds / 2)))
    hunted(place, words)
    assert found(place / "failures") == wanted
    return wanted


def _kill_process(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)


def _interrupt(pid: int) -> None:
    os.kill(pid, signal.SIGINT)


def _kill_group(pid: int) -> None:
    os.killpg(pid, signal.SIGKILL)


def _kill_tree(pid: int) -> None:
    """Kill a process and all its descendants at once: none is left to clean up."""
    tree = [pid]
    for each in tree:
        try:
            children = Path(f"/proc/{each}/task/{each}/children").read_text().split()
        except OSError:
            continue
        tree += map(int, children)
    for each in tree:
        with contextlib.suppress(ProcessLookupError):
            os.kill(each, signal.SIGKILL)


_KILL: Mapping[str, Callable[[int], None]] = {
    "process": _kill_process,
    "group": _kill_group,
    "tree": _kill_tree,
    "interrupt": _interrupt,
}
