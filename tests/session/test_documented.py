"""The examples of docs/python.md, run as they stand."""

import os
import re
import textwrap
from pathlib import Path

import pytest

from reducekit.frontends.smt2 import Smt2

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "python.md"
EXAMPLES = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)

SOLVER = """#!/bin/sh
sleep 0.02
grep -q "(mod a 0)" "$1" && { echo "solver.c:12: Assertion failed" >&2; exit 134; }
exit 0
"""


README = (DOCUMENT.parents[1] / "README.md").read_text(encoding="utf-8")
BALANCED = """#!/bin/sh
text=$(cat)
test "$(echo "$text" | tr -cd '(')" != "" || exit
test "$(echo "$text" | tr -cd '(' | wc -c)" = "$(echo "$text" | tr -cd ')' | wc -c)" || exit
case "$text" in *'(mod '*'(check-sat)'*) echo 'an invalid model was generated';; esac
"""
"""Stands for a solver that reads scripts from standard input."""


def run(source: str) -> None:
    exec(compile(source, str(DOCUMENT), "exec"), {"__name__": "example"})


def test_one_call(capsys: pytest.CaptureFixture[str]) -> None:
    run(EXAMPLES[0])
    text, checks = capsys.readouterr().out.rsplit(maxsplit=1)
    assert "(mod " in text
    assert "(> a 3)" not in text
    assert int(checks) > 0


def test_the_sample_of_the_readme_prints_a_script(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (sample,) = re.findall(
        r"^    import subprocess, reducekit\n.*?^    print\(.*?\n", README, re.DOTALL | re.MULTILINE
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    Path("z3").write_text(BALANCED, encoding="utf-8")
    os.chmod("z3", 0o755)
    lines = [f"(declare-const x{n} Int)\n(assert (> x{n} (mod x{n} 0)))" for n in range(9)]
    Path("in.smt2").write_text("\n".join(lines) + "\n(check-sat)\n", encoding="utf-8")
    run(textwrap.dedent(sample))
    text, checks = capsys.readouterr().out.rsplit(maxsplit=1)
    assert "(mod " in text
    assert len(text) < 100
    assert int(checks) > 0
    assert not Smt2().check(text.encode()).problems


def test_a_session_is_stopped_from_another_thread_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert sum(bool(line) for line in EXAMPLES[1].split("\n")) <= 21
    monkeypatch.chdir(tmp_path)
    lines = ["(declare-const a Int)"]
    lines += [f"(declare-const x{n} Int)\n(assert (> (+ x{n} a) {n}))" for n in range(120)]
    lines += ["(assert (= (mod a 0) 1))", "(check-sat)"]
    Path("in.smt2").write_text("\n".join(lines) + "\n", encoding="utf-8")
    Path("solver").write_text(SOLVER, encoding="utf-8")
    os.chmod("solver", 0o755)
    run(EXAMPLES[1])
    said = capsys.readouterr().out.splitlines()
    first = next(line for line in said if "in.reduced.smt2" in line)
    assert first.startswith("for today in.reduced.smt2 ")
    stopped_at = int(first.split()[-1])
    assert stopped_at < 2000
    assert said[-1].startswith("None ")
    assert said[-1].endswith(" True")
    result = Path("in.reduced.smt2").read_bytes()
    assert b"(mod a 0)" in result
    assert len(result) <= stopped_at
    assert len(result) < 100
