"""The table of reduced cases: what it counts, and that it goes on where it was stopped."""

from pathlib import Path

from benchmarks.smt2_tables import main, read, tokens


def make(folder: Path, name: str) -> None:
    case = folder / name
    case.mkdir(parents=True)
    lines = [f"(declare-fun x{n} () Int)\n(assert (> x{n} (div x{n} {n})))\n" for n in range(9)]
    (case / "input.smt2").write_text("".join(lines))
    (case / "oracle").write_text('#!/bin/sh\ngrep -q "(div [a-z0-9]* [0-9]" $1\n')
    (case / "oracle").chmod(0o755)


def test_tokens_are_counted() -> None:
    assert tokens(b'(assert (= |a b| "x ""y")) ; no more\n(f #b01 :k)') == 13


def test_cases_are_reduced_and_set_beside_published_results(tmp_path: Path) -> None:
    make(tmp_path / "cases", "one")
    reference = tmp_path / "reference.tsv"
    reference.write_text("case\tsize\truns\none\t100\t1000\n")
    words = [str(tmp_path / "cases"), "--out", str(tmp_path / "table")]
    words += ["--reference", str(reference), "--columns", "size,runs"]
    main(words)
    (row,) = read(tmp_path / "table.tsv")
    assert row.verified
    assert not row.capped
    assert 0 < row.half <= row.level <= row.checks
    page = (tmp_path / "table.md").read_text()
    assert f"- 1 cases with both: bytes {row.bytes / 100:.3f} of the other's" in page
    assert f"- As small as its result after {row.level / 1000:.5f} of its checks, in 1" in page
    make(tmp_path / "cases", "two")
    (tmp_path / "cases" / "one" / "oracle").write_text("#!/bin/sh\nexit 1\n")
    main([*words, "--resume"])
    first, second = read(tmp_path / "table.tsv")
    assert first == row
    assert (second.case, second.bytes, second.level) == ("two", row.bytes, -1)


def test_a_table_from_before_its_last_column_is_gone_on_with(tmp_path: Path) -> None:
    make(tmp_path / "cases", "one")
    words = [str(tmp_path / "cases"), "--out", str(tmp_path / "table")]
    main(words)
    table = tmp_path / "table.tsv"
    lines = table.read_text().splitlines()
    assert lines[0].endswith("\tlevel")
    table.write_text("".join(line.rpartition("\t")[0] + "\n" for line in lines))
    (tmp_path / "cases" / "one" / "oracle").write_text("#!/bin/sh\nexit 1\n")
    main([*words, "--resume"])
    (row,) = read(table)
    assert row.level == -1
