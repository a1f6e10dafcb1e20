"""Printing: what was read, byte for byte; and the canonical form, a fixpoint."""

import pytest

from reducekit.errors import UsageError
from reducekit.frontends.btor.model.dag import Builder
from reducekit.frontends.btor.model.operators import Dialect, Op
from reducekit.frontends.btor.model.reader import read
from reducekit.frontends.btor.model.writer import canonical, write
from tests.frontends.btor.dags import random_dag
from tests.frontends.btor.test_rules import ACCEPTED


@pytest.mark.parametrize("name", ACCEPTED)
def test_nothing_is_lost(name: str) -> None:
    text, dialect = ACCEPTED[name]
    assert write(read(text.encode(), Dialect(dialect))) == text.encode()


@pytest.mark.parametrize("name", ACCEPTED)
@pytest.mark.parametrize("renumber", [False, True])
def test_canonical_is_a_fixpoint(name: str, renumber: bool) -> None:
    text, dialect = ACCEPTED[name][0].encode(), Dialect(ACCEPTED[name][1])
    first = canonical(read(text, dialect), renumber)
    if dialect is Dialect.BTOR_2007:
        return  # other names for the same operators are printed; nobody reads them
    assert canonical(read(first, dialect), renumber) == first


@pytest.mark.parametrize("dialect", [Dialect.OLD, Dialect.BTOR1, Dialect.BTOR2])
def test_built_graphs_are_read_back(dialect: Dialect) -> None:
    for seed in range(20):
        dag = random_dag(seed, dialect)
        text = write(dag)
        again = read(text, dialect)
        assert canonical(again, False) == canonical(again) == text
        nodes = [line for line in range(len(again)) if again.op[line] != Op.SORT]
        assert [again.op[line] for line in nodes] == list(dag.op)
        assert [again.width(line) for line in nodes] == list(map(dag.width, range(len(dag))))


def test_canonical_btor1() -> None:
    dag = read(b" 9 var 4 x ; c\n\n4\tnot 4 -9\n7 root 4 4\n")
    assert canonical(dag) == b"1 var 4 x\n2 not 4 -1\n3 root 4 2\n"
    assert canonical(dag, renumber=False) == b"9 var 4 x\n4 not 4 -9\n7 root 4 4\n"


def test_canonical_btor2_declares_sorts_once_before_use() -> None:
    dag = read(
        b"; c\n2 sort bitvec 8\n3 sort bitvec 1 bit\n4 sort bitvec 1\n5 sort array 4 3\n"
        b"6 input 4 a ; d\n9 state 5\n10 bad -6\n"
    )
    assert canonical(dag) == (
        b"1 sort bitvec 1\n2 input 1 a\n3 sort array 1 1\n4 state 3\n5 bad -2\n"
    )
    assert canonical(dag, renumber=False) == (
        b"2 sort bitvec 8\n3 sort bitvec 1 bit\n4 sort bitvec 1\n5 sort array 4 3\n"
        b"6 input 4 a\n9 state 5\n10 bad -6\n"
    )


def test_what_a_dialect_lacks_is_refused() -> None:
    builder = Builder(Dialect.BTOR1)
    one = builder.table.bitvec(1)
    nested = builder.table.array(one, builder.table.array(one, one))
    builder.add(Op.INPUT, nested)
    with pytest.raises(UsageError, match="BTOR1 has no arrays of arrays"):
        write(builder.dag())
    builder = Builder(Dialect.BTOR2)
    builder.add(Op.PROXY, one, (builder.add(Op.INPUT, builder.table.bitvec(1)),))
    dag = builder.dag()
    with pytest.raises(UsageError, match="btor2 has no proxy"):
        write(dag)
    with pytest.raises(UsageError, match="node 1 has no sort line: renumber"):
        canonical(dag, renumber=False)
    with pytest.raises(UsageError, match="btor-2007 is read only"):
        write(Builder(Dialect.BTOR_2007).dag())
