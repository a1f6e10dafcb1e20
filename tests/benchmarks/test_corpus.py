"""The corpus benchmark: rows that are kept, and outcomes that are told apart."""

from pathlib import Path

from benchmarks.corpus import load, main


def test_a_folder_is_examined_once(tmp_path: Path) -> None:
    folder = tmp_path / "peers"
    (folder / "below").mkdir(parents=True)
    (folder / "a.smt2").write_text("(declare-const x Bool)\n(assert (not (not x)))\n")
    (folder / "below" / "b.btor").write_text("1 var 4\n2 redor 1 1\n3 root 1 2\n")
    (folder / "c.smt2").write_text("(assert")
    (folder / "d.smt2").write_text("; all of it is a comment\n")
    (folder / "e.txt").write_text("no input")
    rows, out = tmp_path / "rows.tsv", tmp_path / "table.md"
    main([str(folder), "--rows", str(rows), "--out", str(out)])
    outcomes = {each.file: each.outcome for each in load(rows)}
    assert outcomes == {"a.smt2": "ok", "below/b.btor": "ok", "c.smt2": "refused", "d.smt2": "ok"}
    assert "| all |  | 4 |" in out.read_text()
    assert "c.smt2: line 1, column 1: this '(' is never closed" in out.read_text()
    before = rows.read_text()
    main([str(folder), "--rows", str(rows), "--out", str(out)])
    assert rows.read_text() == before
