"""The experiments on shapes: small, with a program that stands in for a solver and fails."""

import csv
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from benchmarks.btor_shapes import RESULTS, main, sizes

# Crashes on files of more than 1,000 lines, never ends on those between 500 and 600.
PROGRAM = """#!/bin/sh
lines=$(wc -l < "$1")
[ "$lines" -gt 1000 ] && kill -SEGV $$
[ "$lines" -gt 500 ] && [ "$lines" -lt 600 ] && while :; do :; done
exit $((10 * (1 + lines % 2)))
"""


@pytest.mark.slow
def test_answers_are_counted_and_drawn(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text(PROGRAM)
    program.chmod(0o755)
    words = ["--cmd", str(program), "--seconds", "1", "--scale", "0", "--least", "1"]
    words += ["--only", "sizes"]
    main([*words, "--results", str(tmp_path)])
    with (tmp_path / "btor_shapes.tsv").open() as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    assert [float(row["at"]) for row in rows] == [point.at for point in sizes()]
    for row in rows:
        lines = int(row["nodes"])
        expected = "failure" if lines > 1000 else ("sat", "unsat")[lines % 2]
        assert row["answer"] == ("timeout" if 500 < lines < 600 else expected)
    assert {row["answer"] for row in rows} >= {"failure", "timeout"}
    page = (tmp_path / "btor_shapes.md").read_text()
    assert "--seconds 1 --scale 0.0 --least 1 --only sizes`" in page
    assert sum(line.startswith("| all | ") for line in page.splitlines()) == len(rows)
    picture = ElementTree.parse(tmp_path / "btor_shapes_sizes.svg").getroot()
    assert picture.tag.endswith("svg")


def test_the_published_page_shows_its_charts() -> None:
    page = (RESULTS / "btor_shapes.md").read_text()
    for name in ("sizes", "clauses", "sharing", "variables", "layer"):
        assert f"(btor_shapes_{name}.svg)" in page
        ElementTree.parse(RESULTS / f"btor_shapes_{name}.svg")
