"""Passes for what the others leave: attributes, tags, calls, runs of tokens, characters."""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

from reducekit.change import Change, Edit
from reducekit.format import pass_
from reducekit.frontends.common.items import WholeItems
from reducekit.frontends.text.tree import Kind
from reducekit.frontends.text.view import TextView
from reducekit.search.problem import LeafTree, Move

_MOST = 250
"""Only texts of at most so many tokens lose runs of them."""
_LONGEST = 8
"""Tokens of a run. By hand, on generated texts of ten languages (`benchmarks.texts`)."""
_TAG = re.compile(rb"(</?)([A-Za-z][^\s<>/]*)")
_EACH = re.compile(rb".", re.DOTALL)
_IN_NAME = re.compile(rb"[A-Z]?[a-z]+|[A-Z]+|[0-9]+|[\xc0-\xff][\x80-\xbf]*|.", re.DOTALL)
_ATTRIBUTE = re.compile(rb"""\s+[^\s=<>/"']+(?:\s*=\s*(?:"[^"]*"|'[^']*'))?""")


def _is_markup(view: TextView) -> bool:
    return view.document.text.lstrip().startswith(b"<")


@pass_("attributes", _is_markup)
def attributes(view: TextView) -> WholeItems | None:
    """Removes attributes of tags."""
    source = view.document.source
    places = [
        (node, *match.span())
        for node in view.tokens
        if (tag := source(node)).startswith(b"<")
        for match in _ATTRIBUTE.finditer(tag)
    ]

    def change(chosen: Sequence[int]) -> Change:
        tags = dict[int, bytes]()
        for at in reversed(chosen):
            node, begin, end = places[at]
            tag = tags.get(node, source(node))
            tags[node] = tag[:begin] + tag[end:]
        return Change(tuple(Edit(node, (tag,)) for node, tag in sorted(tags.items())), "attributes")

    return WholeItems(len(places), change) if places else None


@pass_("tags", _is_markup)
def tags(view: TextView) -> Iterator[Change]:
    """Shortens the names of tags."""
    found, source = dict[bytes, list[int]](), view.document.source
    for node in view.tokens:
        if match := _TAG.match(source(node)):
            found.setdefault(match[2], []).append(node)
    fresh = (
        name for each in b"abcdefghijklmnopqrstuvwxyz" if (name := bytes((each,))) not in found
    )
    for name, places in found.items():
        if len(name) > 1 and (new := next(fresh, None)):
            edits = (Edit(each, (_TAG.sub(rb"\1" + new, source(each)),)) for each in places)
            yield Change(tuple(edits), "shorten tag")


class Listed(LeafTree):
    """Places in a text, each with moves that are made when they are needed."""

    def __init__(self, weights: Sequence[int], moves: Callable[[int], Sequence[Move]]) -> None:
        self.weights = weights
        self._moves = moves

    @cached_property
    def roots(self) -> Sequence[int]:
        return range(len(self.weights))

    def weight(self, node: int) -> int:
        return self.weights[node]

    def moves(self, node: int) -> Sequence[Move]:
        return self._moves(node)


def _is_short(view: TextView) -> bool:
    return 1 < len(view.tokens) <= _MOST


@pass_("calls", _is_short)
def calls(view: TextView) -> Listed | None:
    """Replaces calls by `0` or by an argument."""
    found = [
        (node, after)
        for node in view.tokens
        if view.kind[node] == Kind.WORD and (after := view.call(node)) is not None
    ]

    def moves(at: int) -> list[Move]:
        node, after = found[at]
        parts: list[bytes | int] = [b"0", *view.elements(after)]
        return [
            Move(Change((Edit(node, ()), Edit(after, (part,))), "call to argument"), ())
            for part in parts
        ]

    return Listed([view.weight(after) for _, after in found], moves) if found else None


@pass_("runs of tokens", _is_short)
def runs(view: TextView) -> Listed | None:
    """Removes adjacent tokens that are no part of the text, if brackets still match."""
    tokens, document = view.tokens, view.document
    inner = [node for node, kind in enumerate(view.kind) if kind < Kind.WORD]
    parts = {(document.start[node], document.end[node]) for node in inner}
    found = [
        (first, last)
        for first in range(len(tokens))
        for last in range(first + 2, min(first + _LONGEST, len(tokens)) + 1)
        if (document.start[tokens[first]], document.end[tokens[last - 1]]) not in parts
        and _match(view, tokens[first:last])
    ]

    def moves(at: int) -> list[Move]:
        gone = tokens[slice(*found[at])]
        return [Move(Change(tuple(Edit(node, ()) for node in gone), "drop tokens"), ())]

    weights = array(
        "i", (document.end[tokens[b - 1]] - document.start[tokens[a]] for a, b in found)
    )
    return Listed(weights, moves) if found else None


def _match(view: TextView, run: Sequence[int]) -> bool:
    """Return whether brackets still match without a run of tokens."""
    document, opened, closed = view.document, list[bytes](), list[bytes]()
    for node in run:
        if view.kind[node] == Kind.OPEN:
            opened.append(document.source(node))
        elif view.kind[node] == Kind.CLOSE:
            partner = document.source(document.parent[node] + 1)
            if not opened:
                closed.append(partner)
            elif opened.pop() != partner:
                return False
    return closed == opened[::-1]


def _pieces(view: TextView, node: int) -> list[bytes]:
    """Return the characters of a string, the digits of a number, or the parts of a name."""
    token, kind = view.document.source(node), view.kind[node]
    if kind == Kind.STRING:
        return [token[:1], *_EACH.findall(token[1:-1]), token[-1:]]
    return (_IN_NAME if kind == Kind.WORD else _EACH).findall(token)


@pass_("characters", lambda view: 0 < len(view.tokens) <= _MOST)
def characters(view: TextView) -> WholeItems | None:
    """Removes characters of strings, digits of numbers, and parts of names such as `_left`."""
    kinds = (Kind.WORD, Kind.NUMBER, Kind.STRING)
    pieces = {node: _pieces(view, node) for node in view.tokens if view.kind[node] in kinds}
    places = [
        (node, at)
        for node, found in pieces.items()
        if len(found) > 1
        for at in range(len(found))
        if view.kind[node] != Kind.STRING or 0 < at < len(found) - 1
    ]

    def change(chosen: Sequence[int]) -> Change:
        left = dict[int, list[bytes]]()
        for node, at in map(places.__getitem__, chosen):
            left.setdefault(node, [*pieces[node]])[at] = b""
        edits = (Edit(node, (b"".join(found),)) for node, found in sorted(left.items()))
        return Change(tuple(edits), "drop characters")

    return WholeItems(len(places), change) if places else None
