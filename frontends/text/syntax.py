"""The syntax tree of a text by a grammar, and whether texts made from it parse as well.

A candidate is parsed incrementally: what it shares with the text is taken from the text's tree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node, Parser, Tree

_PROBE = 16  # bytes that are the same where two texts meet again
_DIFFERENCES = 1000  # all that follows is taken for one more


@dataclass(frozen=True, slots=True)
class Syntax:
    """The syntax tree of a text."""

    text: bytes
    parser: Parser
    tree: Tree
    errors: int

    def of(self, text: bytes) -> Syntax:
        """Return the syntax of another text. Only what differs is parsed."""
        return self._of(text, differences(self.text, text))

    def replaced(self, first: int, last: int, new: bytes = b"") -> Tree | None:
        """Return the tree with `new` in place of some bytes; None if it has more errors."""
        text = self.text[:first] + new + self.text[last:]
        found = self._of(text, [(first, last, first, first + len(new))])
        return None if found.errors > self.errors else found.tree

    def _of(self, text: bytes, edits: Iterable[tuple[int, int, int, int]]) -> Syntax:
        tree, at, point = self.tree.copy(), 0, (0, 0)
        for first, last, low, high in edits:
            point = _after(point, text[at:low])
            old, new = _after(point, self.text[first:last]), _after(point, text[low:high])
            tree.edit(low, low + last - first, high, point, old, new)
            at, point = high, new
        return syntax_of(self.parser, text, tree)


def syntax_of(parser: Parser, text: bytes, old: Tree | None = None) -> Syntax:
    """Parse a text, perhaps from an edited tree of another.

    Every text has a tree, with errors where it is not of the language.
    """
    tree = parser.parse(text) if old is None else parser.parse(text, old)
    return Syntax(text, parser, tree, errors(tree.root_node))


def _after(point: tuple[int, int], text: bytes) -> tuple[int, int]:
    """Return the line and column after a text that begins at these, from 0."""
    lines = text.count(b"\n")
    return point[0] + lines, len(text) - text.rfind(b"\n") - 1 if lines else point[1] + len(text)


def errors(root: Node) -> int:
    """Count what does not parse and what is missing."""
    count, todo = 0, [root] if root.has_error else []
    while todo:
        node = todo.pop()
        count += node.is_error or node.is_missing
        todo += (each for each in node.children if each.has_error)
    return count


def differences(old: bytes, new: bytes) -> Iterator[tuple[int, int, int, int]]:
    """Yield what differs, as `(first, last, low, high)`: bytes of `old`, then those of `new`.

    Linear in the texts where one is the other without some parts; not always the least.
    """
    ends = len(old), len(new)
    tail = _alike(
        min(ends),
        lambda a, b: (
            old[max(ends[0] - b, 0) : ends[0] - a] == new[max(ends[1] - b, 0) : ends[1] - a]
        ),
    )
    at = low = 0
    for number in range(_DIFFERENCES):
        most = min(len(old) - at, len(new) - low)
        same = _alike(most, partial(_same, old, at, new, low))
        at, low = at + same, low + same
        tail = min(tail, len(old) - at, len(new) - low)
        last, high = len(old) - tail, len(new) - tail
        if at == last and low == high:
            return
        skip = 0
        while number < _DIFFERENCES - 1 and low + skip < high:
            found = old.find(new[low + skip : low + skip + _PROBE], at, last)
            if found >= 0:
                last, high = found, low + skip
                break
            skip = skip * 2 or 1
        yield at, last, low, high
        at, low = last, high


def _same(old: bytes, at: int, new: bytes, low: int, first: int, last: int) -> bool:
    return old[at + first : at + last] == new[low + first : low + last]


def _alike(most: int, equal: Callable[[int, int], bool]) -> int:
    """Return how many bytes are the same; `equal` compares those from one number to another."""
    size, same = 64, 0
    while same < most and equal(same, same + size):
        same += size
        size *= 2
    while size > 1 and same < most:
        size //= 2
        if equal(same, same + size):
            same += size
    return min(same, most)
