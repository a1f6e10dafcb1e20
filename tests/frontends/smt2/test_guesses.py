"""Guesses at the parts of a query that count, by what a real z3 says of its runs."""

import re
import subprocess
import tempfile

import pytest

from reducekit import reduce
from reducekit.frontends.smt2.answers.assertions import guesses
from reducekit.offers import Probe

SCRIPT = b"""(set-option :smt.mbqi false)
(declare-fun f (Int) Int)
(declare-fun g (Int) Int)
(declare-const a Int) ; 1
(assert (! (> a 0) :named |is positive|))
(assert (= (f 7) 7)) ; 2
(assert (forall ((x Int)) (! (> (g x) 0) :pattern ((g x)) :qid |not used|)))
(assert (forall ((x Int)) (! (> (f x) 0) :pattern ((f x)) :qid used)))
(assert
  (forall ((x Int)) (! (< (f x) 9)
    :pattern ((f x)))))
(push 1)
(assert (! (<= a 0)
  :named other))
(assert (forall ((x Int)) (! (> (g x) 1) :pattern ((g x))))) ; 3
(check-sat)
(get-info :reason-unknown)
"""


def probe(variant: int) -> Probe:
    return Probe(variant, solved)


def solved(text: bytes) -> bytes:
    with tempfile.NamedTemporaryFile(suffix=".smt2") as file:
        file.write(text)
        file.flush()
        done = subprocess.run(["z3", file.name], capture_output=True)
        return done.stdout + done.stderr


def lost(text: bytes) -> bytes:
    """Solve a text from which a half of the contradiction is gone."""
    return solved(re.sub(rb"\(<= (\w+) 0\)", rb"(<= \1 1)", text))


@pytest.mark.parametrize("number", [0, 1, 2, 3])
def test_core_and_instances(number: int) -> None:
    core, more = guesses(SCRIPT, [probe(number)], Probe(number, lost))
    assert core.count(b"(assert") == 2
    assert b":named |is positive|" in core
    assert b":named other" in core
    assert b"get-unsat-core" not in core
    assert b"reducekit" not in core
    kept = re.findall(rb":qid (\S+)\)|(\(f 7\))|\(< \(f x\) (9)|> \(g x\) (1)", more)
    assert more.count(b"(assert") == 5
    assert [b"".join(each) for each in kept] == [b"(f 7)", b"used))", b"9"]
    assert more.endswith(b"(check-sat)\n(get-info :reason-unknown)\n")
    assert [name for name in (b"f", b"g", b"a") if b" %s " % name in core] == [b"a"]
    assert [name for name in (b"f", b"g", b"a") if b" %s " % name in more] == [b"f", b"a"]


def test_without_a_core() -> None:
    assert guesses(SCRIPT.replace(b"(<= a 0)", b"(<= a 1)"), [probe(0)], probe(0)) == []
    assert guesses(b"(assert (", [probe(0)], probe(0)) == []
    assert guesses(b"(assert false)", [probe(0)], probe(0)) == []  # nothing is asked
    silent = Probe(0, lambda text: b"")
    assert len(guesses(SCRIPT, [silent, probe(0)], silent)) == 2  # the next one tells


def test_what_is_all_is_no_guess() -> None:
    text = b"(declare-const a Int)\n(assert (> a 0))\n(assert (< a 0))\n(check-sat)\n"
    assert guesses(text, [probe(0)], probe(0)) == []


def test_a_reduction_starts_from_a_guess() -> None:
    """Seed 0 has no limit here, the others have too little."""
    spare = "".join(f"(declare-const q{k} Int)\n(assert (< q{k} {k}))\n" for k in range(20))
    script = f"""(declare-fun f (Int) Int)
{spare}(assert (forall ((x Int)) (! (> (f (+ x 1)) (f x)) :pattern ((f x)))))
(assert (< (f 3) (f 0)))
(check-sat)
"""
    report = reduce(
        script, command="z3 rlimit={seed}00", unstable=3, bad=2, max_checks=1, journal=False
    )
    assert report.counts.accepted == 1
    assert report.after["asserts"] == 2
    assert "declare-const" not in report.text
