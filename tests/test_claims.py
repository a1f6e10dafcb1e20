"""Each number that README claims of a comparison is what the table says that it links to."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
README = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())


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
        (r"On (\d+) API traces", "faults_lglddtrace.md", r"(\d+) of the 96 cases"),
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
