"""The order of the passes."""

from __future__ import annotations

from reducekit.frontend import Pass, Schedule
from reducekit.frontends.btor.passes.btor2 import Justice, Properties, States, Symbols, Transitions
from reducekit.frontends.btor.passes.chains import Chains
from reducekit.frontends.btor.passes.cut import Cut
from reducekit.frontends.btor.passes.graph import FRESH, SHARED, ZERO
from reducekit.frontends.btor.passes.leaves import Leaves
from reducekit.frontends.btor.passes.literals import Literals
from reducekit.frontends.btor.passes.named import Nodes
from reducekit.frontends.btor.passes.negations import Negations, Nots
from reducekit.frontends.btor.passes.ranks import Ranks
from reducekit.frontends.btor.passes.references import References
from reducekit.frontends.btor.passes.roots import Cone, Roots
from reducekit.frontends.btor.passes.spelling import Simplify, Spelling
from reducekit.frontends.btor.passes.widths import AllWidths, Widths

_FEW = 60
"""Up to so many nodes every edge is tried with every target."""
_SHARE = 0.1
"""What a first short-cut takes away at least: below that, cuts of many nodes save checks."""


def thesis_schedule(*, simplify: bool) -> Schedule:
    """Return the one pass of the algorithms of the thesis, which runs once."""
    return Schedule(rounds=(), once=(Nodes(simplify=simplify),))  # type: ignore[arg-type]  # a graph


def own_schedule(*, simplify: bool) -> Schedule:
    """Return the passes in the order in which they save most for the least checks.

    Sinking the roots and short-cuts take away most of a graph in a few checks, and cuts to
    shared variables most of the rest; at width 1 sorts coincide, so widths come before.
    The closing passes look for what those miss, and for what is no node.
    """
    shared = Cut(SHARED, leaves=True)
    everywhere = References(most=_FEW)
    once: tuple[Pass, ...] = (
        Cone(),
        Properties(),
        Roots(),
        References(share=_SHARE),
        Transitions(),
        AllWidths(),
        shared,
        everywhere,
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
        Justice(),
        Chains(),
        *((Simplify(),) if simplify else ()),
        Negations(),
        Nots(),
        Ranks(),
        Literals(),
        Symbols(),
        Spelling(),
    )
    return Schedule(once=once, rounds=(everywhere,), closing=closing)
