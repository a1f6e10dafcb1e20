"""Closing moves: tried on a small graph when no single node can be replaced any more.

Each can escape a local minimum of the descent, which replaces whole nodes at
all their uses by their subterms.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from reducekit.frontends.smt2.graph.booleans import lift, negations
from reducekit.frontends.smt2.graph.functions import inline, nested
from reducekit.frontends.smt2.graph.model import RAW, Graph
from reducekit.frontends.smt2.graph.moves import direct, to_constants, to_declared
from reducekit.frontends.smt2.graph.resort import resort
from reducekit.frontends.smt2.graph.rewrites import eliminate, shorter, values
from reducekit.frontends.smt2.graph.site import Candidate, Site
from reducekit.frontends.smt2.graph.widths import widths
from reducekit.frontends.smt2.language.constants import literal_value, shortest
from reducekit.frontends.smt2.language.sorts import Sort

# Of a thousand nodes there are a million pairs to compare, after each success.
_MOST = 1000
"""Closing moves are not tried on graphs with more nodes, since they consider pairs of nodes."""
_PARTNERS = 2
"""The maximum number of variables tried in place of another one."""
WIDEST = 1 << 16
"""Wider literals are not changed: computing with such numbers is slow."""
_INDEXED = re.compile(
    rb"\(_ (rotate_left|rotate_right|re\.\^|re\.loop|divisible|iand)((?: [0-9]+)+)\)"
)
"""Operators whose indices do not affect sorts."""
_FROM_ONE = frozenset((b"divisible", b"iand"))
_DECIMAL = re.compile(rb"([0-9]+)(?:(\.)([0-9]+))?")

Closing = Callable[[Site], Iterator[Candidate]]


def unlet(site: Site) -> Iterator[Candidate]:
    """Expands terms that are bound by a let only because the input does so: many, then fewer."""
    # Blocks of halved size, as in delta debugging without complements: mostly no let is needed, and
    # one check removes all of them.
    graph = site.graph
    bound = [node for node in site.nodes if node in graph.bound]
    size = len(bound)
    while size:
        for begin in range(0, len(bound), size):
            block = frozenset(bound[begin : begin + size])
            changed = replace(graph, bound=graph.bound - block)
            yield Candidate("write out", changed, {}, -1, printed=block)
        size //= 2


def merge(site: Site) -> Iterator[Candidate]:
    """Replaces a declared variable by another one of its sort."""
    graph = site.graph
    variables: dict[Sort, list[int]] = {}
    for node in site.nodes:
        sort = graph.sort[node]
        if sort is not None and not graph.args[node] and graph.shape[node].uses:
            variables.setdefault(sort, []).append(node)
    for nodes in variables.values():
        nodes.sort()
        for at, later in enumerate(nodes):
            for earlier in nodes[: min(at, _PARTNERS)]:
                if site.fits(earlier, later):
                    yield Candidate("merge", graph, {later: earlier}, later)


def edge(site: Site) -> Iterator[Candidate]:
    """Replaces one use of a node by a constant, a declared variable, or a direct subterm."""
    graph, users = site.graph, site.analysis.users
    for node in site.nodes:
        # Of one use of a compound term or a variable, these are moves on the node itself. Those of
        # a literal are not: in its place, a variable links two terms, and both may shrink by that.
        shape = graph.shape[node]
        if len(users[node]) < 2 and (shape.arity or shape.uses or shape.variable >= 0):
            continue
        constants = () if graph.args[node] else to_constants(site, node, 2)
        found = (*constants, *direct(site, node), *to_declared(site, node))
        alternatives = [candidate.replaced[node] for candidate in found]
        for user in dict.fromkeys(users[node]):
            raw = graph.shape[user].raw
            for position, argument in enumerate(graph.args[user]):
                if argument == node and raw != RAW and position not in raw:
                    for other in alternatives:
                        copy = site.with_argument(user, position, other)
                        yield Candidate("one use", graph, {user: copy}, user)


def exist(site: Site) -> Iterator[Candidate]:
    """Replaces a node by the smallest compound term of its sort that is not above it.

    Leaves (constants and declared variables) have been tried in its place before.
    """
    # One candidate for each node, of the smallest term: others would be as many checks as there are
    # pairs. Not a term above the node, which would make a cycle; not an argument, as that is a
    # hoist and was tried.
    graph, analysis = site.graph, site.analysis
    by_sort: dict[Sort, list[int]] = {}
    compound = [
        (node, sort)
        for node in site.nodes
        if graph.args[node] and (sort := graph.sort[node]) is not None
    ]
    for node, sort in reversed(compound):
        by_sort.setdefault(sort, []).append(node)
    for node, sort in compound:
        excluded = analysis.above((node,)).union(graph.args[node])
        for other in by_sort[sort]:
            if other in excluded or analysis.outside(other, node):
                continue
            if site.fits(other, node):
                yield Candidate("another term", graph, {node: other}, node)
                break


def flip(site: Site) -> Iterator[Candidate]:
    """Removes a complement, and complements a constant elsewhere."""
    graph = site.graph
    for node in site.nodes:
        if graph.shape[node].head not in (b"not", b"bvnot") or len(graph.args[node]) != 1:
            continue
        for constant in site.nodes:
            text = complement(graph, constant)
            if text is not None:
                other = site.leaf(text, graph.sort[constant])
                yield Candidate("flip", graph, {node: graph.args[node][0], constant: other}, node)


def complement(graph: Graph, node: int) -> bytes | None:
    """Return the complement of a literal."""
    shape, width = graph.shape[node], graph.width(node)
    if graph.sort[node] == "Bool" and not (shape.arity or shape.uses):
        return {b"true": b"false", b"false": b"true"}.get(shape.head)
    value = graph.value(node) if width <= WIDEST else None
    return None if value is None else shortest((1 << width) - 1 - value, width)


def literals(site: Site) -> Iterator[Candidate]:
    """Replaces a literal by a smaller one of its sort."""
    graph = site.graph
    for node in site.nodes:
        shape, sort = graph.shape[node], graph.sort[node]
        if shape.arity or shape.uses or shape.variable >= 0 or sort is None:
            continue
        for text in smaller_literals(shape.head, sort):
            yield Candidate("smaller literal", graph, {node: site.leaf(text, sort)}, node)


def smaller_literals(text: bytes, sort: Sort) -> list[bytes]:
    """Return the values of a sort to try in place of a larger literal, the smallest first."""
    found: list[bytes] = []
    decimal = _DECIMAL.fullmatch(text)
    if decimal is not None and len(text) < 1000:
        whole, point, fraction = decimal.groups()
        if fraction and fraction.strip(b"0"):
            found = [whole + b".0"]
            found += [whole + b"." + fraction[:count] for count in (1, len(fraction) // 2) if count]
        found += [b"%d%b" % (value, b".0" if point else b"") for value in _smaller(int(whole))]
    elif text[:1] == b'"' and len(text) > 3:
        # Strings that begin or end as one does, and one of half its length, all alike. A cut could
        # split an escape: a doubled quote, `\u{...}`.
        inside = text[1:-1]
        if b'"' not in inside and b"\\" not in inside:
            parts = [inside[: len(inside) >> k] for k in range(len(inside).bit_length(), 0, -1)]
            parts += [inside[:-1], inside[1:], b"a" * (len(inside) // 2)]
            found = [b'"%b"' % part for part in parts]
    elif isinstance(sort, tuple) and sort[0] == "BitVec" and isinstance(sort[1], int):
        value = literal_value(text)
        if value is not None and value > 1 and sort[1] < WIDEST:
            # Half of the bits, shifted, or one bit less.
            half = value.bit_length() // 2
            bits = {value & ((1 << half) - 1), value >> half, value >> 1, value & (value - 1)}
            bits.add(value ^ (1 << (value.bit_length() - 1)))
            found = [shortest(each, sort[1]) for each in sorted(bits) if 1 < each < value]
    return [each for each in dict.fromkeys(found) if (len(each), each) < (len(text), text)]


def _smaller(value: int) -> list[int]:
    """Return smaller values, by halving the distance to 0 and to the value itself."""
    # From both ends: a failure needs a small number, or one just below what is there.
    found = {value >> shift for shift in range(1, value.bit_length())}
    found |= {value - (value >> shift) for shift in range(2, value.bit_length())}
    found.add(value - 1)
    return sorted(each for each in found if 1 < each < value)[:12]


def indices(site: Site) -> Iterator[Candidate]:
    """Decreases an index of an operator, such as a rotation, a power or a loop."""
    graph = site.graph
    for node in site.nodes:
        head, args = graph.shape[node].head, graph.args[node]
        match = _INDEXED.fullmatch(head)
        if match is None or not args or not graph.is_operator(node):
            continue
        numbers = [int(number) for number in match[2].split() if len(number) < 20]
        least = 1 if match[1] in _FROM_ONE else 0
        for position, value in enumerate(numbers):
            for smaller in dict.fromkeys((least, value // 2, value - 1)):
                if least <= smaller < value:
                    other = [*numbers[:position], smaller, *numbers[position + 1 :]]
                    name = b"(_ %b %b)" % (match[1], b" ".join(b"%d" % each for each in other))
                    copy = site.like(node, name, args)
                    yield Candidate("smaller index", graph, {node: copy}, node)


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
    site: Site, begin: tuple[int, int], kinds: Sequence[tuple[str, Closing]]
) -> Iterator[tuple[tuple[int, int], Candidate]]:
    """Yield the closing moves, starting at a place and wrapping around once, each with its place.

    A place is a kind of move and the number of its candidates that come before.
    """
    if len(site.nodes) > _MOST or site.graph.coarse:
        return
    # After a success the moves go on where they were, not at the beginning: most candidates before
    # that place have just failed on nearly the same graph. Wrapping around makes the end a fixpoint
    # of all kinds: none is left out after the last success.
    first, skip = begin
    for turn in range(len(kinds) + 1):
        kind = (first + turn) % len(kinds)
        for number, candidate in enumerate(kinds[kind][1](site)):
            if turn == 0 and number < skip:
                continue
            if turn == len(kinds) and number >= skip:
                return
            yield (kind, number), candidate
