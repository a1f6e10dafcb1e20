"""A line-based unified diff of two texts, fast for long texts that have much in common."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

_CONTEXT = 3
_SHORT = 500  # lines that difflib compares quickly, whatever their content


class Region(NamedTuple):
    """Lines `begin` to `end` of the old text became `start` to `stop` of the new one."""

    begin: int
    end: int
    start: int
    stop: int


def unified(old: bytes, new: bytes, old_name: str, new_name: str) -> Iterator[bytes]:
    """Yield the lines of a unified diff, with line ends; nothing if the texts are equal."""
    a, b = _lines(old), _lines(new)
    regions = changed(a, b)
    if regions:
        yield f"--- {old_name}\n".encode(errors="backslashreplace")
        yield f"+++ {new_name}\n".encode(errors="backslashreplace")
    for group in _groups(regions):
        first, last = group[0], group[-1]
        lead = min(_CONTEXT, first.begin)
        trail = min(_CONTEXT, len(a) - last.end)
        ours = _range(first.begin - lead, last.end + trail)
        theirs = _range(first.start - lead, last.stop + trail)
        yield f"@@ -{ours} +{theirs} @@\n".encode()
        at = first.begin - lead
        for region in group:
            yield from map(_said, [b" "] * (region.begin - at), a[at : region.begin])
            size = region.end - region.begin
            yield from map(_said, [b"-"] * size, a[region.begin : region.end])
            size = region.stop - region.start
            yield from map(_said, [b"+"] * size, b[region.start : region.stop])
            at = region.end
        yield from map(_said, [b" "] * trail, a[at : at + trail])


def _trimmed(a: Sequence[bytes], b: Sequence[bytes], region: Region) -> Region:
    begin, end, start, stop = region
    while begin < end and start < stop and a[begin] == b[start]:
        begin, start = begin + 1, start + 1
    while begin < end and start < stop and a[end - 1] == b[stop - 1]:
        end, stop = end - 1, stop - 1
    return Region(begin, end, start, stop)


def changed(a: Sequence[bytes], b: Sequence[bytes]) -> list[Region]:
    """Return where two lists of lines differ, from front to end.

    Lines that occur once in each list are anchors (the patience diff of Bram Cohen); the parts
    between them are compared by difflib if they are short, otherwise each is one region.
    """
    found = []
    todo = [Region(0, len(a), 0, len(b))]
    while todo:
        begin, end, start, stop = whole = _trimmed(a, b, todo.pop())
        if begin == end and start == stop:
            continue
        if begin == end or start == stop:
            found.append(whole)
        elif max(end - begin, stop - start) <= _SHORT:
            found += _compared(a, b, whole)
        elif anchors := _anchors(a[begin:end], b[start:stop]):
            for i, j in anchors:
                todo.append(Region(begin, whole.begin + i, start, whole.start + j))
                begin, start = whole.begin + i + 1, whole.start + j + 1
            todo.append(Region(begin, end, start, stop))
        else:
            found.append(whole)
    return sorted(found)


def _compared(a: Sequence[bytes], b: Sequence[bytes], part: Region) -> Iterator[Region]:
    from difflib import SequenceMatcher

    begin, end, start, stop = part
    matcher = SequenceMatcher(None, a[begin:end], b[start:stop], autojunk=False)
    for tag, i, j, k, m in matcher.get_opcodes():
        if tag != "equal":
            yield Region(begin + i, begin + j, start + k, start + m)


def _anchors(a: Sequence[bytes], b: Sequence[bytes]) -> list[tuple[int, int]]:
    """Return the positions of lines that occur once in each list and in the same order."""
    once = {line for line, count in Counter(a).items() if count == 1}
    places = {line: i for i, line in enumerate(b) if line in once}
    repeated = {line for line, count in Counter(b).items() if count > 1}
    pairs = [(i, places[s]) for i, s in enumerate(a) if s in places and s not in repeated]
    return _longest_increasing(pairs)


def _longest_increasing(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the most pairs whose second numbers increase (patience sorting)."""
    # The last position of the best subsequence of each length.
    ends: list[int] = []
    at: list[int] = []  # the pair at the end of the best one of each length
    before: list[int] = []
    for number, (_, j) in enumerate(pairs):
        length = bisect_left(ends, j)
        before.append(at[length - 1] if length else -1)
        ends[length : length + 1] = [j]
        at[length : length + 1] = [number]
    chain = []
    number = at[-1] if at else -1
    while number >= 0:
        chain.append(pairs[number])
        number = before[number]
    return chain[::-1]


def _groups(regions: Sequence[Region]) -> Iterator[list[Region]]:
    """Yield groups of regions that share a hunk because their context lines meet."""
    group: list[Region] = []
    for region in regions:
        if group and region.begin - group[-1].end > 2 * _CONTEXT:
            yield group
            group = []
        group.append(region)
    if group:
        yield group


def _lines(text: bytes) -> list[bytes]:
    lines = [line + b"\n" for line in text.split(b"\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines


def _range(begin: int, end: int) -> str:
    size = end - begin
    first = begin + 1 if size else begin
    return str(first) if size == 1 else f"{first},{size}"


def _said(sign: bytes, line: bytes) -> bytes:
    return (
        sign + line if line.endswith(b"\n") else sign + line + b"\n\\ No newline at end of file\n"
    )
