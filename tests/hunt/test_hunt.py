"""`reducekit.hunt.Hunt` from Python: events, bugs and their files; stopped from another thread."""

import json
import threading
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from reducekit.errors import UsageError
from reducekit.hunt import Hunt, HuntOptions, HuntStats
from reducekit.hunt.events import (
    HuntEvent,
    HuntFinished,
    HuntNotice,
    HuntStarted,
    InputTested,
    KnownBug,
    NewBug,
    Reduced,
    Reducing,
    to_json,
    to_junit,
)
from reducekit.hunt.folder import prepare_folder

SAT = "echo sat; exit 10"
TEXTS = ("a\nneedle\nb\n", "x\npin\ny\n", "c\nneedle\nd\n", "neither\n")


def script(path: Path, body: str) -> str:
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return str(path)


def crashing(folder: Path, word: str, number: int = 11) -> str:
    """Write a solver that crashes on files with a word, and answers sat otherwise."""
    return script(folder / f"solver{number}", f'grep -q "{word}" "$1" && kill -{number} $$\n{SAT}')


def seeds(folder: Path, *texts: str) -> Path:
    place = folder / "seeds"
    place.mkdir()
    for number, text in enumerate(texts):
        (place / f"{number}.txt").write_text(text)
    return place


def test_new_bugs_are_reduced(tmp_path: Path) -> None:
    """Of any format that is registered, here text."""
    programs = (crashing(tmp_path, "needle"), crashing(tmp_path, "pin", 6))
    events: list[HuntEvent] = []
    folder = tmp_path / "found"
    options = HuntOptions(
        format="text", folder=folder, programs=programs, seeds=seeds(tmp_path, *TEXTS), jobs=2
    )
    stats = Hunt(options, events.append).run()
    assert (stats.inputs, stats.stopped, stats.complete) == (4, None, True)
    bugs = {each.runs[0].split()[0]: each for each in stats.bugs.values()}
    for program, word, count in zip(programs, ("needle", "pin"), (2, 1), strict=True):
        bug = bugs[program]
        assert bug.count == count
        assert bug.reduced_size is not None
        assert bug.reduced_size <= len(word) + 1
        assert word in bug.reduced_path.read_text()
        assert bug.path.read_text() in TEXTS
        assert f"run: {program}" in bug.note_path.read_text()
    kinds = [type(each) for each in events]
    assert kinds[0] is HuntStarted
    assert kinds[-1] is HuntFinished
    assert kinds.count(InputTested) == 4
    assert kinds.count(NewBug) == kinds.count(Reduced) == 2
    assert kinds.count(KnownBug) == 1
    assert Reducing in kinds
    assert {path.suffix for path in folder.iterdir()} == {".txt", ".journal", ".json"}


def test_what_does_not_show_again_is_kept_as_it_is(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    flaky = script(tmp_path / "flaky", f"[ -e {mark} ] || {{ touch {mark}; kill -11 $$; }}\n{SAT}")
    options = HuntOptions(
        format="text", folder=tmp_path / "found", programs=(flaky,), seeds=seeds(tmp_path, "text\n")
    )
    (bug,) = Hunt(options).run().bugs.values()
    assert bug.not_reduced == "it does not show every time"
    assert bug.path.read_text() == "text\n"
    assert not bug.reduced_path.exists()


def test_what_an_empty_file_shows_too_is_not_reduced(tmp_path: Path) -> None:
    options = HuntOptions(
        format="text",
        folder=tmp_path / "found",
        programs=(script(tmp_path / "broken", "exit 3"),),
        seeds=seeds(tmp_path, *TEXTS),
    )
    events: list[HuntEvent] = []
    (bug,) = Hunt(options, events.append).run().bugs.values()
    assert (bug.count, bug.not_reduced) == (4, "an empty file fails in the same way")
    (note,) = (each for each in events if isinstance(each, HuntNotice))
    assert note.text.startswith("each of the first 3 inputs shows this: broken: exit status 3")


def test_a_stop_from_another_thread_while_programs_run(tmp_path: Path) -> None:
    started = tmp_path / "started"
    slow = script(tmp_path / "slow", f"touch {started}\nsleep 600")
    options = HuntOptions(
        format="btor",
        folder=tmp_path / "found",
        programs=(slow,),
        timeout=1000.0,
        format_options={"nodes": 20},
    )
    hunt = Hunt(options)
    found: list[HuntStats] = []
    thread = threading.Thread(target=lambda: found.append(hunt.run()))
    thread.start()
    while not started.exists():
        time.sleep(0.01)
    hunt.stop("enough")
    thread.join(30)
    assert [(each.inputs, each.stopped) for each in found] == [(0, "enough")]


def test_a_stop_while_a_bug_is_reduced(tmp_path: Path) -> None:
    lines = "\n".join(f"line {number}" for number in range(200))
    options = HuntOptions(
        format="text",
        folder=tmp_path / "found",
        programs=(crashing(tmp_path, "line 77"),),
        seeds=seeds(tmp_path, lines, lines),
    )

    def listen(event: HuntEvent) -> None:
        if isinstance(event, Reducing):
            hunt.stop()

    hunt = Hunt(options, listen)
    stats = hunt.run()
    assert stats.stopped == "stopped"
    (bug,) = stats.bugs.values()
    assert bug.path.exists()


def test_the_results_as_json_and_as_junit(tmp_path: Path) -> None:
    options = HuntOptions(
        format="text",
        folder=tmp_path / "found",
        programs=(crashing(tmp_path, "needle"),),
        seeds=seeds(tmp_path, *TEXTS),
        count=3,
    )
    stats = Hunt(options).run()
    found = json.loads(to_json(stats))
    assert (found["schema"], found["inputs"], found["stopped"]) == (1, 3, None)
    (bug,) = found["bugs"]
    assert (bug["failure"], bug["count"]) == ("solver11: signal SIGSEGV", 2)
    assert Path(bug["reduced_file"]).stat().st_size == bug["reduced_bytes"]
    suite = ElementTree.fromstring(to_junit(stats, "hunts"))
    assert (suite.get("tests"), suite.get("failures")) == ("1", "1")
    failure = suite.find("testcase/failure")
    assert failure is not None
    assert failure.get("message") == "solver11: signal SIGSEGV"
    none = ElementTree.fromstring(to_junit(HuntStats(inputs=7), "hunts"))
    assert (none.get("tests"), none.get("failures")) == ("1", "0")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({}, "Missing `command`"),
        ({"programs": ("no-such-program",)}, "'no-such-program' is not in PATH"),
        ({"programs": ("true",), "strategy": "magic"}, "'magic'"),
        ({"programs": ("true",), "format": "nonsense"}, "'nonsense'"),
        ({"programs": ("true",), "format": "text"}, "there is no generator for text"),
        ({"programs": ("true",), "format_options": {"nods": 3}}, "unknown option 'nods'"),
        ({"programs": ("true",), "seeds": Path("no")}, "the folder no does not exist"),
        (
            {"format": "trace", "programs": ("true",), "format_options": {"no_compare": True}},
            "`no_compare` has no effect with `command`",
        ),
        ({"format": "trace", "reference": "true"}, "`reference` requires `command`"),
        ({"format": "trace", "format_options": {"feedback": False}}, "`no_feedback` is for"),
    ],
)
def test_what_is_refused_makes_no_folder(
    tmp_path: Path, wrong: dict[str, object], said: str
) -> None:
    folder = tmp_path / "found"
    given: dict[str, object] = {"format": "btor", "folder": folder, "count": 1, **wrong}
    with pytest.raises(UsageError) as caught:
        Hunt(HuntOptions(**given)).run()  # type: ignore[arg-type]
    assert said in str(caught.value)
    assert not folder.exists()


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UsageError):
        prepare_folder(tmp_path / "file")


def inputs_tested(folder: Path, program: str, place: Path, *, restart: bool = False) -> int:
    """Run a hunt over the files of a folder, and count the inputs that it tests."""
    events: list[HuntEvent] = []
    options = HuntOptions(
        format="text",
        folder=folder,
        programs=(program,),
        seeds=place,
        reduce=False,
        restart=restart,
    )
    Hunt(options, events.append).run()
    return sum(isinstance(event, InputTested) for event in events)


def test_a_hunt_starts_over_where_that_is_asked_or_its_files_have_changed(tmp_path: Path) -> None:
    program = script(tmp_path / "solver", f"echo >> {tmp_path}/runs; {SAT}")
    place, folder = seeds(tmp_path, *TEXTS), tmp_path / "found"
    assert inputs_tested(folder, program, place) == 4
    assert inputs_tested(folder, program, place) == 0
    assert inputs_tested(folder, program, place, restart=True) == 4
    assert inputs_tested(folder, program, place) == 0
    file = place / "0.txt"
    file.write_text(TEXTS[0].replace("needle", "noodle"))  # as large as before
    assert inputs_tested(folder, program, place) == 4
    assert len((tmp_path / "runs").read_text()) == 12


def test_mutants_start_over_where_the_file_that_is_changed_is_another(tmp_path: Path) -> None:
    program = script(tmp_path / "solver", SAT)
    seed, folder = tmp_path / "seed.cnf", tmp_path / "found"
    events: list[HuntEvent] = []

    def run() -> int:
        events.clear()
        options = HuntOptions(
            format="cnf", folder=folder, programs=(program,), reduce=False, count=5,
            format_options={"mutate": str(seed)},
        )  # fmt: skip
        Hunt(options, events.append).run()
        return sum(isinstance(event, InputTested) for event in events)

    seed.write_text("p cnf 3 2\n1 2 0\n-2 3 0\n")
    assert (run(), run()) == (5, 0)
    seed.write_text("p cnf 3 2\n1 3 0\n-1 2 0\n")
    assert run() == 5
