"""A session: options in, events out, a report at the end; stopped and paused from outside."""

import os
import stat
import threading
from dataclasses import fields
from pathlib import Path
from typing import Any, get_type_hints

import pytest

from reducekit import registry
from reducekit.api import ReduceOptions, reduce
from reducekit.errors import NotInterestingError, OtherFormatError, StoppedError, UsageError
from reducekit.events import Accepted, Checked, Event, FailureFound, Finished, Notice, Started
from reducekit.frontends.smt2 import Smt2
from reducekit.run import Limits
from reducekit.session import Options, Session
from reducekit.session.cluster import Cluster
from reducekit.session.phases.search import _first_wall as first_wall
from reducekit.session.place.inputs import refuse_other_format
from reducekit.session.runs.golden import GoldenRunError
from tests.lines import Lines

SCRIPT = b"".join(b"(declare-const x%d Int)\n(assert (> x%d %d))\n" % (n, n, n) for n in range(40))


def needle(text: bytes) -> bool:
    return b"(> x7 7)" in text


def script(folder: Path, text: str) -> str:
    path = folder / "test.sh"
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)
    return str(path)


def test_the_last_run_is_that_on_the_result(tmp_path: Path) -> None:
    """Also where a candidate after it has printed something else."""
    source = tmp_path / "in.smt2"
    source.write_bytes(SCRIPT)
    test = script(tmp_path, 'wc -c < "$1"; grep -q "(> x7 7)" "$1"')
    options = Options(input=source, format="smt2", oracle=test, output=tmp_path / "out.smt2")
    session = Session(options)
    report = session.run()
    (run,) = session.last_run
    assert int(run.stdout) == len(report.text)


def test_events_tell_what_happens(tmp_path: Path) -> None:
    events: list[Event] = []
    output = tmp_path / "out.smt2"
    options = Options(input=SCRIPT, interesting=needle, output=output, journal=False)
    report = Session(options, events.append).run()
    assert events[0] == Started(len(SCRIPT), output)
    assert events[1] == FailureFound("the predicate holds")
    assert events[-1] == Finished(None, len(report.text), None)
    accepted = [each for each in events if isinstance(each, Accepted)]
    assert accepted[-1].text == report.text == output.read_bytes()
    runs = [each for each in events if isinstance(each, Checked) and not each.remembered]
    assert len(runs) == report.counts.checks


def test_a_function_is_asked_once_for_each_check() -> None:
    asked: list[bytes] = []

    def counted(text: bytes) -> bool:
        asked.append(text)
        return needle(text)

    report = reduce(SCRIPT, counted)
    assert asked[:2] == [SCRIPT, b""]
    assert len(asked) == report.runs == report.counts.checks + 2
    assert len(set(asked)) == len(asked)


def test_a_pattern_in_the_output_is_kept() -> None:
    report = reduce(SCRIPT, command="cat", match_out=[r"^\(assert \(> x7 7"])
    assert b"(assert (> x7 7))" in report.text
    assert len(report.text) < 60


def test_where_candidates_are_written_has_to_be_a_folder(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"^`workdir`: .*/missing is no folder"):
        reduce(SCRIPT, needle, workdir=tmp_path / "missing")
    assert reduce(SCRIPT, needle, workdir=tmp_path, max_checks=1).counts.checks == 1


def test_patience_and_no_end_of_it() -> None:
    impatient = reduce(SCRIPT, needle, patience=1)
    assert impatient.stopped == "after 1 consecutive check without success"
    patient = reduce(SCRIPT, needle, patience=0)
    assert patient.stopped is None
    assert patient.counts == reduce(SCRIPT, needle, patience=None).counts
    assert impatient.counts.checks < patient.counts.checks


def test_a_text_as_str() -> None:
    report = reduce(SCRIPT.decode(), lambda text: needle(text.encode()))
    assert report.text == reduce(SCRIPT, needle).text.decode()


def test_options_of_the_call_are_those_of_a_session() -> None:
    known = {field.name for field in fields(Options)} - {"input", "interesting"}
    assert set(ReduceOptions.__annotations__) == known
    ours = get_type_hints(ReduceOptions)
    theirs = get_type_hints(Options, localns={"Cluster": Cluster})
    as_text = {name for name in known if ours[name] != theirs[name]}
    assert as_text == {
        "slower_than", "also_passes", "exit_code", "timeout", "first_timeout", "cpu", "memory",
        "unresolved",
        "max_output", "jobs", "width", "repeat", "output", "also_interesting", "max_checks",
        "max_time", "until", "patience", "workdir", "ship", "local_slots", "match_out",
        "match_err", "only", "without", "protect", "propose", "at_least", "times", "floor",
    }  # fmt: skip


def test_it_is_stopped_while_the_first_run_hangs(tmp_path: Path) -> None:
    output = tmp_path / "out.smt2"
    session = Session(Options(input=SCRIPT, oracle=[script(tmp_path, "sleep 1000")], output=output))
    threading.Timer(0.3, session.stop, ["enough"]).start()
    with pytest.raises(StoppedError, match="enough before there was a result"):
        session.run()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["test.sh"]


def test_it_is_stopped_within_a_check(tmp_path: Path) -> None:
    """What runs then is ended; the best text so far is there."""
    hangs = script(
        tmp_path, 'grep -q "x7 7" "$1" || exit 1; grep -q x30 "$1" || sleep 1000; exit 0'
    )
    output = tmp_path / "out.smt2"
    session = Session(Options(input=SCRIPT, oracle=[hangs], output=output, timeout=900))
    threading.Timer(1.5, session.stop).start()
    report = session.run()
    assert report.stopped == "stopped"
    assert report.verified is None
    assert needle(report.text)
    assert output.read_bytes() == report.text


def test_an_exception_of_the_listener_leaves_the_best_text(tmp_path: Path) -> None:
    output = tmp_path / "out.smt2"

    def fails(event: Event) -> None:
        if isinstance(event, Accepted):
            raise RuntimeError("of the listener")

    with pytest.raises(RuntimeError, match="of the listener"):
        Session(Options(input=SCRIPT, interesting=needle, output=output), fails).run()
    assert needle(output.read_bytes())
    assert len(output.read_bytes()) < len(SCRIPT)


def test_contradictions_name_the_options() -> None:
    with pytest.raises(UsageError, match="`command` and `interesting` are mutually exclusive"):
        reduce(SCRIPT, needle, command="false")
    with pytest.raises(UsageError, match="Missing `command`"):
        reduce(SCRIPT)


def test_other_programs_beside_a_command(tmp_path: Path) -> None:
    log = tmp_path / "log"
    other = script(tmp_path, f"echo run >> {log}")
    report = reduce(SCRIPT, command="grep x7", exit_code=0, also_passes=[other], max_checks=20)
    assert b"x7" in report.text
    assert log.read_text().startswith("run\n")


def test_other_failures_have_files_of_the_format(tmp_path: Path) -> None:
    command = script(tmp_path, 'grep -q x8 "$1" || exit 4; exit 3')
    others = tmp_path / "others"
    reduce(SCRIPT, command=command, exit_code=3, also_interesting=others, max_checks=40)
    assert {path.suffix for path in others.iterdir()} == {".smt2", ".tsv"}


def test_a_text_has_no_output_in_place(tmp_path: Path) -> None:
    path = tmp_path / "in.smt2"
    path.write_bytes(SCRIPT)
    with pytest.raises(UsageError) as caught:
        reduce(path, needle, in_place=True, output=tmp_path / "out.smt2")
    assert str(caught.value) == "`in_place` and `output` are mutually exclusive: give one"


def test_an_interrupt_after_the_input_was_seen_to_fail_leaves_the_best_text(tmp_path: Path) -> None:
    asked: list[bytes] = []

    def interrupted(text: bytes) -> bool:
        asked.append(text)
        if len(asked) == 8:
            raise KeyboardInterrupt
        return needle(text)

    output = tmp_path / "out.smt2"
    report = Session(Options(input=SCRIPT, interesting=interrupted, output=output)).run()
    assert report.stopped == "interrupted"
    assert needle(report.text)
    assert len(report.text) < len(SCRIPT)
    assert output.read_bytes() == report.text
    assert report.counts.checks == 8 - 2 - 1, "without the input, the empty text, the last one"


def test_another_format_is_named_with_the_file(tmp_path: Path) -> None:
    path = tmp_path / "in.smt2"
    path.write_bytes(b"1 var 8\n2 root 8 1\n")
    with pytest.raises(OtherFormatError) as caught:
        reduce(path, needle, format="smt2")
    assert str(caught.value) == f"{path} looks like a BTOR or BTOR2 file: use the format 'btor'"


@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0, 0o666)])
def test_the_output_may_be_read_by_whom_the_user_lets(
    tmp_path: Path, umask: int, mode: int
) -> None:
    before = os.umask(umask)
    try:
        reduce(SCRIPT, needle, output=tmp_path / "new.smt2", max_checks=9)
        old = tmp_path / "old.smt2"
        old.write_bytes(SCRIPT)
        old.chmod(0o640)
        reduce(old, needle, in_place=True, max_checks=9)
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new.smt2").stat().st_mode) == mode
    assert stat.S_IMODE(old.stat().st_mode) == 0o640


def test_a_crash_on_an_empty_file_is_told(tmp_path: Path) -> None:
    said: list[str] = []
    test = script(tmp_path, "kill -SEGV $$")
    report = reduce(
        SCRIPT,
        command=test,
        max_checks=3,
        listen=lambda event: said.append(event.text) if isinstance(event, Notice) else None,
    )
    assert said[0] == "an empty file fails in the same way (signal SIGSEGV)"
    assert report.stopped == "after 0 checks" or report.text == b""


def test_a_journal_in_use_is_named(tmp_path: Path) -> None:
    output = tmp_path / "out.smt2"

    def again(text: bytes) -> bool:
        if not tried:
            tried.append(text)
            with pytest.raises(UsageError) as caught:
                reduce(SCRIPT, needle, output=output)
            assert f"the journal {output}.journal is in use" in str(caught.value)
        return needle(text)

    tried: list[bytes] = []
    reduce(SCRIPT, again, output=output, max_checks=3)
    assert tried


def test_all_commands_of_a_failure_are_changed() -> None:
    options = Options(
        input=SCRIPT,
        command="z3 {}",
        reference="cvc5 {}",
        also_passes=["grep x {}"],
        also_match=[("yices {}", "sat")],
    )
    changed = options.with_commands(lambda words: f"nice {words}")
    assert (changed.command, changed.reference, changed.oracle) == (
        "nice z3 {}", "nice cvc5 {}", None,
    )  # fmt: skip
    assert changed.also_passes == ("nice grep x {}",)
    assert changed.also_match == (("nice yices {}", "sat"),)


def test_candidates_have_the_suffix_of_their_format(tmp_path: Path) -> None:
    test = script(tmp_path, 'case "$1" in *.smt2) grep -q "> x7 7" "$1";; *) exit 1;; esac')
    assert needle(reduce(SCRIPT, oracle=test, max_checks=5).text)


def test_the_baseline_is_not_asked_again_of_a_run_that_is_resumed(tmp_path: Path) -> None:
    log = tmp_path / "log"
    test = script(tmp_path, f'[ -s "$1" ] || echo empty >> {log}; grep -q "> x7 7" "$1"')
    for checks in (3, 6):
        reduce(SCRIPT, oracle=test, output=tmp_path / "out.smt2", max_checks=checks)
        assert log.read_text() == "empty\n"


def test_the_output_that_cannot_be_written_is_named_with_the_reason(tmp_path: Path) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to("loop")
    for path, reason in (
        (tmp_path / "no" / "out.smt2", f"there is no folder {tmp_path / 'no'}"),
        (loop, "[Ss]ymlink|levels of symbolic links"),
    ):
        with pytest.raises(UsageError, match=reason):
            reduce(SCRIPT, needle, output=path)


@pytest.mark.parametrize(
    ("given", "wall"), [(None, 600.0), (0.5, 1.0), (3.0, 1.5), (100.0, 50.0), (5000.0, 600.0)]
)
def test_the_first_run_has_half_of_the_time(given: float | None, wall: float) -> None:
    assert first_wall(given) == wall


def test_limits_of_each_run() -> None:
    limits = Options(
        input=SCRIPT, command="z3", timeout=3.0, cpu=2.0, memory=1 << 20, max_output=1 << 10
    ).limits()
    assert limits == Limits(3.0, 2.0, 1 << 20, 1 << 10)
    assert Options(input=SCRIPT, command="z3").limits() == Limits()


def test_a_predicate_that_is_false_for_the_input() -> None:
    with pytest.raises(GoldenRunError, match="the predicate is false for the input") as caught:
        reduce(SCRIPT, lambda text: False)
    assert caught.value.problem == "not shown"
    with pytest.raises(GoldenRunError) as caught:
        reduce(SCRIPT, command="sh -c 'echo wrong; exit 3' sh")
    assert caught.value.problem == "baseline fails too"


@pytest.mark.parametrize(
    ("spelling", "seconds", "ratio"), [("10x", None, 10.0), ("2m", 120.0, None)]
)
def test_a_ratio_is_read_from_its_spelling(
    spelling: Any, seconds: float | None, ratio: float | None
) -> None:
    given = Options(input=SCRIPT, command="z3", reference="cvc5", slower_than=spelling)
    assert (given.slower_than, given.slower_ratio) == (seconds, ratio)


def test_the_report_names_the_input(tmp_path: Path) -> None:
    path = tmp_path / "in.smt2"
    path.write_bytes(SCRIPT)
    assert reduce(path, needle, max_checks=1).input == path
    assert reduce(SCRIPT, needle, max_checks=1).input is None


@pytest.mark.parametrize(("name", "said"), [("text", True), ("smt2", False)])
def test_formats_without_variants_are_told(name: str, said: bool) -> None:
    notices: list[str] = []
    with pytest.raises(NotInterestingError):
        reduce(
            SCRIPT,
            format=name,
            command="sh -c 'echo sat' sh {seed}",
            unstable=2,
            listen=lambda event: notices.append(event.text) if isinstance(event, Notice) else None,
        )
    assert any("have no variants" in text for text in notices) is said


def test_candidates_on_standard_input() -> None:
    report = reduce(SCRIPT, command="sh -c 'grep -q \"> x7 7\" && exit 3'", stdin=True)
    assert needle(report.text)
    assert report.reproducers[0].command.endswith(" < result.smt2")


def test_a_format_without_a_title_is_called_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    class Plain(Lines):
        name, title = "plain", ""

        @classmethod
        def recognises(cls, text: bytes) -> bool:
            return text.startswith(b"plain")

    monkeypatch.setattr(registry, "names", lambda group: ["plain"])
    monkeypatch.setattr(registry, "frontend_class", lambda name: Plain)
    with pytest.raises(OtherFormatError) as caught:
        refuse_other_format(Smt2(), b"plain text", "in.txt")
    assert str(caught.value) == "in.txt looks like plain: use the format 'plain'"
