"""Results that have no place of their own."""

import errno
import os
import tempfile
from pathlib import Path
from typing import Any

import pytest

from reducekit.errors import UsageError
from reducekit.session.place.output import rescue, write_file


def test_a_result_is_rescued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    path = rescue(b"(check-sat)\n", ".smt2")
    assert path is not None
    assert path.read_bytes() == b"(check-sat)\n"
    assert (path.parent, path.suffix) == (tmp_path, ".smt2")
    assert path.name.startswith("reduced-")


def test_nowhere_to_rescue_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    assert rescue(b"(check-sat)\n", ".smt2") is None


def test_why_a_file_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    path = tmp_path / "out.smt2"
    with pytest.raises(UsageError) as caught:
        write_file(path, b"")
    assert str(caught.value) == f"the output {path} cannot be written: No space left on device"
    assert list(tmp_path.iterdir()) == []
