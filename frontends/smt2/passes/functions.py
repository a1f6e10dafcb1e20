"""Passes on functions: removing parameters, declaring instead of defining, inlining."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from reducekit.change import Change, Edit
from reducekit.frontends.smt2.language.commands import head_of
from reducekit.frontends.smt2.language.scopes import Definition
from reducekit.frontends.smt2.language.sorts import print_sort
from reducekit.frontends.smt2.language.terms import Terms
from reducekit.frontends.smt2.language.view import ScriptView
from reducekit.passes import pass_
from reducekit.search.problem import IndependentItems, Selection

_DEFINES = frozenset(b"define-fun define-fun-rec define-const".split())


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a function: where it is declared, and its argument at each use."""

    function: int
    node: int
    variable: int
    """The definition of the bound name in a define-fun; -1 in a declaration."""
    arguments: Sequence[int]


class ParameterItems(IndependentItems):
    """Parameters as items: each is dropped from the declaration and from all uses at once."""

    def __init__(
        self, terms: Terms, parameters: Sequence[Parameter], uses: dict[int, Sequence[int]]
    ) -> None:
        self.terms = terms
        self.parameters = parameters
        self.uses = uses
        """The applications of each function."""
        self.total: dict[int, int] = {}
        for each in parameters:
            self.total[each.function] = self.total.get(each.function, 0) + 1

    @property
    def weights(self) -> Sequence[int]:
        """The number of nodes that dropping each parameter removes."""
        return [1 + len(each.arguments) for each in self.parameters]

    def change(self, chosen: Selection, taken: Selection) -> Change:
        """Drop parameters; a function that has none left becomes a constant."""
        terms = self.terms
        edits: list[Edit] = []
        for item in chosen:
            each = self.parameters[item]
            edits += (Edit(node, ()) for node in (each.node, *each.arguments))
            used = terms.references[each.variable] if each.variable >= 0 else ()
            if used:
                # In the body a value takes the variable's place. Any would do, as no argument
                # reaches the body any more; the smallest makes the text smallest.
                constants = terms.constants(terms.script.definitions[each.variable].sort)
                if not constants:
                    return Change(())
                edits.extend(Edit(node, (constants[0],)) for node in used)
        gone = Counter(self.parameters[item].function for item in chosen | taken)
        for function, count in gone.items():
            if count == self.total[function]:
                edits.extend(Edit(node, (node + 1,)) for node in self.uses[function])
        return Change(tuple(edits), "drop parameters")


@pass_("parameters")
def parameters(view: ScriptView) -> ParameterItems | None:
    """Removes parameters of declared and defined functions."""
    terms = view.terms
    document, script, parent = terms.document, terms.script, terms.document.parent
    variables = {definition.node: i for i, definition in enumerate(script.definitions)}
    found: list[Parameter] = []
    uses: dict[int, Sequence[int]] = {}
    for index, definition in enumerate(script.definitions):
        if definition.kind not in ("fun", "define") or not definition.parameters:
            continue
        signature = _signature(terms, definition)
        if signature < 0:
            continue
        nodes = list(document.children(signature))
        # A use by the name alone, as in `(_ map f)` or a query, would lose its function.
        references = terms.references[index]
        if any(parent[node] != node - 1 for node in references):
            continue
        arguments = [list(document.children(parent[node]))[1:] for node in references]
        if any(len(each) != len(nodes) for each in arguments):
            continue
        uses[index] = [parent[node] for node in references]
        for number, node in enumerate(nodes):
            variable = variables.get(node + 1, -1) if definition.kind == "define" else -1
            found.append(Parameter(index, node, variable, [each[number] for each in arguments]))
    return ParameterItems(terms, found, uses) if found else None


def _signature(terms: Terms, definition: Definition) -> int:
    """Return the node that lists the parameters of a function; -1 if there is none."""
    document = terms.document
    command, *children = document.children(definition.binder)
    kind = document.source(command)
    if kind == b"define-funs-rec":
        return document.stop[definition.node]
    if children[:1] != [definition.node] or len(children) < 3 - (kind == b"declare-rel"):
        return -1
    return children[1]


@pass_("recursive")
def recursive(view: ScriptView) -> Iterator[Change]:
    """Simplifies recursive definitions: drops unused functions, prefers define-fun.

    Functions of a define-funs-rec that no other one uses are removed. A single function left
    gets a define-fun-rec, and a function that does not call itself a define-fun.
    """
    terms = view.terms
    document = terms.document
    for command in view.commands.nodes:
        kind = head_of(document, command)
        if kind not in (b"define-fun-rec", b"define-funs-rec"):
            continue
        name, *parts = document.children(command)
        # A function that does not call itself needs no recursive definition, which some solvers
        # read as a quantified axiom, and others not at all.
        if len(parts) == 4 and not _is_recursive(terms, parts[0], parts[3]):
            yield Change((Edit(name, (b"define-fun",)),), "define-fun")
        if len(parts) != 2:
            continue
        signatures, bodies = (list(document.children(each)) for each in parts)
        if len(signatures) != len(bodies):
            continue
        if len(bodies) == 1:
            yield from _alone(terms, command, signatures[0], bodies[0])
        else:
            yield from _unused(terms, list(zip(signatures, bodies, strict=True)))


def _unused(terms: Terms, functions: Sequence[tuple[int, int]]) -> Iterator[Change]:
    """Yield the removal of each function that no other one of the command uses."""
    idle = [each for each in functions if _is_idle(terms, each[0] + 1, each[1])]
    # One has to stay, as the command defines at least one function (standard 2.7, section 4.2.3).
    for signature, body in idle[len(idle) == len(functions) :]:
        yield Change((Edit(signature, ()), Edit(body, ())), "drop function")


def _is_idle(terms: Terms, name: int, body: int) -> bool:
    """Return whether a function is used only in its own body."""
    last = terms.document.stop[body]
    function = terms.bound_at(name)
    return function >= 0 and all(body <= use < last for use in terms.references[function])


def _is_recursive(terms: Terms, name: int, body: int) -> bool:
    """Return whether a function calls itself."""
    function = terms.bound_at(name)
    last = terms.document.stop[body]
    return function < 0 or len(terms.references.within(function, body, last)) > 0


def _alone(terms: Terms, command: int, signature: int, body: int) -> Iterator[Change]:
    """Yield the change that gives a function a definition of its own."""
    parts = list(terms.document.children(signature))
    if len(parts) != 3:
        return
    kind = b"define-fun-rec" if _is_recursive(terms, parts[0], body) else b"define-fun"
    template: list[bytes | int] = [b"(", kind]
    for each in (*parts, body):
        template += (b" ", each)
    yield Change((Edit(command, (*template, b")")),), "define alone")


@pass_("inline")
def inline(view: ScriptView) -> Iterator[Change]:
    """Replaces each use of a defined constant by its value, and removes the definition."""
    terms = view.terms
    document, script = terms.document, terms.script
    for index, definition in enumerate(script.definitions):
        if definition.kind != "define" or definition.parameters:
            continue
        if head_of(document, definition.binder) not in _DEFINES:
            continue
        # Any use may be written out, as nothing that is bound inside the value depends on where
        # it stands. With parameters the arguments would have to be substituted, which the graph
        # does (`inline`), sharing what is used twice.
        *_, value = document.children(definition.binder)
        body = document.source(value)
        edits = [Edit(node, (body,)) for node in terms.references[index]]
        yield Change((Edit(definition.binder, ()), *edits), "inline")


@pass_("declare")
def declare(view: ScriptView) -> Iterator[Change]:
    """Replaces definitions by declarations, dropping their bodies."""
    terms = view.terms
    document = terms.document
    for definition in terms.script.definitions:
        if definition.kind != "define" or definition.sort is None:
            continue
        if head_of(document, definition.binder) not in _DEFINES:
            continue
        # The body goes, and with it all that only it uses. The name stays, and may mean
        # anything.
        sorts = b" ".join(map(print_sort, definition.parameters))
        parts = (document.source(definition.node), sorts, print_sort(definition.sort))
        text = b"(declare-fun %b (%b) %b)" % parts
        yield Change((Edit(definition.binder, (text,)),), "declare")
