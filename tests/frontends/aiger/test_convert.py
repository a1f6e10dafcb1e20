"""Circuits to BTOR2, which keeps each gate, and from BTOR2, bit by bit."""

import random
import subprocess
import sys
from itertools import islice
from pathlib import Path

import pytest

from reducekit.errors import UsageError
from reducekit.frontends.aiger.circuit import Circuit
from reducekit.frontends.aiger.convert import to_btor2
from reducekit.frontends.aiger.files import read
from reducekit.frontends.aiger.generate import random_circuit
from reducekit.frontends.btor.convert.to_aiger import aiger_of, blasted
from reducekit.frontends.btor.generate.generator import Parameters, generate_text
from reducekit.frontends.btor.model.dag import Builder, Dag
from reducekit.frontends.btor.model.evaluate import evaluate
from reducekit.frontends.btor.model.operators import OPERATORS, Dialect, Op
from reducekit.frontends.btor.model.reader import read as read_btor
from tests.frontends.aiger.simulation import steps
from tests.frontends.btor.dags import random_dag

SYSTEM = b"""1 sort bitvec 2
2 input 1 in
3 zero 1
4 one 1
5 state 1 counts
6 init 1 5 3
7 not 1 5
8 state 1 copies
9 init 1 8 7
10 state 1 free
11 state 1 pulse
12 init 1 11 4
13 add 1 5 2
14 next 1 5 13
15 next 1 8 5
16 state 1 any
17 next 1 16 16
18 output 5 now
19 output 8
20 output 11
21 output 10
22 output 16
"""


def with_outputs(dag: Dag) -> Dag:
    """Return a graph with an output for each of its lines."""
    builder = Builder(Dialect.BTOR2, dag.sorts)
    for line, code in enumerate(dag.op):
        numbers, literal = dag.numbers.get(line, ()), dag.literals.get(line, b"")
        builder.add(code, dag.sort[line], dag.arguments(line), numbers, literal)
    for line in range(len(dag)):
        builder.add(Op.OUTPUT, -1, (line,))
    return builder.dag()


def agrees(dag: Dag, chance: random.Random) -> None:
    """Compare the outputs of a circuit with the values of the lines, for eight assignments."""
    circuit = blasted(with_outputs(dag))
    inputs = list(dag.lines_of(Op.INPUT))
    assignments = [{each: chance.getrandbits(dag.width(each)) for each in inputs} for _ in range(8)]
    bits = [(line, at) for line in inputs for at in range(dag.width(line))]

    def pattern(step: int, at: int) -> int:
        line, bit = bits[at]
        return sum((given[line] >> bit & 1) << n for n, given in enumerate(assignments))

    value = next(steps(circuit, pattern, 8))
    outputs = [value(each) for each in circuit.outputs]
    for n, given in enumerate(assignments):
        at = 0
        for line, expected in enumerate(evaluate(dag, given)):
            width = dag.width(line)
            found = sum((outputs[at + bit] >> n & 1) << bit for bit in range(width))
            at += width
            assert found == expected, (Op(dag.op[line]).name, width)


@pytest.mark.parametrize("width", [1, 2, 3, 4, 5, 8])
def test_every_operator_means_the_same(width: int) -> None:
    chance = random.Random(width)
    builder = Builder(Dialect.BTOR2)
    sort, bit = builder.table.bitvec(width), builder.table.bitvec(1)
    one, other = builder.add(Op.INPUT, sort), builder.add(Op.INPUT, sort)
    flag = builder.add(Op.INPUT, bit)
    done = set()
    for row in OPERATORS:
        if Dialect.BTOR2 not in row.dialects or row.literal or "I:E" in row.operands:
            continue
        shape = (row.operands, row.result)
        if shape in ((("n", "n"), "n"), (("n", "n"), "1"), (("S", "S"), "1")):
            pairs = ((one, other), (one, one), (~one, other))
            for pair in pairs:
                builder.add(row.code, bit if row.result == "1" else sort, pair)
        elif shape == (("1", "1"), "1"):
            builder.add(row.code, bit, (flag, ~flag))
        elif shape in ((("n",), "n"), (("n",), "1")):
            builder.add(row.code, bit if row.result == "1" else sort, (other,))
        elif row.numbers == ("k",):
            for added in (0, 1, 3):
                builder.add(row.code, builder.table.bitvec(width + added), (one,), (added,))
        elif row.code == Op.SLICE:
            builder.add(Op.SLICE, builder.table.bitvec(width // 2 + 1), (one,), (width // 2, 0))
        elif row.code == Op.CONCAT:
            builder.add(Op.CONCAT, builder.table.bitvec(2 * width), (one, ~other))
        elif row.code == Op.ITE:
            builder.add(Op.ITE, sort, (flag, one, other))
        else:
            assert row.result == "-" or row.operands == (), row.name
            continue
        done.add(row.code)
    assert len(done) == 50
    for _ in range(12):
        agrees(builder.dag(), chance)


def test_random_graphs_mean_the_same() -> None:
    for seed in range(25):
        agrees(random_dag(seed, Dialect.BTOR2, arrays=False), random.Random(seed))


def test_states_begin_and_go_on_as_in_btor2() -> None:
    circuit = blasted(read_btor(SYSTEM))
    # Only `counts` has a constant first value: the first step tells that of `copies`, too.
    assert len(circuit.latches) == 2 + 2 + 2 + 1
    assert [each.reset for each in circuit.latches] == [0, 0, 0, 0, None, None, 0]
    assert circuit.symbols["i", 0] == b"in[0]"
    assert circuit.symbols["o", 1] == b"now[1]"
    given = {0: 3, 1: 1, 2: 2}
    free = {0: 2, 1: 0, 2: 1}
    pulse = {0: 3, 1: 2, 2: 0}

    def inputs(step: int, at: int) -> int:
        return (given, free, pulse)[at // 2][step] >> at % 2 & 1

    seen = []
    for value in islice(steps(circuit, inputs, first=lambda latch: latch % 2), 3):
        bits = [value(each) for each in circuit.outputs]
        seen.append([bits[at] + 2 * bits[at + 1] for at in range(0, 10, 2)])
    # counts, copies, pulse, free, any
    assert seen == [[0, 3, 1, 2, 2], [3, 0, 2, 0, 2], [0, 3, 0, 1, 2]]


def said(text: bytes, folder: Path) -> str:
    """Return what BtorMC says of a file: whether a bad state is reached in three steps."""
    path = folder / "in.btor2"
    path.write_bytes(text)
    command = [sys.executable, "-m", "tests.frontends.btor.btormc", str(path), "3"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.split()[0]


def test_a_model_checker_says_the_same_of_a_system_and_its_circuit(tmp_path: Path) -> None:
    answers = set()
    for seed in range(8):
        text = generate_text(
            Parameters(seed, Dialect.BTOR2, nodes=40, no_arrays=True, system=True, registers=3)
        )
        made = aiger_of(read_btor(text), ("aag", "aig")[seed % 2]).text
        back = to_btor2(read(made)).text
        assert said(back, tmp_path) == said(text, tmp_path)
        answers.add(said(text, tmp_path))
    assert answers == {"sat", "unsat"}


def test_btor2_keeps_every_gate_and_property() -> None:
    for seed in range(20):
        rng = random.Random(seed)
        circuit = random_circuit(rng, 30, 4, binary=False, old=False)
        dag = read_btor(to_btor2(circuit).text)
        assert len(list(dag.lines_of(Op.AND))) == len(circuit.left)
        for code, things in (
            (Op.INPUT, range(circuit.inputs)),
            (Op.STATE, circuit.latches),
            (Op.INIT, [each for each in circuit.latches if each.reset is not None]),
            (Op.BAD, circuit.bads),
            (Op.OUTPUT, circuit.outputs),
            (Op.CONSTRAINT, circuit.constraints),
            (Op.JUSTICE, circuit.justice),
            (Op.FAIR, circuit.fairness),
        ):
            assert len(list(dag.lines_of(code))) == len(things)
        back = blasted(dag)
        runs = [steps(each, lambda step, at: hash((step, at)) % 256, 8) for each in (circuit, back)]
        for one, other in islice(zip(*runs, strict=True), 4):
            assert list(map(one, circuit.roots())) == list(map(other, back.roots()))


def test_what_has_no_counterpart_is_refused_or_said() -> None:
    memory = b"1 sort bitvec 1\n2 sort array 1 1\n3 state 2\n"
    with pytest.raises(UsageError, match=r"AIGER has no arrays \(node 3\)"):
        blasted(read_btor(memory))
    empty = b"aag 0 0 0 0 0 0 0 1\n0\n"
    with pytest.raises(UsageError, match="justice property without literals, as j0 is"):
        to_btor2(read(empty))
    old = to_btor2(read(b"aag 1 1 0 1 0\n2\n3\no0 a b\n"))
    assert old.text == b"1 sort bitvec 1\n2 zero 1\n3 input 1\n4 bad -3 a_b\n"
    assert old.notes == ("outputs became bad states, as model checkers read AIGER 1.0",)
    asserted = aiger_of(
        read_btor(b"1 sort bitvec 1\n2 input 1 x\n3 input 1\n4 constraint 2\n5 constraint -3\n"),
        "aag",
    )
    assert asserted.text == b"aag 3 2 0 1 1\n2\n4\n6\n6 5 2\ni0 x\n"
    assert asserted.notes == ("the assertions became one output, which is 1 if all of them hold",)
    assert isinstance(read(asserted.text), Circuit)
