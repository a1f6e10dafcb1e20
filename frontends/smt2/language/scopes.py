"""The meaning of symbols at each point of a script: definitions and their scopes.

There are two name spaces, functions and sorts, each a dict from canonical symbol to current
meaning. A trail stores the shadowed meanings, so the cost of leaving a scope is the number of
bindings in it, and a look-up is one dict access however deep the scopes nest (ddSMT paper, section
2.1: constant-time caches of visible sorts and functions).
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeAlias

from reducekit.document import Document
from reducekit.frontends.smt2.language.rules import Rule, function
from reducekit.frontends.smt2.language.sorts import (
    RESERVED,
    Sort,
    SortMeaning,
    canonical,
    compound,
    is_open,
    parse_sort,
    sort_name,
)


class Definition(NamedTuple):
    """A symbol that a script introduces.

    `name` is canonical: |x| is x. `kind` is one of fun, define, map, sort, constructor, selector,
    let, quantifier, parameter, pattern, named. `node` is the symbol, `binder` the form that binds
    it: the command, the let or quantifier, the `!`, the match case. `parameters` are the argument
    sorts, `sort` is the result's; None where it is unknown. Of a sort they are its sort variables,
    and what it stands for; None if it is declared. An argument sort that is unknown leaves `sort`
    None and `parameters` as many as there are with the empty name in its place.
    """

    name: bytes
    kind: str
    node: int
    binder: int
    parameters: tuple[Sort, ...]
    sort: Sort | None


class CommandScope(NamedTuple):
    """A scope between a push and its pop; the first of a script's is the whole script.

    `first` and `last` are indices into the script's commands: the push, -1 for the
    root, and the pop (or reset), or the number of commands if there is none.
    `parent` is an index into the scopes, -1 for the root. `(push n)` opens n.
    """

    level: int
    first: int
    last: int
    parent: int


# The forms that are no applications: called with the walk (`Inference`) and the
# node, they give the pieces to visit as terms, from the first node to before the
# second; None if there are none. They leave the sort of the node in the walk.
Segment: TypeAlias = tuple[int, int]
Form: TypeAlias = Callable[[Any, int], "Iterator[Segment] | None"]

# Functions with several ranks: (definition, argument sorts, rule), oldest first.
Overloads: TypeAlias = "list[tuple[int, tuple[Sort, ...], Rule]]"

# What a symbol means as a function: the sort of the bare symbol, the index of
# its definition (-1: a theory's), how it is applied (None: as a value), and
# the form it heads. A plain tuple, as one is made for each binder.
Meaning: TypeAlias = "tuple[Sort | None, int, Rule | Overloads | None, Form | None]"

NOTHING: Meaning = (None, -1, None, None)

_OPEN = ord("(")
_OVERLOADED = frozenset(("fun", "define", "constructor", "selector"))
_MAX_OVERLOADS = 16  # more ranks of one symbol are forgotten: linear time on junk


class Scopes:
    """The symbols visible at the present place of a script, and all definitions so far."""

    def __init__(self, document: Document, functions: dict[bytes, Meaning]) -> None:
        self.document = document
        self.functions = functions
        self.sorts: dict[bytes, SortMeaning] = {}
        self.definitions: list[Definition] = []
        self.refs = array("i", [-1]) * len(document)
        # Per source text of a sort: the sort, and (offset, definition) of the uses in it.
        self._parsed: dict[bytes, tuple[Sort | None, tuple[tuple[int, int], ...]]] = {}
        self._rules: dict[tuple[tuple[Sort, ...], Sort | None], Rule] = {}
        self._trail: list[tuple[dict[bytes, Any], bytes, Any]] = []

    # Scopes

    def mark(self) -> int:
        """Return the current position on the trail, for `undo`."""
        return len(self._trail)

    def undo(self, mark: int) -> None:
        """Undo all bindings since `mark`, which restores the meanings they shadowed."""
        trail = self._trail
        while len(trail) > mark:
            table, name, old = trail.pop()
            if old is None:
                table.pop(name, None)
            else:
                table[name] = old
            if table is self.sorts:
                self._parsed.clear()

    def forget(self, functions: dict[bytes, Meaning]) -> None:
        """Make all definitions invisible, leaving the given meanings."""
        self.functions.clear()
        self.functions.update(functions)
        self.sorts.clear()
        self._parsed.clear()
        self._trail.clear()

    # Definitions

    def add(
        self, node: int, kind: str, binder: int, parameters: tuple[Sort, ...], sort: Sort | None
    ) -> int:
        """Add a definition without making it visible; return its index."""
        name = canonical(self.document.source(node))
        self.definitions.append(Definition(name, kind, node, binder, parameters, sort))
        return len(self.definitions) - 1

    def show(self, definition: int) -> None:
        """Make a function visible from here on; functions of other ranks of that name stay."""
        name, kind, _, _, parameters, sort = self.definitions[definition]
        functions = self.functions
        old = functions.get(name)
        rule: Rule | None = None
        if parameters:
            rule = self._rule(parameters, sort)
            bare = compound("->", *parameters, sort) if sort is not None else None
        else:
            bare = None if is_open(sort) else sort
        if old is not None and old[1] >= 0 and kind in _OVERLOADED:
            overloads = self._overload(old, (definition, parameters, rule))
            self.bind(name, (bare, definition, overloads or rule, None))
        else:
            self.bind(name, (bare, definition, rule, None))

    def bind(self, name: bytes, meaning: Meaning) -> None:
        """Give a function symbol a meaning. Reserved words keep theirs."""
        if name not in RESERVED:
            functions = self.functions
            self._trail.append((functions, name, functions.get(name)))
            functions[name] = meaning

    def bind_value(self, definition: int) -> None:
        """Make a symbol visible that is no function."""
        name, _, _, _, _, sort = self.definitions[definition]
        self.bind(name, (sort, definition, None, None))

    def bind_sort(self, name: bytes, meaning: SortMeaning) -> None:
        """Give a sort symbol a meaning."""
        self._trail.append((self.sorts, name, self.sorts.get(name)))
        self.sorts[name] = meaning
        self._parsed.clear()

    def declare_sort(self, node: int, binder: int, parameters: tuple[str, ...]) -> Sort | None:
        """Add and show a sort with these parameters; return it applied to them."""
        definition = self.add(node, "sort", binder, parameters, None)
        name = self.definitions[definition].name
        bare = sort_name(name)
        template = compound(bare, *parameters) if parameters else None
        self.bind_sort(
            name, SortMeaning(definition, parameters, None if parameters else bare, template)
        )
        return template if parameters else bare

    def declare_variable(self, node: int, binder: int) -> str:
        """Add and show a sort variable; return it."""
        definition = self.add(node, "parameter", binder, (), None)
        name = self.definitions[definition].name
        variable = "'" + sort_name(name)
        self.bind_sort(name, SortMeaning(definition, (), variable, None))
        return variable

    def variables(self, binders: int, binder: int, kind: str) -> list[Sort | None]:
        """Bind the sorted variables `((x S) ...)` at a node; return their sorts."""
        document = self.document
        text, start, stop = document.text, document.start, document.stop
        found: list[Sort | None] = []
        if text[start[binders]] != _OPEN:
            self.note_uses(binders, binders + 1)
            return found
        variable = binders + 1
        new = []
        while variable < stop[binders]:
            name, after = variable + 1, stop[variable]
            if name < after and text[start[name]] != _OPEN:
                written = name + 1
                sort = self.sort_at(written) if written < after else None
                if written < after and stop[written] != after:
                    self.note_uses(stop[written], after)
                new.append(self.add(name, kind, binder, (), sort))
                found.append(sort)
            else:
                self.note_uses(variable, after)
            variable = after
        for definition in new:
            self.bind_value(definition)
        return found

    def _rule(self, parameters: tuple[Sort, ...], sort: Sort | None) -> Rule:
        rule = self._rules.get((parameters, sort))
        if rule is None:
            rule = self._rules[parameters, sort] = function(parameters, sort, partial=True)
        return rule

    def _overload(
        self, old: Meaning, new: tuple[int, tuple[Sort, ...], Rule | None]
    ) -> Overloads | None:
        """Return the functions visible under one name; None if there is only one."""
        before = self.definitions[old[1]]
        if before.kind not in _OVERLOADED:
            return None
        definition, parameters, rule = new
        overloads: Overloads
        if isinstance(old[2], list):
            overloads = [entry for entry in old[2] if entry[1] != parameters]
        elif before.parameters != parameters:
            overloads = [(old[1], before.parameters, self._rule(before.parameters, before.sort))]
        else:
            return None
        if not overloads:
            return None
        overloads.append((definition, parameters, rule or self._rule((), None)))
        return overloads[-_MAX_OVERLOADS:]

    # Uses

    def sort_at(self, node: int) -> Sort | None:
        """Return the sort written at a node, and record the uses in it."""
        document = self.document
        text = document.text[document.start[node] : document.end[node]]
        parsed = self._parsed.get(text)
        refs = self.refs
        if parsed is None:
            sort = parse_sort(document, node, self.sorts, refs)
            stop = document.stop[node]
            uses = [(n - node, refs[n]) for n in range(node, stop) if refs[n] >= 0]
            self._parsed[text] = (sort, tuple(uses))
            return sort
        for offset, definition in parsed[1]:
            refs[node + offset] = definition
        return parsed[0]

    def note_uses(self, first: int, last: int) -> None:
        """Record each atom of nodes first..last-1 that spells a visible name as a use of it."""
        document, functions, sorts, refs = self.document, self.functions, self.sorts, self.refs
        text, start, end = document.text, document.start, document.end
        for node in range(first, last):
            if text[start[node]] != _OPEN:
                token = canonical(text[start[node] : end[node]])
                meaning = functions.get(token)
                if meaning is not None and meaning[1] >= 0:
                    refs[node] = meaning[1]
                elif token in sorts:
                    refs[node] = sorts[token].definition
