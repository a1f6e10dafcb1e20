"""The tree of a text by the grammar of its language, where that is installed.

It is a tree as without a grammar (`tree.py`), so all passes work on it: leaves are tokens, brackets
and paired words enclose groups. What the grammar adds is what is one part (an operand, an else
branch), and which parts can stand in each other's place.

A grammar's package does not say what is optional or repeated, so that is learnt from the text, once
for each place: a part without which the rest parses, and which may stand there twice, is an item.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Mapping, Sequence
from itertools import accumulate
from operator import add
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from reducekit.document import Document
from reducekit.frontends.text.syntax import Syntax
from reducekit.frontends.text.tree import BRACKETS, DELIMITERS, ENDS, Grown, Kind, scan

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

_Place: TypeAlias = tuple[int, int, int]
"""Where a node is: the type of its parent, its own, and the field, or one of the next."""
_HEAD, _END = -1, -2  # all before a node; a `;`
_QUOTED = re.compile(rb"""\w{0,3}#*("+|'+|`+)""")
"""How a string begins that is several leaves of its grammar."""
_QUOTES = b"\"'`"
_KINDS = {
    **dict.fromkeys(DELIMITERS, Kind.OPERATOR), **dict.fromkeys(b"0123456789", Kind.NUMBER),
    **dict.fromkeys(b"([{", Kind.OPEN), **dict.fromkeys(b")]}", Kind.CLOSE),
    ord(","): Kind.SEPARATOR, ord(";"): Kind.KEYWORD,
}  # fmt: skip
"""The kinds of leaves by their first bytes; others are words."""


class _Columns(NamedTuple):
    """Nodes in preorder."""

    start: array[int]
    end: array[int]
    stop: array[int]
    kind: bytearray
    type: array[int]
    """The number that the grammar gives to nodes of this type; 0 for what it does not know."""
    field: array[int]
    """The number of the field of the parent that the node is in; 0 if it is in none."""

    def add(self, first: int, last: int, kind: int, type_: int = 0, field: int = 0) -> int:
        """Add a leaf, and return its number."""
        self.start.append(first)
        self.end.append(last)
        self.kind.append(kind)
        self.type.append(type_)
        self.field.append(field)
        self.stop.append(len(self.start))
        return len(self.start) - 1


def _columns() -> _Columns:
    start, end, stop, types, fields = (array("i") for _ in range(5))
    return _Columns(start, end, stop, bytearray(), types, fields)


_Leaf: TypeAlias = tuple[int, int, int, bool]
"""The blanks at the beginning and the end of a leaf, its kind, and whether it may be paired."""
_PART, _STRING, _LEAF = map(int, (Kind.PART, Kind.STRING, Kind.WORD))  # members are slow


def _flat(text: bytes, root: Node) -> tuple[_Columns, dict[int, int]]:
    """Return the nodes of a syntax tree that are not blank, and tokens for what is in none.

    The second are the nodes around leaves that may be paired: brackets, and words such as `end`.
    """
    flat, paired = _columns(), dict[int, int]()
    start, end, stop, kinds, types, fields = flat
    leaves: dict[tuple[int, bytes], _Leaf] = {}  # few are new
    cursor, at, path, quotes = root.walk(), 0, [0], _QUOTES
    down, further = cursor.goto_first_child, cursor.goto_next_sibling

    def add_tokens(first: int, last: int, around: int) -> None:
        if text[first:last].strip():
            found = scan(text[first:last])
            for low, high, kind in zip(found.start, found.end, found.kind, strict=True):
                paired[flat.add(first + low, first + high, kind)] = around

    flat.add(0, len(text), Kind.TEXT, root.kind_id)
    deeper = down()
    while deeper:
        node, field = cursor.node, cursor.field_id or 0
        assert node is not None
        first, last, type_ = node.start_byte, node.end_byte, node.kind_id
        if first < last:
            if at < first:
                add_tokens(at, first, path[-1])
            at, number = first, len(stop)
            deeper = False
            if text[last - 1] in quotes and _is_string(text, node):
                kind, at = _STRING, last
            elif deeper := down():
                kind = _PART
                path.append(number)
            else:
                at = last
                key = type_, text[first:last]
                leaf = leaves.get(key) or leaves.setdefault(key, _leaf_of(key[1], node))
                before, after, kind, pairs = leaf
                first, last = first + before, last - after
                if pairs:
                    paired[number] = path[-1]
            if first < last:
                start.append(first)
                end.append(last)
                kinds.append(kind)
                types.append(type_)
                fields.append(field)
                stop.append(number + 1)
                if kind == _PART and not deeper:
                    add_tokens(first, last, number)
                    stop[number] = len(stop)
            if deeper:
                continue
        while not (deeper := further()) and len(path) > 1:
            cursor.goto_parent()
            number = path.pop()
            if at < end[number]:
                add_tokens(at, end[number], number)
                at = end[number]
            stop[number] = len(stop)
            if stop[number] == number + 1:
                for column in flat:
                    column.pop()
            else:
                start[number], end[number] = start[number + 1], end[-1]
    add_tokens(at, len(text), 0)
    stop[0] = len(stop)
    return flat, paired


def _is_string(text: bytes, node: Node) -> bool:
    """Return whether a node that ends with a quote is a string of several leaves."""
    opening = node.child(0) if node.child_count else None
    if opening is None:
        return False
    first, last = opening.start_byte, opening.end_byte
    return last - first < 9 and _QUOTED.fullmatch(text, first, last) is not None


def _leaf_of(token: bytes, node: Node) -> _Leaf:
    """Return what a leaf is: a part if it is several tokens, and no string and no comment."""
    bare = token.strip()
    if not bare:
        return len(token), 0, 0, False
    kind, word = _KINDS.get(bare[0], Kind.WORD), bare.lower()
    if bare[-1] in _QUOTES and len(bare) > 1:
        kind = Kind.STRING
    elif "comment" in node.type:
        kind = Kind.COMMENT
    elif node.is_named and len(bare.split(None, 1)) > 1:
        kind = Kind.PART
    elif kind == Kind.WORD and (not node.is_named or node.type.startswith("primitive")):
        kind = Kind.KEYWORD
    before = len(token) - len(token.lstrip())
    pairs = kind in (Kind.OPEN, Kind.CLOSE) or word in ENDS or word.startswith(b"end")
    return before, len(token) - before - len(bare), int(kind), pairs


def _partners(text: bytes, flat: _Columns, paired: Mapping[int, int]) -> dict[int, int]:
    """Return the closing leaf of each opening one: brackets within a node, words at its ends."""
    start, end, stop, kind = flat[:4]
    partner: dict[int, int] = {}
    brackets: dict[int, list[int]] = {}  # those that are open in a node

    def token(number: int) -> bytes:
        return text[start[number] : end[number]].lower()

    for number, around in paired.items():
        first, open_ = around + 1, brackets.setdefault(around, [])
        if kind[number] == Kind.OPEN:
            open_.append(number)
        elif kind[number] == Kind.CLOSE and open_:
            if BRACKETS.get(token(number)) == token(open_[-1]):
                partner[open_.pop()] = number
        elif around and stop[around] == number + 1 and stop[first] == first + 1 < stop[number]:
            closing, opening = token(number), token(first)
            if opening == ENDS.get(closing) or closing == b"end" + opening:
                kind[first], kind[number] = Kind.OPEN, Kind.CLOSE
                partner[first] = number
    return partner


class _Classes(NamedTuple):
    """Which types of nodes can stand in each other's place: those seen in the same one."""

    other: dict[int, int]
    seen: dict[tuple[int, int], int]

    def of(self, type_: int) -> int:
        """Return the type that stands for a class."""
        while (other := self.other.get(type_, type_)) != type_:
            type_ = other
        return type_

    def join(self, one: int, another: int) -> None:
        """Make one class of those of two types."""
        one, another = self.of(one), self.of(another)
        if one != another:
            self.other[one] = another

    def add(self, above: int, field: int, type_: int) -> None:
        """Note that a type was seen in a field of a type."""
        self.join(type_, self.seen.setdefault((above, field), type_))


class Learnt(NamedTuple):
    """What is known of a grammar from the texts so far."""

    kinds: dict[_Place, Kind]
    """What nodes in a place are."""
    classes: _Classes
    """Kept from larger texts: in the last ones little stands twice in the same place."""


def nothing_learnt() -> Learnt:
    """Return what is known of a grammar before the first text."""
    return Learnt({}, _Classes({}, {}))


def grow_by_grammar(syntax: Syntax, learnt: Learnt) -> Grown:
    """Return the tree of a text by its syntax; what is learnt of the grammar is added."""
    text, grown = syntax.text, _columns()
    flat, paired = _flat(text, syntax.tree.root_node)
    partner = _partners(text, flat, paired)
    open_ = [(len(flat.stop), 0)]  # the nodes around: where each ends in `flat`, its number
    until, parent, above = len(flat.stop), 0, 0  # the last of them
    outer = -1  # the outermost of nodes as long
    places: dict[_Place, list[int]] = {}
    parents: dict[tuple[int, int], int] = {}  # the last node with a child in a field, by its type
    repeated: set[tuple[int, int]] = set()
    alike: set[tuple[int, int]] = set()
    kinds, classes = learnt
    begin, finish, stops, flat_kind, types, fields = flat
    start, end, stop, kind, type_of, _ = grown
    opening, keyword, group = map(int, (Kind.OPEN, Kind.KEYWORD, Kind.GROUP))

    def put(first: int, last: int, what: int, type_: int) -> None:
        start.append(begin[first])
        end.append(finish[last])
        kind.append(what)
        type_of.append(type_)
        stop.append(len(stop) + 1)

    put(0, 0, Kind.TEXT, types[0])
    above = types[0]
    for number in range(1, len(stops)):
        while until <= number:
            stop[parent] = len(stop)
            open_.pop()
            until, parent = open_[-1]
            above = type_of[parent]
        after, what, type_ = stops[number], flat_kind[number], types[number]
        if outer < 0:
            outer = number
        if number + 1 < after == stops[number + 1]:
            continue  # only a node as long is in it
        place_type, field, outer = types[outer], fields[outer], -1
        if what == opening and (closing := partner.get(number)) is not None:
            if parent and parent == len(stop) - 1 and until == closing + 1:
                kind[parent] = group
            else:
                until, parent, above = stops[closing], len(stop), -text[begin[number]]
                open_.append((until, parent))
                put(number, closing, group, above)
        slot = above, field
        if field == 0 or parents.get(slot) == parent:
            repeated.add(slot)
        parents[slot] = parent
        is_end = what == keyword and text[begin[number]] == _SEMICOLON
        if what == _PART or (is_end and place_type == type_):
            place = above, place_type, _END if is_end else field
            found = places.get(place)
            if what == _PART and place_type != type_ and (place_type, type_) not in alike:
                alike.add((place_type, type_))
                classes.join(place_type, type_)
            if found is None:
                found = places[place] = []
                if what == _PART:
                    classes.add(above, field, place_type)
            found.append(len(stop))
        if after > number + 1:
            until, parent, above = after, len(stop), type_
            open_.append((until, parent))
        put(number, number, what, type_)
    for _, number in open_:
        stop[number] = len(stop)
    document = Document(text, *grown[:3])
    for place, nodes in places.items():
        if place[2] == _END or (place[0], place[2]) in repeated:
            if place not in kinds:
                kinds[place] = _learn(syntax, document, kind, nodes)
            for node in nodes:
                if kind[node] != group:
                    kind[node] = kinds[place]
    grown = _with_heads(syntax, grown, kinds)
    rules = {each: _RULES + classes.of(each) for each in set(grown.type)}
    rule = (
        rules[type_] if kind < _LEAF else kind
        for kind, type_ in zip(grown.kind, grown.type, strict=True)
    )
    return Grown(Document(text, *grown[:3], DELIMITERS), grown.kind, array("i", rule))


_SEMICOLON = ord(";")
_RULES = 1 << 16  # above kinds, and types of synthetic groups are negative


def _learn(syntax: Syntax, document: Document, kind: bytearray, nodes: Sequence[int]) -> Kind:
    """Return what nodes in a place are. Those that may be dropped, or be there twice, are items.

    A `;` that has to go with an item is a separator; one that need not is an element itself.
    """
    text, start, end, stop = document.text, document.start, document.end, document.stop

    # A node with another before it: the only statement of a block may be needed. A short one, to
    # parse little.
    def worth(node: int) -> tuple[bool, int]:
        return kind[node - 1] in (Kind.OPEN, Kind.KEYWORD), end[node] - start[node]

    sample = min(nodes, key=worth)
    above = next(each for each in range(sample - 1, -1, -1) if stop[each] > sample)
    siblings = [-1, *document.children(above), -1]
    at = siblings.index(sample)
    before, after = siblings[at - 1], siblings[at + 1]
    first, last = start[sample], end[sample]
    if kind[sample] == Kind.KEYWORD:
        if before < 0 or after < 0 or syntax.replaced(start[before], last) is None:
            return Kind.KEYWORD
        alone = syntax.replaced(start[before], end[before])
        return Kind.SEPARATOR if alone is None else Kind.OPERATOR
    blank = (text[end[before] : first] if before >= 0 else b"\n") or b" "
    ways = [(first, last, blank + text[first:last])]
    if after >= 0 and kind[after] == Kind.SEPARATOR:
        ways.append((first, end[after], text[last : end[after]] + blank + text[first:last]))
    elif before >= 0 and kind[before] == Kind.SEPARATOR:
        ways.append((start[before], last, text[start[before] : last]))
    for low, high, more in ways:
        if syntax.replaced(low, high) is not None and syntax.replaced(last, last, more) is not None:
            return Kind.ITEM
    return Kind.PART


def _with_heads(syntax: Syntax, grown: _Columns, learnt: dict[_Place, Kind]) -> _Columns:
    """Return the nodes, and an item for all before the last child of an item if that may go.

    Such as `if (a)` before a statement: what names `a` need not take the statement along.
    """
    start, end, stop, kind, types, _ = grown
    heads: dict[int, int] = {}
    node, item = len(kind), int(Kind.ITEM)
    while (node := kind.rfind(item, 1, node)) > 0:  # the last one has others before it
        child = node + 1
        while stop[child] < stop[node]:
            child = stop[child]
        place = types[node], types[child], _HEAD
        known = learnt.get(place)
        if known == Kind.PART or (known is None and stop[child] == child + 1):
            continue
        gap = syntax.text[end[child - 1] : start[child]]
        if b"\n" in gap and kind[child] != Kind.GROUP and syntax.text[end[node] - 1] != _SEMICOLON:
            continue  # the body may need the indentation
        if known is None:
            is_head = _is_head(syntax, start[node], start[child], end[node])
            learnt[place] = Kind.ITEM if is_head else Kind.PART
        if learnt[place] == Kind.ITEM:
            heads[node] = child
    if not heads:
        return grown
    more, at = _columns(), 0
    for node, child in sorted(heads.items()):
        for column, values in zip(more, grown, strict=True):
            column += values[at : node + 1]
        number = more.add(start[node], end[child - 1], Kind.ITEM, types[node] + _RULES)
        more.stop[number] = child
        at = node + 1
    for column, values in zip(more, grown, strict=True):
        column += values[at:]
    shift = array("i", [0]) * (len(kind) + 1)
    for node in heads:
        shift[node + 1] = 1
    shift = array("i", accumulate(shift))
    more.stop[:] = array("i", map(add, more.stop, map(shift.__getitem__, more.stop)))
    return more


def _is_head(syntax: Syntax, first: int, body: int, last: int) -> bool:
    """Return whether what is before the body may be dropped, and twice is around it twice."""
    without = syntax.replaced(first, body)
    twice = syntax.replaced(first, first, syntax.text[first:body])
    if without is None or twice is None:
        return False
    around, size = _above(syntax.tree, first, last), body - first
    return around == _above(without, first, last - size) == _above(
        twice, first, last + size
    ) and _above(syntax.tree, body, last) == _above(twice, body, last + size)


def _above(tree: Tree, first: int, last: int) -> int:
    """Return the type of the parent of the node that spans just these bytes; -1 without one."""
    node = tree.root_node.descendant_for_byte_range(first, last)
    if node is None or (node.start_byte, node.end_byte) != (first, last):
        return -1
    above = node.parent
    while above is not None and (above.start_byte, above.end_byte) == (first, last):
        above = above.parent
    return 0 if above is None else above.kind_id
