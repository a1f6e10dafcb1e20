"""The table of a folder of scripts, and what solvers say of random candidates of them."""

from __future__ import annotations

from pathlib import Path
from random import Random

from benchmarks.smt2_candidates import SOLVERS, candidate_of
from benchmarks.smt2_corpus import files, read, table
from reducekit.frontends.smt2 import Smt2

SCRIPT = """(set-logic QF_BV)
(declare-fun a () (_ BitVec 8))
(declare-fun b () (_ BitVec 8))
(assert (let ((x (bvadd a b))) (and (bvult x (bvmul a x)) (= (bvnot b) #x03))))
(check-sat)
"""


def test_the_table_counts_what_has_no_sort_and_what_does_not_parse(tmp_path: Path) -> None:
    (tmp_path / "a.smt2").write_text(SCRIPT)
    (tmp_path / "b.smt2").write_text("(assert (odd 1))\n(assert (= 1 1))\n")
    (tmp_path / "c.smt2").write_text("(assert")
    (tmp_path / "d.txt").write_text("no script")
    (tmp_path / "e.smt2").write_text(" " * 2000)
    found = [read(path) for path in files([tmp_path], 1000)]
    assert [(each.path.name, each.terms, each.sorted) for each in found] == [
        ("a.smt2", 14, 14),
        ("b.smt2", 5, 4),
        ("c.smt2", 0, 0),
    ]
    text = table(found)
    assert "| with a sort | 18 (94.737 %) |" in text
    assert "| `odd` | 1 | 1 | b.smt2 |" in text
    assert "- c.smt2: " in text


def test_solvers_read_random_candidates_and_refuse_what_is_wrong() -> None:
    view = Smt2().parse(SCRIPT.encode())
    random = Random(1)
    found = [made for _ in range(30) if (made := candidate_of(view, random)) is not None]
    assert len({what for what, _ in found}) > 5
    for name, ask in SOLVERS.items():
        assert ask(SCRIPT) == "", name
        assert ask(SCRIPT.replace("(bvnot b)", "(bvnot c)")) != "", name
        assert [(what, text, said) for what, text in found if (said := ask(text.decode()))] == []
