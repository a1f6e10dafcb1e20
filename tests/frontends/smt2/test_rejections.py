"""What solvers print about scripts that they need not accept, and what they print about bugs."""

import pytest

from reducekit.frontends.smt2.answers.failures import rejects, skeleton

LACKING = (
    "(error \"line 2 column 21: invalid indexed identifier, integer, identifier or '(' expected\")",
    '(error "line 4 column 31: Invalid string solver value. Legal values are z3str3, seq, empty")',
    '(error "line 5 column 33: illegal phase selection numeral")',
    "(error \"line 1 column 18: invalid branching heuristic: accepted heuristics are 'vsids'\")",
    '(error "line 1 column 18: invalid PB solver: solver, totalizer, circuit, sorting")',
    '(error "line 1 column 18: invalid restart strategy")',
    '(error "line 7 column 29: Expected values for parameter random_seed is an unsigned integer. It'
    " was given argument '-1'\")",
    "ERROR: Expected values for parameter random_seed is an unsigned integer",
    "(error \"Argument 'x' for uint64_t option tlimit did not parse as uint64_t\")",
    '(error "line 3 column 4: unknown function/constant str.replace")',
    "(error \"line 1 column 2: unknown parameter 'bv_solver', this is an old parameter name\")",
    '(error "line 5 column 1: invalid tactic, unknown tactic miniscope")',
    '(error "line 1 column 14: logic does not support integers")',
    '(error "Term of kind seq.nth not supported in default mode, try --strings-exp")',
    '(error "Parse Error: input.smt2:3.4: Symbol `Seq\' not declared as a type")',
    '(error "Parse Error: a.smt2: Expected CVC4 to be compiled with SymFPU support")',
    '(error "Cannot push when not solving incrementally (use --incremental)")',
    '(error "Error in option parsing: global-negate not supported with proofs")',
    '(error "line 9 column 1: model is not available")',
    '(error "line 3 column 23: unsat assumptions is not available")',
    '(error "line 9 column 1: unsat core construction is not enabled, use command (...)")',
    '(error "Cannot get value unless after a SAT or UNKNOWN response.")',
    '(error "Cannot get unsat assumptions unless in unsat mode.")',
    '(error "No unsat core. The context is satisfiable")',
    '(error "A non-linear fact was asserted to arithmetic in a linear logic. (div x y)")',
    "input.smt2:3: expected command at 'declare-const'",
    "(error \"tactic failed: Uninterpreted 'q' in <null>: query!0() :- (not (= q 1.0)). \")",
    '(error "tactic failed: recursive predicate (= a b) occurs nested in the body of a rule")',
    '(error "tactic failed: Rule contains negative predicate <null>: P!!1(#0) :- not a(#0). ")',
    '(error "tactic failed: expression (re.complement a) does not correspond to a supported regular'
    ' expression")',
)
DECLINED = (
    "(error \"line 3 column 9: error setting ':global-decls', option value cannot be modified after"
    ' initialization")',
    '(error "at line 3, column 9: undefined term: str.in_re")',
    '(error "at line 1, column 36: undefined sort: Int")',
    '(error "at line 2, column 9: undefined identifier: BitVec")',
    '(error "at line 5, column 55: invalid :named attribute (name is already used)")',
    '(error "at line 2, column 54: can\'t redefine term: a!2")',
    '(error "no logic set")',
    "input.smt2:1: undefined symbol 'str.contains'",
    '(error "pop not allowed at the bottom level")',
    '(error "line 7 column 9: declared arity mismatches supplied arity")',
    '(error "line 2 column 9: Sort mismatch between first argument and argument 2")',
    "(error \"line 7 column 1: invalid command, '(' expected\")",
    '(error "line 2 column 9: datatype is not well-founded")',
    '(error "line 2 column 9: domain sort Bool and parameter Real do not match")',
)
BUGS = (
    '(error "line 3 column 4: an invalid model was generated")',
    '(error "line 3 column 4: invalid extract application")',
    '(error "tactic failed: Sorts Bool and (_ BitVec 1) are incompatible")',
    '(error "Illegal argument detected")',
    "ASSERTION VIOLATION File: ../src/util/hash.h Line: 3 UNEXPECTED CODE WAS REACHED.",
    "check_models.cpp:144: ERRORS SATISFYING ASSERTIONS WITH MODEL:",
)


@pytest.mark.parametrize("line", LACKING)
def test_what_a_program_lacks(line: str) -> None:
    assert rejects(line, well_formed=True)
    assert rejects(line, well_formed=False)


@pytest.mark.parametrize("line", DECLINED)
def test_what_a_program_may_decline_only_from_others(line: str) -> None:
    assert not rejects(line, well_formed=True)
    assert rejects(line, well_formed=False)


@pytest.mark.parametrize("line", BUGS)
def test_what_is_a_bug_of_any_input(line: str) -> None:
    assert not rejects(line, well_formed=False)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("(declare-const c Real)(assert (< (/ c c) 0.0))(check-sat)", "/"),
        ("(assert (not (and true (> (mod 0 0) 0))))(check-sat)", "mod"),
        ("(assert (distinct (_ NaN 3 5) (_ +oo 3 5)))(check-sat)", "distinct FloatingPoint"),
        ("(assert (seq.nth (as seq.empty (Seq Bool)) 0))", "seq.empty, seq.nth"),
        ("(declare-fun f (Int) Bool)(assert (f ((_ to_fp 2 3) 1)))", "function, to_fp"),
        ("(declare-const x Int)(assert (exists ((y Int)) (= x y)))", "= Int, exists"),
        ("(declare-const x Int)(minimize x)(check-sat)", "minimize"),
        ("(assert ((_ extract 0 0) #b1))", "extract"),
        ("(assert (let ((x true)) x))", "nothing"),
    ],
)
def test_what_is_left_of_a_script(text: str, left: str) -> None:
    assert skeleton(text.encode()) == left
