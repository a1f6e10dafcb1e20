"""The published table of reducers on SMT-LIB cases is that of the stored runs."""

from pathlib import Path

from benchmarks.summary import read, table
from reducekit.compare.reducers import Measured, tsv

RESULTS = Path(__file__).resolve().parents[2] / "benchmarks" / "results"


def test_the_published_table_is_made_of_the_stored_runs() -> None:
    published = (RESULTS / "smt2_cases.md").read_text(encoding="utf-8")
    assert published.endswith("\n\n" + table(read(RESULTS / "smt2_cases.tsv")) + "\n")


def test_what_side_by_side_writes_is_read(tmp_path: Path) -> None:
    """An output that is not verified counts as the input; a case that not all have is left out."""
    good = Measured("s", "x", "a", 100, 50, 7, 1.0, 2.0, 30.0, True, False, 0)
    bad = Measured("s", "x", "b", 100, 100, 9, 1.0, 2.0, 30.0, False, True, -9)
    more = good._replace(case="y")
    (tmp_path / "runs.tsv").write_text(tsv([good, bad, more]), encoding="utf-8")
    rows = read(tmp_path / "runs.tsv")
    assert rows == [good, bad, more]
    text = table(rows)
    assert "| x | 100 | 50 | 7 | 1.0 | 100 (not verified) (capped) | 9 | 1.0 |" in text
    assert "| y |" not in text
    assert "b / a, geometric means of the ratios: bytes 2.000 (1 case)." in text
