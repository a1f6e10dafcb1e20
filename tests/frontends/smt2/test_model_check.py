"""A model is evaluated by pySMT; real solvers print right ones, and one that lies is caught."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from reducekit.frontends.model_verdict import Finding
from reducekit.frontends.smt2.model_check import judge, known_checkers, question

Z3 = str(Path(sys.executable).parent / "z3")
SCRIPT = b"""(set-logic QF_AUFBV)
(declare-const x (_ BitVec 8))
(declare-fun f ((_ BitVec 8)) (_ BitVec 8))
(declare-const a (Array (_ BitVec 8) (_ BitVec 8)))
(declare-const unused (_ BitVec 8))
(assert (= (f x) #x07))
(assert (bvult x (bvudiv x #x00)))
(assert (= (select a x) #x09))
(check-sat)
(exit)
"""


def exit_code(path: Path, *solver: str) -> tuple[int, str]:
    """Run the check as the docs say; return its exit code and what it says."""
    run = subprocess.run(
        [sys.executable, "-m", "reducekit.frontends.smt2.model_check", *solver, str(path)],
        capture_output=True,
        text=True,
        check=False,
    )
    return run.returncode, run.stderr


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "in.smt2"
    path.write_bytes(SCRIPT)
    return path


@pytest.fixture
def liar(tmp_path: Path) -> str:
    """A solver that is z3, but for one digit of its models."""
    path = tmp_path / "liar"
    path.write_text(f"#!/bin/sh\n{Z3} \"$@\" | sed 's/#x09/#x0a/'\n")
    path.chmod(0o755)
    return str(path)


def test_models_of_real_solvers_are_right(script: Path) -> None:
    assert exit_code(script, Z3) == (1, "")


@pytest.mark.debian("cvc5", "boolector")
@pytest.mark.parametrize("solver", [("cvc5",), ("boolector", "--smt2-model")])
def test_models_of_packaged_solvers_are_right(script: Path, solver: tuple[str, ...]) -> None:
    assert exit_code(script, *solver) == (1, "")


@pytest.mark.slow
def test_a_wrong_model_is_told_and_reduced(script: Path, liar: str, tmp_path: Path) -> None:
    assert exit_code(script, liar) == (0, "assertion 3 is false under the model\n")
    out = tmp_path / "out.smt2"
    subprocess.run(
        [sys.executable, "-m", "reducekit", "smt2", str(script), "-o", str(out), "--max-checks",
         "10", "--oracle", f"{sys.executable} -m reducekit.frontends.smt2.model_check {liar}"],
        capture_output=True, check=False,
    )  # fmt: skip
    assert b"#x09" in out.read_bytes()
    assert len(out.read_bytes()) < len(SCRIPT)
    assert exit_code(out, liar)[0] == 0


@pytest.mark.parametrize(
    ("text", "output", "wrong", "unknown"),
    [
        (b"(declare-const p Bool)(assert p)(check-sat)", b"unsat\n", "", ""),
        (b"(declare-const p Bool)(assert p)(check-sat)", b"sat\n", "", "no model"),
        (b"(declare-const p Bool)(assert p)(check-sat)",
         b'sat\n(error "no models here")\n', "", "no models here"),
        (b"(declare-const p Bool)(assert true)(assert p)(check-sat)(assert (not p))(check-sat)",
         b"sat\n((define-fun p () Bool false))\nsat\n", "assertion 2", ""),
        (b"(declare-const p Bool)(assert p)(check-sat)",
         b"sat\n((define-fun p () Bool q)(define-fun q () Bool true))\n", "", ""),
        (b"(declare-fun f (Int) Int)(assert (> (f 2) (f 1)))(check-sat)",
         b"sat\n((define-fun f ((x Int)) Int (ite (= x 1) 5 4)))\n", "assertion 1", ""),
        (b"(declare-const p Bool)(push 1)(assert p)(check-sat)",
         b"sat\n((define-fun p () Bool true))\n", "", "push"),
        (b"(declare-const s String)(assert (= (str.replace_all s s s) s))(check-sat)",
         b'sat\n((define-fun s () String ""))\n', "", "pySMT"),
        (b"(declare-const p Bool)(declare-const q Bool)(assert (or p q))(check-sat)",
         b"sat\n((define-fun p () Bool false))\n", "", "no value"),
    ],
)  # fmt: skip
def test_what_a_model_is_worth(text: bytes, output: bytes, wrong: str, unknown: str) -> None:
    found = judge(text, output)
    assert (bool(found.wrong), bool(found.unknown)) == (bool(wrong), bool(unknown))
    assert wrong in found.wrong
    assert unknown in found.unknown


SORTED = b"""(declare-sort U 0)
(declare-datatypes ((L 1)) ((par (T) ((nil) (cons (hd T) (tl (L T)))))))
(declare-fun f (U) U)
(declare-const a U)
(declare-const b U)
(declare-const l (L U))
(push 1)
(assert (distinct a b (f a)))
(assert (= (hd l) b))
(check-sat)
"""
OF_Z3 = b"""sat
((declare-fun U!val!0 () U)(declare-fun U!val!1 () U)(declare-fun U!val!2 () U)
(forall ((x U)) (or (= x U!val!1) (= x U!val!0) (= x U!val!2)))
(define-fun l () (L U) (cons U!val!2 (as nil (L U))))
(define-fun b () U U!val!2)(define-fun a () U U!val!0)
(define-fun f ((x!0 U)) U (k x!0))(define-fun k ((x!0 U)) U U!val!1)
(define-fun mod0 ((x!0 Int) (x!1 Int)) Int 4))
"""
OF_CVC5 = b"""sat
(
; cardinality of U is 3
(define-fun f ((_arg_1 U)) U (as @U_1 U))
(define-fun a () U (as @U_0 U))
(define-fun b () U (as @U_2 U))
(define-fun l () (L U) ((as cons (L U)) (as @U_2 U) (as nil (L U))))
)
"""


@pytest.mark.parametrize(
    ("text", "output", "change"),
    [
        (SORTED, OF_Z3, (b"b () U U!val!2", b"b () U U!val!0")),
        (SORTED, OF_CVC5, (b"(cons U!val!2", b"")),
        (SORTED, OF_CVC5, (b"a () U (as @U_0", b"a () U (as @U_1")),
        (b"(declare-const x Float32)(assert (fp.isInfinite (fp.add RNE x x)))(check-sat)",
         b"sat\n((define-fun x () Float32 (_ +oo 8 24)))\n", (b"+oo", b"NaN")),
        (b"(declare-const i Int)(assert (and (= (mod i 7) 3) (= (div i 7) (- 2))))(check-sat)",
         b"sat\n((define-fun i () Int (- 11)))\n", (b"11", b"3")),
        (b"(declare-const s String)(assert (= (str.replace_all s s s) \"b\"))(check-sat)",
         b'sat\n((define-fun s () String "b"))\n', (b'"b"', b'""')),
        (b"(declare-const p Bool)(push 1)(assert p)(check-sat)(pop 1)(assert (not p))(check-sat)",
         b"sat\n((define-fun p () Bool true))\n", (b"true", b"false")),
        (b"(declare-sort U 0)(declare-const a U)(declare-fun g (U) Bool)"
         b"(assert (forall ((x U)) (g x)))(check-sat)",
         b"sat\n((declare-fun U!val!0 () U)(forall ((x U)) (= x U!val!0))"
         b"(define-fun a () U U!val!0)(define-fun g ((x U)) Bool (= x U!val!0)))\n",
         (b"(= x U!val!0)))\n", b"false))\n")),
    ],
)  # fmt: skip
def test_another_solver_checks_what_pysmt_does_not_know(
    text: bytes, output: bytes, change: tuple[bytes, bytes]
) -> None:
    assert judge(text, output).unknown
    assert judge(text, output, [[Z3]]) == Finding()
    other = output.replace(*change)
    if other != output:
        assert judge(text, other, [[Z3]]).wrong.endswith(" under the model")


def test_checkers_are_asked_until_one_answers(tmp_path: Path) -> None:
    text = b"(declare-const i Int)(assert (= (mod i 7) 3))(check-sat)"
    output = b"sat\n((define-fun i () Int 3))\n"
    mute = ["/bin/true"]
    assert judge(text, output, [mute, [Z3]]) == Finding()
    found = judge(text, output, [mute])
    assert found.unknown == "pySMT cannot evaluate it: Unknown function 'mod'; true: no answer"
    assert Path(known_checkers("/usr/bin/z3")[-1][0]).name == "z3"


def alone(folder: Path, *words: str | Path) -> subprocess.CompletedProcess[str]:
    """Run reducekit where the Python in PATH does not have it, beside a module that breaks it."""
    (folder / "pickle.py").write_text("raise SystemExit(7)\n")
    program = [sys.executable, "-P", "-m", "reducekit", *words]
    environment = {**os.environ, "PATH": "/usr/bin:/bin"}
    return subprocess.run(
        program, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("form", [["{liar}"], ["{liar} {}"], ["{liar} {} | cat", "--shell"]])
def test_the_option_needs_no_python_in_path(liar: str, tmp_path: Path, form: list[str]) -> None:
    script = tmp_path / "in.smt2"
    script.write_bytes(SCRIPT)
    done = alone(
        tmp_path, "smt2", "in.smt2", "--wrong-model", "--max-checks", "3", "--no-journal",
        "--cmd", *(each.replace("{liar}", liar) for each in form),
    )  # fmt: skip
    assert "failure   a wrong model\n" in done.stdout, done
    out = tmp_path / "in.reduced.smt2"
    assert b"#x09" in out.read_bytes()
    assert exit_code(out, liar)[0] == 0


def test_the_reference_checks_the_model(liar: str, tmp_path: Path) -> None:
    script, log = tmp_path / "in.smt2", tmp_path / "log"
    script.write_bytes(b"(declare-const i Int)(assert (= (mod i 7) 3))(check-sat)")
    checker = tmp_path / "checker"
    checker.write_text(f'#!/bin/sh\necho "$1" >>{log}\ncat "$2" >>{log}\necho unsat\n')
    checker.chmod(0o755)
    done = alone(
        tmp_path, "smt2", "in.smt2", "--wrong-model", "--max-checks", "1", "--jobs", "1",
        "--no-journal", "--cmd", Z3, "--reference", f"{checker} --own",
    )  # fmt: skip
    assert "  a wrong model\n" in done.stdout, done
    assert log.read_text().startswith("--own\n(set-logic ALL)\n(define-fun i () Int ")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["smt2", "in", "--cmd", Z3], "(the model is right, or there is none)"),
        (["smt2", "in", "--cmd", f"{Z3} -st", "--stdin"], "file as an argument: omit --stdin"),
        (["text", "in", "--cmd", Z3], "--wrong-model: models of this format are not checked"),
        (["cnf", "in.cnf", "--cmd", "true", "--reference", "true"], "needs no --reference for"),
        (["smt2", "odd", "--cmd", Z3, "--reference", "/bin/true"],
         "--reference names another solver to check it"),
        (["smt2", "in", "--oracle", "true"], "--oracle and --wrong-model are mutually exclusive"),
    ],
)  # fmt: skip
def test_why_a_model_is_not_wrong(tmp_path: Path, words: list[str], said: str) -> None:
    (tmp_path / "in").write_bytes(SCRIPT)
    (tmp_path / "odd").write_bytes(b"(declare-const i Int)(assert (= (mod i 7) 3))(check-sat)")
    (tmp_path / "in.cnf").write_bytes(b"p cnf 1 1\n1 0\n")
    done = alone(tmp_path, *words, "--wrong-model")
    assert done.returncode in (1, 2), done
    assert said in done.stderr


def test_a_model_is_asked_for_once() -> None:
    asked = question(b"(exit)(assert true)(check-sat)(get-model)(check-sat)")
    assert asked.count(b"get-model") == asked.count(b"(check-sat)") == 1
    assert b"exit" not in asked


def test_what_cannot_be_told(script: Path, tmp_path: Path) -> None:
    assert exit_code(script, "no-such-solver")[0] == 2
    assert "no-such-solver" in exit_code(script, "no-such-solver")[1]
    assert exit_code(tmp_path / "missing.smt2", Z3)[0] == 2
    assert exit_code(script)[0] == 2
