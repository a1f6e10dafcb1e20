"""Reducing from Python."""

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, assert_type

import pytest

import reducekit
from reducekit.executors.executor import Repeat
from tests.lines import Lines

SCRIPT = b"""(declare-fun a () Int)
(declare-fun b () Int)
(assert (> (+ a b) 3))
(assert (= (mod a 0) b))
(check-sat)
"""


def test_reduce() -> None:
    result = reducekit.reduce(SCRIPT, lambda text: b"(mod " in text)
    assert result.text.count(b"\n") == 1
    assert b"(mod " in result.text
    assert len(result.text) < 25
    assert result.stopped is None
    assert 0 < result.counts.checks == result.counts.runs


def test_a_str_in_gives_a_str_to_the_predicate_and_in_the_report() -> None:
    seen: list[str] = []

    def interesting(text: str) -> bool:
        seen.append(text)
        return "(mod " in text and "\u00e9" in text

    text = SCRIPT.decode().replace("b", "|\u00e9|")
    report = reducekit.reduce(text, interesting)
    result: str = report.text
    assert_type(report, reducekit.Report[str])
    assert "(mod " in result
    assert result in seen
    assert result.strip() in report._repr_html_()
    assert report.before["bytes"] == len(text.encode())
    # What is no UTF-8 comes back as it was.
    odd = b"\xff x\n".decode("utf-8", "surrogateescape")
    assert reducekit.reduce(odd, lambda text: "\udcff" in text).text.strip() == "\udcff"
    with pytest.raises(
        reducekit.UsageError, match=r"the text cannot be written as UTF-8: .*surrog"
    ):
        reducekit.reduce("\ud800", lambda text: True)


def test_bytes_and_files_give_bytes(tmp_path: Path) -> None:
    source = tmp_path / "in.smt2"
    source.write_bytes(SCRIPT)
    for given in (SCRIPT, source):
        report = reducekit.reduce(given, needle)
        assert_type(report, reducekit.Report[bytes])
        assert b"mod" in report.text


@pytest.mark.parametrize(
    ("name", "text", "counted"),
    [
        ("in.smt2", "(assert true)\n; mod\n", "asserts"),
        ("in.strange", "(assert true)\n; mod\n", "asserts"),
        ("in.cnf", "p cnf 1 1\nc mod\n1 0\n", "clauses"),
        ("IN.CNF", "p cnf 1 1\nc mod\n1 0\n", "clauses"),
        ("in.c", "int mod;\nint y;\n", "lines"),
        ("none", "1 sort bitvec 1\n2 input 1 mod\n3 bad 2\n", "nodes"),
    ],
)
def test_the_format_is_found_as_on_the_command_line(
    tmp_path: Path, name: str, text: str, counted: str
) -> None:
    source = tmp_path / name
    source.write_text(text)
    report = reducekit.reduce(source, needle, journal=False)
    assert counted in report.before
    if "." not in name[3:] or name == "in.strange":
        assert counted in reducekit.reduce(text, lambda text: "mod" in text).before


def test_by_another_algorithm_and_format() -> None:
    result = reducekit.reduce(SCRIPT, lambda text: b"mod" in text, format=Lines(), strategy="ddmin")
    assert result.text.strip() == b"mod"


def test_all_that_is_offered_is_there() -> None:
    for name in reducekit.__all__:
        assert getattr(reducekit, name).__module__.startswith("reducekit") or name == "Template"
    with pytest.raises(AttributeError, match="nothing"):
        reducekit.nothing  # noqa: B018


def test_what_cannot_be_reduced() -> None:
    with pytest.raises(reducekit.NotInterestingError):
        reducekit.reduce(SCRIPT, lambda text: False)
    with pytest.raises(reducekit.ParseError, match="line 1, column 1"):
        reducekit.reduce(b"(assert", lambda text: True)
    with pytest.raises(reducekit.UsageError, match="adaptive"):
        reducekit.reduce(SCRIPT, lambda text: True, strategy="magic")


def needle(text: bytes) -> bool:
    return b"mod" in text


async def later(text: bytes) -> bool:
    return needle(text)


def forgets(text: bytes) -> None:
    needle(text)


@pytest.mark.filterwarnings("error")  # such as that nobody awaited a coroutine
@pytest.mark.parametrize(
    ("predicate", "said"),
    [
        (later, "of type coroutine: it must be a plain function, not `async def`"),
        (forgets, "None: return True or False"),
        (lambda text: "no", r"of type str \('no'\): return True or False"),
        (lambda text: re.search(b"mod", text), "of type Match: return True or False"),
    ],
)
def test_a_predicate_returns_a_bool(predicate: Callable[[bytes], Any], said: str) -> None:
    with pytest.raises(TypeError, match=f"the predicate returned .*{said}"):
        reducekit.reduce(SCRIPT, predicate)


def test_a_predicate_that_takes_text_for_bytes() -> None:
    with pytest.raises(TypeError) as caught:
        reducekit.reduce(SCRIPT, lambda text: "mod" in text)  # type: ignore[operator]
    assert caught.value.__notes__ == [
        "the predicate receives bytes: compare with b'...', or decode() it"
    ]


def test_a_predicate_that_holds_for_the_empty_text() -> None:
    with pytest.raises(
        reducekit.NotInterestingError,
        match=r"an empty file fails in the same way \(the predicate holds\): there is nothing",
    ):
        reducekit.reduce(SCRIPT, lambda text: True)


def test_a_predicate_need_not_expect_the_empty_text() -> None:
    report = reducekit.reduce(SCRIPT, lambda text: text[0] > 0 and needle(text))
    assert report.text == reducekit.reduce(SCRIPT, needle).text


def test_options_as_on_the_command_line(tmp_path: Path) -> None:
    given: dict[str, Any] = {
        "output": str(tmp_path / "out.smt2"),
        "max_time": "1m",
        "timeout": "500ms",
        "memory": "2G",
        "max_output": "3",
        "jobs": "auto",
        "width": "4",
        "max_checks": "1000",
        "exit_code": "SIGSEGV",
        "repeat": "2-of-5",
        "match_out": "unknown",
        "only": "commands",
        "ship": tmp_path,
    }
    options = reducekit.Options(input=SCRIPT, **given)
    read = {name: getattr(options, name) for name in given}
    assert read == {
        "output": tmp_path / "out.smt2",
        "max_time": 60,
        "timeout": 0.5,
        "memory": 2_000_000_000,
        "max_output": 3_000_000,
        "jobs": len(os.sched_getaffinity(0)),
        "width": 4,
        "max_checks": 1000,
        "exit_code": -11,
        "repeat": Repeat(2, 5),
        "match_out": ("unknown",),
        "only": ("commands",),
        "ship": (tmp_path,),
    }
    slow = reducekit.Options(input=SCRIPT, slower_than="10x")  # type: ignore[arg-type]
    assert (slow.slower_than, slow.slower_ratio) == (None, 10)
    report = reducekit.reduce(
        SCRIPT, needle, output=str(tmp_path / "out.smt2"), max_time="1m", jobs="auto"
    )
    assert (tmp_path / "out.smt2").read_bytes() == report.text


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"cmd": "z3"}, "unknown option `cmd`: did you mean `command`?"),
        ({"threads": 2}, "unknown option `threads`: did you mean `jobs`?"),
        ({"maxtime": 2}, "unknown option `maxtime`: did you mean `max_time`?"),
        ({"zzz": 2}, "unknown option `zzz`"),
        ({"timeout": "abc"}, "`timeout`: 'abc' is not a time: expected seconds, or a unit"),
        ({"max_time": -1}, "`max_time`: -1 is not a time"),
        ({"memory": "5 apples"}, "`memory`: '5 apples' is not a size: expected megabytes"),
        ({"jobs": 0}, "`jobs`: 0 is not a number from 1 to 1024 or auto"),
        ({"max_checks": "-1"}, "`max_checks`: '-1' is not a number of at least 0"),
        ({"exit_code": "SIGFOO"}, "`exit_code`: 'SIGFOO' is not a number from -64 to 255 or the"),
        ({"repeat": "often"}, "`repeat`: 'often' is not a number of runs"),
        ({"effort": "fast"}, "`effort`: 'fast' is none of quick, normal, thorough"),
        ({"output": 3}, "`output`: "),
    ],
)
def test_options_that_cannot_be_used(options: dict[str, Any], said: str) -> None:
    with pytest.raises(reducekit.UsageError, match=re.escape(said)):
        reducekit.reduce(SCRIPT, needle, **options)


@pytest.mark.parametrize("format_name", ["smt2", "btor"])
def test_the_name_of_a_file_as_the_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, format_name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("in.smt2").write_bytes(SCRIPT)
    with pytest.raises(reducekit.ReducekitError) as caught:
        reducekit.reduce("in.smt2", lambda text: "mod" in text, format=format_name)
    assert "a file in.smt2 exists: pass Path('in.smt2')" in caught.value.__notes__
