"""The moves on one node, each a function that yields candidates: hoists, constants, variables."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from reducekit.frontends.smt2.graph.model import RAW, TIGHT, Graph, Shape
from reducekit.frontends.smt2.graph.site import QUANTIFIERS, Candidate, Site
from reducekit.frontends.smt2.language.sorts import Sort, is_open, print_sort

# Subterms of several sizes are hoisted, the small ones first: the needed part of a large term is
# rarely next to its root, and some hoists, one after the other, reach it at any depth.
_SHARES = (0.03, 0.1, 0.25, 0.5, 0.8)
HUGE, LARGE = 0.5, 0.1
"""Shares of the graph's weight above which the moves on a node are tried in another order."""
# An `and` of a thousand arguments has a thousand hoists. After the heaviest ones, dropping
# arguments in runs takes fewer checks.
_MANY_DIRECT = 8
_MEASURED = 24
"""The number of subterms of a node that are measured to find some of certain sizes."""
# What the theories of the standard declare as :left-assoc, :right-assoc or :chainable, and what
# solvers take in the same way. With one argument left, that stands for the term if it has the same
# sort.
_AT_LEAST: Mapping[bytes, int] = {
    **dict.fromkeys(
        b"and or + * bvadd bvmul bvand bvor bvxor xor str.++ re.++ re.union".split(), 1
    ),
    **dict.fromkeys(b"re.inter seq.++ set.union set.inter union intersection concat".split(), 1),
    **dict.fromkeys(b"=> - bvsub / div".split(), 1),
    **dict.fromkeys(b"= distinct < <= > >=".split(), 2),
}
"""Operators that take any number of arguments, with the minimum number."""
_CONNECTIVES = frozenset((b"not", b"and", b"or", b"=>", b"xor", b"=", b"ite"))
_BLANK = b" \t\r\n\f\v" + TIGHT


def on_node(site: Site, node: int, run: tuple[int, int] | None = None) -> Iterator[Candidate]:
    """Yield the candidates for a node, in an order that depends on its share of the graph.

    With `run`, go on dropping arguments or bindings.
    """
    if run is not None:
        yield from bindings(site, node, run)
        yield from drops(site, node, run)
        return
    for _, candidates in kinds(site, node):
        yield from candidates


def kinds(
    site: Site, node: int, lacking: Collection[int] = ()
) -> Iterator[tuple[str, Iterator[Candidate]]]:
    """Yield the kinds of candidates for a node, each with a lazy iterator over them.

    `lacking` are terms that lack something that is needed in place of the node.
    """
    graph, analysis = site.graph, site.analysis
    shape, sort = graph.shape[node], graph.sort[node]
    value = "truth value" if sort == "Bool" else "constant", to_constants(site, node, 1)
    declared = "declared variable", to_declared(site, node)
    if shape.arity == 0:
        if sort is not None:
            yield value
            # A symbol may become something else; a literal becomes smaller in the closing moves.
            if shape.uses or shape.variable >= 0:
                yield "other constant", to_constants(site, node, 2, 1)
                yield declared
        return
    # The order of the kinds is a bet on what succeeds. For most of the graph, it is a hoist:
    # the failure is inside. For a small part, it is a constant: the failure is elsewhere.
    # Of a term with half of the graph, a value is hardly ever all that the failure needs.
    share = analysis.weight[node] / analysis.total
    far_off, near = ("far hoist", far(site, node, lacking)), ("hoist", direct(site, node))
    if sort is None:
        yield "hoist", bodies(site, node)
    elif share > HUGE:
        yield from (far_off, near)
    elif share > LARGE:
        yield from (("fresh variable", to_fresh(site, node)), value, far_off, near, declared)
    else:
        yield from (value, near, far_off, declared, ("fresh variable", to_fresh(site, node, 4)))
    yield "drop arguments", drops(site, node, None)
    if shape.head == b"let":
        yield "drop bindings", bindings(site, node, None)
        yield "expand bindings", expanded(site, node)
    if shape.head in QUANTIFIERS:
        yield "drop bound variable", unbound(site, node)


# Hoists


def _hoisted(site: Site, what: str, node: int, other: int, stride: int = 0) -> Iterator[Candidate]:
    """Replace a node by a subterm; variables that would be unbound there become constants."""
    # A hoisted term leaves the binders between the two places. Its variables that they bind get
    # constants, so that the candidate is closed: an open one would only test the parser.
    graph = site.graph
    values: dict[int, int] = {}
    for variable in sorted(site.analysis.outside(other, node)):
        constant = site.constant(graph.variables[variable], node)
        if constant is None:
            return
        values[variable] = constant
    if values:
        other = site.substituted(other, values)
    yield Candidate(what, graph, {node: other}, node, stride=stride)


def far(site: Site, node: int, lacking: Collection[int] = ()) -> Iterator[Candidate]:
    """Replaces a node by deep subterms of its sort, in several sizes, the small ones first.

    Computing the size of a term, with shared subterms counted once, takes a traversal of it.
    So the terms are ranked by an upper bound, and a sample of the ranking is measured. The
    bound is the smaller of two: the size of the term written out without sharing, and the
    total size of all nodes before it in the post-order of the node.
    """
    # Exact sizes with sharing take a traversal each, which for all subterms is quadratic. The two
    # upper bounds are free, and the order that they give is right often enough to choose whom to
    # measure.
    graph, sizes, shapes = site.graph, site.analysis.tree_size, site.graph.shape
    sort, near = graph.sort[node], {node, *graph.args[node]}
    ranked: list[tuple[int, int]] = []
    passed = 0
    for each in site.analysis.cone(node):
        shape = shapes[each]
        passed += shape.size
        is_term = shape.arity and shape.raw != RAW and graph.sort[each] == sort
        if is_term and each not in near and each not in lacking:
            ranked.append((min(passed, sizes[each]), each))
    ranked.sort()
    if len(ranked) > _MEASURED:
        last = len(ranked) - 1
        ranked = [ranked[last * place // (_MEASURED - 1)] for place in range(_MEASURED)]
    measured = sorted((site.analysis.size(each), each) for _, each in ranked)
    places = [size for size, _ in measured]
    chosen = [measured[_nearest(places, share * passed)][1] for share in _SHARES if places]
    for each in dict.fromkeys(chosen):
        yield from _hoisted(site, "far hoist", node, each)


def _nearest(ascending: Sequence[int], aim: float) -> int:
    """Return the index of the number nearest to `aim`, of two the smaller one."""
    at = bisect_left(ascending, aim)
    if at and (at == len(ascending) or aim - ascending[at - 1] <= ascending[at] - aim):
        at -= 1
    return at


def direct(site: Site, node: int) -> Iterator[Candidate]:
    """Replaces a node by its arguments of the same sort, the heaviest first.

    The patterns of a quantifier are removed with it: they are allowed nowhere else.
    """
    graph, weight = site.graph, site.analysis.weight
    args = list(graph.args[node])
    if graph.shape[node].head in QUANTIFIERS:
        for place, each in enumerate(args):
            shape = graph.shape[each]
            if shape.head == b"!" and shape.arity and not shape.names:
                args[place] = graph.args[each][0]
    found = [each for each in dict.fromkeys(args) if graph.sort[each] == graph.sort[node]]
    found.sort(key=lambda each: -weight[each])
    for each in found[:_MANY_DIRECT]:
        yield from _hoisted(site, "hoist", node, each, stride=1)


def onwards(site: Site, node: int, stride: int) -> Iterator[Candidate]:
    """Hoist by twice `stride` levels, or by `stride`, after a hoist by `stride` has succeeded.

    Each level leads to the heaviest direct subterm of the same sort.
    """
    # Exponential search (Bentley and Yao, IPL 1976): a term n levels deep is reached in O(log
    # n) steps. Always along the heaviest argument, which has most of what remains.
    graph, weight = site.graph, site.analysis.weight
    path = [node]
    for _ in range(2 * stride):
        below = [each for each in graph.args[path[-1]] if graph.sort[each] == graph.sort[node]]
        if not below:
            break
        path.append(max(below, key=lambda each: (weight[each], -each)))
    for levels in dict.fromkeys((len(path) - 1, stride)):
        if 1 < levels < len(path):
            yield from _hoisted(site, "hoist", node, path[levels], stride=levels)


def bodies(site: Site, top: int) -> Iterator[Candidate]:
    """Replace a term of unknown sort by one that has the same.

    That is the term without its annotation, or a few bodies of nested lets, the innermost
    first: stepping through a long chain of lets would take too many checks.
    """
    graph, shape, args, node = site.graph, site.graph.shape, site.graph.args, top
    if shape[node].head == b"!":
        yield from _hoisted(site, "hoist", node, args[node][0])
    found: list[int] = []
    while args[node] and len(found) < len(shape):
        below, first = args[node][-1], shape[node].items[0]
        # In a coarse graph a chain of lets is text with an inner let as its last argument.
        begins = isinstance(first, bytes) and first.startswith(b"(let")
        chain = begins and not shape[node].head and graph.sort[below] is None
        if shape[node].head != b"let" and not chain:
            break
        node = below
        found.append(node)
    for half in range(len(found).bit_length()):
        yield from _hoisted(site, "hoist", top, found[(len(found) >> half) - 1])


# Constants and variables


def to_constants(site: Site, node: int, most: int, first: int = 0) -> Iterator[Candidate]:
    """Replaces a node by the smallest values of its sort."""
    graph, users = site.graph, site.analysis.users[node]
    sort, shape = graph.sort[node], graph.shape
    if sort == "Bool" and graph.args[node] and all(shape[u].head in _CONNECTIVES for u in users):
        # A truth value makes a connective equal to another argument, or to a truth value. Hoisting
        # that argument and replacing the connective are tried anyway.
        return
    is_assertion = sort == "Bool" and all(shape[user].head == b"assert" for user in users)
    for rank, text in enumerate(site.constants(sort)[:most]):
        if text == shape[node].head and not graph.args[node]:
            return  # the following ones are not smaller
        if is_assertion and ((text == b"true" and graph.args[node]) or not site.asks):
            continue  # like dropping the assertion, which failed, and no declaration goes with it
        if rank >= first and site.is_visible(text, node):
            yield Candidate("constant", graph, {node: site.leaf(text, sort)}, node)


def to_declared(site: Site, node: int) -> Iterator[Candidate]:
    """Replaces a node by the first visible declared constant of its sort."""
    graph, sort = site.graph, site.graph.sort[node]
    for text in site.declared(sort)[:_MANY_DIRECT] if sort is not None else ():
        if text == graph.shape[node].head:
            return
        if site.is_visible(text, node):
            yield Candidate("declared variable", graph, {node: site.leaf(text, sort)}, node)
            return


def to_fresh(site: Site, node: int, least: int = 1) -> Iterator[Candidate]:
    """Replaces a node by a new variable, if it is long compared to the declaration."""
    # A fresh variable says "any value": it cuts a term off without choosing what it is worth,
    # where a constant may be simplified away, and with it the path of the solver that fails.
    graph, material, around = site.graph, site.material, site.graph.around
    sort = graph.sort[node]
    if sort is None or around.barrier or not _is_declarable(sort):
        return
    written = print_sort(sort)
    uses = material.uses_of(written)
    place = around.outer[site.analysis.commands[node][0]]
    if any(around.visible[each][0] >= place for each in uses if each in around.visible):
        return
    name = around.spare[graph.fresh]
    declaration = material.declaration(name, written)
    if site.analysis.weight[node] > least * len(declaration):
        leaf = graph.add(graph.shapes.leaf(name, uses, declaration), (), sort)
        after = replace(graph, fresh=graph.fresh + 1)
        yield Candidate("fresh variable", after, {node: leaf}, node)


def _is_declarable(sort: Sort) -> bool:
    """Return whether variables of a sort can be declared."""
    return sort != "RegLan" and not is_open(sort) and not (sort[0] == "->" and len(sort) > 1)


# Arguments, bindings and bound variables


def _runs(end: int, size: int, keep: int = 0) -> Iterator[tuple[int, int]]:
    """Yield runs of `end` elements from the back, as begin and end, halved after each failure.

    All but `keep` of the elements may be in a run.
    """
    # From the back, as later arguments rarely are what earlier ones need, and by halves, as ddmin
    # does (Zeller and Hildebrandt, TSE 2002), but without trying complements: those are hoists.
    while end > 0:
        size = min(size, end, keep)
        yield end - size, end
        if size > 1:
            size //= 2
        else:
            end -= 1


def drops(site: Site, node: int, run: tuple[int, int] | None) -> Iterator[Candidate]:
    """Drops runs of arguments of a variadic operator, from the back."""
    graph = site.graph
    shape, args = graph.shape[node], graph.args[node]
    droppable = len(args) - _least(graph, node)
    if droppable <= 0:
        return
    end, size = run or (len(args), max(1, droppable // 2))
    for begin, stop in _runs(min(end, len(args)), size, droppable):
        left = args[:begin] + args[stop:]
        other = left[0] if len(left) == 1 else site.like(node, shape.head, left)
        goes_on = begin, 2 * (stop - begin)
        yield Candidate("drop arguments", graph, {node: other}, other, goes_on)


def _least(graph: Graph, node: int) -> int:
    """Return how many arguments a node has at least; all if it is no variadic operator."""
    shape = graph.shape[node]
    least = _AT_LEAST.get(shape.head)
    if least is None or shape.arity <= least or not graph.is_operator(node):
        return shape.arity
    sorts = {graph.sort[each] for each in (node, *graph.args[node])} - {None}
    return shape.arity if least == 1 and len(sorts) > 1 else least


def bindings(site: Site, node: int, run: tuple[int, int] | None) -> Iterator[Candidate]:
    """Drops runs of bindings of a let in the script, with constants instead of the names."""
    graph, bound = site.graph, _names_of_let(site.graph.shape[node])
    end, size = run or (len(bound), len(bound))
    for begin, stop in _runs(min(end, len(bound)), size, len(bound)):
        free = site.analysis.free[graph.args[node][-1]]
        used = [each for each in bound[begin:stop] if each in free]
        values = {each: site.constant(graph.variables[each], node) for each in used}
        if None not in values.values():
            other = _unbound_from_let(site, node, bound[begin:stop], values)
            goes_on = begin, 2 * (stop - begin)
            yield Candidate("drop bindings", graph, {node: other}, other, goes_on)


def expanded(site: Site, node: int) -> Iterator[Candidate]:
    """Writes out the names of a let: all, then each."""
    # All at once mostly succeeds if the failure is not about lets; one at a time finds the one
    # that it is about.
    bound = _names_of_let(site.graph.shape[node])
    terms = dict(zip(bound, site.graph.args[node], strict=False))
    for some in dict.fromkeys((bound, *((each,) for each in bound))):
        other = _unbound_from_let(site, node, some, {each: terms[each] for each in some})
        yield Candidate("expand bindings", site.graph, {node: other}, other)


def _names_of_let(shape: Shape) -> tuple[int, ...]:
    """Return the variables of a let, one for each value; none if it has another form."""
    bound = shape.binds[-1] if shape.head == b"let" and shape.binds else ()
    expected = [item for place, each in enumerate(bound) for item in (each, ~place)]
    if [item for item in shape.items if isinstance(item, int)] != [*expected, ~len(bound)]:
        return ()
    # A coarse graph has values that are only part of a binding.
    values = range(3, len(shape.items) - 3, 4)
    return bound if all(not shape.items[at - 1].strip(_BLANK) for at in values) else ()  # type: ignore[union-attr]


def _unbound_from_let(site: Site, node: int, gone: Sequence[int], values: Mapping[int, Any]) -> int:
    """Add a let without some of its bindings, with other terms in place of their names."""
    graph, bound, args = site.graph, _names_of_let(site.graph.shape[node]), site.graph.args[node]
    body = site.substituted(args[-1], values) if values else args[-1]
    left = [place for place, each in enumerate(bound) if each not in gone]
    if not left:
        return body
    # The text as the builder has it, in one piece between the items: equal lets are one shape.
    items: list[bytes | int] = []
    before = b"(let (("
    for number, place in enumerate(left):
        items += (before, bound[place], b" ", ~number)
        before = b") ("
    items += (b")) ", ~len(left), b")")
    names = tuple(bound[place] for place in left)
    let = Shape(tuple(items), b"let", len(left) + 1, (*((),) * len(left), names))
    kept = (*(args[place] for place in left), body)
    return graph.add(graph.shapes.get(let), kept, graph.sort[node])


def unbound(site: Site, node: int) -> Iterator[Candidate]:
    """Drops a variable of a quantifier, replacing its uses by a value."""
    graph, shape = site.graph, site.graph.shape[node]
    bound = shape.binds[0] if shape.binds else ()
    if not site.are_sorted(bound):
        return
    body = graph.args[node][0]
    for variable in bound:
        inner = body
        if variable in site.analysis.free[body]:
            constant = site.constant(graph.variables[variable], node)
            if constant is None:
                continue
            inner = site.substituted(body, {variable: constant})
        left = [each for each in bound if each != variable]
        if left:
            quantifier = site.quantifier(shape.head, left)
            inner = graph.add(quantifier, (inner,), graph.sort[node])
        yield Candidate("drop bound variable", graph, {node: inner}, node)
