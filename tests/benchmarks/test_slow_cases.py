"""The table of slow and unstable queries: what its cases ask for, and one that is reduced."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.slow_cases import lost, options_of
from tests.benchmarks.test_commands import output, rows
from tests.cli.test_costs import pigeons
from tests.solvers import z3

SOLVER = {"SOLVER": "z3", "ARGS": "-st"}
REFERENCE = {"REF": "old", "REFARGS": ""}


@pytest.mark.parametrize(
    ("form", "values", "wanted"),
    [
        (
            "spread",
            {"BADLIMIT": 7},
            {
                "command": "s/bin/z3 -st rlimit=7 smt.random_seed={seed} sat.random_seed={seed}",
                "unstable": 8,
            },
        ),
        (
            "cost",
            {"NUMBER": "^.*:decisions  *\\([0-9]*\\)", "FLOOR": 9},
            {"command": "s/bin/z3 -st", "cost": "decisions", "at_least": 9},
        ),
        (
            "times",
            {**REFERENCE, "NUMBER": "^A::B_C = ", "FLOOR": 9, "TIMES": 3},
            {"command": "s/bin/z3 -st", "reference": "s/bin/old", "cost": "A::B_C", "times": 3,
             "at_least": 9},
        ),
        (
            "ratio",
            {**REFERENCE, "TIMES": 3},
            {"command": "s/bin/z3 -st", "reference": "s/bin/old", "regression": True, "times": 3},
        ),
    ],
)  # fmt: skip
def test_what_a_case_asks_for(form: str, values: dict[str, Any], wanted: dict[str, Any]) -> None:
    assert options_of({"form": form, "values": SOLVER | values}, Path("s")) == wanted


def test_a_flip_by_its_named_seeds() -> None:
    values = {**SOLVER, "GOOD": "4", "GOODLIMIT": 6, "BAD": "5", "BADLIMIT": 7}
    case = {"form": "flip", "values": values}
    given = options_of(case, Path("s"), named_seeds=True)
    assert given["command"] == "s/bin/z3 -st rlimit=6 smt.random_seed=4 sat.random_seed=4"
    assert given["also_match"][0] == "s/bin/z3 -st rlimit=7 smt.random_seed=5 sat.random_seed=5"


def test_the_table(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "z3").symlink_to(z3("4.8.5.0"))
    case = tmp_path / "cases" / "pigeons"
    case.mkdir(parents=True)
    (case / "input.smt2").write_text(pigeons(4), encoding="utf-8")
    values = {**SOLVER, "NUMBER": ":sat-conflicts  *", "FLOOR": 10}
    (case / "case.json").write_text(json.dumps({"form": "cost", "values": values}))
    oracle = case / "oracle"
    oracle.write_text(f"#!/bin/sh\n{z3('4.8.5.0')} $1 | grep -q ^unsat\n", encoding="utf-8")
    oracle.chmod(0o755)
    arguments: list[str | Path] = [tmp_path / "cases", "--solvers", tmp_path, "--max-checks", "5"]
    _, found = rows(output("slow_cases", *arguments))
    assert found[:2] == ["pigeons", "cost"]
    assert found[2] == "55 → 45"  # the unsat core
    assert found[4] == "5"
    assert found[6:] == ["yes", "12 → 12", "", "after 5 checks"]
    _, found = rows(output("slow_cases", *arguments, "--again", "2"))
    assert found[0] == "pigeons"
    assert found[3:] == ["2", "1"]


def test_lost_variants() -> None:
    solver = z3("4.8.5.0")
    assert 0 < lost(pigeons(4).encode(), f"{solver} sat.max_conflicts=27") < 12
    assert lost(pigeons(4).encode(), f"{solver} sat.random_seed={{seed}}") == 0
