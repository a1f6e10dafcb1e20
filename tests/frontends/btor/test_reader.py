"""What a Dag holds of a file, and which dialect a file is of."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reducekit.errors import ParseError
from reducekit.frontends.btor.model.dag import Array, BitVec, Function, SortTable, line_of
from reducekit.frontends.btor.model.operators import (
    OPERATORS,
    Dialect,
    Op,
    detect,
    spelling,
    spellings,
)
from reducekit.frontends.btor.model.reader import read

WRITE = "1 array 4 2\n2 var 2\n3 var 4\n"


def test_lines_of_btor1() -> None:
    text = b"; c\n 3 array 4 2 m ; d\n7 var 2\n5 read 4 3 -7\n6 slice 2 -5 2 1\n9 root 4 -5\n"
    dag = read(text)
    assert dag.dialect is Dialect.BTOR1
    assert list(dag.ids) == [3, 7, 5, 6, 9]
    assert list(dag.op) == [Op.INPUT, Op.INPUT, Op.READ, Op.SLICE, Op.ROOT]
    assert [list(dag.arguments(line)) for line in range(5)] == [[], [], [0, ~1], [~2], [~2]]
    assert [line_of(each) for each in dag.arguments(2)] == [0, 1]
    assert [dag.width(line) for line in range(5)] == [0, 2, 4, 2, 1]
    four, two = dag.sort[2], dag.sort[1]
    assert dag.sorts[dag.sort[0]] == Array(two, four)
    assert dag.sort[3] == two
    assert dag.numbers == {3: (2, 1)}
    assert dag.symbols == {0: b"m"}
    assert [text[a:b] for a, b in zip(dag.start, dag.end, strict=True)] == [
        b"3 array 4 2 m", b"7 var 2", b"5 read 4 3 -7", b"6 slice 2 -5 2 1", b"9 root 4 -5",
    ]  # fmt: skip
    assert list(dag.roots) == [4]
    assert set(dag.sort_line) == {-1}


def test_lines_of_btor2() -> None:
    text = (
        b"1 sort bitvec 1\n2 sort bitvec 8 byte\n3 sort array 1 2\n4 sort bitvec 8\n"
        b"5 state 3 m ; memory\n6 input 1\n7 read 4 5 -6 r\n8 constd 2 -1\n9 neq 1 7 8\n"
        b"10 bad 9 b\n11 justice 2 9 -9\n12 next 3 5 5\n"
    )
    dag = read(text)
    assert dag.dialect is Dialect.BTOR2
    # Equal sorts have equal indices, by whatever line they are named.
    assert dag.sort[6] == dag.sort[7] == dag.sort[1] == dag.sort[3]
    assert list(dag.sort_line) == [-1, -1, -1, -1, 2, 0, 3, 1, 0, -1, -1, 2]
    assert list(dag.arguments(2)) == [0, 1]
    assert list(dag.sort[9:11]) == [-1, -1]
    assert dag.op[8] == Op.NE
    assert dag.literals == {7: b"-1"}
    assert dag.symbols == {1: b"byte", 4: b"m", 6: b"r", 9: b"b"}
    assert list(dag.arguments(10)) == [8, ~8]
    assert list(dag.roots) == [9, 10]
    assert text[dag.start[4] : dag.end[4]] == b"5 state 3 m"


def test_functions_have_sorts() -> None:
    dag = read(
        b"1 param 4\n2 param 3\n3 concat 7 1 2\n4 lambda 7 3 2 3\n5 lambda 7 4 1 4\n"
        b"6 var 4\n7 var 3\n8 apply 7 5 6 -7\n9 root 7 8\n"
    )
    assert dag.dialect is Dialect.FUN
    table = SortTable(dag.sorts)
    seven, four, three = map(table.bitvec, (7, 4, 3))
    assert dag.sorts[dag.sort[3]] == Function((three,), seven)
    assert dag.sorts[dag.sort[4]] == Function((four, three), seven)
    assert len(table.sorts) == len(dag.sorts)


@pytest.mark.parametrize(
    ("text", "dialect"),
    [
        ("", Dialect.BTOR1),
        ("; 1 sort bitvec 1\n1 var 4 sort\n", Dialect.BTOR1),
        ("; c\n1 sort bitvec 1\n", Dialect.BTOR2),
        (WRITE + "4 write 4 1 2 3\n", Dialect.OLD),
        (WRITE + "4 write 4 1 2 3 ; write 4 2 1 2 3\n", Dialect.OLD),
        (WRITE + "4 write 4 2 1 2 3\n", Dialect.BTOR1),
        (WRITE + "4 var 1\n5 acond 4 2 4 1 1\n", Dialect.BTOR1),
        (WRITE + "4 var 1\n5 cond 4 4 1 1\n", Dialect.OLD),
        (WRITE + "4 var 1\n5 cond 4 4 3 3\n", Dialect.BTOR1),
        ("1 var 4\n2 nego 1 1\n", Dialect.OLD),
        ("1 var 4\n2 umul 4 1 1\n3 nego 1 1\n", Dialect.BTOR_2007),
        ("1 param 4\n", Dialect.FUN),
        ("1 var 4\n2 next 4 1 1\n", Dialect.BTOR1),
    ],
)
def test_detection(text: str, dialect: Dialect) -> None:
    assert detect(text.encode()) is dialect
    assert read(text.encode()).dialect is dialect


def refusal(text: bytes, dialect: Dialect | None) -> ParseError | None:
    """Return why a text is not read; None if it is, and nothing is lost."""
    try:
        assert read(text, dialect).text == text
    except ParseError as error:
        return error
    return None


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused_with_a_place(junk: bytes) -> None:
    for text in (junk, b"1 var 4\n2 " + junk + b"\n", b"1 sort bitvec 2\n2 " + junk + b"\n"):
        for dialect in (None, *Dialect):
            error = refusal(text, dialect)
            assert error is None or (0 <= error.offset <= len(text) and "; rule " in error.message)


WORDS = st.sampled_from(
    [name.decode() for row in OPERATORS for name in (row.name,)]
    + ["0", "1", "2", "3", "4", "-1", "-2", "1", "2", "bitvec", "101", ";", "x", "\r"]
)


@given(st.lists(st.lists(WORDS, max_size=6), max_size=6), st.sampled_from(Dialect))
def test_any_words_are_read_or_refused_with_a_place(
    lines: list[list[str]], dialect: Dialect
) -> None:
    text = "".join(f"{number} {' '.join(line)}\n" for number, line in enumerate(lines, 1)).encode()
    error = refusal(text, dialect)
    assert error is None or "; rule " in error.message


def test_the_table_has_one_row_a_name_and_dialect() -> None:
    for dialect in Dialect:
        rows = [row for row in OPERATORS if dialect in row.dialects]
        names = [row.name for row in rows]
        assert len(names) == len(set(names))
        for row in rows:
            assert spellings(dialect)[row.name] is row
    # 52 operators in the first release, and nand and nor five days later.
    assert len(spellings(Dialect.BTOR_2007)) == 54
    write = spelling(Dialect.BTOR1, Op.ITE, True)
    assert write is not None
    assert write.name == b"acond"
    assert spelling(Dialect.BTOR_2007, Op.ITE, True) is None
    assert spelling(Dialect.BTOR2, Op.PROXY, False) is None


def test_a_long_chain() -> None:
    size = 30_000
    text = b"1 var 4\n" + b"".join(b"%d not 4 %d\n" % (n, 1 - n) for n in range(2, size))
    dag = read(text)
    assert len(dag) == size - 1
    assert dag.arguments(size - 2)[0] == ~(size - 3)


def test_sorts_nest_deeply() -> None:
    size = 20_000
    text = b"1 sort bitvec 1\n" + b"".join(
        b"%d sort array 1 %d\n" % (n, n - 1) for n in range(2, size)
    )
    dag = read(text)
    assert len(dag.sorts) == size - 1
    assert repr(dag) == "<Dag btor2: 19999 lines, 19999 sorts>"
    assert dag.sorts[0] == BitVec(1)
