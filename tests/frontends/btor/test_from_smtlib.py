"""From SMT-LIB to BTOR: what BTOR says of a script is what SMT-LIB solvers say of it."""

import random
from collections.abc import Callable

import pytest

from reducekit.errors import ParseError
from reducekit.frontends.btor.convert.conversion import convert
from reducekit.frontends.btor.convert.from_smtlib import from_smtlib
from reducekit.frontends.btor.convert.to_smtlib import to_smtlib
from reducekit.frontends.btor.generate.generator import Parameters, generate
from reducekit.frontends.btor.model.evaluate import evaluate
from reducekit.frontends.btor.model.operators import Dialect, Op
from reducekit.frontends.btor.model.reader import read
from reducekit.frontends.btor.model.writer import canonical
from tests.frontends.btor.solving import bitwuzla_reads, bitwuzla_says, boolector_says

DECLARED = """
(declare-const x (_ BitVec 4)) (declare-const y (_ BitVec 4)) (declare-fun z () (_ BitVec 7))
(declare-fun p () Bool) (declare-const q Bool) (define-sort Word () (_ BitVec 4))
(declare-const a (Array Word (_ BitVec 3))) (declare-const b (Array (_ BitVec 4) (_ BitVec 3)))
(declare-fun f (Word Bool) (_ BitVec 3)) (declare-fun g ((_ BitVec 3)) Bool)
(define-fun twice ((u Word)) Word (bvadd u u))
(define-fun chosen ((u Word) (c Bool)) Word (let ((x (twice u))) (ite c x (twice x))))
"""

VECTORS = ["bvand", "bvor", "bvxor", "bvnand", "bvnor", "bvxnor", "bvadd", "bvsub", "bvmul"]
VECTORS += ["bvudiv", "bvurem", "bvsdiv", "bvsrem", "bvsmod", "bvshl", "bvlshr", "bvashr"]
PREDICATES = ["bvult", "bvule", "bvugt", "bvuge", "bvslt", "bvsle", "bvsgt", "bvsge"]
PREDICATES += ["bvuaddo", "bvsaddo", "bvusubo", "bvssubo", "bvumulo", "bvsmulo", "bvsdivo"]
WORDS = ["x", "y", "#b1010", "#xf", "(_ bv3 4)", "((_ repeat 4) #b1)"]


def read_back(text: str) -> list[int]:
    """Return the values of the constraints; the script has no inputs."""
    dag = from_smtlib(text.encode())
    values = evaluate(dag, {})
    found = [values[line] for line in dag.lines_of(Op.CONSTRAINT)]
    assert all(isinstance(each, int) for each in found)
    return found  # type: ignore[return-value]


class Scripts:
    """Random scripts over every operator, all terms well-sorted."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)

    def any_of(self, *makers: Callable[[], str]) -> str:
        return self.chance.choice(makers)()

    def script(self) -> str:
        asserted = "".join(f"(assert (! {self.truth(3)} :named k{n}))\n" for n in range(3))
        return f"(set-logic QF_AUFBV)\n{DECLARED}{asserted}(check-sat)\n(exit)\n"

    def truth(self, depth: int) -> str:
        if not depth:
            return self.chance.choice(["p", "q", "true", "false"])
        two = (self.word(depth - 1), self.word(depth - 1))
        return self.any_of(
            lambda: f"({self.chance.choice(PREDICATES)} {two[0]} {two[1]})",
            lambda: f"(= {two[0]} {two[1]} {self.word(0)})",
            lambda: f"(distinct {two[0]} {two[1]} {self.word(0)})",
            lambda: f"(not {self.truth(depth - 1)})",
            lambda: (
                f"({self.chance.choice(['and', 'or', 'xor', '=>'])} "
                f"{self.truth(depth - 1)} {self.truth(0)} {self.truth(depth - 1)})"
            ),
            lambda: f"(let ((p {self.truth(0)}) (q p)) {self.truth(depth - 1)})",
            lambda: f"(= {self.array(depth - 1)} {self.array(0)})",
            lambda: f"(g {self.three(depth - 1)})",
            lambda: f"(bvnego {two[0]})",
        )

    def word(self, depth: int) -> str:
        if not depth:
            return self.chance.choice(
                ["x", "y", "#b1010", "#xf", "(_ bv3 4)", "((_ repeat 4) #b1)"]
            )
        one = self.word(depth - 1)
        return self.any_of(
            lambda: f"({self.chance.choice(VECTORS)} {one} {self.word(depth - 1)})",
            lambda: f"({self.chance.choice(['bvnot', 'bvneg'])} {one})",
            lambda: f"(ite {self.truth(depth - 1)} {one} {self.word(0)})",
            lambda: (
                f"((_ {self.chance.choice(['rotate_left', 'rotate_right'])} "
                f"{self.chance.randrange(9)}) {one})"
            ),
            lambda: f"((_ {self.chance.choice(['sign', 'zero'])}_extend 1) {self.three(0)})",
            lambda: f"(concat {self.three(depth - 1)} (bvcomp {one} {self.word(0)}))",
            lambda: f"((_ extract 5 2) (bvadd z z ((_ zero_extend 3) {one})))",
            lambda: f"(chosen {one} {self.truth(0)})",
            # bitwuzla takes the names of a let within a binding for those of the outer one.
            lambda: one if "let" in one else f"(let ((x {one}) (y x)) {self.word(depth - 1)})",
        )

    def three(self, depth: int) -> str:
        if not depth:
            return self.chance.choice(["(select a x)", "(select b y)", "#b101"])
        return self.any_of(
            lambda: f"(select {self.array(depth - 1)} {self.word(depth - 1)})",
            lambda: f"(f {self.word(depth - 1)} {self.truth(0)})",
            lambda: f"((_ extract 3 1) {self.word(depth - 1)})",
        )

    def array(self, depth: int) -> str:
        if not depth:
            return self.chance.choice("ab")
        return self.any_of(
            lambda: f"(store {self.array(depth - 1)} {self.word(0)} {self.three(0)})",
            lambda: f"(ite {self.truth(0)} {self.array(depth - 1)} {self.array(0)})",
        )


@pytest.mark.parametrize("seed", range(60))
def test_bitwuzla_agrees_before_and_after(seed: int) -> None:
    text = Scripts(seed).script().encode()
    dag = from_smtlib(text)
    said = bitwuzla_reads(text, "smt2")
    assert bitwuzla_says(dag) == said
    for target in (Dialect.BTOR1, Dialect.OLD, Dialect.BTOR2):
        assert canonical(convert(read(canonical(convert(dag, target)), target), target))
    assert bitwuzla_reads(to_smtlib(dag), "smt2") == said


@pytest.mark.debian("boolector")
def test_boolector_agrees() -> None:
    said = {"sat": 0, "unsat": 0}
    for seed in range(60):
        text = Scripts(seed).script().encode()
        answer = boolector_says(convert(from_smtlib(text), Dialect.BTOR1))
        assert answer == bitwuzla_reads(text, "smt2")
        said[answer] += 1
    assert min(said.values()) > 5  # neither answer is the only one


@pytest.mark.parametrize("seed", range(20))
def test_there_and_back_again(seed: int) -> None:
    """What was BTOR, became SMT-LIB and is BTOR again has the same answer."""
    dag = generate(Parameters(seed=seed, nodes=60, cnf=seed % 2 == 0, clauses=1.0 + seed % 5))
    assert bitwuzla_says(from_smtlib(to_smtlib(dag))) == bitwuzla_says(dag)


@pytest.mark.parametrize("width", [1, 2, 3, 5])
def test_constants_have_the_values_that_solvers_give_them(width: int) -> None:
    """Each operator over all or many pairs of constants: bitwuzla finds no other value."""
    chance = random.Random(width)
    for name in VECTORS + PREDICATES:
        for _ in range(3):
            u, v = chance.randrange(1 << width), chance.randrange(1 << width)
            term = f"({name} (_ bv{u} {width}) (_ bv{v} {width}))"
            sort = "Bool" if name in PREDICATES else f"(_ BitVec {width})"
            asked = f"(assert (= c {term}))(check-sat)"
            found = from_smtlib(f"(declare-const c {sort}){asked}".encode())
            values = [
                value
                for value in range(2 if sort == "Bool" else 1 << width)
                if evaluate(found, {0: value})[next(iter(found.lines_of(Op.CONSTRAINT)))]
            ]
            assert len(values) == 1
            shown = ("true" if values[0] else "false") if sort == "Bool" else (
                f"(_ bv{values[0]} {width})"
            )  # fmt: skip
            script = f"(set-logic QF_BV)(assert (distinct {shown} {term}))(check-sat)"
            assert bitwuzla_reads(script.encode(), "smt2") == "unsat"


def test_bits_in_order() -> None:
    assert (
        read_back(
            """
        (assert (= (concat #b10 #b0 #b1) #x9))
        (assert (= ((_ extract 2 1) #b0110) #b11))
        (assert (= ((_ rotate_left 1) #b1000) #b0001))
        (assert (= ((_ rotate_right 6) #b0001) #b0100))
        (assert (= ((_ repeat 3) #b10) #b101010))
        (assert (= ((_ sign_extend 2) #b10) #b1110))
        (assert (= (bvcomp #b1 #b1) #b1))
        (assert (= (bvredor #b010) #b1))
        (assert (= (bvredand #b010) #b0))
        (assert (bvnego #b100))
        (assert (=> false true false))
        (assert (xor true true true))
        (assert (= (_ bv12345678901234567890 64) #xab54a98ceb1f0ad2))
        """
        )
        == [1] * 13
    )


def test_names_are_seen_where_they_are_bound() -> None:
    assert (
        read_back(
            """
        (define-fun x () (_ BitVec 2) #b01)
        (define-fun |y z| ((x (_ BitVec 2))) (_ BitVec 2) (bvadd x #b01))
        (define-const w (_ BitVec 2) (|y z| x))
        (assert (= w #b10))
        (assert (= (let ((x #b11) (v x)) (bvadd x v)) #b00))
        (assert (= (let ((x #b11)) (|y z| v)) (let ((v #b00)) (|y z| v))))
        """.replace("(let ((x #b11)) (|y z| v))", "(let ((x #b00)) (|y z| x))")
            + """
        (define-fun outer () (_ BitVec 2) (let ((x #b10)) (bvsub (|y z| #b00) x)))
        (assert (= outer #b11))
        (assert (= x |x| #b01))
        (assert (! (= w #b10) :named kept))
        (assert (and kept (not (= x w))))
        """
        )
        == [1] * 7
    )


def test_equal_terms_are_one_node_and_complements_are_none() -> None:
    dag = from_smtlib(
        b"""(declare-const x (_ BitVec 8)) (define-fun f ((u (_ BitVec 8))) (_ BitVec 8)
        (bvmul (bvnot u) u)) (assert (= (f x) (f (f x)))) (assert (not (= (f x) (f (f x)))))
        (check-sat) (get-model)"""
    )
    assert canonical(dag) == (
        b"1 sort bitvec 8\n2 input 1 x\n3 mul 1 -2 2\n4 mul 1 -3 3\n5 sort bitvec 1\n"
        b"6 eq 5 3 4\n7 constraint 6\n8 constraint -6\n"
    )


def test_macros_that_double_take_no_time() -> None:
    lines = ["(declare-const x (_ BitVec 8))", "(define-fun f0 ((u (_ BitVec 8))) (_ BitVec 8) u)"]
    lines += [
        f"(define-fun f{n + 1} ((u (_ BitVec 8))) (_ BitVec 8) (bvadd (f{n} u) (f{n} u)))"
        for n in range(200)
    ]
    dag = from_smtlib("\n".join([*lines, "(assert (= (f200 x) x))"]).encode())
    assert sum(code == Op.ADD for code in dag.op) == 200


@pytest.mark.slow
def test_deep_terms() -> None:
    depth = 100_000
    text = "(declare-const x (_ BitVec 2))(assert (= x " + "(bvadd x " * depth + "x" + ")" * depth
    dag = from_smtlib(f"{text}))".encode())
    assert sum(code == Op.ADD for code in dag.op) == depth
    lets = "".join(f"(let ((v{n % 7} (bvadd x v{(n + 6) % 7}))) " for n in range(1, depth))
    nested = f"(let ((v0 x)) {lets}(= v1 x){')' * depth}"
    names = "".join(f"(declare-const v{n} (_ BitVec 2))" for n in range(1, 7))
    dag = from_smtlib(f"(declare-const x (_ BitVec 2)){names}(assert {nested})".encode())
    assert sum(code == Op.ADD for code in dag.op) == depth - 1


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("(declare-const x Int)", 1, "the sort Int cannot be said in BTOR"),
        ("\n(declare-fun s () (Array Int Bool))", 2, "the sort Int cannot be said in BTOR"),
        ("(declare-const r (_ FloatingPoint 5 11))", 1, r"\(_ FloatingPoint 5 11\) cannot be"),
        ("(assert (forall ((x Bool)) x))", 1, "forall cannot be said in BTOR"),
        ("(check-sat)\n(check-sat)", 2, "a second check-sat"),
        ("(check-sat)\n(assert true)", 2, "up to its check-sat"),
        ("(push 1)", 1, r"\(push 1\) cannot be said in BTOR"),
        ("(declare-sort U 0)", 1, "cannot be said in BTOR"),
        ("(define-fun-rec f ((x Bool)) Bool (f x))", 1, "cannot be said in BTOR"),
        ("(define-fun f ((x Bool)) Bool (f x))\n(assert (f true))", 1, "f: f is not declared"),
        ("(assert y)", 1, "y is not declared above"),
        ("(assert #b1)", 1, r"expected Bool, found \(_ BitVec 1\)"),
        ("(assert (= #b1 true))", 1, r"=: operands of different sorts: \(_ BitVec 1\) and Bool"),
        ("(assert (bvult #b1 #b10))", 1, "bvult: operands of different sorts"),
        ("(assert (and true #b1))", 1, r"and: expected Bool, found \(_ BitVec 1\)"),
        ("(assert (bvult true false))", 1, "bvult: expected a bit-vector, found Bool"),
        ("(assert (not true false))", 1, "not: expected 1 operands, found 2"),
        ("(assert (= ((_ extract 4 0) #b1010) #b1))", 1, "there are no bits 4 to 0"),
        ("(assert (= (fp.add a b) c))", 1, "is not declared above"),
        ("(assert (int2bv 3))", 1, "3 is not declared above, or no bit-vector"),
        ("(assert ((_ divisible 3) true))", 1, r"\(_ divisible 3\) is not declared above, and no"),
        ("(assert (select true true))", 1, "select: expected an array, found Bool"),
        ("(declare-const x Bool)(declare-const x Bool)", 1, "x is declared above"),
        ("(declare-fun f ((Array Bool Bool)) Bool)", 1, "a function from or to arrays"),
        (
            "(declare-fun f (Bool) Bool)(assert (f #b1))",
            1,
            "expected operands of sorts Bool, found",
        ),
        ("(declare-const x (_ BitVec 0))", 1, "a bit-vector of 0 bits"),
        ("(assert (= ((as const (Array Bool Bool)) true) a))", 1, r"\(as const .* cannot be said"),
        ("(assert true", 1, "never closed"),
        ("()", 1, r"\(\) cannot be said in BTOR"),
        ("assert", 1, "expected a command, found assert"),
    ],
)
def test_what_btor_cannot_say_is_an_error_with_its_place(text: str, line: int, said: str) -> None:
    with pytest.raises(ParseError, match=said) as caught:
        from_smtlib(text.encode())
    assert caught.value.line == line
