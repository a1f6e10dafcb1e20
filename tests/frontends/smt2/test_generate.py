"""Random scripts: of their logic, well sorted, the same for the same seed, and of all operators."""

from __future__ import annotations

import re

import pytest
import z3

from reducekit.errors import UsageError
from reducekit.frontends.smt2 import Smt2
from reducekit.frontends.smt2.generate.logic import ANY, DRAWN, theories_of
from reducekit.frontends.smt2.generate.scripts import Parameters, generate_script
from reducekit.frontends.smt2.generate.signatures import signatures
from reducekit.frontends.smt2.validity import problems

SEEDS = range(4)


def script(logic: str, seed: int, levels: int = 5) -> str:
    return generate_script(Parameters(logic, 6, levels, 3, 2), seed)


@pytest.mark.parametrize("logic", DRAWN)
def test_scripts_are_well_sorted(logic: str) -> None:
    for seed in SEEDS:
        text = script(logic, seed)
        assert text == script(logic, seed)
        assert text.startswith(f"(set-logic {logic})\n")
        assert problems(Smt2().parse(text.encode()), extensions=True) == []
        if logic.startswith("QF_"):
            assert not re.search(r"\((forall|exists) ", text)


@pytest.mark.parametrize("logic", DRAWN)
def test_z3_reads_them(logic: str) -> None:
    for seed in SEEDS:
        text = re.sub(r"\((check-sat|push|pop)\b[^\n]*\n", "", script(logic, seed))
        assert text.count("(assert ") == len(z3.parse_smt2_string(text, ctx=z3.Context()))


def test_any_draws_logics() -> None:
    found = {script(ANY, seed, 1).partition("\n")[0] for seed in range(400)}
    assert found == {f"(set-logic {logic})" for logic in DRAWN}


def test_every_operator_is_drawn() -> None:
    text = "".join(script(logic, seed) for logic in ("ALL", "QF_SLIA") for seed in range(250))
    heads = set(re.findall(r"[^\s()]+", text))
    known = {name for each in signatures(theories_of("ALL")) for name in each.names}
    assert known <= heads
    indexed = "concat extract zero_extend sign_extend repeat rotate_left int2bv bv2nat to_fp fp"
    indexed += (
        " to_fp_unsigned fp.to_ubv fp.to_sbv re.loop re.^ is match let forall exists push pop"
    )
    assert set(indexed.split()) <= heads


def test_names_of_logics() -> None:
    assert theories_of("QF_AUFBV") == {"arrays", "functions", "bitvectors"}
    assert theories_of("NIRA") == {"ints", "reals", "mixed", "nonlinear", "quantifiers"}
    assert theories_of("QF_IDL") == {"int differences"}


@pytest.mark.parametrize("name", ["", "QF_", "QF_IA", "LBV", "qf_bv", "QF_BVX", "QF_LIDL"])
def test_what_is_no_logic(name: str) -> None:
    with pytest.raises(UsageError, match="there is no logic"):
        theories_of(name)


def test_a_logic_in_small_letters_is_named() -> None:
    with pytest.raises(UsageError, match="there is no logic 'qf_lia': say QF_LIA"):
        theories_of("qf_lia")


@pytest.mark.parametrize("logic", ["QF_LIA", "QF_LRA"])
def test_linear_arithmetic_multiplies_and_divides_by_numbers_only(logic: str) -> None:
    kinds = {z3.Z3_OP_MUL: 0, z3.Z3_OP_DIV: 1, z3.Z3_OP_IDIV: 1, z3.Z3_OP_MOD: 1}
    seen = 0
    for seed in range(30):
        text = re.sub(r"\((check-sat|push|pop)\b[^\n]*\n", "", script(logic, seed))
        todo = list(z3.parse_smt2_string(text, ctx=z3.Context()))
        while todo:
            term = todo.pop()
            todo += term.children()
            place = kinds.get(term.decl().kind()) if z3.is_app(term) else None
            if place is not None:
                seen += 1
                assert z3.is_int_value(term.arg(place)) or z3.is_rational_value(term.arg(place))
    assert seen > 20
