"""The drivers of the examples, on real solvers: answers, errors, and a crash."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from reducekit.executors.local import LocalExecutor
from reducekit.frontends.btor.convert.to_smtlib import to_smtlib
from reducekit.frontends.btor.generate.generator import Parameters, generate
from reducekit.frontends.btor.model.dag import Dag
from reducekit.frontends.btor.model.operators import Dialect
from reducekit.frontends.btor.model.writer import canonical
from reducekit.oracle.answers import answers
from reducekit.oracle.command import Command
from reducekit.oracle.criterion import Oracle
from reducekit.oracle.printed import Matches
from reducekit.oracle.signature import is_failure, signature
from reducekit.run import Limits, Outcome
from tests.cli.tool import Tool

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
PYBOOLECTOR, BITWUZLA = "btor_pyboolector.py", "btor_bitwuzla.py"

# Valid: -9 is the complement of 9, so that both equalities say that 9 is 1. PyBoolector
# 3.2.4 counts references of the simplified node once too little.
ABORTING = """\
8 sort bitvec 1
9 input 8
83 const 8 1
84 eq 8 9 83
85 constraint 84
173 zero 8
174 eq 8 -9 173
"""
SAT, UNSAT = "1 var 4\n2 eq 1 1 -1\n3 root 1 -2\n", "1 var 4\n2 eq 1 1 -1\n3 root 1 2\n"
SCRIPT = "; comment\n(set-logic QF_BV)\n(declare-const a (_ BitVec 4))\n(assert {})\n(check-sat)\n"
COMBINATIONAL = "1 sort bitvec 1\n2 input 1\n3 and 1 2 -2\n4 constraint {}\n"


def run(driver: str, text: str, folder: Path, *options: str) -> Outcome:
    """Run a driver on a text."""
    command = Command((sys.executable, str(EXAMPLES / driver), *options))
    path = folder / "input"
    path.write_text(text, encoding="utf-8")
    done = subprocess.run(command.argv(str(path)), capture_output=True, cwd=folder)
    died = done.returncode < 0
    return Outcome(
        None if died else done.returncode,
        -done.returncode if died else None,
        done.stdout,
        done.stderr,
        None,
        0.0,
    )


@pytest.fixture
def tool(tmp_path: Path) -> Tool:
    return Tool(tmp_path)


@pytest.mark.parametrize("driver", [PYBOOLECTOR, BITWUZLA])
@pytest.mark.parametrize(
    ("text", "answer"),
    [
        (SAT, b"sat"),
        (UNSAT, b"unsat"),
        ("", b"sat"),
        (COMBINATIONAL.format(2), b"sat"),
        (COMBINATIONAL.format(3), b"unsat"),
        (SCRIPT.format("(= a #b0000)"), b"sat"),
        (SCRIPT.format("(= a (bvnot a))"), b"unsat"),
    ],
)
def test_answers(driver: str, text: str, answer: bytes, tmp_path: Path) -> None:
    outcome = run(driver, text, tmp_path)
    assert outcome.stdout == answer + b"\n"
    assert answers(outcome) == (answer,)
    assert not is_failure(outcome)


@pytest.mark.parametrize("driver", [PYBOOLECTOR, BITWUZLA])
@pytest.mark.parametrize(
    "text",
    [
        "1 var 4\n2 foo 4 1\n",
        "1 var 4\n2 root 1 3\n",
        "1 sort bitvec 4\n2 input 1\n3 nothing 1 2\n",
        # Pyboolector would answer sat after the error, bitwuzla does not look at `bad`.
        COMBINATIONAL.format(3).replace("constraint", "bad"),
        "1 sort bitvec 1\n2 state 1\n3 next 1 2 -2\n4 constraint 2\n",
        "(assert\n",
    ],
)
def test_errors(driver: str, text: str, tmp_path: Path) -> None:
    outcome = run(driver, text, tmp_path)
    assert (outcome.status, outcome.stdout) == (1, b"")
    assert outcome.stderr.startswith(b"error: ")
    assert b"Traceback" not in outcome.stderr
    assert answers(outcome) is None


@pytest.mark.parametrize("driver", [PYBOOLECTOR, BITWUZLA, "btor_smtlib.py"])
def test_usage(driver: str, tmp_path: Path) -> None:
    command = [sys.executable, str(EXAMPLES / driver)]
    assert b"usage: " in subprocess.run(command, capture_output=True).stderr
    shown = subprocess.run([*command, "--help"], capture_output=True)
    assert b"usage: python examples/" in shown.stdout
    extra = ["true"] if driver == "btor_smtlib.py" else []
    missing = subprocess.run([*command, *extra, str(tmp_path / "none")], capture_output=True)
    assert missing.returncode == 1
    assert b"No such file" in missing.stderr
    assert b"Traceback" not in missing.stderr


@pytest.mark.parametrize("driver", [PYBOOLECTOR, BITWUZLA])
def test_options(driver: str, tmp_path: Path) -> None:
    for level in "01":
        assert run(driver, UNSAT, tmp_path, "--set", f"rewrite-level={level}").status == 20
    for wrong in (["--set", "rewrite-level=99"], ["--set", "magic=1"], ["--magic"]):
        outcome = run(driver, UNSAT, tmp_path, *wrong)
        assert (outcome.status, outcome.stdout) == (1, b"")
        assert b"Traceback" not in outcome.stderr


def test_options_that_do_not_go_together(tmp_path: Path) -> None:
    """The library aborts on them, too, which is no bug."""
    both = ("--set", "fun-dual-prop=1", "--set", "fun-just=1")
    outcome = run(PYBOOLECTOR, UNSAT, tmp_path, *both)
    assert (outcome.status, outcome.stdout) == (1, b"")
    assert outcome.stderr.startswith(b"error: ")


def test_the_crash_of_pyboolector(tmp_path: Path) -> None:
    """A real one, on a valid file: a signal, with the library's words."""
    outcome = run(PYBOOLECTOR, ABORTING, tmp_path)
    assert outcome.signal == signal.SIGABRT
    found = signature(outcome)
    assert found.line is not None
    assert b"reference counter of 'exp' must not be <" in found.line
    assert run(BITWUZLA, ABORTING, tmp_path).stdout == b"sat\n"


def test_the_crash_in_an_executor(tmp_path: Path) -> None:
    """As a reduction sees it."""
    command = Command((sys.executable, str(EXAMPLES / PYBOOLECTOR)))
    oracle = Oracle((command,), Matches(exit_code=-signal.SIGABRT))
    with LocalExecutor(oracle, 1, ".btor2") as executor:
        executor.submit(0, ABORTING.encode(), Limits(wall=60.0))
        while not (finished := executor.wait()):
            pass
    assert finished[0].interesting


def test_the_smtlib_driver(tmp_path: Path) -> None:
    program = Path(sys.executable).with_name("z3")
    for text, answer in ((SAT, b"sat"), (UNSAT, b"unsat")):
        outcome = run("btor_smtlib.py", text, tmp_path, str(program))
        assert answers(outcome) == (answer,)
    assert run("btor_smtlib.py", "1 var 0\n", tmp_path, str(program)).status == 1
    outcome = run("btor_smtlib.py", SAT, tmp_path, "sh", "-c", "kill -SEGV $$")
    assert outcome.signal == signal.SIGSEGV
    assert run("btor_smtlib.py", SAT, tmp_path, "no-such-solver").status == 1


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_all_solvers_agree_on_random_graphs(seed: int, tmp_path: Path) -> None:
    """Both dialects, and the conversions between them, in small."""
    dag = generate(Parameters(seed=seed, nodes=120, cnf=seed % 2 == 1, clauses=1.5))
    two = generate(Parameters(seed=seed, nodes=120, dialect=Dialect.BTOR2))
    for each in (dag, two):
        said = {answer(driver, each, tmp_path) for driver in (PYBOOLECTOR, BITWUZLA)}
        said.add(run(BITWUZLA, to_smtlib(each).decode(), tmp_path).stdout)
        assert len(said) == 1
        assert said <= {b"sat\n", b"unsat\n"}


def answer(driver: str, dag: Dag, folder: Path) -> bytes:
    return run(driver, canonical(dag).decode(), folder).stdout


@pytest.mark.slow
def test_a_hunt_finds_the_crash(tool: Tool) -> None:
    """By itself, in a file of ours: its early constraints let the library forget a node."""
    driver = f"{sys.executable} {EXAMPLES / PYBOOLECTOR}"
    reference = f"{sys.executable} {EXAMPLES / BITWUZLA}"
    done = tool(
        "hunt", "btor", "--dialect", "btor2", "--cmd", driver, "--reference", reference,
        "--count", "11", "--nodes", "30", "--vars", "4", "--noarrays", "--maxwidth", "1",
        "--roots", "6", "--early-roots", "--no-reduce",
    )  # fmt: skip
    assert done.code == 0
    assert ": 1 bug\n" in done.out
    assert "signal SIGABRT, fatal error: [boolector] boolector_release: reference counter" in (
        done.out
    )
    assert "  2 times: " in done.out
    (kept,) = (tool.folder / "failures").glob("*.btor2")
    assert run(PYBOOLECTOR, kept.read_text(), tool.folder).signal == signal.SIGABRT
    assert run(BITWUZLA, kept.read_text(), tool.folder).status in (10, 20)
