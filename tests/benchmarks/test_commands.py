"""Benchmarks that measure whole reductions still run: each on one small generated script."""

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
