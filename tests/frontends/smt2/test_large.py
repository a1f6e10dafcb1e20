"""Scripts that are large or deep: what they are searched with stays small."""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reducekit.executors.executor import InProcess
from reducekit.frontends.smt2 import Smt2
from reducekit.frontends.smt2.graph.build import build
from reducekit.frontends.smt2.graph.listing import list_commands
from reducekit.frontends.smt2.graph.printing import Style
from reducekit.frontends.smt2.language.commands import _STEP, read_commands
from reducekit.frontends.smt2.language.parser import parse
from reducekit.frontends.smt2.language.view import ScriptView
from reducekit.frontends.smt2.passes import graph as passes
from reducekit.frontends.smt2.passes.spelling import spelling
from reducekit.frontends.smt2.schedule import size_limited
from reducekit.reduction import Reduction
from reducekit.registry import strategy
from reducekit.run import Limits
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


@pytest.mark.slow
def test_two_names_deep_in_a_chain_of_lets_take_few_checks() -> None:
    result, checks = reduce(lets(10_000), b"(v6000 (and v5999")
    assert len(result) < 100
    assert checks < 300


@pytest.mark.slow
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
    refs, references = view.script.refs, view.references
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
    assert [list(commands.users[at]) for at in range(4)] == [[3], [3], [3], []]


def wide(count: int) -> bytes:
    """A let with many bindings around a conjunction of many terms."""
    bindings = b" ".join(b"(x%d (+ y %d))" % (number, number) for number in range(count))
    terms = b" ".join(b"(or p (> x%d 7))" % number for number in range(count))
    declared = b"(declare-fun p () Bool)\n(declare-fun y () Int)\n"
    return declared + b"(assert (let (%b) (and %b)))\n" % (bindings, terms)


@pytest.mark.parametrize(
    ("text", "wanted"), [(lets(1000), b"(v500 (and v499"), (wide(200), b"x100 7")]
)
def test_a_very_large_script_is_searched_in_grains(
    text: bytes, wanted: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = build(ScriptView(parse(text)), grains=100)
    assert list_commands(graph, Style.AS_INPUT).whole() == text
    monkeypatch.setattr(passes, "_MOST", 200)
    monkeypatch.setattr(passes, "_LARGE", 200)
    result, checks = reduce(text, wanted)
    assert len(result) < 150
    assert checks < 300


def test_a_large_script_is_left_alone_by_a_moderate_pass() -> None:
    view = ScriptView(parse(b"(declare-fun x () Bool)\n(assert x)"))
    size = len(view.document)
    (few,) = size_limited(spelling, most=size - 1)
    (enough,) = size_limited(spelling, most=size)
    assert few.problem(view) is None
    assert enough.problem(view) is not None
    assert enough.name == "spelling"
