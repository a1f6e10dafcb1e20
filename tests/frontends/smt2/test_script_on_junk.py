"""Analysis never raises, whatever the nesting, and is linear in it."""

import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reducekit.frontends.smt2.language.constants import default_constants
from reducekit.frontends.smt2.language.parser import parse
from reducekit.frontends.smt2.language.script import analyse
from reducekit.frontends.smt2.language.sorts import MAX_NODES, print_sort
from reducekit.frontends.smt2.passes.phases import is_constant

WORDS = """assert declare-fun declare-const declare-sort define-sort define-fun define-fun-rec push
    pop define-funs-rec declare-datatypes declare-datatype declare-sort-parameter define-const reset
    get-value check-sat-assuming reset-assertions set-option :global-declarations set-logic QF_LRA
    let forall exists lambda choice match par as const _ ! :named :pattern is map update-field bv3
    extract zero_extend to_fp +oo char set.comprehension Int Bool Real BitVec Array Seq Set Tuple
    FloatingPoint List String -> nil cons true and = ite + select store concat bvadd fp.add str.++
    seq.unit rel.join tuple.select re.loop x y f g |x| 0 1 8 -1 99999999999999999999 2.5
    #b01 #xff "s" #f1m7 @ divisible int2bv repeat default set.singleton bag seq.nth is-cons
""".split()  # noqa: SIM905
atoms = st.sampled_from([*WORDS, "|a b|", "((X))", "((x Int))"])
trees = st.recursive(
    atoms,
    lambda inner: st.lists(inner, max_size=6).map(lambda parts: "(" + " ".join(parts) + ")"),
    max_leaves=40,
)
COMMANDS = [word for word in WORDS[:21] if not word.startswith(":")]
commands = st.builds(
    lambda name, parts: "(" + " ".join([name, *parts]) + ")",
    st.sampled_from(COMMANDS),
    st.lists(trees, max_size=5),
)


@pytest.mark.slow
@settings(max_examples=400, deadline=None)
@given(st.lists(commands | trees, max_size=8))
def test_arbitrary_nested_junk(parts: list[str]) -> None:
    document = parse(" ".join(parts).encode())
    script = analyse(document)
    size = len(document)
    assert len(script.sort) == len(script.is_term) == len(script.refs) == size
    for node in range(size):
        sort = script.sort[node]
        assert sort is None or script.is_term[node]
        assert -1 <= script.refs[node] < len(script.definitions)
        if sort is not None:
            assert print_sort(sort)
            default_constants(sort, script)
        if script.is_term[node]:
            is_constant(script, node)
    for definition in script.definitions:
        assert document.stop[definition.node] == definition.node + 1
        assert definition.binder < definition.node < document.stop[definition.binder]
    for scope in script.scopes:
        assert scope.first < scope.last <= len(script.commands)


DEPTH = 60_000  # far beyond any stack


@pytest.mark.slow
@pytest.mark.parametrize(
    ("opening", "inner", "closing"),
    [
        ("(not ", "true", ")"),
        ("(let ((x true)) ", "x", ")"),
        ("(let ((x ", "true", ")) x)"),
        ("(forall ((x Int)) ", "true", ")"),
        ("(! ", "true", " :named n)"),
        ("(match true ((x ", "x", ")))"),
        ("(", "x", ")"),
        ("(_ ", "x", ")"),
        ("(as ", "x", " Int)"),
        ("(set.singleton ", "1", ")"),
        ("((as const (Array Int Int)) ", "1", ")"),
        ("((_ map not) ", "x", ")"),
        ("(let ((x (concat x x))) ", "x", ")"),
        ("(lambda ((x Int)) ", "x", ")"),
        ("(f ", "x", ")"),
        ("(undeclared ", "x", " x)"),
    ],
)
def test_terms_nested_deep(opening: str, inner: str, closing: str) -> None:
    declarations = "(declare-const x (_ BitVec 1))(declare-fun f ((_ BitVec 1)) (_ BitVec 1))"
    document = parse(f"{declarations}(assert {opening * DEPTH}{inner}{closing * DEPTH})".encode())
    script = analyse(document)
    assert script.names[-1] == b"assert"
    assert not is_constant(script, script.commands[-1] + 2)


@pytest.mark.slow
@pytest.mark.parametrize("command", ["(declare-const c {})", "(assert (as x {}))", "(unknown {})"])
def test_sorts_nested_deep(command: str) -> None:
    for opening in ("(Array Int ", "(", "(Set ", "(_ "):
        sort = opening * DEPTH + "Int" + ")" * DEPTH
        script = analyse(parse(command.format(sort).encode()))
        assert all(definition.sort is None for definition in script.definitions)


def test_sorts_that_double_with_each_line() -> None:
    lines = ["(define-sort S0 () Int)"]
    lines += [f"(define-sort S{i + 1} () (Array S{i} S{i}))" for i in range(1000)]
    lines += [f"(declare-const c{i} S{i})" for i in range(1001)]
    script = analyse(parse("".join(lines).encode()))
    known = [d.sort for d in script.definitions if d.kind == "fun" and d.sort is not None]
    assert 1 < len(known) < MAX_NODES
    for sort in known:
        default_constants(sort, script)


def test_a_push_of_very_many_levels() -> None:
    script = analyse(parse(b"(push 1000000000)(pop 1000000000)(assert true)"))
    assert script.sort[-1] == "Bool"


def test_no_limit_of_the_interpreter_is_touched() -> None:
    limit = sys.getrecursionlimit()
    width = "9" * 5000
    analyse(parse(f"(declare-const x (_ BitVec {width}))(assert (_ bv{width} {width}))".encode()))
    analyse(parse(f"(declare-const x (_ FiniteField {width}))(push {width})".encode()))
    assert sys.getrecursionlimit() == limit
