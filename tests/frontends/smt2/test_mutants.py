"""Mutants of scripts: well sorted, the same for the same seed, of many kinds."""

import re
from pathlib import Path
from random import Random

import pytest
import z3

from reducekit.frontends.mutation import Mutants
from reducekit.frontends.smt2.generate.mutants import GENERATION, Seed, changed, joined, seed_of
from reducekit.frontends.smt2.language.parser import parse
from reducekit.frontends.smt2.language.validity import problems
from reducekit.frontends.smt2.language.view import ScriptView

INTEGERS = b"""(set-logic QF_LIA)
(set-option :produce-models true)
(set-info :status sat)
(declare-fun x () Int)
(declare-fun f (Int) Int)
(assert (let ((y (+ x 1))) (< (f y) (* 2 x))))
(check-sat)
(exit)
"""
VECTORS = b"""(declare-const x (_ BitVec 8))
(define-fun |two words| ((x (_ BitVec 8))) Bool (bvult x #x10))
(assert (forall ((y (_ BitVec 8))) (or (|two words| y) (= (bvadd x y) #xff))))
(assert (|two words| x))
(check-sat)
"""


def usable(text: bytes) -> Seed:
    seed = seed_of(text)
    assert seed is not None
    return seed


def test_mutants_are_well_sorted_and_differ(tmp_path: Path) -> None:
    for name, text in (("a.smt2", INTEGERS), ("b.smt2", VECTORS)):
        (tmp_path / name).write_bytes(text)
    mutants = Mutants(tmp_path, (".smt2",), "scripts", seed_of, changed)
    found = [mutants.mutant(Random(number)) for number in range(200)]
    assert any(b"!2" in each for each in found)  # joined
    for text in found:
        assert problems(ScriptView(parse(text)), extensions=True) == []
        z3.parse_smt2_string(text.replace(b"(check-sat)", b"").decode(), ctx=z3.Context())


def test_mutants_have_the_operators_of_their_logic(tmp_path: Path) -> None:
    (tmp_path / "a.smt2").write_bytes(INTEGERS)
    mutants = Mutants(tmp_path, (".smt2",), "scripts", seed_of, changed)
    found = [mutants.mutant(Random(number)) for number in range(300)]
    foreign = re.compile(rb"[( ](?:str\.|bv|select |to_real )")
    inside = [each for each in found if b"(set-logic QF_LIA)" in each]
    wide = [each for each in found if b"(set-logic ALL)" in each]
    assert len(inside) + len(wide) == len(found)
    assert len(inside) > 150
    assert not any(map(foreign.search, inside))
    assert any(map(foreign.search, wide))


@pytest.mark.parametrize("command", [b"(set-logic)", b"(set-logic \xff)", b"(set-logic (a b))"])
@pytest.mark.parametrize("at_the_end", [False, True])
def test_a_logic_that_is_none_counts_as_all(command: bytes, at_the_end: bool) -> None:
    parts = [command, VECTORS]
    seed = usable(b"\n".join(reversed(parts) if at_the_end else parts))
    assert seed.logic == "ALL"
    assert usable(INTEGERS).logic == "QF_LIA"


def test_options_and_the_status_are_left_out_unless_asked_for() -> None:
    assert b"set-option" not in usable(INTEGERS).view.document.text
    assert b":status" not in usable(INTEGERS).view.document.text
    whole = seed_of(INTEGERS, options=True)
    assert whole is not None
    assert b":produce-models" in whole.view.document.text


def test_names_of_joined_scripts_differ() -> None:
    both = joined(usable(VECTORS), usable(VECTORS))
    assert both is not None
    text = both.view.document.text
    assert b"|two words!2|" in text
    assert text.count(b"(declare-const x ") == text.count(b"(declare-const x!2 ") == 1
    assert text.count(b"(check-sat)") == 1


def test_mutants_and_random_scripts_alternate(tmp_path: Path) -> None:
    (tmp_path / "a.smt2").write_bytes(INTEGERS)
    values = {each.name: each.default for each in GENERATION.options}
    values |= {"mutate": str(tmp_path), "logic": "QF_BV", "mix": 0.5}
    with GENERATION.make(values) as generator:
        texts = [generator.generate(seed).text for seed in range(60)]
        assert generator.words(7) == [
            "--seed", "7", "--logic", "QF_BV", "--mutate", str(tmp_path),
        ]  # fmt: skip
    drawn = sum(text.startswith(b"(set-logic QF_BV)") for text in texts)
    assert 15 < drawn < 45
