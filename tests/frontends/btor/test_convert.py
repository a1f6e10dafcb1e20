"""Conversion keeps the meaning: as the evaluator has it, and as solvers have it."""

import itertools
import random

import pytest

from reducekit.errors import UsageError
from reducekit.frontends.btor.convert.conversion import convert, inline
from reducekit.frontends.btor.convert.to_smtlib import to_smtlib
from reducekit.frontends.btor.model.dag import Builder, Dag
from reducekit.frontends.btor.model.evaluate import Value, evaluate
from reducekit.frontends.btor.model.operators import Dialect, Op
from reducekit.frontends.btor.model.reader import read
from reducekit.frontends.btor.model.writer import canonical
from tests.frontends.btor.dags import copied, fixed, random_assignment, random_dag
from tests.frontends.btor.solving import bitwuzla_reads, bitwuzla_says, boolector_says

WRITTEN = (Dialect.OLD, Dialect.BTOR1, Dialect.FUN, Dialect.BTOR2)


def with_roots(dag: Dag) -> Dag:
    """Return the graph with a root (BTOR2: a bad) on each bit-vector node: all are observed."""
    builder = copied(dag)
    one = builder.table.bitvec(1)
    for line in range(len(dag)):
        width = dag.width(line)
        for bit in range(width):
            node = builder.add(Op.SLICE, one, (line,), (bit, bit))
            if dag.dialect is Dialect.BTOR2:
                builder.add(Op.CONSTRAINT, -1, (node,))
            else:
                builder.add(Op.ROOT, one, (node,))
    return builder.dag()


def observed(dag: Dag, assignment: dict[int, Value]) -> list[Value | None]:
    """Return what the roots are worth; the inputs get the values in their order."""
    inputs = list(dag.lines_of(Op.INPUT, Op.STATE))
    values = evaluate(dag, dict(zip(inputs, assignment.values(), strict=True)))
    return [values[line] for line in dag.lines_of(Op.ROOT, Op.CONSTRAINT)]


@pytest.mark.parametrize("source", [Dialect.OLD, Dialect.BTOR1, Dialect.BTOR2])
@pytest.mark.parametrize("seed", range(8))
def test_every_node_keeps_its_values(source: Dialect, seed: int) -> None:
    dag = with_roots(random_dag(seed, source))
    for target in WRITTEN:
        other = convert(dag, target)
        text = canonical(other)
        again = read(text, target)
        assert canonical(again) == text
        for chance in range(3):
            assignment = random_assignment(dag, chance)
            assert observed(again, assignment) == observed(dag, assignment)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("differ", [False, True])
def test_bitwuzla_agrees_on_btor2_and_smtlib(seed: int, differ: bool) -> None:
    dag = random_dag(seed, Dialect.OLD)
    claim = fixed(dag, random_assignment(dag, seed), differ)
    expected = "unsat" if differ else "sat"
    assert bitwuzla_says(claim) == expected
    assert bitwuzla_says(convert(convert(claim, Dialect.BTOR2), Dialect.BTOR1)) == expected
    assert bitwuzla_reads(to_smtlib(claim), "smt2") == expected


@pytest.mark.debian("boolector")
@pytest.mark.parametrize("source", [Dialect.OLD, Dialect.BTOR2])
@pytest.mark.parametrize("seed", range(4))
def test_boolector_agrees_on_btor1(source: Dialect, seed: int) -> None:
    dag = random_dag(seed, source)
    for differ in (False, True):
        claim = fixed(dag, random_assignment(dag, seed), differ)
        assert boolector_says(convert(claim, Dialect.BTOR1)) == ("unsat" if differ else "sat")


def shifts() -> list[tuple[str, int]]:
    return list(itertools.product(("sll", "srl", "sra", "rol", "ror"), range(1, 10)))


@pytest.mark.parametrize(("name", "width"), shifts())
def test_shifts_by_the_logarithm(name: str, width: int) -> None:
    text = f"1 var {width}\n2 var {width}\n3 {name} {width} 1 2\n4 proxy {width} 3\n"
    dag = read(text.encode(), Dialect.BTOR1)
    old = convert(dag, Dialect.OLD)
    read(canonical(old), Dialect.OLD)
    inputs = list(old.lines_of(Op.INPUT))
    for amount in range(1 << width) if width < 6 else (*range(12), (1 << width) - 1):
        for value in (1, (1 << width) - 1, 1 << (width - 1), 0b10110 % (1 << width)):
            expected = evaluate(dag, {0: value, 1: amount})[2]
            assert evaluate(old, dict(zip(inputs, (value, amount), strict=True)))[-1] == expected


def test_2007_becomes_later_dialects() -> None:
    text = (
        b"1 var 4 a\n2 umul 4 1 1\n3 smul 4 1 2\n4 umod 4 3 1\n"
        b"5 smod 4 4 -1\n6 nego 1 5\n7 root 1 6\n"
    )
    dag = read(text)
    assert dag.dialect is Dialect.BTOR_2007
    assert canonical(convert(dag, Dialect.OLD)) == (
        b"1 var 4 a\n2 mul 4 1 1\n3 mul 4 1 2\n4 urem 4 3 1\n"
        b"5 srem 4 4 -1\n6 nego 1 5\n7 root 1 6\n"
    )
    assert canonical(convert(dag, Dialect.BTOR1)) == (
        b"1 var 4 a\n2 mul 4 1 1\n3 mul 4 1 2\n4 urem 4 3 1\n5 srem 4 4 -1\n"
        b"6 const 4 1000\n7 eq 1 5 6\n8 root 1 7\n"
    )
    with pytest.raises(UsageError, match="read only"):
        convert(dag, Dialect.BTOR_2007)


def test_old_and_new_words_for_arrays() -> None:
    old = (
        b"1 array 4 2\n2 var 2\n3 var 4\n4 var 1\n"
        b"5 write 4 1 2 3\n6 cond 4 4 1 5\n7 eq 1 1 6\n8 root 1 7\n"
    )
    new = (
        b"1 array 4 2\n2 var 2\n3 var 4\n4 var 1\n"
        b"5 write 4 2 1 2 3\n6 acond 4 2 4 1 5\n7 eq 1 1 6\n8 root 1 7\n"
    )
    assert canonical(convert(read(old), Dialect.BTOR1)) == new
    assert canonical(convert(read(new), Dialect.OLD)) == old
    assert canonical(convert(read(new), Dialect.BTOR2)).count(b" ite ") == 1


def test_registers_start_at_zero() -> None:
    one = (
        b"1 var 2 c\n2 array 2 1 m\n3 inc 2 1\n4 next 2 1 3\n"
        b"5 anext 2 1 2 2\n6 redand 1 1\n7 root 1 6\n8 root 2 1\n"
    )
    two = (
        b"1 sort bitvec 2\n2 zero 1\n3 state 1 c\n4 init 1 3 2\n5 sort bitvec 1\n6 sort array 5 1\n"
        b"7 state 6 m\n8 inc 1 3\n9 next 1 3 8\n10 next 6 7 7\n11 redand 5 3\n12 redor 5 3\n"
        b"13 and 5 11 12\n14 bad 13\n"
    )
    assert canonical(convert(read(one), Dialect.BTOR2)) == two
    assert canonical(convert(read(two), Dialect.BTOR1)) == (
        b"1 zero 2\n2 var 2 c\n3 array 2 1 m\n4 inc 2 2\n5 next 2 2 4\n6 anext 2 1 3 3\n"
        b"7 redand 1 2\n8 redor 1 2\n9 and 1 7 8\n10 root 1 9\n"
    )
    with pytest.raises(UsageError, match=r"btor1\+fun has no next"):
        convert(read(one), Dialect.FUN)


def run(dag: Dag, steps: int, seed: int) -> list[int]:
    """Return whether the roots (all of them) or a bad hold, step by step, for random inputs."""
    chance = random.Random(seed)
    state: dict[int, Value] = {}
    nexts = {dag.arguments(line)[0]: line for line in dag.lines_of(Op.NEXT)}
    inits = {dag.arguments(line)[0]: line for line in dag.lines_of(Op.INIT)}
    inputs = [line for line in dag.lines_of(Op.INPUT) if line not in nexts]
    first = evaluate(dag, {})
    for register, line in inits.items():
        value = first[line]
        assert value is not None
        state[register] = value
    reached = []
    for _ in range(steps):
        given: dict[int, Value] = {each: chance.getrandbits(dag.width(each)) for each in inputs}
        values = evaluate(dag, {**state, **given})
        roots = [values[line] for line in dag.roots]
        reached.append(int(all(roots) if dag.op[dag.roots[0]] == Op.ROOT else any(roots)))
        for register, line in nexts.items():
            value = values[line]
            assert value is not None
            state[register] = value
    return reached


def test_runs_are_kept() -> None:
    dag = read(
        b"1 var 1 enable\n2 var 1 reset\n3 var 3 count\n4 redand 1 -3\n5 array 3 1 m\n6 inc 3 3\n"
        b"7 cond 3 1 6 3\n8 zero 3\n9 cond 3 2 8 7\n10 next 3 3 9\n11 write 3 1 5 2 6\n"
        b"12 anext 3 1 5 11\n13 read 3 5 -1\n14 root 3 13\n15 ugt 1 3 13\n16 root 1 15\n"
        b"17 root 1 -4\n"
    )
    for seed in range(5):
        expected = run(dag, 40, seed)
        assert 0 < sum(expected) < 40
        two = convert(dag, Dialect.BTOR2)
        assert run(read(canonical(two)), 40, seed) == expected
        assert run(convert(two, Dialect.BTOR1), 40, seed) == expected
        assert run(convert(two, Dialect.OLD), 40, seed) == expected


STATES = "1 sort bitvec 1\n2 sort array 1 1\n3 one 1\n4 zero 1\n5 state 1\n6 state 2\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (STATES + "7 next 1 5 5\n8 fair 5\n", r"nothing like fair \(node 8\)"),
        (STATES + "7 justice 1 5\n", r"nothing like justice \(node 7\)"),
        (STATES + "7 init 1 5 4\n", r"no init where there is no next \(node 7\)"),
        (STATES + "7 init 1 5 4\n8 next 1 5 5\n9 constraint 5\n", r"no constraint .* \(node 9\)"),
        (STATES + "7 next 1 5 5\n", r"registers start at zero \(node 5\)"),
        (STATES + "7 init 1 5 3\n8 next 1 5 5\n", r"registers start at zero \(node 7\)"),
        (STATES + "7 init 2 6 4\n8 next 2 6 6\n", r"state without next .* \(node 5\)"),
        (STATES + "7 init 1 5 -3\n8 next 1 5 5\n9 init 2 6 4\n", r"no init for arrays \(node 9\)"),
        ("1 sort bitvec 1\n2 sort array 1 1\n3 sort array 1 2\n", "no arrays of arrays"),
    ],
)
def test_what_btor1_lacks(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        convert(read(text.encode()), Dialect.BTOR1)


def test_one_bad_is_enough() -> None:
    dag = read(
        b"1 sort bitvec 1\n2 input 1\n3 state 1 s\n4 bad 2\n5 bad -3\n6 constraint 3\n7 output 2\n"
    )
    assert canonical(convert(dag, Dialect.BTOR1)) == (
        b"1 var 1\n2 var 1 s\n3 root 1 2\n4 or 1 1 -2\n5 root 1 4\n"
    )
    assert b"(assert (or (= n3 #b1)" not in to_smtlib(dag)
    assert bitwuzla_reads(to_smtlib(dag), "smt2") == "sat"


def test_what_a_line_may_not_have_goes() -> None:
    """Symbols that stand twice, symbols of arrays in old files, signs, names for operators."""
    dag = read(b"1 sort bitvec 4\n2 input 1 a\n3 state 1 a\n4 constd 1 -1\n5 add 1 2 4 sum\n")
    assert (
        canonical(convert(dag, Dialect.BTOR1))
        == b"1 var 4 a\n2 var 4\n3 const 4 1111\n4 add 4 1 3\n"
    )
    assert canonical(convert(read(b"1 array 4 2 m\n"), Dialect.OLD)) == b"1 array 4 2\n"
    bit = read(b"1 sort bitvec 1\n2 input 1\n3 redxor 1 -2\n4 constraint 3\n")
    assert canonical(convert(bit, Dialect.BTOR1)) == b"1 var 1\n2 root 1 -1\n"
    proxy = read(b"1 var 2\n2 proxy 2 -1\n3 root 2 -2\n")
    assert canonical(convert(proxy, Dialect.BTOR2)) == (
        b"1 sort bitvec 2\n2 input 1\n3 sort bitvec 1\n4 redor 3 2\n5 constraint 4\n"
    )


FUNCTIONS = (
    b"1 param 4\n2 param 4\n3 var 4\n4 sub 4 1 2\n5 lambda 4 4 2 4\n6 apply 4 5 3\n7 add 4 6 1\n"
    b"8 lambda 4 4 1 7\n9 apply 4 8 -3\n10 array 4 4\n11 apply 4 10 9\n12 apply 4 8 11\n"
    b"13 param 4\n14 param 4\n15 udiv 4 14 13\n16 lambda 4 4 13 15\n17 lambda 4 4 14 16\n"
    b"18 apply 4 17 9 12\n19 root 4 -18\n"
)


def test_functions_become_their_bodies() -> None:
    dag = read(FUNCTIONS)
    plain = inline(dag)
    assert read(canonical(plain), Dialect.BTOR1).dialect is Dialect.BTOR1
    assert not list(plain.lines_of(Op.PARAM, Op.LAMBDA, Op.APPLY))
    x = 5
    # f(a) = (a - x) + a, then 18 is f(~x) / f(m[f(~x)]) with m zero everywhere.
    first = (2 * (15 - x) - x) % 16
    second = (2 * 0 - x) % 16
    result = first // second
    values = evaluate(plain, {next(plain.lines_of(Op.INPUT)): x})
    assert values[-1] == int((15 - result) != 0)
    assert values[-2] == result
    assert bitwuzla_says(dag) == "sat"


def test_constant_and_identical_bodies() -> None:
    dag = read(b"1 param 4\n2 zero 3\n3 lambda 3 4 1 -2\n4 var 4\n5 apply 3 3 4\n6 param 4\n"
               b"7 lambda 4 4 6 -6\n8 apply 4 7 -4\n9 root 3 5\n10 root 4 8\n")  # fmt: skip
    assert canonical(inline(dag)) == b"1 zero 3\n2 var 4\n3 root 3 -1\n4 root 4 2\n"


def test_functions_as_arrays_are_refused() -> None:
    dag = read(b"1 param 4\n2 lambda 4 4 1 -1\n3 var 4\n4 write 4 4 2 3 3\n5 read 4 4 3\n")
    with pytest.raises(UsageError, match="node 4 uses a function as an array"):
        convert(dag, Dialect.BTOR2)


def test_functions_that_explode_are_refused() -> None:
    lines = ["1 param 2", "2 add 2 1 1", "3 lambda 2 2 1 2"]
    for level in range(1, 40):
        at = 4 * level
        lines += [
            f"{at} param 2",
            f"{at + 1} apply 2 {at - 1} {at}",
            f"{at + 2} apply 2 {at - 1} {at + 1}",
            f"{at + 3} lambda 2 2 {at} {at + 2}",
        ]
    lines += ["200 var 2", "201 apply 2 159 200"]
    with pytest.raises(UsageError, match="without functions there are more than"):
        inline(read("\n".join([*lines, ""]).encode()), largest=1000)


def test_smtlib_refuses_what_runs() -> None:
    with pytest.raises(UsageError, match="SMT-LIB has nothing like next"):
        to_smtlib(read(b"1 array 1 1\n2 anext 1 1 1 1\n"))


def test_smtlib_names() -> None:
    dag = read(b"1 var 1 a\n2 var 1 n9\n3 var 1 x|y\n4 var 1 a\n5 var 1 \xff\n6 root 1 -1\n")
    script = to_smtlib(dag)
    names = [line.split()[1] for line in script.splitlines() if line.startswith(b"(declare")]
    assert names == [b"|a|", b"n2", b"n3", b"n4", b"n5"]
    assert bitwuzla_reads(script, "smt2") == "sat"


def test_deep_graphs() -> None:
    builder = Builder(Dialect.BTOR1)
    one = builder.table.bitvec(1)
    node = builder.add(Op.INPUT, one)
    for _ in range(20_000):
        node = builder.add(Op.XNOR, one, (node, ~node))
    builder.add(Op.ROOT, one, (node,))
    dag = builder.dag()
    two = convert(dag, Dialect.BTOR2)
    assert len(two) == len(dag)
    assert to_smtlib(dag).count(b"\n") == len(dag) + 3
    assert evaluate(two, {})[-1] in (0, 1)


def test_what_is_millions_of_bits_wide_is_not_written_bit_by_bit() -> None:
    wide = 10_000_000
    lines = [f"1 var {wide}", f"2 ones {wide}", f"3 constd {wide} 5", f"4 sdiv {wide} 1 2"]
    lines += [f"5 udiv {wide} 4 3", "6 umulo 1 5 2", f"7 sdivo 1 1 {3}", "8 root 1 6", "9 root 1 7"]
    text = to_smtlib(read("\n".join(lines).encode() + b"\n"))
    assert len(text) < 2000
    builder = Builder(Dialect.BTOR1)
    builder.constant(wide, 5)
    assert len(canonical(builder.dag())) < 200
    with pytest.raises(UsageError, match="too wide to convert"):
        to_smtlib(read(f"1 var {wide}\n2 redxor 1 1\n3 root 1 2\n".encode()))
