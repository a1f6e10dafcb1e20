from pathlib import Path

import pytest

from reducekit.errors import UsageError
from reducekit.journal import Contents, digest, load, open_journal
from reducekit.reports.account import account
from reducekit.session.progress import PassTotal, Point
from tests.reports.journals import head, write

TEXTS = [b"aaaa\nbbbb\ncccc\n", b"aaaa\ncccc\n", b"cccc\n"]


def test_the_curve_goes_from_the_input_to_the_last_check(tmp_path: Path) -> None:
    told = account(write(tmp_path / "x.journal", TEXTS), tmp_path / "x.journal")
    assert told.curve == [
        Point(0, 0.0, 15),
        Point(3, 0.75, 10),
        Point(6, 1.5, 5),
        Point(7, 1.75, 5),
    ]
    assert (told.before, told.after, told.checks) == (TEXTS[0], TEXTS[2], 7)
    assert told.name == "x"


def test_passes_are_added_up(tmp_path: Path) -> None:
    path = tmp_path / "x.journal"
    with open_journal(path, head(TEXTS[0]), TEXTS[0], resume=False) as journal:
        journal.pass_ended("layout", 0, checks=2, seconds=0.5)
        journal.step(TEXTS[1], "drop", "commands", seconds=1, checks=5)
        journal.pass_ended("commands", 1, checks=9, seconds=2)
        journal.pass_ended("layout", 1, checks=10, seconds=2.25)
        journal.step(TEXTS[2], "drop", "terms", seconds=3, checks=12)
    told = account(load(path), path)
    assert told.passes == [
        PassTotal("layout", 0, 0, 3, 0.75),
        PassTotal("commands", 1, 5, 7, 1.5),
        PassTotal("terms", 1, 5, None, None),
    ]


def test_a_step_that_was_given_up_is_a_rise(tmp_path: Path) -> None:
    path = tmp_path / "x.journal"
    with open_journal(path, head(TEXTS[0]), TEXTS[0], resume=False) as journal:
        journal.step(TEXTS[1], "drop", "commands", seconds=1, checks=5)
        journal.step(TEXTS[2], "drop", "commands", seconds=2, checks=6)
        journal.rolled_back(TEXTS[1])
        journal.step(b"aaaa\n", "drop", "commands", seconds=3, checks=9)
        journal.verdict(digest(b"x"), False, 0.1)
    told = account(load(path), path)
    assert [each.size for each in told.curve] == [15, 10, 5, 10, 5, 5]
    assert told.after == b"aaaa\n"
    assert [number for number, _, _ in told.found.walk()] == [1, 2, 3]
    assert [old for _, old, _ in told.found.walk()] == [TEXTS[0], TEXTS[1], TEXTS[1]]


def test_a_journal_without_its_input_has_nothing_to_tell(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="nothing to report"):
        account(Contents(), tmp_path / "x.journal")


def test_a_resumed_reduction_does_not_record_its_passes_twice(tmp_path: Path) -> None:
    path = tmp_path / "x.journal"
    write(path, TEXTS)
    with open_journal(path, head(TEXTS[0]), TEXTS[0], resume=True) as journal:
        journal.replay()
        journal.step(TEXTS[1], "drop commands", "commands", seconds=1, checks=3)
        journal.step(TEXTS[2], "drop commands", "commands", seconds=1, checks=6)
        journal.pass_ended("commands", 1, checks=7, seconds=2)
        journal.step(b"", "drop", "commands", seconds=3, checks=9)
        journal.pass_ended("commands", 2, checks=10, seconds=3)
    assert [each.round for each in load(path).passes] == [1, 2]
