"""Crashes are told apart by their place: at the end, and while reducing with `match_stack`."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from reducekit import reduce
from reducekit.errors import NotInterestingError, UsageError
from reducekit.events import Event, Notice
from reducekit.session import Options
from reducekit.session.phases.search import UNTRACED
from reducekit.session.report import Report
from reducekit.session.runs.variants import last_same
from reducekit.usage.messages import summary
from tests.lines import Lines

pytestmark = pytest.mark.debian("gdb", "cc")

PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define APART __attribute__((noinline, noclone))
static char text[65536];
volatile int *nowhere;
volatile int one = 1;
APART void must(int holds) { if (!holds) abort(); one++; }
APART void left(int at) { FAIL; one++; }
APART void right(int at) { FAIL; one += 2; }
APART void choose(void)
{
    if (strstr(text, "fail") == 0) return;
    if (strlen(text) > 60) left(5); else right(7);
}
int main(int count, char **words)
{
    FILE *file = count > 1 ? fopen(words[1], "r") : stdin;
    if (file == NULL) return 2;
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    choose();
    return 0;
}
"""
"""Crashes on all files with a word: in left() on long ones, in right() on short ones."""
INPUT = b"".join(b"line %d\n" % number for number in range(10, 22)) + b"fail\n"
FAILURES = {
    "segv": "nowhere[at] = at",
    "abort": "must(at > 9)",
    # Each call fills memory, so that no compiler turns it into a loop.
    "deep": "volatile char all[200]; all[at & 7] = 1; {self}(at + 1); one += all[one & 7]",
}


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return a function that compiles the program once for each failure and option."""
    folder = tmp_path_factory.mktemp("programs")

    def built(failure: str = "segv", *options: str) -> Path:
        path = folder / "-".join([failure, *(each.strip("-") for each in options)])
        if not path.exists():
            source = path.with_suffix(".c")
            text = PROGRAM
            for name in ("left", "right"):
                body = FAILURES[failure].replace("{self}", name)
                text = text.replace("FAIL", body, 1)
            source.write_text(text)
            words = ["cc", "-O1", "-w", *options, "-o", str(path), str(source)]
            subprocess.run(words, check=True)
        return path

    return built


def slow(*values: Any) -> Any:
    """Return a case that CI leaves out, as gdb takes a third of a second for each run."""
    return pytest.param(*values, marks=[pytest.mark.slow, pytest.mark.nightly])


def is_left(text: bytes) -> bool:
    """Return whether the program fails in left()."""
    return b"fail" in text and len(text) > 60


def is_right(text: bytes) -> bool:
    """Return whether the text is the smallest that fails at all."""
    return text.split() == [b"fail"]


def script(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(["#!/bin/sh", *lines, ""]))
    path.chmod(0o755)
    return path


def reduced(source: Path | bytes, command: str, **options: Any) -> tuple[Report[bytes], list[str]]:
    """Reduce, and return the report and what was said.

    With gdb in each check, only as far as it takes to lose the place otherwise.
    """
    said: list[str] = []
    if "match_stack" in options:
        options["max_checks"] = 12

    def listen(event: Event) -> None:
        if isinstance(event, Notice):
            said.append(event.text)

    return reduce(source, listen=listen, format=Lines(), command=command, **options), said


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "in.txt"
    path.write_bytes(INPUT)
    return path


@pytest.mark.parametrize(
    ("failure", "options", "functions"),
    [
        ("segv", (), ("left < choose", "right < choose")),
        slow("segv", ("-no-pie",), ("left < choose", "right < choose")),
        slow("segv", ("-static",), ("left < choose", "right < choose")),
        slow("segv", ("-s",), ("segv-s+0x", "segv-s+0x")),
        slow("segv", ("-s", "-no-pie"), ("segv-s-no-pie+0x", "segv-s-no-pie+0x")),
        slow("abort", (), ("must < left < choose", "must < right < choose")),
        slow("deep", (), ("endless recursion of left", "endless recursion of right")),
    ],
)
def test_the_place(
    build: Any, source: Path, failure: str, options: tuple[str, ...], functions: tuple[str, str]
) -> None:
    """Another one is said at the end, with a step that has the first; or it is kept."""
    program = str(build(failure, *options))
    report, said = reduced(source, program)
    assert is_right(report.text)
    assert report.places is not None
    assert not report.places.same
    before, after = report.places.before.describe(), report.places.after.describe()
    assert before.startswith(functions[0])
    assert after.startswith(functions[1])
    assert before != after
    step = source.with_name("in.reduced.same-crash.txt")
    assert report.places.file == step
    assert len(report.text) < len(step.read_bytes()) < len(INPUT)
    assert is_left(step.read_bytes())
    assert said[-1] == f"{report.places.describe()}. To keep the place, add `match_stack` 3"
    assert f"the result in {after}" in said[-1]
    assert said[-1].count(str(step)) == 1
    assert f"  the input crashes in {before}" in summary(report)
    places = json.loads(report.json())["places"]
    assert places == {
        "before": before,
        "after": after,
        "step_bytes": len(step.read_bytes()),
        "step": str(step),
    }

    kept, said = reduced(source, program, match_stack=3, restart=True)
    assert is_left(kept.text)
    assert kept.places is None
    assert kept.failure == f"{report.failure}, in {before}"
    assert kept.verified
    assert f"{report.failure}, in {after}" in [each.failure for each in kept.others]
    assert [each.command for each in kept.reproducers] == [f"{program} {kept.output}"]


@pytest.mark.parametrize(
    "kind", ["wrapper", *map(slow, ("shell", "timeout", "python", "stdin", "own folder"))]
)
def test_through_other_programs(build: Any, source: Path, tmp_path: Path, kind: str) -> None:
    program = build("segv")
    options: dict[str, Any] = {}
    command = str(program)
    if kind == "shell":
        command, options = f"cat {{}} | {program} /dev/stdin; exit $?", {"shell": True}
    elif kind == "wrapper":
        lines = ['name=$(basename "$1")', f'{program} "$1" | cat', f'{program} "$1"', "exit $?"]
        command = str(script(tmp_path / "wrapper", *lines))
    elif kind == "timeout":
        command = f"timeout 60 {program}"
    elif kind == "python":
        driver = tmp_path / "driver.py"
        driver.write_text(
            "import subprocess, sys\n"
            "subprocess.run(['true'])\n"
            f"status = subprocess.run([{str(program)!r}, sys.argv[1]]).returncode\n"
            "sys.exit(3 if status else 0)\n"
        )
        command = f"{sys.executable} {driver}"
    elif kind == "stdin":
        options = {"stdin": True}
    else:
        command = str(script(tmp_path / "wrapper", f"exec {program} in.txt"))
    report, _ = reduced(source, command, match_stack="2", **options)
    assert is_left(report.text)
    assert report.failure.endswith(", in left < choose")
    if kind != "python":  # only its own exit status says that something is wrong
        report, said = reduced(source, command, restart=True, **options)
        assert is_right(report.text)
        assert "the result in right < choose" in said[-1]


def test_through_a_test(build: Any, source: Path, tmp_path: Path) -> None:
    test = script(tmp_path / "test", f'{build("segv")} "$1"', "test $? = 139")
    report = reduce(source, format=Lines(), oracle=str(test), match_stack=2, max_checks=12)
    assert is_left(report.text)


@pytest.mark.slow
@pytest.mark.nightly
def test_a_function_on_the_stack(build: Any, source: Path) -> None:
    program = str(build("abort"))
    report, _ = reduced(source, program, match_stack="^le.t$")
    assert is_left(report.text)
    assert report.failure == "signal SIGABRT, in a function matching '^le.t$'"
    report, _ = reduced(source, program, match_stack="must", restart=True)
    assert is_right(report.text)
    with pytest.raises(NotInterestingError, match="no function matching 'gone' in must < left"):
        reduced(source, program, match_stack="gone", restart=True)


def test_a_sanitizer_needs_no_gdb(
    build: Any, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = str(build("segv", "-fsanitize=address", "-s"))
    monkeypatch.setenv("PATH", str(source.parent))
    report, said = reduced(source, program)
    assert is_right(report.text)
    assert "an earlier step" in said[-1]
    report, _ = reduced(source, program, match_stack=1, restart=True)
    assert is_left(report.text)


@pytest.mark.parametrize("kind", ["missing", "forbidden"])
def test_without_gdb_there_is_one_note(
    build: Any, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    if kind == "forbidden":
        script(folder / "gdb", "echo 'Could not trace the inferior process.' >&2", "exit 1")
    program = str(build("segv"))
    monkeypatch.setenv("PATH", str(folder))
    report, said = reduced(source, program, match_stack=3)
    assert said == [UNTRACED]
    assert is_right(report.text)
    report, said = reduced(source, program, restart=True)
    assert not any("crashes in" in each or "gdb cannot" in each for each in said)
    assert report.places is None


def test_a_crash_that_stays_is_not_mentioned(build: Any) -> None:
    report, said = reduced(INPUT[-60:], str(build("segv")))
    assert report.places is not None
    assert report.places.same
    assert report.places.step is None
    assert said == []
    assert "place" not in summary(report)


def test_a_second_run_says_the_same(build: Any, source: Path) -> None:
    program = str(build("segv"))
    reduced(source, program, max_checks=4)
    kept = source.with_name("in.reduced.same-crash.txt")
    again, repeated = reduced(source, program)
    assert is_right(again.text)
    assert "crashes as the input" in repeated[-1]
    last, repeated = reduced(source, program)
    assert is_right(last.text)
    assert "crashes as the input" in repeated[-1]
    files = sorted(each.name for each in source.parent.glob("*same-crash*"))
    assert files == [kept.name]


def test_what_another_run_left_is_kept(build: Any, source: Path) -> None:
    own = source.with_name("in.reduced.same-crash.txt")
    own.write_text("mine")
    reduced(source, str(build("segv")))
    assert is_left(own.read_bytes())
    assert "mine" in [each.read_text() for each in source.parent.glob("*same-crash*.txt")]


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"command": "true", "match_stack": 0}, "`match_stack`: expected a number of functions"),
        ({"command": "true", "match_stack": "("}, "`match_stack`: '\\(' is not a regular"),
        ({"command": "true", "slower_than": 1, "match_stack": 3}, "no other kind of failure"),
        ({"interesting": len, "match_stack": 3}, "`match_stack` requires `command` or `oracle`"),
    ],
)
def test_refusals(options: dict[str, Any], error: str) -> None:
    with pytest.raises(UsageError, match=error):
        Options(input=INPUT, format=Lines(), **options).commands_and_criterion()


@pytest.mark.parametrize("lost", range(1, 9))
def test_the_last_step_before_the_place_is_lost(lost: int) -> None:
    texts = [b"x" * size for size in range(8, 0, -1)]
    asked: list[bytes] = []

    def same(text: bytes) -> bool:
        asked.append(text)
        return text in texts[:lost]

    assert last_same(texts, same) == (None if lost == 1 else texts[lost - 1])
    assert len(asked) <= 3
