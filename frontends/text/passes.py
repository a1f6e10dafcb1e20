"""Passes on the tree of a text: they know what a part, a name and an element of a list are.

What a text defines goes with what uses it; runs of elements go by their weight; then words with all
that has them, parameters with their arguments, and single tokens. No pass knows a language.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from functools import cached_property

from reducekit.change import Change, Edit
from reducekit.format import pass_
from reducekit.frontends.common.items import NodeItems
from reducekit.frontends.text.tree import DELIMITERS, Kind
from reducekit.frontends.text.view import TextView
from reducekit.search.problem import IndependentItems, Items, Move, Selection, Tree, WeightedTree

_LARGE = 1 << 22
"""Texts of more nodes lose statements and lines only: tables of words would fill the memory."""
_MOST = 50
"""This many of the heaviest parts are tried with their uses, if they are most of the text. By hand,
on the cases of tests/frontends/text and eight others."""
_HOISTS = 3
"""This many nodes within are tried in place of a node."""
_WITHIN = 10_000
"""This many nodes within are looked at for that."""
_HEAD = 10
"""This many nodes after the beginning of a part, its name is expected."""


def _is_small(view: TextView) -> bool:
    return 1 < len(view.document) <= _LARGE


class Elements(IndependentItems):
    """The elements of a node; with those that go, the separators that are not needed any more."""

    free = 0

    def __init__(self, view: TextView, node: int) -> None:
        self.view = view
        self.elements: list[int] = []
        self.separators: list[tuple[int, int]] = []
        """Each with how many elements there are before it."""
        for each in view.document.children(node):
            if view.kind[each] == Kind.SEPARATOR:
                self.separators.append((each, len(self.elements)))
            elif view.kind[each] not in (Kind.OPEN, Kind.CLOSE):
                self.elements.append(each)

    @cached_property
    def weights(self) -> Sequence[int]:
        return array("i", map(self.view.weight, self.elements))

    def _lost(self, gone: Selection) -> set[int]:
        """Return the separators that go: those that stand before an element that goes, or first.

        So between those that stay there is one each.
        """
        lost = set()
        first = next((at for at in range(len(self.elements)) if at not in gone), len(self.elements))
        for separator, before in self.separators:
            if before <= first or before in gone:
                lost.add(separator)
        return lost

    def change(self, chosen: Selection, taken: Selection) -> Change:
        edits = [Edit(self.elements[at], ()) for at in sorted(chosen)]
        if self.separators:
            now = self._lost(chosen | taken) - (self._lost(taken) if taken else set())
            edits += [Edit(each, ()) for each in sorted(now)]
        return Change(tuple(edits), "drop")


class Groups(IndependentItems):
    """Sets of nodes that go together; of some nodes, a constant stays (`-node`)."""

    free = 0

    def __init__(self, view: TextView, lost: Sequence[Sequence[int]], what: str) -> None:
        self.view, self.lost, self.what = view, lost, what

    @cached_property
    def weights(self) -> Sequence[int]:
        weight = self.view.weight
        return array("q", (sum(weight(abs(node)) for node in each) for each in self.lost))

    def change(self, chosen: Selection, taken: Selection) -> Change:
        nodes = {node for at in chosen for node in self.lost[at]}
        edits = (Edit(node, ()) if node > 0 else Edit(-node, _CONSTANT) for node in nodes)
        return Change(tuple(sorted(edits)), self.what)


_CONSTANT = (b"0",)


def _uses(view: TextView, places: Sequence[int], *, constants: bool) -> set[int]:
    """Return what becomes of the uses of a name that is defined no more.

    A statement that begins with it goes; within one, a constant stands for it, or for its call.
    """
    holder, kind, document = view.holder, view.kind, view.document
    found = set()
    for node in places:
        begins = document.start[holder[node]] == document.start[node]
        if holder[node] and (begins or not constants):
            found.add(holder[node])
            continue
        found.add(-node)
        after = node + 1
        if after < len(kind) and kind[after] == Kind.GROUP and view.opens_with(after) == 40:
            found.add(after)
    return found


def _definitions(view: TextView, *, constants: bool) -> Items | None:
    """Return the parts of a text, each with the uses of what it defines."""
    top = view.top
    if len(top) < 2:
        return None
    stop = view.document.stop
    inside = {each: number for number, each in enumerate(top)}
    owner = array("i", [-1]) * len(view.kind)
    for each, number in inside.items():
        for node in range(each, stop[each]):
            owner[node] = number
    lost: list[set[int]] = [{each} for each in top]
    for places in view.words.values():
        # A name is defined by the first part that has it near its beginning, but for the keyword
        # there; what many parts have is no name.
        first = owner[places[0]]
        if first < 0 or not 1 < places[0] - top[first] <= _HEAD:
            continue
        others = {owner[each] for each in places} - {first}
        if 0 < 3 * len(others) <= len(top):
            lost[first] |= _uses(
                view, [each for each in places if owner[each] != first], constants=constants
            )
    # The heaviest come last, where a search begins. Of very many the light ones wait for later.
    weights = [sum(view.weight(abs(node)) for node in each) for each in lost]
    order = sorted(range(len(lost)), key=weights.__getitem__)
    heavy = order[-_MOST:]
    if 2 * sum(weights[each] for each in heavy) > sum(weights):
        order = heavy
    return Groups(view, [sorted(lost[each]) for each in order], "drop a definition")


@pass_("definitions", _is_small)
def definitions(view: TextView) -> Items | None:
    """Removes what the text defines, each part with all statements that use it."""
    return _definitions(view, constants=False)


@pass_("definitions to constants", _is_small)
def constants(view: TextView) -> Items | None:
    """Removes what the text defines, each part with constants for its uses."""
    return _definitions(view, constants=True)


class Structure(WeightedTree):
    """The nodes that have elements, each to be replaced by one within, or to lose elements."""

    def __init__(self, view: TextView) -> None:
        self.view = view
        self.large = len(view.document.text) // 20
        self._parts: dict[int, Elements] = {}

    @cached_property
    def roots(self) -> Sequence[int]:
        return (0,)

    def weight(self, node: int) -> int:
        return self.view.weight(node)

    def moves(self, node: int) -> Sequence[Move]:
        return _hoists(self.view, node) if self.weight(node) > self.large else ()

    def parts(self, node: int) -> Items | None:
        found = self._parts.get(node)
        if found is None:
            found = self._parts[node] = Elements(self.view, node)
        return found

    def child(self, node: int, position: int) -> int:
        return self._parts[node].elements[position]

    def children(self, node: int, dropped: Selection) -> Sequence[int]:
        view = self.view
        stop = view.document.stop
        return [
            each
            for at, each in enumerate(view.elements(node))
            if at not in dropped and stop[each] > each + 1
        ]


def _hoists(view: TextView, node: int) -> list[Move]:
    """Return what replaces a node by the largest ones within that can stand in its place."""
    rule, most = view.rule, 0.9 * view.weight(node)
    found = [
        each
        for each in range(node + 1, min(view.document.stop[node], node + _WITHIN))
        if rule[each] == rule[node] and 2 < view.weight(each) <= most
    ]
    found.sort(key=lambda each: -view.weight(each))
    return [Move(Change((Edit(node, (each,)),), "hoist"), (each,)) for each in found[:_HOISTS]]


@pass_("structure", lambda view: len(view.document) > 1)
def structure(view: TextView) -> Tree:
    """Removes statements, lines, elements of lists and groups, the largest first."""
    return Structure(view)


@pass_("names", _is_small)
def names(view: TextView) -> Items | None:
    """Removes a name with all that uses it."""
    holder = view.holder
    lost = [
        sorted(nodes)
        for places in view.words.values()
        if len(places) > 1 and (nodes := {holder[each] for each in places}) and 0 not in nodes
    ]
    return Groups(view, lost, "drop a name") if lost else None


class Arguments(IndependentItems):
    """The positions of what follows a name in brackets: a parameter goes with its arguments."""

    free = 0

    def __init__(self, view: TextView) -> None:
        self.calls: list[list[Elements]] = []
        self.items: list[tuple[int, int]] = []
        """The index of the calls, and the position."""
        document, kind = view.document, view.kind
        for places in view.words.values():
            calls = [
                Elements(view, after)
                for each in places
                if (after := each + 1) < len(kind)
                and kind[after] == Kind.GROUP
                and view.opens_with(after) == 40
                and document.end[each] == document.start[after]
            ]
            most = max((len(each.elements) for each in calls), default=0)
            self.items += ((len(self.calls), at) for at in range(most))
            self.calls.append(calls)

    @cached_property
    def weights(self) -> Sequence[int]:
        return array(
            "q",
            (
                sum(each.weights[at] for each in self.calls[call] if at < len(each.elements))
                for call, at in self.items
            ),
        )

    def change(self, chosen: Selection, taken: Selection) -> Change:
        before: dict[int, set[int]] = {}
        now: dict[int, set[int]] = {}
        for selection, found in ((taken, before), (chosen, now)):
            for item in selection:
                call, at = self.items[item]
                found.setdefault(call, set()).add(at)
        edits: list[Edit] = []
        for call, positions in now.items():
            for each in self.calls[call]:
                here = {at for at in positions if at < len(each.elements)}
                edits += each.change(here, before.get(call, set())).edits
        return Change(tuple(edits), "drop argument")


@pass_("arguments", _is_small)
def arguments(view: TextView) -> Items | None:
    """Removes parameters with their arguments."""
    items = Arguments(view)
    return items if items.items else None


class Hoists(Tree):
    """Groups and items, each to be replaced by one within."""

    def __init__(self, view: TextView) -> None:
        self.view = view

    @cached_property
    def roots(self) -> Sequence[int]:
        return self.children(0, frozenset())

    def weight(self, node: int) -> int:
        return self.view.weight(node)

    def moves(self, node: int) -> Sequence[Move]:
        view = self.view
        document, kind = view.document, view.kind
        found = []
        if kind[node] == Kind.GROUP:
            inner = tuple(document.children(node))[1:-1]
            if inner:
                found.append(Move(Change((Edit(node, _spaced(inner)),), "unwrap"), inner))
            if view.opens_with(node) == 40:
                found.insert(0, Move(Change((Edit(node, (b"0",)),), "constant"), ()))
        return [*found, *_hoists(view, node)]

    def parts(self, node: int) -> Items | None:
        return None

    def children(self, node: int, dropped: Selection) -> Sequence[int]:
        stop = self.view.document.stop
        return [each for each in self.view.elements(node) if stop[each] > each + 1]


def _spaced(nodes: Sequence[int]) -> tuple[int | bytes, ...]:
    return tuple(part for node in nodes for part in (node, b" "))[:-1]


@pass_("hoists", _is_small)
def hoisting(view: TextView) -> Tree:
    """Replaces groups and items by what is within."""
    return Hoists(view)


@pass_("shorter", _is_small)
def shorter(view: TextView) -> Iterator[Change]:
    """Shortens names, numbers and strings."""
    used = set(view.words)
    fresh = (bytes((each,)) for each in b"abcdefghijklmnopqrstuvwxyz" if bytes((each,)) not in used)
    for word, places in view.words.items():
        if len(word) > 1:
            new = next(fresh, None)
            if new is None:
                break
            yield Change(tuple(Edit(each, (new,)) for each in places), "shorten name")
    for node, kind in enumerate(view.kind):
        source = view.document.source(node) if kind in (Kind.NUMBER, Kind.STRING) else b""
        if kind == Kind.NUMBER and len(source) > 1:
            yield Change((Edit(node, (b"0",)),), "shorten number")
        elif kind == Kind.STRING and len(source) > 2:
            yield Change((Edit(node, (source[:1] + source[-1:],)),), "shorten string")


@pass_("blanks", _is_small)
def blanks(view: TextView) -> Items | None:
    """Removes blanks and line breaks that separate no words."""
    document, kind = view.document, view.kind
    inner = (node for node in range(len(kind)) if kind[node] < Kind.WORD)
    nodes = array("i", (node for node in inner if _gaps(view, node)))
    # The end of the last line stays.
    end = (b"\n",) if document.text.endswith(b"\n") else ()

    def edit(node: int) -> Edit:
        return Edit(node, (*document.children(node), *(() if node else end)))

    return NodeItems(document, nodes, edit, "blanks") if nodes else None


def _gaps(view: TextView, node: int) -> bool:
    """Return whether a node has blanks that separate no words."""
    document = view.document
    begin, text = document.start[node], document.text
    at = begin
    for child in document.children(node):
        start = document.start[child]
        if at < start and (start > at + 1 or at == begin or not _joins(text, at, start)):
            return True
        at = document.end[child]
    return at < document.end[node] and (node > 0 or text[at:] != b"\n")


def _joins(text: bytes, end: int, start: int) -> bool:
    """Return whether two words would become one."""
    return text[end - 1] not in DELIMITERS and text[start] not in DELIMITERS


@pass_("tokens", _is_small)
def tokens(view: TextView) -> Items:
    """Removes tokens."""
    document, kind = view.document, view.kind
    grouped = {
        each
        for node in range(len(kind))
        if kind[node] == Kind.GROUP
        for each in (node + 1, document.stop[node] - 1)
    }
    nodes = array("i", (each for each in view.tokens if each not in grouped))
    return NodeItems(document, nodes, lambda node: Edit(node, ()), "drop tokens")
