"""A trace as a face draws it: its calls in order, with the states of the API between them."""

from __future__ import annotations

from itertools import accumulate

from reducekit.diagram import Chart, Diagram, Kind, Node, Transition
from reducekit.frontends.trace.language.calls import Trace
from reducekit.frontends.trace.model.chart import targets
from reducekit.frontends.trace.model.definition import Model
from reducekit.frontends.trace.model.machine import Machine
from reducekit.text import shortened

_LABEL = 80  # characters
_CALLS = 3
"""Calls that are named at an arrow of the chart."""
_KINDS: dict[str, Kind] = {"init": "root", "release": "root", "solve": "inner", "option": "other"}


def diagram(trace: Trace, model: Model) -> Diagram:
    """Return the calls as a timeline; of one that breaks the contract, why."""
    machine = Machine(model)
    nodes: list[Node] = []
    states: list[list[int]] = []
    starts = accumulate((len(call.raw) for call in trace.calls), initial=0)
    for call, start in zip(trace.calls, starts, strict=False):
        violation = machine.allowed(call)
        detail = violation.message if violation is not None else ""
        if call.result is not None:
            detail = f"returns {call.result}" + (f"; {detail}" if detail else "")
        machine.after(call)
        known = model.calls.get(call.name)
        kind = _KINDS.get(known.role, "leaf") if known is not None else "other"
        words = " ".join([call.name, *map(str, call.arguments)])
        # Blank lines and comments before a call belong to its bytes, but not to its line.
        blank = len(call.raw) - len(call.raw.lstrip())
        nodes.append(
            Node(
                shortened(words, _LABEL), shortened(detail, 2 * _LABEL), kind,
                start + blank, start + len(call.raw.rstrip()),
            )
        )  # fmt: skip
        states.append([number for number in range(len(model.states)) if machine.mask >> number & 1])
    return Diagram("timeline", nodes, _chart(model), states)


def _chart(model: Model) -> Chart:
    """Return the states and, for each pair that a call leads between, one arrow."""
    labels: dict[tuple[int, int], list[str]] = {}
    for name, call in model.calls.items():
        if call.rejected:
            continue
        for mask, label in targets(model, name):
            for source in range(len(model.states)):
                for target in range(len(model.states)):
                    if call.source >> source & 1 and mask >> target & 1 and source != target:
                        labels.setdefault((source, target), []).append(label)
    return Chart(
        list(model.states),
        [
            Transition(source, target, ", ".join(found[:_CALLS]) + ("…" if found[_CALLS:] else ""))
            for (source, target), found in labels.items()
        ],
    )
