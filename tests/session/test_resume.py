"""Resuming after something has changed: the file, the report and the test agree."""

import os
import re
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from reducekit.api import reduce
from reducekit.errors import UsageError
from reducekit.events import Accepted, Checked, Event, Notice, PassStarted
from reducekit.journal import journal_path, load
from reducekit.session import Options, Session
from reducekit.session.progress import Progress
from reducekit.session.report import Report
from tests.lines import Lines

CHECKOUT = Path(__file__).resolve().parents[2]
LINES = b"".join(b"line %d of the text\n" % n for n in range(60))


def script(path: Path, *lines: str) -> str:
    path.write_text("\n".join(("#!/bin/sh", *lines, "")), encoding="utf-8")
    path.chmod(0o755)
    return str(path)


def holds(*numbers: int) -> str:
    """Return a line of a script that asks for lines of the text."""
    return " && ".join(f'grep -q "line {n} " "$1"' for n in numbers)


def run(folder: Path, **options: Any) -> tuple[Report[bytes], str]:
    """Reduce `in.txt`, and return what was said; what is reported has to be in the file."""
    events: list[Event] = []
    source = folder / "in.txt"
    if not source.exists():
        source.write_bytes(LINES)
    report = Session(Options(input=source, format=Lines(), **options), events.append).run()
    assert report.output is not None
    text = report.output.read_bytes()
    assert report.text == text
    assert report.after["bytes"] == len(text)
    checks = [each for each in events if isinstance(each, Checked) and not each.remembered]
    assert len(checks) == report.counts.checks
    return report, "\n".join(event.text for event in events if isinstance(event, Notice))


def test_what_is_reported_is_in_the_file_after_an_earlier_result_is_refuted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing that can be seen has changed: neither the command nor a file that it names."""
    test = script(tmp_path / "t.sh", f'{holds(9)} && {{ {holds(30)} || test "$LAX"; }}')
    monkeypatch.setenv("LAX", "yes")
    first, _ = run(tmp_path, oracle=test)
    assert b"line 30 " not in first.text
    monkeypatch.delenv("LAX")
    second, _ = run(tmp_path, oracle=test)
    assert second.verified
    assert b"line 9 " in second.text
    assert b"line 30 " in second.text
    assert len(second.text) < 100


@pytest.mark.slow
def test_a_flaky_failure_and_a_stop(tmp_path: Path) -> None:
    """Short texts fail in their first four runs, so the stopped run finds nothing amiss."""
    count = tmp_path / "runs"
    count.mkdir()
    test = script(
        tmp_path / "t.sh",
        holds(9),
        '[ $? = 0 ] || exit 1; [ "$(wc -c < "$1")" -ge 500 ] && exit 0',
        f"""log='{count}/'"$(cksum < "$1" | tr ' ' -)"; echo >> "$log" """,
        '[ "$(wc -c < "$log")" -le 4 ]',
    )
    run(tmp_path, oracle=test, max_checks=14)
    report, _ = run(tmp_path, oracle=test)
    assert b"line 9 " in report.text
    assert report.verified


def test_a_loosened_test(tmp_path: Path) -> None:
    test = script(tmp_path / "t.sh", holds(9, 30, 41))
    first, _ = run(tmp_path, oracle=test)
    script(tmp_path / "t.sh", holds(9))
    second, said = run(tmp_path, oracle=test)
    assert b"line 30 " not in second.text
    assert second.verified
    assert (
        "t.sh has changed since: resuming from the smallest earlier step that still fails "
        f"({len(first.text):,} bytes)" in said
    )
    assert "every time" not in said
    kept = tmp_path / "in.reduced.1.txt"
    assert kept.read_bytes() == first.text
    fresh, _ = run(tmp_path, oracle=test, output=tmp_path / "fresh.txt")
    assert second.counts.checks < fresh.counts.checks


def test_a_test_that_no_earlier_step_passes_is_told_once(tmp_path: Path) -> None:
    test = script(tmp_path / "t.sh", holds(9))
    run(tmp_path, oracle=test)
    script(tmp_path / "t.sh", holds(9, 30, 41, 50))
    second, said = run(tmp_path, oracle=test)
    assert b"line 50 " in second.text
    words = "t.sh has changed since: no earlier step still fails; starting from the input"
    assert said.count(words) == 1
    assert "resuming from" not in said


def test_two_files_of_a_test_that_have_changed_are_named(tmp_path: Path) -> None:
    helper = script(tmp_path / "helper.sh", "exit 0")
    test = script(tmp_path / "t.sh", f"{holds(9)} && {helper}")
    command = f"{test} {{}} {helper}"
    run(tmp_path, oracle=command)
    script(tmp_path / "helper.sh", "exit 0 # again")
    script(tmp_path / "t.sh", f"{holds(9, 30)} && {helper}")
    _, said = run(tmp_path, oracle=command)
    assert re.search(r"(t\.sh and helper|helper\.sh and t)\.sh have changed since: ", said)


def test_what_stood_there_is_kept_without_a_journal_too(tmp_path: Path) -> None:
    output = tmp_path / "in.reduced.txt"
    output.write_text("mine")
    test = script(tmp_path / "t.sh", holds(9))
    _, said = run(tmp_path, oracle=test, journal=False)
    assert (tmp_path / "in.reduced.1.txt").read_text() == "mine"
    assert "(another run, as this one keeps no journal) is kept as" in said


def test_a_tightened_test_resumes_from_a_larger_step(tmp_path: Path) -> None:
    test = script(tmp_path / "t.sh", holds(9))
    run(tmp_path, oracle=test)
    steps = load(journal_path(tmp_path / "in.reduced.txt")).steps
    script(tmp_path / "t.sh", holds(9), f'[ $? = 0 ] && [ "$(wc -c < "$1")" -ge {steps[2].size} ]')
    second, said = run(tmp_path, oracle=test)
    assert len(second.text) == steps[2].size
    assert f"the smallest earlier step that still fails ({steps[2].size:,} bytes)" in said
    assert "every time" not in said
    assert second.verified


def test_no_earlier_step_still_fails(tmp_path: Path) -> None:
    test = script(tmp_path / "t.sh", holds(9))
    run(tmp_path, oracle=test)
    script(tmp_path / "t.sh", holds(55))
    # Each step of the first run lacks what this one asks for.
    second, said = run(tmp_path, oracle=test)
    assert b"line 55 " in second.text
    assert "t.sh has changed since" in said
    assert "every time" not in said
    fresh, _ = run(tmp_path, oracle=test, output=tmp_path / "fresh.txt")
    assert fresh.text == second.text


def test_a_solver_that_is_replaced(tmp_path: Path) -> None:
    """A program with an option, fed from another one: its content counts, not its name."""
    solver = tmp_path / "solver"
    script(solver, f"{holds(9, 30)} && exit 3; exit 0")
    command = f"env {solver} {{}} --opt=x"
    first, _ = run(tmp_path, command=command, exit_code=3)
    assert b"line 30 " in first.text
    script(solver, f"{holds(9)} && exit 3; exit 0")
    second, said = run(tmp_path, command=command, exit_code=3)
    assert "solver has changed since: resuming" in said
    assert b"line 30 " not in second.text
    assert second.verified


@pytest.mark.parametrize("way", ["shell", "script", "interpreter"])
def test_what_is_named_within(tmp_path: Path, way: str) -> None:
    inner = tmp_path / "inner.sh"
    script(inner, holds(9, 30))
    ways: dict[str, dict[str, Any]] = {
        "shell": {"oracle": f"cat /dev/null; {inner} {{}}", "shell": True},
        "script": {"oracle": [str(tmp_path / "t.sh")]},
        "interpreter": {"oracle": ["sh", str(inner)]},
    }
    options = ways[way]
    script(tmp_path / "t.sh", f'{inner} "$1"')
    first, _ = run(tmp_path, **options)
    assert b"line 30 " in first.text
    script(inner, holds(9))
    second, said = run(tmp_path, **options)
    assert "inner.sh has changed since" in said
    assert b"line 30 " not in second.text


def test_the_same_content_at_another_time_is_the_same_test(tmp_path: Path) -> None:
    test = script(tmp_path / "t.sh", holds(9))
    first, _ = run(tmp_path, oracle=test, max_checks=10)
    os.utime(test, (1, 1))
    second, said = run(tmp_path, oracle=test)
    assert second.counts.replayed == first.counts.checks
    assert "changed" not in said


def test_what_the_test_writes_is_no_part_of_it(tmp_path: Path) -> None:
    log, started = tmp_path / "log", tmp_path / "started"
    log.touch()
    test = script(tmp_path / "t.sh", f"echo run >> {log}; touch {started}; {holds(9)}")
    first, _ = run(tmp_path, oracle=test, max_checks=10)
    second, said = run(tmp_path, oracle=test)
    assert second.counts.replayed == first.counts.checks
    assert "changed" not in said


KILLED = """
import os, sys
from pathlib import Path
from reducekit.journal import Journal
from reducekit.session import Options, Session
method, path, test = sys.argv[1:]
does = getattr(Journal, method)
def dies(*given):
    does(*given)
    os._exit(9)
setattr(Journal, method, dies)
Session(Options(input=Path(path), format="text", oracle=test)).run()
"""
"""Dies when the method of the journal has been called for the first time."""


@pytest.mark.parametrize("method", ["note", "golden", "verdict"])
def test_a_kill_while_the_first_runs_are_recorded(tmp_path: Path, method: str) -> None:
    log = tmp_path / "log"
    log.touch()
    test = script(tmp_path / "t.sh", f"echo run >> {log}; {holds(9)}")
    source = tmp_path / "in.txt"
    source.write_bytes(LINES)
    command = [sys.executable, "-c", KILLED, method, str(source), test]
    assert subprocess.run(command, cwd=CHECKOUT).returncode == 9
    _, said = run(tmp_path, oracle=test)
    assert "changed" not in said


def test_what_is_shown_begins_with_the_earlier_result(tmp_path: Path) -> None:
    options: dict[str, Any] = {"oracle": script(tmp_path / "t.sh", holds(9, 30))}
    first, _ = run(tmp_path, **options, max_checks=12)
    progress, sizes = Progress(), []

    def watch(event: Event) -> None:
        progress.see(event)
        if isinstance(event, Checked | Accepted):
            sizes.append(progress.size)
            assert event.replayed or not progress.replaying

    second = Session(Options(input=tmp_path / "in.txt", format=Lines(), **options), watch).run()
    assert len(second.text) < len(first.text) < len(LINES)
    assert sizes[0] == len(first.text)
    assert sizes == sorted(sizes, reverse=True)
    assert (progress.checks, progress.replayed) == (second.counts.checks, 12)
    assert progress.rate(1.0) == second.counts.checks - 12


def test_another_path_that_stops_above_the_earlier_result(tmp_path: Path) -> None:
    """A skipped pass makes the resumed search accept texts above what the first one had reached."""
    options: dict[str, Any] = {"oracle": script(tmp_path / "t.sh", holds(9, 30))}
    first, _ = run(tmp_path, **options)
    journal = journal_path(tmp_path / "in.reduced.txt")
    steps = len(load(journal).steps)

    def steer(event: Event) -> None:
        if isinstance(event, PassStarted) and event.name == "lines":
            session.skip_pass()
        elif isinstance(event, Accepted) and len(load(journal).steps) > steps:
            session.stop()

    session = Session(Options(input=tmp_path / "in.txt", format=Lines(), **options), steer)
    second = session.run()
    assert second.text == first.text
    found = load(journal)
    assert len(found.steps) == steps + 1
    assert found.steps[-1].size > len(first.text)
    assert found.text(found.current) == first.text
    third, said = run(tmp_path, **options, max_checks=0)
    assert third.text == first.text
    assert f"already finished: {tmp_path / 'in.reduced.txt'} ({len(first.text):,} bytes" in said


def test_a_stop_after_the_test_has_changed_is_resumed(tmp_path: Path) -> None:
    """The candidates are in the new journal: whenever it is killed, the same bytes come out."""
    test = script(tmp_path / "t.sh", holds(9, 30, 41))
    run(tmp_path, oracle=test)
    script(tmp_path / "t.sh", holds(9, 30))
    whole = tmp_path / "whole"
    whole.mkdir()
    for path in tmp_path.glob("in.*"):
        shutil.copy2(path, whole)
    expected, _ = run(whole, oracle=test)
    checks = 0
    for limit in (0, 1, 2, 5, None):
        report, _ = run(tmp_path, oracle=test, max_checks=limit)
        checks += report.counts.checks - report.counts.replayed
    assert report.text == expected.text
    assert checks == expected.counts.checks == report.counts.checks
    script(tmp_path / "t.sh", holds(9))
    report, said = run(tmp_path, oracle=test)
    assert f"still fails ({len(expected.text):,} bytes)" in said
    assert b"line 30 " not in report.text


def test_in_place_after_the_test_has_changed(tmp_path: Path) -> None:
    test = script(tmp_path / "t.sh", holds(9))
    run(tmp_path, oracle=test, in_place=True)
    script(tmp_path / "t.sh", holds(9, 30))
    report, _ = run(tmp_path, oracle=test, in_place=True)
    assert report.output == tmp_path / "in.txt"
    assert b"line 30 " in report.text
    assert (tmp_path / "in.txt.orig").read_bytes() == LINES


def test_in_place_an_edit_during_the_first_runs_is_not_lost(tmp_path: Path) -> None:
    source = tmp_path / "in.txt"
    source.write_bytes(LINES)
    test = script(tmp_path / "t.sh", f"echo edited > {source}", holds(9))
    with pytest.raises(UsageError, match="has changed since it was read; nothing was written"):
        run(tmp_path, oracle=test, in_place=True)
    assert source.read_text() == "edited\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.txt", "t.sh"]


@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize("edit_test", [False, True])
def test_an_edit_between_two_runs_is_not_lost(
    tmp_path: Path, in_place: bool, edit_test: bool
) -> None:
    test = script(tmp_path / "t.sh", holds(9))
    first, _ = run(tmp_path, oracle=test, in_place=in_place)
    assert first.output is not None
    first.output.write_bytes(b"line 9 by hand\n")
    if edit_test:
        script(tmp_path / "t.sh", holds(9, 30))
    second, said = run(tmp_path, oracle=test, in_place=in_place)
    assert second.output == first.output
    kept = kept_by_hand(tmp_path)
    assert len(kept) == 1
    assert f"kept as {kept[0]}" in said
    assert run(tmp_path, oracle=test, in_place=in_place)[0].text == second.text
    assert kept_by_hand(tmp_path) == kept


def kept_by_hand(folder: Path) -> list[Path]:
    return [each for each in folder.glob("in*.txt") if each.read_bytes() == b"line 9 by hand\n"]


def test_a_journal_that_does_not_know_its_test(tmp_path: Path) -> None:
    """Earlier versions recorded no files: their verdicts may be those of another test."""
    test = script(tmp_path / "t.sh", holds(9, 30))
    run(tmp_path, oracle=test)
    path = journal_path(tmp_path / "in.reduced.txt")
    without_files(path)
    script(tmp_path / "t.sh", holds(9))
    report, said = run(tmp_path, oracle=test)
    assert "the earlier run did not record its test: resuming from" in said
    assert b"line 30 " not in report.text


def without_files(path: Path) -> None:
    """Make a journal as earlier versions wrote it."""

    from reducekit.journal import open_journal

    found = load(path)
    assert found.head is not None
    with open_journal(path, found.head._replace(files=None), LINES, resume=False) as journal:
        for step in found.steps[1:]:
            text = found.text(step.number)
            journal.step(text, step.what, step.pass_name, seconds=0.0, checks=0)
        for key, (interesting, seconds) in found.verdicts.items():
            journal.verdict(key, interesting, seconds)


def contains(needed: bytes, text: bytes) -> bool:
    return needed in text


def test_a_changed_function_resumes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "in.txt"
    path.write_bytes(LINES)
    for needed in (b"line 9 ", b"line 30 "):
        report = reduce(path, partial(contains, needed), format=Lines())
        assert needed in report.text
        assert report.output is not None
        assert report.output.read_bytes() == report.text
        assert report.counts.replayed == 0


def test_a_function_is_asked_about_the_result_that_it_resumes(tmp_path: Path) -> None:
    path = tmp_path / "in.txt"
    path.write_bytes(LINES)
    first = reduce(path, lambda text: b"line 9 " in text, format=Lines(), max_checks=10)
    asked: list[bytes] = []

    def same(text: bytes) -> bool:
        asked.append(text)
        return b"line 9 " in text

    again = reduce(path, same, format=Lines(), resume=True)
    assert again.counts.replayed == first.counts.checks == 10
    assert asked[:3] == [LINES, b"", first.text]
    other = reduce(path, lambda text: b"line 30 " in text, format=Lines(), resume=True)
    assert b"line 30 " in other.text
    assert other.counts.replayed == 0


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_program_that_goes_away_and_comes_back(tmp_path: Path, jobs: int) -> None:
    """The licence is another file, which no word of the command names."""
    licence = tmp_path / "licence"
    licence.touch()
    test = script(
        tmp_path / "solver", 'cd "$(dirname "$0")"', f"test -e licen[c]e && {holds(9, 30)}"
    )
    whole, _ = run(tmp_path, oracle=[test], output=tmp_path / "whole.txt", jobs=jobs)
    checks = 0

    def watch(event: Event) -> None:
        nonlocal checks
        checks += isinstance(event, Checked)
        if checks == 8:
            licence.unlink(missing_ok=True)

    output = tmp_path / "out.txt"
    options: dict[str, Any] = {"oracle": [test], "output": output, "jobs": jobs}
    session = Session(Options(input=tmp_path / "in.txt", format=Lines(), **options), watch)
    report = session.run()
    assert report.stopped is not None
    assert "neither the best file nor the input fails any more" in report.stopped
    assert report.early
    assert report.verified is None
    assert report.text == output.read_bytes()
    assert b"line 30 " in report.text
    assert len(report.text) < len(LINES)
    licence.touch()
    again, _ = run(tmp_path, **options)
    assert again.text == whole.text
    assert again.verified


def test_a_run_of_another_command_is_not_resumed(tmp_path: Path) -> None:
    """`resume` asks for the earlier run; with another command there is none."""
    run(tmp_path, oracle=script(tmp_path / "a.sh", holds(9)), max_checks=10)
    other = script(tmp_path / "b.sh", holds(9))
    before = sorted(tmp_path.iterdir())
    with pytest.raises(UsageError, match="is of another"):
        run(tmp_path, oracle=other, resume=True)
    assert sorted(tmp_path.iterdir()) == before, "nothing was moved"
