"""The papers' tables by one command: its cases fail as they say, and the Makefile runs it."""

import subprocess
from pathlib import Path

import pytest

from benchmarks.papers import graph_cases, main

CHECKOUT = Path(__file__).resolve().parents[2]


@pytest.mark.debian("boolector", "cc")
def test_a_graph_reaches_the_trap_and_a_small_one_does_not(tmp_path: Path) -> None:
    assert list(graph_cases(tmp_path, 2, 60)) == ["ex1-trap", "ex2-trap"]
    small = tmp_path / "small.btor"
    small.write_text("1 var 1\n2 root 1 1\n")
    for name in ("ex1-trap", "ex2-trap"):
        oracle, text = tmp_path / name / "oracle", tmp_path / name / "input.btor"
        assert subprocess.run([oracle, text], check=False).returncode == 0
        assert subprocess.run([oracle, small], check=False).returncode == 1


def test_what_is_missing_is_said_before_anything_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SystemExit):
        main(["--only", "smt2", "--out", str(tmp_path / "out")])
    said = capsys.readouterr().err
    assert "missing: " in said
    assert "cc" in said.partition("missing: ")[2].partition(". ")[0]
    assert "apt-get install" in said
    assert "--only " in said
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("target", "words"), [("papers", ""), ("papers-quick", " --quick")])
def test_the_makefile_runs_it(target: str, words: str) -> None:
    made = subprocess.run(
        ["make", "--dry-run", "VENV=none", target], cwd=CHECKOUT, capture_output=True, text=True
    )
    assert f"python -m benchmarks.papers{words}\n" in made.stdout
