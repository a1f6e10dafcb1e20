"""What stands in the place of an output is kept, or left as it was."""

import os
from pathlib import Path

import pytest

from reducekit.errors import UsageError
from reducekit.journal import journal_path
from reducekit.session.place.output import put_aside


def test_a_file_that_cannot_be_moved_leaves_all_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = tmp_path / "out.smt2"
    output.write_text("text")
    journal_path(output).write_text("journal")
    moved: list[Path] = []
    replace = os.replace

    def fails_once(source: Path, target: Path) -> None:
        moved.append(Path(target))
        if len(moved) == 2:
            raise PermissionError(13, "Permission denied")
        replace(source, target)

    monkeypatch.setattr(os, "replace", fails_once)
    with pytest.raises(UsageError, match="cannot be kept under another name: Permission denied"):
        put_aside(output)
    assert sorted(tmp_path.iterdir()) == [output, journal_path(output)]
    assert output.read_text() == "text"


def test_both_get_the_same_number(tmp_path: Path) -> None:
    output = tmp_path / "out.smt2"
    output.write_text("text")
    journal_path(output).write_text("journal")
    kept = put_aside(output)
    numbered = tmp_path / "out.1.smt2"
    assert sorted(tmp_path.iterdir()) == [numbered, journal_path(numbered)]
    assert (
        kept.notice("another run")
        == f"what {output} was before (another run) is kept as {numbered}"
    )
    kept.put_back()
    assert output.read_text() == "text"


def test_what_has_vanished_keeps_nothing_else_from_its_place(tmp_path: Path) -> None:
    output = tmp_path / "out.smt2"
    output.write_text("text")
    journal_path(output).write_text("journal")
    kept = put_aside(output)
    (tmp_path / "out.1.smt2").unlink()
    kept.put_back()
    assert list(tmp_path.iterdir()) == [journal_path(output)]
