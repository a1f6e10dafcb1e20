"""Texts by seed have their property, and a run has the sizes at all budgets."""

import shlex
import sys
from pathlib import Path

import pytest

from benchmarks import text_budgets
from benchmarks.texts import READ, case_of, holds, write

VALID = {
    "c": (b"int f(int a) { return a; }", b"int f(int a) { return b; }"),
    "py": (b"def f(a):\n    return a\n", b"def f(a):\n    return b\n"),
    "json": (b'[{"a": 1}]', b'[{"a": }]'),
    "xml": (b"<a b='1'/>", b"<a b='1'>"),
    "v": (b"module a; endmodule", b"module a;"),
    "dfy": (b"function f1(a: int): int { f1(a - 1) }", b"function f1(a: int): int { f2(a - 1) }"),
    "p": (b"fof(a, axiom, p(c1) & q(c2)).", b"fof(a, axiom, p(c1) & )."),
    "log": (b"a\n  b\n", b"\xff"),
    "ini": (b"[a]\nb = 1\n", b"b = 1\n"),
    "csv": (b"a,b\n1,2\n", b"a,b\n1\n"),
}


@pytest.mark.parametrize("seed", range(10, 20))
@pytest.mark.debian  # iverilog
def test_a_seed_makes_a_text_with_its_property(seed: int, tmp_path: Path) -> None:
    case = case_of(seed)
    assert 5_000 < len(case.text) < 80_000
    assert case == case_of(seed)
    assert case.holds(case.text)
    assert not case.holds(b"")
    place = write(case, tmp_path)
    (found,) = text_budgets.from_folder(place.parent)
    assert found.interesting(found.input)
    found.input.write_bytes(VALID[case.language][0])
    assert not found.interesting(found.input)


@pytest.mark.parametrize("language", READ)
@pytest.mark.debian
def test_an_invalid_text_has_no_property(language: str) -> None:
    assert [holds(language, (), text) for text in VALID[language]] == [True, False]


def test_places_remain_in_order_below_what_was_above() -> None:
    wants = [("if", "f", "1"), ("2",)]
    assert holds("dfy", wants, b"if { f(1) } 2")
    assert not holds("dfy", wants, b"2; if { f(1) }")
    assert not holds("dfy", wants, b"while { f(1) } 2")


def test_a_run_has_the_sizes_at_all_budgets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A reducer drops a byte each time, 60 in all; the test wants the first 100 of 160 bytes."""
    script = tmp_path / "drop.py"
    script.write_text(
        "import subprocess, sys\n"
        "text = open(sys.argv[2]).read()\n"
        "while open(sys.argv[2], 'w').write(text) and not subprocess.call(sys.argv[1:]):\n"
        "    text = text[:-1]\n"
    )
    command = shlex.join([sys.executable, str(script)]) + " {oracle} {input}"
    monkeypatch.setattr(text_budgets, "TOOLS", {"drop": command, "ddmin": command})
    case = tmp_path / "cases" / "bytes"
    case.mkdir(parents=True)
    (case / "input.txt").write_text("x" * 160)
    (case / "oracle").write_text('#!/bin/sh\n[ $(wc -c < "$1") -ge 100 ]\n')
    (case / "oracle").chmod(0o755)
    rows = tmp_path / "rows.json"
    words = [str(rows), "--cases", str(case.parent), "--tools"]
    text_budgets.main([*words, "drop"])
    text_budgets.main([*words, "drop,ddmin"])
    table = capsys.readouterr().out
    assert (
        "| bytes |   160 |    drop |   111 |    100 |    100 |    100 |        100 |     62 |"
        in table
    )
    assert "| at the end        | 1.000 |     1 |" in table
    assert [row.tool for row in text_budgets.read([rows])] == ["drop", "ddmin"]
    assert rows.read_text().count("drop") == 1, "what was measured is kept"
    with pytest.raises(SystemExit, match="nothing was run"):
        text_budgets.main([str(tmp_path / "none"), "--cases", str(tmp_path / "none")])
