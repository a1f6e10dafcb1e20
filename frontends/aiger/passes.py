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
from itertools import chain

from reducekit.change import Change, Edit
from reducekit.format import FunctionPass, pass_
from reducekit.frontends.aiger.circuit import (
    FREE,
    KINDS,
    Circuit,
    CycleError,
    Image,
    Latch,
    folded,
    mapped,
    replaced,
    unused,
    without_properties,
)
from reducekit.frontends.aiger.files import View, write
from reducekit.frontends.common.items import WholeItems
from reducekit.search.problem import NOTHING, Closure, IndependentChanges, Items, Selection


def _whole(circuit: Circuit, what: str) -> Change:
    """Return the change of a text into that of a circuit."""
    return Change((Edit(0, (write(circuit),)),), what)


def substituted(circuit: Circuit, image: Image, what: str) -> Change:
    """Return the change of a circuit by a replacement; one without edits if that makes a cycle."""
    try:
        return _whole(replaced(circuit, image), what)
    except CycleError:
        return Change(())


class Substituted(WholeItems):
    """Variables as items, each with what it becomes."""

    free = 0

    def __init__(self, circuit: Circuit, pairs: Sequence[tuple[int, int]], what: str) -> None:
        def change(items: Iterable[int]) -> Change:
            return substituted(circuit, dict(map(pairs.__getitem__, items)), what)

        super().__init__(len(pairs), change)


class _Changed(WholeItems):
    """Parts of a circuit as items; `change_all` makes the circuit in which some are changed."""

    free = 0

    def __init__(
        self, count: int, change_all: Callable[[Iterable[int]], Circuit], what: str
    ) -> None:
        super().__init__(count, lambda items: _whole(change_all(items), what))


class _Replaced(Items):
    """Variables as items, a range of them: `becomes` has what each turns into."""

    free = 0

    def __init__(
        self, circuit: Circuit, variables: range, becomes: Sequence[int], what: str
    ) -> None:
        self.circuit, self.variables, self.what = circuit, variables, what
        self.weights: Sequence[int] = b"\1" * len(variables)
        self._becomes = becomes
        self._unused = frozenset(unused(circuit, {}))
        self._taken: tuple[Selection, Image] = NOTHING, {}

    def close(self, chosen: Selection, taken: Selection) -> Closure:
        """Gates that nothing uses any more have lost their purpose."""
        begin = self.variables.start
        if self.variables.stop <= self.circuit.first_gate:
            return Closure(NOTHING, NOTHING)
        left = unused(self.circuit, self._image(chosen, taken))
        return Closure(NOTHING, {each - begin for each in left if each not in self._unused})

    def change(self, chosen: Selection, taken: Selection) -> Change:
        return _whole(replaced(self.circuit, self._image(chosen, taken)), self.what)

    def _image(self, chosen: Selection, taken: Selection) -> Image:
        begin, becomes = self.variables.start, self._becomes
        if taken is not self._taken[0]:  # the same for many candidates, and large
            self._taken = taken, {begin + item: becomes[item] for item in taken}
        return {**self._taken[1], **{begin + item: becomes[item] for item in chosen}}


def _replacing(
    kind: str,
    name: str,
    text: str,
    what: str,
    becomes: Callable[[Circuit, range], Sequence[int]],
    skip: int = 0,
) -> FunctionPass:
    """Return the pass that replaces inputs, latches or gates, all but the first `skip`."""

    def variables(circuit: Circuit) -> range:
        first = {"i": 1, "l": circuit.first_latch, "g": circuit.first_gate}[kind]
        stop = {"i": circuit.first_latch, "l": circuit.first_gate, "g": circuit.variables + 1}[kind]
        return range(first + skip, stop)

    def items(view: View) -> Items:
        which = variables(view.circuit)
        return _Replaced(view.circuit, which, becomes(view.circuit, which), what)

    return FunctionPass(name, text, items, lambda view: len(variables(view.circuit)) > 0)


def _false(circuit: Circuit, which: range) -> Sequence[int]:
    return bytes(len(which))


def _true(circuit: Circuit, which: range) -> Sequence[int]:
    return b"\1" * len(which)


def _free(circuit: Circuit, which: range) -> Sequence[int]:
    return array("i", [FREE]) * len(which)


def _resets(circuit: Circuit, which: range) -> Sequence[int]:
    return bytes(each.reset or 0 for each in circuit.latches)


false_gates = _replacing("g", "false gates", "Replaces gates by false.", "gates by false", _false)
true_gates = _replacing("g", "true gates", "Replaces gates by true.", "gates by true", _true)
left_operands = _replacing(
    "g", "left operands", "Replaces gates by their first operand.", "gates by an operand",
    lambda circuit, _: circuit.left,
)  # fmt: skip
right_operands = _replacing(
    "g", "right operands", "Replaces gates by their second operand.", "gates by an operand",
    lambda circuit, _: circuit.right,
)  # fmt: skip
free_gates = _replacing(
    "g", "gates to inputs", "Replaces gates by new inputs.", "gates by inputs", _free
)
latches = _replacing(
    "l", "latches", "Replaces latches by the value that they start with.", "latches by constants",
    _resets,
)  # fmt: skip
other_latches = _replacing(
    "l", "other latches", "Replaces latches by the other constant.", "latches by constants",
    lambda circuit, which: [1 - each for each in _resets(circuit, which)],
)  # fmt: skip
free_latches = _replacing(
    "l", "latches to inputs", "Replaces latches by new inputs.", "latches by inputs", _free
)
false_inputs = _replacing(
    "i", "false inputs", "Replaces inputs by false.", "inputs by false", _false
)
true_inputs = _replacing("i", "true inputs", "Replaces inputs by true.", "inputs by true", _true)
merges = _replacing(
    "i", "merges", "Replaces inputs by the one before that stays.", "merge inputs",
    lambda _, which: range(2 * which.start - 2, 2 * which.stop - 2, 2), skip=1,
)  # fmt: skip


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
    found = [(each, 0) for each in range(1, circuit.variables + 1) if not reached[each]]
    return Substituted(circuit, found, "drop what is unused") if found else None


@pass_("folding", lambda view: bool(view.circuit.left))
def folding(view: View) -> Items | None:
    """Replaces all gates that are constant, or equal to an operand: one item."""
    image = folded(view.circuit)
    if not image:
        return None
    return IndependentChanges([_whole(replaced(view.circuit, image), "fold gates")])


def _latched(view: View, change: Callable[[Latch], Latch], what: str) -> Items | None:
    """Return the latches that a change makes others, as items."""
    circuit = view.circuit
    found = [at for at, each in enumerate(circuit.latches) if change(each) != each]

    def change_all(items: Iterable[int]) -> Circuit:
        changed = list(circuit.latches)
        for item in items:
            changed[found[item]] = change(changed[found[item]])
        return replace(circuit, latches=changed)

    return _Changed(len(found), change_all, what) if found else None


@pass_("next states")
def next_states(view: View) -> Items | None:
    """Makes next states of latches false."""
    return _latched(view, lambda latch: latch._replace(next=0), "next states by false")


@pass_("resets")
def resets(view: View) -> Items | None:
    """Lets latches start with 0."""
    return _latched(view, lambda latch: latch._replace(reset=0), "resets")


@pass_("negations")
def negations(view: View) -> Items | None:
    """Removes the negations of a variable everywhere."""
    circuit = view.circuit
    states = (each.next for each in circuit.latches)
    literals = chain(circuit.left, circuit.right, circuit.roots(), states)
    found = sorted({each >> 1 for each in literals if each & 1} - {0})

    def positive(items: Iterable[int]) -> Circuit:
        chosen = {found[item] for item in items}

        def moved(literal: int) -> int:
            return literal & ~1 if literal >> 1 in chosen else literal

        return mapped(circuit, moved)

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
