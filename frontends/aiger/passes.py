"""What may be changed in a circuit.

Variables are replaced everywhere: a gate by a constant, one of its operands or a new input, a latch
by a value that it may start with or a new input, an input by a constant. What is replaced is gone,
and with it the gates that only it used. Properties are dropped. A candidate is the whole file,
written again: in binary files each change moves what follows, and the header counts all.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from reducekit.change import Change, Edit
from reducekit.frontends.aiger.circuit import (
    FREE,
    KINDS,
    Circuit,
    Image,
    Latch,
    folded,
    replaced,
    unused,
    with_roots,
    without_properties,
)
from reducekit.frontends.aiger.files import View, write
from reducekit.passes import pass_
from reducekit.search.problem import (
    NOTHING,
    Closure,
    IndependentChanges,
    IndependentItems,
    Items,
    Selection,
)


def _whole(circuit: Circuit, what: str) -> Change:
    """Return the change of a text into that of a circuit."""
    return Change((Edit(0, (write(circuit),)),), what)


class _Changed(IndependentItems):
    """Parts of a circuit as items; `change_all` makes the circuit in which some are changed."""

    free = 0

    def __init__(
        self, count: int, change_all: Callable[[Iterable[int]], Circuit], what: str
    ) -> None:
        self.weights: Sequence[int] = b"\1" * count
        self._change_all, self._what = change_all, what

    def change(self, chosen: Selection, taken: Selection) -> Change:
        return _whole(self._change_all(sorted({*chosen, *taken})), self._what)


class _Replaced(Items):
    """Variables as items, a range of them: `becomes` says what each turns into."""

    free = 0

    def __init__(
        self, circuit: Circuit, variables: range, becomes: Callable[[int], int], what: str
    ) -> None:
        self.circuit, self.variables, self.what = circuit, variables, what
        self.weights: Sequence[int] = b"\1" * len(variables)
        self._becomes = becomes
        self._unused = frozenset(unused(circuit, {}))

    def close(self, chosen: Selection, taken: Selection) -> Closure:
        """Gates that nothing uses any more have lost their purpose."""
        begin = self.variables.start
        if self.variables.stop <= self.circuit.first_gate:
            return Closure(NOTHING, NOTHING)
        left = unused(self.circuit, self._image({*chosen, *taken}))
        return Closure(NOTHING, {each - begin for each in left if each not in self._unused})

    def change(self, chosen: Selection, taken: Selection) -> Change:
        return _whole(replaced(self.circuit, self._image({*chosen, *taken})), self.what)

    def _image(self, items: Iterable[int]) -> Image:
        variables, becomes = self.variables, self._becomes
        return {variables[item]: becomes(variables[item]) for item in items}


def _gates(view: View, becomes: Callable[[int], int], what: str) -> Items:
    circuit = view.circuit
    return _Replaced(
        circuit, range(circuit.first_gate, circuit.variables + 1), becomes, f"gates by {what}"
    )


def _has_gates(view: View) -> bool:
    return bool(view.circuit.left)


def _has_latches(view: View) -> bool:
    return bool(view.circuit.latches)


@pass_("properties", lambda view: view.circuit.properties > 0)
def properties(view: View) -> Items:
    """Drops outputs, bad states, constraints, justice and fairness properties."""
    circuit = view.circuit
    every = [(kind, at) for kind in KINDS[2:] for at in range(len(circuit.of_kind(kind)))]
    return _Changed(
        len(every),
        lambda items: without_properties(circuit, map(every.__getitem__, items)),
        "drop properties",
    )


@pass_("justice", lambda view: any(len(each) > 1 for each in view.circuit.justice))
def justice(view: View) -> Items:
    """Drops literals of justice properties."""
    circuit = view.circuit
    places = [(at, n) for at, each in enumerate(circuit.justice) for n in range(len(each))]

    def without(items: Iterable[int]) -> Circuit:
        gone = set(map(places.__getitem__, items))
        left = [
            tuple(literal for n, literal in enumerate(each) if (at, n) not in gone)
            for at, each in enumerate(circuit.justice)
        ]
        return replace(circuit, justice=left)

    return _Changed(len(places), without, "drop literals")


@pass_("unused")
def unreached(view: View) -> Items | None:
    """Drops inputs, latches and gates that no property depends on."""
    circuit = view.circuit
    reached = circuit.reached()
    found = [each for each in range(1, circuit.variables + 1) if not reached[each]]
    if not found:
        return None
    return _Changed(
        len(found),
        lambda items: replaced(circuit, dict.fromkeys(map(found.__getitem__, items), 0)),
        "drop what is unused",
    )


@pass_("false gates", _has_gates)
def false_gates(view: View) -> Items:
    """Replaces gates by false."""
    return _gates(view, lambda gate: 0, "false")


@pass_("true gates", _has_gates)
def true_gates(view: View) -> Items:
    """Replaces gates by true."""
    return _gates(view, lambda gate: 1, "true")


@pass_("left operands", _has_gates)
def left_operands(view: View) -> Items:
    """Replaces gates by their first operand."""
    left, first = view.circuit.left, view.circuit.first_gate
    return _gates(view, lambda gate: left[gate - first], "an operand")


@pass_("right operands", _has_gates)
def right_operands(view: View) -> Items:
    """Replaces gates by their second operand."""
    right, first = view.circuit.right, view.circuit.first_gate
    return _gates(view, lambda gate: right[gate - first], "an operand")


@pass_("gates to inputs", _has_gates)
def free_gates(view: View) -> Items:
    """Replaces gates by new inputs."""
    return _gates(view, lambda gate: FREE, "inputs")


def _latches(view: View, becomes: Callable[[Latch], int], what: str) -> Items:
    circuit = view.circuit
    first = circuit.first_latch
    return _Replaced(
        circuit,
        range(first, circuit.first_gate),
        lambda variable: becomes(circuit.latches[variable - first]),
        what,
    )


@pass_("latches", _has_latches)
def latches(view: View) -> Items:
    """Replaces latches by the value that they start with."""
    return _latches(view, lambda latch: latch.reset or 0, "latches by constants")


@pass_("other latches", _has_latches)
def other_latches(view: View) -> Items:
    """Replaces latches by the other constant."""
    return _latches(view, lambda latch: 1 - (latch.reset or 0), "latches by constants")


@pass_("latches to inputs", _has_latches)
def free_latches(view: View) -> Items:
    """Replaces latches by new inputs."""
    return _latches(view, lambda latch: FREE, "latches by inputs")


def _inputs(view: View, becomes: Callable[[int], int], what: str) -> Items:
    circuit = view.circuit
    return _Replaced(circuit, range(1, circuit.inputs + 1), becomes, what)


@pass_("false inputs", lambda view: view.circuit.inputs > 0)
def false_inputs(view: View) -> Items:
    """Replaces inputs by false."""
    return _inputs(view, lambda variable: 0, "inputs by false")


@pass_("true inputs", lambda view: view.circuit.inputs > 0)
def true_inputs(view: View) -> Items:
    """Replaces inputs by true."""
    return _inputs(view, lambda variable: 1, "inputs by true")


@pass_("merges", lambda view: view.circuit.inputs > 1)
def merges(view: View) -> Items:
    """Replaces inputs by the one before that stays."""
    circuit = view.circuit
    return _Replaced(
        circuit,
        range(2, circuit.inputs + 1),
        lambda variable: 2 * variable - 2,
        "merge inputs",
    )


@pass_("folding", _has_gates)
def folding(view: View) -> Items | None:
    """Replaces all gates that are constant, or equal to an operand: one item."""
    image = folded(view.circuit)
    if not image:
        return None
    return IndependentChanges([_whole(replaced(view.circuit, image), "fold gates")])


@pass_("next states", _has_latches)
def next_states(view: View) -> Items | None:
    """Makes next states of latches false."""
    circuit = view.circuit
    found = [at for at, each in enumerate(circuit.latches) if each.next]

    def cut(items: Iterable[int]) -> Circuit:
        changed = list(circuit.latches)
        for item in items:
            changed[found[item]] = Latch(0, changed[found[item]].reset)
        return replace(circuit, latches=changed)

    return _Changed(len(found), cut, "next states by false") if found else None


@pass_("resets", _has_latches)
def resets(view: View) -> Items | None:
    """Lets latches start with 0."""
    circuit = view.circuit
    found = [at for at, each in enumerate(circuit.latches) if each.reset != 0]

    def zero(items: Iterable[int]) -> Circuit:
        changed = list(circuit.latches)
        for item in items:
            changed[found[item]] = Latch(changed[found[item]].next, 0)
        return replace(circuit, latches=changed)

    return _Changed(len(found), zero, "resets") if found else None


@pass_("negations")
def negations(view: View) -> Items | None:
    """Removes the negations of a variable everywhere."""
    circuit = view.circuit
    used = {each >> 1 for each in circuit.left if each & 1}
    used |= {each >> 1 for each in circuit.right if each & 1}
    used |= {each >> 1 for each in circuit.roots() if each & 1}
    used |= {each.next >> 1 for each in circuit.latches if each.next & 1}
    found = sorted(used - {0})

    def positive(items: Iterable[int]) -> Circuit:
        chosen = {found[item] for item in items}

        def moved(literal: int) -> int:
            return literal & ~1 if literal >> 1 in chosen else literal

        changed = replace(
            circuit,
            latches=[Latch(moved(each.next), each.reset) for each in circuit.latches],
            left=array("i", map(moved, circuit.left)),
            right=array("i", map(moved, circuit.right)),
        )
        return with_roots(changed, moved)

    return _Changed(len(found), positive, "remove negations") if found else None


@pass_("symbols", lambda view: bool(view.circuit.symbols))
def symbols(view: View) -> Items:
    """Drops symbols."""
    circuit = view.circuit
    found = sorted(circuit.symbols)

    def without(items: Iterable[int]) -> Circuit:
        gone = {found[item] for item in items}
        left = {key: name for key, name in circuit.symbols.items() if key not in gone}
        return replace(circuit, symbols=left)

    return _Changed(len(found), without, "drop symbols")


@pass_("comments", lambda view: view.circuit.comment is not None)
def comments(view: View) -> Items:
    """Drops lines of the comment at the end."""
    circuit = view.circuit
    lines = (circuit.comment or b"").splitlines(keepends=True)

    def without(items: Iterable[int]) -> Circuit:
        gone = set(items)
        left = [line for at, line in enumerate(lines) if at not in gone]
        return replace(circuit, comment=b"".join(left) if left else None)

    return _Changed(max(len(lines), 1), without, "drop comments")


@pass_("numbers", lambda view: not view.circuit.binary)
def numbers(view: View) -> Items | None:
    """Numbers variables as binary files do, without gaps: one item."""
    circuit = view.circuit
    if circuit.names is None and circuit.top <= circuit.variables:
        return None
    return IndependentChanges([_whole(replace(circuit, names=None, top=0), "number variables")])
