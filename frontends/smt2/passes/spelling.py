"""Passes that write the same shorter: layout, names, literals, numbers, widths of bit-vectors."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from reducekit.change import Change, Edit
from reducekit.document import Document
from reducekit.format import pass_
from reducekit.frontends.common.items import NodeTree
from reducekit.frontends.smt2.language.constants import literal_value, short_names, shortest
from reducekit.frontends.smt2.language.parser import QUOTED, STRING, parse
from reducekit.frontends.smt2.language.script import Script, analyse
from reducekit.frontends.smt2.language.sorts import FLOATS, RESERVED, print_sort
from reducekit.frontends.smt2.language.theories import TAKEN
from reducekit.frontends.smt2.language.view import ScriptView
from reducekit.search.problem import (
    FixedSearch,
    IndependentChanges,
    IndependentItems,
    Items,
    Move,
    Selection,
    independent,
)
from reducekit.search.selecting import Selecting, Selector

# Strings and quoted symbols are matched first, so that their blanks are kept.
_GAP = re.compile(rb"(%s|%s)|(?:[ \t\r\n\f\v]|;[^\n]*)+" % (STRING, QUOTED))
_UNTIDY = re.compile(rb"[\t\r\n\f\v;]|  |\( | \)")
_OPEN, _CLOSE = ord("("), ord(")")


def tidy(document: Document) -> bytes:
    """Return the script without comments and with normalised blanks.

    Blanks are only removed or replaced, never inserted between adjacent tokens, so the result
    has the same tokens as the script.
    """
    # A line for each command, so that results can be read, and compared by lines.
    text, end = document.text, document.end
    out, last = [], 0
    for node in document.children(0):
        if last and document.start[node] > last:
            out.append(b"\n")
        out.append(tidy_command(document.source(node)))
        last = end[node]
    if last < len(text):
        out.append(b"\n")
    return b"".join(out)


def tidy_command(source: bytes) -> bytes:
    """Return one command with its blanks normalised."""
    if _UNTIDY.search(source) is None:
        return source

    # One gap at a time: a command may have millions of them.
    out, last = bytearray(), 0
    for match in _GAP.finditer(source):
        if match.lastindex:
            continue
        begin, end = match.span()
        out += source[last:begin]
        if source[begin - 1] != _OPEN and source[end] != _CLOSE:
            out += b" "
        last = end
    out += source[last:]
    return bytes(out)


_COLUMNS = 80
_INDENT = 2
_DEEPEST = 40  # the maximum indentation, or the text of a deep term would be quadratic in size


def pretty(document: Document) -> bytes:
    """Return the pretty-printed script, with the same tokens but without comments."""
    return b"".join(_pretty_command(document, node) + b"\n" for node in document.children(0))


def _pretty_command(document: Document, root: int) -> bytes:
    text, start, end = document.text, document.start, document.end
    out: list[bytes] = []
    stack: list[bytes | tuple[int, int]] = [(root, 0)]
    while stack:
        item = stack.pop()
        if isinstance(item, bytes):
            out.append(item)
            continue
        node, indent = item
        children = list(document.children(node)) if text[start[node]] == _OPEN else []
        if not children or end[node] - start[node] <= _COLUMNS - indent:
            out.append(tidy_command(document.source(node)))
            continue
        inner = min(indent + _INDENT, _DEEPEST)
        # The head, and the atoms up to the first list, stay on the first line.
        lists = (n for n, child in enumerate(children) if text[start[child]] == _OPEN)
        head = next(lists, 1)
        named = b" ".join(document.source(each) for each in children[:head])
        out.append(b"(" + named)
        newline = b"\n" + b" " * inner
        stack.append(b")")
        for number in range(len(children) - 1, head - 1, -1):
            stack.append((children[number], inner))
            if number or head:
                stack.append(newline)
    return b"".join(out)


@dataclass(frozen=True)
class Layout:
    """Removes comments and normalises blanks.

    It is tried first and as one change, so that all later candidates are shorter and the result is
    readable: one command per line, single blanks.
    """

    least: float = 0.0
    """The minimum share of the script that this has to remove."""
    name = "layout"

    def problem(self, view: ScriptView) -> Items | None:
        """Return one change of the whole text."""
        before = view.document.text
        text = tidy(view.document)
        if text == before or len(text) > (1 - self.least) * len(before):
            return None
        return IndependentChanges([Change((Edit(0, (text,)),), "layout")])


# Names that cannot be given to a symbol: reserved words and theory symbols.
_NOT_FREE = RESERVED | TAKEN


@dataclass(frozen=True)
class Rename:
    """Renames all symbols to short names, the most used to the shortest."""

    most: int | None = None
    """Scripts with more definitions are not renamed; None for no limit."""
    name = "rename"

    def problem(self, view: ScriptView) -> IndependentChanges | None:
        """Return one change per name, for all its definitions, so that shadowing is preserved."""
        if self.most is not None and len(view.script.definitions) > self.most:
            return None
        document = view.document
        source, stop = document.source, document.stop
        # By name, not by definition: a failure may need that one symbol hides another of its name.
        places: dict[bytes, set[int]] = {}
        for index, definition in enumerate(view.script.definitions):
            known = places.setdefault(definition.name, set())
            known.update((definition.node, *view.references[index]))
        # Names in use are not given to other symbols, since some renamings may be rejected.
        atoms = {source(node) for node in range(1, len(document)) if stop[node] == node + 1}
        short = (name for name in short_names() if name not in atoms and name not in _NOT_FREE)
        changes = []
        # The most used name gets the shortest one: that saves most. Of equally used ones the first
        # in the text comes first, so that the order depends on nothing but the text.
        for name in sorted(places, key=lambda name: (-len(places[name]), min(places[name]))):
            # Any other spelling is a place where the name is part of another word: `is-name`.
            spellings = {source(node) for node in places[name]}
            if len(name) < 2 or not spellings <= {name, b"|" + name + b"|"}:
                continue
            new = next(short)
            if len(new) < len(name):
                edits = tuple(Edit(node, (new,)) for node in sorted(places[name]))
                changes.append(Change(edits, "rename"))
        return independent(changes)


_LITERAL = re.compile(rb"\(\s*_\s+bv([0-9]{1,99})\s+([0-9]{1,6})\s*\)")
_WHOLE = re.compile(rb"([0-9]{1,99})\.0")
_FLOATS = {print_sort(sort): name for sort, name in FLOATS.items()}
# It takes a second parse, with the sorts of all terms, for each such change.
_CHECKED = 20_000
"""Scripts with more nodes are not parsed again to check that a change keeps them well-sorted."""


def text_is_sorted(view: ScriptView, edits: Sequence[Edit]) -> bool:
    """Return whether edits leave the number of terms without a sort unchanged."""
    if len(view.document) > _CHECKED:
        return False

    def unsorted(script: Script) -> int:
        terms = zip(script.sort, script.is_term, strict=True)
        return sum(script.is_term) - sum(sort is not None and bool(term) for sort, term in terms)

    return unsorted(analyse(parse(view.document.render(dict(edits))))) <= unsorted(view.script)


@pass_("spelling")
def spelling(view: ScriptView) -> IndependentChanges | None:
    """Shortens the spelling of literals, declarations, logics and float sorts.

    A bit-vector literal gets its shortest notation, a declare-fun without parameters becomes a
    declare-const, a logic ALL, 1.0 becomes 1, and the long form of Float32 its name.
    """
    # What a solver knows or does not know as a whole is one change: any part of it alone would
    # be rejected for the same reason. Literals are one change each: solvers differ in what
    # notation they read, and in what it makes them do.
    document, source = view.document, view.document.source
    changes: list[Change] = []
    declarations: list[Edit] = []
    for node, name in zip(view.commands.nodes, view.commands.names, strict=True):
        children = list(document.children(node))
        if name == b"set-logic" and len(children) == 2:
            # The shortest name of a logic, which allows whatever the other passes put in.
            changes.append(Change((Edit(children[1], (b"ALL",)),), "logic"))
        elif name == b"declare-fun" and len(children) == 4 and source(children[2]) == b"()":
            declarations += (Edit(children[0], (b"declare-const",)), Edit(children[2], ()))
    decimals: list[Edit] = []
    for node, sort in enumerate(view.script.sort):
        if isinstance(sort, tuple) and sort[0] == "BitVec":
            match = _LITERAL.fullmatch(own := source(node))
            short = shortest(int(match[1]), int(match[2])) if match else own
            if len(short) < len(own):
                changes.append(Change((Edit(node, (short,)),), "literal"))
        elif sort == "Real" and (match := _WHOLE.fullmatch(source(node))):
            decimals.append(Edit(node, (match[1],)))
    # A numeral is an Int, so this is not always well-sorted: only where Int and Real mix (theory
    # Reals_Ints, notes), or in a logic of Reals alone, where a numeral is a Real.
    if decimals and text_is_sorted(view, decimals):
        changes.append(Change(tuple(decimals), "numerals for decimals"))
    floats = [
        Edit(node, (_FLOATS[name],))
        for node in range(1, len(document) - 3)
        if document.stop[node] == node + 5 and (name := source(node)) in _FLOATS
    ]
    if floats:
        changes.append(Change(tuple(floats), "short sorts"))
    if declarations:
        # One key: a solver that does not know the command rejects it every time.
        changes.append(Change(tuple(declarations), "declare-const", b"declare-const"))
    return independent(changes)


_NUMBER = re.compile(rb"(|bv)(?=[0-9.]{3})([0-9]+)(?:\.([0-9]+))?")
"""A number of at least three characters: zero and one were tried in place of the others."""


@dataclass(frozen=True, slots=True)
class Ends(Selector):
    """Takes items from both ends of each group, half of them first, then half of that, and so on.

    A group of n items that all have to stay costs two proposals for each power of two up to n / 2.
    """

    groups: tuple[tuple[int, ...], ...]
    """The remaining items of each group."""
    least: tuple[int, ...]
    """How many items of each group stay; if that is 0, all of it are proposed first."""
    at: int = 0
    size: int = 0
    """How many items to take; 0: the group was not begun yet."""
    front: bool = False

    def _first(self) -> int:
        group = self.groups[self.at]
        return len(group) // 2 if self.least[self.at] else len(group)

    def propose(self) -> Collection[int] | None:
        if self.at >= len(self.groups):
            return None
        group, size = self.groups[self.at], self.size or self._first()
        return group[:size] if self.front else group[-size:]

    def after(self, taken: Collection[int]) -> Ends:
        """Go on at the same end after a success, otherwise at the other one, then with half."""
        size, group = self.size or self._first(), self.groups[self.at]
        if taken:
            left = tuple(each for each in group if each not in taken)
            groups = (*self.groups[: self.at], left, *self.groups[self.at + 1 :])
            size = min(size, (len(left) - self.least[self.at] + 1) // 2)
            return replace(self, groups=groups, size=size)._or_next()
        if not self.front and size < len(group):
            return replace(self, size=size, front=True)
        return replace(self, size=size // 2, front=False)._or_next()

    def _or_next(self) -> Ends:
        """Return the selector at the next group if nothing is left to try in this one."""
        return self if self.size else replace(self, at=self.at + 1, front=False)


class Digits(IndependentItems):
    """The digits of numbers as items. A number that occurs several times stays one number."""

    def __init__(self, numbers: Sequence[tuple[re.Match[bytes], Sequence[int]]]) -> None:
        self.numbers = numbers
        self.owner: list[int] = []
        """The number of each item."""
        self.first: list[int] = []
        groups: list[tuple[int, ...]] = []
        least: list[int] = []
        for at, (number, _) in enumerate(numbers):
            base = len(self.owner)
            self.first.append(base)
            whole, fraction = len(number[2]), len(number[3] or b"")
            self.owner += [at] * (whole + fraction)
            if fraction and number[3].strip(b"0"):
                groups.append(tuple(range(base + whole, base + whole + fraction)))
                least.append(0)
            if whole > 1:
                groups.append(tuple(range(base, base + whole)))
                least.append(1)
        self.selector = Ends(tuple(groups), tuple(least))
        self.weights: Sequence[int] = [1] * len(self.owner)

    def change(self, chosen: Selection, taken: Selection) -> Change:
        gone = chosen | taken
        edits: list[Edit] = []
        for at in sorted({self.owner[item] for item in chosen}):
            number, nodes = self.numbers[at]
            text = _without(number, {item - self.first[at] for item in gone})
            edits += (Edit(node, (text,)) for node in nodes)
        return Change(tuple(edits), "shorter number")


def _without(number: re.Match[bytes], gone: Collection[int]) -> bytes:
    """Return a number without the digits at some places, counted without the point."""
    prefix, whole, fraction = number[1], number[2], number[3] or b""
    kept = bytes(digit for at, digit in enumerate(whole) if at not in gone)
    text = prefix + (kept.lstrip(b"0") or b"0")
    if number[3] is None:
        return text
    rest = bytes(digit for at, digit in enumerate(fraction, len(whole)) if at not in gone)
    return text + b"." + (rest.rstrip(b"0") or b"0")


@pass_("numerals")
def numerals(view: ScriptView) -> FixedSearch | None:
    """Shortens numerals, decimals and `(_ bvN w)` by some of their digits.

    At most one check and two for each halving of a number in which every digit is needed.
    """
    document, script = view.document, view.script
    text, start, stop, source = document.text, document.start, document.stop, document.source
    found: dict[bytes, tuple[re.Match[bytes], list[int]]] = {}
    for node, sort in enumerate(script.sort):
        if sort is None:
            continue
        if stop[node] == node + 4 and source(node + 1) == b"_":
            leaf = node + 2
        elif stop[node] == node + 1:
            leaf = node
        else:
            continue
        if text[start[leaf]] not in b"0123456789b" or script.refs[leaf] >= 0:
            continue
        number = _NUMBER.fullmatch(source(leaf))
        if number is not None and bool(number[1]) == (leaf != node):
            found.setdefault(number[0], (number, []))[1].append(leaf)
    if not found:
        return None
    items = Digits(list(found.values()))
    return FixedSearch(Selecting(items, items.selector)) if items.selector.groups else None


_TARGETS = (1, 2, 4, 8, 16, 32)


@pass_("widths")
def widths(view: ScriptView) -> NodeTree | None:
    """Narrows all bit-vectors of one width at once."""
    document, source, stop = view.document, view.document.source, view.document.stop
    numerals: dict[int, list[int]] = {}
    """By width: where it is written in sorts, as in `(_ BitVec 8)`."""
    for node in range(1, len(document) - 3):
        if stop[node] == node + 4 and source(node + 2) == b"BitVec":
            text = source(node + 3)
            if source(node + 1) == b"_" and text.isdigit() and len(text) < 7:
                numerals.setdefault(int(text), []).append(node + 3)
    literals: dict[int, list[tuple[int, int]]] = {}
    for node, sort in enumerate(view.script.sort):
        if isinstance(sort, tuple) and sort[0] == "BitVec" and isinstance(sort[1], int):
            value = literal_value(source(node)) if stop[node] <= node + 4 else None
            if value is not None:
                literals.setdefault(sort[1], []).append((node, value))

    def moves(width: int) -> list[Move]:
        # Sorts are checked before the test runs: what extracts a bit from a vector that is narrower
        # now, or joins two of other widths, has no sort, and a solver would say no more than that.
        found = []
        for target in (each for each in _TARGETS if each < width):
            edits = [Edit(each, (b"%d" % target,)) for each in numerals.get(width, ())]
            edits += (Edit(e, (shortest(value, target),)) for e, value in literals.get(width, ()))
            if text_is_sorted(view, edits):
                found.append(Move(Change(tuple(edits), "narrow"), ()))
        return found

    roots = sorted(width for width in {*numerals, *literals} if width > 1)
    return NodeTree(roots, lambda width: width, moves) if roots else None
