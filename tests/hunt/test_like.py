"""`--like FILE`: only what fails like a file and is smaller counts; other bugs are still listed."""

from pathlib import Path

import pytest

from reducekit.errors import NotInterestingError, UsageError
from reducekit.hunt import Hunt, HuntOptions
from reducekit.hunt.events import HuntEvent, HuntNotice, HuntStats, Reduced
from tests.hunt.test_hunt import script, seeds

# Two failures, by the words of a file.
SOLVER = """grep -q needle "$1" && { echo 'error: lost' >&2; exit 3; }
grep -q pin "$1" && { echo 'error: broken' >&2; exit 3; }
echo sat"""
LOST, BROKEN = (f"solver: exit status 3, error: {word}" for word in ("lost", "broken"))
KNOWN = "some words before the needle\nand some more after it\n"
TEXTS = (
    f"too long: {KNOWN}{KNOWN}",
    "a pin in other words\n",
    "a shorter one with a needle in it\n",
    "fine\n",
    "needle in hay\n",
    "another needle in more hay\n",
)


def hunt(folder: Path, like: str = KNOWN, **more: object) -> tuple[HuntStats, list[HuntEvent]]:
    """Hunt in the texts, which are written if they are not there yet."""
    (folder / "known.txt").write_text(like)
    place = folder / "seeds"
    options = HuntOptions(
        format="text",
        folder=folder / "found",
        programs=(script(folder / "solver", SOLVER),),
        seeds=place if place.exists() else seeds(folder, *TEXTS),
        like=folder / "known.txt",
        **more,  # type: ignore[arg-type]
    )
    events: list[HuntEvent] = []
    return Hunt(options, events.append).run(), events


def test_the_smallest_input_is_kept_and_reduced_and_other_bugs_are_listed(tmp_path: Path) -> None:
    stats, events = hunt(tmp_path, reduce=False)
    bugs = {each.title: each for each in stats.bugs.values()}
    lost, broken = (bugs["solver: exit status 3, error: lost"], bugs[BROKEN])
    assert lost.path.read_text() == "needle in hay\n"
    assert lost.reduced_size is None
    assert broken.path.read_text() == TEXTS[1]
    name = tmp_path / "known.txt"
    assert f"4 fail like {name}, 2 of them smaller than any before" in stats.details
    notices = [each.text for each in events if isinstance(each, HuntNotice)]
    assert f"looking for less than {name} with: {LOST}" in notices


def test_only_the_failure_of_the_file_is_reduced(tmp_path: Path) -> None:
    stats, events = hunt(tmp_path)
    bugs = {each.title: each for each in stats.bugs.values()}
    lost, broken = (bugs["solver: exit status 3, error: lost"], bugs[BROKEN])
    # The first that is smaller is reduced to less than the others are.
    assert lost.path.read_text() == TEXTS[2]
    assert lost.reduced_path.read_text().strip() == "needle"
    assert not broken.reduced_path.exists()
    assert sum(isinstance(each, Reduced) for each in events) == 1
    assert f"4 fail like {tmp_path / 'known.txt'}, 1 of them smaller than" in stats.details[-1]


def test_a_hunt_in_parts_finds_what_one_in_one_go_does(tmp_path: Path) -> None:
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    whole.mkdir()
    parts.mkdir()
    hunt(whole, reduce=False)
    for count in range(1, len(TEXTS) + 1):
        stats, _ = hunt(parts, reduce=False, count=count)
    assert stats.inputs == len(TEXTS)
    assert [each.path.read_text() for each in stats.bugs.values()] == [TEXTS[1], TEXTS[4]]
    sizes = [
        sorted(path.stat().st_size for path in (each / "found").glob("*error*[0-9a-f].txt"))
        for each in (whole, parts)
    ]
    assert len(sizes[0]) == len(sizes[1]) > 1


def test_another_file_is_another_hunt(tmp_path: Path) -> None:
    hunt(tmp_path, reduce=False)
    stats, _ = hunt(tmp_path, "needle\n", reduce=False)
    assert stats.inputs == len(TEXTS)
    assert [each.title for each in stats.bugs.values()] == [BROKEN]
    assert stats.details[-1].startswith("4 fail like")
    assert stats.details[-1].endswith(", 0 of them smaller than any before")


def test_a_file_that_does_not_fail(tmp_path: Path) -> None:
    with pytest.raises(NotInterestingError, match=r"`like`: .*known\.txt shows no failure, so"):
        hunt(tmp_path, "fine\n")
    (tmp_path / "known.txt").unlink()
    options = HuntOptions(
        format="text", programs=("true",), seeds=tmp_path, like=tmp_path / "known"
    )
    with pytest.raises(UsageError, match="known"):
        Hunt(options).run()
