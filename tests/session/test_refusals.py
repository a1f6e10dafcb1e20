"""What cannot be reduced, read or written is refused in whole sentences, before any run."""

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from reducekit.api import reduce
from reducekit.errors import ParseError, UsageError
from reducekit.session import Options
from reducekit.session.place.inputs import format_of, output_path, read, read_input
from reducekit.session.place.output import back_up, make_folder, write_file

SCRIPT = b"(assert (> 7 7))\n"


def refused(call: Callable[[], object]) -> str:
    with pytest.raises(UsageError) as caught:
        call()
    return str(caught.value)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "in.smt2"
    path.write_bytes(SCRIPT)
    return path


def given(**options: Any) -> Options:
    return Options(**{"input": SCRIPT, "interesting": bool, **options})


def test_inputs_that_cannot_be_read(tmp_path: Path) -> None:
    large = tmp_path / "large"
    with open(large, "wb") as file:
        file.truncate(2**31)
    for path, words in (
        (tmp_path / "no", f"the input {tmp_path / 'no'} does not exist"),
        (tmp_path, f"the input {tmp_path} is a directory: name a file"),
        (Path("/dev/null"), "the input /dev/null is a device: name a file"),
        (large, f"the input {large} is larger than 2 GiB"),
        (large / "in", f"the input {large / 'in'} cannot be read: Not a directory"),
    ):
        assert refused(partial(read_input, path)) == words
    with pytest.raises(UsageError, match=r"^the input 'a\\x00b' cannot be read: embedded null"):
        read_input(Path("a\0b"))


def test_outputs_that_cannot_be(source: Path, tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    packed = tmp_path / "in.smt2.gz"
    for options, words in (
        (
            {"in_place": True, "output": tmp_path / "out"},
            "`in_place` and `output` are mutually exclusive: give one",
        ),
        ({"in_place": True, "input": SCRIPT}, "`in_place` needs a file as the input"),
        ({"input": fifo}, f"the input {fifo} is not a regular file: name the output with `output`"),
        (
            {"output": packed},
            f"the result is plain text, and {packed} is the name of a compressed file: "
            "name another with `output`, without .gz",
        ),
        ({"output": source}, f"the output {source} is the input: `in_place` replaces it"),
    ):
        assert refused(partial(output_path, given(**{"input": source, **options}))) == words
    assert output_path(given(input=fifo, output=tmp_path / "out")) == tmp_path / "out"
    assert output_path(given(input=tmp_path / "gone.smt2", in_place=True)) is not None


def test_results_that_cannot_be_written(tmp_path: Path) -> None:
    folder = tmp_path / "no"
    for path, words in (
        (Path("-"), "the output is a file: name one, not -"),
        (tmp_path, f"the output {tmp_path} is a directory: name a file with -o"),
        (Path("/dev/null"), "the output /dev/null is not a regular file: name another with -o"),
        (
            folder / "out",
            f"the output {folder / 'out'} cannot be written: there is no folder {folder}",
        ),
    ):
        assert refused(partial(write_file, path, b"")) == words
    (tmp_path / "file").touch()
    assert (
        refused(lambda: make_folder(tmp_path / "file" / "x"))
        == f"the folder {tmp_path / 'file' / 'x'} cannot be made: Not a directory"
    )


def test_backups_that_cannot_be_made(source: Path, tmp_path: Path) -> None:
    backup = tmp_path / "in.smt2.orig"
    backup.touch()
    assert (
        refused(lambda: read(given(input=source, in_place=True)))
        == f"the backup {backup} exists already: move it away first"
    )
    assert (
        refused(lambda: back_up(source, tmp_path / "b", b"other"))
        == f"{source} has changed since it was read; nothing was written. Run the command again"
    )
    assert not (tmp_path / "b").exists()
    assert (
        refused(lambda: back_up(source, backup, SCRIPT))
        == f"the backup {backup} cannot be written: File exists"
    )
    os.chmod(source, 0o640)
    back_up(source, tmp_path / "b", SCRIPT)
    assert (tmp_path / "b").read_bytes() == SCRIPT
    assert (tmp_path / "b").stat().st_mode & 0o777 == 0o640


def test_what_no_other_format_reads_is_a_text(source: Path, tmp_path: Path) -> None:
    assert format_of(source, b"") == "smt2"
    path = tmp_path / "in.unknown"
    assert format_of(path, b"1 var 1\n2 root 1 1\n") == "btor"
    assert format_of(path, b"hello\n") == "text"


def test_options_that_need_others() -> None:
    for options, words in (
        ({"also_passes": ["true"]}, "`also_passes` requires `command` or `oracle`"),
        ({"also_match": [("true", "x")]}, "`also_match` requires `command` or `oracle`"),
        ({"cluster": "local:1"}, "`cluster` requires `command` or `oracle`"),
        ({"ship": ["x"]}, "`ship` requires `cluster`"),
        ({"local_slots": 2}, "`local_slots` requires `cluster`"),
        ({"resume": True}, "`resume` needs an output: the journal is written next to it"),
        ({"resume": True, "restart": True}, None),
    ):
        said = refused(partial(reduce, SCRIPT, bool, **options))
        assert said == (words or "`resume` and `restart` are mutually exclusive: give one")
    with pytest.raises(ParseError) as caught:
        reduce(b" \n\t", bool)
    assert str(caught.value) == "input, line 1, column 1: the input is empty"


def test_pairs_that_are_none() -> None:
    for pairs in ("ab", "abc", ["ab", "cd", "ef"], [("a", "b", "c")]):
        with pytest.raises(UsageError, match="each is a pair of a command and a regular expr"):
            given(also_match=pairs)
    assert given(also_match=("a", "b")).also_match == (("a", "b"),)
    assert given(also_match=[["a", "b"], ("c", "d")]).also_match == (("a", "b"), ("c", "d"))
