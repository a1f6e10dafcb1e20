"""Scripts that are large or deep: what they are searched with stays small."""

from __future__ import annotations

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from reducekit.executors.inprocess import InProcess
from reducekit.frontends.smt2 import Smt2
from reducekit.frontends.smt2.commands import _STEP, read_commands
from reducekit.frontends.smt2.parser import parse
from reducekit.frontends.smt2.passes.equal_terms import EqualTermsTree
from reducekit.frontends.smt2.passes.symbols import Variables
from reducekit.frontends.smt2.passes.term_tree import _MANY, TermTree
from reducekit.frontends.smt2.schedule import SizeLimited
from reducekit.frontends.smt2.view import ScriptView
from reducekit.oracle.limits import Limits
from reducekit.reduction import Reduction
from reducekit.registry import strategy
from tests.frontends.smt2.make_scripts import script


def lets(depth: int) -> bytes:
    """A chain of lets, each name bound to a term over the one before."""
    parts = [b"(declare-fun v () Bool)\n(assert "]
    before = b"v"
    for number in range(depth):
        name = b"v%d" % number
        parts.append(b"(let ((%b (and %b v))) " % (name, before))
        before = name
    return b"".join([*parts, before, b")" * depth, b")\n(check-sat)\n"])


def reduce(text: bytes, needed: bytes) -> tuple[bytes, int]:
    """Reduce to what still holds some bytes; return the result and the checks."""
    reduction = Reduction(
        Smt2(),
        strategy("adaptive"),
        InProcess(lambda candidate: needed in candidate),
        lambda seconds: Limits(),
    )
    result = reduction.run(text, 0.0)
    return result.text, result.counts.checks


def test_two_names_deep_in_a_chain_of_lets_take_few_checks() -> None:
    result, checks = reduce(lets(10_000), b"(v6000 (and v5999")
    assert len(result) < 100
    assert checks < 300


def test_a_chain_of_lets_of_a_sort_that_nobody_knows_takes_few_checks() -> None:
    # An undeclared name innermost: all lets are of its sort.
    text = lets(3000).replace(b"v2999)", b"nowhere)").replace(b"(and v1499 v)", b"deep")
    assert b"nowhere" in text
    assert b"deep" in text
    assert reduce(text, b"nowhere")[1] < 20
    result, checks = reduce(text, b"deep")
    assert len(result) < 100
    assert checks < 60


@given(st.integers(0, 20))
@settings(max_examples=20, deadline=None)
def test_references_are_those_of_the_script(seed: int) -> None:
    view = ScriptView(parse(script(Random(seed))))
    refs, references = view.script.refs, view.terms.references
    for definition in range(len(view.script.definitions)):
        expected = [node for node, each in enumerate(refs) if each == definition]
        assert list(references[definition]) == expected
        assert (definition in references) == bool(expected)
        first, last = len(refs) // 3, 2 * len(refs) // 3
        within = [node for node in expected if first <= node < last]
        assert list(references.within(definition, first, last)) == within


def test_users_of_names_in_a_long_command_are_found() -> None:
    declared = b"".join(b"(declare-fun x%d () Bool)\n" % number for number in range(3))
    term = b"(and" + b" x0 (not x1)" * _STEP + b" |x2|)"
    commands = read_commands(parse(declared + b"(assert " + term + b")"))
    assert list(commands.uses[3]) == [0, 1, 2]
    assert [list(users) for users in commands.users] == [[3], [3], [3], []]


def test_of_very_many_arguments_only_a_few_stand_for_the_whole() -> None:
    arguments = b" ".join(b"(not x%d)" % number for number in range(_MANY + 1))
    declared = b"".join(b"(declare-fun x%d () Bool)\n" % number for number in range(_MANY + 1))
    view = ScriptView(parse(declared + b"(assert (and %b))" % arguments))
    (root,) = TermTree(view.terms).roots
    assert len(TermTree(view.terms).moves(root)) < 30


def test_terms_nested_deep_are_no_twins() -> None:
    depth = 20_000
    text = b"(declare-fun p () Bool)\n(assert (or %b %b))"
    chain = b"(not " * depth + b"p" + b")" * depth
    tree = EqualTermsTree(ScriptView(parse(text % (chain, chain))).terms)
    assert sum(map(len, tree.first)) < 1 << 20


def test_a_large_script_is_left_alone_by_a_moderate_pass() -> None:
    view = ScriptView(parse(b"(declare-fun x () Bool)\n(assert x)"))
    size = len(view.document)
    assert SizeLimited(Variables(), size).problem(view) is not None
    assert SizeLimited(Variables(), size - 1).problem(view) is None
    assert SizeLimited(Variables()).name == "variables"
