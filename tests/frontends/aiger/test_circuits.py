"""Circuits with symbols, in any order; replaced, folded, reduced. Yosys and ABC say the same."""

import random
import subprocess
from array import array
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reducekit
from reducekit.frontends.aiger import Aiger
from reducekit.frontends.aiger.circuit import FREE, Circuit, Latch, folded, replaced
from reducekit.frontends.aiger.convert import depth, in_form
from reducekit.frontends.aiger.drawing import diagram
from reducekit.frontends.aiger.files import read, write
from reducekit.frontends.aiger.generate import CLOSURES, GENERATION, random_circuit
from tests.frontends.aiger.simulation import run, steps

# Two latches that count, named; all kinds of properties; gates in no order; a gap in the numbers.
EVERYTHING = b"""aag 12 1 2 1 3 1 1 2 1
2
4 5
6 9 6
10
10
3
2
1
6
4
7
2
10 8 20
20 2 7
8 21 5
i0 go
l1 high bit
j1 twice
c
a comment
of two lines"""


def made(seed: int, *, binary: bool = False, old: bool = False, gates: int = 40) -> Circuit:
    rng = random.Random(seed)
    circuit = random_circuit(rng, gates, rng.randint(0, 6), binary=binary, old=old)
    kinds = [("i", circuit.inputs), ("l", len(circuit.latches)), ("o", len(circuit.outputs))]
    symbols = {
        (kind, at): b"%s%d x" % (kind.encode(), at)
        for kind, many in kinds
        for at in range(many)
        if at % 2
    }
    return replace(circuit, symbols=symbols, comment=rng.choice([None, b"", b"one\ntwo"]))


@given(st.integers(0, 10**9), st.booleans())
@settings(max_examples=60, deadline=None)
def test_the_page_draws_each_line_as_what_it_is(seed: int, binary: bool) -> None:
    circuit = made(seed, binary=binary)
    text = write(circuit)
    drawn = diagram(circuit, text)
    wanted = [circuit.left, circuit.right]
    found = [node for node in drawn.nodes if node.label.endswith(" and")]
    assert len(found) == len(circuit.left)
    for node, *operands in zip(found, *wanted, strict=True):
        literals = []
        for edge in node.edges:
            number = int(drawn.nodes[edge if edge >= 0 else ~edge].label.split()[0])
            literals.append((number if number > 1 else 0) ^ ((edge < 0) ^ (number == 1)))
        assert literals == operands
        words = text[node.start : node.end].split()
        assert binary or list(map(int, words[1:])) == operands


def test_refusals_are_no_bugs() -> None:
    line = "Reading AIGER files with liveness properties is currently not supported."
    assert Aiger().rejects("Error: Does not work for combinational networks.", well_formed=True)
    assert Aiger().rejects(line, well_formed=True)
    assert not Aiger().rejects("abc: intCore.c:95: Assertion `Saig_ManPiNum(pAig) > 0' failed.",
                               well_formed=True)  # fmt: skip


def test_the_generator_is_as_varied_as_it_says() -> None:
    options = {each.name: each.default for each in GENERATION.options} | {
        "seed": 0,
        "default_seed": 0,
    }
    made = [read(GENERATION.make(options).generate(seed).text) for seed in range(100)]
    latches, gates = (
        sorted(map(len, some))
        for some in ([each.latches for each in made], [each.left for each in made])
    )
    assert 5 <= latches[50] <= 15
    assert gates[50] >= 100
    assert gates[-1] > 1500
    assert 5 <= sum(not each.latches for each in made) <= 20
    roots = {
        closure: read(GENERATION.make({**options, "closure": closure}).generate(7).text)
        for closure in CLOSURES
    }
    assert len({write(each) for each in roots.values()}) == len(CLOSURES)
    assert len(roots["cnf"].left) > 2 * len(roots["and"].left) > 0


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**9), st.booleans(), st.booleans())
def test_what_is_written_is_read_back(seed: int, binary: bool, old: bool) -> None:
    circuit = made(seed, binary=binary, old=old)
    text = write(circuit)
    assert write(read(text)) == text
    assert Aiger().check(text).problems == ()
    other = in_form(read(text), "aag" if binary else "aig")
    assert read(other).binary != binary
    back = in_form(read(other), "aig" if binary else "aag")
    assert run(read(back), 4, seed) == run(read(other), 4, seed) == run(circuit, 4, seed)
    assert read(back).symbols == circuit.symbols
    assert read(back).comment == circuit.comment


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**9))
def test_a_text_file_may_have_gates_in_any_order_and_any_numbers(seed: int) -> None:
    circuit = made(seed)
    rng = random.Random(seed)
    head, *lines = write(circuit).split(b"\n")
    at = len(lines) - 1 if circuit.comment is None else lines.index(b"c")
    gates = [each for each in lines[:at] if each.count(b" ") == 2 and each[:1].isdigit()]
    gates = gates[-len(circuit.left) :]
    begin = lines.index(gates[0])
    rng.shuffle(gates)
    lines[begin : begin + len(gates)] = gates
    text = b"\n".join([head, *lines])
    assert run(read(text), 4, seed) == run(circuit, 4, seed)
    names = array("i", [0, *rng.sample(range(1, 500), circuit.variables)])
    renamed = write(replace(circuit, names=names))
    assert run(read(renamed), 4, seed) == run(circuit, 4, seed)
    assert write(read(renamed)) == renamed


def test_every_section_is_read() -> None:
    circuit = read(EVERYTHING)
    assert (circuit.inputs, len(circuit.latches), len(circuit.left)) == (1, 2, 3)
    assert [each.reset for each in circuit.latches] == [0, None]
    assert [len(each) for each in circuit.justice] == [2, 1]
    assert circuit.symbols == {("i", 0): b"go", ("l", 1): b"high bit", ("j", 1): b"twice"}
    again = write(circuit)
    assert read(again) == replace(circuit)
    assert again.startswith(EVERYTHING[: EVERYTHING.index(b"\n10 8 20")])
    assert again.endswith(EVERYTHING[EVERYTHING.index(b"i0 go") :])
    found = Aiger().check(EVERYTHING)
    assert found.summary.endswith("3 gates, 2 latches, 1 inputs, 6 properties")


def test_replacing_keeps_the_rest_and_its_symbols() -> None:
    circuit = read(EVERYTHING)
    changed = replaced(circuit, {2: FREE, 4: 0})  # the first latch, the gate 20
    assert (changed.inputs, len(changed.latches), len(changed.left)) == (2, 1, 2)
    assert changed.symbols == {("i", 0): b"go", ("l", 0): b"high bit", ("j", 1): b"twice"}
    lines = write(changed).split(b"\n")
    assert lines[1:4] == [b"2", b"4", b"6 9 6"]
    assert b"8 1 5" in lines
    assert b"10 8 0" in lines


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**9))
def test_folding_keeps_all_values(seed: int) -> None:
    circuit = made(seed)
    first = circuit.first_gate
    constant = {first + at: at % 2 for at in range(0, len(circuit.left), 7)}
    some = replaced(circuit, constant)
    after = replaced(some, folded(some))
    assert run(after, 4, seed) == run(some, 4, seed)
    assert not folded(after)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**9), st.booleans(), st.booleans())
def test_a_reduction_keeps_what_is_looked_for(seed: int, binary: bool, old: bool) -> None:
    text = write(made(seed, binary=binary, old=old, gates=120))

    def interesting(candidate: bytes) -> bool:
        """Return whether something looked for is 1 in step 2 and depends on three gates."""
        circuit = read(candidate)
        literals = circuit.outputs if old else circuit.bads
        value = list(islice(steps(circuit, lambda step, at: (step + at) % 3 // 2), 3))[2]
        reached = circuit.reached()[circuit.first_gate :]
        return any(map(value, literals)) and sum(reached) >= 3

    if not interesting(text):
        return
    result = reducekit.reduce(text, interesting, format="aiger").text
    assert interesting(result)
    circuit = read(result)
    assert circuit.binary == binary
    assert len(circuit.left) == 3
    assert circuit.properties in (1, 2)  # one may be 1 while another depends on the gates
    assert len(circuit.symbols) == 0
    assert circuit.variables == read(in_form(circuit, "aig")).variables


def test_a_long_chain_is_no_recursion() -> None:
    length = 200_000
    left = array("i", range(4, 4 + 2 * length, 2))
    circuit = Circuit(False, 2, [], left, array("i", [2]) * length, bads=[2 * length + 4])
    head, *lines = write(circuit).split(b"\n")
    assert Aiger().order(write(circuit))[0] == length
    upside_down = b"\n".join([head, *lines[:3], *lines[-2:2:-1], b""])
    assert read(upside_down).left == circuit.left
    assert depth(circuit) == sum(circuit.reached()[3:]) == length
    half = {variable: circuit.left[variable - 3] for variable in range(3, 3 + length, 2)}
    assert depth(replaced(circuit, half)) == length // 2


@pytest.mark.debian("yosys", "yosys-abc")
@pytest.mark.parametrize("form", ["aag", "aig"])
def test_yosys_and_abc_read_it_as_the_same_circuit(tmp_path: Path, form: str) -> None:
    to_yosys = f"read_aiger ours.{form}; simplemap; write_aiger "
    runs = [
        (["yosys", "-q", "-p", f"{to_yosys} theirs.aig"], "theirs.aig"),
        (["yosys", "-q", "-p", f"{to_yosys} -ascii theirs.aag"], "theirs.aag"),
        (["yosys-abc", "-q", "read_aiger binary.aig; strash; write_aiger abc.aig"], "abc.aig"),
    ]
    for seed in range(4):
        # Yosys puts what has a symbol after the rest.
        circuit = replace(made(seed, binary=form == "aig", old=True), symbols={})
        (tmp_path / f"ours.{form}").write_bytes(write(circuit))
        (tmp_path / "binary.aig").write_bytes(in_form(circuit, "aig"))
        for command, theirs in runs:
            done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
            assert (done.returncode, done.stderr) == (0, "")
            read_back = read((tmp_path / theirs).read_bytes())
            # Yosys does not say that latches start with 0.
            zero = replace(read_back, latches=[Latch(each.next, 0) for each in read_back.latches])
            assert run(zero, 4, seed) == run(circuit, 4, seed)
