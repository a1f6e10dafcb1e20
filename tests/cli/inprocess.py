"""Runs the command line within the process of the tests: quick, for what needs no process."""

import contextlib
import io
from dataclasses import dataclass
from pathlib import Path

import pytest

from reducekit.cli.group import invoke
from reducekit.cli.process import Interrupts, ProcessContext
from tests.cli.tool import Done


class _Stream(io.TextIOWrapper):
    def __init__(self) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8", errors="surrogateescape", newline="\n")

    def text(self) -> str:
        self.flush()
        assert isinstance(self.buffer, io.BytesIO)
        return self.buffer.getvalue().decode("utf-8", "backslashreplace")


@dataclass
class Shell:
    """reducekit in a folder of its own, which is the current one."""

    folder: Path

    def __call__(self, *arguments: str) -> Done:
        out, err = _Stream(), _Stream()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = invoke(list(arguments), ProcessContext(Interrupts(), output_open=True))
        return Done(code, out.text(), err.text())

    def write(self, name: str, text: str | bytes) -> Path:
        path = self.folder / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def script(self, name: str, body: str) -> Path:
        path = self.write(name, f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)
        return path

    def read(self, name: str) -> str:
        return (self.folder / name).read_text()


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    monkeypatch.chdir(tmp_path)
    return Shell(tmp_path)
