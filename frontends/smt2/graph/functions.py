"""Closing moves on binders: expanding definitions, merging quantifiers."""

from __future__ import annotations

from collections.abc import Iterator
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
    graph, known = moves.graph, moves.material.terms.script.definitions
    if not has_definitions(graph):
        return
    uses: dict[int, list[int]] = {}
    for node in moves.nodes:
        shape = graph.shape[node]
        if len(shape.uses) == 1 and not shape.raw:
            uses.setdefault(shape.uses[0], []).append(node)
    for command, root in enumerate(graph.roots):
        shape = graph.shape[root]
        numbers = [
            number for number in graph.around.defines[command] if known[number].kind == "define"
        ]
        if shape.head not in _DEFINES or len(numbers) != 1 or len(graph.args[root]) != 1:
            continue
        (body,) = graph.args[root]
        bound = shape.binds[0] if shape.binds else ()
        calls = uses.get(numbers[0], [])
        if not calls or (
            shape.head == _RECURSIVE and not set(moves.analysis.cone(body)).isdisjoint(calls)
        ):
            continue
        variables = [item for item in shape.items if isinstance(item, int) and item >= 0]
        # A variable that the body does not use is no item that the shape binds.
        if len(bound) != len(variables):
            continue
        if any(len(graph.args[node]) != len(variables) for node in calls):
            continue
        if all(moves.fits(body, node) for node in calls):
            yield Definition(command, numbers[0], variables, body, calls)


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
        shape = graph.shape[node]
        if _is_plain(moves, node):
            yield from _fewer(moves, node)
    for node in moves.nodes:
        shape = graph.shape[node]
        if not _is_plain(moves, node) or not shape.binds:
            continue
        (inner,) = graph.args[node]
        below = graph.shape[inner]
        if below.head != shape.head or not _is_plain(moves, inner) or not below.binds:
            continue
        if len(moves.analysis.users[inner]) > 1:
            continue  # its variables would belong to two binders
        bound = (*_bound(shape), *_bound(below))
        if len({graph.names[each] for each in bound}) < len(bound):
            continue
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
    graph, free = moves.graph, moves.analysis.free
    shape, (body,) = graph.shape[node], graph.args[node]
    bound = _bound(shape)
    cone = moves.analysis.cone(body)
    leaves = {graph.shape[each].variable: each for each in cone}
    visible = {*bound, *free[node]}
    terms: dict[int, dict[int, None]] = {variable: {} for variable in bound}
    for place, variable in enumerate(bound):
        for other in bound[:place]:
            if graph.variables[other] == graph.variables[variable] and other in leaves:
                terms[variable][leaves[other]] = None
                break
    for each in cone:
        if graph.shape[each].head == b"=" and len(graph.args[each]) == 2:
            one, other = graph.args[each]
            for side, term in ((one, other), (other, one)):
                variable = graph.shape[side].variable
                if variable not in terms or graph.sort[side] != graph.sort[term]:
                    continue
                if variable not in free[term] and visible >= free[term]:
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
