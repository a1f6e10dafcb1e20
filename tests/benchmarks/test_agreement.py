"""The table of agreement: a row for each format with two programs, and what they disagree on."""

from argparse import Namespace
from pathlib import Path

from benchmarks.agreement import Row, table


def test_a_wrong_answer_is_a_finding(tmp_path: Path) -> None:
    known = {"no": f"sh {tmp_path}/no.sh", "yes": f"sh {tmp_path}/yes.sh", "gone": "no-such-solver"}
    (tmp_path / "no.sh").write_text("echo unsat\n")
    (tmp_path / "yes.sh").write_text("echo sat\n")
    rows = (Row("DIMACS", "cnf", ("no", "yes", "gone")), Row("alone", "cnf", ("yes", "gone")))
    chosen = Namespace(count=2, timeout=5.0, seconds=60.0, keep=tmp_path / "keep")
    lines = list(table(rows, known, chosen))
    (row,) = (line for line in lines if line.startswith("| DIMACS"))
    assert row.split(" | ")[:3] == ["| DIMACS", "2", "no, yes"]
    assert row.endswith("| 1 | 2 |")
    assert not any("alone" in line for line in lines)
    assert sum(line.startswith("- DIMACS, 2 times: ") for line in lines) == 1
