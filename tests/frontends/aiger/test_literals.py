"""Variables that become any other literal, circuits that are alike, and the form of the result."""

import random
from array import array
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reducekit import reduce
from reducekit.errors import ParseError
from reducekit.frontends.aiger.circuit import Circuit, CycleError, canonical, replaced
from reducekit.frontends.aiger.files import read, write
from reducekit.frontends.aiger.generate import random_circuit
from reducekit.frontends.aiger.literals import classes
from tests.frontends.aiger.simulation import steps

SEEDS = st.integers(0, 10**6)


def made(seed: int, *, gates: int = 12) -> Circuit:
    rng = random.Random(seed)
    return random_circuit(rng, gates, rng.randint(0, 4), binary=False, old=False)


def values(circuit: Circuit, roots: list[int]) -> list[list[int]]:
    """Return what literals are in some steps of 64 random runs."""
    found = steps(circuit, lambda step, at: random.Random(f"{step} {at}").getrandbits(64), 64)
    return [[value(root) for root in roots] for value in islice(found, 4)]


def starts_with_0(text: bytes) -> bool:
    """Return whether a checker that starts all latches with 0 says something else."""
    circuit = read(text)
    wrong = replace(circuit, latches=[each._replace(reset=0) for each in circuit.latches])
    return values(circuit, circuit.roots()) != values(wrong, wrong.roots())


@given(SEEDS, st.data())
@settings(max_examples=80, deadline=None)
def test_a_gate_becomes_any_literal_that_does_not_depend_on_it(
    seed: int, data: st.DataObject
) -> None:
    """As if both of its operands were that literal, in a file with gates in any order."""
    circuit = made(seed)
    at = data.draw(st.integers(0, len(circuit.left) - 1))
    gate = circuit.first_gate + at
    literal = data.draw(
        st.integers(0, 2 * circuit.variables + 1).filter(lambda it: it >> 1 != gate)
    )
    left, right = circuit.left[:], circuit.right[:]
    left[at] = right[at] = literal
    names = array("i", range(circuit.variables + 1))
    try:
        wanted = read(write(replace(circuit, left=left, right=right, names=names)))
    except ParseError:  # it depends on itself
        with pytest.raises(CycleError):
            replaced(circuit, {gate: literal})
        return
    found = replaced(circuit, {gate: literal})
    assert len(found.left) == len(circuit.left) - 1
    assert values(found, found.roots()) == values(wanted, wanted.roots())


def test_variables_do_not_become_each_other() -> None:
    circuit = read(b"aag 3 1 2 1 0\n2\n4 2\n6 2\n6\n")
    assert write(replaced(circuit, {2: 6, 3: 3})) == b"aag 1 1 0 1 0\n2\n3\n"
    with pytest.raises(CycleError):
        replaced(circuit, {2: 6, 3: 4})


def test_a_latch_becomes_another_one() -> None:
    """One latch of reset 1 is enough to show the fault."""
    chain = b"aag 3 0 3 1 0\n2 6\n4 0 1\n6 4\n2\n"
    assert (
        reduce(chain, interesting=starts_with_0, format="aiger").text
        == b"aag 1 0 1 1 0\n2 0 1\n2\n"
    )


def test_many_latches_go_together() -> None:
    delays = b"".join(b"%d %d\n" % (each, each + 2) for each in range(2, 122, 2))
    text = b"aag 61 0 61 1 0\n%s122 0 1\n2\n" % delays

    def needed(text: bytes) -> bool:
        circuit = read(text)
        reached = circuit.reached()
        return any(
            each.reset and reached[at]
            for at, each in enumerate(circuit.latches, circuit.first_latch)
        )

    report = reduce(text, interesting=needed, format="aiger", only=["delays"])
    assert report.after["latches"] == 1
    assert report.counts.checks < 30


@given(SEEDS)
@settings(max_examples=40, deadline=None)
def test_equal_variables_are_of_one_class(seed: int) -> None:
    """Each gate again with its operands exchanged, then its negation; inputs differ."""
    circuit = made(seed)
    first, count = circuit.first_gate, len(circuit.left)
    negated = array("i", range(2 * first + 1, 2 * (first + count) + 1, 2))
    more = replace(
        circuit,
        left=circuit.left + circuit.right + negated,
        right=circuit.right + circuit.left + negated,
    )
    found = classes(more)
    once, again, opposite = (
        found[first + count * at : first + count * (at + 1)] for at in range(3)
    )
    assert once == again == [(key, 1 - sign) for key, sign in opposite]
    assert len({key for key, _ in found[1 : circuit.first_latch]}) == circuit.inputs


@given(SEEDS)
@settings(max_examples=60, deadline=None)
def test_circuits_are_alike_whatever_their_numbers(seed: int) -> None:
    circuit = made(seed)
    dice = random.Random(seed)
    names = [0, *dice.sample(range(1, 2 * circuit.variables + 1), circuit.variables)]
    lines = write(replace(circuit, names=array("i", names), top=0)).split(b"\n")
    begin = len(lines) - 1 - len(circuit.left)
    gates = lines[begin:-1]
    dice.shuffle(gates)
    again = read(b"\n".join([*lines[:begin], *gates, b""]))
    assert canonical(again) == canonical(circuit)
    literal = circuit.bads[0]
    other = replace(circuit, bads=[literal ^ 1, *circuit.bads[1:]])
    assert canonical(other) != canonical(circuit)


@pytest.mark.parametrize("suffix", [".aag", ".aig"])
def test_the_suffix_of_the_output_is_its_form(suffix: str, tmp_path: Path) -> None:
    source, output = tmp_path / "in.aig", tmp_path / f"out{suffix}"
    source.write_bytes(write(replace(made(3), binary=True)))
    (tmp_path / "test").write_text('#!/bin/sh\nexec grep -q "^a.g" "$1"\n')
    (tmp_path / "test").chmod(0o755)
    for _ in range(2):  # the second run resumes the first
        reduce(source, oracle=[str(tmp_path / "test")], output=output)
        assert output.read_bytes().startswith(suffix[1:].encode())
    assert sorted(each.name for each in tmp_path.glob("out*")) == [
        output.name, f"{output.name}.journal"
    ]  # fmt: skip


def test_a_result_that_only_fails_in_the_other_form_keeps_it(tmp_path: Path) -> None:
    source, output = tmp_path / "in.aig", tmp_path / "out.aag"
    source.write_bytes(write(replace(made(3), binary=True)))
    (tmp_path / "test").write_text('#!/bin/sh\nexec grep -q "^aig" "$1"\n')
    (tmp_path / "test").chmod(0o755)
    reduce(source, oracle=[str(tmp_path / "test")], output=output)
    assert output.read_bytes().startswith(b"aig")
