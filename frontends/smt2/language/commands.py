"""The commands of a script and their dependencies: definitions, uses, matching push and pop.

It considers only names, not sorts or local binders, so that the first candidate of
a script of megabytes is ready at once. This errs on the safe side: a reported
use that is not one only keeps a declaration longer.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from itertools import accumulate, chain, pairwise, repeat
from operator import sub
from typing import NamedTuple

from reducekit.document import Document
from reducekit.frontends.smt2.language.parser import QUOTED, STRING, SYMBOL, TOKEN, WORD

_SYMBOL = re.compile(rb"%s|%s|;[^\n]*|(?![#0-9])%s" % (QUOTED, STRING, WORD))
_NAMED = re.compile(rb":named\s+(%s)" % SYMBOL)
_NAMED_WHOLE = re.compile(rb":named\s+(%s)\s*\)\s*\)\Z" % SYMBOL)
_DEFINES_ONE = frozenset(
    b"declare-fun declare-const declare-sort declare-var declare-rel declare-map declare-pool "
    b"declare-tactic declare-type-var declare-sort-parameter declare-oracle-fun define-fun "
    b"define-fun-rec define-const define-sort define-sort-parameter define synth-fun "
    b"synth-inv".split()
)
_DEFINES_MANY = frozenset(
    b"declare-datatype declare-datatypes declare-codatatype declare-codatatypes "
    b"define-funs-rec".split()
)
_SORT_WORDS = frozenset(
    b"_ par Bool Int Real Array BitVec String RegLan Seq Set FiniteSet Bag Tuple Relation Table "
    b"Nullable FiniteField FloatingPoint RoundingMode "
    b"Float16 Float32 Float64 Float128 Unit Char -> as".split()
)

MAX_PUSH = 1000
"""The maximum number of levels that one push opens, so that (push 1000000000) takes no time."""
_STEP = 1 << 16  # nodes of a command whose symbols are in memory at once, with repetitions


class Links:
    """A sparse relation: the numbers that each is linked to, in order; in two flat arrays."""

    def __init__(self, offsets: array[int], targets: array[int]) -> None:
        self.offsets = offsets
        """The start of each number's targets, followed by the end of the last one's."""
        self.targets = targets

    @classmethod
    def to(cls, targets: array[int], sources: Iterable[int], count: int) -> Links:
        """Return the relation of `count` targets to their sources, which are in order."""
        degrees = array("i", bytes(4 * (count + 1)))
        for target in targets:
            degrees[target + 1] += 1
        offsets = array("i", accumulate(degrees))
        places = offsets[:]
        result = array("i", bytes(4 * len(targets)))
        for source, target in zip(sources, targets, strict=True):
            result[places[target]] = source
            places[target] += 1
        return cls(offsets, result)

    def __getitem__(self, number: int) -> Sequence[int]:
        return self.targets[self.offsets[number] : self.offsets[number + 1]]

    def __contains__(self, number: int) -> bool:
        """Return whether a number is linked to any."""
        return self.offsets[number] < self.offsets[number + 1]

    def within(self, number: int, first: int, last: int) -> Sequence[int]:
        """Return the numbers in `first .. last - 1` that a number is linked to."""
        low, high = self.offsets[number], self.offsets[number + 1]
        low = bisect_left(self.targets, first, low, high)
        return self.targets[low : bisect_left(self.targets, last, low, high)]

    def reversed(self, count: int) -> Links:
        """Return the inverse relation for `count` targets, in order."""
        degrees = map(sub, self.offsets[1:], self.offsets)
        sources = chain.from_iterable(map(repeat, range(len(self.offsets) - 1), degrees))
        return Links.to(self.targets, sources, count)


class Commands(NamedTuple):
    """The commands of a script, as parallel lists."""

    nodes: Sequence[int]
    names: Sequence[bytes]
    """The head of each command, empty if it has none."""
    users: Links
    """For each command, the later ones that use its definitions."""
    uses: Links
    """For each command, the earlier ones whose definitions it uses."""
    partner: Sequence[int]
    """The pop of each push, and vice versa; -1 for all other commands."""


def head_of(document: Document, node: int) -> bytes:
    """Return the first atom of a list, empty if there is none."""
    first = node + 1
    if first >= document.stop[node] or document.stop[first] != first + 1:
        return b""
    return document.source(first)


def symbol(name: bytes) -> bytes:
    """Return a symbol without its bars: |x| and x are the same (standard 2.7, section 3.1)."""
    return name[1:-1] if name[:1] == b"|" else name


def name_of(assertion: bytes) -> bytes | None:
    """Return the name that `:named` gives to the whole term of an assertion; None without one."""
    found = _NAMED_WHOLE.search(assertion)
    return None if found is None else found[1]


def count_levels(document: Document, node: int) -> int:
    """Return the number of levels of a push or pop command; without a numeral it is 1."""
    children = list(document.children(node))
    number = document.source(children[1]) if len(children) > 1 else b"1"
    return int(number) if number.isdigit() and len(number) < 10 else 1


def read_commands(document: Document) -> Commands:
    """Find the commands, their definitions and uses, and the matching pushes and pops."""
    nodes = array("i", document.children(0))
    spelled: dict[bytes, bytes] = {}  # so that equal names are one object
    names = [spelled.setdefault(name, name) for name in (head_of(document, n) for n in nodes)]
    used, ends = array("i"), array("i", bytes(4 * (len(nodes) + 1)))
    partner = array("i", [-1]) * len(nodes)
    visible: dict[bytes, int] = {}
    # What each open push hid or declared: name -> the definition before it, if any.
    undo: list[tuple[int, dict[bytes, int | None]]] = []
    declared = False  # whether anything is declared yet: otherwise no look-up can succeed
    for index, (node, name) in enumerate(zip(nodes, names, strict=True)):
        ends[index] = len(used)
        if name == b"push":
            levels = count_levels(document, node)
            undo.extend((index, {}) for _ in range(min(levels, MAX_PUSH)))
            continue
        if name == b"pop":
            pushes = set()
            for _ in range(min(count_levels(document, node), len(undo))):
                push, hidden = undo.pop()
                pushes.add(push)
                for each, before in hidden.items():
                    if before is None:
                        visible.pop(each, None)
                    else:
                        visible[each] = before
            if len(pushes) == 1:
                (push,) = pushes
                if not undo or undo[-1][0] != push:
                    partner[index], partner[push] = push, index
            continue
        if name == b"reset":
            visible.clear()
            undo.clear()
            continue
        source = document.source(node)
        tokens = _symbols(document, node) if declared or name in _DEFINES_MANY else set()
        defined = _defined(document, node, name, source, tokens)
        if name in _DEFINES_MANY:
            # The sorts, constructors and selectors are the symbols not known yet.
            defined = [each for each in defined if each not in visible]
        if declared:
            known = visible.keys() & tokens
            if b"|" in source:
                known |= visible.keys() & {symbol(token) for token in tokens}
            if b"is-" in source:
                known |= visible.keys() & {symbol(t)[3:] for t in tokens if t.startswith(b"is-")}
            used.extend(sorted({visible[each] for each in known}))
        for each in defined:
            if undo and each not in undo[-1][1]:
                undo[-1][1][each] = visible.get(each)
            visible[each] = index
            declared = True
    ends[len(nodes)] = len(used)
    uses = Links(ends, used)
    return Commands(nodes, names, uses.reversed(len(nodes)), uses, partner)


def _symbols(document: Document, node: int) -> set[bytes]:
    last = document.stop[node]
    if last - node < _STEP:
        return set(_SYMBOL.findall(document.source(node)))
    # In parts, each starting at a node, so that not all tokens are in memory at once.
    places = [document.start[each] for each in range(node, last, _STEP)]
    found: set[bytes] = set()
    for begin, end in pairwise((*places, document.end[node])):
        found.update(_SYMBOL.findall(document.text, begin, end))
    return found


def _defined(
    document: Document, node: int, name: bytes, source: bytes, tokens: Iterable[bytes]
) -> list[bytes]:
    if name in _DEFINES_ONE:
        children = document.children(node)
        next(children)
        target = next(children, -1)
        return [symbol(document.source(target))] if target >= 0 else []
    if name in _DEFINES_MANY:
        return [symbol(token) for token in tokens if token != name and token not in _SORT_WORDS]
    if b":named" in source:
        return [symbol(each) for each in _NAMED.findall(source)]
    return []


def tokens_of(text: bytes) -> list[bytes]:
    """Return the tokens of a text, comments too."""
    return [token for token in TOKEN.findall(text) if not token.isspace()]


_MOST = 1 << 12
"""Longer scripts get no fingerprint: two are hardly ever equal, and it would take time."""
_DECLARING = (b"declare-", b"define-")


def fingerprint(text: bytes) -> bytes | None:
    """Return a hash of a script in which declared names are replaced by numbers.

    The order of declarations matters. Bound names, and names that a command declares together
    with others, such as constructors, are not replaced.
    """
    if len(text) > _MOST:
        return None
    tokens = tokens_of(text)
    names = {
        name
        for before, command, name in zip(tokens, tokens[1:], tokens[2:], strict=False)
        if command.startswith(_DECLARING) and before == b"("
    }
    names.discard(b"(")
    numbers: dict[bytes, bytes] = {}
    written = [
        numbers.setdefault(token, b"|%d" % len(numbers)) if token in names else token
        for token in tokens
    ]
    return blake2b(b" ".join(written), digest_size=16).digest()


# A claim is true of the script as it was written. Parts of it may have another answer, and solvers
# that compare their answer with it then fail: z3 with an error, cvc5 with an abort.
_CLAIM = re.compile(rb"(^|\))([ \t]*)\(\s*set-info\s+:status\s+(%s)\s*\)" % WORD, re.MULTILINE)


def status_of(text: bytes) -> str | None:
    """Return `sat` or `unsat` if a script claims this once; None otherwise."""
    claims = [found[3].decode(errors="replace") for found in _CLAIM.finditer(text)]
    return claims[0] if len(claims) == 1 and claims[0] in ("sat", "unsat") else None


def without_status(text: bytes) -> bytes:
    """Return a script that claims nothing; its other lines keep their numbers."""
    return _CLAIM.sub(rb"\1\2", text) if b":status" in text else text
