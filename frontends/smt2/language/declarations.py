"""Commands that declare or define: their effect on the scopes of a script.

There is one function per family of commands, called with the walk over the
script's terms, the node of the command and its arguments. An ill-formed command adds what can be
recognised; the uses of names in the rest of it are still recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from reducekit.frontends.smt2.language.inference import Inference
from reducekit.frontends.smt2.language.rules import tested
from reducekit.frontends.smt2.language.sorts import Sort, SortMeaning, compound, index, sort_name

_OPEN = ord("(")
Declare = Callable[[Inference, int, list[int]], object]


def _is_list(walk: Inference, node: int) -> bool:
    return walk.document.text[walk.document.start[node]] == _OPEN


def _ignore(walk: Inference, nodes: list[int]) -> None:
    """Record the uses in superfluous nodes of a command."""
    for node in nodes:
        walk.scopes.note_uses(node, walk.document.stop[node])


def _declare(
    walk: Inference,
    command: int,
    name: int,
    kind: str,
    parameters: list[Sort | None],
    sort: Sort | None,
) -> int:
    """Add a function, of unknown sort if an argument sort is unknown; return its index."""
    known = tuple(parameter if parameter is not None else "" for parameter in parameters)
    return walk.scopes.add(name, kind, command, known, None if "" in known else sort)


def _sorts(walk: Inference, node: int) -> list[Sort | None]:
    if not _is_list(walk, node):
        walk.scopes.note_uses(node, node + 1)
        return []
    return [walk.scopes.sort_at(child) for child in walk.document.children(node)]


def _declare_fun(walk: Inference, command: int, arguments: list[int]) -> None:
    """(declare-fun f (S ...) R), (declare-const c S), (declare-var x S).

    Also (declare-rel r (S ...)), a predicate of Z3's fixed-point engine.
    """
    name, *rest = arguments
    kind = walk.document.source(command + 1)
    ranked, predicate = kind in (b"declare-fun", b"declare-rel"), kind == b"declare-rel"
    parameters = _sorts(walk, rest.pop(0)) if ranked else []
    sort: Sort | None = "Bool" if predicate else None
    if rest and not predicate:
        sort = walk.scopes.sort_at(rest.pop(0))
    definition = _declare(walk, command, name, "fun", parameters, sort)
    _ignore(walk, rest)
    walk.scopes.show(definition)


def _parametric(walk: Inference, command: int, par: int) -> None:
    """Declare the function in `(par (X ...) (f (S ...) R))`."""
    scopes = walk.scopes
    parts = list(walk.document.children(par))
    if len(parts) != 3 or not _is_list(walk, parts[1]) or not _is_list(walk, parts[2]):
        _ignore(walk, [par])
        return
    mark = scopes.mark()
    for variable in walk.document.children(parts[1]):
        if not _is_list(walk, variable):
            scopes.declare_variable(variable, command)
    rank = list(walk.document.children(parts[2]))
    if len(rank) == 3 and not _is_list(walk, rank[0]):
        parameters, sort = _sorts(walk, rank[1]), scopes.sort_at(rank[2])
        definition = _declare(walk, command, rank[0], "fun", parameters, sort)
        scopes.undo(mark)
        scopes.show(definition)
    else:
        _ignore(walk, rank)
        scopes.undo(mark)


def _declare_map(walk: Inference, command: int, arguments: list[int]) -> None:
    """(declare-map m (S ...) f), of Z3: f pointwise over arrays; also (f (T ...) R) for f."""
    if len(arguments) > 3:
        _ignore(walk, arguments)
        return
    scopes, function = walk.scopes, arguments[2]
    indices = _sorts(walk, arguments[1])
    parts = list(walk.document.children(function)) if _is_list(walk, function) else [function]
    _ignore(walk, parts[:1])
    used = scopes.definitions[scopes.refs[function]] if scopes.refs[function] >= 0 else None
    elements: list[Sort | None] = []
    if len(parts) == 3:
        elements = [*_sorts(walk, parts[1]), scopes.sort_at(parts[2])]
    elif used is not None:
        elements = [*used.parameters, used.sort]
    *parameters, sort = [compound("Array", *indices, each) for each in elements] or [None]
    scopes.show(_declare(walk, command, arguments[0], "map", parameters, sort))


def _define_fun(walk: Inference, command: int, arguments: list[int]) -> None:
    """(define-fun f ((x S) ...) R t): not visible in its own body."""
    name, binders, result, *bodies = arguments
    scopes = walk.scopes
    mark = scopes.mark()
    parameters = walk.scopes.variables(binders, command, "parameter")
    sort = scopes.sort_at(result)
    if bodies:
        walk.visit(bodies[0], walk.document.stop[command])
    scopes.undo(mark)
    scopes.show(_declare(walk, command, name, "define", parameters, sort))


def _synth_fun(walk: Inference, command: int, arguments: list[int]) -> None:
    """(synth-fun f ((x S) ...) R grammar), (synth-inv f ((x S) ...) grammar): SyGuS."""
    invariant = walk.document.source(command + 1) == b"synth-inv"
    name, binders, *rest = arguments
    scopes = walk.scopes
    mark = scopes.mark()
    parameters = scopes.variables(binders, command, "parameter")
    sort = "Bool" if invariant else scopes.sort_at(rest[0])
    _ignore(walk, rest[1 - invariant :])
    scopes.undo(mark)
    scopes.show(_declare(walk, command, name, "fun", parameters, sort))


def _define_fun_rec(walk: Inference, command: int, arguments: list[int]) -> None:
    """(define-fun-rec f ((x S) ...) R t): visible in its own body."""
    name, binders, result, *bodies = arguments
    _define_recursive(walk, command, [(name, binders, result)], [bodies])


def _define_funs_rec(walk: Inference, command: int, arguments: list[int]) -> None:
    """(define-funs-rec ((f ((x S) ...) R) ...) (t ...)): each visible in all bodies."""
    signatures: list[tuple[int, int, int]] = []
    bodies = [[body] for body in walk.document.children(arguments[1])]
    for signature in walk.document.children(arguments[0]):
        parts = list(walk.document.children(signature))
        if len(parts) == 3 and not _is_list(walk, parts[0]):
            signatures.append((parts[0], parts[1], parts[2]))
        else:
            _ignore(walk, [signature])
    _define_recursive(walk, command, signatures, bodies)
    _ignore(walk, arguments[2:])


def _define_recursive(
    walk: Inference, command: int, signatures: list[tuple[int, int, int]], bodies: list[list[int]]
) -> None:
    """Define functions (name, binders, result sort) with their bodies' nodes."""
    scopes = walk.scopes
    # The parameters are bound twice: for the ranks, which all bodies need, and
    # by name only for the body of each.
    shown, inner = [], []
    for name, binders, result in signatures:
        mark = scopes.mark()
        first = len(scopes.definitions)
        parameters = walk.scopes.variables(binders, command, "parameter")
        inner.append(range(first, len(scopes.definitions)))
        scopes.undo(mark)
        shown.append(_declare(walk, command, name, "define", parameters, scopes.sort_at(result)))
    for definition in shown:
        scopes.show(definition)
    for position, terms in enumerate(bodies):
        mark = scopes.mark()
        for definition in inner[position] if position < len(inner) else ():
            scopes.bind_value(definition)
        if terms:
            walk.visit(terms[0], walk.document.stop[terms[-1]])
        scopes.undo(mark)


def _define_const(walk: Inference, command: int, arguments: list[int]) -> None:
    """(define-const c S t); (define c t), of Yices and cvc5's API dumps, has the sort of t."""
    name, *rest = arguments
    sorted_ = walk.document.source(command + 1) == b"define-const"
    sort = walk.scopes.sort_at(rest.pop(0)) if sorted_ else None
    if rest:
        walk.visit(rest[0], walk.document.stop[command])
        sort = sort if sorted_ else walk.sort[rest[0]]
    walk.scopes.show(walk.scopes.add(name, "define", command, (), sort))


def _declare_sort(walk: Inference, command: int, arguments: list[int]) -> None:
    """(declare-sort S n); old scripts omit n."""
    arity = index(walk.document.source(arguments[1])) if len(arguments) > 1 else 0
    walk.scopes.declare_sort(arguments[0], command, _numbered(arity or 0))


def _numbered(count: int) -> tuple[str, ...]:
    """Return `count` sort variables; only one if the sort would be too large."""
    return tuple(f"'{i}" for i in range(count if count < 200 else 1))


def _declare_sort_parameter(walk: Inference, command: int, arguments: list[int]) -> None:
    """(declare-sort-parameter X), new in 2.7: a sort variable from here on."""
    if arguments and not _is_list(walk, arguments[0]):
        walk.scopes.declare_variable(arguments[0], command)


def _define_sort(walk: Inference, command: int, arguments: list[int]) -> None:
    """(define-sort S (X ...) T): an abbreviation."""
    scopes = walk.scopes
    mark = scopes.mark()
    variables = tuple(
        scopes.declare_variable(variable, command)
        for variable in walk.document.children(arguments[1])
        if not _is_list(walk, variable)
    )
    sort = scopes.sort_at(arguments[2])
    _ignore(walk, arguments[3:])
    scopes.undo(mark)
    definition = scopes.add(arguments[0], "sort", command, variables, sort)
    meaning = SortMeaning(
        definition, variables, None if variables else sort, sort if variables else None
    )
    scopes.bind_sort(scopes.definitions[definition].name, meaning)


def _declare_datatype(walk: Inference, command: int, arguments: list[int]) -> None:
    """(declare-datatype T body)."""
    name, *bodies = arguments
    variables = _par_variables(walk, bodies[0]) if bodies else []
    walk.scopes.declare_sort(name, command, _numbered(len(variables)))
    if bodies:
        _datatype(walk, command, walk.scopes.definitions[-1].name, bodies[0])
    _ignore(walk, bodies[1:])


def _declare_datatypes(walk: Inference, command: int, arguments: list[int]) -> None:
    """(declare-datatypes ((T n) ...) (body ...)), or as in 2.5, ((X ...) ((T c ...) ...))."""
    document = walk.document
    heads = list(document.children(arguments[0]))
    bodies = list(document.children(arguments[1]))
    _ignore(walk, arguments[2:])
    if not heads or not all(_is_list(walk, head) for head in heads):
        _old_datatypes(walk, command, heads, bodies)
        return
    names: list[bytes | None] = []
    for head in heads:
        parts = list(document.children(head))
        if not parts or _is_list(walk, parts[0]):
            _ignore(walk, [head])
            names.append(None)
        else:
            _declare_sort(walk, command, parts)
            names.append(walk.scopes.definitions[-1].name)
    for name, body in zip(names, bodies, strict=False):
        if name is not None:
            _datatype(walk, command, name, body)
        else:
            _ignore(walk, [body])
    _ignore(walk, bodies[len(names) :])


def _old_datatypes(walk: Inference, command: int, heads: list[int], bodies: list[int]) -> None:
    """Declare datatypes as in 2.5: all have the same parameters, which may be left out in uses."""
    scopes = walk.scopes
    sorts: list[tuple[bytes, int, Sort | None]] = []
    names: list[list[int]] = []  # and the constructors
    for body in bodies:
        parts = list(walk.document.children(body))
        if not parts or _is_list(walk, parts[0]):
            _ignore(walk, [body])
        else:
            names.append(parts)
    first = len(scopes.definitions)
    for head in heads:
        if not _is_list(walk, head):
            scopes.add(head, "parameter", command, (), None)
    parameters = [each.name for each in scopes.definitions[first:]]
    variables = ["'" + sort_name(each) for each in parameters]
    for name, *_ in names:
        applied = scopes.declare_sort(name, command, tuple(variables))
        sorts.append((scopes.definitions[-1].name, len(scopes.definitions) - 1, applied))
    mark = scopes.mark()
    for at, (parameter, variable) in enumerate(zip(parameters, variables, strict=True), first):
        scopes.bind_sort(parameter, SortMeaning(at, (), variable, None))
    for symbol, definition, applied in sorts:
        template = applied if variables else None
        meaning = SortMeaning(definition, tuple(variables), applied, template)
        scopes.bind_sort(symbol, meaning)
    found = [
        definition
        for (_, *constructors), (_, _, applied) in zip(names, sorts, strict=True)
        for constructor in constructors
        for definition in _constructor(walk, command, constructor, applied)
    ]
    scopes.undo(mark)
    _show_constructors(walk, found)


def _par_variables(walk: Inference, body: int) -> list[int]:
    """Return the nodes of the parameters of a datatype's body, none if it is not parametric."""
    document = walk.document
    parts = list(document.children(body))[:2]
    if len(parts) < 2 or document.source(parts[0]) != b"par" or not _is_list(walk, parts[1]):
        return []
    return [node for node in document.children(parts[1]) if not _is_list(walk, node)]


def _datatype(walk: Inference, command: int, name: bytes, body: int) -> None:
    """Declare the constructors of a datatype, `((c (s S) ...) ...)` or `(par (X ...) (...))`."""
    document, scopes = walk.document, walk.scopes
    if not _is_list(walk, body):
        _ignore(walk, [body])
        return
    mark = scopes.mark()
    parameters = [scopes.declare_variable(v, command) for v in _par_variables(walk, body)]
    sort = compound(sort_name(name), *parameters) if parameters else sort_name(name)
    parts = list(document.children(body))
    if parts and document.source(parts[0]) == b"par" and len(parts) > 2:
        parts = list(document.children(parts[2]))
    found = [
        definition
        for constructor in parts
        for definition in _constructor(walk, command, constructor, sort)
    ]
    scopes.undo(mark)
    _show_constructors(walk, found)


def _constructor(walk: Inference, command: int, node: int, sort: Sort | None) -> list[int]:
    """Add a constructor `(c (s S) ...)` or `c` and its selectors; return their definitions."""
    document, scopes = walk.document, walk.scopes
    if not _is_list(walk, node):
        return [scopes.add(node, "constructor", command, (), sort)]
    parts = list(document.children(node))
    if parts and document.source(parts[0]) == b"!":  # `(! (c ...) :attribute ...)`
        parts = list(document.children(parts[1])) if len(parts) > 1 else []
    if not parts or _is_list(walk, parts[0]):
        _ignore(walk, [node])
        return []
    fields: list[Sort | None] = []
    selectors: list[int] = []
    for field in parts[1:]:
        pair = list(document.children(field))
        if len(pair) != 2 or _is_list(walk, pair[0]):
            _ignore(walk, [field])
            continue
        fields.append(scopes.sort_at(pair[1]))
        parameters: tuple[Sort, ...] = (sort if sort is not None else "",)
        selectors.append(scopes.add(pair[0], "selector", command, parameters, fields[-1]))
    return [_declare(walk, command, parts[0], "constructor", fields, sort), *selectors]


def _show_constructors(walk: Inference, found: list[int]) -> None:
    """Make constructors and selectors visible, and the tester is-c of each constructor."""
    scopes = walk.scopes
    for definition in found:
        scopes.show(definition)
        constructor = scopes.definitions[definition]
        tester = b"is-" + constructor.name
        if constructor.kind == "constructor" and tester not in scopes.functions:
            # Not in the standard, but most solvers have it; its uses are uses of c.
            scopes.bind(tester, (None, definition, tested, None))


# The fewest arguments, whether the first ones are symbols (s) or lists (l), and what they declare.
_COMMANDS: Mapping[bytes, tuple[int, str, Declare]] = {
    b"declare-fun": (2, "s", _declare_fun),
    b"declare-const": (2, "s", _declare_fun),
    b"declare-var": (2, "s", _declare_fun),
    b"declare-rel": (2, "s", _declare_fun),
    b"declare-map": (3, "s", _declare_map),
    b"declare-sort": (1, "s", _declare_sort),
    b"declare-sort-parameter": (0, "", _declare_sort_parameter),
    b"declare-type-var": (0, "", _declare_sort_parameter),
    b"declare-datatype": (1, "s", _declare_datatype),
    b"declare-codatatype": (1, "s", _declare_datatype),
    b"declare-datatypes": (2, "ll", _declare_datatypes),
    b"declare-codatatypes": (2, "ll", _declare_datatypes),
    b"declare-heap": (0, "", lambda walk, _, parts: [_sorts(walk, each) for each in parts]),
    b"define-sort": (3, "sl", _define_sort),
    b"define-fun": (3, "s", _define_fun),
    b"define-fun-rec": (3, "s", _define_fun_rec),
    b"define-funs-rec": (2, "ll", _define_funs_rec),
    b"define-const": (2, "s", _define_const),
    b"synth-fun": (3, "s", _synth_fun),
    b"synth-inv": (2, "s", _synth_fun),
    b"define": (2, "s", _define_const),
}


def declare(walk: Inference, command: int, name: bytes) -> bool:
    """Add what a command declares; return whether it is one that declares."""
    if name not in _COMMANDS:
        return False
    least, kinds, add = _COMMANDS[name]
    arguments = list(walk.document.children(command))[1:]
    if name == b"declare-fun" and len(arguments) == 1 and _is_list(walk, arguments[0]):
        _parametric(walk, command, arguments[0])
    elif len(arguments) < least or any(
        _is_list(walk, each) != (kind == "l") for each, kind in zip(arguments, kinds, strict=False)
    ):
        _ignore(walk, arguments)
    else:
        add(walk, command, arguments)
    return True
