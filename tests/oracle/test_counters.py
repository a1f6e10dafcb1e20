"""The counters of solvers by their names for all: what the real programs print."""

import itertools
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from reducekit.oracle.cost import SOLVERS, Costly, cost, counter, counters_of, counting
from reducekit.run import Outcome

HOLES = 5
BIT = "".join(f"(declare-const p{i}_{j} Bool)\n" for i in range(HOLES + 1) for j in range(HOLES))
PIGEONS = (
    f"(set-logic QF_UF)\n{BIT}"
    + "".join(
        f"(assert (or {' '.join(f'p{i}_{j}' for j in range(HOLES))}))\n" for i in range(HOLES + 1)
    )
    + "".join(
        f"(assert (or (not p{a}_{j}) (not p{b}_{j})))\n"
        for j in range(HOLES)
        for a, b in itertools.combinations(range(HOLES + 1), 2)
    )
    + "(check-sat)\n"
)
QUANTIFIED = """(set-logic UFLIA)
(declare-fun f (Int) Int)
(assert (forall ((x Int)) (! (> (f (+ x 1)) (f x)) :pattern ((f x)))))
(assert (< (f 4) (f 0)))
(check-sat)
"""
PRODUCT = """(set-logic QF_BV)
(declare-const a (_ BitVec 12))
(declare-const b (_ BitVec 12))
(assert (= (bvmul a b) #x7f3))
(assert (and (bvugt a #x001) (bvugt b #x001) (bvult a #x040) (bvult b #x040)))
(check-sat)
"""
BITS = """(set-logic BV)
(declare-const a (_ BitVec 8))
(assert (forall ((x (_ BitVec 8))) (bvugt (bvor a x) (bvand x #x0f))))
(check-sat)
"""
PAIRS = list(itertools.combinations(range(HOLES + 1), 2))
CNF = f"p cnf {HOLES * (HOLES + 1)} {HOLES + 1 + HOLES * len(PAIRS)}\n" + "".join(
    [
        *(
            f"{' '.join(str(i * HOLES + j + 1) for j in range(HOLES))} 0\n"
            for i in range(HOLES + 1)
        ),
        *(f"-{a * HOLES + j + 1} -{b * HOLES + j + 1} 0\n" for j in range(HOLES) for a, b in PAIRS),
    ]
)
BITWUZLA = f"""#!{sys.executable}
import sys
import bitwuzla
options = bitwuzla.Options()
assert sys.argv[1] == "--verbosity=1"
parser = bitwuzla.Parser(bitwuzla.TermManager(), options)
parser.parse(sys.argv[2])
for name, value in parser.bitwuzla().statistics().items():
    print(f"{{name}}: {{value}}")
"""
"""The program of Bitwuzla is on no package index, its library is: this prints what that counts."""


def printed(line: str, folder: Path, text: str) -> Outcome:
    """Run a solver on a text, with the option that is added to its command."""
    path = folder / ("in.cnf" if text.startswith("p cnf") else "in.smt2")
    path.write_text(text)
    asked = counting(line)
    assert isinstance(asked, str)
    done = subprocess.run([*asked.split(), path], capture_output=True)
    return Outcome(0, None, done.stdout, done.stderr, None, 0.1)


def numbers(line: str, folder: Path, *texts: str) -> dict[str, float]:
    """Return each counter's largest number on some texts."""
    runs = [printed(line, folder, each) for each in texts]
    return {
        name: max(cost(counter(printed), each) for each in runs)
        for name, printed in counters_of(line).items()
    }


@pytest.mark.parametrize(
    ("line", "texts"),
    [
        ("z3", (PIGEONS, QUANTIFIED, PRODUCT)),
        pytest.param("cvc5", (PIGEONS, QUANTIFIED), marks=pytest.mark.debian("cvc5")),
        (str(Path(sys.executable).with_name("yices-smt2")), (PIGEONS, PRODUCT)),
        (str(Path(sys.executable).with_name("yices-smt2")) + " --mcsat", (PRODUCT,)),
        pytest.param("cadical", (CNF,), marks=pytest.mark.debian("cadical")),
        ("bitwuzla", (PRODUCT, BITS)),
    ],
    ids=["z3", "cvc5", "yices", "yices mcsat", "cadical", "bitwuzla"],
)
def test_real_solvers_print_each_counter(line: str, texts: tuple[str, ...], tmp_path: Path) -> None:
    if line == "bitwuzla":
        program = tmp_path / "bitwuzla"
        program.write_text(BITWUZLA)
        program.chmod(0o755)
        line = str(program)
    found = numbers(line, tmp_path, *texts)
    silent = {"lemmas"} if line.endswith("smt2") or "bitwuzla" in line else set[str]()
    assert {name for name, number in found.items() if not number} <= silent, found


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ({"command": "z3", "cost": "steps"}, "rlimit-count"),
        ({"command": "/opt/cvc5-1.2/cvc5 -q", "cost": "conflicts"}, "sat::conflicts"),
        ({"command": "yices-smt2", "cost": "clauses"}, "clauses"),  # as it is printed
        ({"command": "./mine", "cost": "steps"}, "steps"),
        (
            {"command": "z3", "reference": "cvc5", "cost": "decisions"},
            "decisions|sat-decisions|sat::decisions",
        ),
    ],
)
def test_one_name_for_all(given: dict[str, Any], name: str) -> None:
    given["times" if "reference" in given else "at_least"] = 2.0
    kept = Costly(**given).criterion()
    assert kept.describe().startswith(f"{name} is ")


def test_the_option_is_added_once() -> None:
    for name, solver in SOLVERS.items():
        asked = counting([f"/bin/{name}-9", "-x"])
        assert asked == [f"/bin/{name}-9", "-x", *filter(None, [solver.option])]
        assert counting(asked) == asked
    assert counting("./mine") == "./mine"
    assert counting("") == ""
