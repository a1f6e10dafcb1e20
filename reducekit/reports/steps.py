"""A readable summary of what a step changed: the lines that differ, without their common parts."""

from __future__ import annotations

from dataclasses import dataclass

from reducekit.differences import changed
from reducekit.text import printable_lines, without_middle

_LINES = 6  # on each side of a change
_COLUMNS = 160
_CHANGES = 4
_SHARED = 24
"""Number of common characters kept at either end of two lines."""
_LITTLE = 6
"""The same if everything has to fit on one line of a terminal."""
_LARGE = 1 << 21  # bytes; comparing larger texts would take too long


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a diff: removed ("-"), added ("+"), or a remark (" ")."""

    sign: str
    text: str


def changes(old: bytes, new: bytes) -> list[Line]:
    """Return the removed and the added lines, about 50 at most."""
    if len(old) + len(new) > _LARGE:
        return [Line(" ", f"{len(old):,} bytes became {len(new):,}")]
    a, b = old.split(b"\n"), new.split(b"\n")
    regions = changed(a, b)
    found: list[Line] = []
    for begin, end, start, stop in regions[:_CHANGES]:
        found.append(Line(" ", f"line {begin + 1:,}"))
        removed, added = a[begin:end], b[start:stop]
        if len(removed) == len(added) == 1:
            before, after = _apart(printable_lines(removed[0]), printable_lines(added[0]), _SHARED)
            found += [Line("-", before), Line("+", after)]
            continue
        for sign, lines in (("-", removed), ("+", added)):
            shown = [without_middle(printable_lines(each), _COLUMNS) for each in lines[:_LINES]]
            found += [Line(sign, each) for each in shown]
            if len(lines) > _LINES:
                found.append(Line(sign, f"[{len(lines) - _LINES:,} more lines]"))
    if len(regions) > _CHANGES:
        found.append(Line(" ", f"[{len(regions) - _CHANGES:,} more places]"))
    return found


def glimpse(old: bytes, new: bytes) -> list[tuple[str, str, int]]:
    """Return "-" and "+", each with its first line and the number of its other lines."""
    a, b = old.split(b"\n"), new.split(b"\n")
    regions = changed(a, b)
    removed = [line for each in regions for line in a[each.begin : each.end]]
    added = [line for each in regions for line in b[each.start : each.stop]]
    if len(removed) == len(added) == 1:
        before, after = _apart(printable_lines(removed[0]), printable_lines(added[0]), _LITTLE)
        return [("-", before, 0), ("+", after, 0)]
    return [
        (sign, without_middle(printable_lines(lines[0]), _COLUMNS), len(lines) - 1)
        for sign, lines in (("-", removed), ("+", added))
        if lines
    ]


def _apart(old: str, new: str, shared: int) -> tuple[str, str]:
    """Return two lines, with `shared` characters of what they have in common at either end."""
    front = 0
    most = min(len(old), len(new))
    while front < most and old[front] == new[front]:
        front += 1
    back = 0
    while back < most - front and old[-1 - back] == new[-1 - back]:
        back += 1
    first, last = max(0, front - shared), max(0, back - shared)

    def cut(line: str) -> str:
        middle = without_middle(line[first : len(line) - last], 2 * _COLUMNS)
        return f"{'… ' if first else ''}{middle}{' …' if last else ''}"

    return cut(old), cut(new)
