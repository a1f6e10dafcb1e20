"""Random well-sorted terms over many theories have the sort that Z3 gives them."""

import random

import pytest
import z3

from reducekit.frontends.smt2.generate.vocabulary import theories_of
from reducekit.frontends.smt2.language.operators import signatures
from reducekit.frontends.smt2.language.parser import parse
from reducekit.frontends.smt2.language.script import analyse
from reducekit.frontends.smt2.language.sorts import Sort, print_sort

DECLARATIONS = """
(declare-sort U 0)
(declare-datatypes ((Lst 1)) ((par (X) ((nil) (cons (head X) (tail (Lst X)))))))
(declare-datatype Box ((empty) (box (open Int) (flag Bool))))
(declare-fun f (Int Bool) U)
(declare-fun g (U) Int)
(declare-fun over (Int) Bool)
(declare-fun over (U) Int)
(define-fun twice ((n Int)) Int (+ n n))
"""
ARRAY = "(Array Int Bool)"
NESTED = "(Array U (Array Int Bool))"
LIST = "(Lst Int)"
FLOAT = "(_ FloatingPoint 5 11)"
SORTS = f"Bool Int Real U Box String RegLan RoundingMode {ARRAY} {NESTED} {LIST} (Seq Int) {FLOAT}"

# Result sort: templates over argument sorts in braces. W is a bit-vector of width 8.
W, H, B = "(_ BitVec 8)", "(_ BitVec 4)", "(_ BitVec 1)"
GRAMMAR: dict[str, list[str]] = {
    "Bool": [
        "true", "(not {Bool})", "(and {Bool} {Bool} {Bool})", "(=> {Bool} {Bool})",
        "(xor {Bool} {Bool})", "(= {Int} {Int})", "(distinct {U} {U} {U})", "(< {Real} {Int})",
        "(bvsge {H} {H})", "(select {ARRAY} {Int})", "((_ is cons) {LIST})", "(over {Int})",
        "(str.< {String} {String})", "(str.in_re {String} {RegLan})", "(fp.isNaN {FLOAT})",
        "(fp.leq {FLOAT} {FLOAT})", "(flag {Box})", "(bvsaddo {W} {W})", "(bvumulo {W} {W})",
        "(forall ((q Int)) (= q {Int}))", "(exists ((q U)) (and {Bool} (= q {U})))",
        "(forall ((q Int)) (! {Bool} :weight 2))", "((_ is box) {Box})",
        "(seq.contains {(Seq Int)} {(Seq Int)})",
        "(let ((q {Int}) (p {Bool})) (and p (= q {Int})))", "(str.contains {String} {String})",
    ],
    "Int": [
        "7", "(+ {Int} {Int} {Int})", "(- {Int})", "(* {Int} {Int})", "(div {Int} {Int})",
        "(mod {Int} {Int})", "(abs {Int})", "(to_int {Real})", "(g {U})", "(over {U})",
        "(twice {Int})", "(bv2nat {W})", "(sbv_to_int {W})", "(str.len {String})",
        "(str.to_code {String})", "(seq.len {(Seq Int)})", "(seq.nth {(Seq Int)} {Int})",
        "(head {LIST})", "(open {Box})", "(let ((q {Int})) (+ q {Int}))",
        "(match {LIST} ((nil {Int}) ((cons q qs) q)))", "(str.indexof {String} {String} {Int})",
    ],
    "Real": [
        "2.5", "(+ {Real} {Int})", "(* {Real} {Real})", "(/ {Real} {Int})", "(- {Real})",
        "(to_real {Int})", "(fp.to_real {FLOAT})", "(+ {Int} {Real} {Int})",
    ],
    W: [
        "#x0f", "(_ bv3 8)", "(bvadd {W} {W})", "(bvlshr {W} {W})", "(bvnot {W})",
        "(bvsmod {W} {W})",
        "(concat {H} {H})", "((_ zero_extend 4) {H})", "((_ rotate_left 2) {W})",
        "(bvnand {W} {W})",
        "((_ repeat 2) {H})", "((_ int2bv 8) {Int})", "(bvxnor {W} {W})", "((_ repeat 8) {B})",
        "((_ fp.to_sbv 8) {RoundingMode} {FLOAT})", "(bvor {W} {W} {W})",
    ],
    H: ["#b0101", "((_ extract 5 2) {W})", "(bvmul {H} {H})", "((_ sign_extend 3) {B})"],
    B: ["#b1", "(bvcomp {W} {W})", "((_ extract 3 3) {H})", "(bvredor {W})"],
    "U": ["(f {Int} {Bool})"],
    "Box": ["empty", "(box {Int} {Bool})"],
    "String": [
        '"a""b"', "(str.++ {String} {String})", "(str.at {String} {Int})", "(str.from_int {Int})",
        "(str.substr {String} {Int} {Int})", "(str.replace {String} {String} {String})",
    ],
    "RegLan": [
        "re.none", "re.allchar", "(str.to_re {String})", "(re.++ {RegLan} {RegLan})",
        "(re.union {RegLan} {RegLan})", "(re.* {RegLan})", "((_ re.loop 1 2) {RegLan})",
        "(re.diff {RegLan} {RegLan})", '(re.range "a" "z")', "(re.comp {RegLan})",
    ],
    "RoundingMode": ["RNE", "roundTowardZero"],
    ARRAY: [
        "((as const (Array Int Bool)) {Bool})", "(store {ARRAY} {Int} {Bool})",
        "(select {NESTED} {U})", "((_ map and) {ARRAY} {ARRAY})", "(lambda ((q Int)) (= q {Int}))",
    ],
    NESTED: ["(store {NESTED} {U} {ARRAY})"],
    LIST: ["(as nil (Lst Int))", "(cons {Int} {LIST})", "(tail {LIST})"],
    "(Seq Int)": [
        "(as seq.empty (Seq Int))", "(seq.unit {Int})", "(seq.++ {(Seq Int)} {(Seq Int)})",
        "(seq.extract {(Seq Int)} {Int} {Int})",
    ],
    FLOAT: [
        "(_ +oo 5 11)", "(_ NaN 5 11)", "(fp #b0 {5} {10})", "(fp.neg {FLOAT})",
        "(fp.add {RoundingMode} {FLOAT} {FLOAT})", "((_ to_fp 5 11) {RoundingMode} {Real})",
        "((_ to_fp_unsigned 5 11) {RoundingMode} {W})", "(fp.rem {FLOAT} {FLOAT})",
        "(fp.fma {RoundingMode} {FLOAT} {FLOAT} {FLOAT})", "((_ to_fp 5 11) (concat {W} {W}))",
    ],
}  # fmt: skip
SHORT = {
    "W": W, "H": H, "B": B, "ARRAY": ARRAY, "NESTED": NESTED, "LIST": LIST, "FLOAT": FLOAT,
    "5": "(_ BitVec 5)", "10": "(_ BitVec 10)",
}  # fmt: skip


def variable(sort: str) -> str:
    """Return the declared constant of a sort."""
    return "|v " + sort + "|"


def grow(sort: str, depth: int, choose: random.Random) -> str:
    """Return a random term of a sort."""
    templates = GRAMMAR.get(sort, [])
    if not templates or depth == 0 or choose.random() < 0.1:
        return variable(sort)
    if choose.random() < 0.1:
        then, other = grow(sort, depth - 1, choose), grow(sort, depth - 1, choose)
        return f"(ite {grow('Bool', depth - 1, choose)} {then} {other})"
    pieces = choose.choice(templates).split("{")
    out = [pieces[0]]
    for piece in pieces[1:]:
        name, rest = piece.split("}", 1)
        out += [grow(SHORT.get(name, name), depth - 1, choose), rest]
    return "".join(out)


def sort_in_z3(sort: z3.SortRef) -> str:
    """Return the SMT-LIB text of a sort of Z3."""
    text = str(sort.sexpr())
    return {"(RegEx String)": "RegLan"}.get(text, text)


@pytest.mark.parametrize("seed", range(12))
def test_random_terms(seed: int) -> None:
    choose = random.Random(seed)
    sorts = sorted({*GRAMMAR, *SHORT.values()})
    declarations = DECLARATIONS + "".join(f"(declare-const {variable(s)} {s})\n" for s in sorts)
    terms = [(sort, grow(sort, 4, choose)) for sort in GRAMMAR for _ in range(4)]
    text = declarations + "".join(f"(assert (= {term} {term}))\n" for _, term in terms)
    asserted = z3.parse_smt2_string(text)
    document = parse(text.encode())
    script = analyse(document)
    commands = [c for c, n in zip(script.commands, script.names, strict=True) if n == b"assert"]
    assert len(asserted) == len(commands) == len(terms)
    for formula, command, (wanted, term) in zip(asserted, commands, terms, strict=True):
        side = command + 4
        assert document.source(side).decode() == term
        sort: Sort | None = script.sort[side]
        assert sort is not None, term
        assert print_sort(sort).decode() == sort_in_z3(formula.arg(0).sort()) == wanted, term
    unknown = [
        document.source(node)
        for node in range(len(document))
        if script.is_term[node] and script.sort[node] is None
    ]
    assert unknown == []


VARIABLES: "dict[str, Sort | int]" = {
    "'n": 8, "'e": 5, "'s": 11, "'I": "Int", "'E": "Bool", "'S": "U",
}  # fmt: skip
LITERALS = {"Int": "2", "Real": "2.0", "String": '"a"', "Char": '"a"'}


def bound(sort: "Sort | int") -> Sort:
    """Return a sort without variables."""
    if isinstance(sort, tuple):
        return tuple(bound(each) for each in sort)
    return VARIABLES.get(sort, sort)  # type: ignore[arg-type, return-value]


def test_the_table_of_operators() -> None:
    declarations, applications = dict[str, None](), dict[str, str]()
    for each in signatures(theories_of("ALL") | {"z3", "rare"}):
        words = []
        for at, parameter in enumerate(each.parameters):
            text = print_sort(bound(parameter)).decode()
            words.append(LITERALS[text] if at in each.literals else variable(text))
            if at not in each.literals:
                declarations[f"(declare-const {variable(text)} {text})"] = None
        for name in each.names:
            application = f"({' '.join((name, *words))})" if words else name
            applications[application] = print_sort(bound(each.result)).decode()
    assert len(applications) > 100
    lines = [f"(assert (= {each} {each}))" for each in applications]
    text = "\n".join(["(declare-sort U 0)", *declarations, *lines])
    formulas = z3.parse_smt2_string(text)
    script = analyse(parse(text.encode()))
    commands = [c for c, n in zip(script.commands, script.names, strict=True) if n == b"assert"]
    asserted = zip(formulas, commands, applications.items(), strict=True)
    for formula, command, (term, sort) in asserted:
        own = script.sort[command + 4]
        assert own is not None, term
        assert print_sort(own).decode() == sort_in_z3(formula.arg(0).sort()) == sort, term
