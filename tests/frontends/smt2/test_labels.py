"""Which assertions are left, where they come from, and what real solvers instantiate of them."""

import subprocess
import tempfile

import pytest

from reducekit.frontends.smt2 import Smt2
from reducekit.offers import Part, Probe

INPUT = b"""(declare-fun f (Int) Int)
(declare-const a Int) ; (assert false)
(assert (! (> a 0) :named |is positive|))
(assert (= (f 7) 7)) ; 2
(assert
  (forall ((x Int)) (! (> (f x) 0) :pattern ((f x)) :qid used)))
(assert (< a 5)) (assert (< (f a)
   6))
(check-sat)
"""
QUERY = b"""(set-logic UFLIA)
(declare-fun f (Int) Int)
(declare-fun g (Int) Int)
(declare-fun h (Int) Int)
(assert (forall ((x Int)) (! (> (f (+ x 1)) (f x)) :pattern ((f x)) :qid same)))
(assert (forall ((x Int)) (! (> (g x) 0) :pattern ((g x)) :qid same)))
(assert (< (f 3) (f 0)))
(assert (forall ((x Int)) (=> (> x 7) (forall ((y Int)) (= (h x) (h y))))))
(check-sat)
"""


def left(*texts: bytes) -> list[tuple[str, int | None, int]]:
    return [(each.name, each.line, each.now) for each in Smt2().labels([INPUT, *texts])]


def test_names_and_lines_of_the_input() -> None:
    assert Smt2().labels([INPUT])[0] == Part("is positive", 3, 3)
    assert left() == [
        ("is positive", 3, 3), ("", 4, 4), ("used", 5, 5), ("", 7, 7), ("", 7, 7),
    ]  # fmt: skip


def test_lines_are_followed_through_steps_that_rename() -> None:
    """What was removed is seen where the rest is unchanged; what is renamed keeps its place."""
    shorter = INPUT.replace(b"(assert (= (f 7) 7)) ; 2\n", b"").replace(b"(assert (< a 5)) ", b"")
    shorter = shorter.replace(b" ; (assert false)", b"")
    renamed = shorter.replace(b"is positive", b"n").replace(b"used", b"q").replace(b" a", b" z")
    assert left(shorter, renamed.replace(b"\n", b" ")) == [
        ("is positive", 3, 1), ("used", 5, 1), ("", 7, 1),
    ]  # fmt: skip
    # In one step: by what the assertions have in common.
    assert left(renamed.replace(b"6", b"8")) == [
        ("is positive", 3, 3), ("used", 5, 4), ("", 7, 6),
    ]  # fmt: skip


def test_what_comes_from_nowhere_has_no_line() -> None:
    made = INPUT.replace(b"(check-sat)", b"(assert (! true :named new)) (check-sat)")
    assert left(made)[-1] == ("new", None, 9)
    assert left(b"(assert true)") == [("", None, 1)]


def test_no_scripts_are_passed_over() -> None:
    assert left(b"(assert (", INPUT) == left()
    assert Smt2().labels([b"(assert ("]) == []
    assert left(b"(assert (") == []


def probe(command: str) -> Probe:
    def run(text: bytes) -> bytes:
        with tempfile.NamedTemporaryFile(suffix=".smt2") as file:
            file.write(text)
            file.flush()
            done = subprocess.run([*command.split(), file.name], capture_output=True)
            return done.stdout + done.stderr

    return Probe(3, run)


@pytest.mark.parametrize(
    "command", ["z3", pytest.param("cvc5", marks=pytest.mark.debian("cvc5"))]
)  # fmt: skip
def test_instances_of_each_assertion(command: str) -> None:
    """By assertion, also where two quantifiers have the same name, and one of them none."""
    first, idle, ground, nameless = Smt2().instances(QUERY, probe(command))
    assert first is not None
    assert first >= 3
    assert (idle, ground) == (0, None)
    assert nameless is not None


def test_a_run_that_is_lost_tells_instances_too() -> None:
    query = QUERY.replace(b"(< (f 3)", b"(> (f 3)")
    most = Smt2().instances(query, probe("z3 smt.mbqi=false rlimit=20000"))[0]
    assert most is not None
    assert most > 9


def test_who_says_nothing_of_instances() -> None:
    assert Smt2().instances(QUERY, Probe(0, lambda text: b"unsat\n")) == [None] * 4
    assert Smt2().instances(b"(assert (", Probe(0, lambda text: b"")) == []
