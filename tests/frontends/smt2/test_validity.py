"""What is no script is tried only where that is what failed, or where it is asked for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from reducekit.api import reduce
from reducekit.errors import UsageError
from reducekit.frontends.smt2 import Smt2
from reducekit.frontends.smt2.parser import parse
from reducekit.frontends.smt2.validity import problems
from reducekit.frontends.smt2.view import ScriptView

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


def test_the_check_of_a_file_takes_the_commands_of_solvers() -> None:
    assert not Smt2().check(b"(minimize 1)\n(check-sat-using smt)\n").problems
    assert Smt2().check(b"(assert y)\n").problems


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
