"""Closing moves that preserve the meaning of a term, or nearly: shorter forms, constant folding."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from reducekit.frontends.smt2.graph.model import Shape
from reducekit.frontends.smt2.graph.moves import Candidate, Moves
from reducekit.frontends.smt2.language.spelling import literal_value, shortest

# Not equivalent, and need not be: the test decides. A stronger relation that is asserted has no new
# models, so it keeps at least an answer `unsat`.
_STRONGER: Mapping[bytes, bytes] = {
    b"<=": b"<",
    b">=": b">",
    b"distinct": b"=",
    b"bvule": b"=",
    b"bvuge": b"=",
    b"bvsle": b"=",
    b"bvsge": b"=",
    b"bvult": b"=",
    b"bvugt": b"=",
    b"bvslt": b"=",
    b"bvsgt": b"=",
    b"fp.leq": b"fp.lt",
    b"fp.geq": b"fp.gt",
    b"fp.eq": b"=",
    b"str.<=": b"str.<",
    b"str.prefixof": b"=",
    b"str.suffixof": b"=",
    b"str.contains": b"=",
    b"str.replace_all": b"str.replace",
    b"xor": b"=",
    b"=>": b"=",
}
"""Shorter operators of the same sorts, which mostly imply the original."""
_UNARY: Mapping[bytes, bytes] = {b"-": b"-", b"bvsub": b"bvneg"}
"""For binary operators, unary ones that exercise similar parts of a solver."""
_CHARACTERS = frozenset(b"re.range str.to_re str.to.re".split())
"""Regular expressions without regular subexpressions."""
_EXTRACT = re.compile(rb"\(_ extract ([0-9]+) ([0-9]+)\)")
_ZERO = re.compile(rb"\(_ zero_extend ([0-9]+)\)")
_EITHER_SIGN = re.compile(rb"\(_ (?:zero|sign)_extend ([0-9]+)\)")
_RELATIONS = frozenset(b"= distinct bvult bvule bvugt bvuge bvcomp".split())
# Wider results are not computed: their digits are seldom shorter than the operator.
_WIDEST = 1 << 12


def shorter(moves: Moves) -> Iterator[Candidate]:
    """Replaces a term by a shorter form: a stronger relation, a comparison, an operand, a smaller
    set, `re.allchar`."""
    graph = moves.graph
    for node in moves.nodes:
        shape, args = graph.shape[node], graph.args[node]
        if not args or _is_special(shape):
            continue

        other = _binary_shorter(moves, node)
        if other is None:
            other = _special_shorter(moves, node)
        if other is not None:
            yield Candidate("shorter form", graph, {node: other}, node)
        if shape.head == b"set.insert":
            for position in range(len(args) - 1):
                left = args[:position] + args[position + 1 :]
                fewer = _like(moves, node, shape.head, left) if len(left) > 1 else left[0]
                yield Candidate("fewer elements", graph, {node: fewer}, node)
        match = _unary(moves, _EXTRACT, node)
        if match is not None:
            yield from _extracted(moves, node, int(match[1]), int(match[2]))


def _is_special(shape: Shape) -> bool:
    """Return whether a term is more than an operator of a theory and its arguments."""
    return bool(shape.uses or shape.names or shape.raw or shape.binds)


def _like(moves: Moves, node: int, head: bytes, args: tuple[int, ...]) -> int:
    """Add an application of an operator with the sort of a node."""
    graph = moves.graph
    return graph.add(graph.shapes.application(head, len(args)), args, graph.sort[node])


def _binary_shorter(moves: Moves, node: int) -> int | None:
    """Add a shorter operator on the two arguments of a node, or on one; None if none is known."""
    head, args = moves.graph.shape[node].head, moves.graph.args[node]
    if len(args) != 2:
        return None
    if head in _STRONGER:
        return _like(moves, node, _STRONGER[head], args)
    if head in (b"bvnand", b"bvnor"):
        return _like(moves, node, b"bvnot", args[:1])
    if head in _UNARY:
        return _like(moves, node, _UNARY[head], args[:1])
    return _without_zeros(moves, node) if head in _RELATIONS else None


def _without_zeros(moves: Moves, node: int) -> int | None:
    """Add a relation between what both sides extend by as many zeros: these change nothing."""
    graph, args = moves.graph, moves.graph.args[node]
    one, other = (_unary(moves, _ZERO, each) for each in args)
    if one is None or other is None or one[1] != other[1]:
        return None
    inner = tuple(graph.args[each][0] for each in args)
    return _like(moves, node, graph.shape[node].head, inner)


def _is_comparison(moves: Moves, node: int) -> bool:
    """Return whether a term is an equation of two bit-vectors."""
    below = moves.graph.args[node]
    is_equation = moves.graph.shape[node].head == b"=" and len(below) == 2
    return is_equation and _is_vector(moves, below[0])


def _special_shorter(moves: Moves, node: int) -> int | None:
    """Add the shorter form of a comparison of vectors, an element or a range of characters."""
    graph, head, sort = moves.graph, moves.graph.shape[node].head, moves.graph.sort[node]
    inner = graph.args[node][0]
    first, below = graph.shape[inner].head, graph.args[inner]
    if head == b"ite" and sort == ("BitVec", 1):
        return _like(moves, node, b"bvcomp", below) if _is_comparison(moves, inner) else None
    if head == b"seq.nth" and first == b"seq.unit" and len(below) == 1:
        return below[0]
    if head in _CHARACTERS and sort == "RegLan":
        return moves.leaf(b"re.allchar", sort)
    return None


def _unary(moves: Moves, operator: re.Pattern[bytes], node: int) -> re.Match[bytes] | None:
    """Return the match of an operator if it has exactly one argument (otherwise ill-sorted)."""
    one = len(moves.graph.args[node]) == 1
    return operator.fullmatch(moves.graph.shape[node].head) if one else None


def _is_vector(moves: Moves, node: int) -> bool:
    sort = moves.graph.sort[node]
    return isinstance(sort, tuple) and sort[0] == "BitVec"


def _extracted(moves: Moves, node: int, high: int, low: int) -> Iterator[Candidate]:
    """Extract bits from the argument of a concatenation, extension or extraction."""
    graph = moves.graph
    (argument,) = graph.args[node]
    head, below = graph.shape[argument].head, graph.args[argument]
    inner = _unary(moves, _EXTRACT, argument)
    target, bits = -1, (high, low)
    if inner is not None:
        target, bits = below[0], (high + int(inner[2]), low + int(inner[2]))
    elif _unary(moves, _EITHER_SIGN, argument) and high < _width(moves, below[0]):
        target = below[0]
    elif head == b"concat":
        offset = 0
        for each in reversed(below):
            width = _width(moves, each)
            if offset <= low and high < offset + width:
                target, bits = each, (high - offset, low - offset)
            offset += width
    if target < 0:
        return
    if bits == (_width(moves, target) - 1, 0):
        yield Candidate("shorter form", graph, {node: target}, node)
        return
    name = b"(_ extract %d %d)" % bits
    copy = graph.add(graph.shapes.application(name, 1), (target,), graph.sort[node])
    yield Candidate("shorter form", graph, {node: copy}, node)


def _width(moves: Moves, node: int) -> int:
    sort = moves.graph.sort[node]
    return sort[1] if isinstance(sort, tuple) and isinstance(sort[1], int) else 0


def eliminate(moves: Moves) -> Iterator[Candidate]:
    """Replaces a declared variable by the other side of an equation (in the equation itself, by a
    constant), or by a constant, dropping assertions that become constant."""
    graph = moves.graph
    yield from _grounded(moves)
    for node in moves.nodes:
        shape, args = graph.shape[node], graph.args[node]
        if shape.head != b"=" or len(args) != 2:
            continue
        for variable, term in (args, args[::-1]):
            replaced = _eliminated(moves, node, variable, term)
            if replaced:
                yield Candidate("eliminate variable", graph, replaced, variable)


def _eliminated(moves: Moves, node: int, variable: int, term: int) -> dict[int, int]:
    """Return the replacements that put a term in place of a variable; none if it does not fit."""
    graph = moves.graph
    own = graph.shape[variable]
    if own.arity or not own.uses or own.variable >= 0 or variable == term:
        return {}
    if graph.sort[variable] != graph.sort[term] or moves.analysis.free[term]:
        return {}
    if not moves.fits(term, variable):
        return {}
    if term not in moves.above(variable):
        return {variable: term}
    value = _without(moves, term, variable)
    if value is None:
        return {}
    return {variable: value, node: moves.leaf(b"true", "Bool")}


def _grounded(moves: Moves) -> Iterator[Candidate]:
    """Replace variables by longer constants, and drop the assertions that become constant."""
    graph = moves.graph
    closed = _closed_assertions(moves)
    for node in moves.nodes:
        shape = graph.shape[node]
        if shape.arity or shape.variable >= 0 or len(shape.uses) != 1:
            continue
        about = closed.get(shape.uses[0], [])
        texts = moves.constants(graph.sort[node])[:1]
        if not about or node in about:
            continue
        if texts and len(texts[0]) > len(shape.head) and not moves.material.uses_of(texts[0]):
            truth = dict.fromkeys(about, moves.leaf(b"true", "Bool"))
            value = moves.leaf(texts[0], graph.sort[node])
            yield Candidate("eliminate variable", graph, {**truth, node: value}, node)


def _symbols(moves: Moves, nodes: Iterable[int]) -> set[int]:
    """Return the definitions that terms use, without those of sorts."""
    kinds = moves.material.terms.script.definitions
    used = {each for node in nodes for each in moves.graph.shape[node].uses}
    return {each for each in used if kinds[each].kind != "sort"}


def _closed_assertions(moves: Moves) -> dict[int, list[int]]:
    """Return what is asserted of one symbol alone, by symbols that others assert of, too."""
    # `(= x t)`, `(< 0 x)`: such assertions give a symbol its value, for others to use. With a
    # constant in its place they are true, and go; what uses the symbol stays. Where no other
    # assertion uses it, dropping the assertions does more, and was tried.
    graph = moves.graph
    asserted: dict[int, list[int]] = {}
    count: dict[int, int] = {}
    for root in graph.roots:
        if graph.shape[root].head != b"assert" or len(graph.args[root]) != 1:
            continue
        cone = moves.analysis.cone(graph.args[root][0])
        symbols = _symbols(moves, cone)
        for each in symbols:
            count[each] = count.get(each, 0) + 1
        if len(symbols) == 1 and not any(graph.shape[node].fresh for node in cone):
            asserted.setdefault(min(symbols), []).append(graph.args[root][0])
    return {each: about for each, about in asserted.items() if len(about) < count[each]}


def _without(moves: Moves, term: int, variable: int) -> int | None:
    """Add a copy of a term in which the first literal of its sort replaces a variable."""
    graph = moves.graph
    sort = graph.sort[variable]
    literals = [each for each in moves.constants(sort) if not moves.material.uses_of(each)]
    if not literals:
        return None
    copies = {variable: moves.leaf(literals[0], sort)}
    for node in moves.analysis.cone(term):
        if node not in copies:
            args = tuple(copies[each] for each in graph.args[node])
            same = args == graph.args[node]
            copies[node] = node if same else graph.add(graph.shape[node], args, graph.sort[node])
    return copies[term]


def values(moves: Moves) -> Iterator[Candidate]:
    """Replaces an operator on constants by its value."""
    graph = moves.graph
    for node in moves.nodes:
        sort = graph.sort[node]
        if sort != "Bool" and not (_is_vector(moves, node) and _width(moves, node) <= _WIDEST):
            continue
        result = _result(moves, node)
        if result is None:
            continue
        if sort == "Bool":
            text = b"true" if result else b"false"
        else:
            text = shortest(result, _width(moves, node))
        yield Candidate("value", graph, {node: moves.leaf(text, sort)}, node)


def _result(moves: Moves, node: int) -> int | None:
    """Return the value of an operator on constants; None for other terms."""
    graph, args = moves.graph, moves.graph.args[node]
    if not args or graph.shape[node].uses or any(graph.args[each] for each in args):
        return None
    operands = [value for each in args if (value := _value(moves, each)) is not None]
    if len(operands) < len(args):
        return None
    return _evaluated(graph.shape[node].head, operands, [_width(moves, each) for each in args])


def _value(moves: Moves, node: int) -> int | None:
    """Return the value of a literal of a Boolean or a bit-vector."""
    shape = moves.graph.shape[node]
    if shape.uses or shape.variable >= 0:
        return None
    if moves.graph.sort[node] == "Bool":
        return {b"true": 1, b"false": 0}.get(shape.head)
    return literal_value(shape.head) if _is_vector(moves, node) else None


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


def _evaluated(head: bytes, operands: list[int], widths: list[int]) -> int | None:
    """Return the value of an operator; that of a bit-vector may exceed its width."""
    binary = _BINARY.get(head)
    if binary is not None and len(operands) == 2:
        return binary(*operands)
    if head == b"ite" and len(operands) == 3:
        return operands[1] if operands[0] else operands[2]
    if head == b"concat" and len(operands) == 2:
        return operands[0] << widths[1] | operands[1]
    return _evaluated_unary(head, operands[0]) if len(operands) == 1 else None


def _evaluated_unary(head: bytes, value: int) -> int | None:
    if head == b"not":
        return 1 - value
    if head == b"bvnot":
        return ~value
    if head == b"bvneg":
        return -value
    if _ZERO.fullmatch(head):
        return value
    match = _EXTRACT.fullmatch(head)
    return None if match is None else value >> int(match[2])
