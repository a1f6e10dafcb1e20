"""Which of two BTOR texts is the smaller one."""

from __future__ import annotations

from functools import cached_property, total_ordering

_MANY = 5000
"""Of more lines the widths are not added up."""
_TWO_WIDTHS = frozenset({b"array", b"write", b"acond", b"anext", b"lambda"})


@total_ordering
class Size:
    """The size of a text: lines, then the sum of widths, then bytes.

    So no step adds a node, and none makes nodes wider without taking some away. Of a text
    with many lines the widths count as 0: two texts are only compared by their widths if
    they have the same number of lines. The widths of arrays are those of index and
    element together; of BTOR2 only those of the `sort` lines count.
    """

    def __init__(self, text: bytes) -> None:
        self.text = text
        self.lines = text.count(b"\n")

    @cached_property
    def _rest(self) -> tuple[int, int]:
        widths = _widths(self.text) if self.lines <= _MANY else 0
        return widths, len(self.text)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Size):
            return NotImplemented
        return self.lines == other.lines and self._rest == other._rest

    def __lt__(self, other: Size) -> bool:
        if self.lines != other.lines:
            return self.lines < other.lines
        return self._rest < other._rest

    def __hash__(self) -> int:
        return hash(self.lines)


def _widths(text: bytes) -> int:
    """Add up the widths in the headers of lines; other words count 0. Never fails."""
    total = 0
    for line in text.split(b"\n"):
        words = line.split(None, 5)
        if len(words) < 3:
            continue
        if words[1] == b"sort":
            found = words[3:4] if words[2] == b"bitvec" else []
        elif words[1] in _TWO_WIDTHS:
            found = words[2:4]
        else:
            found = words[2:3]
        total += sum(int(word) for word in found if word.isdigit() and len(word) < 12)
    return total
