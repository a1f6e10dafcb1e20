"""Closing moves on negations: pushing them inwards, or rewriting the term without them.

A negation that is pushed inwards often disappears in a relation. On the way the text may get
longer, so it is pushed by several levels at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from reducekit.frontends.smt2.graph.model import Shape
from reducekit.frontends.smt2.graph.moves import QUANTIFIERS, Candidate, Moves

# Powers of two, so that few candidates cover several depths; a deeper one is reached by several
# successes.
_LEVELS = (1, 2, 4)
"""The numbers of levels by which a negation is pushed at once."""
# Equalities, and total orders. None on floats is here: with a NaN, `fp.lt` and `fp.geq` are both
# false (theory FloatingPoint), so neither is the negation of the other.
RELATIONS: Mapping[bytes, bytes] = {
    b"<": b">=",
    b">=": b"<",
    b">": b"<=",
    b"<=": b">",
    b"bvult": b"bvuge",
    b"bvuge": b"bvult",
    b"bvugt": b"bvule",
    b"bvule": b"bvugt",
    b"bvslt": b"bvsge",
    b"bvsge": b"bvslt",
    b"bvsgt": b"bvsle",
    b"bvsle": b"bvsgt",
    b"=": b"distinct",
    b"distinct": b"=",
    b"xor": b"=",
}
"""The negation of each binary relation."""
_OTHER: Mapping[bytes, bytes] = {
    b"and": b"or",
    b"or": b"and",
    b"forall": b"exists",
    b"exists": b"forall",
}
_VALUES: Mapping[bytes, bytes] = {b"true": b"false", b"false": b"true"}


def negations(moves: Moves) -> Iterator[Candidate]:
    """Pushes a negation into its argument; replaces an equality with a truth
    value by its other side, and `(or (not a) b)` by an implication."""
    for node in moves.nodes:
        head, args = moves.graph.shape[node].head, moves.graph.args[node]
        if not is_plain(moves, node):
            continue
        if head == b"not" and len(args) == 1:
            yield from _pushed(moves, node)
        elif head in (b"=", b"xor", b"distinct") and len(args) == 2:
            yield from _without_truth(moves, node)
        elif head == b"or" and len(args) == 2:
            yield from _implications(moves, node)


def _pushed(moves: Moves, node: int) -> Iterator[Candidate]:
    """Yield a negation pushed down by some levels."""
    known: set[int] = set()
    for levels in _LEVELS:
        other = negated(moves, moves.graph.args[node][0], levels)
        if other is not None and other not in known:
            known.add(other)
            yield Candidate("push negation", moves.graph, {node: other}, node)


def _without_truth(moves: Moves, node: int) -> Iterator[Candidate]:
    """Yield the other side of an equality with a truth value, negated where that is needed."""
    graph, args = moves.graph, moves.graph.args[node]
    for value, term in (args, args[::-1]):
        truth = graph.shape[value].head
        if graph.args[value] or truth not in _VALUES or graph.shape[value].uses:
            continue
        same = (truth == b"true") == (graph.shape[node].head == b"=")
        inner = None if same else negated(moves, term, 1)
        if not same and inner is None:
            inner = _not(moves, term)
        yield Candidate("truth", graph, {node: term if inner is None else inner}, node)


def _implications(moves: Moves, node: int) -> Iterator[Candidate]:
    """Yield `(=> a b)` for `(or (not a) b)`."""
    graph, args = moves.graph, moves.graph.args[node]
    for one, other in (args, args[::-1]):
        if graph.shape[one].head == b"not" and len(graph.args[one]) == 1:
            implied = (graph.args[one][0], other)
            copy = graph.add(graph.shapes.application(b"=>", 2), implied, "Bool")
            yield Candidate("implication", graph, {node: copy}, node)


def is_plain(moves: Moves, node: int) -> bool:
    """Return whether a node is a plain application of a theory operator."""
    shape = moves.graph.shape[node]
    return bool(shape.arity) and not (shape.uses or shape.names or shape.raw or shape.binds)


def negated(moves: Moves, node: int, levels: int) -> int | None:
    """Add the negation of a term, pushed by `levels`; None if that is just a `not` around it."""
    graph = moves.graph
    shape, args = graph.shape[node], graph.args[node]
    head = shape.head
    if not args:
        other = _VALUES.get(head) if not shape.uses and shape.variable < 0 else None
        return None if other is None else moves.leaf(other, "Bool")
    if head in QUANTIFIERS and levels and _can_turn(moves, node):
        bound = [item for item in shape.items if isinstance(item, int) and item >= 0]
        quantifier = moves.quantifier(_OTHER[head], bound)
        return graph.add(quantifier, (_inner(moves, args[0], levels - 1),), "Bool")
    if not is_plain(moves, node):
        return None
    if head == b"not" and len(args) == 1:
        return args[0]
    if head in RELATIONS and len(args) == 2:
        return _applied(moves, RELATIONS[head], *args)
    return _by_parts(moves, head, args, levels) if levels else None


def _by_parts(moves: Moves, head: bytes, args: tuple[int, ...], levels: int) -> int | None:
    """Add a connective with the negation in its arguments (De Morgan); None for other operators."""
    if head in (b"and", b"or"):
        inner = (_inner(moves, each, levels - 1) for each in args)
        return _applied(moves, _OTHER[head], *inner)
    if head == b"=>" and len(args) == 2:
        return _applied(moves, b"and", args[0], _inner(moves, args[1], levels - 1))
    if head == b"ite":
        inner = (_inner(moves, each, levels - 1) for each in args[1:])
        return _applied(moves, b"ite", args[0], *inner)
    return None


def _can_turn(moves: Moves, node: int) -> bool:
    """Return whether a quantifier can become the other one.

    The sorts of its variables are known, and nothing else uses them.
    """
    shape: Shape = moves.graph.shape[node]
    plain = not (shape.raw or shape.names) and shape.arity == 1
    sorted_ = all(map(moves.are_sorted, shape.binds))
    return plain and sorted_ and len(moves.analysis.users.get(node, ())) == 1


def _inner(moves: Moves, node: int, levels: int) -> int:
    other = negated(moves, node, levels)
    return _not(moves, node) if other is None else other


def _not(moves: Moves, node: int) -> int:
    return _applied(moves, b"not", node)


def _applied(moves: Moves, head: bytes, *args: int) -> int:
    graph = moves.graph
    return graph.add(graph.shapes.application(head, len(args)), args, "Bool")
