"""The order of the passes."""

from __future__ import annotations

from reducekit.frontend import Pass, Schedule
from reducekit.frontends.btor.passes.chains import Chains
from reducekit.frontends.btor.passes.cut import Cut
from reducekit.frontends.btor.passes.leaves import Leaves
from reducekit.frontends.btor.passes.line_graph import FRESH, SHARED, ZERO
from reducekit.frontends.btor.passes.literals import Literals
from reducekit.frontends.btor.passes.merges import EqualNodes, Others
from reducekit.frontends.btor.passes.negations import Negations, Nots
from reducekit.frontends.btor.passes.next_last import NextLast
from reducekit.frontends.btor.passes.node_removal import NodeRemoval
from reducekit.frontends.btor.passes.ranks import Ranks
from reducekit.frontends.btor.passes.references import References
from reducekit.frontends.btor.passes.roots import Cone, Roots
from reducekit.frontends.btor.passes.shortcuts import ShortCuts
from reducekit.frontends.btor.passes.spelling import Simplify, Spelling
from reducekit.frontends.btor.passes.transition_system import (
    Justice,
    Properties,
    States,
    Symbols,
    Transitions,
)
from reducekit.frontends.btor.passes.whole_graph import Nodes
from reducekit.frontends.btor.passes.widths import AllWidths, Widths

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
    rewriting = (Negations(), Nots(), Ranks(), Literals(), Symbols(), Spelling())
    once: tuple[Pass, ...] = (
        Cone(),
        Properties(),
        Roots(),
        Transitions(),
        ShortCuts(),
        AllWidths(),
        Cut(SHARED, leaves=True),
        Widths(),
        EqualNodes(),
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
        Transitions(),
        States(),
        Leaves(),
        EqualNodes(),
        Justice(),
        Chains(),
        *((Simplify(),) if simplify else ()),
        *rewriting,
        node_removal,
    )
    return Schedule(prepare=(NextLast(),), once=once, rounds=(everywhere, others), closing=closing)
