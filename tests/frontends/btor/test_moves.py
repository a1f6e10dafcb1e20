"""The passes over negations, operators, leaves, chains and literals."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reducekit.frontends.btor.model.operators import Dialect
from reducekit.frontends.btor.model.reader import read
from reducekit.frontends.btor.model.writer import canonical
from reducekit.frontends.btor.passes.merges import (
    Others,
    chains,
    equal_nodes,
    leaves,
    negations,
    nots,
)
from reducekit.frontends.btor.passes.node_removal import NodeRemoval
from reducekit.frontends.btor.passes.spelling import literals, next_last, ranks
from reducekit.frontends.btor.passes.transition_system import (
    justice,
    properties,
    states,
    symbols,
    transitions,
)
from reducekit.frontends.btor.passes.widths import Widths, all_widths
from reducekit.strategies.ddmin import ddmin
from tests.frontends.btor.walking import at_random, result, rooted, walk

PASSES: list[Any] = [
    all_widths, Widths(), Widths("keep", keep=True), negations, nots,
    ranks, leaves, equal_nodes, Others(100), chains, literals, properties, transitions,
    states, justice, symbols, next_last, NodeRemoval(100),
]  # fmt: skip


@pytest.mark.parametrize("each", PASSES, ids=lambda each: each.name)
@pytest.mark.parametrize("dialect", [Dialect.OLD, Dialect.BTOR1, Dialect.FUN, Dialect.BTOR2])
@settings(max_examples=15)
@given(seed=st.integers(0, 10**6))
def test_every_candidate_is_well_sorted(each: Any, dialect: Dialect, seed: int) -> None:
    text = canonical(rooted(seed, dialect, nodes=25))
    for candidate in walk(each, text, at_random(seed)):
        read(candidate, dialect)


@pytest.mark.parametrize("each", PASSES, ids=lambda each: each.name)
@settings(max_examples=15)
@given(seed=st.integers(0, 10**6))
def test_every_candidate_is_well_sorted_whatever_the_strategy(each: Any, seed: int) -> None:
    dialect = [Dialect.BTOR1, Dialect.BTOR2][seed % 2]
    text = canonical(rooted(seed, dialect, nodes=15))
    for candidate in walk(each, text, at_random(seed, 0.3), ddmin):
        read(candidate, dialect)


def test_all_becomes_narrow_at_once() -> None:
    text = b"1 array 8 4\n2 var 4\n3 var 8\n4 write 8 4 1 2 3\n5 read 8 4 2\n6 root 8 5\n"
    candidates = list(walk(Widths(), text, lambda text: True))
    assert (
        candidates[0]
        == candidates[-1]
        == (b"1 array 1 1\n2 var 1\n3 var 1\n4 write 1 1 1 2 3\n5 read 1 4 2\n6 root 1 5\n")
    )
    assert len(candidates) == 2


def test_a_class_descends_to_the_least_width_that_fails() -> None:
    text = b"; wide\n1 var 32\n2 var 16\n3 add  32 1 1 ; kept\n4 redor 1 3\n5 root 16 2\n"

    def verdict(candidate: bytes) -> bool:
        dag = read(candidate)
        return dag.width(0) >= 5 and b"redor" in candidate

    reduced = result(Widths(), text, verdict)
    assert reduced == b"1 var 8\n2 var 1\n3 add 8 1 1\n4 redor 1 3\n5 root 1 2\n"
    reduced = result(Widths(), reduced, verdict)
    assert reduced == b"1 var 7\n2 var 1\n3 add 7 1 1\n4 redor 1 3\n5 root 1 2\n"


def test_other_lines_keep_their_words() -> None:
    text = b"; wide\n1 var  8\n; one bit\n2  var 1\n3 root  8 1\n4 root 1 2\n"
    assert result(Widths(), text) == b"1 var 1\n; one bit\n2  var 1\n3 root 1 1\n4 root 1 2\n"


def test_leaves_become_one() -> None:
    text = b"1 var 4\n2 zero 4\n3 var 4\n4 ones 4\n5 and 4 2 -3\n6 or 4 5 4\n7 root 4 6\n"
    candidates = list(walk(leaves, text, lambda text: True))
    assert candidates == [b"1 var 4\n5 and 4 1 -1\n6 or 4 5 1\n7 root 4 6\n"] * 2

    def needed(candidate: bytes) -> bool:
        return b"zero" in candidate

    assert result(leaves, text, needed).count(b"\n") == 5


def test_a_merged_state_takes_its_init_and_next_along() -> None:
    text = (
        b"1 sort bitvec 4\n2 zero 1\n3 state 1\n4 state 1\n5 init 1 4 2\n6 add 1 3 4\n"
        b"7 next 1 4 6\n8 next 1 3 6\n9 output 6\n"
    )
    reduced = result(leaves, text, lambda text: b"zero" not in text)
    assert reduced == (b"1 sort bitvec 4\n3 state 1\n6 add 1 3 3\n8 next 1 3 6\n9 output 6\n")
    # No input gets below an init.
    text = b"1 sort bitvec 4\n2 input 1\n3 zero 1\n4 state 1\n5 init 1 4 3\n6 output 4\n"
    for candidate in walk(leaves, text, lambda text: False):
        assert b"init 1 4 2" not in candidate


def test_twins_become_one_and_what_differs_by_them_too() -> None:
    text = (
        b"1 var 4\n2 var 4\n3 add 4 1 2\n4 add 4 2 1\n5 sub 4 3 -1\n6 sub 4 4 -1\n"
        b"7 sub 4 4 1\n8 sub 4 1 4\n9 and 4 5 6\n10 and 4 7 8\n11 xor 4 9 10\n12 root 4 11\n"
    )
    candidates = list(walk(equal_nodes, text, lambda text: True))
    assert (
        candidates
        == [
            b"1 var 4\n2 var 4\n3 add 4 1 2\n5 sub 4 3 -1\n7 sub 4 3 1\n8 sub 4 1 3\n"
            b"9 and 4 5 5\n10 and 4 7 8\n11 xor 4 9 10\n12 root 4 11\n"
        ]
        * 2
    )


def test_twins_have_the_same_numbers() -> None:
    text = b"1 var 4\n2 slice 2 1 1 0\n3 slice 2 1 2 1\n4 and 2 2 3\n5 root 2 4\n"
    assert result(equal_nodes, text) == text


def test_a_node_with_several_users_becomes_another_one() -> None:
    text = (
        b"1 array 4 2\n2 var 2\n3 var 4\n4 write 4 2 1 2 3\n5 write 4 2 1 2 -3\n"
        b"6 acond 4 2 7 5 1\n8 eq 1 4 5\n9 read 4 6 2\n10 root 1 8\n11 root 4 9\n"
    ).replace(b"6 acond", b"7 var 1\n6 acond")

    def verdict(candidate: bytes) -> bool:
        return b"acond" in candidate and b"write" in candidate

    assert verdict(text)
    reduced = result(Others(20), text, verdict)
    assert reduced == text.replace(b"5 write 4 2 1 2 -3\n", b"").replace(
        b" 5 1\n", b" 4 1\n"
    ).replace(b"eq 1 4 5", b"eq 1 4 4")
    assert result(Others(10), text, verdict) == text


def test_chains_lose_all_links_that_are_not_needed() -> None:
    writes = b"".join(b"%d write 8 4 %d 2 3\n" % (at, at - 1) for at in range(4, 104))
    text = b"1 var 1\n2 var 4\n3 var 8\n" + writes.replace(b"4 3 2 3", b"4 200 2 3", 1)
    text = b"200 array 8 4\n" + text + b"300 read 8 103 2\n301 root 8 300\n"
    candidates = list(walk(chains, text, lambda text: b" write 8 4 " in text))
    assert candidates[-1].count(b"write") == 1
    assert len(candidates) < 30


def test_a_read_of_a_write_becomes_the_value() -> None:
    text = b"1 array 8 4\n2 var 4\n3 var 8\n4 write 8 4 1 2 -3\n5 read 8 4 2\n6 root 8 -5\n"
    assert result(chains, text, lambda text: b"read" not in text) == b"3 var 8\n6 root 8 3\n"


def test_negations_go() -> None:
    text = b"1 var 4\n2 not 4 1\n3 not 4 -2\n4 and 4 -3 -1\n5 root 4 -4\n"
    assert result(negations, text) == b"1 var 4\n2 not 4 1\n3 not 4 2\n4 and 4 3 1\n5 root 4 4\n"
    # Their users take the complements: the same, with fewer nodes.
    assert result(nots, text) == b"1 var 4\n4 and 4 1 -1\n5 root 4 -4\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"udiv 4 1 1", b"or 4 1 1"),
        (b"or 4 1 1", b"or 4 1 1"),
        (b"ugte 1 1 1", b"eq 1 1 1"),
        (b"neg 4 1", b"dec 4 1"),
        (b"sext 5 1 1", b"sext 5 1 1"),
        (b"uext 5 1 1", b"sext 5 1 1"),
        (b"redxor 1 1", b"redor 1 1"),
        (b"sdivo 1 1 1", b"eq 1 1 1"),
        (b"implies 1 2 2", b"eq 1 2 2"),
        (b"mul 1 2 2", b"eq 1 2 2"),
    ],
)
def test_operators_become_the_lowest(before: bytes, after: bytes) -> None:
    text = b"1 var 4\n2 var 1\n3 %s\n4 root 1 2\n"
    assert result(ranks, text % before) == text % after


def test_some_operators_between_are_tried_as_well() -> None:
    text = b"1 var 4\n2 udiv 4 1 1\n3 root 4 2\n"
    assert result(ranks, text, lambda text: b" or " not in text) == text.replace(b"udiv", b"add")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"const 8 10100101", b"one 8"),
        (b"ones 8", b"one 8"),
        (b"one 8", b"one 8"),
        (b"zero 8", b"zero 8"),
        (b"constd 8 7 s", b"one 8"),
    ],
)
def test_constants_become_the_shortest(before: bytes, after: bytes) -> None:
    sort = b"8 sort bitvec 8\n10 %s\n11 output 10\n"
    assert result(literals, sort % before) == sort % after


def test_the_value_of_a_constant_may_be_needed() -> None:
    text = b"1 const 8 10100101\n2 root 8 1\n"

    def needed(candidate: bytes) -> bool:
        return any(each in candidate for each in (b"10100101", b" 165\n", b" a5\n"))

    assert result(literals, text, needed) == b"1 consth 8 a5\n2 root 8 1\n"
