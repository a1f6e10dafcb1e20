"""The forms of terms that bind names or are not applications: let, quantifiers, match, `!`.

Each is a generator over the subterms of the form: the walk visits each subterm when
it is yielded, with the names bound at that time, and then resumes the generator. So
each form reads from top to bottom as in the standard (2.7, section 3.6), without
recursion. A form leaves its sort in `walk.sort`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from reducekit.frontends.smt2.language.inference import Inference
from reducekit.frontends.smt2.language.scopes import NOTHING, Definition, Form, Segment
from reducekit.frontends.smt2.language.sorts import Sort, canonical, compound, match, substitute

_OPEN = ord("(")


def _let(walk: Inference, node: int) -> Iterator[Segment]:
    """`(let ((x t) ...) body)`: all values are outside the scope of all names."""
    document, scopes, sort = walk.document, walk.scopes, walk.sort
    text, start, stop = document.text, document.start, document.stop
    last = stop[node]
    bindings = node + 2
    if bindings >= last:
        return
    body = stop[bindings]
    names: list[int] = []
    if text[start[bindings]] == _OPEN:
        binding = bindings + 1
        while binding < body:
            name, after = binding + 1, stop[binding]
            if name < after and text[start[name]] != _OPEN:
                names.append(name)
                if name + 1 < after:
                    yield name + 1, after
            else:
                yield name, after
            binding = after
    mark = scopes.mark()
    new = [scopes.add(name, "let", node, (), walk.only(name + 1, stop[name - 1])) for name in names]
    for definition in new:
        scopes.bind_value(definition)
    yield body, last
    scopes.undo(mark)
    sort[node] = walk.only(body, last)


def _binder(walk: Inference, node: int) -> Iterator[Segment]:
    """Visit the bodies of a form that binds sorted variables; leave their sorts as a function.

    The sort of the node is then ("->", variables ..., body), or None.
    """
    scopes, stop = walk.scopes, walk.document.stop
    binders, last = node + 2, stop[node]
    if binders >= last:
        return
    mark = scopes.mark()
    variables = scopes.variables(binders, node, "quantifier")
    yield stop[binders], last
    scopes.undo(mark)
    if variables:
        walk.sort[node] = compound("->", *variables, walk.only(stop[binders], last))


def _quantifier(walk: Inference, node: int) -> Iterator[Segment]:
    """`(forall ((x S) ...) body)` is Bool."""
    yield from _binder(walk, node)
    document = walk.document
    body = document.stop[node + 2] if node + 2 < document.stop[node] else node
    walk.sort[node] = "Bool" if walk.only(body, document.stop[node]) == "Bool" else None


def _lambda(walk: Inference, node: int) -> Iterator[Segment]:
    """`(lambda ((x S) ...) body)`: a function, or an array where there are no functions."""
    yield from _binder(walk, node)
    sort = walk.sort[node]
    if isinstance(sort, tuple) and not walk.higher_order:
        walk.sort[node] = ("Array", *sort[1:])


def _choice(walk: Inference, node: int) -> Iterator[Segment]:
    """`(choice ((x S)) condition)` has the sort of x."""
    yield from _binder(walk, node)
    sort = walk.sort[node]
    walk.sort[node] = sort[1] if isinstance(sort, tuple) else None  # type: ignore[assignment]


def _comprehension(walk: Inference, node: int) -> Iterator[Segment]:
    """`(set.comprehension ((x S) ...) condition element)`: a set of the element's sort."""
    yield from _binder(walk, node)
    children = list(walk.document.children(node))
    element = walk.sort[children[3]] if len(children) == 4 else None
    walk.sort[node] = compound("Set", element)


def _annotation(walk: Inference, node: int) -> Iterator[Segment]:
    """`(! t :named n :pattern (t ...))` has the sort of t."""
    document, scopes = walk.document, walk.scopes
    text, start, stop = document.text, document.start, document.stop
    last = stop[node]
    term = node + 2
    if term >= last:
        return
    yield term, stop[term]
    child = stop[term]
    while child < last:
        after = stop[child]
        if text[start[child]] != ord(":"):
            child = after
            continue
        key = document.source(child)
        child = after
        if after == last or text[start[after]] == ord(":"):
            continue
        child = stop[after]
        nested = text[start[after]] == _OPEN
        if key == b":named" and not nested:
            definition = scopes.add(after, "named", node, (), walk.sort[term])
            scopes.show(definition)
            walk.named.append(definition)
        elif key == b":pattern" and nested:
            # Z3 takes a term in place of a list of terms.
            head = document.source(after + 1) if stop[after + 1] == after + 2 < child else b""
            applied = scopes.functions.get(head, NOTHING)[2] is not None
            yield (after if applied else after + 1), child
        elif key in (b":no-pattern", b":nopattern", b":pattern"):
            yield after, child
    walk.sort[node] = walk.sort[term]


def _match(walk: Inference, node: int) -> Iterator[Segment]:
    """`(match t ((pattern term) ...))` has the sort of its cases."""
    document, scopes = walk.document, walk.scopes
    text, start, stop = document.text, document.start, document.stop
    last = stop[node]
    term = node + 2
    if term >= last:
        return
    yield term, stop[term]
    cases = stop[term]
    if cases >= last or text[start[cases]] != _OPEN:
        scopes.note_uses(cases, last)
        return
    result: Sort | None = None
    case = cases + 1
    while case < stop[cases]:
        after = stop[case]
        pattern = case + 1
        if pattern < after:
            mark = scopes.mark()
            _pattern(walk, pattern, case, walk.sort[term])
            yield stop[pattern], after
            scopes.undo(mark)
            result = walk.only(stop[pattern], after) if result is None else result
        case = after
    walk.sort[node] = result


def _field_sorts(used: Definition | None, matched: Sort | None) -> list[Sort | None]:
    """Return the sorts of a constructor's fields in a term of a sort; empty if they do not fit."""
    bindings: dict[str, Any] = {}
    if used is None or used.sort is None or matched is None:
        return []
    if not match(used.sort, matched, bindings):
        return []
    return [substitute(each, bindings) for each in used.parameters]


def _pattern(walk: Inference, pattern: int, case: int, matched: Sort | None) -> None:
    """Bind the variables of a pattern that matches terms of a sort."""
    document, scopes = walk.document, walk.scopes
    nested = document.text[document.start[pattern]] == _OPEN
    head = pattern + 1 if nested else pattern
    if head >= document.stop[pattern] and nested:
        return
    name = canonical(document.source(head))
    meaning = scopes.functions.get(name, NOTHING)
    used = scopes.definitions[meaning[1]] if meaning[1] >= 0 else None
    if used is not None and used.kind == "constructor":
        scopes.refs[head] = meaning[1]
    elif not nested:
        scopes.bind_value(scopes.add(pattern, "pattern", case, (), matched))
    sorts = _field_sorts(used, matched)
    for position, variable in enumerate(list(document.children(pattern))[1:]):
        sort = sorts[position] if position < len(sorts) else None
        if document.text[document.start[variable]] != _OPEN:
            scopes.bind_value(scopes.add(variable, "pattern", case, (), sort))


def _root(walk: Inference, node: int) -> None:
    """`(root-obj polynomial n)` of Z3, an algebraic number: the variable in it is its own."""
    walk.sort[node] = "Real"


def _par(walk: Inference, node: int) -> Iterator[Segment]:
    """`(par (X ...) t)` around a term, as in TIP: sort variables."""
    document, scopes = walk.document, walk.scopes
    text, start, stop = document.text, document.start, document.stop
    variables = node + 2
    if variables >= stop[node]:
        return
    mark = scopes.mark()
    for variable in document.children(variables):
        if text[start[variable]] != _OPEN:
            scopes.declare_variable(variable, node)
    yield stop[variables], stop[node]
    scopes.undo(mark)
    walk.sort[node] = walk.only(stop[variables], stop[node])


FORMS: Mapping[bytes, Form] = {
    b"let": _let,
    b"forall": _quantifier,
    b"exists": _quantifier,
    b"lambda": _lambda,
    b"choice": _choice,
    b"set.comprehension": _comprehension,
    b"!": _annotation,
    b"match": _match,
    b"par": _par,
    b"root-obj": _root,
}
