"""Draws the parameters of random BTOR files for each seed, so that a hunt covers many shapes."""

from __future__ import annotations

import random
from dataclasses import replace

from reducekit.frontends.btor.generate.generator import Parameters
from reducekit.frontends.btor.model.operators import Dialect

_SMALLEST = 10
_ROOTS = 8


def suffix(dialect: Dialect) -> str:
    """Return the usual suffix of a dialect's files."""
    return ".btor2" if dialect is Dialect.BTOR2 else ".btor"


def varied(given: Parameters) -> Parameters:
    """Return parameters that shape another graph, drawn by the seed around what is given.

    Sizes and widths are at most those given; sharing, complements, the kind of merging and the
    number of roots are drawn as well. (The thesis, section 3.2, found no optimum: it depends on
    the bug.)
    """
    chance = random.Random(f"shape {given.seed}").random

    def up_to(most: int, least: int = 0) -> int:
        return least + int(chance() * (most - least + 1)) if most > least else most

    # As many small files as large ones: sizes are drawn on a logarithmic scale.
    share = chance()
    nodes = round(_SMALLEST ** (1 - share) * max(given.nodes, _SMALLEST) ** share)
    merging = int(chance() * 4)
    plain = not (given.cnf or given.cnf_only or given.aig)
    return replace(
        given,
        nodes=min(nodes, given.nodes),
        variables=up_to(given.variables, min(1, given.variables)),
        arrays=up_to(given.arrays),
        writes=up_to(given.writes),
        # Some operators need two bits or more.
        max_width=given.max_width
        if given.every_operator
        else up_to(given.max_width, given.min_width),
        max_index_width=up_to(given.max_index_width, 1),
        sharing=up_to(100),
        complement=up_to(2 * given.complement) if given.complement <= 50 else given.complement,
        cnf=given.cnf or (plain and merging == 1),
        clauses=round(given.clauses * chance(), 2),
        aig=given.aig or (plain and merging == 2),
        roots=up_to(max(given.roots, _ROOTS), 1),
        early_roots=given.early_roots or chance() < 0.5,
    )
