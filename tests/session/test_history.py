"""The history of a reduction for programs."""

import json
from pathlib import Path

import pytest

from reducekit.errors import UsageError
from reducekit.session import Options, Session
from reducekit.session.place.history import as_json, diff_of, open_history, step_of

TEXT = b"".join(b"line %d\n" % number for number in range(30))


@pytest.fixture
def output(tmp_path: Path) -> Path:
    path = tmp_path / "out.txt"
    options = Options(
        input=TEXT, format="text", interesting=lambda text: b"line 7\n" in text, output=path
    )
    report = Session(options).run()
    assert report.text == b"line 7\n"
    return path


def test_for_programs(output: Path) -> None:
    path, found = open_history(output)
    said = as_json(path, found)
    assert list(json.loads(json.dumps(said))) == list(said)
    assert list(said) == [
        "schema", "journal", "head", "verdicts", "interesting", "current", "steps", "returns",
        "notes", "unread",
    ]  # fmt: skip
    assert (said["schema"], said["journal"]) == (1, f"{output}.journal")
    assert said["head"]["frontend"] == "text"
    assert said["interesting"] == said["current"] == len(said["steps"]) - 1
    assert said["verdicts"] > said["interesting"]
    assert set(said["notes"]) == {"ended", "report"}
    assert (said["returns"], said["unread"]) == ([], 0)
    first, last = said["steps"][0], said["steps"][-1]
    assert (first["number"], first["bytes"], first["checks"]) == (0, len(TEXT), 0)
    assert (last["number"], last["base"], last["bytes"]) == (
        said["current"], said["current"] - 1, len(b"line 7\n"),
    )  # fmt: skip
    assert set(last) == {"number", "base", "bytes", "checks", "seconds", "pass", "what"}


def test_what_a_step_changed(output: Path) -> None:
    path, found = open_history(output)
    changed = b"".join(diff_of(found, step_of(path, found, 1)))
    assert changed.startswith(b"--- step 0, %d bytes\n+++ step 1, " % len(TEXT))
    assert b"\n-line " in changed


def test_steps_that_there_are_not(output: Path) -> None:
    path, found = open_history(output)
    last = len(found.steps) - 1
    for number in (-1, last + 1):
        with pytest.raises(UsageError, match=rf"has no step {number}: the steps are 0 to {last}"):
            step_of(path, found, number)
    assert step_of(path, found, last).size == len(b"line 7\n")


def test_no_journal(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"there is no file .*in\.txt, and no journal .*journal"):
        open_history(tmp_path / "in.txt")
    other = tmp_path / "other.txt"
    other.write_text("text")
    with pytest.raises(UsageError) as caught:
        open_history(other)
    assert caught.value.__notes__ == [f"(and there is no journal {other}.journal)"]


def test_the_input_alone(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    options = Options(
        input=TEXT, format="text", interesting=lambda text: text == TEXT, output=path, max_checks=1
    )
    Session(options).run()
    journal, found = open_history(path)
    with pytest.raises(UsageError, match=r"has no step 1: there is only step 0, the input$"):
        step_of(journal, found, 1)
