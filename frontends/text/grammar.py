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
from collections.abc import Sequence
from itertools import accumulate
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
    kind: array[int]
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

    def add_tokens(self, text: bytes, first: int, last: int) -> None:
        """Add some bytes as the tokens that they are without a grammar."""
        if text[first:last].strip():
            found = scan(text[first:last])
            for low, high, kind in zip(found.start, found.end, found.kind, strict=True):
                self.add(first + low, first + high, kind)


def _columns() -> _Columns:
    return _Columns(*(array("i") for _ in range(6)))


def _flat(text: bytes, root: Node) -> _Columns:
    """Return the nodes of a syntax tree that are not blank, and tokens for what is in none."""
    flat = _columns()
    start, end, stop = flat[:3]
    flat.add(0, len(text), Kind.TEXT, root.kind_id)
    cursor, at, path = root.walk(), 0, [0]
    deeper = cursor.goto_first_child()
    while deeper:
        node, field = cursor.node, cursor.field_id or 0
        assert node is not None
        first, last = node.start_byte, node.end_byte
        if deeper := first < last:
            flat.add_tokens(text, at, first)
            at = first
            deeper = not _is_string(text, node) and cursor.goto_first_child()
        if deeper:
            path.append(flat.add(first, last, Kind.PART, node.kind_id, field))
            continue
        if first < last:
            _add_leaf(flat, text, node, field)
            at = last
        while not (deeper := cursor.goto_next_sibling()) and len(path) > 1:
            cursor.goto_parent()
            number = path.pop()
            flat.add_tokens(text, at, end[number])
            at = max(at, end[number])
            stop[number] = len(stop)
            if stop[number] == number + 1:
                for column in flat:
                    column.pop()
            else:
                start[number], end[number] = start[number + 1], end[-1]
    flat.add_tokens(text, at, len(text))
    stop[0] = len(stop)
    return flat


def _is_string(text: bytes, node: Node) -> bool:
    """Return whether a node is a string of several leaves."""
    quoted = node.child_count and text[node.end_byte - 1] in _QUOTES
    opening = node.child(0) if quoted else None
    if opening is None:
        return False
    first, last = opening.start_byte, opening.end_byte
    return last - first < 9 and _QUOTED.fullmatch(text, first, last) is not None


def _add_leaf(flat: _Columns, text: bytes, node: Node, field: int) -> None:
    """Add a leaf. One of several tokens that is neither a string nor a comment becomes these."""
    first, last = node.start_byte, node.end_byte
    token = text[first:last].rstrip()
    last = first + len(token)
    first = last - len(token.lstrip())
    if first == last:
        return
    kind = _KINDS.get(text[first], Kind.WORD)
    if text[last - 1] in _QUOTES and last > first + 1:
        kind = Kind.STRING
    elif "comment" in node.type:
        kind = Kind.COMMENT
    elif node.is_named and len(token.split(None, 1)) > 1:
        number = flat.add(first, last, Kind.PART, node.kind_id, field)
        flat.add_tokens(text, first, last)
        flat.stop[number] = len(flat.stop)
        return
    elif kind == Kind.WORD and (not node.is_named or node.type.startswith("primitive")):
        kind = Kind.KEYWORD
    flat.add(first, last, kind, node.kind_id, field)


def _partners(text: bytes, flat: _Columns) -> dict[int, int]:
    """Return the closing leaf of each opening one: brackets within a node, words at its ends."""
    start, end, stop, kind = flat[:4]
    partner: dict[int, int] = {}
    path: list[tuple[int, list[int]]] = []  # each node around, and its brackets that are open

    def token(number: int) -> bytes:
        return text[start[number] : end[number]].lower()

    for number in range(len(stop)):
        while path and stop[path[-1][0]] <= number:
            path.pop()
        if stop[number] > number + 1 or not number:
            path.append((number, []))
            continue
        around, brackets = path[-1]
        first = around + 1
        if kind[number] == Kind.OPEN:
            brackets.append(number)
        elif kind[number] == Kind.CLOSE and brackets:
            if BRACKETS.get(token(number)) == token(brackets[-1]):
                partner[brackets.pop()] = number
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
    text, flat, grown = syntax.text, _flat(syntax.text, syntax.tree.root_node), _columns()
    partner = _partners(text, flat)
    open_: list[tuple[int, int]] = []  # the nodes around: where each ends in `flat`, its number
    outer: tuple[int, int] | None = None  # the type and field of the outermost of nodes as long
    places: dict[_Place, list[int]] = {}
    parents: dict[tuple[int, int], int] = {}  # the last node with a child in a field, by its type
    repeated: set[tuple[int, int]] = set()
    kinds, classes = learnt

    def add(first: int, last: int, kind: int, type_: int) -> None:
        number = grown.add(flat.start[first], flat.end[last], kind, type_)
        if flat.stop[last] > first + 1:
            open_.append((flat.stop[last], number))

    for number, after in enumerate(flat.stop):
        while open_ and open_[-1][0] <= number:
            grown.stop[open_.pop()[1]] = len(grown.stop)
        type_, field = outer = outer or (flat.type[number], flat.field[number])
        if number and number + 1 < after == flat.stop[number + 1]:
            continue  # only a node as long is in it
        outer, closing, kind = None, partner.get(number), flat.kind[number]
        if closing is not None:
            until, around = open_[-1]
            if around and around == len(grown.stop) - 1 and until == closing + 1:
                grown.kind[around] = Kind.GROUP
            else:
                add(number, closing, Kind.GROUP, -text[flat.start[number]])
        parent = open_[-1][1] if number else 0
        above = grown.type[parent] if number else 0
        if field == 0 or parents.get((above, field)) == parent:
            repeated.add((above, field))
        parents[above, field] = parent
        is_end = kind == Kind.KEYWORD and text[flat.start[number]] == _SEMICOLON
        if kind == Kind.PART or (is_end and type_ == flat.type[number]):
            place = above, type_, _END if is_end else field
            places.setdefault(place, []).append(len(grown.stop))
            if kind == Kind.PART:
                classes.join(type_, flat.type[number])
                classes.add(above, field, type_)
        add(number, number, kind, flat.type[number])
    for _, number in open_:
        grown.stop[number] = len(grown.stop)
    document = Document(text, *grown[:3])
    for place, nodes in places.items():
        if place[2] == _END or (place[0], place[2]) in repeated:
            if place not in kinds:
                kinds[place] = _learn(syntax, document, grown.kind, nodes)
            for node in nodes:
                if grown.kind[node] != Kind.GROUP:
                    grown.kind[node] = kinds[place]
    grown = _with_heads(syntax, grown, kinds)
    rule = (
        _RULES + classes.of(type_) if kind < Kind.WORD else kind
        for kind, type_ in zip(grown.kind, grown.type, strict=True)
    )
    document = Document(text, *grown[:3], DELIMITERS)
    return Grown(document, bytearray([*grown.kind]), array("i", rule))


_SEMICOLON = ord(";")
_RULES = 1 << 16  # above kinds, and types of synthetic groups are negative


def _learn(syntax: Syntax, document: Document, kind: Sequence[int], nodes: Sequence[int]) -> Kind:
    """Return what nodes in a place are. Those that may be dropped, or be there twice, are items.

    A `;` that has to go with an item is a separator; one that need not is an element itself.
    """
    text, start, end, parent = document.text, document.start, document.end, document.parent

    # A node with another before it: the only statement of a block may be needed. A short one, to
    # parse little.
    def worth(node: int) -> tuple[bool, int]:
        return kind[node - 1] in (Kind.OPEN, Kind.KEYWORD), end[node] - start[node]

    sample = min(nodes, key=worth)
    siblings = [-1, *document.children(parent[sample]), -1]
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
    for node in range(len(kind) - 1, 0, -1):  # learnt from the last, which has others before it
        if kind[node] == Kind.ITEM:
            child = node + 1
            while stop[child] < stop[node]:
                child = stop[child]
            gap = syntax.text[end[child - 1] : start[child]]
            if (
                b"\n" in gap
                and kind[child] != Kind.GROUP
                and syntax.text[end[node] - 1] != _SEMICOLON
            ):
                continue  # the body may need the indentation
            place = types[node], types[child], _HEAD
            if stop[child] > child + 1 and place not in learnt:
                is_head = _is_head(syntax, start[node], start[child], end[node])
                learnt[place] = Kind.ITEM if is_head else Kind.PART
            if learnt.get(place) == Kind.ITEM:
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
    more.stop[:] = array("i", (each + shift[each] for each in more.stop))
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
