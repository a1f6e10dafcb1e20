"""Which assertions of an input are left in its result: their names, and their lines in both.

The names are those that verifiers give: `:named`, else the `:qid` of the first quantifier. A
reduction renames what it can, and it makes many small steps. So assertions are followed from text
to text: names and lines are those of the input as long as each step says where they come from.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import suppress
from difflib import SequenceMatcher
from itertools import pairwise
from typing import NamedTuple

from reducekit.errors import ParseError
from reducekit.frontends.smt2.language.commands import head_of, symbol
from reducekit.frontends.smt2.language.parser import parse
from reducekit.offers import Part

_LABEL = re.compile(rb""":(?:named|qid)\s+(\|[^|]*\||[^\s()"|;:]+)""")
_NAMED = re.compile(rb""":named\s+(\|[^|]*\||[^\s()"|;:]+)\s*\)\s*\)\Z""")
_NEWLINE = re.compile(rb"\n")


class _Assertion(NamedTuple):
    name: str
    line: int
    """From 1."""
    atoms: tuple[bytes, ...]
    """What it consists of, without layout and comments."""


def labels(texts: Sequence[bytes]) -> list[Part]:
    """Return the assertions of the last text, and where in the first one they come from.

    The texts between are steps on the way, if they are known: the closer they are, the more is
    found. Those that are no scripts are left out; without a last one, or a first one, there are no
    parts.
    """
    read = [_assertions(each) for each in texts]
    if not read or read[0] is None or read[-1] is None:
        return []
    known = [each for each in read if each is not None]
    first, last = known[0], known[-1]
    origins: list[int | None] = list(range(len(first)))
    for old, new in pairwise(known):
        origins = [None if at is None else origins[at] for at in _followed(old, new)]
    return [
        Part(
            each.name if origin is None else first[origin].name,
            None if origin is None else first[origin].line,
            each.line,
        )
        for each, origin in zip(last, origins, strict=True)
    ]


def _assertions(text: bytes) -> list[_Assertion] | None:
    """Return the assertions of a script; None if the text is none."""
    with suppress(ParseError):
        document = parse(text)
        newlines = [found.start() for found in _NEWLINE.finditer(text)]
        return [
            _Assertion(
                _name(document.source(node)),
                bisect_right(newlines, document.start[node]) + 1,
                tuple(
                    document.source(each)
                    for each in range(node + 1, document.stop[node])
                    if document.stop[each] == each + 1
                ),
            )
            for node in document.children(0)
            if head_of(document, node) == b"assert"
        ]
    return None


def _name(command: bytes) -> str:
    found = _NAMED.search(command) or _LABEL.search(command)
    return "" if found is None else symbol(found[1]).decode(errors="replace")


def _followed(old: Sequence[_Assertion], new: Sequence[_Assertion]) -> list[int | None]:
    """Return for each new assertion which old one it comes from; None if none is like it."""
    before, after = ([each.atoms for each in both] for both in (old, new))
    found: list[int | None] = []
    for kind, low, high, begin, end in SequenceMatcher(None, before, after, False).get_opcodes():
        if kind == "equal" or (kind == "replace" and high - low == end - begin):
            found += range(low, high)
        elif kind != "delete":
            found += _nearest(old[low:high], new[begin:end], low)
    return found


def _nearest(
    old: Sequence[_Assertion], new: Sequence[_Assertion], base: int
) -> Iterator[int | None]:
    """Yield where new assertions come from, in order: by name, else by what they have in common."""
    words = [frozenset(each.atoms) for each in old]
    begin = 0
    for each in new:
        own = frozenset(each.atoms)
        best = max(
            range(begin, len(old)),
            key=lambda at: (bool(each.name) and each.name == old[at].name, len(own & words[at])),
            default=None,
        )
        if best is None or len(own & words[best]) < 2:  # all have the word `assert`
            yield None
            continue
        begin = best + 1
        yield base + best
