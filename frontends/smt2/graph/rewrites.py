"""Closing moves that preserve the meaning of a term, or nearly: shorter forms, constant folding."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping

from reducekit.frontends.smt2.graph.site import Candidate, Site
from reducekit.frontends.smt2.language.constants import shortest

# Not equivalent, and need not be: the test decides. A stronger relation that is asserted has no new
# models, so it keeps at least an answer `unsat`.
_STRONGER: Mapping[bytes, bytes] = {
    b"<=": b"<",
    b">=": b">",
    b"fp.leq": b"fp.lt",
    b"fp.geq": b"fp.gt",
    b"str.<=": b"str.<",
    b"str.replace_all": b"str.replace",
    **dict.fromkeys(b"distinct xor => fp.eq bvule bvuge bvsle bvsge".split(), b"="),
    **dict.fromkeys(b"bvult bvugt bvslt bvsgt".split(), b"="),
    **dict.fromkeys(b"str.prefixof str.suffixof str.contains".split(), b"="),
}
"""Shorter operators of the same sorts, which mostly imply the original."""
_UNARY: Mapping[bytes, bytes] = {
    b"-": b"-",
    b"bvsub": b"bvneg",
    b"bvnand": b"bvnot",
    b"bvnor": b"bvnot",
}
"""For binary operators, unary ones that exercise similar parts of a solver."""
_CHARACTERS = frozenset(b"re.range str.to_re str.to.re".split())
"""Regular expressions without regular subexpressions."""
_EXTRACT = re.compile(rb"\(_ extract ([0-9]+) ([0-9]+)\)")
_ZERO = re.compile(rb"\(_ zero_extend ([0-9]+)\)")
_EITHER_SIGN = re.compile(rb"\(_ (?:zero|sign)_extend ([0-9]+)\)")
_RELATIONS = frozenset(b"= distinct bvult bvule bvugt bvuge bvcomp".split())
# Wider results are not computed: their digits are seldom shorter than the operator.
_WIDEST = 1 << 12


def shorter(site: Site) -> Iterator[Candidate]:
    """Replaces a term by a shorter form: a stronger relation, a comparison, an operand, a smaller
    set, `re.allchar`."""
    graph = site.graph
    for node in site.nodes:
        shape, args = graph.shape[node], graph.args[node]
        # More than an operator of a theory and its arguments?
        if not args or shape.uses or shape.names or shape.raw or shape.binds:
            continue
        other = _shorter(site, node)
        if other is not None:
            yield Candidate("shorter form", graph, {node: other}, node)
        if shape.head == b"set.insert":
            for position in range(len(args) - 1):
                left = args[:position] + args[position + 1 :]
                fewer = site.like(node, shape.head, left) if len(left) > 1 else left[0]
                yield Candidate("fewer elements", graph, {node: fewer}, node)
        match = _unary(site, _EXTRACT, node)
        if match is not None:
            other = _extracted(site, node, int(match[1]), int(match[2]))
            if other is not None:
                yield Candidate("shorter form", graph, {node: other}, node)


def _shorter(site: Site, node: int) -> int | None:
    """Add a shorter form of a node; None if none is known."""
    graph, sort, args = site.graph, site.graph.sort[node], site.graph.args[node]
    head, inner = graph.shape[node].head, args[0]
    first, below = graph.shape[inner].head, graph.args[inner]
    if len(args) == 2:
        if head in _STRONGER:
            return site.like(node, _STRONGER[head], args)
        if head in _UNARY:
            return site.like(node, _UNARY[head], args[:1])
        if head in _RELATIONS:
            # Zeros that extend both sides of a relation change nothing.
            one, other = (_unary(site, _ZERO, each) for each in args)
            if one and other and one[1] == other[1]:
                return site.like(node, head, tuple(graph.args[each][0] for each in args))
    if head == b"ite" and sort == ("BitVec", 1):
        is_comparison = first == b"=" and len(below) == 2 and graph.width(below[0])
        return site.like(node, b"bvcomp", below) if is_comparison else None
    if head == b"seq.nth" and first == b"seq.unit" and len(below) == 1:
        return below[0]
    if head in _CHARACTERS and sort == "RegLan":
        return site.leaf(b"re.allchar", sort)
    return None


def _unary(site: Site, operator: re.Pattern[bytes], node: int) -> re.Match[bytes] | None:
    """Return the match of an operator if it has exactly one argument (otherwise ill-sorted)."""
    one = len(site.graph.args[node]) == 1
    return operator.fullmatch(site.graph.shape[node].head) if one else None


def _extracted(site: Site, node: int, high: int, low: int) -> int | None:
    """Add an extraction from the argument of a concatenation, extension or extraction."""
    graph = site.graph
    (argument,) = graph.args[node]
    below = graph.args[argument]
    inner = _unary(site, _EXTRACT, argument)
    target = -1
    if inner is not None:
        target, high, low = below[0], high + int(inner[2]), low + int(inner[2])
    elif _unary(site, _EITHER_SIGN, argument) and high < graph.width(below[0]):
        target = below[0]
    elif graph.shape[argument].head == b"concat":
        offset = 0
        for each in reversed(below):
            if offset <= low and high < offset + graph.width(each):
                target, high, low = each, high - offset, low - offset
                break
            offset += graph.width(each)
    if target < 0:
        return None
    if (high, low) == (graph.width(target) - 1, 0):
        return target
    return site.like(node, b"(_ extract %d %d)" % (high, low), (target,))


def eliminate(site: Site) -> Iterator[Candidate]:
    """Replaces a declared variable by the other side of an equation (in the equation itself, by a
    constant), or by a constant, dropping assertions that become constant."""
    graph = site.graph
    yield from _grounded(site)
    for node in site.nodes:
        args = graph.args[node]
        if graph.shape[node].head != b"=" or len(args) != 2:
            continue
        for variable, term in (args, args[::-1]):
            replaced = _eliminated(site, node, variable, term)
            if replaced:
                yield Candidate("eliminate variable", graph, replaced, variable)


def _eliminated(site: Site, node: int, variable: int, term: int) -> dict[int, int]:
    """Return the replacements that put a term in place of a variable; none if it does not fit."""
    graph = site.graph
    own, sort = graph.shape[variable], graph.sort[variable]
    if own.arity or not own.uses or own.variable >= 0 or variable == term:
        return {}
    if sort != graph.sort[term] or site.analysis.free[term] or not site.fits(term, variable):
        return {}
    if term not in site.analysis.above((variable,)):
        return {variable: term}
    # The term contains the variable: in it, the first literal of the sort takes its place.
    literals = [each for each in site.constants(sort) if not site.material.uses_of(each)]
    if not literals:
        return {}
    copies = {variable: site.leaf(literals[0], sort)}
    for each in site.analysis.cone(term):
        if each not in copies:
            args = tuple(copies[below] for below in graph.args[each])
            same = args == graph.args[each]
            copies[each] = each if same else graph.add(graph.shape[each], args, graph.sort[each])
    return {variable: copies[term], node: site.leaf(b"true", "Bool")}


def _grounded(site: Site) -> Iterator[Candidate]:
    """Replace variables by longer constants, and drop the assertions that become constant."""
    graph = site.graph
    closed = _closed_assertions(site)
    for node in site.nodes:
        shape, sort = graph.shape[node], graph.sort[node]
        if shape.arity or shape.variable >= 0 or len(shape.uses) != 1:
            continue
        about = closed.get(shape.uses[0], [])
        texts = site.constants(sort)[:1]
        if not about or node in about:
            continue
        if texts and len(texts[0]) > len(shape.head) and not site.material.uses_of(texts[0]):
            truth = dict.fromkeys(about, site.leaf(b"true", "Bool"))
            replaced = {**truth, node: site.leaf(texts[0], sort)}
            yield Candidate("eliminate variable", graph, replaced, node)


def _closed_assertions(site: Site) -> dict[int, list[int]]:
    """Return what is asserted of one symbol alone, by symbols that others assert of, too."""
    # `(= x t)`, `(< 0 x)`: such assertions give a symbol its value, for others to use. With a
    # constant in its place they are true, and go; what uses the symbol stays. Where no other
    # assertion uses it, dropping the assertions does more, and was tried.
    graph, definitions = site.graph, site.material.definitions
    asserted: dict[int, list[int]] = {}
    count: Counter[int] = Counter()
    for root in graph.roots:
        if graph.shape[root].head != b"assert" or len(graph.args[root]) != 1:
            continue
        (term,) = graph.args[root]
        shapes = [graph.shape[node] for node in site.analysis.cone(term)]
        used = {each for shape in shapes for each in shape.uses}
        symbols = {each for each in used if definitions[each].kind != "sort"}
        count.update(symbols)
        if len(symbols) == 1 and not any(shape.fresh for shape in shapes):
            asserted.setdefault(min(symbols), []).append(term)
    return {each: about for each, about in asserted.items() if len(about) < count[each]}


def values(site: Site) -> Iterator[Candidate]:
    """Replaces an operator on constants by its value."""
    graph = site.graph
    for node in site.nodes:
        sort, width = graph.sort[node], graph.width(node)
        if sort != "Bool" and not 0 < width <= _WIDEST:
            continue
        result = _result(site, node)
        if result is None:
            continue
        truth = b"true" if result else b"false"
        text = truth if sort == "Bool" else shortest(result, width)
        yield Candidate("value", graph, {node: site.leaf(text, sort)}, node)


def _result(site: Site, node: int) -> int | None:
    """Return the value of an operator on constants; None for other terms."""
    graph, args = site.graph, site.graph.args[node]
    if not args or graph.shape[node].uses or any(graph.args[each] for each in args):
        return None
    operands = []
    for each in args:
        shape, value = graph.shape[each], graph.value(each)
        if graph.sort[each] == "Bool" and not shape.uses and shape.variable < 0:
            value = {b"true": 1, b"false": 0}.get(shape.head)
        if value is None:
            return None
        operands.append(value)
    return _evaluated(graph.shape[node].head, operands, [graph.width(each) for each in args])


_BINARY: Mapping[bytes, Callable[[int, int], int]] = {
    b"bvadd": int.__add__,
    b"bvsub": int.__sub__,
    b"bvmul": int.__mul__,
    b"bvand": int.__and__,
    b"bvor": int.__or__,
    b"bvxor": int.__xor__,
    b"and": int.__and__,
    b"or": int.__or__,
    b"xor": int.__xor__,
    b"=": lambda one, other: int(one == other),
    b"distinct": lambda one, other: int(one != other),
    b"bvcomp": lambda one, other: int(one == other),
    b"bvult": lambda one, other: int(one < other),
    b"bvule": lambda one, other: int(one <= other),
    b"bvugt": lambda one, other: int(one > other),
    b"bvuge": lambda one, other: int(one >= other),
    b"=>": lambda one, other: int(not one or other),
}
_UNARY_VALUE: Mapping[bytes, Callable[[int], int]] = {
    b"not": lambda truth: 1 - truth,
    b"bvnot": int.__invert__,
    b"bvneg": int.__neg__,
}


def _evaluated(head: bytes, operands: list[int], widths: list[int]) -> int | None:
    """Return the value of an operator; that of a bit-vector may exceed its width."""
    first = operands[0]
    if len(operands) == 1:
        if head in _UNARY_VALUE:
            return _UNARY_VALUE[head](first)
        match = _EXTRACT.fullmatch(head)
        if match is not None:
            return first >> int(match[2])
        return first if _ZERO.fullmatch(head) else None
    if len(operands) == 2 and head in _BINARY:
        return _BINARY[head](*operands)
    if len(operands) == 2 and head == b"concat":
        return first << widths[1] | operands[1]
    if len(operands) == 3 and head == b"ite":
        return operands[1] if first else operands[2]
    return None
