"""Which files a test consists of, and when they have changed."""

import os
import shutil
from pathlib import Path

import pytest

from reducekit.oracle.command import Command, changed_files, files_of


def script(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(("#!/bin/sh", *lines, "")), encoding="utf-8")
    path.chmod(0o755)
    return path


SYSTEM = ("/usr/", "/bin/", *(f"{folder}/" for folder in os.get_exec_path()))
"""Where the programs of the system are."""


def names(line: str, *, shell: bool = False) -> set[str]:
    """Return the files of a command by name, without those of the system."""
    found = files_of([Command.of(line, shell=shell)])
    return {os.path.basename(path) for path in found if not path.startswith(SYSTEM)}


def test_what_the_words_of_a_command_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    script(tmp_path / "solver", "true")
    script(tmp_path / "t.sh", './solver --opt "$1" | grep x')
    for name in ("lib.so", "script.py", "options"):
        (tmp_path / name).write_text("content")
    assert names("./solver model_validate=true") == {"solver"}
    assert names("./t.sh") == {"t.sh", "solver"}
    assert names("env timeout 5 ./solver") == {"solver"}
    assert names("python3 script.py --file=options -l ./lib.so missing") >= {
        "script.py",
        "options",
        "lib.so",
    }
    assert names("cat {} | ./t.sh {} && ./solver {}", shell=True) == {"t.sh", "solver"}


def test_a_program_in_path_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script(tmp_path / "my-solver", "true")
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert names("env my-solver") == {"my-solver"}
    assert names("env SOLVER=my-solver") == set()  # after "=" most words are values
    true = os.path.abspath(shutil.which("true") or "")
    assert true not in files_of([Command.of("my-solver validate=true")], without={true})


def test_files_that_changed(tmp_path: Path) -> None:
    """By content; one that is known by its size and time is not read again."""
    command = Command.of(str(script(tmp_path / "t.sh", "true")))
    path = str(tmp_path / "t.sh")
    before = files_of([command])
    os.utime(path, (1, 1))
    assert changed_files(before, files_of([command], known=before)) == []
    script(tmp_path / "t.sh", "echo")  # of the same size
    os.utime(path, ns=(before[path].time, before[path].time))
    assert changed_files(before, files_of([command], known=before)) == []
    os.utime(path, (2, 2))
    after = files_of([command], known=before)
    assert path in changed_files(before, after)
    os.unlink(path)
    assert path in changed_files(before, files_of([command]))
    assert files_of([command], without={path}) == {}
