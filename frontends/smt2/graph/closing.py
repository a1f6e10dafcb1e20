"""Closing moves: tried on a small graph when no single node can be replaced any more.

Each can escape a local minimum of the descent, which replaces whole nodes at
all their uses by their subterms.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from reducekit.frontends.smt2.graph.functions import inline, nested
from reducekit.frontends.smt2.graph.model import Graph
from reducekit.frontends.smt2.graph.moves import Candidate, Moves
from reducekit.frontends.smt2.graph.negations import negations
from reducekit.frontends.smt2.graph.resort import resort
from reducekit.frontends.smt2.graph.rewrites import eliminate, shorter, values
from reducekit.frontends.smt2.graph.widths import widths
from reducekit.frontends.smt2.language.sorts import Sort
from reducekit.frontends.smt2.language.spelling import literal_value, shortest

# Of a thousand nodes there are a million pairs to compare, after each success.
_MOST = 1000
"""Closing moves are not tried on graphs with more nodes, since they consider pairs of nodes."""
_PARTNERS = 2
"""The maximum number of variables tried in place of another one."""
_RAW = frozenset((-1,))
_BIT: Sort = ("BitVec", 1)
# Levels of a lift. Each adds two calls to the stack, and what is below stays an equality, which the
# next lift takes up.
_DEEP = 8
WIDEST = 1 << 16
"""Wider literals are not changed: computing with such numbers is slow."""
_COMPLEMENTS = {b"not": "Bool", b"bvnot": "BitVec"}
_NUMERAL = re.compile(rb"[0-9]+")
_INDEXED = re.compile(
    rb"\(_ (rotate_left|rotate_right|re\.\^|re\.loop|divisible|iand)((?: [0-9]+)+)\)"
)
"""Operators whose indices do not affect sorts."""
_FROM_ONE = frozenset((b"divisible", b"iand"))
_DECIMAL = re.compile(rb"([0-9]+)\.([0-9]+)")

Closing = Callable[[Moves], Iterator[Candidate]]


def unlet(moves: Moves) -> Iterator[Candidate]:
    """Expands terms that are bound by a let only because the input does so: many, then fewer."""
    # Blocks of halved size, as in delta debugging without complements: mostly no let is needed, and
    # one check removes all of them.
    graph = moves.graph
    bound = [node for node in moves.nodes if node in graph.bound]
    size = len(bound)
    while size:
        for begin in range(0, len(bound), size):
            block = frozenset(bound[begin : begin + size])
            changed = replace(graph, bound=graph.bound - block)
            yield Candidate("write out", changed, {}, -1, printed=block)
        size //= 2


def lift(moves: Moves) -> Iterator[Candidate]:
    """Replaces an equality of one-bit vectors, one of them a constant, by a Boolean term."""
    graph = moves.graph
    for node in moves.nodes:
        shape, args = graph.shape[node], graph.args[node]
        if shape.head != b"=" or len(args) != 2 or graph.sort[args[0]] != _BIT:
            continue
        for constant, other in (args, args[::-1]):
            bit = _bit(graph, constant)
            if bit is None:
                continue
            lifted = _lifted(graph, bit, other, _DEEP)
            if lifted is not None:
                yield Candidate("lift", graph, {node: lifted}, node)


_CONNECTIVES = {
    (b"bvand", 1): b"and",
    (b"bvand", 0): b"or",
    (b"bvor", 1): b"or",
    (b"bvor", 0): b"and",
}
"""What "a one-bit conjunction or disjunction equals this bit" is over its operands (De Morgan)."""


def _signed(graph: Graph, node: int, truth: bool) -> int:
    """Return a Boolean term, or add its negation."""
    return node if truth else graph.add(graph.shapes.application(b"not", 1), (node,), "Bool")


def _lifted(graph: Graph, bit: int, node: int, deep: int) -> int | None:
    """Add the Boolean term "this one-bit term equals `bit`"; None if that is just an equality.

    More than `deep` levels down, terms become equalities.
    """
    head, args, get = graph.shape[node].head, graph.args[node], graph.shapes.application
    if graph.sort[node] != _BIT:
        return None  # ill-sorted
    if head == b"ite":
        bits = {_bit(graph, each) for each in args[1:]}
        return _signed(graph, args[0], _bit(graph, args[1]) == bit) if bits == {0, 1} else None
    if head == b"bvcomp" and len(args) == 2:
        return _signed(graph, graph.add(get(b"=", 2), args, "Bool"), bool(bit))
    if head == b"bvnot":
        return _said(graph, 1 - bit, args[0], deep - 1)
    connective = _CONNECTIVES.get((head, bit))
    if connective is None:
        return None
    said = tuple(_said(graph, bit, each, deep - 1) for each in args)
    return graph.add(get(connective, len(said)), said, "Bool")


def _said(graph: Graph, bit: int, node: int, deep: int) -> int:
    """Add the Boolean term "this one-bit term equals `bit`", an equality if need be."""
    lifted = _lifted(graph, bit, node, deep) if deep else None
    if lifted is not None:
        return lifted
    value = graph.add(graph.shapes.leaf(b"#b%d" % bit), (), _BIT)
    return graph.add(graph.shapes.application(b"=", 2), (value, node), "Bool")


def _bit(graph: Graph, node: int) -> int | None:
    """Return the value of a one-bit literal."""
    if graph.sort[node] != _BIT or graph.args[node] or graph.shape[node].uses:
        return None
    return literal_value(graph.shape[node].head)


def merge(moves: Moves) -> Iterator[Candidate]:
    """Replaces a declared variable by another one of its sort."""
    graph = moves.graph
    variables: dict[Sort, list[int]] = {}
    for node in moves.nodes:
        sort = graph.sort[node]
        if sort is not None and not graph.args[node] and graph.shape[node].uses:
            variables.setdefault(sort, []).append(node)
    for nodes in variables.values():
        nodes.sort()
        for later in nodes[1:]:
            for earlier in nodes[:_PARTNERS]:
                if earlier >= later:
                    break
                if moves.fits(earlier, later):
                    yield Candidate("merge", graph, {later: earlier}, later)


def edge(moves: Moves) -> Iterator[Candidate]:
    """Replaces one use of a node by a constant, a declared variable, or a direct subterm."""
    graph, users = moves.graph, moves.analysis.users
    for node in moves.nodes:
        above = users[node]
        if len(above) < 2:
            continue
        alternatives = [candidate.replaced[node] for candidate in moves.simple(node)]
        for user in dict.fromkeys(above):
            if graph.shape[user].raw == _RAW:
                continue
            for position, argument in enumerate(graph.args[user]):
                if argument != node or position in graph.shape[user].raw:
                    continue
                for other in alternatives:
                    args = list(graph.args[user])
                    args[position] = other
                    copy = graph.add(graph.shape[user], tuple(args), graph.sort[user])
                    yield Candidate("one use", graph, {user: copy}, user)


def _compound(moves: Moves) -> list[tuple[int, Sort]]:
    """Return the nodes with arguments, and their sorts."""
    graph = moves.graph
    return [
        (node, sort)
        for node in moves.nodes
        if graph.args[node] and (sort := graph.sort[node]) is not None
    ]


def exist(moves: Moves) -> Iterator[Candidate]:
    """Replaces a node by the smallest compound term of its sort that is not above it.

    Leaves (constants and declared variables) have been tried in its place before.
    """
    # One candidate for each node, of the smallest term: others would be as many checks as there are
    # pairs. Not a term above the node, which would make a cycle; not an argument, as that is a
    # hoist and was tried.
    graph, analysis = moves.graph, moves.analysis
    by_sort: dict[Sort, list[int]] = {}
    compound = _compound(moves)
    for node, sort in reversed(compound):
        by_sort.setdefault(sort, []).append(node)
    for node, sort in compound:
        above = moves.above(node)
        for other in by_sort[sort]:
            if other == node or other in above or other in graph.args[node]:
                continue
            if not analysis.outside(other, node) and moves.fits(other, node):
                yield Candidate("another term", graph, {node: other}, node)
                break


def flip(moves: Moves) -> Iterator[Candidate]:
    """Removes a complement, and complements a constant elsewhere."""
    graph = moves.graph
    for node in moves.nodes:
        kind = _COMPLEMENTS.get(graph.shape[node].head)
        if kind is None or len(graph.args[node]) != 1:
            continue
        for constant in moves.nodes:
            text = complement(graph, constant)
            if text is not None:
                other = moves.leaf(text, graph.sort[constant])
                yield Candidate("flip", graph, {node: graph.args[node][0], constant: other}, node)


def complement(graph: Graph, node: int) -> bytes | None:
    """Return the complement of a literal."""
    sort, shape = graph.sort[node], graph.shape[node]
    if shape.arity or shape.uses:
        return None
    if sort == "Bool":
        return {b"true": b"false", b"false": b"true"}.get(shape.head)
    if isinstance(sort, tuple) and sort[0] == "BitVec" and isinstance(sort[1], int):
        value = literal_value(shape.head) if sort[1] <= WIDEST else None
        return None if value is None else shortest((1 << sort[1]) - 1 - value, sort[1])
    return None


def literals(moves: Moves) -> Iterator[Candidate]:
    """Replaces a literal by a smaller one of its sort."""
    graph = moves.graph
    for node in moves.nodes:
        shape, sort = graph.shape[node], graph.sort[node]
        if shape.arity or shape.uses or shape.variable >= 0 or sort is None:
            continue
        for text in smaller_literals(shape.head, sort):
            yield Candidate("smaller literal", graph, {node: moves.leaf(text, sort)}, node)


def smaller_literals(text: bytes, sort: Sort) -> list[bytes]:
    """Return the values of a sort to try in place of a larger literal, the smallest first."""
    found = dict.fromkeys(_other_literals(text, sort))
    return [each for each in found if (len(each), each) < (len(text), text)]


def _other_literals(text: bytes, sort: Sort) -> list[bytes]:
    decimal = _DECIMAL.fullmatch(text)
    if _NUMERAL.fullmatch(text) and len(text) < 1000:
        return [b"%d" % value for value in _smaller(int(text))]
    if decimal is not None and len(text) < 1000:
        return _smaller_decimals(*decimal.groups())
    if text[:1] == b'"' and len(text) > 3:
        return _smaller_strings(text[1:-1])
    if isinstance(sort, tuple) and sort[0] == "BitVec" and isinstance(sort[1], int):
        return _smaller_vectors(literal_value(text), sort[1])
    return []


def _smaller_decimals(whole: bytes, fraction: bytes) -> list[bytes]:
    found: list[bytes] = []
    if fraction.strip(b"0"):
        found = [whole + b".0"]
        found += [whole + b"." + fraction[:count] for count in (1, len(fraction) // 2) if count]
    return found + [b"%d.0" % value for value in _smaller(int(whole))]


def _smaller_strings(inside: bytes) -> list[bytes]:
    """Return strings that begin or end as one does, and one of half its length, all alike."""
    # A cut could split an escape: a doubled quote, `\u{...}`.
    if b'"' in inside or b"\\" in inside:
        return []
    pieces = [inside[: len(inside) >> k] for k in range(len(inside).bit_length(), 0, -1)]
    pieces += [inside[:-1], inside[1:], b"a" * (len(inside) // 2)]
    return [b'"%b"' % part for part in pieces]


def _smaller_vectors(value: int | None, width: int) -> list[bytes]:
    """Return vectors with half of the bits of one, shifted, or with one bit less."""
    if value is None or value <= 1 or width >= WIDEST:
        return []
    half = max(1, value.bit_length() // 2)
    parts = {value & ((1 << half) - 1), value >> half, value >> 1, value & (value - 1)}
    parts.add(value ^ (1 << (value.bit_length() - 1)))
    return [shortest(each, width) for each in sorted(parts) if 1 < each < value]


def indices(moves: Moves) -> Iterator[Candidate]:
    """Decreases an index of an operator, such as a rotation, a power or a loop."""
    graph = moves.graph
    for node in moves.nodes:
        shape, args = graph.shape[node], graph.args[node]
        if not args or shape.uses:
            continue
        if shape is not graph.shapes.application(shape.head, shape.arity):
            continue
        for head in _smaller_indices(shape.head):
            copy = graph.add(graph.shapes.application(head, len(args)), args, graph.sort[node])
            yield Candidate("smaller index", graph, {node: copy}, node)


def _smaller_indices(head: bytes) -> Iterator[bytes]:
    """Yield an operator with one of its indices made smaller; nothing for others."""
    match = _INDEXED.fullmatch(head)
    if match is None:
        return
    numbers = [int(number) for number in match[2].split() if len(number) < 20]
    least = 1 if match[1] in _FROM_ONE else 0
    for position, value in enumerate(numbers):
        for smaller in dict.fromkeys((least, value // 2, value - 1)):
            if least <= smaller < value:
                other = [*numbers[:position], smaller, *numbers[position + 1 :]]
                yield b"(_ %b %b)" % (match[1], b" ".join(b"%d" % each for each in other))


def _smaller(value: int) -> list[int]:
    """Return smaller values, by halving the distance to 0 and to the value itself."""
    # From both ends: a failure needs a small number, or one just below what is there.
    found = {value >> shift for shift in range(1, value.bit_length())}
    found |= {value - (value >> shift) for shift in range(2, value.bit_length())}
    found.add(value - 1)
    return sorted(each for each in found if 1 < each < value)[:12]


CLOSING: Sequence[tuple[str, Closing]] = (
    ("unlet", unlet),
    ("values", values),
    ("lift", lift),
    ("merge", merge),
    ("widths", widths),
    ("edge", edge),
    ("exist", exist),
    ("shorter", shorter),
    ("negations", negations),
    ("literals", literals),
    ("indices", indices),
    ("inline", inline),
    ("nested", nested),
)

LATE: Sequence[tuple[str, Closing]] = (("resort", resort),)
"""Moves to try only when nothing else helps. A script whose terms all have one sort allows fewer
changes, so trying these earlier would block larger reductions."""

RARE: Sequence[tuple[str, Closing]] = (("eliminate", eliminate), ("flip", flip))
"""Moves for `--effort thorough`, as they rarely help: on 89 faults made by `benchmarks.smt2_faults`
at instructions that few inputs reach, 6 of their 129 checks succeeded."""


def closing(
    moves: Moves, begin: tuple[int, int], kinds: Sequence[tuple[str, Closing]]
) -> Iterator[tuple[tuple[int, int], Candidate]]:
    """Yield the closing moves, starting at a place and wrapping around once, each with its place.

    A place is a kind of move and the number of its candidates that come before.
    """
    if len(moves.nodes) > _MOST or moves.graph.coarse:
        return
    # After a success the moves go on where they were, not at the beginning: most candidates before
    # that place have just failed on nearly the same graph. Wrapping around makes the end a fixpoint
    # of all kinds: none is left out after the last success.
    first, skip = begin
    for turn in range(len(kinds) + 1):
        kind = (first + turn) % len(kinds)
        for number, candidate in enumerate(kinds[kind][1](moves)):
            if turn == 0 and number < skip:
                continue
            if turn == len(kinds) and number >= skip:
                return
            yield (kind, number), candidate
