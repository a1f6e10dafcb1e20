"""Default constants are of the sort they are for."""

import cvc5
import pytest
import z3

from reducekit.frontends.smt2.language.constants import default_constants
from reducekit.frontends.smt2.language.parser import parse
from reducekit.frontends.smt2.language.script import Script, analyse

DECLARATIONS = b"""(declare-sort U 0)
(declare-datatypes ((Lst 1) (Color 0)) (
  (par (X) ((cons (hd X) (tl (Lst X))) (none)))
  ((|dark green|) (red) (mixed (part Color)))))
(declare-datatype Pair ((pair (fst Int) (snd Color))))
(declare-datatype Only ((only (of U))))
(declare-datatype U2 ((only2)))
"""
TABLE = """
Bool: false true
Int: 0 1
Real: 0.0 1.0 0
String: "" "a"
RegLan: re.none re.all re.allchar
RoundingMode: RNE
(_ BitVec 1): #b0 #b1
(_ BitVec 3): #b000 #b001 #b111
(_ BitVec 8): #x00 #x01 #xff
(_ BitVec 31): (_ bv0 31) (_ bv1 31) (_ bv2147483647 31)
(_ BitVec 32): #x00000000 #x00000001 #xffffffff
(_ BitVec 64): (_ bv0 64) (_ bv1 64) #xffffffffffffffff
(_ BitVec 1000): (_ bv0 1000) (_ bv1 1000) (bvnot (_ bv0 1000))
Float16: (_ +zero 5 11) (_ NaN 5 11) (_ +oo 5 11) (_ -zero 5 11)
(Seq Int): (as seq.empty (Seq Int))
(Array Int (_ BitVec 2)): ((as const (Array Int (_ BitVec 2))) #b00)
(Array U (Array U U2)): ((as const (Array U (Array U U2))) ((as const (Array U U2)) only2))
Color: red |dark green|
(Lst Int): (as none (Lst Int))
Pair: (pair 0 red)
U:
Only:
(Array Int U):
(Array Int Only):
"""
CVC5_ONLY = """
(Set Int): (as set.empty (Set Int))
(Bag Int): (as bag.empty (Bag Int))
(_ FiniteField 7): (as ff0 (_ FiniteField 7)) (as ff1 (_ FiniteField 7))
UnitTuple: tuple.unit
(Tuple Int Bool): (tuple 0 false)
"""


def cases(table: str) -> list[tuple[bytes, list[bytes]]]:
    found = []
    for line in filter(None, table.splitlines()):
        sort, constants = line.split(":", 1)
        document = parse(constants.encode())
        found.append((sort.encode(), [document.source(n) for n in document.children(0)]))
    return found


def constants_of(sort: bytes) -> tuple[Script, list[bytes]]:
    document = parse(DECLARATIONS + b"(declare-const x " + sort + b")")
    script = analyse(document)
    declared = script.definitions[-1].sort
    assert declared is not None
    return script, default_constants(declared, script)


@pytest.mark.parametrize(("sort", "expected"), cases(TABLE + CVC5_ONLY))
def test_default_constants(sort: bytes, expected: list[bytes]) -> None:
    script, constants = constants_of(sort)
    assert constants == expected
    declared = script.definitions[-1].sort
    for constant in constants:
        document = parse(DECLARATIONS + b"(get-value (" + constant + b"))")
        again = analyse(document)
        node = again.commands[-1] + 3
        if constant != b"0":
            assert again.sort[node] == declared


@pytest.mark.parametrize(("sort", "constants"), cases(TABLE))
def test_z3_agrees_on_the_sort(sort: bytes, constants: list[bytes]) -> None:
    text = DECLARATIONS + b"(declare-const x " + sort + b")"
    for constant in constants:
        text += b"(assert (= x " + constant + b"))"
    assert len(z3.parse_smt2_string(text.decode())) == len(constants)


@pytest.mark.parametrize(("sort", "constants"), cases(CVC5_ONLY))
def test_cvc5_agrees_on_the_sort(sort: bytes, constants: list[bytes]) -> None:
    text = b"(set-logic ALL)" + DECLARATIONS + b"(declare-const x " + sort + b")"
    for constant in constants:
        text += b"(assert (= x " + constant + b"))"
    terms = cvc5.TermManager()
    solver = cvc5.Solver(terms)
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text.decode(), "constants")
    while not (command := parser.nextCommand()).isNull():
        command.invoke(solver, parser.getSymbolManager())
    assert len(solver.getAssertions()) == len(constants)
