"""A parsed script, with analyses that are computed on first use, and facts about its terms."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Sequence
from functools import cached_property
from operator import itemgetter

from reducekit.change import Edit
from reducekit.document import Document
from reducekit.frontends.smt2.language.commands import Commands, Links, read_commands
from reducekit.frontends.smt2.language.constants import default_constants
from reducekit.frontends.smt2.language.script import Script, analyse
from reducekit.frontends.smt2.language.sorts import Sort


class ScriptView:
    """A script, as seen by the passes, with the facts needed to build changes of terms."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self._constants: dict[Sort, list[bytes]] = {}

    @cached_property
    def commands(self) -> Commands:
        """The commands with their definitions and uses, by name only."""
        return read_commands(self.document)

    @cached_property
    def scoped_commands(self) -> Commands:
        """The commands with their uses, resolved by scope."""
        script, commands = self.script, self.commands
        used, ends = array("i"), array("i", [0])
        homes = [script.command_of(each.node) for each in script.definitions]
        for index, node in enumerate(commands.nodes):
            refs = script.refs[node : self.document.stop[node]]
            used.extend(sorted({homes[each] for each in set(refs) if each >= 0} - {index}))
            ends.append(len(used))
        uses = Links(ends, used)
        return commands._replace(users=uses.reversed(len(commands.nodes)), uses=uses)

    @cached_property
    def script(self) -> Script:
        """The scopes, references and sorts of all terms."""
        return analyse(self.document)

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
    def references(self) -> Links:
        """The nodes that refer to each definition."""
        refs = self.script.refs
        nodes = (node for node, definition in enumerate(refs) if definition >= 0)
        used = array("i", (definition for definition in refs if definition >= 0))
        return Links.to(used, nodes, len(self.script.definitions))

    @cached_property
    def _by_binder(self) -> list[tuple[int, int]]:
        """The forms that bind, sorted, each with a definition that it binds."""
        return sorted((each.binder, at) for at, each in enumerate(self.script.definitions))

    def grounded(self, low: int, high: int, node: int) -> list[Edit] | None:
        """Return the edits with which `node` can be moved out of the binders `low .. high - 1`.

        Variables that those bind become constants of their sorts; None if one has no constant.
        """
        found, last = self._by_binder, self.document.stop[node]
        edits: list[Edit] = []
        first = bisect_left(found, (low, 0))
        for _, definition in found[first : bisect_left(found, (high, 0), first)]:
            uses = self.references.within(definition, node, last)
            constants = self.constants(self.script.definitions[definition].sort)
            if uses and not constants:
                return None
            edits += (Edit(use, (constants[0],)) for use in uses)
        return sorted(edits)

    @cached_property
    def named(self) -> list[tuple[int, Sequence[int]]]:
        """The terms with a `:named` attribute that are used by name, in order, and the uses."""
        found = (
            (definition.binder, self.references[index])
            for index, definition in enumerate(self.script.definitions)
            if definition.kind == "named" and index in self.references
        )
        return sorted(found, key=itemgetter(0))

    def lost(self, edit: Edit) -> bool:
        """Return whether an edit drops a name that is used outside of the dropped text."""
        node, template = edit
        stop = self.document.stop
        last = stop[node]
        kept = [range(part, stop[part]) for part in template if isinstance(part, int)]
        named = self.named
        first = bisect_left(named, node, key=itemgetter(0))
        return any(
            not node <= use < last
            for binder, uses in named[first : bisect_left(named, last, first, key=itemgetter(0))]
            if not any(binder in each for each in kept)
            for use in uses
        )


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
