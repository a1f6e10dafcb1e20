"""The evaluator agrees with a solver on every operator, and with the text on its corners."""

import itertools

import pytest

from reducekit.errors import UsageError
from reducekit.frontends.btor.model.dag import Builder, Dag
from reducekit.frontends.btor.model.evaluate import (
    BINARY,
    UNARY,
    ArrayValue,
    equal,
    evaluate,
    signed,
)
from reducekit.frontends.btor.model.operators import Dialect, Op
from reducekit.frontends.btor.model.reader import read
from tests.frontends.btor.dags import fixed, random_assignment, random_dag
from tests.frontends.btor.solving import bitwuzla_says


@pytest.mark.parametrize(
    ("code", "width", "a", "b", "result"),
    [
        (Op.UDIV, 4, 9, 0, 15),
        (Op.UREM, 4, 9, 0, 9),
        (Op.SDIV, 4, 7, 0, 15),  # -1
        (Op.SDIV, 4, 9, 0, 1),  # of a negative number
        (Op.SDIV, 4, 8, 15, 8),  # -8 / -1 overflows to -8
        (Op.SREM, 4, 9, 0, 9),
        (Op.SREM, 4, 9, 2, 15),  # the sign of the dividend: -7 rem 2 = -1
        (Op.SMOD, 4, 9, 2, 1),  # the sign of the divisor
        (Op.SMOD, 4, 7, 14, 15),
        (Op.SMOD, 4, 9, 0, 9),
        (Op.SLL, 3, 5, 3, 0),
        (Op.SRA, 3, 5, 7, 7),
        (Op.ROL, 3, 1, 7, 2),
        (Op.ROR, 3, 1, 4, 4),
        (Op.SDIVO, 4, 8, 15, 1),
        (Op.SDIVO, 1, 1, 1, 1),
        (Op.SMULO, 1, 1, 1, 1),
        (Op.SADDO, 4, 7, 1, 1),
        (Op.SSUBO, 4, 8, 1, 1),
        (Op.SSUBO, 4, 0, 8, 1),
        (Op.UMULO, 4, 4, 4, 1),
        (Op.UMULO, 4, 5, 3, 0),
    ],
)
def test_corners(code: Op, width: int, a: int, b: int, result: int) -> None:
    mask = 1 if code in (Op.SDIVO, Op.SMULO, Op.SADDO, Op.SSUBO, Op.UMULO) else (1 << width) - 1
    assert BINARY[code](a, b, width) & mask == result


def test_overflow_is_what_the_plain_operator_loses() -> None:
    for width in (1, 2, 3):
        for a, b in itertools.product(range(1 << width), repeat=2):
            x, y = signed(a, width), signed(b, width)
            for code, plain, exact in (
                (Op.SADDO, Op.ADD, x + y),
                (Op.SSUBO, Op.SUB, x - y),
                (Op.SMULO, Op.MUL, x * y),
            ):
                result = signed(BINARY[plain](a, b, width) & ((1 << width) - 1), width)
                assert bool(BINARY[code](a, b, width)) == (result != exact)
            assert bool(BINARY[Op.UADDO](a, b, width)) == (a + b >= 1 << width)
            assert bool(BINARY[Op.USUBO](a, b, width)) == (a - b < 0)
            assert bool(BINARY[Op.UMULO](a, b, width)) == (a * b >= 1 << width)
        for a in range(1 << width):
            negated = signed(UNARY[Op.NEG](a, width) & ((1 << width) - 1), width)
            assert bool(UNARY[Op.NEGO](a, width)) == (negated != -signed(a, width))


@pytest.mark.parametrize("dialect", [Dialect.OLD, Dialect.BTOR1, Dialect.BTOR2])
@pytest.mark.parametrize("seed", range(6))
def test_a_solver_agrees_on_every_node(dialect: Dialect, seed: int) -> None:
    dag = random_dag(seed, dialect)
    assignment = random_assignment(dag, seed)
    assert bitwuzla_says(fixed(dag, assignment, differ=False)) == "sat"
    assert bitwuzla_says(fixed(dag, assignment, differ=True)) == "unsat"


def test_the_random_graphs_have_every_operator() -> None:
    codes = {code for seed in range(20) for code in random_dag(seed, Dialect.OLD).op}
    others = {Op.PARAM, Op.LAMBDA, Op.APPLY, Op.STATE, Op.INIT, Op.NEXT, Op.ROOT, Op.SORT}
    properties = {Op.BAD, Op.CONSTRAINT, Op.FAIR, Op.JUSTICE, Op.OUTPUT}
    assert codes == set(Op) - others - properties


def test_declarations_and_states() -> None:
    dag = read(
        b"1 sort bitvec 2\n2 sort bitvec 1\n3 one 1\n4 state 1\n5 init 1 4 3\n6 add 1 4 3\n"
        b"7 next 1 4 -6\n8 redand 2 4\n9 bad 8\n10 output -4\n11 justice 2 8 -8\n"
    )
    assert evaluate(dag, {3: 3}) == [None, None, 1, 3, 1, 0, 3, 1, 1, 0, 0]
    assert evaluate(dag, {})[3:7] == [0, 1, 1, 2]
    roots = read(b"1 constd 4 6\n2 root 4 1\n3 root 1 -2\n")
    assert evaluate(roots, {}) == [6, 1, 0]


def test_arrays_share_nothing_that_changes() -> None:
    dag = read(
        b"1 array 4 2\n2 var 2\n3 ones 4\n4 write 4 2 1 2 3\n5 write 4 2 4 -2 3\n6 read 4 4 -2\n"
        b"7 write 4 2 4 2 -3\n8 read 4 4 2\n9 read 4 7 2\n10 read 4 1 2\n11 var 1\n"
        b"12 acond 4 2 11 4 5\n13 write 4 2 12 2 -3\n14 read 4 12 2\n15 eq 1 4 12\n"
    )
    given = ArrayValue(3, {0: 1})
    values = evaluate(dag, {0: given, 10: 1})
    assert [values[line] for line in (5, 7, 8, 9, 13, 14)] == [3, 15, 0, 1, 15, 1]
    assert (given.default, given.cells) == (3, {0: 1})


def test_arrays_are_equal_where_no_index_tells_them_apart() -> None:
    dag = read(b"1 array 4 1\n")
    at = dag.sort[0]
    full = ArrayValue(7, {0: 1, 1: 2})
    assert equal(full, ArrayValue(9, {0: 1, 1: 2}), dag.sorts, at)
    assert not equal(full, ArrayValue(7, {0: 1}), dag.sorts, at)
    assert equal(ArrayValue(2, {0: 1}), full, dag.sorts, at)


def test_arrays_of_arrays() -> None:
    dag = read(
        b"1 sort bitvec 2\n2 sort array 1 1\n3 sort array 1 2\n4 input 3\n5 input 1\n6 one 1\n"
        b"7 read 2 4 5\n8 write 2 7 5 6\n9 write 3 4 5 8\n10 read 2 9 5\n11 read 1 10 5\n"
        b"12 read 1 7 5\n13 sort bitvec 1\n14 eq 13 4 9\n15 write 3 9 5 7\n16 eq 13 4 15\n"
    )
    values = evaluate(dag, {4: 2})
    assert [values[line] for line in (10, 11, 13, 15)] == [1, 0, 0, 1]
    bad = read(
        b"1 sort bitvec 1\n2 sort array 1 1\n3 sort array 2 1\n4 input 3\n5 input 2\n6 read 1 4 5\n"
    )
    with pytest.raises(UsageError, match="arrays as indices"):
        evaluate(bad, {})


def test_functions_are_to_be_inlined_first() -> None:
    dag = read(b"1 param 4\n2 lambda 4 4 1 -1\n")
    with pytest.raises(UsageError, match="a param has no value"):
        evaluate(dag, {})


def chain(size: int) -> Dag:
    """Return a chain of writes to increasing places, and a chain of adders."""
    builder = Builder(Dialect.BTOR1)
    index, element = builder.table.bitvec(16), builder.table.bitvec(8)
    sort = builder.table.array(index, element)
    array, at = builder.add(Op.INPUT, sort), builder.add(Op.INPUT, index)
    value = builder.add(Op.ONE, element)
    for _ in range(size):
        array = builder.add(Op.WRITE, sort, (array, at, value))
        at = builder.add(Op.INC, index, (at,))
        value = builder.add(Op.ADD, element, (value, builder.add(Op.READ, element, (array, at))))
    return builder.dag()


def test_long_chains() -> None:
    dag = chain(5000)
    values = evaluate(dag, {0: ArrayValue(1)})
    assert values[-1] == 5001 % 256
    # Each array was changed in place, but for the first one, which is the caller's.
    writes = list(dag.lines_of(Op.WRITE))
    assert {values[line] for line in writes[:-1]} == {None}
    assert isinstance(values[0], ArrayValue)
    assert not values[0].cells
