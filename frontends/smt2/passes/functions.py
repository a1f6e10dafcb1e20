"""Passes over functions: fewer parameters, declarations in place of definitions, inlining."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reducekit.change import Change, Edit
from reducekit.frontends.smt2.commands import head_of
from reducekit.frontends.smt2.sorts import print_sort
from reducekit.frontends.smt2.terms import Terms
from reducekit.frontends.smt2.view import ScriptView
from reducekit.search.independent import IndependentChanges, independent
from reducekit.search.problem import IndependentItems, Selection

_DEFINES = frozenset(b"define-fun define-fun-rec define-const".split())


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a function: where it is declared, and what stands for it at each use."""

    function: int
    node: int
    variable: int
    """The definition of the bound name in a define-fun; -1 in a declaration."""
    arguments: Sequence[int]


class ParameterItems(IndependentItems):
    """Parameters as items: dropped from the declaration and from all uses at once."""

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
        """The number of arguments that go."""
        return [1 + len(each.arguments) for each in self.parameters]

    def change(self, chosen: Selection, taken: Selection) -> Change:
        """Drop parameters; a function without any is a constant."""
        terms = self.terms
        edits: list[Edit] = []
        for item in chosen:
            each = self.parameters[item]
            edits.append(Edit(each.node, ()))
            edits.extend(Edit(argument, ()) for argument in each.arguments)
            if each.variable >= 0:
                definition = terms.script.definitions[each.variable]
                constants = terms.constants(definition.sort)
                used = terms.references[each.variable]
                if used and not constants:
                    return Change(())
                edits.extend(Edit(node, (constants[0],)) for node in used)
        gone: dict[int, int] = {}
        for item in chosen | taken:
            function = self.parameters[item].function
            gone[function] = gone.get(function, 0) + 1
        for function, count in gone.items():
            if count == self.total[function]:
                edits.extend(Edit(node, (node + 1,)) for node in self.uses[function])
        return Change(tuple(edits), "drop parameters")


class Parameters:
    """The pass that drops parameters of declared and defined functions."""

    name = "parameters"

    def problem(self, view: ScriptView) -> ParameterItems | None:
        """Return the parameters of all functions that are only ever applied."""
        terms = view.terms
        document, script, parent = terms.document, terms.script, terms.document.parent
        variables = {definition.node: i for i, definition in enumerate(script.definitions)}
        found: list[Parameter] = []
        uses: dict[int, Sequence[int]] = {}
        for index, definition in enumerate(script.definitions):
            if definition.kind not in ("fun", "define") or not definition.parameters:
                continue
            children = list(document.children(definition.binder))
            if len(children) < 3 or children[1] != definition.node:
                continue
            if len(children) == 3 and document.source(children[0]) != b"declare-rel":
                continue
            nodes = list(document.children(children[2]))
            references = terms.references[index]
            applications = [parent[node] for node in references if parent[node] == node - 1]
            arguments = [list(document.children(node))[1:] for node in applications]
            if len(applications) != len(references) or any(
                len(each) != len(nodes) for each in arguments
            ):
                continue
            uses[index] = applications
            for number, node in enumerate(nodes):
                variable = variables.get(node + 1, -1) if definition.kind == "define" else -1
                found.append(Parameter(index, node, variable, [each[number] for each in arguments]))
        return ParameterItems(terms, found, uses) if found else None


class Inline:
    """A defined constant goes, and its value stands at every use."""

    name = "inline"

    def problem(self, view: ScriptView) -> IndependentChanges | None:
        """Return one change a definition without parameters."""
        terms = view.terms
        document, script = terms.document, terms.script
        changes = []
        for index, definition in enumerate(script.definitions):
            if definition.kind != "define" or definition.parameters:
                continue
            if head_of(document, definition.binder) not in _DEFINES:
                continue
            *_, value = document.children(definition.binder)
            body = document.source(value)
            edits = [Edit(node, (body,)) for node in terms.references[index]]
            changes.append(Change((Edit(definition.binder, ()), *edits), "inline"))
        return independent(changes)


class Declare:
    """A definition becomes a declaration: its body goes."""

    name = "declare"

    def problem(self, view: ScriptView) -> IndependentChanges | None:
        """Return one change a definition whose sorts are known."""
        terms = view.terms
        document = terms.document
        changes = []
        for definition in terms.script.definitions:
            if definition.kind != "define" or definition.sort is None:
                continue
            if head_of(document, definition.binder) not in _DEFINES:
                continue
            sorts = b" ".join(map(print_sort, definition.parameters))
            parts = (document.source(definition.node), sorts, print_sort(definition.sort))
            text = b"(declare-fun %b (%b) %b)" % parts
            changes.append(Change((Edit(definition.binder, (text,)),), "declare"))
        return independent(changes)
