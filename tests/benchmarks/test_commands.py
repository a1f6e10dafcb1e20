"""Benchmarks that measure whole reductions still run: each on one small generated script."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.make_input import generate

CHECKOUT = Path(__file__).resolve().parents[2]


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    case = tmp_path / "cases" / "marker"
    case.mkdir(parents=True)
    (case / "input.smt2").write_bytes(generate(1, 1500))
    (case / "oracle").write_text('#!/bin/sh\nexec grep -q "marker)" "$1"\n')
    (case / "oracle").chmod(0o755)
    return case.parent


def output(module: str, *arguments: str | Path) -> str:
    command = [sys.executable, "-m", f"benchmarks.{module}", *map(str, arguments)]
    done = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def rows(text: str) -> list[list[str]]:
    """Return the cells of the Markdown tables in a text, their rules left out."""
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("| ").split("|")] for line in lines]


def test_the_time_left(cases: Path) -> None:
    header, case, *_ = [line.split("\t") for line in output("eta", cases).splitlines()]
    assert header[:2] == ["case", "checks"]
    assert case[0] == "marker"
    assert int(case[1]) > 20
    said, moments = map(int, case[3].split("/"))
    assert 0 < said <= moments


@pytest.mark.slow
def test_workers_on_a_clock_of_their_own(cases: Path) -> None:
    """Four workers are faster and make more runs; the counts repeat."""
    text = output("workers", cases, "--widths", "1,4")
    (_, *cells), *_ = (row for row in rows(text) if row[0] == "marker")
    one, four = ([int(word) for word in cell.split(" (")[0].split(" / ")] for cell in cells)
    assert one[0] > four[0]
    assert one[1] < four[1]
    assert one[2] == four[2] < 20
    assert output("workers", cases, "--widths", "1,4") == text


@pytest.mark.slow
def test_reducers_side_by_side(cases: Path, tmp_path: Path) -> None:
    ours = f"{sys.executable} -m reducekit smt2 {{input}} -o {{output}} --oracle {{oracle}} -q"
    text = output(
        "side_by_side", cases, "--repeats", "2", "--out", tmp_path / "runs.tsv",
        "--reducer", f"ours={ours}", "--reducer", f"few={ours} --max-checks 5",
    )  # fmt: skip
    found = [row for row in rows(text) if row[0] == "marker"]
    assert [row[1] for row in found] == ["ours", "few", "few", "ours"], "they take turns"
    assert found[0][2:5] == found[3][2:5], "sizes and checks repeat"
    assert int(found[0][3]) < int(found[1][3])
    assert len((tmp_path / "runs.tsv").read_text().splitlines()) == 5
    assert "few / ours, geometric means of the ratios: bytes" in text


@pytest.mark.slow
def test_the_cost_of_a_check(tmp_path: Path) -> None:
    output(
        "engine_cost", "--sizes", "2000", "--checks", "80", "--repeats", "1", "--results", tmp_path
    )
    (table,) = tmp_path.glob("*.md")
    assert [row[1] for row in rows(table.read_text())][-1] == "80"


def test_an_input_of_a_given_size() -> None:
    text = output("make_input", "--size", "3000", "--seed", "2")
    assert text.encode() == generate(2, 3000)


def test_the_own_cost_of_a_check() -> None:
    header, *found = rows(output("smt2_own_cost", "--quick"))
    assert [row[header.index("input")] for row in found[::3]] == [
        "nested lets",
        "QF_AUFBV",
        "many commands",
    ]
    for row in found:
        assert int(row[header.index("checks")]) > 0
        left = int(row[header.index("bytes left")].replace(",", ""))
        assert left < int(row[header.index("bytes")].replace(",", ""))
