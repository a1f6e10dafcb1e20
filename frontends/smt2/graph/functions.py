"""Closing moves on what binds variables: definitions written out, quantifiers merged."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from reducekit.frontends.smt2.graph.model import Graph, Shape
from reducekit.frontends.smt2.graph.moves import QUANTIFIERS, Candidate, Moves

_RECURSIVE = b"define-fun-rec"
_DEFINES = (b"define-fun", _RECURSIVE)


@dataclass(frozen=True, slots=True)
class Definition:
    """A function that a command defines, and what calls it."""

    command: int
    number: int
    """Of the definition in the script."""
    variables: list[int]
    body: int
    calls: list[int]


def has_definitions(graph: Graph) -> bool:
    """Tell whether any command defines a function: to look for uses takes an analysis."""
    return any(graph.shape[root].head in _DEFINES for root in graph.roots)


def definitions(moves: Moves) -> Iterator[Definition]:
    """Yield the defined functions whose bodies can stand at all of their uses."""
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
    """Return what stands for the uses of all functions without parameters, and their commands.

    Such a function is a name for a term, as a let is: its body stands for it, and `let` prints what
    is shared. Commands are those of functions that nothing else uses.
    """
    found = [each for each in definitions(moves) if not each.variables]
    replaced = {call: each.body for each in found for call in each.calls}
    shapes = moves.graph.shape
    others = {use for node in moves.nodes if node not in replaced for use in shapes[node].uses}
    return replaced, {each.command for each in found if each.number not in others}


def inline(moves: Moves) -> Iterator[Candidate]:
    """A defined function goes: its body, with the arguments in it, stands at each use. All of
    them, halves, and then one at a time."""
    found = [_at_calls(moves, each) for each in definitions(moves)]
    half = len(found) // 2
    for some in (found, found[:half], found[half:]):
        if len(some) > 1:
            every = {call: body for each in some for call, body in each.items()}
            yield Candidate("inline", moves.graph, every, -1)
    for each in found:
        yield Candidate("inline", moves.graph, each, -1)


def _at_calls(moves: Moves, definition: Definition) -> dict[int, int]:
    """Return the bodies that stand for the calls of a function.

    Of calls within calls those are the inner ones. The others have a round of their own.
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
    """A quantifier directly within one of its kind becomes part of it; a variable of one becomes
    another, or what an equation says that it is."""
    graph = moves.graph
    for node in moves.nodes:
        shape = graph.shape[node]
        if shape.head in QUANTIFIERS and len(graph.args[node]) == 1 and not shape.names:
            yield from _fewer(moves, node)
    for node in moves.nodes:
        shape = graph.shape[node]
        if shape.head not in QUANTIFIERS or len(shape.binds) != 1 or shape.names:
            continue
        (inner,) = graph.args[node]
        below = graph.shape[inner]
        if below.head != shape.head or len(below.binds) != 1 or below.names:
            continue
        if len(moves.analysis.users[inner]) > 1:
            continue  # its variables would belong to two binders
        bound = (*_bound(shape), *_bound(below))
        if len({graph.names[each] for each in bound}) < len(bound):
            continue
        both = moves.quantifier(shape.head, bound)
        merged = graph.add(both, graph.args[inner], "Bool")
        yield Candidate("merge quantifiers", graph, {node: merged}, node)


def _fewer(moves: Moves, node: int) -> Iterator[Candidate]:
    """Yield a quantifier without one of its variables, another term in its place."""
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
