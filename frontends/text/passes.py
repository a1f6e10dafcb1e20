"""Passes on the tree of a text: they know what a part, a name and an element of a list are.

What a text defines goes with what uses it; runs of elements go by their weight; then words with all
that has them, parameters with their arguments, and single tokens. No pass knows a language.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property

from reducekit.change import Change, Edit
from reducekit.format import pass_
from reducekit.frontends.common.items import NodeItems, WholeItems
from reducekit.frontends.text.tree import Kind
from reducekit.frontends.text.view import HEAD, TextView
from reducekit.search.problem import IndependentItems, Items, Move, Selection, Tree, WeightedTree

_LARGE = 1 << 22
"""Texts of more nodes lose statements and lines only: tables of words would fill the memory."""
_LOOKS = 1 << 20
"""In texts of more nodes it is not looked at who uses what."""
_MOST = 50
"""This many of the heaviest parts are tried with their uses, if they are most of the text. By hand,
on the cases of tests/frontends/text and eight others."""
_HOISTS = 3
"""This many nodes within are tried in place of a node."""
_WITHIN = 10_000
"""This many nodes within are looked at for that."""


def _is_small(view: TextView) -> bool:
    return 1 < len(view.document) <= _LARGE


class Elements(IndependentItems):
    """The elements of a node; dropping some also drops the separators that are left over."""

    free = 0

    def __init__(self, view: TextView, node: int) -> None:
        self.view = view
        self.elements = view.elements(node)
        self.separators = [
            (each, bisect_left(self.elements, each))
            for each in view.document.children(node)
            if view.kind[each] == Kind.SEPARATOR
        ]
        """Each with how many elements come before it."""

    @cached_property
    def weights(self) -> Sequence[int]:
        return array("i", map(self.view.weight, self.elements))

    def _lost(self, gone: Selection) -> set[int]:
        """Return the separators to drop, so that one remains between any two elements that stay.

        Those are the ones before the first element that stays, and before each that is dropped.
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
    """Sets of nodes to drop together."""

    free = 0

    def __init__(self, view: TextView, lost: Sequence[Sequence[int]], what: str) -> None:
        self.view, self.lost, self.what = view, lost, what

    @cached_property
    def weights(self) -> Sequence[int]:
        weight = self.view.weight
        return array("q", (sum(map(weight, each)) for each in self.lost))

    def change(self, chosen: Selection, taken: Selection) -> Change:
        nodes = {node for at in chosen for node in self.lost[at]}
        return Change(tuple(Edit(node, ()) for node in sorted(nodes)), self.what)


@pass_("definitions", _is_small)
def definitions(view: TextView) -> Items | None:
    """Removes definitions with all statements that use them."""
    top = view.top
    if len(top) < 2:
        return None
    stop = view.document.stop
    owner = array("i", [-1]) * len(view.kind)
    for number, each in enumerate(top):
        owner[each : stop[each]] = array("i", [number]) * (stop[each] - each)
    lost: list[set[int]] = [{each} for each in top]
    for places in view.words.values():
        # The part where a word occurs first defines it if that is near its start, behind a keyword.
        # A word in many parts is a keyword itself.
        first = owner[places[0]]
        if first < 0 or not 1 < places[0] - top[first] <= HEAD:
            continue
        others = {owner[each] for each in places} - {first}
        if 0 < 3 * len(others) <= len(top):
            lost[first] |= {view.holder[each] for each in places if owner[each] != first} - {0}
    # The heaviest come last, as searches go backward. If there are very many, skip the light ones.
    weights = [sum(map(view.weight, each)) for each in lost]
    order = sorted(range(len(lost)), key=weights.__getitem__)
    heavy = order[-_MOST:]
    if 2 * sum(weights[each] for each in heavy) > sum(weights):
        order = heavy
    return Groups(view, [sorted(lost[each]) for each in order], "drop a definition")


class Structure(WeightedTree):
    """All nodes with elements: they lose elements, or are replaced by a node within."""

    def __init__(self, view: TextView) -> None:
        self.view = view
        self.large = len(view.document.text) // 20
        self.looks = len(view.document) <= _LOOKS
        self._parts: dict[int, Elements] = {}

    @cached_property
    def roots(self) -> Sequence[int]:
        return (0,)

    def weight(self, node: int) -> int:
        return self.view.weight(node)

    def moves(self, node: int) -> Sequence[Move]:
        return _hoists(self.view, node) if self.weight(node) > self.large else ()

    def parts(self, node: int) -> Elements:
        found = self._parts.get(node)
        if found is None:
            found = self._parts[node] = Elements(self.view, node)
        return found

    def child(self, node: int, position: int) -> int:
        return self.parts(node).elements[position]

    def without(self, gone: bytes, node: int, positions: Collection[int]) -> bytes:
        stop = self.view.document.stop
        lost = bytearray(gone or len(stop))
        for at in positions:
            each = self.child(node, at)
            lost[each : stop[each]] = b"\1" * (stop[each] - each)
        return bytes(lost)

    def free(self, node: int, positions: Sequence[int], gone: bytes) -> Sequence[int]:
        """Return the elements that define nothing that is used elsewhere."""
        if not self.looks:
            return positions
        elements, stop = self.parts(node).elements, self.view.document.stop
        found = set(positions)

        def stays(place: int) -> bool:
            at = bisect_right(elements, place) - 1
            return (at not in found or place >= stop[elements[at]]) and not (gone and gone[place])

        # Users come after what they use.
        for at in reversed(positions):
            for places in self.view.defined(elements[at]):
                if any(map(stays, places)):
                    found.discard(at)
                    break
        return positions if len(found) == len(positions) else sorted(found)

    def children(self, node: int, dropped: Selection) -> Sequence[int]:
        elements, stop = self.parts(node).elements, self.view.document.stop
        return [e for at, e in enumerate(elements) if at not in dropped and stop[e] > e + 1]


def _hoists(view: TextView, node: int) -> list[Move]:
    """Return the replacements of a node by the largest nodes of its kind within it."""
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


class Arguments(IndependentItems):
    """Argument positions of each name that is called: a parameter goes with its arguments."""

    free = 0

    def __init__(self, view: TextView) -> None:
        self.calls: list[list[Elements]] = []
        self.items: list[tuple[int, int]] = []
        """The index in `calls`, and the position."""
        document = view.document
        for places in view.words.values():
            calls = [
                Elements(view, after)
                for each in places
                if (after := view.call(each)) is not None
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


@pass_("columns", _is_small)
def columns(view: TextView) -> WholeItems | None:
    """Removes columns of tables, such as the second value of all rows."""
    kind, children = view.kind, view.document.children
    found: list[tuple[int, int]] = []
    for node in range(len(kind)):
        rows = view.elements(node) if kind[node] < Kind.WORD else ()
        commas = {sum(kind[each] == Kind.SEPARATOR for each in children(row)) for row in rows}
        if len(rows) > 1 and len(commas) == 1 and 0 not in commas:
            found += ((node, column) for column in range(min(commas) + 1))

    def change(chosen: Sequence[int]) -> Change:
        gone: dict[int, set[int]] = {}
        for node, column in map(found.__getitem__, chosen):
            gone.setdefault(node, set()).add(column)
        lost: set[int] = set()
        for node, numbers in gone.items():
            for row in view.elements(node):
                column, keeps = 0, False
                for each in children(row):
                    if kind[each] == Kind.SEPARATOR:
                        keeps |= column not in numbers
                        column += 1
                        # One remains between any two columns that stay.
                        if not keeps or column in numbers:
                            lost.add(each)
                    elif column in numbers and kind[each] not in (Kind.OPEN, Kind.CLOSE):
                        lost.add(each)
        return Change(tuple(Edit(each, ()) for each in sorted(lost)), "drop column")

    return WholeItems(len(found), change) if found else None


class Hoists(Tree):
    """Groups and items: each is replaced by a node within it."""

    def __init__(self, view: TextView) -> None:
        self.view = view

    @cached_property
    def roots(self) -> Sequence[int]:
        return self.children(0, frozenset())

    def weight(self, node: int) -> int:
        return self.view.weight(node)

    def moves(self, node: int) -> Sequence[Move]:
        view, found = self.view, list[Move]()
        if view.is_round(node):
            found.append(Move(Change((Edit(node, (b"0",)),), "constant"), ()))
        inner = tuple(view.document.children(node))[1:-1]
        if view.kind[node] == Kind.GROUP and inner:
            spaced = tuple(part for each in inner for part in (each, b" "))[:-1]
            found.append(Move(Change((Edit(node, spaced),), "unwrap"), inner))
        return [*found, *_hoists(view, node)]

    def parts(self, node: int) -> Items | None:
        return None

    def children(self, node: int, dropped: Selection) -> Sequence[int]:
        stop = self.view.document.stop
        return [each for each in self.view.elements(node) if stop[each] > each + 1]


@pass_("hoists", _is_small)
def hoisting(view: TextView) -> Tree:
    """Replaces groups and items by what is within."""
    return Hoists(view)


@pass_("shorter", _is_small)
def shorter(view: TextView) -> Iterator[Change]:
    """Shortens names, numbers and strings, and makes names equal."""
    used = set(view.words)
    fresh = (bytes((each,)) for each in b"abcdefghijklmnopqrstuvwxyz" if bytes((each,)) not in used)
    before = None
    for word, places in view.words.items():
        if len(word) > 1 and (new := next(fresh, None)):
            yield Change(tuple(Edit(each, (new,)) for each in places), "shorten name")
        elif len(word) == 1:
            if before:  # shorter by then, so no keyword of most languages
                yield Change(tuple(Edit(each, (before,)) for each in places), "merge names")
            before = word
    for node, kind in enumerate(view.kind):
        source = view.document.source(node) if kind in (Kind.NUMBER, Kind.STRING) else b""
        if kind == Kind.NUMBER and len(source) > 1:
            yield Change((Edit(node, (b"0",)),), "shorten number")
        elif kind == Kind.STRING and len(source) > 2:
            yield Change((Edit(node, (source[:1] + source[-1:],)),), "shorten string")


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
