"""Each number that a text claims is what its table says, and each table is of this version."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks.claims import PARTS, RESULTS, current, merged

ROOT = Path(__file__).resolve().parent.parent
README = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
READ = {
    "hunts_beside", "hunts_debian",  # somebody reads what they find
    "mutants", "smt2_faults", "smt2_cases",  # hours: `make mutants`, and other reducers
    "smt2_ideal",  # it answers what a part of the code is worth
}  # fmt: skip
"""Pages that `make claims` does not make."""
EXACT = {"strategies", "btor_thesis_discussion"}
"""Another test holds the one to the code; the other is a part of `btor_thesis`."""


def cited(page: str) -> str:
    return " ".join((ROOT / "benchmarks" / "results" / page).read_text(encoding="utf-8").split())


@pytest.mark.parametrize(
    ("claim", "page", "measured"),
    [
        (r"On (\d+) failing SMT-LIB scripts", "smt2_ddsmt.md", r"- (\d+) cases with both"),
        (r"solver (\d+) % as often as ddSMT", "smt2_ddsmt.md", r"checks ([\d.]+) of its"),
        (r"leaves (\d+) % of the bytes \(geom", "smt2_ddsmt.md", r"bytes ([\d.]+) of the other"),
        (r"By 300 checks it leaves (\d+) %", "texts.md", r"\| by 300 +\| ([\d.]+) \|"),
        (r"on (\d+) generated texts", "texts.md", r"\| by 300 +\| [\d.]+ \| (\d+)"),
        (r"On (\d+) circuits", "aiger_peers.md", r"(\d+) pairs: fewer nodes"),
        (r"(\d+) % of aigdd's nodes", "aiger_peers.md", r"nodes \(at least 1\) ([\d.]+)"),
        (r"nodes in (\d+) % of the checks", "aiger_peers.md", r"bytes [\d.]+, checks ([\d.]+)"),
        (r"On (\d+) API traces", "faults_lglddtrace.md", r"Larger: \d+ of (\d+)"),
        (
            r"takes (\d+) % of the replays of lglddtrace",
            "faults_lglddtrace.md",
            r"\| runs in all \| ([\d,]+) \| ([\d,]+) \|",
        ),
        (
            r"leaves (\d+) % of the calls and options",
            "faults_lglddtrace.md",
            r"\| calls \+ options in all \| ([\d,]+) \| ([\d,]+) \|",
        ),
    ],
)
def test_a_claim_is_what_its_table_says(claim: str, page: str, measured: str) -> None:
    (said,) = re.findall(claim, README)
    found = re.search(measured, cited(page))
    assert found is not None, f"{page} has no {measured}"
    before, *now = (float(each.replace(",", "")) for each in found.groups())
    value = now[0] / before if now else before
    assert int(said) == round(value * 100 if "%" in claim else value)
    assert f"(benchmarks/results/{page})" in README


def test_what_backs_a_claim_is_of_this_version() -> None:
    pages = {path.stem for path in RESULTS.glob("*.md")}
    assert pages == {part.page for part in PARTS} | {"btor_chain"} | READ | EXACT
    assert [name for name in pages - EXACT if not current(RESULTS / f"{name}.md")] == []
    assert sum(part.minutes for part in PARTS) <= 300


def test_what_is_written_by_hand_stays() -> None:
    line = "Made with reducekit 0.1.0 (a) on 2026-01-01 in 1 s, with Python 3.11.7."
    assert merged("", "# T\n\nmade\n", line) == f"# T\n\n{line}\n\nmade\n"
    old = "# T\n\nread by me\n\nMade with reducekit 0.0.9 (b).\n\nold\n"
    assert merged(old, "# T\n\nmade\n", line) == f"# T\n\nread by me\n\n{line}\n\nmade\n"


def test_the_summary_of_lglddtrace_is_of_its_tables() -> None:
    page = (ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8")
    for row, table, place in (
        ("lglddtrace", "faults_lglddtrace.md", 1),
        ("default", "faults_lglddtrace.md", 2),
        ("`--effort quick`", "faults_lglddtrace_quick.md", 2),
    ):
        (cells,) = re.findall(rf"^\| {row} \| ([\d,]+) \|[^|]*\| ([\d,]+) \|", page, re.MULTILINE)
        said = [re.search(rf"\| {what} in all \| ([\d,]+) \| ([\d,]+) \|", cited(table))
                for what in ("runs", r"calls \+ options")]  # fmt: skip
        assert [found and found[place] for found in said] == list(cells)
