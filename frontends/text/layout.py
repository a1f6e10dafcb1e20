"""Passes on what is between tokens: blanks, empty lines and indentation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from reducekit.change import Change, Edit
from reducekit.format import pass_
from reducekit.frontends.common.items import WholeItems
from reducekit.frontends.text.tree import DELIMITERS, Kind
from reducekit.frontends.text.view import TextView

_MOST = 1 << 16
"""Larger texts keep their layout: a candidate that changes it costs time for each gap."""


class Gap(NamedTuple):
    """Blanks before a child of a node, or after its last one."""

    node: int
    place: int
    """The index of the child."""
    start: int
    end: int


def _gaps(view: TextView) -> Iterator[Gap]:
    """Yield all gaps that are not empty, by their nodes."""
    document = view.document
    for node, kind in enumerate(view.kind):
        if kind >= Kind.FILE:  # tokens, or the header of a file
            continue
        children, at, place = document.children(node), document.start[node], -1
        for place, child in enumerate(children):
            if at < document.start[child]:
                yield Gap(node, place, at, document.start[child])
            at = document.end[child]
        if place >= 0 and at < document.end[node]:
            yield Gap(node, place + 1, at, document.end[node])


def _change(view: TextView, filled: Mapping[Gap, bytes], what: str) -> Change:
    """Return the change that fills gaps with other bytes."""
    document = view.document
    by_node: dict[int, dict[int, bytes]] = {}
    for gap, filling in filled.items():
        by_node.setdefault(gap.node, {})[gap.place] = filling
    edits = []
    for node, fillings in sorted(by_node.items()):
        parts, at, place = list[bytes | int](), document.start[node], -1
        for place, child in enumerate(document.children(node)):
            parts += (fillings.get(place, document.text[at : document.start[child]]), child)
            at = document.end[child]
        parts.append(fillings.get(place + 1, document.text[at : document.end[node]]))
        edits.append(Edit(node, tuple(part for part in parts if part != b"")))
    return Change(tuple(edits), what)


def _shorter(
    view: TextView, filling: Callable[[TextView, Gap], bytes], what: str
) -> WholeItems | None:
    """Return the gaps that `filling` makes shorter."""
    gaps = [
        (gap, new) for gap in _gaps(view) if len(new := filling(view, gap)) < gap.end - gap.start
    ]

    def change(chosen: Sequence[int]) -> Change:
        return _change(view, dict(gaps[each] for each in chosen), what)

    return WholeItems(len(gaps), change) if gaps else None


def _is_small(view: TextView) -> bool:
    return 1 < len(view.document) <= _MOST


def _begins(view: TextView, gap: Gap) -> bool:
    """Return whether a gap is at the beginning of a text or file."""
    return view.kind[gap.node] == Kind.TEXT and gap.start == view.document.start[gap.node]


def _apart(view: TextView, gap: Gap) -> bytes:
    """Return a blank where two words would become one, or nothing."""
    text, ends = view.document.text, gap.end == view.document.end[gap.node]
    if _begins(view, gap):
        return b""
    if ends and view.kind[gap.node] == Kind.TEXT:  # the last line stays one
        return b"\n" if b"\n" in text[gap.start : gap.end] else b""
    around = text[gap.start - 1 : gap.start], text[gap.end : gap.end + 1]
    return b"" if any(each in DELIMITERS for each in around) else b" "


@pass_("blanks", _is_small)
def blanks(view: TextView) -> WholeItems | None:
    """Removes blanks and line breaks that separate no words."""
    return _shorter(view, _apart, "blanks")


def _one_line(view: TextView, gap: Gap) -> bytes:
    """Return a blank, or the last line break of a gap with the indentation that follows."""
    _, newline, margin = view.document.text[gap.start : gap.end].rpartition(b"\n")
    return (b"" if _begins(view, gap) else newline) + margin if newline else b" "


@pass_("empty lines", _is_small)
def empty_lines(view: TextView) -> WholeItems | None:
    """Removes empty lines, blanks at the ends of lines, and all but one within lines."""
    return _shorter(view, _one_line, "empty lines")


@pass_("indentation", _is_small)
def indentation(view: TextView) -> Iterator[Change]:
    """Indents by one blank for each level."""
    text = view.document.text
    margins = {
        gap: margin
        for gap in _gaps(view)
        if (parts := text[gap.start : gap.end].rpartition(b"\n"))[1] and (margin := parts[2])
    }
    levels = {margin: at for at, margin in enumerate(sorted({*margins.values()}, key=len), 1)}
    filled = {
        gap: text[gap.start : gap.end - len(margin)] + b" " * levels[margin]
        for gap, margin in margins.items()
        if len(margin) > levels[margin]
    }
    if filled:
        yield _change(view, filled, "indentation")
