"""Closing moves on binders: expanding definitions, merging quantifiers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass

from reducekit.frontends.smt2.graph.model import Graph, Shape
from reducekit.frontends.smt2.graph.moves import QUANTIFIERS, Candidate, Moves

_RECURSIVE = b"define-fun-rec"
_DEFINES = (b"define-fun", _RECURSIVE)


@dataclass(frozen=True, slots=True)
class Definition:
    """A function defined by a command, with its calls."""

    command: int
    number: int
    """Of the definition in the script."""
    variables: list[int]
    body: int
    calls: list[int]


def has_definitions(graph: Graph) -> bool:
    """Return whether any command defines a function, which is cheaper than finding its uses."""
    return any(graph.shape[root].head in _DEFINES for root in graph.roots)


def definitions(moves: Moves) -> Iterator[Definition]:
    """Yield the defined functions that can be expanded at all their uses."""
    graph = moves.graph
    if not has_definitions(graph):
        return
    uses: dict[int, list[int]] = {}
    for node in moves.nodes:
        shape = graph.shape[node]
        if len(shape.uses) == 1 and not shape.raw:
            uses.setdefault(shape.uses[0], []).append(node)
    for command in range(len(graph.roots)):
        found = _definition(moves, command, uses)
        if found is not None and _is_expandable(moves, found):
            yield found


def _definition(moves: Moves, command: int, uses: Mapping[int, list[int]]) -> Definition | None:
    """Return the one function that a command defines, with its calls; None for other commands."""
    graph, known = moves.graph, moves.material.terms.script.definitions
    root = graph.roots[command]
    shape = graph.shape[root]
    numbers = [number for number in graph.around.defines[command] if known[number].kind == "define"]
    if shape.head not in _DEFINES or len(numbers) != 1 or len(graph.args[root]) != 1:
        return None
    (body,) = graph.args[root]
    variables = [item for item in shape.items if isinstance(item, int) and item >= 0]
    return Definition(command, numbers[0], variables, body, uses.get(numbers[0], []))


def _is_expandable(moves: Moves, found: Definition) -> bool:
    """Return whether the body may stand for each call: there are some, and none is inside it."""
    # All uses or none: while one call is left, so is the definition, and the text mostly grows.
    graph, calls = moves.graph, found.calls
    shape = graph.shape[graph.roots[found.command]]
    if not calls:
        return False
    if shape.head == _RECURSIVE and not set(moves.analysis.cone(found.body)).isdisjoint(calls):
        return False
    # A variable that the body does not use is no item that the shape binds.
    bound = shape.binds[0] if shape.binds else ()
    if len(bound) != len(found.variables):
        return False
    return all(
        len(graph.args[node]) == len(bound) and moves.fits(found.body, node) for node in calls
    )


def named_terms(moves: Moves) -> tuple[dict[int, int], set[int]]:
    """Return the replacements of the uses of functions without parameters, and their commands.

    Such a function is a name for a term, like a let: its body replaces it, and shared terms are
    printed by `let`. The commands are those of functions that nothing else uses.
    """
    found = [each for each in definitions(moves) if not each.variables]
    replaced = {call: each.body for each in found for call in each.calls}
    shapes = moves.graph.shape
    others = {use for node in moves.nodes if node not in replaced for use in shapes[node].uses}
    return replaced, {each.command for each in found if each.number not in others}


def inline(moves: Moves) -> Iterator[Candidate]:
    """Expands defined functions at each use, and removes them: all, halves, then one at a time."""
    found = [_at_calls(moves, each) for each in definitions(moves)]
    half = len(found) // 2
    for some in (found, found[:half], found[half:]):
        if len(some) > 1:
            every = {call: body for each in some for call, body in each.items()}
            yield Candidate("inline", moves.graph, every, -1)
    for each in found:
        yield Candidate("inline", moves.graph, each, -1)


def _at_calls(moves: Moves, definition: Definition) -> dict[int, int]:
    """Return the expansions of the calls of a function.

    Of nested calls, only the inner ones are expanded. The others follow in the next round.
    """
    inner = set(definition.calls)
    cone, args = moves.analysis.cone, moves.graph.args
    calls = [node for node in inner if inner.isdisjoint(set(cone(node)) - {node})]
    bound = definition.variables
    return {
        node: moves.substituted(definition.body, dict(zip(bound, args[node], strict=True)))
        for node in sorted(calls)
    }


def nested(moves: Moves) -> Iterator[Candidate]:
    """Merges directly nested quantifiers of the same kind; replaces a bound variable by another, or
    by the other side of an equation."""
    graph = moves.graph
    for node in moves.nodes:
        if _is_plain(moves, node):
            yield from _fewer(moves, node)
    for node in moves.nodes:
        if _is_plain(moves, node) and graph.shape[node].binds:
            yield from _with_inner(moves, node)


def _with_inner(moves: Moves, node: int) -> Iterator[Candidate]:
    """Yield a quantifier merged with the one that is its body."""
    # A quantifier must not bind one name twice, and the printer renames only what would be
    # captured.
    graph, shape = moves.graph, moves.graph.shape[node]
    (inner,) = graph.args[node]
    below = graph.shape[inner]
    if below.head != shape.head or not _is_plain(moves, inner) or not below.binds:
        return
    if len(moves.analysis.users[inner]) > 1:
        return  # its variables would belong to two binders
    bound = (*_bound(shape), *_bound(below))
    if len({graph.names[each] for each in bound}) < len(bound):
        return
    both = moves.quantifier(shape.head, bound)
    merged = graph.add(both, graph.args[inner], "Bool")
    yield Candidate("merge quantifiers", graph, {node: merged}, node)


def _is_plain(moves: Moves, node: int) -> bool:
    """Return whether a node is a quantifier without patterns and name, whose sorts are known."""
    shape = moves.graph.shape[node]
    return (
        shape.head in QUANTIFIERS
        and len(moves.graph.args[node]) == 1
        and not shape.names
        and moves.are_sorted(_bound(shape))
    )


def _fewer(moves: Moves, node: int) -> Iterator[Candidate]:
    """Yield a quantifier with one of its variables replaced by another term."""
    # One variable less: the result is weaker for `forall`, stronger for `exists`. What takes its
    # place uses variables of this quantifier or around it only. An equation names a term that keeps
    # the meaning (the one-point rule: `(exists ((x S)) (and (= x t) p))` is p with t for x);
    # besides, the first variable of the same sort is tried.
    graph = moves.graph
    shape, (body,) = graph.shape[node], graph.args[node]
    bound = _bound(shape)
    cone = moves.analysis.cone(body)
    leaves = {graph.shape[each].variable: each for each in cone}
    terms: dict[int, dict[int, None]] = {variable: {} for variable in bound}
    for place, variable in enumerate(bound):
        for other in bound[:place]:
            if graph.variables[other] == graph.variables[variable] and other in leaves:
                terms[variable][leaves[other]] = None
                break
    for variable, term in _equations(moves, cone, {*bound, *moves.analysis.free[node]}):
        if variable in terms:
            terms[variable][term] = None
    for variable, found in terms.items():
        if variable not in leaves:
            continue
        left = [each for each in bound if each != variable]
        for term in found:
            inner = moves.substituted(body, {variable: term})
            if left:
                inner = graph.add(moves.quantifier(shape.head, left), (inner,), "Bool")
            yield Candidate("merge bound variable", graph, {node: inner}, node)


def _bound(shape: Shape) -> tuple[int, ...]:
    return tuple(item for item in shape.items if isinstance(item, int) and item >= 0)


def _equations(moves: Moves, cone: Iterable[int], visible: Set[int]) -> Iterator[tuple[int, int]]:
    """Yield variables, each with a term that an equation says is equal, of visible variables."""
    graph, free = moves.graph, moves.analysis.free
    for each in cone:
        if graph.shape[each].head != b"=" or len(graph.args[each]) != 2:
            continue
        one, other = graph.args[each]
        for side, term in ((one, other), (other, one)):
            variable = graph.shape[side].variable
            if variable < 0 or graph.sort[side] != graph.sort[term]:
                continue
            if variable not in free[term] and visible >= free[term]:
                yield variable, term
