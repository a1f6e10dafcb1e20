"""The order of the passes."""

from __future__ import annotations

from reducekit.frontend import Pass, Schedule
from reducekit.frontends.btor.passes.cuts import Cut, Nodes, References, cone, roots, short_cuts
from reducekit.frontends.btor.passes.line_graph import FRESH, SHARED, ZERO
from reducekit.frontends.btor.passes.merges import (
    Others,
    chains,
    equal_nodes,
    leaves,
    negations,
    nots,
)
from reducekit.frontends.btor.passes.node_removal import NodeRemoval
from reducekit.frontends.btor.passes.spelling import (
    literals,
    next_last,
    ranks,
    simplified,
    spelling,
)
from reducekit.frontends.btor.passes.transition_system import (
    justice,
    options,
    properties,
    states,
    symbols,
    transitions,
)
from reducekit.frontends.btor.passes.widths import Widths, all_widths

_FEW = 60
"""Up to this number of nodes, every edge is tried with every target."""


def thesis_schedule(*, simplify: bool) -> Schedule:
    """Return the one pass of the algorithms of the thesis, which runs once."""
    return Schedule(rounds=(), once=(Nodes(simplify=simplify),))


def own_schedule(*, simplify: bool) -> Schedule:
    """Return our passes, those first that take most away for the fewest checks.

    Short-cuts take away most of a graph in a few checks, and cuts to shared variables most of
    the rest. At width 1 sorts coincide, so widths are reduced before nodes are merged. Passes
    that only write the text in another way come before the rounds: after them, everything the
    rounds refuted would have to be refuted again for the new text. The same holds for node
    removal, whose candidates are whole texts. The closing passes look for what all others miss.
    """
    everywhere, others, node_removal = References(most=_FEW), Others(_FEW), NodeRemoval(_FEW)
    rewriting = (negations, nots, ranks, literals, symbols, spelling)
    once: tuple[Pass, ...] = (
        options,
        cone,
        properties,
        roots,
        transitions,
        short_cuts,
        all_widths,
        Cut(SHARED, leaves=True),
        Widths(),
        equal_nodes,
        everywhere,
        others,
        *rewriting,
        node_removal,
    )
    closing: tuple[Pass, ...] = (
        References(),
        Widths(),
        Widths("kept widths", keep=True),
        Cut(SHARED, leaves=True, last=True),
        Cut(FRESH, last=True),
        Cut(ZERO, last=True),
        transitions,
        states,
        leaves,
        equal_nodes,
        justice,
        chains,
        *((simplified,) if simplify else ()),
        *rewriting,
        node_removal,
    )
    return Schedule(prepare=(next_last,), once=once, rounds=(everywhere, others), closing=closing)
