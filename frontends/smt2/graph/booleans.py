"""Closing moves on Boolean terms: negations pushed inwards, equalities of bits lifted to terms.

A negation that is pushed inwards often disappears in a relation. On the way the text may get
longer, so it is pushed by several levels at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from reducekit.frontends.smt2.graph.model import Graph, variables_of
from reducekit.frontends.smt2.graph.site import QUANTIFIERS, Candidate, Site
from reducekit.frontends.smt2.language.sorts import Sort

# Powers of two, so that few candidates cover several depths; a deeper one is reached by several
# successes.
_LEVELS = (1, 2, 4)
"""The numbers of levels by which a negation is pushed at once."""
# Equalities, and total orders. None on floats is here: with a NaN, `fp.lt` and `fp.geq` are both
# false (theory FloatingPoint), so neither is the negation of the other.
_PAIRS = (
    (b"<", b">="),
    (b">", b"<="),
    (b"bvult", b"bvuge"),
    (b"bvugt", b"bvule"),
    (b"bvslt", b"bvsge"),
    (b"bvsgt", b"bvsle"),
    (b"=", b"distinct"),
)
_RELATIONS: Mapping[bytes, bytes] = {
    **dict(_PAIRS),
    **{other: one for one, other in _PAIRS},
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
_BIT: Sort = ("BitVec", 1)
# Levels of a lift. Each adds two calls to the stack, and what is below stays an equality, which the
# next lift takes up.
_DEEP = 8
_CONNECTIVES = {
    (b"bvand", 1): b"and",
    (b"bvand", 0): b"or",
    (b"bvor", 1): b"or",
    (b"bvor", 0): b"and",
}
"""What "a one-bit conjunction or disjunction equals this bit" is over its operands (De Morgan)."""


def negations(site: Site) -> Iterator[Candidate]:
    """Pushes a negation into its argument; replaces an equality with a truth
    value by its other side, and `(or (not a) b)` by an implication."""
    graph = site.graph
    for node in site.nodes:
        head, args = graph.shape[node].head, graph.args[node]
        if not _is_plain(graph, node):
            continue
        if head == b"not" and len(args) == 1:
            known: set[int] = set()
            for levels in _LEVELS:
                pushed = _negated(site, args[0], levels)
                if pushed is not None and pushed not in known:
                    known.add(pushed)
                    yield Candidate("push negation", graph, {node: pushed}, node)
        elif head in (b"=", b"xor", b"distinct") and len(args) == 2:
            for value, term in (args, args[::-1]):
                truth = graph.shape[value].head
                if not graph.args[value] and truth in _VALUES and not graph.shape[value].uses:
                    same = (truth == b"true") == (head == b"=")
                    other = term if same else _inner(site, term, 1)
                    yield Candidate("truth", graph, {node: other}, node)
        elif head == b"or" and len(args) == 2:
            for one, other in (args, args[::-1]):
                if graph.shape[one].head == b"not" and len(graph.args[one]) == 1:
                    implied = site.applied(b"=>", graph.args[one][0], other)
                    yield Candidate("implication", graph, {node: implied}, node)


def _is_plain(graph: Graph, node: int) -> bool:
    """Return whether a node is a plain application of a theory operator."""
    shape = graph.shape[node]
    return bool(shape.arity) and not (shape.uses or shape.names or shape.raw or shape.binds)


def _negated(site: Site, node: int, levels: int) -> int | None:
    """Add the negation of a term, pushed by `levels`; None if that is just a `not` around it."""
    # Recursive: no deeper than the largest of `_LEVELS`.
    graph = site.graph
    shape, args = graph.shape[node], graph.args[node]
    head = shape.head
    if not args:
        is_value = head in _VALUES and not shape.uses and shape.variable < 0
        return site.leaf(_VALUES[head], "Bool") if is_value else None
    if head in QUANTIFIERS and levels and _can_turn(site, node):
        quantifier = site.quantifier(_OTHER[head], variables_of(shape))
        return graph.add(quantifier, (_inner(site, args[0], levels - 1),), "Bool")
    if not _is_plain(graph, node):
        return None
    if head == b"not" and len(args) == 1:
        return args[0]
    if head in _RELATIONS and len(args) == 2:
        return site.applied(_RELATIONS[head], *args)
    if not levels:
        return None
    if head in (b"and", b"or"):  # De Morgan
        return site.applied(_OTHER[head], *[_inner(site, each, levels - 1) for each in args])
    if head == b"=>" and len(args) == 2:
        return site.applied(b"and", args[0], _inner(site, args[1], levels - 1))
    if head == b"ite":
        inner = [_inner(site, each, levels - 1) for each in args[1:]]
        return site.applied(b"ite", args[0], *inner)
    return None


def _inner(site: Site, node: int, levels: int) -> int:
    other = _negated(site, node, levels)
    return site.applied(b"not", node) if other is None else other


def _can_turn(site: Site, node: int) -> bool:
    """Return whether a quantifier can become the other one.

    The sorts of its variables are known, and nothing else uses them.
    """
    shape = site.graph.shape[node]
    plain = not (shape.raw or shape.names) and shape.arity == 1
    sorted_ = all(map(site.are_sorted, shape.binds))
    return plain and sorted_ and len(site.analysis.users.get(node, ())) == 1


def lift(site: Site) -> Iterator[Candidate]:
    """Replaces an equality of one-bit vectors, one of them a constant, by a Boolean term."""
    graph = site.graph
    for node in site.nodes:
        args = graph.args[node]
        if graph.shape[node].head != b"=" or len(args) != 2 or graph.sort[args[0]] != _BIT:
            continue
        for constant, other in (args, args[::-1]):
            bit = _bit(graph, constant)
            lifted = None if bit is None else _lifted(site, bit, other, _DEEP)
            if lifted is not None:
                yield Candidate("lift", graph, {node: lifted}, node)


def _lifted(site: Site, bit: int, node: int, deep: int) -> int | None:
    """Add the Boolean term "this one-bit term equals `bit`"; None if that is just an equality.

    More than `deep` levels down, terms become equalities.
    """
    graph = site.graph
    head, args = graph.shape[node].head, graph.args[node]
    if graph.sort[node] != _BIT:
        return None  # ill-sorted
    if head == b"ite":
        bits = [_bit(graph, each) for each in args[1:]]
        if set(bits) != {0, 1}:
            return None
        return args[0] if bits[0] == bit else site.applied(b"not", args[0])
    if head == b"bvcomp" and len(args) == 2:
        equal = site.applied(b"=", *args)
        return equal if bit else site.applied(b"not", equal)
    if head == b"bvnot":
        return _equal(site, 1 - bit, args[0], deep - 1)
    connective = _CONNECTIVES.get((head, bit))
    if connective is None:
        return None
    return site.applied(connective, *[_equal(site, bit, each, deep - 1) for each in args])


def _equal(site: Site, bit: int, node: int, deep: int) -> int:
    """Add the Boolean term "this one-bit term equals `bit`", an equality if need be."""
    lifted = _lifted(site, bit, node, deep) if deep else None
    if lifted is not None:
        return lifted
    value = site.graph.add(site.graph.shapes.leaf(b"#b%d" % bit), (), _BIT)
    return site.applied(b"=", value, node)


def _bit(graph: Graph, node: int) -> int | None:
    """Return the value of a one-bit literal."""
    return graph.value(node) if graph.sort[node] == _BIT else None
