"""Closing moves on what binds variables: definitions written out, quantifiers merged."""

from __future__ import annotations

from collections.abc import Iterator

from reducekit.frontends.smt2.graph.model import Shape
from reducekit.frontends.smt2.graph.moves import QUANTIFIERS, Candidate, Moves

_DEFINES = (b"define-fun", b"define-fun-rec")


def inline(moves: Moves) -> Iterator[Candidate]:
    """A defined function goes: its body, with the arguments in it, stands at each use."""
    graph, definitions = moves.graph, moves.material.terms.script.definitions
    uses: dict[int, list[int]] = {}
    for node in moves.nodes:
        shape = graph.shape[node]
        if len(shape.uses) == 1 and not shape.raw:
            uses.setdefault(shape.uses[0], []).append(node)
    for command, root in enumerate(graph.roots):
        shape = graph.shape[root]
        numbers = [
            number
            for number in graph.around.defines[command]
            if definitions[number].kind == "define"
        ]
        if shape.head not in _DEFINES or len(numbers) != 1 or len(graph.args[root]) != 1:
            continue
        (body,) = graph.args[root]
        bound = shape.binds[0] if shape.binds else ()
        calls = uses.get(numbers[0], [])
        recursive = set(moves.analysis.cone(body))
        if not calls or not recursive.isdisjoint(calls):
            continue
        variables = [item for item in shape.items if isinstance(item, int) and item >= 0]
        # A variable that the body does not use is no item that the shape binds.
        if len(bound) != len(variables):
            continue
        if any(len(graph.args[node]) != len(variables) for node in calls):
            continue
        if not all(moves.fits(body, node) for node in calls):
            continue
        # Of calls within calls the inner ones come first, and the others in a round of their own.
        inner = set(calls)
        calls = [
            node for node in calls if inner.isdisjoint(set(moves.analysis.cone(node)) - {node})
        ]
        replaced = {
            node: moves.substituted(body, dict(zip(variables, graph.args[node], strict=True)))
            for node in calls
        }
        yield Candidate("inline", graph, replaced, -1)


def nested(moves: Moves) -> Iterator[Candidate]:
    """A quantifier directly within one of its kind becomes part of it."""
    graph = moves.graph
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


def _bound(shape: Shape) -> tuple[int, ...]:
    return tuple(item for item in shape.items if isinstance(item, int) and item >= 0)
