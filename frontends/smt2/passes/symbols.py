"""Passes over the symbols that a script defines: constants for variables, merging, short names."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from reducekit.change import Change, Edit
from reducekit.frontends.smt2.commands import head_of
from reducekit.frontends.smt2.sorts import RESERVED
from reducekit.frontends.smt2.terms import Terms
from reducekit.frontends.smt2.theories import CONSTANTS, OPERATORS
from reducekit.frontends.smt2.view import ScriptView
from reducekit.search.independent import IndependentChanges, independent

_LETTERS = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
# What a symbol must not be called: reserved words, and what theories define.
_NOT_FREE = RESERVED | OPERATORS.keys() | CONSTANTS.keys()
_DROPPABLE = frozenset(b"declare-fun declare-const declare-var declare-sort".split())


def declared(terms: Terms, kind: str) -> Iterator[int]:
    """Yield the definitions of a kind that have a declaring command of their own."""
    document, script = terms.document, terms.script
    for index, definition in enumerate(script.definitions):
        if definition.kind == kind and head_of(document, definition.binder) in _DROPPABLE:
            yield index


class Variables:
    """Every use of a declared constant becomes a literal, and its declaration goes."""

    name = "variables"

    def problem(self, view: ScriptView) -> IndependentChanges | None:
        """Return one change a declared constant whose sort has literals."""
        terms = view.terms
        changes = []
        for index in declared(terms, "fun"):
            definition = terms.script.definitions[index]
            used = terms.references[index]
            constants = terms.constants(definition.sort)
            own = terms.document.source(definition.node)
            if definition.parameters or not constants or constants[0] == own:
                continue
            edits = [Edit(each, (constants[0],)) for each in used]
            changes.append(Change((Edit(definition.binder, ()), *edits), "variable to constant"))
        return independent(changes)


class Merge:
    """Uses of a declared symbol become another of its sorts, and its declaration goes."""

    name = "merge"

    def problem(self, view: ScriptView) -> IndependentChanges | None:
        """Return one change a symbol that has an earlier one of its kind."""
        terms = view.terms
        first: dict[object, bytes] = {}
        changes = []
        for index in declared(terms, "fun"):
            definition = terms.script.definitions[index]
            if definition.sort is None:
                continue
            name = terms.document.source(definition.node)
            other = first.setdefault((definition.parameters, definition.sort), name)
            if other == name:
                continue
            edits = [Edit(each, (other,)) for each in terms.references[index]]
            changes.append(Change((Edit(definition.binder, ()), *edits), "merge"))
        return independent(changes)


class Rename:
    """All symbols of the script get short names, the most used the shortest."""

    name = "rename"

    def __init__(self, most: int | None = None) -> None:
        self.most = most
        """Scripts with more definitions are left alone; None: none are."""

    def problem(self, view: ScriptView) -> IndependentChanges | None:
        """Return one change a name, whatever it defines: so shadowing stays as it is."""
        terms = view.terms
        if self.most is not None and len(terms.script.definitions) > self.most:
            return None
        document = terms.document
        source, stop = document.source, document.stop
        places: dict[bytes, set[int]] = {}
        for index, definition in enumerate(terms.script.definitions):
            known = places.setdefault(definition.name, set())
            known.update((definition.node, *terms.references[index]))
        # A name in use is not given to another symbol: not all of them may be renamed.
        used = _NOT_FREE | {
            source(node) for node in range(1, len(document)) if stop[node] == node + 1
        }
        short = (name for name in short_names() if name not in used)
        changes = []
        for name in sorted(places, key=lambda name: (-len(places[name]), min(places[name]))):
            spellings = {source(node) for node in places[name]}
            if len(name) < 2 or not spellings <= {name, b"|" + name + b"|"}:
                continue
            new = next(short)
            if len(new) < len(name):
                edits = tuple(Edit(node, (new,)) for node in sorted(places[name]))
                changes.append(Change(edits, "rename"))
        return independent(changes)


def short_names() -> Iterator[bytes]:
    """Yield all names of letters, the shortest first."""
    for length in itertools.count(1):
        for letters in itertools.product(_LETTERS, repeat=length):
            yield bytes(letters)
