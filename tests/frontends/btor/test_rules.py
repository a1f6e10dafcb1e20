"""Each rule of the formats, broken once: the message gives the line, the node and the rule."""

# ruff: noqa: E501  (a table)
import re

import pytest

from reducekit.errors import ParseError
from reducekit.frontends.btor.model.operators import Dialect
from reducekit.frontends.btor.model.reader import read
from reducekit.frontends.btor.model.rules import RULES

SORTS = "1 sort bitvec 1\n2 sort bitvec 4\n3 sort array 1 2\n"
"""BTOR2: one bit, four bits, an array from one to the other."""
ARRAYS = "1 array 4 2\n2 var 2\n3 var 4\n4 var 1\n"
"""BTOR1: an array from two bits to four, and a variable of each width and of one bit."""
PARAM = "1 param 4\n2 add 4 1 1\n3 lambda 4 4 1 2\n4 var 4\n"

# What Boolector of 2008, Debian's 1.5.118 and pyboolector 3.2.4 take; shapes that only
# one of them takes are accepted, where the dialect is its own.
ACCEPTED = {
    "root_multibit": ("1 var 4\n2 root 4 1\n", "btor1"),
    "root_neg": ("1 var 4\n2 root 4 -1\n", "btor1"),
    "no_root": ("1 var 4\n", "btor1"),
    "empty": ("", "btor1"),
    "two_roots": ("1 var 1\n2 root 1 1\n3 root 1 -1\n", "btor1"),
    "shift_log2": ("1 var 4\n2 var 2\n3 sll 4 1 2\n", "btor1"),
    "shift_same_width": ("1 var 4\n2 sll 4 1 1\n", "btor1"),
    "shift_width3_same": ("1 var 3\n2 ror 3 1 1\n", "btor1"),
    "shift_width1": ("1 var 1\n2 sra 1 1 1\n", "btor1"),
    "eq_arrays": ("1 array 4 2\n2 array 4 2\n3 eq 1 1 2\n", "btor1"),
    "acond": (ARRAYS + "5 acond 4 2 -4 1 1\n", "btor1"),
    "cond_arrays_old": (ARRAYS + "5 cond 4 4 1 1\n", "btor-old"),
    "write_new": (ARRAYS + "5 write 4 2 1 -2 -3\n", "btor1"),
    "write_old": (ARRAYS + "5 write 4 1 2 3\n", "btor-old"),
    "nego_old": ("1 var 4\n2 nego 1 1\n", "btor-old"),
    "inc": ("1 var 4\n2 inc 4 1\n", "btor1"),
    "proxy": ("1 var 4\n2 proxy 4 1\n", "btor1"),
    "next": ("1 var 4\n2 next 4 1 -1\n", "btor1"),
    "anext": (ARRAYS + "5 write 4 2 1 2 3\n6 anext 4 2 1 5\n", "btor1"),
    "param_lambda_apply": (PARAM + "5 apply 4 3 -4\n", "btor1+fun"),
    "nested_lambdas": (
        "1 param 4\n2 param 3\n3 concat 7 1 2\n4 lambda 7 3 2 3\n5 lambda 7 4 1 4\n"
        "6 var 4\n7 var 3\n8 apply 7 5 6 7\n9 root 7 8\n",
        "btor1+fun",
    ),
    "gap_ids": ("7 var 4\n100 add 4 7 7\n", "btor1"),
    "out_of_order_ids": ("7 var 4\n2 add 4 7 7\n", "btor1"),
    "symbol": ("1 var 4 foo\n", "btor1"),
    "symbol_then_comment": ("1 var 4 foo ; bar\n", "btor1"),
    "array_symbol": ("1 array 4 2 foo\n", "btor1"),
    "crlf": ("1 var 4\r\n2 root 4 1\r\n", "btor1"),
    "tabs": ("1\tvar\t4\n\t2 root 4  1\n", "btor1"),
    "leading_space": ("  1 var 4\n", "btor1"),
    "comments": (
        "; one\n1 var 4\n\n2 root 4 1 ; two\n3 root 4 1;three\n4 not 4 1;\n5 not 4 1;5\n;six",
        "btor1",
    ),
    "consth_short": ("1 consth 12 f\n", "btor1"),
    "slice_full": ("1 var 4\n2 slice 4 1 3 0\n", "btor1"),
    "uext0": ("1 var 4\n2 uext 4 1 0\n", "btor1"),
    "uext_by": ("1 var 4\n2 uext 7 1 3\n", "btor1"),
    "dup_symbol": ("1 var 4 a\n2 var 4 a\n", "btor1"),
    "root_as_operand": ("1 var 4\n2 root 4 1\n3 not 1 2\n", "btor1"),
    "one_ones": ("1 one 4\n2 ones 4\n", "btor1"),
    "sdivo": ("1 var 4\n2 sdivo 1 1 1\n", "btor1"),
    "smod_2007": ("1 var 4\n2 umul 4 1 1\n3 smod 4 1 1\n", "btor-2007"),
    "btor2_reduction_of_one_bit": (SORTS + "4 input 1\n5 redor 1 4\n", "btor2"),
    "btor2_negative": (SORTS + "4 constd 2 -8\n5 constd 2 007\n", "btor2"),
    "btor2_symbols": (SORTS + "4 input 1 a;b ; c\n5 not 1 4 d ;e\n", "btor2"),
    "btor2_array_init": (SORTS + "4 zero 2\n5 state 3\n6 init 3 5 4\n", "btor2"),
    "btor2_nested_array": (
        SORTS + "4 sort array 1 3\n5 input 4\n6 input 1\n7 read 3 5 6\n",
        "btor2",
    ),
    "btor2_blanks": (SORTS + "\n   4 input 1\n5 not 1 4   ; wide\n", "btor2"),
    "btor2_justice": (SORTS + "4 input 1\n5 justice 2 4 -4 j\n", "btor2"),
    "btor2_ne": (SORTS + "4 input 1\n5 ne 1 4 4\n", "btor2"),
}

# name: text, dialect, line, rule, words of the message
REFUSED = {
    "shift_same_width_old": ("1 var 4\n2 sll 4 1 1\n", "btor-old", 2, "shift-amount", "width 4"),
    "shift_width3_old": ("1 var 3\n2 sll 3 1 1\n", "btor-old", 2, "shift-amount", "of width 3"),
    "shift_width1_old": ("1 var 1\n2 sll 1 1 1\n", "btor-old", 2, "shift-amount", "of width 1"),
    "shift_odd": ("1 var 4\n2 var 3\n3 rol 4 1 2\n", "btor1", 3, "shift-amount-or-width", "width 3"),
    "redor_w1": ("1 var 1\n2 redor 1 1\n", "btor1", 2, "reduction", "width 1, expected 2 or more"),
    "red_result2": ("1 var 4\n2 redor 2 1\n", "btor1", 2, "result-sort", "width 1, not width 2"),
    "neg_array": (ARRAYS + "5 read 4 -1 2\n", "btor1", 5, "complement", "operand 1 is an array"),
    "neg_array_eq": (ARRAYS + "5 eq 1 -1 1\n", "btor1", 5, "complement", "operand 1"),
    "eq_arrays_idxdiff": (ARRAYS + "5 array 4 3\n6 eq 1 1 5\n", "btor1", 6, "same-sort", "3 bits"),
    "cond_arrays": (ARRAYS + "5 cond 4 4 1 1\n", "btor1", 5, "bit-vector-operand", "operand 2"),
    "write_old": (ARRAYS + "5 write 4 1 2 3\n", "btor1", 5, "line", "expected 1 more words"),
    "write_new_old": (ARRAYS + "5 write 4 2 1 2 3\n", "btor-old", 5, "end-of-line", "unexpected"),
    "write_wrong_idxw": (ARRAYS + "5 write 4 3 1 2 3\n", "btor1", 5, "index-width", "3 bits"),
    "write_index": (ARRAYS + "5 write 4 2 1 3 3\n", "btor1", 5, "array-index", "width 4, expected"),
    "write_value": (ARRAYS + "5 write 4 2 1 2 2\n", "btor1", 5, "array-element", "expected width 4"),
    "read_of_vector": (ARRAYS + "5 read 4 3 2\n", "btor1", 5, "array-operand", "expected an array"),
    "nego": ("1 var 4\n2 nego 1 1\n", "btor1", 2, "operator", "only in btor-2007, btor-old"),
    "next_fun": ("1 var 4\n2 next 4 1 1\n", "btor1+fun", 2, "operator", "no operator next"),
    "anext_fun": ("1 array 4 2\n2 anext 4 2 1 1\n", "btor1+fun", 2, "operator", "no operator anext"),
    "param_btor1": ("1 param 4\n", "btor1", 1, "operator", "only in btor1+fun"),
    "lambda_btor1": ("1 var 4\n2 lambda 4 4 1 1\n", "btor1", 2, "operator", "only in btor1+fun"),
    "apply_btor1": ("1 var 4\n2 apply 4 1 1\n", "btor1", 2, "operator", "only in btor1+fun"),
    "acond_old": (ARRAYS + "5 acond 4 2 4 1 1\n", "btor-old", 5, "operator", "no operator acond"),
    "next_of_node": ("1 var 4\n2 not 4 1\n3 next 4 2 1\n", "btor1", 3, "next", "2 is not a variable"),
    "next_twice": ("1 var 4\n2 next 4 1 1\n3 next 4 1 -1\n", "btor1", 3, "next", "1 has its next"),
    "forward_ref": ("1 add 4 2 2\n2 var 4\n", "btor1", 1, "defined-before-use", "2 is not defined"),
    "next_as_operand": ("1 var 4\n2 next 4 1 1\n3 not 4 2\n", "btor1", 3, "operand-is-node", "2 is no"),
    "dup_id": ("1 var 4\n1 var 4\n", "btor1", 2, "id-defined-once", "1 is defined above"),
    "dup_id_out_of_order": (
        "5 var 4\n2 var 4\n5 add 4 2 2\n", "btor1", 3, "id-defined-once", "5 is defined above",
    ),
    "dup_id_of_next": (
        "1 var 4\n2 next 4 1 1\n2 add 4 1 1\n", "btor1", 3, "id-defined-once", "2 is defined",
    ),
    "upper_op": ("1 VAR 4\n", "btor1", 1, "operator", "no operator VAR in btor1, only var"),
    "comment_end": ("1 var 4 ; comment\n", "btor1", 1, "comment-after-var", "a comment cannot stand here"),
    "two_symbols": ("1 var 4 a b\n", "btor1", 1, "symbol", "unexpected words"),
    "array_symbol_old": ("1 array 4 2 foo\n", "btor-old", 1, "end-of-line", "unexpected words"),
    "operator_symbol": ("1 var 4\n2 not 4 1 foo\n", "btor1", 2, "end-of-line", "unexpected words"),
    "crlf_old": ("1 var 4\r\n", "btor-old", 1, "carriage-return", "a carriage return"),
    "crlf_common": ("1 var 4\n2 add 4 1 1\r\n", "btor-old", 2, "carriage-return", "node 2"),
    "no_final_newline": ("1 var 4\n2 root 4 1", "btor1", 2, "final-newline", "no newline"),
    "btor2_comment_without_newline": (SORTS + ";", "btor2", 4, "final-newline", "no newline"),
    "const_short": ("1 const 4 101\n", "btor1", 1, "const", "expected 4 binary digits, found 101 (3 characters)"),
    "consth_over": ("1 consth 3 f\n", "btor1", 1, "consth", "f does not fit 3 bits"),
    "consth_word": ("1 consth 3 g\n", "btor1", 1, "consth", "g is not hexadecimal"),
    "constd_neg": ("1 constd 4 -1\n", "btor1", 1, "constd", "-1 is not decimal"),
    "constd_lead0": ("1 constd 4 01\n", "btor1", 1, "constd", "01 is not decimal"),
    "constd_over": ("1 constd 4 16\n", "btor1", 1, "constd", "16 does not fit 4 bits"),
    "constd_huge": ("1 constd 4 " + "9" * 9000 + "\n", "btor1", 1, "constd", "does not fit 4 bits"),
    "btor2_constd_under": (SORTS + "4 constd 2 -9\n", "btor2", 4, "constd", "-9 does not fit 4"),
    "width0": ("1 var 0\n", "btor1", 1, "width", "0 is not a width"),
    "width_overflow": ("1 zero 4294967295\n", "btor1", 1, "width", "4294967295 is not a width"),
    "width_word": ("1 var x\n", "btor1", 1, "width", "x is not a width"),
    "id0": ("0 var 4\n", "btor1", 1, "id", "0 is not an id"),
    "id_word": ("x var 4\n", "btor1", 1, "id", "x is not an id"),
    "id_leading_zero": ("01 var 4\n", "btor1", 1, "id", "01 is not an id"),
    "id_huge": ("9" * 5000 + " add 4 1 1\n", "btor1", 1, "id", "is too large"),
    "operand_word": ("1 var 4\n2 add 4 1 x\n", "btor1", 2, "id", "x is not an operand"),
    "operand0": ("1 var 4\n2 not 4 -0\n", "btor1", 2, "id", "-0 is not an operand"),
    "only_id": ("1\n", "btor1", 1, "line", "expected an operator"),
    "no_width": ("1 var\n", "btor1", 1, "line", "the line ends before its sort"),
    "no_index_width": ("1 array 4\n", "btor1", 1, "line", "second width"),
    "slice_upper": ("1 var 4\n2 slice 5 1 4 0\n", "btor1", 2, "slice", "bounds 4 and 0 of width 4"),
    "slice_order": ("1 var 4\n2 slice 1 1 0 1\n", "btor1", 2, "slice", "bounds 0 and 1"),
    "slice_result": ("1 var 4\n2 slice 2 1 3 1\n", "btor1", 2, "result-sort", "width 3, not width 2"),
    "slice_word": ("1 var 4\n2 slice 2 1 3 -1\n", "btor1", 2, "number", "-1 is not a number"),
    "uext_result": ("1 var 4\n2 uext 5 1 3\n", "btor1", 2, "result-sort", "width 7, not width 5"),
    "concat_result": ("1 var 4\n2 concat 9 1 1\n", "btor1", 2, "result-sort", "width 8"),
    "add_operand": ("1 var 4\n2 var 3\n3 add 4 1 2\n", "btor1", 3, "operand-sort", "operand 2 is width 3"),
    "ult_operands": ("1 var 4\n2 var 3\n3 ult 1 1 2\n", "btor1", 3, "same-sort", "operand 2 is width 3"),
    "root_width": ("1 var 4\n2 root 1 1\n", "btor1", 2, "operand-sort", "width 4, not 1"),
    "root_array": (ARRAYS + "5 root 4 1\n", "btor1", 5, "bit-vector-operand", "operand 1"),
    "implies_wide": ("1 var 4\n2 implies 1 1 1\n", "btor1", 2, "operand-sort", "width 4, expected 1"),
    "read_result": (ARRAYS + "5 read 3 1 2\n", "btor1", 5, "result-sort", "width 4, not width 3"),
    "acond_branch": (
        ARRAYS + "5 array 4 3\n6 acond 4 2 4 1 5\n", "btor1", 6, "same-sort", "operand 3",
    ),
    "write_old_width": (ARRAYS + "5 write 3 1 2 3\n", "btor-old", 5, "result-sort", "elements"),
    "param_root": ("1 param 4\n2 root 4 1\n", "btor1+fun", 2, "parameter-scope", "param 1 has no"),
    "param_scope": (PARAM + "5 not 4 2\n", "btor1+fun", 5, "parameter-scope", "param 1 is bound"),
    "param_bound": (PARAM + "5 lambda 4 4 1 4\n", "btor1+fun", 5, "parameter", "1 is not an unbound"),
    "lambda_of_node": ("1 var 4\n2 lambda 4 4 1 1\n", "btor1+fun", 2, "parameter", "1 is not an unbound"),
    "lambda_result": ("1 param 4\n2 lambda 3 4 1 1\n", "btor1+fun", 2, "result-sort", "the body"),
    "apply_sort": (PARAM + "5 var 3\n6 apply 4 3 5\n", "btor1+fun", 6, "function", "width 3, expected"),
    "apply_count": (PARAM + "5 apply 4 3 4 4\n", "btor1+fun", 5, "function", "expected no operand"),
    "apply_too_few": (
        "1 param 4\n2 param 4\n3 add 4 1 2\n4 lambda 4 4 2 3\n5 lambda 4 4 1 4\n6 var 4\n"
        "7 apply 4 5 6\n",
        "btor1+fun", 7, "function", "1 arguments for 2",
    ),
    "apply_of_vector": (PARAM + "5 apply 4 4 4\n", "btor1+fun", 5, "array-operand", "an array"),
    "btor2_order": (SORTS + "3 input 1\n", "btor2", 4, "id-order", "3 follows 3"),
    "btor2_two_spaces": (SORTS + "4  input 1\n", "btor2", 4, "one-space", "more than one blank"),
    "btor2_tab": (SORTS + "4 input\t1\n", "btor2", 4, "one-space", "not a space"),
    "btor2_common_spaces": (SORTS + "4 input 1\n5 not 1  4\n", "btor2", 5, "one-space", "blank"),
    "btor2_crlf": (SORTS + "4 input 1\r\n", "btor2", 4, "carriage-return", "a carriage return"),
    "btor2_sort": (SORTS + "4 input 5\n", "btor2", 4, "sort-id", "5 is not the id of a sort above"),
    "btor2_array_sort": ("1 sort array 1 1\n", "btor2", 1, "sort-id", "1 is not the id of a sort above"),
    "btor2_sort_kind": ("1 sort integer 1\n", "btor2", 1, "line", "sort bitvec WIDTH or sort array"),
    "btor2_sort_width": ("1 sort bitvec 0\n", "btor2", 1, "width", "0 is not a width"),
    "btor2_symbol": (SORTS + "4 input 1 a b\n", "btor2", 4, "symbol", "unexpected words"),
    "btor2_sort_as_operand": (SORTS + "4 not 2 2\n", "btor2", 4, "operand-is-node", "2 is not a node"),
    "btor2_const_array": (SORTS + "4 zero 3\n", "btor2", 4, "result-sort", "not an array"),
    "btor2_bad": (SORTS + "4 input 2\n5 bad 4\n", "btor2", 5, "operand-sort", "width 4, expected 1"),
    "btor2_output": (SORTS + "4 input 3\n5 output 4\n", "btor2", 5, "bit-vector-operand", "array"),
    "btor2_ite": (SORTS + "4 input 1\n5 input 2\n6 ite 1 4 5 5\n", "btor2", 6, "operand-sort", "2 is"),
    "btor2_write": (SORTS + "4 input 3\n5 input 1\n6 input 2\n7 write 2 4 5 6\n", "btor2", 7,
                    "result-sort", "not width 4"),
    "btor2_slice": (SORTS + "4 input 2\n5 slice 1 4 5 5\n", "btor2", 5, "slice", "bounds 5 and 5"),
    "btor2_shift": (SORTS + "4 input 2\n5 input 1\n6 sll 2 4 5\n", "btor2", 6, "operand-sort", "2 is"),
    "btor2_var": (SORTS + "4 var 1\n", "btor2", 4, "operator", "no operator var in btor2"),
    "btor2_init_order": (
        SORTS + "4 state 1\n5 zero 1\n6 init 1 4 5\n", "btor2", 6, "init-order", "init value 5 needs a smaller id than its state 4",
    ),
    "btor2_init_input": (
        SORTS + "4 input 1\n5 not 1 4\n6 state 1\n7 init 1 6 5\n8 bad 6\n", "btor2", 7,
        "init-inputs", "5 depends on an input",
    ),
    "btor2_init_twice": (
        SORTS + "4 zero 1\n5 state 1\n6 init 1 5 4\n7 init 1 5 4\n", "btor2", 7, "init", "5 has its",
    ),
    "btor2_init_input_itself": (
        SORTS + "4 zero 1\n5 input 1\n6 init 1 5 4\n", "btor2", 6, "init", "5 is not a state",
    ),
    "btor2_init_negative": (
        SORTS + "4 zero 1\n5 state 1\n6 init 1 -5 4\n", "btor2", 6, "init", "-5 is not a state",
    ),
    "btor2_init_element": (
        SORTS + "4 state 2\n5 state 3\n6 init 3 5 4\n", "btor2", 6, "init", "a constant",
    ),
    "btor2_next_sort": (
        SORTS + "4 input 2\n5 state 1\n6 next 1 5 4\n", "btor2", 6, "same-sort", "operand 2",
    ),
    "btor2_next_twice": (
        SORTS + "4 state 1\n5 next 1 4 4\n6 next 1 4 4 x\n", "btor2", 6, "next", "4 has its next",
    ),
    "btor2_justice0": (SORTS + "4 justice 0\n", "btor2", 4, "justice", "0 conditions"),
    "btor2_justice2": (SORTS + "4 input 1\n5 justice 2 4\n", "btor2", 5, "justice", "2 conditions"),
    "btor2_justice_word": (SORTS + "4 justice x\n", "btor2", 4, "justice", "expected a count"),
    "btor2_declaration_as_operand": (
        SORTS + "4 input 1\n5 bad 4\n6 not 1 5\n", "btor2", 6, "operand-is-node", "5 is not a node",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ACCEPTED)
def test_accepted(name: str) -> None:
    text, dialect = ACCEPTED[name]
    assert read(text.encode(), Dialect(dialect)).text == text.encode()


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    text, dialect, line, rule, words = REFUSED[name]
    with pytest.raises(ParseError) as caught:
        read(text.encode(), Dialect(dialect))
    message = caught.value.message
    assert caught.value.line == line
    assert message.endswith(f"; rule {rule}: {RULES[rule]}")
    assert words in message
    ident = re.match(r" *([1-9]\d{0,9}) ", text.splitlines()[line - 1])
    if ident and rule not in ("id", "line"):
        assert message.startswith(f"node {ident[1]}")


def test_each_rule_is_broken_once() -> None:
    assert {rule for _, _, _, rule, _ in REFUSED.values()} == set(RULES)


def test_the_column_is_that_of_the_word() -> None:
    with pytest.raises(ParseError, match=r"^line 3, column 11: node 30 "):
        read(b"1 var 4\n2 var 3\n30 add 4  2 1\n")
