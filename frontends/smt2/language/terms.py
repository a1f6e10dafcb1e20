"""Facts about terms for the passes: their positions, references and replacements."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Sequence
from functools import cached_property

from reducekit.change import Edit
from reducekit.frontends.smt2.language.commands import grouped
from reducekit.frontends.smt2.language.constants import default_constants
from reducekit.frontends.smt2.language.script import Script
from reducekit.frontends.smt2.language.sorts import Sort


def subterms(script: Script, node: int) -> list[int]:
    """Return the direct subterms of a term: arguments, bound values, body."""
    is_term, stop = script.is_term, script.document.stop
    last = stop[node]
    found = []
    child = is_term.find(1, node + 1, last)
    while child >= 0:
        found.append(child)
        child = is_term.find(1, stop[child], last)
    return found


class Terms:
    """The facts needed to build changes of terms: constants by sort, references by node."""

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

    def bound_at(self, node: int) -> int:
        """Return the definition whose name is at a node; -1 if there is none."""
        return self._by_node.get(node, -1)

    @cached_property
    def _by_node(self) -> dict[int, int]:
        return {each.node: number for number, each in enumerate(self.script.definitions)}

    @cached_property
    def references(self) -> References:
        """The nodes that refer to each definition."""
        return References(self.script.refs, len(self.script.definitions))

    @cached_property
    def names(self) -> NamesInUse:
        """The names given by `:named` that are used."""
        return NamesInUse(self)

    def bound_by(self, low: int, high: int) -> Sequence[int]:
        """Return the definitions that the forms `low .. high - 1` bind, form by form."""
        binders, definitions = self._by_binder
        first = bisect_left(binders, low)
        return definitions[first : bisect_left(binders, high, first)]

    @cached_property
    def _by_binder(self) -> tuple[array[int], array[int]]:
        """The binding forms of all definitions, sorted, and the definitions in the same order."""
        binders = array("i", (definition.binder for definition in self.script.definitions))
        definitions = array("i", sorted(range(len(binders)), key=binders.__getitem__))
        return array("i", sorted(binders)), definitions

    def grounded(self, low: int, high: int, node: int) -> list[Edit] | None:
        """Return the edits with which `node` can be moved out of the binders `low .. high - 1`.

        Variables that those bind become constants of their sorts; None if one
        has no constant.
        """
        bound = self.bound_by(low, high)
        if not bound:
            return []
        uses = self._uses_of(bound, node)
        definitions = self.script.definitions
        edits: list[Edit] = []
        for each, definition in uses:
            constants = self.constants(definitions[definition].sort)
            if not constants:
                return None
            edits.append(Edit(each, (constants[0],)))
        return edits

    def _uses_of(self, bound: Sequence[int], root: int) -> list[tuple[int, int]]:
        """Return the nodes of `root` that refer to one of some definitions, with the definition."""
        last = self.document.stop[root]
        if 16 * len(bound) < last - root:  # a look-up costs about as much as 16 steps
            references = self.references
            return sorted(
                (node, definition)
                for definition in bound
                for node in references.within(definition, root, last)
            )
        wanted = set(bound)
        refs = self.script.refs[root:last]
        return [(root + at, each) for at, each in enumerate(refs) if each in wanted]


class References:
    """The nodes that refer to each definition, in order."""

    def __init__(self, refs: array[int], count: int) -> None:
        nodes = array("i", (node for node, definition in enumerate(refs) if definition >= 0))
        definitions = array("i", (definition for definition in refs if definition >= 0))
        self._offsets, self._nodes = grouped(nodes, definitions, count)

    def __contains__(self, definition: int) -> bool:
        """Return whether anything refers to a definition."""
        return self._offsets[definition] < self._offsets[definition + 1]

    def __getitem__(self, definition: int) -> Sequence[int]:
        """Return the nodes that refer to a definition."""
        return self._nodes[self._offsets[definition] : self._offsets[definition + 1]]

    def within(self, definition: int, first: int, last: int) -> Sequence[int]:
        """Return the nodes among `first .. last - 1` that refer to a definition."""
        low, high = self._offsets[definition], self._offsets[definition + 1]
        low = bisect_left(self._nodes, first, low, high)
        return self._nodes[low : bisect_left(self._nodes, last, low, high)]


class NamesInUse:
    """The terms with a `:named` attribute whose name is used."""

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
        """Return whether an edit drops a name that is used outside of the dropped text."""
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
