"""The order of the passes."""

from __future__ import annotations

from reducekit.frontend import Pass, Schedule
from reducekit.frontends.btor.passes.btor2 import Justice, Properties, States, Symbols, Transitions
from reducekit.frontends.btor.passes.chains import Chains
from reducekit.frontends.btor.passes.cut import Cut
from reducekit.frontends.btor.passes.grafts import Grafts
from reducekit.frontends.btor.passes.graph import FRESH, SHARED, ZERO
from reducekit.frontends.btor.passes.leaves import Leaves
from reducekit.frontends.btor.passes.literals import Literals
from reducekit.frontends.btor.passes.merges import Others, Twins
from reducekit.frontends.btor.passes.named import Nodes
from reducekit.frontends.btor.passes.negations import Negations, Nots
from reducekit.frontends.btor.passes.next_last import NextLast
from reducekit.frontends.btor.passes.ranks import Ranks
from reducekit.frontends.btor.passes.references import References
from reducekit.frontends.btor.passes.roots import Cone, Roots
from reducekit.frontends.btor.passes.shortcuts import ShortCuts
from reducekit.frontends.btor.passes.spelling import Simplify, Spelling
from reducekit.frontends.btor.passes.widths import AllWidths, Widths

_FEW = 60
"""Up to so many nodes every edge is tried with every target."""


def thesis_schedule(*, simplify: bool) -> Schedule:
    """Return the one pass of the algorithms of the thesis, which runs once."""
    return Schedule(rounds=(), once=(Nodes(simplify=simplify),))  # type: ignore[arg-type]  # a graph


def own_schedule(*, simplify: bool) -> Schedule:
    """Return the passes in the order in which they save most for the least checks.

    Short-cuts take away most of a graph in a few checks, and cuts to shared variables most of
    the rest; at width 1 sorts coincide, so widths come before. What only writes the text in
    another way comes before the rounds, not behind: else what they refuted would have to be
    refuted again for the new text. So it is with grafts, whose candidates are whole texts. The
    closing passes look for what all those miss.
    """
    everywhere, others, grafts = References(most=_FEW), Others(_FEW), Grafts(_FEW)
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
        Twins(),
        everywhere,
        others,
        *rewriting,
        grafts,
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
        Twins(),
        Justice(),
        Chains(),
        *((Simplify(),) if simplify else ()),
        *rewriting,
        grafts,
    )
    return Schedule(prepare=(NextLast(),), once=once, rounds=(everywhere, others), closing=closing)
