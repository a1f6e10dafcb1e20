"""Fingerprints of scripts: equal where only the names of what is declared differ."""

import re

import pytest

from reducekit.frontends.smt2.language.commands import fingerprint

SCRIPT = b"""(declare-sort S 0)
(declare-fun x () Int)
(declare-fun f (S Int) Int)
(define-fun |a b| ((x Int)) Int (+ x 1))
(assert (forall ((s S)) (= (f s x) (|a b| x) 0)))
(assert (= "x |a b|" "S"))
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [(rb"\bS\b", b"T"), (rb"\bx\b", b"x1"), (rb"\bf\b", b"|f g|"), (rb"\|a b\|", b"b")],
)
def test_names_of_what_is_declared_do_not_matter(old: bytes, new: bytes) -> None:
    *lines, last = SCRIPT.splitlines()
    renamed = b"\n".join([*(re.sub(old, new, line) for line in lines), last])
    assert renamed != SCRIPT
    assert fingerprint(renamed) == fingerprint(SCRIPT)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"(f s x)", b"(f s 0)"),  # another term
        (b"(|a b| x) 0", b"0 (|a b| x)"),  # another order
        (b"(forall ((s S))", b"(forall ((t S))"),  # a bound name
        (b'"S"', b'"T"'),
        (b"(S Int) Int", b"(S Int) Real"),
        (b'"x |a b|"', b'"x |a b|'),  # an open string
    ],
)
def test_all_else_matters(old: bytes, new: bytes) -> None:
    changed = SCRIPT.replace(old, new)
    assert changed != SCRIPT
    assert fingerprint(changed) != fingerprint(SCRIPT)


def test_the_order_of_declarations_matters() -> None:
    one = b"(declare-const a Int)(declare-const b Bool)(assert (= a 0))(assert b)"
    other = b"(declare-const b Bool)(declare-const a Int)(assert (= a 0))(assert b)"
    assert fingerprint(one) != fingerprint(other)


def test_two_names_are_not_one() -> None:
    declared = b"(declare-const a Int)(declare-const b Int)"
    same, different = (declared + b"(assert (= a %b))" % name for name in (b"a", b"b"))
    assert fingerprint(same) != fingerprint(different)
    assert fingerprint(declared + b"(assert (= b b))") != fingerprint(same)


def test_long_scripts_have_none() -> None:
    assert fingerprint(SCRIPT + b"; " + b"x" * 4096) is None
