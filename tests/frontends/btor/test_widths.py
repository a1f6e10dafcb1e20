"""Width classes, and graphs with narrower ones."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reducekit.frontends.btor.model.dag import Array, BitVec, Dag
from reducekit.frontends.btor.model.operators import Dialect, Op
from reducekit.frontends.btor.model.reader import read
from reducekit.frontends.btor.model.writer import canonical
from reducekit.frontends.btor.passes.width_classes import settled, width_classes
from reducekit.frontends.btor.passes.widths import narrow
from tests.frontends.btor.dags import random_dag

DIALECTS = [Dialect.OLD, Dialect.BTOR1, Dialect.FUN, Dialect.BTOR2]


def narrowed(text: bytes, targets: dict[int, int], keep: bool = False) -> bytes:
    """Narrow the classes of lines, by line."""
    dag = read(text)
    classes = width_classes(dag)
    wanted = {classes.class_of(line): width for line, width in targets.items()}
    return canonical(narrow(classes, wanted, keep).dag, renumber=dag.dialect is Dialect.BTOR2)


def bits(dag: Dag) -> int:
    """Sum the widths of all nodes."""
    total = 0
    for line in range(len(dag)):
        if dag.op[line] == Op.SORT:
            continue
        sort = dag.sorts[dag.sort[line]] if dag.sort[line] >= 0 else None
        if isinstance(sort, Array):
            index, element = dag.sorts[sort.index], dag.sorts[sort.element]
            assert isinstance(index, BitVec)
            assert isinstance(element, BitVec)
            total += index.width + element.width
        else:
            total += dag.width(line)
    return total


def test_operands_of_an_operator_are_one_class() -> None:
    classes = width_classes(read(b"1 var 8\n2 var 8\n3 add 8 1 2\n4 var 8\n5 ult 1 3 1\n"))
    assert classes.class_of(0) == classes.class_of(1) == classes.class_of(2)
    assert classes.class_of(3) != classes.class_of(0)
    assert [classes.width[each] for each in classes.reducible] == [8, 8]
    assert classes.width[classes.class_of(4)] == 1


def test_index_and_element_widths_are_classes() -> None:
    text = b"1 array 8 4\n2 var 4\n3 var 8\n4 write 8 4 1 2 3\n5 read 8 4 2\n"
    classes = width_classes(read(text))
    term = classes.terms[0]
    assert isinstance(term, tuple)
    index, element = (classes.of[each] for each in term if isinstance(each, int))
    assert index == classes.class_of(1)
    assert element == classes.class_of(2) == classes.class_of(4)
    assert narrowed(text, {1: 1}) == (
        b"1 array 8 1\n2 var 1\n3 var 8\n4 write 8 1 1 2 3\n5 read 8 4 2\n"
    )
    assert narrowed(text, {4: 2}) == (
        b"1 array 2 4\n2 var 4\n3 var 2\n4 write 2 4 1 2 3\n5 read 2 4 2\n"
    )


@pytest.mark.parametrize(
    ("keep", "expected"),
    [
        # The reduction and the extension have lost their purpose; the slice is whole.
        (False, b"1 var 1\n4 const 1 1\n5 and 1 1 4\n8 concat 2 1 5\n9 eq 1 8 8\n"),
        (
            True,
            b"1 var 2\n2 redor 1 1\n3 uext 2 1 0\n4 const 2 01\n5 and 2 3 4\n6 slice 1 5 1 1\n"
            b"8 concat 4 1 5\n9 eq 1 8 8\n",
        ),
    ],
)
def test_what_lies_between_classes_is_repaired(keep: bool, expected: bytes) -> None:
    text = (
        b"1 var 8\n2 redor 1 1\n3 uext 12 1 4\n4 const 12 000000000101\n5 and 12 3 4\n"
        b"6 slice 4 5 5 2\n8 concat 20 1 5\n9 eq 1 8 8\n"
    )
    targets = {0: 1, 2: 1, 3: 1, 5: 1}
    if keep:
        targets = {0: 1, 2: 2, 3: 2, 5: 1}
    assert narrowed(text, targets, keep) == expected


def test_shift_amounts_follow_the_shifted() -> None:
    text = b"1 var 8\n2 var 3\n3 sll 8 1 2\n4 redor 1 3\n"
    assert narrowed(text, {0: 4}) == b"1 var 4\n2 var 2\n3 sll 4 1 2\n4 redor 1 3\n"
    assert narrowed(text, {0: 3}) == b"1 var 4\n2 var 2\n3 sll 4 1 2\n4 redor 1 3\n"
    assert narrowed(text, {1: 1}) == b"1 var 2\n2 var 1\n3 sll 2 1 2\n4 redor 1 3\n"
    assert narrowed(text, {0: 1}) == b"1 var 1\n2 var 1\n3 or 1 1 2\n"
    assert narrowed(text, {0: 1}, keep=True) == b"1 var 2\n2 var 1\n3 sll 2 1 2\n4 redor 1 3\n"


def test_literals_keep_their_low_bits() -> None:
    dag = read(b"1 const 4 1010\n2 constd 4 11\n3 consth 4 c\n4 and 4 1 2\n5 and 4 4 3\n")
    classes = width_classes(dag)
    targets = {classes.class_of(0): 2}
    found = narrow(classes, targets).dag.literals
    assert [found[line] for line in range(3)] == [b"10", b"3", b"0"]


def test_states_shrink_with_their_values_and_sorts_are_declared() -> None:
    text = (
        b"1 sort bitvec 8\n2 sort bitvec 4\n3 sort array 2 1\n4 zero 1\n5 state 3 memory\n"
        b"6 init 3 5 4\n7 input 2\n8 write 3 5 7 4\n9 next 3 5 8\n10 read 1 5 7\n"
        b"11 redor 12 10\n"
    ).replace(b"11 redor 12 10\n", b"11 sort bitvec 1\n12 redor 11 10\n13 bad 12\n")
    dag = read(text)
    classes = width_classes(dag)
    found = narrow(classes, dict.fromkeys(classes.reducible, 1))
    assert canonical(found.dag) == (
        b"1 sort bitvec 1\n2 zero 1\n3 sort array 1 1\n4 state 3 memory\n5 init 3 4 2\n"
        b"6 input 1\n7 write 3 4 6 2\n8 next 3 4 7\n9 read 1 4 6\n10 bad 9\n"
    )
    assert [line for line, at in enumerate(found.place) if at < 0] == [0, 1, 2, 10, 11]


def test_functions_have_classes_too() -> None:
    text = b"1 param 8\n2 var 4\n3 uext 8 2 4\n4 add 8 1 3\n5 lambda 8 8 1 4\n6 apply 8 5 3\n"
    assert narrowed(text, {0: 1}) == b"1 param 1\n2 var 4\n" + (
        b"3 slice 1 2 0 0\n4 add 1 1 3\n5 lambda 1 1 1 4\n6 apply 1 5 3\n"
    )


@given(st.integers(0, 10**6), st.sampled_from(DIALECTS), st.booleans())
def test_narrowed_graphs_are_well_sorted(seed: int, dialect: Dialect, keep: bool) -> None:
    dag = random_dag(seed, dialect)
    classes = width_classes(dag)
    chance = random.Random(seed)
    chosen = chance.choices(classes.reducible, k=3) if chance.random() < 0.8 else classes.reducible
    targets = {each: chance.randrange(1, classes.width[each]) for each in chosen}
    found = narrow(classes, targets, keep)
    again = read(canonical(found.dag), dialect)
    assert bits(again) <= bits(dag)
    if keep:
        assert list(found.dag.op) == list(dag.op)
    else:
        width = settled(classes, targets)
        unshifted = {each for pair in classes.shifts for each in pair}
        assert all(width[each] <= targets[each] for each in targets if each not in unshifted)
    # Without targets nothing changes.
    assert canonical(narrow(classes, {}, keep).dag) == canonical(dag)
