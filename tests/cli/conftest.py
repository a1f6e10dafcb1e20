"""The tool in a folder of its own; afterwards no process of a test may be left."""

import contextlib
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.tool import Tool


@pytest.fixture
def tool(tmp_path: Path) -> Iterator[Tool]:
    mark = f"REDUCEKIT_TEST_CLI_{os.getpid()}_{time.monotonic_ns()}"
    tool = Tool(tmp_path, {mark: "1"})
    yield tool
    give_up = time.monotonic() + 10
    while marked(mark) and time.monotonic() < give_up:
        time.sleep(0.01)
    left = marked(mark)
    for number in left:  # so that what is left of one test does not fail others
        with contextlib.suppress(ProcessLookupError):
            os.kill(number, signal.SIGKILL)
    for process in tool.started:
        process.wait(10)
    assert list(left.values()) == []


def marked(mark: str) -> dict[int, str]:
    """Return the command lines of the processes that have the variable in their environment."""
    found = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            if mark.encode() in (entry / "environ").read_bytes():
                line = (entry / "cmdline").read_bytes()
                found[int(entry.name)] = line.decode(errors="replace")
        except OSError:
            pass  # it has gone, or is not ours
    return found
