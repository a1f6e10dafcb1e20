"""What passes need to know of terms: where they are, what refers to what, what can replace them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from functools import cached_property

from reducekit.change import Edit
from reducekit.document import Document
from reducekit.frontends.smt2.constants import default_constants
from reducekit.frontends.smt2.script import Script
from reducekit.frontends.smt2.sorts import Sort


def term_roots(script: Script) -> Iterator[int]:
    """Yield the outermost terms of all commands."""
    is_term, stop = script.is_term, script.document.stop
    node, last = 1, len(stop)
    while True:
        node = is_term.find(1, node)
        if node < 0 or node >= last:
            return
        yield node
        node = stop[node]


def subterms(script: Script, node: int) -> list[int]:
    """Return the terms directly below a term: arguments, bound values, body."""
    is_term, stop = script.is_term, script.document.stop
    last = stop[node]
    found = []
    child = is_term.find(1, node + 1, last)
    while child >= 0:
        found.append(child)
        child = is_term.find(1, stop[child], last)
    return found


def head_of(document: Document, node: int) -> bytes:
    """Return the operator of an application, empty for an atom or an indexed one."""
    first = node + 1
    if first >= document.stop[node] or document.stop[first] != first + 1:
        return b""
    return document.source(first)


class Terms:
    """What is needed to build changes of terms: constants by sort, references by node."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.document = script.document
        self._constants: dict[Sort, list[bytes]] = {}

    def constants(self, sort: Sort | None) -> list[bytes]:
        """Return closed terms of a sort, the smallest first: literals, then a declared constant."""
        if sort is None:
            return []
        found = self._constants.get(sort)
        if found is None:
            found = list(default_constants(sort, self.script)) or self.declared_of(sort)[:1]
            self._constants[sort] = found
        return found

    def declared_of(self, sort: Sort) -> list[bytes]:
        """Return the declared constants of a sort, in order of declaration."""
        return self._declared.get(sort, [])

    @cached_property
    def _declared(self) -> dict[Sort, list[bytes]]:
        """Declared constants by sort, in order of declaration."""
        by_sort: dict[Sort, list[bytes]] = {}
        source = self.document.source
        for definition in self.script.definitions:
            if definition.kind == "fun" and not definition.parameters and definition.sort:
                by_sort.setdefault(definition.sort, []).append(source(definition.node))
        return by_sort

    @cached_property
    def references(self) -> dict[int, list[int]]:
        """The nodes that refer to each definition."""
        found: dict[int, list[int]] = {}
        for node, definition in enumerate(self.script.refs):
            if definition >= 0:
                found.setdefault(definition, []).append(node)
        return found

    @cached_property
    def names(self) -> NamesInUse:
        """The names that terms have by `:named` and that are used."""
        return NamesInUse(self)

    @cached_property
    def by_binder(self) -> dict[int, list[int]]:
        """The definitions of each binding form."""
        found: dict[int, list[int]] = {}
        for index, definition in enumerate(self.script.definitions):
            found.setdefault(definition.binder, []).append(index)
        return found

    def grounded(self, low: int, high: int, node: int) -> list[Edit] | None:
        """Return edits that let `node` stand outside of the binders `low .. high - 1`.

        Variables that those bind become constants of their sorts; None if one
        has no constant.
        """
        refs, definitions = self.script.refs, self.script.definitions
        edits: list[Edit] = []
        for each in range(node, self.document.stop[node]):
            if refs[each] >= 0:
                definition = definitions[refs[each]]
                if low <= definition.binder < high:
                    constants = self.constants(definition.sort)
                    if not constants:
                        return None
                    edits.append(Edit(each, (constants[0],)))
        return edits


class NamesInUse:
    """The terms that a `:named` attribute names and that are used by that name."""

    def __init__(self, terms: Terms) -> None:
        definitions = terms.script.definitions
        self.stop = terms.document.stop
        found = [
            (definition.binder, terms.references[index])
            for index, definition in enumerate(definitions)
            if definition.kind == "named" and index in terms.references
        ]
        found.sort()
        self.binders = [binder for binder, _ in found]
        self.uses = [uses for _, uses in found]

    def lost(self, edit: Edit) -> bool:
        """Tell whether an edit drops a name that is used outside of what it drops."""
        node, template = edit
        last = self.stop[node]
        at = bisect_left(self.binders, node)
        while at < len(self.binders) and self.binders[at] < last:
            binder = self.binders[at]
            if not any(
                isinstance(part, int) and part <= binder < self.stop[part] for part in template
            ) and any(not node <= use < last for use in self.uses[at]):
                return True
            at += 1
        return False
