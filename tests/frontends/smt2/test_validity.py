"""What is no script is tried only where that is what failed, or where it is asked for."""

from collections.abc import Callable
from pathlib import Path

import pytest
import z3

from reducekit.api import reduce
from reducekit.errors import UsageError
from reducekit.frontends.smt2 import Smt2
from reducekit.frontends.smt2.language.commands import read_commands
from reducekit.frontends.smt2.language.parser import parse
from reducekit.frontends.smt2.language.validity import problems
from reducekit.frontends.smt2.language.view import ScriptView
from tests.cli.tool import Tool

SCRIPT = b"""(set-logic QF_BV)
(declare-fun a () (_ BitVec 8))
(declare-fun b () (_ BitVec 8))
(assert (let ((x (bvadd a b))) (bvult (bvudiv x (bvmul a x)) (bvsub a #x03))))
(assert (not (= a b)))
(check-sat)
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(assert (bvadd #x00 #x0))", ["line 1: `(bvadd #x00 #x0)` has no sort"]),
        ("(check-sat)\n(assert (not (= x 0)))", ["line 2: `x` has no sort"]),
        ("(assert 3)", ["line 1: `3` is not Bool"]),
        ("(push)", ["line 1: `push` takes 1 argument"]),
        ("(push x)", ["line 1: `push` takes a numeral"]),
        ("(push 1)\n(pop 2)", ["line 2: `pop` of more levels than are open"]),
        ("(define-fun f () Int true)", ["line 1: `true` does not have the declared sort"]),
        ("(bvudiv)", ["line 1: `bvudiv` is not a command of the standard"]),
        ("(check-sat true)", ["line 1: `check-sat` takes no arguments"]),
        ("x", ["line 1: `x` is not a command"]),
        (SCRIPT.decode(), []),
        ('(push 2)\n(pop 1)\n(reset)\n(echo "x")\n(get-value (1))', []),
    ],
)
def test_problems(text: str, expected: list[str]) -> None:
    assert problems(ScriptView(parse(text.encode()))) == expected


DIALECTS = """(declare-sort T)
(declare-const a T)
(declare-const i Int)
(push)
(assert (distinct a))
(assert (= i -5))
(check-sat (= i -5))
(get-model 0)
(get-value (i) :model-index 0)
(pop)
(push 01)
(minimize i)
"""
NOTED = """line 1: `declare-sort` takes 2 arguments
line 4: `push` takes 1 argument
line 7: `check-sat` takes no arguments
line 8: `get-model` takes no arguments
line 9: `get-value` takes 1 argument
line 10: `pop` takes 1 argument
line 12: `minimize` is not a command of the standard
line 5: `(distinct a)` has no sort"""


def test_what_solvers_accept_is_noted_and_no_fault() -> None:
    found = Smt2().check(DIALECTS.encode())
    assert (list(found.problems), found.summary.partition(",")[0]) == ([], f"{len(DIALECTS)} bytes")
    assert list(found.notes) == [f"{each}; solvers may accept it" for each in NOTED.split("\n")]
    context = z3.Context()
    assert "error" not in z3.Z3_eval_smtlib2_string(context.ref(), DIALECTS)


@pytest.mark.parametrize(
    "term", ["(set.frob 1)", "((_ str.frob 3) 1)", "seq.frob", "(_ ff.frob 3)"]
)
def test_an_operator_of_a_newer_release_is_noted(term: str) -> None:
    found = Smt2().check(f"(assert (= {term} 1))".encode())
    assert not found.problems
    assert list(found.notes) == [f"line 1: `{term}` has no sort; solvers may accept it"]


def test_what_no_solver_accepts_is_a_fault() -> None:
    for text in ("(assert y)", "(assert (str.len 1))", "(push x)", "(get-model 0 1)"):
        found = Smt2().check(text.encode())
        assert (len(found.problems), len(found.notes)) == (1, 0), text


def test_the_command_line_says_notes_and_succeeds(tmp_path: Path) -> None:
    tool = Tool(tmp_path)
    tool.write("in.smt2", "(push)\n(pop)\n")
    done = tool("smt2", "--check", "in.smt2")
    assert (done.code, done.out) == (0, "in.smt2: 13 bytes, 2 commands, 0 asserts, 0 terms\n")
    assert done.err == (
        "note: in.smt2, line 1: `push` takes 1 argument; solvers may accept it\n"
        "note: in.smt2, line 2: `pop` takes 1 argument; solvers may accept it\n"
    )


def test_scopes_without_numbers_are_removed_as_a_whole() -> None:
    text = b"(declare-sort T)(declare-const a T)(push)(assert (= a a))(check-sat)(pop)"
    seen: list[bytes] = []

    def interesting(candidate: bytes) -> bool:
        seen.append(candidate)
        return b"(check-sat)" in candidate

    assert reduce(text, interesting, format=Smt2()).text == b"(check-sat)"
    assert all(each.count(b"(pop)") <= each.count(b"(push)") for each in seen)
    assert [each for each in seen if problems(Smt2().parse(each), extensions=True)] == []


def test_a_definition_of_a_dialect_and_its_uses_go_together() -> None:
    text = b"(define n 3)(declare-map m (Int) (not (Bool) Bool))(assert (> n 2))(check-sat)"
    commands = read_commands(parse(text))
    assert [list(commands.users[at]) for at in range(4)] == [[2], [], [], []]


def lax(text: bytes) -> bool:
    """Look for an operator in asserts, as a solver does that does not mind sorts."""
    try:
        document = parse(text)
    except ValueError:
        return False
    return any(
        document.source(node).startswith(b"(assert ") and b"bvudiv" in document.source(node)
        for node in document.children(0)
    )


def reduced(interesting: Callable[[bytes], bool], **options: bool) -> bytes:
    return reduce(SCRIPT, interesting, format=Smt2(**options)).text


def test_the_result_is_well_sorted_where_the_oracle_does_not_mind() -> None:
    valid = reduced(lax)
    assert b"bvudiv" in valid
    assert problems(ScriptView(parse(valid))) == []
    assert len(reduced(lax, unchecked=True)) < len(valid)


def test_what_does_not_read_scripts_gets_less() -> None:
    assert reduced(lambda text: b"bvudiv" in text).strip() == b"bvudiv"


def test_a_parse_error_makes_anything_worth_a_try(tmp_path: Path) -> None:
    path = tmp_path / "solver"
    path.write_text(
        "#!/bin/sh\ngrep -q '^(assert.*bvudiv' $1 && "
        "{ echo '(error \"line 1: unknown constant\")'; exit 1; }\necho sat\n"
    )
    path.chmod(0o755)
    found = reduce(SCRIPT, command=[str(path)], format=Smt2()).text
    assert problems(ScriptView(parse(found))) != []
    path.write_text(path.read_text().replace("unknown constant", "internal error"))
    found = reduce(SCRIPT, command=[str(path)], format=Smt2()).text
    assert problems(ScriptView(parse(found))) == []


def test_strict_tries_only_scripts_of_the_standard() -> None:
    seen: list[bytes] = []

    def interesting(text: bytes) -> bool:
        seen.append(text)
        return b"bvudiv" in text

    found = reduced(interesting, strict=True)
    assert len(seen) > 10
    assert [text for text in seen if problems(ScriptView(parse(text)))] == []
    assert found in seen


def test_strict_says_what_is_not_of_the_standard() -> None:
    with pytest.raises(UsageError, match=r"line 1: `simplify` is not a command .* omit --strict"):
        reduce(b"(simplify 1)\n", lambda text: True, format=Smt2(strict=True))
    with pytest.raises(UsageError, match="--strict and --unchecked are mutually exclusive"):
        Smt2(strict=True, unchecked=True)
