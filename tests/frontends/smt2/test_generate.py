"""Random scripts: of their logic, well sorted, the same for the same seed, and of all operators."""

import re

import pytest
import z3

from reducekit.errors import UsageError
from reducekit.frontends.smt2 import Smt2
from reducekit.frontends.smt2.generate.scripts import Parameters, generate_script
from reducekit.frontends.smt2.generate.vocabulary import ANY, DRAWN, theories_of
from reducekit.frontends.smt2.language.operators import signatures
from reducekit.frontends.smt2.language.validity import problems

SEEDS = range(4)


def script(logic: str, seed: int, levels: int = 5) -> str:
    return generate_script(Parameters(logic, 6, levels, 3, 2), seed)


def asserted(text: str) -> str:
    """Return a script without what is no declaration or assertion, up to where it is reset."""
    text = re.split(r"\(reset", text)[0]
    return re.sub(r"\((check-sat|push|pop|get-|echo|exit|set-option)[^\n]*\n", "", text)


@pytest.mark.parametrize("logic", DRAWN)
def test_scripts_are_well_sorted(logic: str) -> None:
    for seed in SEEDS:
        text = script(logic, seed)
        assert text == script(logic, seed)
        after_options = re.sub(r"\A(\(set-(option|info) [^\n]*\n)+", "", text)
        assert after_options.startswith(f"(set-logic {logic})\n")
        assert problems(Smt2().parse(text.encode()), extensions=True) == []
        if logic.startswith("QF_"):
            assert not re.search(r"\((forall|exists) ", text)


@pytest.mark.parametrize("logic", DRAWN)
def test_z3_reads_them(logic: str) -> None:
    for seed in SEEDS:
        text = asserted(script(logic, seed))
        assert text.count("(assert ") == len(z3.parse_smt2_string(text, ctx=z3.Context()))


def test_any_draws_logics() -> None:
    texts = [script(ANY, seed, 1) for seed in range(400)]
    assert {re.findall(r"\(set-logic (\S+)\)", text)[0] for text in texts} == {*DRAWN}


def test_every_operator_is_drawn() -> None:
    text = "".join(script(logic, seed) for logic in ("ALL", "QF_SLIA") for seed in range(350))
    heads = set(re.findall(r"[^\s()]+", text))
    known = {name for each in signatures(theories_of("ALL")) for name in each.names}
    assert known <= heads
    indexed = "concat extract zero_extend sign_extend repeat rotate_left int2bv bv2nat to_fp fp"
    indexed += (
        " to_fp_unsigned fp.to_ubv fp.to_sbv re.loop re.^ is match let forall exists push pop"
    )
    assert set(indexed.split()) <= heads


_COMMANDS = """assert check-sat check-sat-assuming declare-const declare-datatype declare-datatypes
    declare-fun declare-sort define-const define-fun define-fun-rec define-funs-rec define-sort echo
    exit get-assertions get-assignment get-info get-model get-option get-proof
    get-unsat-assumptions get-unsat-core get-value pop push reset reset-assertions set-info
    set-logic set-option"""
"""All of SMT-LIB 2.7 but declare-sort-parameter, which z3 5.4.1, cvc5 1.4.2 and Yices lack."""
_OPERATORS = """! :named :pattern par _ is match let forall exists ite distinct xor =>
    abs div mod to_real to_int is_int select store
    bvnego bvuaddo bvsaddo bvumulo bvsmulo bvusubo bvssubo bvsdivo bvcomp concat extract
    ubv_to_int sbv_to_int int_to_bv bv2nat int2bv rotate_right repeat zero_extend sign_extend
    fp fp.rem fp.fma fp.roundToIntegral fp.isSubnormal fp.to_real fp.to_ubv fp.to_sbv to_fp
    to_fp_unsigned Float16 Float32 roundNearestTiesToEven roundTowardZero NaN +oo -zero
    char str.replace_re_all str.from_code str.is_digit re.^ re.loop re.comp re.diff re.range"""


def test_commands_and_operators_of_the_language_are_drawn() -> None:
    """In 4,000 scripts of all logics, and in some of two logics that few of them are of."""
    texts = [script(ANY, seed, 2) for seed in range(3000)]
    texts += [script(logic, seed, 2) for logic in ("ALL", "QF_FPLRA") for seed in range(500)]
    heads = set(re.findall(r"[^\s()]+", "\n".join(texts)))
    assert not {*_COMMANDS.split(), *_OPERATORS.split()} - heads


def test_rare_commands_are_well_formed() -> None:
    some = [text for seed in range(400) if "get-" in (text := script(ANY, seed, 3))]
    assert len(some) > 40
    for text in some:
        assert problems(Smt2().parse(text.encode()), extensions=True) == [], text


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
        text = asserted(script(logic, seed))
        todo = list(z3.parse_smt2_string(text, ctx=z3.Context()))
        while todo:
            term = todo.pop()
            todo += term.children()
            place = kinds.get(term.decl().kind()) if z3.is_app(term) else None
            if place is not None:
                seen += 1
                assert z3.is_int_value(term.arg(place)) or z3.is_rational_value(term.arg(place))
    assert seen > 20


def test_half_of_the_scripts_declare_constants_as_solvers_of_old_take_them() -> None:
    texts = [generate_script(Parameters("QF_BV", 4, 3, 3, 1), seed) for seed in range(100)]
    old = ["(declare-fun x0 () " in text for text in texts]
    new = ["(declare-const x0 " in text for text in texts]
    assert old == [not each for each in new]
    assert 30 < sum(old) < 70
