"""The field of SMT-LIB faults: each case fails by its oracle, and its table makes it again."""

import subprocess
from pathlib import Path

import pytest

from benchmarks.smt2_faults.__main__ import main


@pytest.mark.slow
@pytest.mark.debian("cvc5", "cc")
def test_cases_fail_and_are_made_again(tmp_path: Path) -> None:
    words = ["--solver", "cvc5", "--count", "2", "--scripts", "6", "--seed", "3"]
    main([str(tmp_path / "one"), *words])
    main([str(tmp_path / "two"), "--again", str(tmp_path / "one" / "cases.tsv")])
    rows = (tmp_path / "one" / "cases.tsv").read_text().splitlines()
    assert len(rows) == 3
    for row in rows[1:]:
        name, _, address, size, _ = row.split("\t")
        case, again = tmp_path / "one" / name, tmp_path / "two" / name
        text = (case / "input.smt2").read_bytes()
        assert int(size) == len(text)
        assert (again / "input.smt2").read_bytes() == text
        assert f"TRAP_AT={address} " in (case / "oracle").read_text()
        trivial = case / "trivial.smt2"
        trivial.write_text("(check-sat)\n")
        codes = [
            subprocess.run([oracle, file], check=False).returncode
            for oracle in (case / "oracle", again / "oracle")
            for file in (case / "input.smt2", trivial)
        ]
        assert codes == [0, 1, 0, 1]
    assert (tmp_path / "two" / "cases.tsv").read_text().splitlines() == rows
