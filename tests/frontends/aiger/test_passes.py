"""What the passes do to circuits: values are compared by the names of inputs and properties."""

import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reducekit.frontends.aiger import passes
from reducekit.frontends.aiger.circuit import KINDS, Circuit, Latch, folded
from reducekit.frontends.aiger.convert import converted
from reducekit.frontends.aiger.files import View, read, write
from reducekit.frontends.aiger.generate import is_old, joined, random_circuit, seed_of
from reducekit.search.problem import NOTHING, Items, Selection
from tests.frontends.aiger.simulation import steps

STEPS, RUNS = 4, 64
Said = Mapping[bytes, list[tuple[int, ...]]]


def named(seed: int, *, binary: bool) -> Circuit:
    """Return a random circuit in which all that can have a name has one of its own."""
    rng = random.Random(seed)
    one, two = (
        random_circuit(rng, 15, rng.randint(0, 2), binary=binary, old=False) for _ in range(2)
    )
    circuit = joined(one, two, shared=rng.random() < 0.5)  # several properties of each kind
    counts = {"i": circuit.inputs, "l": len(circuit.latches)}
    counts |= {kind: len(circuit.of_kind(kind)) for kind in KINDS[2:]}
    symbols = {
        (kind, at): b"%s-%d" % (kind.encode(), at) for kind, n in counts.items() for at in range(n)
    }
    return replace(circuit, symbols=symbols)


def said(circuit: Circuit, seed: int, same: Mapping[bytes, int | bytes] | None = None) -> Said:
    """Return the values of each property by its name, of inputs and latches drawn by their names.

    `same` says which inputs have a constant value, or that of another one.
    """

    def drawn(name: bytes, step: int) -> int:
        known = (same or {}).get(name, name)
        if isinstance(known, int):
            return known * ((1 << RUNS) - 1)
        return random.Random(f"{seed} {known!r} {step}").getrandbits(RUNS)

    symbols = circuit.symbols
    found = steps(
        circuit,
        lambda step, at: drawn(symbols["i", at], step),
        RUNS,
        lambda at: drawn(symbols["l", at], 0),
    )
    values: dict[bytes, list[tuple[int, ...]]] = {}
    for value in islice(found, STEPS):
        for kind in KINDS[2:]:
            for at, several in enumerate(circuit.of_kind(kind)):
                literals = several if isinstance(several, tuple) else (several,)
                values.setdefault(symbols[kind, at], []).append(tuple(map(value, literals)))
    return values


def items_of(name: str, circuit: Circuit) -> tuple[View, Items | None]:
    """Return a circuit as a file, and what a pass offers in it."""
    view = View(write(circuit))
    found = getattr(passes, name).problem(view)
    assert found is None or isinstance(found, Items)
    return view, found


def after(view: View, items: Items, chosen: Selection) -> Circuit:
    """Return the circuit after a change."""
    change = items.change(chosen, NOTHING)
    return read(view.document.render({edit.node: edit.template for edit in change.edits}))


def drawn(seed: int, items: Items) -> frozenset[int]:
    dice = random.Random(seed)
    return frozenset(at for at in range(len(items.weights)) if dice.random() < 0.5)


SEEDS = st.integers(0, 10**6)


@given(SEEDS, st.booleans())
@settings(max_examples=80, deadline=None)
def test_properties_that_stay_have_their_values_and_names(seed: int, binary: bool) -> None:
    view, items = items_of("properties", named(seed, binary=binary))
    assert items is not None
    chosen = drawn(seed, items)
    before = said(view.circuit, seed)
    left = said(after(view, items, chosen), seed)
    assert len(left) == len(before) - len(chosen)
    assert left == {name: before[name] for name in left}


@pytest.mark.parametrize("name", ["false_inputs", "true_inputs", "merges"])
@given(SEEDS)
@settings(max_examples=80, deadline=None)
def test_inputs_that_stay_keep_their_names_and_the_others_their_value(name: str, seed: int) -> None:
    view, items = items_of(name, named(seed, binary=bool(seed & 1)))
    if items is None:
        return
    chosen = drawn(seed, items)
    names = [view.circuit.symbols["i", at] for at in range(view.circuit.inputs)]
    same: dict[bytes, int | bytes] = {}
    for at in sorted(chosen):
        if name == "merges":
            same[names[at + 1]] = same.get(names[at], names[at])
        else:
            same[names[at]] = int(name == "true_inputs")
    changed = after(view, items, chosen)
    assert changed.inputs == view.circuit.inputs - len(chosen)
    assert said(changed, seed) == said(view.circuit, seed, same)


@pytest.mark.parametrize("name", ["latches", "other_latches"])
@given(SEEDS)
@settings(max_examples=60, deadline=None)
def test_latches_that_stay_keep_their_names_and_the_others_are_constant(
    name: str, seed: int
) -> None:
    """As constant as those that begin with the value and never change."""
    view, items = items_of(name, named(seed, binary=False))
    if items is None:
        return
    chosen = drawn(seed, items)
    states = list(view.circuit.latches)
    for at in chosen:
        value = (states[at].reset or 0) ^ (name == "other_latches")
        states[at] = Latch(value, value)
    changed = after(view, items, chosen)
    assert len(changed.latches) == len(states) - len(chosen)
    assert said(changed, seed) == said(replace(view.circuit, latches=states), seed)


@given(SEEDS)
@settings(max_examples=80, deadline=None)
def test_latches_become_inputs_without_a_name(seed: int) -> None:
    view, items = items_of("free_latches", named(seed, binary=False))
    if items is None:
        return
    chosen = drawn(seed, items)
    changed = after(view, items, chosen)
    kept = [f"l-{at}".encode() for at in range(len(view.circuit.latches)) if at not in chosen]
    assert changed.inputs == view.circuit.inputs + len(chosen)
    assert [changed.symbols["l", at] for at in range(len(changed.latches))] == kept
    first = {("i", at): b"i-%d" % at for at in range(view.circuit.inputs)}
    assert {key: name for key, name in changed.symbols.items() if key[0] == "i"} == first


def literals(circuit: Circuit) -> list[int]:
    return [
        *circuit.left, *circuit.right, *(each.next for each in circuit.latches), *circuit.roots()
    ]  # fmt: skip


@given(SEEDS)
@settings(max_examples=80, deadline=None)
def test_negations_of_the_chosen_variables_go_everywhere(seed: int) -> None:
    circuit = named(seed, binary=False)
    view, items = items_of("negations", circuit)
    assert items is not None
    negated = sorted({each >> 1 for each in literals(circuit) if each & 1 and each > 1})
    assert len(items.weights) == len(negated)
    chosen = drawn(seed, items)
    variables = {negated[at] for at in chosen}
    wanted = [each & ~1 if each >> 1 in variables else each for each in literals(circuit)]
    assert literals(after(view, items, chosen)) == wanted


def test_a_property_loses_its_sign() -> None:
    view, items = items_of("negations", read(b"aag 1 1 0 2 0 0 0 1 1\n2\n3\n2\n1\n3\n3\n"))
    assert items is not None
    assert write(after(view, items, frozenset({0}))).endswith(b"\n2\n2\n2\n1\n2\n2\n")


@pytest.mark.parametrize("name", ["next_states", "resets"])
@given(SEEDS)
@settings(max_examples=60, deadline=None)
def test_only_the_chosen_latches_change(name: str, seed: int) -> None:
    circuit = named(seed, binary=bool(seed & 1))
    view, items = items_of(name, circuit)
    part: Callable[[Latch], int | None] = (
        (lambda latch: latch.next) if name == "next_states" else (lambda latch: latch.reset)
    )
    found = [at for at, latch in enumerate(circuit.latches) if part(latch) != 0]
    assert len(found) == (0 if items is None else len(items.weights))
    if items is None:
        return
    states = list(circuit.latches)
    chosen = drawn(seed, items)
    for item in chosen:
        old = states[found[item]]
        new = Latch(0, old.reset) if name == "next_states" else Latch(old.next, 0)
        states[found[item]] = new
    assert list(after(view, items, chosen).latches) == states


@pytest.mark.parametrize("name", ["left_operands", "right_operands", "false_gates", "true_gates"])
@given(SEEDS)
@settings(max_examples=40, deadline=None)
def test_gates_become_what_the_pass_says(name: str, seed: int) -> None:
    """A gate with this operand twice, or with a constant, has the same value."""
    circuit = named(seed, binary=False)
    view, items = items_of(name, circuit)
    assert items is not None
    chosen = drawn(seed, items)
    left, right = circuit.left[:], circuit.right[:]
    for gate in chosen:
        if name == "left_operands":
            right[gate] = left[gate]
        elif name == "right_operands":
            left[gate] = right[gate]
        else:
            left[gate] = right[gate] = int(name == "true_gates")
    changed = after(view, items, chosen)
    assert said(changed, seed) == said(replace(circuit, left=left, right=right), seed)
    assert len(changed.left) == len(circuit.left) - len(chosen)


@pytest.mark.parametrize("name", ["left_operands", "false_gates"])
@given(SEEDS)
@settings(max_examples=60, deadline=None)
def test_gates_that_go_along_were_used_by_the_chosen_ones_only(name: str, seed: int) -> None:
    circuit = named(seed, binary=False)
    view, items = items_of(name, circuit)
    assert items is not None
    chosen = drawn(seed, items)
    along = items.close(chosen, NOTHING).orphaned
    assert along.isdisjoint(chosen)
    assert along.isdisjoint(items.close(NOTHING, NOTHING).orphaned)
    alone, all_ = after(view, items, chosen), after(view, items, chosen | along)
    assert said(all_, seed) == said(alone, seed)
    unused = {0, *range(1, alone.variables + 1)} - {each >> 1 for each in literals(alone)}
    assert len(alone.left) - len(all_.left) == len(along)
    assert bool(along) <= bool(unused)


def test_gates_that_nothing_used_before_do_not_go_along() -> None:
    _, items = items_of("left_operands", read(b"aag 4 2 0 1 2\n2\n4\n6\n6 4 2\n8 4 2\n"))
    assert items is not None
    assert items.close(NOTHING, NOTHING).orphaned == set()
    assert items.close(frozenset({0}), NOTHING).orphaned == set()


@pytest.mark.parametrize(
    ("operands", "becomes"),
    [((4, 5), 0), ((4, 0), 0), ((4, 1), 4), ((5, 5), 5), ((1, 0), 0), ((4, 2), None)],
)
def test_which_gates_are_folded(operands: tuple[int, int], becomes: int | None) -> None:
    text = b"aag 3 2 0 1 1\n2\n4\n6\n6 %d %d\n" % operands
    assert folded(read(text)) == ({} if becomes is None else {3: becomes})


def test_a_header_that_allows_more_variables_is_lowered() -> None:
    view, items = items_of("numbers", read(b"aag 5 1 0 1 0\n2\n2\n"))
    assert items is not None
    assert write(after(view, items, frozenset({0}))) == b"aag 1 1 0 1 0\n2\n2\n"
    assert items_of("numbers", read(b"aag 1 1 0 1 0\n2\n2\n"))[1] is None


@pytest.mark.parametrize("reset", [b"1", b"2"])
def test_a_latch_with_a_reset_needs_aiger_1_9(reset: bytes) -> None:
    """An old reader takes the reset for an error."""
    text = b"aag 1 0 1 1 0\n2 3 %s\n2\n" % reset
    assert not is_old(read(text))
    assert seed_of(text, old=True) is None
    assert seed_of(text) is not None
    assert is_old(read(b"aag 1 0 1 1 0\n2 3 0\n2\n"))
    assert write(read(text)) == text
    script = converted(text, None, "btor2").text
    assert (b" init " in script) == (reset == b"1")
