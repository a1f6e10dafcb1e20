"""Runs the command line as users do: as a process, on small generated inputs.

Importing reducekit takes a process 0.3 s. So where nothing depends on how Python starts, a call is
a fork of the test's process, which has imported it already.
"""

import ctypes
import faulthandler
import io
import logging
import os
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from reducekit.cli import compare, generate, hunt, main, reduce  # noqa: F401

PROGRAM = [sys.executable, "-m", "reducekit"]
PATIENCE = 60
"""Seconds after which a test gives up on what should be there at once."""


@dataclass(frozen=True)
class Done:
    """How a run ended."""

    code: int
    out: str
    err: str


@dataclass
class Tool:
    """reducekit in a folder of its own, with a place for temporary files."""

    folder: Path
    environment: dict[str, str] = field(default_factory=dict)
    started: list[subprocess.Popen[str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.temporary = self.folder / "temporary"
        self.temporary.mkdir()

    def start(self, *arguments: str | Path, **options: Any) -> subprocess.Popen[str]:
        environment = {**os.environ, "TMPDIR": str(self.temporary), **self.environment}
        process = subprocess.Popen(
            [*options.pop("before", ()), *PROGRAM, *map(str, arguments)],
            **{
                "cwd": self.folder,
                "env": environment,
                "stdin": subprocess.DEVNULL,
                "stdout": subprocess.PIPE,
                "stderr": subprocess.PIPE,
                "text": True,
                **options,
            },
        )
        self.started.append(process)
        return process

    def end(self, process: subprocess.Popen[str]) -> Done:
        try:
            out, err = process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        return Done(process.returncode, out or "", err or "")

    def __call__(self, *arguments: str | Path, **options: Any) -> Done:
        starting = any(name.startswith(("PYTHON", "LANG", "LC_")) for name in self.environment)
        if options or starting or threading.active_count() > 1:  # no fork while locks may be held
            return self.end(self.start(*arguments, **options))
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            pid = os.fork()
            if not pid:
                self._run(list(map(str, arguments)), out.fileno(), err.fileno())
            ended = os.pidfd_open(pid)
            if not select.select([ended], [], [], PATIENCE)[0]:
                os.kill(pid, signal.SIGKILL)
            os.close(ended)
            _, status = os.waitpid(pid, 0)
            printed = []
            for file in (out, err):
                file.seek(0)
                printed.append(file.read().decode())
            return Done(os.waitstatus_to_exitcode(status), *printed)

    def ok(self, *arguments: str | Path, **options: Any) -> Done:
        """Run what has to succeed."""
        done = self(*arguments, **options)
        assert done.code == 0, done.err
        return done

    def _run(self, arguments: list[str], out: int, err: int) -> NoReturn:
        """Become reducekit, as if this process had begun with it."""
        code: object = 1
        try:
            os.chdir(self.folder)
            os.environ.update({"TMPDIR": str(self.temporary), **self.environment})
            tempfile.tempdir = None
            for here, there in ((os.open(os.devnull, os.O_RDONLY), 0), (out, 1), (err, 2)):
                os.dup2(here, there)
            sys.stdin = io.TextIOWrapper(io.BufferedReader(io.FileIO(0)))
            sys.stdout = io.TextIOWrapper(io.BufferedWriter(io.FileIO(1, "w")))
            sys.stderr = io.TextIOWrapper(io.BufferedWriter(io.FileIO(2, "w")), line_buffering=True)
            sys.unraisablehook, sys.excepthook = sys.__unraisablehook__, sys.__excepthook__
            faulthandler.disable()
            logging.root.handlers.clear()
            warnings.simplefilter("ignore")
            sys.argv = ["reducekit", *arguments]
            main()
        except SystemExit as end:
            code = end.code or 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code if isinstance(code, int) else 1)

    def write(self, name: str, text: str | bytes) -> Path:
        path = self.folder / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def script(self, name: str, body: str) -> Path:
        """Write a shell script; it gets the candidate as its last argument."""
        path = self.write(name, f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)
        return path

    def files(self) -> dict[str, bytes | None]:
        """Return all files with their contents, to see that none was touched."""
        return {
            str(path.relative_to(self.folder)): path.read_bytes() if path.is_file() else None
            for path in sorted(self.folder.rglob("*"))
        }


def problem(count: int = 12, needed: Sequence[int] = (7,)) -> str:
    """Return a script with so many assertions; the needed ones mention the word `needle`."""
    lines = ["(set-logic QF_UFLIA)", "(declare-fun needle (Int) Bool)"]
    for index in range(count):
        lines.append(f"(declare-fun x{index} () Int)")
        term = f"(needle (+ x{index} {index}))" if index in needed else f"(> x{index} {index})"
        lines.append(f"(assert (and {term} (< x{index} (* 2 {index + 1}))))")
    return "\n".join([*lines, "(check-sat)", "(exit)", ""])


NEEDLE = "grep -q '(assert.*(needle'"
"""An interestingness test that `problem` passes."""


def until(ready: Callable[[], bool]) -> None:
    """Wait for something that must come."""
    give_up = time.monotonic() + PATIENCE
    while not ready():
        assert time.monotonic() < give_up, "waited in vain"
        time.sleep(0.005)


def interrupt_past_a_wait(process: subprocess.Popen[str]) -> None:
    """Send SIGINT so that a wait of the main thread does not end, as if it came just before that.

    It goes to another thread. Python's handler runs in the main thread, once that looks.
    """
    threads = [int(entry.name) for entry in Path(f"/proc/{process.pid}/task").iterdir()]
    other = next(each for each in threads if each != process.pid)
    assert ctypes.CDLL(None).tgkill(process.pid, other, signal.SIGINT) == 0
