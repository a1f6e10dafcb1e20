"""The same results where nothing is there that only Linux has, as on macOS.

It is taken away before reducekit is imported; no test runs on macOS itself.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ELSEWHERE = """
import ctypes, io, os, resource, select, signal, sys
for module, names in ((os, "pidfd_open memfd_create eventfd sched_getaffinity O_PATH ST_NOEXEC"),
                      (signal, "pidfd_send_signal"), (resource, "prlimit")):
    for name in names.split():
        delattr(module, name)
def absent(real):
    def call(path, *rest, **named):
        if str(path).startswith(("/proc", "/dev/shm")):
            raise FileNotFoundError(2, "No such file or directory", path)
        return real(path, *rest, **named)
    return call
os.open, os.listdir, os.statvfs = map(absent, (os.open, os.listdir, os.statvfs))
def known(real):
    def call(kind, *rest):
        if kind == 10:
            raise ValueError("invalid resource specified")
        return real(kind, *rest)
    return call
resource.getrlimit, resource.setrlimit = map(known, (resource.getrlimit, resource.setrlimit))
real = ctypes.CDLL
class CDLL(real):
    def __getattr__(self, name):
        if name == "prctl":
            raise AttributeError(name)
        return super().__getattr__(name)
ctypes.CDLL = CDLL
from reducekit.cli import main
sys.exit(main())
"""
PROGRAM = (
    "#!/bin/sh\nif grep -q x \"$1\"; then echo 'error: x' >&2; exit 3; fi\nsleep 99 & exit 0\n"
)


def elsewhere(folder: Path, *words: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-c", ELSEWHERE, *words], cwd=folder, capture_output=True, text=True,
        env={name: value for name, value in os.environ.items() if name != "TMPDIR"},
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "in.txt").write_text("".join(f"line {n} {'x' * (n == 70)}\n" for n in range(99)))
    (tmp_path / "program").write_text(PROGRAM)
    (tmp_path / "program").chmod(0o755)
    (tmp_path / "lgl.trace").write_text("init\nrelease\n")
    return tmp_path


@pytest.mark.parametrize("more", [("--jobs", "auto"), ("--timeout", "5", "--memory", "1000")])
def test_a_reduction(folder: Path, more: tuple[str, ...]) -> None:
    code, said = elsewhere(folder, "text", "in.txt", "--cmd", "./program", *more)
    assert (code, (folder / "in.reduced.txt").read_text()) == (0, "x\n"), said


def test_a_hang(folder: Path) -> None:
    (folder / "program").write_text("#!/bin/sh\ngrep -q x $1 && sleep 99\nexit 0\n")
    words = ("text", "in.txt", "--cmd", "./program", "--timeout", "0.5", "--max-checks", "5")
    code, said = elsewhere(folder, *words)
    assert (code, "does not end in time" in said) == (5, True), said


def test_a_hunt(folder: Path) -> None:
    (folder / "program").write_text("#!/bin/sh\ngrep -q and $1 && kill -SEGV $$; echo sat\n")
    words = ("hunt", "smt2", "--cmd", "./program", "--count", "8", "--seed", "1", "--logic", "any")
    code, said = elsewhere(folder, *words)
    assert (code, "signal SIGSEGV" in said) == (0, True), said


def test_what_needs_linux_says_so(folder: Path) -> None:
    code, said = elsewhere(folder, "trace", "lgl.trace")
    assert (code, "only Linux replays traces" in said) == (2, True), said
