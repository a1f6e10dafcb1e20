"""Results that have no place of their own."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from reducekit.session.output import rescue


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
