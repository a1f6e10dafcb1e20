"""A pass that gives the symbols of a script short names."""

from __future__ import annotations

from reducekit.change import Change, Edit
from reducekit.frontends.smt2.language.sorts import RESERVED
from reducekit.frontends.smt2.language.spelling import short_names
from reducekit.frontends.smt2.language.theories import CONSTANTS, OPERATORS
from reducekit.frontends.smt2.language.view import ScriptView
from reducekit.search.problem import IndependentChanges, independent

# Names that cannot be given to a symbol: reserved words and theory symbols.
_NOT_FREE = RESERVED | OPERATORS.keys() | CONSTANTS.keys()


class Rename:
    """Renames all symbols to short names, the most used to the shortest."""

    name = "rename"

    def __init__(self, most: int | None = None) -> None:
        self.most = most
        """Scripts with more definitions are not renamed; None for no limit."""

    def problem(self, view: ScriptView) -> IndependentChanges | None:
        """Return one change per name, for all its definitions, so that shadowing is preserved."""
        terms = view.terms
        if self.most is not None and len(terms.script.definitions) > self.most:
            return None
        document = terms.document
        source, stop = document.source, document.stop
        # By name, not by definition: a failure may need that one symbol hides another of its name.
        places: dict[bytes, set[int]] = {}
        for index, definition in enumerate(terms.script.definitions):
            known = places.setdefault(definition.name, set())
            known.update((definition.node, *terms.references[index]))
        # Names in use are not given to other symbols, since some renamings may be rejected.
        atoms = {source(node) for node in range(1, len(document)) if stop[node] == node + 1}
        short = (name for name in short_names() if name not in atoms and name not in _NOT_FREE)
        changes = []
        # The most used name gets the shortest one: that saves most. Of equally used ones the first
        # in the text comes first, so that the order depends on nothing but the text.
        for name in sorted(places, key=lambda name: (-len(places[name]), min(places[name]))):
            # Any other spelling is a place where the name is part of another word: `is-name`.
            spellings = {source(node) for node in places[name]}
            if len(name) < 2 or not spellings <= {name, b"|" + name + b"|"}:
                continue
            new = next(short)
            if len(new) < len(name):
                edits = tuple(Edit(node, (new,)) for node in sorted(places[name]))
                changes.append(Change(edits, "rename"))
        return independent(changes)
