"""Closing moves on binders: expanding definitions, merging quantifiers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from typing import NamedTuple

from reducekit.frontends.smt2.graph.model import Graph, variables_of
from reducekit.frontends.smt2.graph.site import QUANTIFIERS, Candidate, Site

_RECURSIVE = b"define-fun-rec"
_DEFINES = (b"define-fun", _RECURSIVE)


class Definition(NamedTuple):
    """A function defined by a command, with its calls."""

    command: int
    number: int
    """Of the definition in the script."""
    variables: Sequence[int]
    body: int
    calls: list[int]


def has_definitions(graph: Graph) -> bool:
    """Return whether any command defines a function, which is cheaper than finding its uses."""
    return any(graph.shape[root].head in _DEFINES for root in graph.roots)


def definitions(site: Site) -> Iterator[Definition]:
    """Yield the defined functions that can be expanded at all their uses."""
    # All uses or none: while one call is left, so is the definition, and the text mostly grows.
    graph, known = site.graph, site.material.definitions
    if not has_definitions(graph):
        return
    uses: dict[int, list[int]] = {}
    for node in site.nodes:
        shape = graph.shape[node]
        if len(shape.uses) == 1 and not shape.raw:
            uses.setdefault(shape.uses[0], []).append(node)
    for command, root in enumerate(graph.roots):
        shape = graph.shape[root]
        numbers = [each for each in graph.around.defines[command] if known[each].kind == "define"]
        if shape.head not in _DEFINES or len(numbers) != 1 or len(graph.args[root]) != 1:
            continue
        (number,), (body,) = numbers, graph.args[root]
        calls, variables = uses.get(number, []), variables_of(shape)
        bound = shape.binds[0] if shape.binds else ()
        # A variable that the body does not use is no item that the shape binds.
        if not calls or len(bound) != len(variables):
            continue
        if shape.head == _RECURSIVE and not set(site.analysis.cone(body)).isdisjoint(calls):
            continue
        if all(len(graph.args[each]) == len(bound) and site.fits(body, each) for each in calls):
            yield Definition(command, number, variables, body, calls)


def named_terms(site: Site) -> tuple[dict[int, int], set[int]]:
    """Return the replacements of the uses of functions without parameters, and their commands.

    Such a function is a name for a term, like a let: its body replaces it, and shared terms are
    printed by `let`. The commands are those of functions that nothing else uses.
    """
    found = [each for each in definitions(site) if not each.variables]
    replaced = {call: each.body for each in found for call in each.calls}
    shapes = site.graph.shape
    others = {use for node in site.nodes if node not in replaced for use in shapes[node].uses}
    return replaced, {each.command for each in found if each.number not in others}


def inline(site: Site) -> Iterator[Candidate]:
    """Expands defined functions at each use, and removes them: all, halves, then one at a time."""
    found = [_at_calls(site, each) for each in definitions(site)]
    half = len(found) // 2
    for some in (found, found[:half], found[half:]):
        if len(some) > 1:
            every = {call: body for each in some for call, body in each.items()}
            yield Candidate("inline", site.graph, every, -1)
    for each in found:
        yield Candidate("inline", site.graph, each, -1)


def _at_calls(site: Site, definition: Definition) -> dict[int, int]:
    """Return the expansions of the calls of a function.

    Of nested calls, only the inner ones are expanded. The others follow in the next round.
    """
    inner, args = set(definition.calls), site.graph.args
    return {
        call: site.substituted(
            definition.body, dict(zip(definition.variables, args[call], strict=True))
        )
        for call in sorted(inner)
        if inner.isdisjoint(set(site.analysis.cone(call)) - {call})
    }


def nested(site: Site) -> Iterator[Candidate]:
    """Merges directly nested quantifiers of the same kind; replaces a bound variable by another, or
    by the other side of an equation."""
    graph = site.graph
    for node in site.nodes:
        if _is_plain(site, node):
            yield from _fewer(site, node)
    for node in site.nodes:
        shape = graph.shape[node]
        if not _is_plain(site, node) or not shape.binds:
            continue
        (inner,) = graph.args[node]
        below = graph.shape[inner]
        if below.head != shape.head or not _is_plain(site, inner) or not below.binds:
            continue
        # The inner variables must not belong to two binders. And a quantifier must not bind one
        # name twice, as the printer renames only what would be captured.
        bound = (*variables_of(shape), *variables_of(below))
        if len(site.analysis.users[inner]) > 1 or len({graph.names[v] for v in bound}) < len(bound):
            continue
        merged = graph.add(site.quantifier(shape.head, bound), graph.args[inner], "Bool")
        yield Candidate("merge quantifiers", graph, {node: merged}, node)


def _is_plain(site: Site, node: int) -> bool:
    """Return whether a node is a quantifier without patterns and name, whose sorts are known."""
    shape = site.graph.shape[node]
    plain = shape.head in QUANTIFIERS and len(site.graph.args[node]) == 1 and not shape.names
    return plain and site.are_sorted(variables_of(shape))


def _fewer(site: Site, node: int) -> Iterator[Candidate]:
    """Yield a quantifier with one of its variables replaced by another term."""
    # One variable less: the result is weaker for `forall`, stronger for `exists`. What takes its
    # place uses variables of this quantifier or around it only. An equation names a term that keeps
    # the meaning (the one-point rule: `(exists ((x S)) (and (= x t) p))` is p with t for x);
    # the first variable of the same sort is tried, too.
    graph = site.graph
    shape, (body,) = graph.shape[node], graph.args[node]
    bound = variables_of(shape)
    cone = site.analysis.cone(body)
    leaves = {graph.shape[each].variable: each for each in cone}
    terms: dict[int, dict[int, None]] = {variable: {} for variable in bound}
    for place, variable in enumerate(bound):
        for other in bound[:place]:
            if graph.variables[other] == graph.variables[variable] and other in leaves:
                terms[variable][leaves[other]] = None
                break
    for variable, term in _equations(site, cone, {*bound, *site.analysis.free[node]}):
        if variable in terms:
            terms[variable][term] = None
    for variable, found in terms.items():
        left = [each for each in bound if each != variable]
        for term in found if variable in leaves else ():
            inner = site.substituted(body, {variable: term})
            if left:
                inner = graph.add(site.quantifier(shape.head, left), (inner,), "Bool")
            yield Candidate("merge bound variable", graph, {node: inner}, node)


def _equations(site: Site, cone: Iterable[int], visible: Set[int]) -> Iterator[tuple[int, int]]:
    """Yield variables, each with a term that an equation says is equal, of visible variables."""
    graph, free = site.graph, site.analysis.free
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
