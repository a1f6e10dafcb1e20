"""What makes a query expensive, or proved in one run and not in another: by a real z3."""

import itertools
import json
import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from tests.cli.tool import Tool
from tests.solvers import z3

pytestmark = pytest.mark.reduction


def pigeons(count: int) -> str:
    """Return a script that costs conflicts, for want of a hole, and idle assertions."""
    holes = range(count)
    lines = [f"(declare-const p{i}_{j} Bool)" for i in range(count + 1) for j in holes]
    lines += [f"(declare-const idle{i} Bool)" for i in range(10)]
    lines += [f"(assert (or idle{i} (not idle{(i + 1) % 10})))" for i in range(10)]
    lines += [f"(assert (or {' '.join(f'p{i}_{j}' for j in holes)}))" for i in range(count + 1)]
    lines += [
        f"(assert (or (not p{a}_{j}) (not p{b}_{j})))"
        for j in holes
        for a, b in itertools.combinations(range(count + 1), 2)
    ]
    return "\n".join([*lines, "(check-sat)\n"])


@pytest.mark.slow
def test_what_costs_conflicts(tool: Tool) -> None:
    solver = z3("4.8.5.0")
    tool.write("in.smt2", pigeons(4))
    options = ["--cmd", f"{solver} -st sat.random_seed={{seed}}", "--cost", "sat-conflicts"]
    done = tool.ok("smt2", "in.smt2", *options, "--at-least", "10", "--only", "commands", "--json")
    assert (
        json.loads(done.out)["failure"] == "sat-conflicts is 10 or more, the command answers unsat"
    )
    assert "starting from a part of the input that fails (2,142 bytes)" in done.err
    result = (tool.folder / "in.reduced.smt2").read_text()
    assert result.count("assert") < pigeons(4).count("assert")
    again = tool("smt2", "in.reduced.smt2", *options, "--at-least", "10000")
    assert again.code == 1
    assert "and 10000 is wanted" in again.err


@pytest.mark.slow
def test_more_steps_than_the_reference(tool: Tool) -> None:
    """Without E-matching it takes five times the steps."""
    solver = z3("4.8.5.0")
    idle = "".join(f"(declare-const b{i} Int)\n(assert (> b{i} {i}))\n" for i in range(10))
    tool.write("in.smt2", f"{QUANTIFIED}{idle}(check-sat)\n")
    given = [
        "--cmd",
        f"{solver} smt.ematching=false rlimit=60000",
        "--reference",
        f"{solver} rlimit=9000 -st",
    ]
    options = [*given, "--regression", "--max-checks", "15", "--json"]
    done = tool("smt2", "in.smt2", *options)
    assert done.code == 5, done.err  # the most checks
    report = json.loads(done.out)
    assert re.fullmatch(
        "rlimit-count is 4 times that of the reference and [0-9,]*00, or more, "
        "the command answers unsat, its reference unsat",
        report["failure"],
    )
    assert report["fresh"]["before"] == {"shown": 16}
    assert report["fresh"]["after"]["shown"] >= 8
    assert [each.count("-st") for each in report["see_again"]] == [1, 1]
    assert report["after"]["asserts"] < report["before"]["asserts"] - 5
    assert {"increases", ""} >= {each["name"] for each in report["left"]}
    assert all(each["line"] and each["result_line"] for each in report["left"])
    assert "starting from a part of the input that fails" in done.err
    done = tool("smt2", "in.reduced.smt2", *options, "--times", "40")
    assert done.code == 1
    assert "rlimit-count is 40 times that of the reference, or more; it is" in done.err
    given = ["--cmd", f"{solver}", "--reference", f"{solver} rlimit=100"]
    done = tool("smt2", "in.smt2", *given, "--regression")
    assert done.code == 1
    assert "the reference gives no answer" in done.err


@pytest.mark.debian("cadical")
@pytest.mark.slow
def test_a_sat_solver_takes_more_steps_with_other_options(tool: Tool) -> None:
    made = "--variables 130 --no-vary --shape uniform --seed 5 -o in.cnf"
    tool("generate", "cnf", *made.split())
    given = ["--cmd", "cadical", "--reference", "cadical --restart=0 --reduce=0 --chrono=0"]
    options = [*given, "--regression", "--times", "2", "--max-checks", "40", "--json"]
    done = tool("cnf", "in.cnf", *options)
    assert done.code == 5, done.err  # the most checks
    report = json.loads(done.out)
    assert report["failure"].startswith("propagations is 2 times that of the reference and")
    assert report["after"]["clauses"] < report["before"]["clauses"]


QUANTIFIED = """(declare-fun f (Int) Int)
(declare-fun g (Int Int) Int)
(assert (forall ((x Int)) (! (> (f (+ x 1)) (f x)) :pattern ((f x)) :qid increases)))
(assert (forall ((x Int) (y Int)) (! (= (g x y) (+ (f x) (f y))) :pattern ((f x) (f y)))))
(assert (< (f 4) (f 0)))
"""


@pytest.mark.slow
def test_proved_here_and_unknown_there(tool: Tool) -> None:
    solver = z3("4.8.5.0")
    tool.write("in.smt2", pigeons(3))
    options = ["--cmd", str(solver), "--match-out", r"\Aunsat$"]
    done = tool.ok(
        "smt2", "in.smt2", *options, "--also-match", f"{solver} rlimit=100", r"\Aunknown$", "--json"
    )
    assert "rlimit=100 FILE has stdout matching" in json.loads(done.out)["failure"]
    assert "idle" not in (tool.folder / "in.reduced.smt2").read_text()


@pytest.mark.slow
def test_what_does_not_show_is_told(tool: Tool) -> None:
    solver = z3("4.8.5.0")
    tool.write("in.smt2", pigeons(2))
    given = ("smt2", "in.smt2", "--cmd", str(solver))
    done = tool(*given, "--match-out", "unsat", "--also-match", str(solver), "unknown")
    assert done.code == 1
    assert "FILE: stdout matching 'unknown'; it ended with exit status 0" in done.err
    done = tool(*given, "--cost", "conflicts", "--times", "3")
    assert done.code == 2
    assert "--times requires --reference" in done.err
    done = tool("smt2", "in.smt2", "--cmd", "cat", "--reference", "cat", "--regression")
    assert done.code == 2
    assert (
        "--regression knows the steps of z3, cvc5, yices, cadical only, not of 'cat': give --cost"
        in done.err
    )
    done = tool(*given, "--regression")
    assert done.code == 2
    assert "--regression requires --reference" in done.err
    done = tool(*given, "--slower-than", "3", "--match-out", "x")
    assert done.code == 2
    assert "--match-out and --slower-than are mutually exclusive" in done.err
    done = tool(*given, "--cost", "conflicts", "--match-out", r"\Ax\s")
    assert done.code == 1
    assert r"stdout matching '\Ax\s'; it ended with exit status 0" in done.err
    wrong = f"{solver} smt.nosuch=3"
    done = tool("smt2", "in.smt2", "--cmd", wrong, "--unstable", "8")
    assert done.code == 1
    assert "0 were answered, 0 were not; all 8 exited with" in done.err


@pytest.mark.slow
def test_proved_in_one_variant_and_lost_in_another(tool: Tool) -> None:
    """The limit is between what the variants need."""
    solver = z3("4.8.5.0")
    idle_last = sorted(pigeons(4).splitlines(), key=lambda line: ("check" in line, "idle" in line))
    tool.write("in.smt2", "\n".join(idle_last))
    options = ["--cmd", f"{solver} sat.max_conflicts=27", "--unstable", "8", "--max-checks", "20"]
    done = tool("smt2", "in.smt2", *options, "--json")
    assert done.code == 5, done.err  # the most checks
    report = json.loads(done.out)
    assert report["failure"] == "of 8 runs at least 1 answer unsat and 1 end with unknown"
    assert report["after"]["bytes"] < report["before"]["bytes"]
    answers = set()
    for number in range(8):
        made = tool("variant", "in.reduced.smt2", str(number), "-o", "v.smt2")
        assert (made.code, made.out, made.err) == (0, "", "")
        line = [str(solver), "sat.max_conflicts=27", "v.smt2"]
        answers.add(subprocess.run(line, cwd=tool.folder, capture_output=True, text=True).stdout)
    assert answers == {"unsat\n", "unknown\n"}


@pytest.mark.slow
def test_a_variant_is_printed(tool: Tool) -> None:
    tool.write("in.smt2", "(declare-const p Bool)\n(assert p)\n(check-sat)\n")
    first, second = (tool("variant", "in.smt2", number).out for number in "12")
    assert first != second
    assert first.count("v") == 2
    assert tool("variant", "in.smt2", "0").out == (tool.folder / "in.smt2").read_text()


@pytest.mark.slow
def test_variants_of_other_formats(tool: Tool) -> None:
    path = tool.write("in.txt", "1\n2\n")
    assert tool("variant", path, "1").code == 2
    done = tool("variant", tool.write("bad.smt2", "(assert"), "1")
    assert done.code == 3
    assert "bad.smt2, line 1, column 1" in done.err
    done = tool("text", path, "--cmd", "cat", "--unstable", "8")
    assert done.code == 2
    assert "no variants, so the command needs {seed}" in done.err
    cmd = "sh -c 'grep -q 2 $1 && test {seed} = 3 && echo unknown || echo sat' sh {}"
    done = tool.ok("text", path, "--cmd", cmd, "--unstable", "8")
    assert "the runs of --unstable differ by seeds only" in done.err
    assert (tool.folder / "in.reduced.txt").read_text().strip() == "2"


PAGE = Path(__file__).resolve().parents[2] / "docs" / "slow.md"
EXAMPLES = re.findall(r"^    reducekit (smt2 .*)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.slow
@pytest.mark.parametrize("example", EXAMPLES, ids=range(len(EXAMPLES)))
def test_the_examples_of_the_page(tool: Tool, example: str) -> None:
    """They are understood; the query here is proved by all of them, with few steps."""
    solver = z3("4.8.5.0")
    for name in ("z3", "z3-old", "z3-new"):
        (tool.folder / name).symlink_to(solver)
    tool.environment["PATH"] = f"{tool.folder}{os.pathsep}{os.environ['PATH']}"
    tool.write("query.smt2", f"{QUANTIFIED}(check-sat)\n")
    done = tool(*shlex.split(example))
    assert done.code == 1
    assert "the input does not show what is looked for" in done.err
    assert "unsat" in done.err  # the solver ran


def test_the_page_has_examples() -> None:
    assert len(EXAMPLES) == 4
