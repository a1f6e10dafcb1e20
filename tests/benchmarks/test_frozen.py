"""The table of frozen results: made by the command line, and compared row by row."""

import os
import sys
from pathlib import Path

import pytest

from benchmarks.frozen import Row, case_folders, compare, make, read, run

REDUCEKIT = str(Path(sys.executable).with_name("reducekit"))


def case(top: Path) -> Path:
    folder = top / "marker"
    folder.mkdir()
    lines = [f"(declare-const x{n} Bool)\n(assert x{n})\n" for n in range(20)]
    (folder / "input.smt2").write_text("".join(lines) + "(check-sat)\n")
    (folder / "oracle").write_text('#!/bin/sh\nexec grep -q x7 "$1"\n')
    (folder / "oracle").chmod(0o755)
    return folder


def test_a_case_gives_the_same_row_twice(tmp_path: Path) -> None:
    first, second = (run(case_, REDUCEKIT, 60) for case_ in [case(tmp_path)] * 2)
    assert first == second
    assert first.verified
    assert 0 < first.bytes < 100


@pytest.mark.debian("cadical")
@pytest.mark.slow
@pytest.mark.nightly
def test_generated_cases_are_reduced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{Path(REDUCEKIT).parent}{os.pathsep}{os.environ['PATH']}")
    make(tmp_path)
    cnf, aiger = (next(case_folders([tmp_path / kind])) for kind in ("cnf", "aiger"))
    for folder, least in ((cnf, 1000), (aiger, 1000)):
        assert next(folder.glob("input.*")).stat().st_size > least
        row = run(folder, REDUCEKIT, 60)
        assert row.verified
        assert row.bytes < 1000


def test_a_table_of_the_field_of_faults_is_read(tmp_path: Path) -> None:
    table = tmp_path / "faults.tsv"
    table.write_text("name\tcalls\tsettings\truns\tended\tfails\ncrash-1\t4\t2\t127\t1\t1\n")
    assert read(table) == {"crash-1": Row("crash-1", 127, 6, 6, True, False)}


def test_only_a_worse_row_fails_the_comparison() -> None:
    before = {"a": Row("a", 100, 50, 10, True, False), "b": Row("b", 1000, 50, 10, True, False)}
    assert compare(before, before) == (["checks at equal size: 1,100 -> 1,100 (1.0000)"], True)

    def judged(row: Row) -> bool:
        return compare(before, {**before, row.case: row})[1]

    assert judged(before["a"]._replace(size=9, checks=300))  # smaller: may take more
    assert judged(before["a"]._replace(checks=111))  # 1 % of 1,100
    assert not judged(before["a"]._replace(checks=112))
    assert not judged(before["a"]._replace(size=11, checks=10))
    assert not judged(before["a"]._replace(verified=False))
    assert not compare(before, {"a": before["a"]})[1]
    assert judged(before["a"]._replace(size=11, capped=True))  # depends on time
