"""Replaces operators by ones of lower rank with the same sorts.

Ranks are a strict order on names: by length, then alphabetical. So every step makes the text
smaller in the order by bytes, and steps cannot form a cycle.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from reducekit.frontends.btor.model.dag import Array, Dag, line_of
from reducekit.frontends.btor.model.operators import (
    CONSTANTS,
    DECLARATIONS,
    Dialect,
    Op,
    Operator,
    spellings,
)
from reducekit.frontends.btor.model.view import BtorView
from reducekit.frontends.btor.passes.ranked_spellings import RankedSpellings, ranked_spellings
from reducekit.passes import pass_

_FIXED = frozenset({*CONSTANTS, *DECLARATIONS, Op.INPUT, Op.STATE, Op.PARAM, Op.ROOT, Op.PROXY})
_SEVERAL = 2
_READ_ONLY = (b"ne", Dialect.BTOR2)  # a spelling that only btor2tools takes


def rank(name: bytes) -> tuple[int, bytes]:
    """Return the key of the order of operators."""
    return len(name), name


@pass_("ranks")
def ranks(view: BtorView) -> RankedSpellings | None:
    """Replaces operators by simpler ones with the same sorts."""
    # Lower operators that fit each line: the two lowest.
    dag = view.dag
    texts = {}
    for line, code in enumerate(dag.op):
        if code in _FIXED:
            continue
        node = view.line_nodes[line] + 2
        shape = tuple(_kind(dag, each) for each in dag.arguments(line))
        name = view.document.source(node)
        texts[node] = _lower(dag.dialect, name, shape, dag.width(line) == 1)
    return ranked_spellings(texts, "lower operator")


def _kind(dag: Dag, reference: int) -> str:
    """Return the kind of an operand, which decides which operators accept it."""
    line = line_of(reference)
    if isinstance(dag.sorts[dag.sort[line]], Array):
        return "array"
    return "bit" if dag.width(line) == 1 else "vector"


@cache
def _lower(dialect: Dialect, name: bytes, shape: tuple[str, ...], bit: bool) -> Sequence[bytes]:
    """Return lower operators for an operator with operands of such kinds, the lowest first.

    Operators are exchanged within a pattern of sorts; where all is one bit, between them.
    """
    rows = spellings(dialect)
    own = rows[name]
    bits = bit and all(each == "bit" for each in shape)
    found = [
        other.name
        for other in rows.values()
        if rank(other.name) < rank(name)
        and len(other.operands) == len(own.operands)
        and other.code not in _FIXED
        and (other.name, dialect) != _READ_ONLY
        and (_alike(own, other, shape) or (bits and _takes_bits(own) and _takes_bits(other)))
    ]
    found.sort(key=rank)
    return found[:_SEVERAL]


def _alike(own: Operator, other: Operator, shape: tuple[str, ...]) -> bool:
    """Return whether two operators have the same operand and result sorts."""
    if own.header != other.header or own.numbers != other.numbers:
        return False
    if own.result != other.result:
        return False
    return own.operands == other.operands or (
        # An equality of vectors is a comparison.
        shape == ("vector", "vector") and {own.operands, other.operands} == {("S", "S"), ("n", "n")}
    )


def _takes_bits(row: Operator) -> bool:
    """Return whether operands and result may all have one bit."""
    return (
        not row.numbers
        and row.result in ("1", "n")
        and all(each in ("1", "n", "S") for each in row.operands)
    )
