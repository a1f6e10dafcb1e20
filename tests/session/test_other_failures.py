"""The folder of failures: none of others is touched, none is lost, smaller replaces larger."""

import os
import re
import stat
from pathlib import Path

import pytest

from reducekit.errors import UsageError
from reducekit.oracle.signature import Signature
from reducekit.session.place.other_failures import INDEX, OtherFailures

CRASH = Signature(None, 11, None, None)
ASSERTED = Signature(None, 6, None, b"a.c: Assertion `x\ty/../z' \xff failed " + b"and so on " * 40)
KINDS = (CRASH, ASSERTED, Signature(3, None, None, None), Signature(None, None, "time", None))


def rows(folder: Path) -> list[list[str]]:
    lines = (folder / INDEX).read_text().splitlines()
    assert lines[0] == "file\tbytes\tended\tfailure line"
    return [line.split("\t") for line in lines[1:]]


def test_one_file_per_signature(tmp_path: Path) -> None:
    folder = tmp_path / "others"
    kept = OtherFailures(folder, ".smt2")
    assert not folder.exists()
    for number, found in enumerate(KINDS):
        kept.keep(found, b"%d" % number)
    assert kept.write_error is None
    for number, found in enumerate(KINDS):
        path = kept.file(found)
        assert path is not None
        assert path.parent == folder
        assert path.suffix == ".smt2"
        assert path.read_bytes() == b"%d" % number
    assert len(rows(folder)) == len(KINDS)
    assert {row[0] for row in rows(folder)} | {INDEX} == {path.name for path in folder.iterdir()}
    names = " ".join(row[0] for row in rows(folder))
    for words in ("signal-sigsegv-", "signal-sigabrt-a-c-assertion-x-", "exit-3-", "time-limit-"):
        assert words in names
    ends = {row[2]: row[3] for row in rows(folder)}
    assert set(ends) == {"signal SIGSEGV", "signal SIGABRT", "exit status 3", "time limit"}
    assert ends["signal SIGABRT"].startswith("a.c: Assertion `x\\ty/../z' \\xff failed")


def test_smaller_replaces_larger_also_in_a_later_run(tmp_path: Path) -> None:
    kept = OtherFailures(tmp_path, ".smt2")
    kept.keep(CRASH, b"12345")
    path = kept.file(CRASH)
    assert path is not None
    for text, there in ((b"123", b"123"), (b"1234", b"123"), (b"abc", b"123")):
        kept.keep(CRASH, text)
        assert path.read_bytes() == there
    again = OtherFailures(tmp_path, ".smt2")
    assert again.file(CRASH) is None  # not met in this run
    again.keep(CRASH, b"123456")
    assert again.file(CRASH) == path
    assert path.read_bytes() == b"123"
    again.keep(CRASH, b"12")
    again.keep(ASSERTED, b"x")
    assert path.read_bytes() == b"12"
    assert sorted(row[1] for row in rows(tmp_path)) == ["1", "2"]
    again.keep(CRASH, b"")
    again.keep(CRASH, b"1")
    assert path.read_bytes() == b""


def test_what_a_kill_has_left_is_replaced(tmp_path: Path) -> None:
    kept = OtherFailures(tmp_path, ".x")
    kept.keep(CRASH, b"12345")
    path = kept.file(CRASH)
    assert path is not None
    path.write_bytes(b"")
    OtherFailures(tmp_path, ".x").keep(CRASH, b"1234567")
    assert path.read_bytes() == b"1234567"
    path.unlink()
    OtherFailures(tmp_path, ".x").keep(CRASH, b"12345678")
    assert path.read_bytes() == b"12345678"


def test_files_of_others_are_not_touched(tmp_path: Path) -> None:
    kept = OtherFailures(tmp_path / "first", ".x")
    kept.keep(CRASH, b"1")
    ours = kept.file(CRASH)
    assert ours is not None
    folder = tmp_path / "second"
    folder.mkdir()
    theirs = folder / ours.name
    theirs.write_bytes(b"by hand, and long")
    kept = OtherFailures(folder, ".x")
    for text in (b"123", b"12"):
        kept.keep(CRASH, text)
    path = kept.file(CRASH)
    assert path is not None
    assert path != theirs
    assert path.read_bytes() == b"12"
    assert theirs.read_bytes() == b"by hand, and long"
    assert [row[0] for row in rows(folder)] == [path.name]


def test_two_runs_share_a_folder(tmp_path: Path) -> None:
    first, second = OtherFailures(tmp_path, ".x"), OtherFailures(tmp_path, ".x")
    first.keep(CRASH, b"12")
    second.keep(ASSERTED, b"12")
    first.keep(CRASH, b"1")
    assert len(rows(tmp_path)) == 2


def test_what_cannot_be_a_folder(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("x")
    (tmp_path / "link").symlink_to("nothing")
    (tmp_path / INDEX).write_text("name\tsize\n")
    for folder, words in (
        (file, f"{file} is not a folder"),
        (tmp_path / "no" / "where", f"there is no folder {tmp_path / 'no'}"),
        (tmp_path / "link", f"{tmp_path / 'link'} leads nowhere"),
        (tmp_path, f"{tmp_path / INDEX} is not an index of reducekit"),
        (file / "x", f"there is no folder {file}"),
    ):
        with pytest.raises(UsageError) as caught:
            OtherFailures(folder, ".x")
        assert str(caught.value) == words
    assert (tmp_path / INDEX).read_text() == "name\tsize\n"


def test_trouble_is_remembered(tmp_path: Path) -> None:
    folder = tmp_path / "others"
    kept = OtherFailures(folder, ".x")
    folder.write_text("in the way")
    kept.keep(CRASH, b"1")
    assert kept.write_error is not None
    assert kept.file(CRASH) is None
    folder.unlink()
    folder.mkdir()
    (folder / INDEX).write_text("of somebody else")
    kept.keep(CRASH, b"1")
    assert "is not an index" in str(kept.write_error.strerror)
    assert [path.name for path in folder.iterdir()] == [INDEX]


@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0, 0o666)])
def test_files_may_be_read_by_whom_the_user_lets(tmp_path: Path, umask: int, mode: int) -> None:
    before = os.umask(umask)
    try:
        kept = OtherFailures(tmp_path, ".smt2")
        kept.keep(CRASH, b"text")
    finally:
        os.umask(before)
    path = kept.file(CRASH)
    assert path is not None
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE((tmp_path / INDEX).stat().st_mode)
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_files_are_named_by_what_failed_and_a_hash(tmp_path: Path) -> None:
    kept = OtherFailures(tmp_path, ".smt2")
    names = {}
    for found in KINDS:
        kept.keep(found, b"1")
        path = kept.file(found)
        assert path is not None
        names[found] = path.name
    pattern = r"(.*)-[0-9a-f]{8}\.smt2"
    slugs = [match[1] for name in names.values() if (match := re.fullmatch(pattern, name))]
    assert slugs == [
        "signal-sigsegv",
        "signal-sigabrt-a-c-assertion-x-ty-z-xff-failed-and-so-on",
        "exit-3",
        "time-limit",
    ]


def test_names_that_others_have_taken_get_a_number(tmp_path: Path) -> None:
    first = OtherFailures(tmp_path / "a", ".x")
    first.keep(CRASH, b"1")
    path = first.file(CRASH)
    assert path is not None
    folder = tmp_path / "b"
    folder.mkdir()
    (folder / path.name).touch()
    for number in range(2, 100):
        second = OtherFailures(folder, ".x")
        if number in (2, 99):
            second.keep(CRASH, b"1")
            assert second.file(CRASH) == folder / f"{path.stem}-{number}.x"
            (folder / INDEX).unlink()
        (folder / f"{path.stem}-{number}.x").touch()
    second = OtherFailures(folder, ".x")
    second.keep(CRASH, b"1")
    assert second.write_error is not None
    assert second.write_error.strerror == f"there are 100 files {path.stem}* of others"


def test_an_index_with_bytes_that_are_no_text_is_read(tmp_path: Path) -> None:
    (tmp_path / INDEX).write_bytes(b"file\tbytes\tended\tfailure line\nx.x\t5\texit 3\t\xff\n")
    OtherFailures(tmp_path, ".x").keep(CRASH, b"1")
    assert {row[0] for row in rows(tmp_path)} > {"x.x"}
