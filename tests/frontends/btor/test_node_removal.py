"""Single nodes go while what they led to is hung in elsewhere, or reached by another operator."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reducekit.frontends.btor import Size
from reducekit.frontends.btor.model.operators import Dialect, Op
from reducekit.frontends.btor.model.reader import read
from reducekit.frontends.btor.model.writer import canonical
from reducekit.frontends.btor.passes.cuts import References
from reducekit.frontends.btor.passes.merges import Others
from reducekit.frontends.btor.passes.node_removal import (
    NodeRemoval,
    bridged,
    resized,
    retyped,
    shape_of,
    without,
)
from tests.frontends.btor.walking import Verdict, at_random, result, rooted, walk


def having(*words: bytes) -> Verdict:
    """Return an oracle that wants words to be there, each so often as it is given."""
    return lambda text: all(text.split().count(word) >= words.count(word) for word in words)


def test_an_operand_that_only_a_node_led_to_takes_the_place_of_another() -> None:
    text = (
        b"1 var 1\n2 array 1 1\n3 write 1 1 2 1 1\n4 eq 1 2 3\n5 acond 1 1 4 3 2\n"
        b"6 read 1 5 1\n7 root 1 6\n"
    )
    verdict = having(b"write", b"eq", b"read")
    assert verdict(text)
    for each in (References(every=True), Others(60)):
        assert result(each, text, verdict) == text
    assert result(NodeRemoval(60), text, verdict) == (
        b"1 var 1\n2 array 1 1\n3 write 1 1 2 1 1\n4 eq 1 2 3\n5 read 1 3 4\n6 root 1 5\n"
    )


def test_what_is_hung_in_may_stand_behind_its_new_place() -> None:
    text = (
        b"1 var 1\n2 array 1 1\n3 read 1 2 1\n4 write 1 1 2 1 1\n5 eq 1 2 4\n6 and 1 3 5\n"
        b"7 root 1 6\n"
    )
    reduced = result(NodeRemoval(60), text, having(b"write", b"eq", b"read"))
    assert reduced == (
        b"1 var 1\n2 array 1 1\n3 write 1 1 2 1 1\n4 eq 1 2 3\n5 read 1 2 4\n6 root 1 5\n"
    )


def test_an_operator_takes_the_width_of_what_is_hung_in() -> None:
    text = b"1 var 1\n2 var 3\n3 mul 3 2 2\n4 redor 1 3\n5 cond 1 4 1 1\n6 root 1 5\n"
    assert list(without(shape_of(read(text)), 3)) == [
        b"1 var 1\n2 var 3\n3 mul 3 2 2\n4 cond 3 1 3 3\n5 root 3 4\n"
    ]


def test_an_operator_keeps_its_width_below_one_that_asks_for_it() -> None:
    text = b"1 var 1\n2 var 3\n3 mul 3 2 2\n4 redor 1 3\n5 xor 1 4 4\n6 implies 1 5 1\n7 root 1 6\n"
    candidates = list(walk(NodeRemoval(60), text, lambda _: False))
    assert not any(b"xor 3" in each or b"implies 3" in each for each in candidates)


def test_what_has_no_place_goes_and_its_operand_is_hung_in() -> None:
    text = (
        b"1 var 3\n2 var 1\n3 array 3 3\n4 mul 3 1 1\n5 write 3 3 3 1 4\n6 eq 1 3 5\n"
        b"7 cond 1 6 2 2\n8 root 1 7\n"
    )
    assert list(without(shape_of(read(text)), 5)) == [
        b"1 var 3\n2 var 1\n3 mul 3 1 1\n4 cond 3 2 3 3\n5 root 3 4\n"
    ]


def test_a_complement_of_the_node_becomes_one_of_what_stands_for_it() -> None:
    text = b"1 var 1\n2 ult 1 1 1\n3 add 1 1 2\n4 eq 1 -3 1\n5 root 1 4\n"
    reduced = result(NodeRemoval(60), text, having(b"ult", b"eq"))
    assert reduced == b"1 var 1\n2 ult 1 1 1\n3 eq 1 -1 2\n4 root 1 3\n"


def test_nothing_is_tried_that_an_edge_pointed_elsewhere_does() -> None:
    text = b"1 var 1\n2 not 1 1\n3 and 1 2 1\n4 or 1 3 3\n5 root 1 4\n"
    dag = read(text)
    assert [list(without(shape_of(dag), line)) for line in range(len(dag))] == [[]] * len(dag)


def test_large_graphs_are_left_alone() -> None:
    text = b"1 var 1\n2 ult 1 1 1\n3 add 1 1 2\n4 eq 1 3 1\n5 root 1 4\n"
    verdict = having(b"ult", b"eq")
    assert result(NodeRemoval(4), text, verdict) == text
    assert result(NodeRemoval(5), text, verdict) != text


def test_one_operand_is_enough_for_a_node_that_has_to_be_another_one() -> None:
    text = b"1 var 3\n2 var 2\n3 redor 1 1\n4 concat 3 2 3\n5 mul 3 4 1\n6 root 3 5\n"

    def verdict(candidate: bytes) -> bool:
        """Want a product of two lines, the one of which is made of the other."""
        dag = read(candidate)
        products = [dag.arguments(line) for line, code in enumerate(dag.op) if code == Op.MUL]
        return any(a != b and b in dag.arguments(a) for a, b in products) or candidate == text

    for each in (References(every=True), Others(60)):
        assert result(each, text, verdict) == text
    reduced = result(NodeRemoval(60), text, verdict)
    assert reduced == b"1 var 3\n2 not 3 1\n3 mul 3 2 1\n4 root 3 3\n"


@pytest.mark.parametrize(
    ("width", "line"),
    [(1, b"redor 1 1"), (2, b"slice 2 1 1 0"), (4, b"not 4 1"), (9, b"uext 9 1 5")],
)
def test_a_bridge_leads_from_any_width_to_any_other(width: int, line: bytes) -> None:
    text = b"1 var 4\n2 array %d 4\n3 read %d 2 1\n4 root %d 3\n" % (width, width, width)
    (found,) = bridged(shape_of(read(text)), 2)
    assert found == b"1 var 4\n2 %s\n3 root %d 2\n" % (line, width)


def test_a_bridge_leads_to_what_is_nearest() -> None:
    text = b"1 var 2\n2 var 2\n3 add 2 1 2\n4 mul 2 3 1\n5 eq 1 1 2\n6 cond 2 5 4 4\n7 root 2 6\n"
    assert list(bridged(shape_of(read(text)), 5)) == [
        b"1 var 2\n2 var 2\n3 add 2 1 2\n4 mul 2 3 1\n5 not 2 4\n6 root 2 5\n",
        b"1 var 2\n2 var 2\n3 eq 1 1 2\n4 uext 2 3 1\n5 root 2 4\n",
    ]


def test_a_shift_becomes_shorter_also_where_its_amount_is_needed() -> None:
    text = b"1 var 4\n2 var 2\n3 rol 4 1 2\n4 concat 6 3 2\n5 root 6 4\n"
    shorter, _ = bridged(shape_of(read(text)), 2)
    assert shorter == b"1 var 4\n2 var 2\n3 not 4 1\n4 concat 6 3 2\n5 root 6 4\n"


def test_a_variable_takes_the_width_of_what_it_stands_for() -> None:
    text = b"1 var 2\n2 redor 1 1\n3 concat 3 2 1\n4 mul 3 3 3\n5 cond 3 2 4 3\n6 root 3 5\n"
    assert list(resized(shape_of(read(text)), 2)) == [
        b"1 var 3\n2 redor 1 1\n3 mul 3 1 1\n4 cond 3 2 3 1\n5 root 3 4\n"
    ]


def test_a_variable_keeps_the_width_that_others_ask_for() -> None:
    text = (
        b"1 var 2\n2 add 2 1 1\n3 concat 4 2 1\n4 mul 4 3 3\n5 eq 1 2 1\n6 root 4 4\n7 root 1 5\n"
    )
    assert list(resized(shape_of(read(text)), 2)) == []


def test_an_operator_takes_another_width_where_that_saves_an_operand() -> None:
    text = b"1 var 2\n2 var 4\n3 redor 1 2\n4 cond 2 3 1 1\n5 root 2 4\n"
    assert list(retyped(shape_of(read(text)), 3)) == [
        b"1 var 4\n2 redor 1 1\n3 cond 1 2 2 2\n4 root 1 3\n"
    ]
    kept = text.replace(b"5 root 2 4", b"5 add 2 4 4\n6 root 2 5")
    assert list(retyped(shape_of(read(kept)), 3)) == []


@pytest.mark.parametrize("dialect", [Dialect.OLD, Dialect.BTOR1, Dialect.FUN, Dialect.BTOR2])
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_every_candidate_is_smaller_and_has_all_roots(dialect: Dialect, seed: int) -> None:
    text = canonical(rooted(seed, dialect, nodes=20))
    detected, roots = read(text).dialect, len(read(text).roots)
    *candidates, _ = walk(NodeRemoval(100), text, at_random(seed, 0.1))
    for candidate in candidates:
        assert len(read(candidate, detected).roots) == roots
        assert Size(candidate) < Size(text)
