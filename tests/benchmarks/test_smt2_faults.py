"""The field of SMT-LIB faults: each case fails by its oracle, and the same seed makes it again."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.smt2_faults.__main__ import main


@pytest.mark.slow
@pytest.mark.debian("cvc5", "cc")
def test_cases_fail_and_are_made_again(tmp_path: Path) -> None:
    words = ["--solver", "cvc5", "--count", "2", "--scripts", "6", "--seed", "3"]
    main([str(tmp_path / "one"), *words])
    rows = (tmp_path / "one" / "cases.tsv").read_text().splitlines()
    assert len(rows) == 3
    for row in rows[1:]:
        name, _, address, size, made_by = row.split("\t")
        case = tmp_path / "one" / name
        text = (case / "input.smt2").read_bytes()
        assert int(size) == len(text)
        again = [sys.executable, "-m", *shlex.split(made_by)]
        assert subprocess.run(again, capture_output=True, check=True).stdout == text
        assert f"TRAP_AT={address} " in (case / "oracle").read_text()
        trivial = case / "trivial.smt2"
        trivial.write_text("(check-sat)\n")
        codes = [
            subprocess.run([case / "oracle", file], check=False).returncode
            for file in (case / "input.smt2", trivial)
        ]
        assert codes == [0, 1]
    main([str(tmp_path / "two"), *words])
    assert (tmp_path / "two" / "cases.tsv").read_text().splitlines() == rows
