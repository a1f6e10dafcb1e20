"""Bugs that a program reports in the same words are told apart by what their reductions leave."""

import shutil
from pathlib import Path

import pytest

from reducekit.hunt import Hunt, HuntOptions, HuntStats
from reducekit.hunt.events import Bug, HuntEvent, Reducing
from reducekit.hunt.folder import same_as, write_mark
from reducekit.hunt.reduce import SAMPLES
from tests.hunt.test_hunt import script, seeds

INVALID = """echo '(error "line 3 column 4: an invalid model was generated")'; exit 1"""
"""What z3 prints, whichever operator is wrong."""


def solver(folder: Path) -> str:
    """Write a solver with two bugs, in div and mod."""
    return script(folder / "solver", f"grep -Eq '(div|mod) ' $1 && {{ {INVALID}; }}\necho sat")


def text(operator: str, number: int) -> str:
    lines = [f"(declare-const x{at} Int)" for at in range(number % 3 + 1)]
    return "\n".join([*lines, f"(assert (< {number} ({operator} x0 2)))", "(check-sat)", ""])


def hunted(folder: Path, place: str, texts: list[str], *, cut: int = 0) -> tuple[HuntStats, Path]:
    """Hunt with files, stopped in the reduction of a bug after so many others."""
    if not (folder / "seeds").exists():
        seeds(folder, *texts)
    options = HuntOptions(
        format="smt2", folder=folder / place, programs=(solver(folder),), seeds=folder / "seeds"
    )
    names: list[str] = []

    def listen(event: HuntEvent) -> None:
        if isinstance(event, Reducing) and event.bug.name not in names:
            names.append(event.bug.name)
            if len(names) == cut:
                hunt.stop()

    hunt = Hunt(options, listen)
    return hunt.run(), options.folder


def kept(folder: Path) -> dict[str, str]:
    """Return the inputs in a folder, reduced and as found, and the notes."""
    return {
        path.name: path.read_text()
        for path in folder.iterdir()
        if path.suffix not in (".json", ".journal")
    }


FAULTS = """grep -q 'div ' $1 || { echo sat; exit; }
case $(grep -c declare $1) in
1) kill -SEGV $$;;
2) echo 'free(): invalid pointer' >&2; kill -ABRT $$;;
*) echo 'double free or corruption (out)' >&2; kill -ABRT $$;;
esac"""
"""A memory error in div that shows in another way for each layout of the memory."""


@pytest.mark.slow
def test_a_memory_error_that_shows_in_several_ways_is_one_bug(tmp_path: Path) -> None:
    program = script(tmp_path / "solver", FAULTS)
    folder = seeds(tmp_path, *(text("div", number) for number in range(6)))
    options = HuntOptions(
        format="smt2", folder=tmp_path / "found", programs=(program,), seeds=folder
    )
    (bug,) = Hunt(options, lambda _: None).run().bugs.values()
    assert (bug.count, bug.mark) == (6, "with div")
    assert bug.reduced_path.read_bytes().count(b"declare") <= 1


@pytest.mark.slow
def test_by_the_operators_that_are_left(tmp_path: Path) -> None:
    texts = [text("div", 1), text("div", 2), text("mod", 3), text("div", 4), text("mod", 5)]
    stats, folder = hunted(tmp_path, "found", texts)
    assert sorted((bug.mark, bug.count) for bug in stats.bugs.values()) == [
        ("with div", 3),
        ("with mod", 2),
    ]
    for bug in stats.bugs.values():
        assert bug.title.endswith(f"({bug.mark})")
        assert bug.note_path.read_text().startswith(f"{bug.title}\n")
        assert bug.mark[5:] in bug.reduced_path.read_text()
    assert len([name for name in kept(folder) if name.endswith(".reduced.txt")]) == 2


@pytest.mark.slow
def test_what_is_alike_is_one_bug_however_often(tmp_path: Path) -> None:
    """Of many inputs only the first few are reduced."""
    texts = [text("div", number) for number in range(SAMPLES + 5)]
    stats, _ = hunted(tmp_path, "found", texts)
    assert [bug.count for bug in stats.bugs.values()] == [SAMPLES + 5]
    assert list(stats.samples.values()) == [SAMPLES]


@pytest.mark.slow
@pytest.mark.parametrize("cut", [1, 2, 3])
def test_a_hunt_that_was_cut_off_has_the_same_bugs_in_the_end(tmp_path: Path, cut: int) -> None:
    texts = [text("div", 1), text("div", 2), text("mod", 3), text("div", 4)]
    whole, folder = hunted(tmp_path, "found", texts)
    wanted = kept(folder)
    shutil.rmtree(folder)
    stopped, _ = hunted(tmp_path, "found", texts, cut=cut)
    assert stopped.stopped == "stopped"
    stats, _ = hunted(tmp_path, "found", texts)
    assert kept(folder) == wanted
    assert {b.name: b.count for b in stats.bugs.values()} == {
        b.name: b.count for b in whole.bugs.values()
    }


def test_bugs_of_an_earlier_hunt_in_the_folder_are_known(tmp_path: Path) -> None:
    hunted(tmp_path, "found", [text("div", 1)])
    shutil.rmtree(tmp_path / "seeds")
    stats, _ = hunted(tmp_path, "found", [text("mod", 2), text("div", 4)])
    assert sorted((bug.mark, bug.known_before) for bug in stats.bugs.values()) == [
        ("with div", True),
        ("with mod", False),
    ]


def test_what_cannot_be_parsed_is_one_bug(tmp_path: Path) -> None:
    """Whatever is wrong in it, and where; and again when the hunt begins anew."""
    broken = [text("div", number)[: -(number + 3)] for number in range(5)]
    stats, folder = hunted(tmp_path, "out", broken)
    (bug,) = stats.bugs.values()
    assert bug.count == len(broken)
    assert bug.title.endswith("(not reduced)")
    assert bug.not_reduced.startswith("reducekit cannot parse it: ")
    first = kept(folder)
    (folder / "hunt.json").unlink()
    again, _ = hunted(tmp_path, "out", broken)
    assert [each.count for each in again.bugs.values()] == [len(broken)]
    assert kept(folder) == first


@pytest.mark.parametrize("note", [None, b"", b"\xff\xfe\n"])
def test_a_note_that_was_damaged_or_deleted(tmp_path: Path, note: bytes | None) -> None:
    """As after a hunt that was killed, in a folder that somebody tidied up."""
    path = tmp_path / "signal.smt2"
    path.write_text(text("div", 1))
    bug = Bug("signal", "solver: signal SIGSEGV", ("solver signal.smt2",), path, 1)
    if note is not None:
        bug.note_path.write_bytes(note)
    other = Bug("signal-2", "", (), tmp_path / "signal-2.smt2", 1)
    assert same_as(other, "signal", "with div") is None
    write_mark(bug, "with div")
    assert bug.note_path.read_text().splitlines() == [
        "solver: signal SIGSEGV (with div)",
        "run: solver signal.smt2",
        "differs by: with div",
    ]
    found = same_as(other, "signal", "with div")
    assert found is not None
    assert (found.name, found.runs) == (bug.name, bug.runs)
