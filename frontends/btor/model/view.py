"""A BTOR text as the passes see it: the graph, and the text as lines of tokens."""

from __future__ import annotations

import re
from array import array
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property

from reducekit.document import Document
from reducekit.frontends.btor.model.dag import (
    Array,
    BitVec,
    Dag,
    belonging,
    line_of,
    reached,
    spelled,
)
from reducekit.frontends.btor.model.operators import Dialect, Op, spelling

_WORD = re.compile(rb"\S+")
_OPTION = re.compile(rb"^; ?option[^\n]*\n?", re.MULTILINE)
"""An option for the program (`reducekit.oracle.command`)."""


class BtorView:
    """A parsed file: `dag` has its lines, `document` the same lines as nodes, with their tokens.

    The root's children are the lines of the graph, in its order. Each begins where the
    one before it ends, so comments and blank lines go with the line below them, and ends
    after its newline: what replaces a line brings its own newline. Its children are its
    words from the id to the last operand, number, literal or symbol. The options after the last
    line are the last children.
    """

    def __init__(self, document: Document, dag: Dag, line_nodes: array[int]) -> None:
        self.document = document
        self.dag = dag
        self.line_nodes = line_nodes
        """The node of each line; its words are the nodes after it."""
        last = document.stop[line_nodes[-1]] if line_nodes else 1
        self.option_nodes = range(last, len(document))
        """The nodes of the options, such as `; option -rwl0`."""

    @property
    def options(self) -> bytes:
        """The option lines; a rewritten text keeps them at its end."""
        return b"".join(map(self.document.source, self.option_nodes))

    def argument_node(self, line: int, position: int) -> int:
        """Return the node of the token of an operand (from 0) of a line."""
        dag = self.dag
        code, sort = dag.op[line], dag.sort[line]
        row = spelling(dag.dialect, code, sort >= 0 and isinstance(dag.sorts[sort], Array))
        header = "s" if row is None else row.header
        first = {"-": 2, "wi": 4, "wp": 4}.get(header, 3)
        return self.line_nodes[line] + 1 + first + position

    def header_node(self, line: int) -> int:
        """Return the node of the first token after the operator: a width, sort id or count."""
        return self.line_nodes[line] + 3

    @cached_property
    def ids(self) -> list[bytes]:
        """The id of each line, as it is written in the canonical form."""
        return [b"%d" % each for each in self.dag.ids]

    def word(self, reference: int) -> bytes:
        """Return how a reference is written."""
        return self.ids[reference] if reference >= 0 else b"-" + self.ids[~reference]

    def variable(self, line: int) -> bytes:
        """Return a fresh variable or array of the sort of a line, without its id."""
        dag = self.dag
        sort = dag.sorts[dag.sort[line]]
        if dag.dialect is Dialect.BTOR2:
            return b"input %d" % dag.ids[dag.sort_line[line]]
        if isinstance(sort, BitVec):
            return b"var %d" % sort.width
        assert isinstance(sort, Array)
        element, index = dag.sorts[sort.element], dag.sorts[sort.index]
        assert isinstance(element, BitVec)
        assert isinstance(index, BitVec)
        return b"array %d %d" % (element.width, index.width)

    def constant(self, line: int, value: int) -> bytes:
        """Return a constant of the sort of a line, without its id."""
        dag, width = self.dag, self.dag.width(line)
        header = dag.ids[dag.sort_line[line]] if dag.dialect is Dialect.BTOR2 else width
        if not value and dag.dialect is not Dialect.BTOR_2007:
            return b"zero %d" % header
        code, digits = spelled(value, width)
        return b"%s %d %s" % (code.name.lower().encode(), header, digits)

    @cached_property
    def users(self) -> list[list[int]]:
        """The lines that refer to each line, in file order, without repetition."""
        dag = self.dag
        users: list[list[int]] = [[] for _ in range(len(dag))]
        offset, args = dag.offset, dag.args
        for line in range(len(dag)):
            for each in args[offset[line] : offset[line + 1]]:
                found = users[each if each >= 0 else ~each]
                if not found or found[-1] != line:
                    found.append(line)
        return users

    @cached_property
    def belongs(self) -> Mapping[int, Sequence[int]]:
        """The `init` and `next` lines of each state or variable that has some."""
        return belonging(self.dag)

    @cached_property
    def starting(self) -> AbstractSet[int]:
        """The lines below an `init` value, which must not contain an input."""
        dag = self.dag
        return reached(
            (line_of(dag.arguments(line)[1]) for line in dag.lines_of(Op.INIT)),
            lambda line: map(line_of, dag.arguments(line)),
        )


def view_of(dag: Dag) -> BtorView:
    """Return the view of a graph that was read. Raises ValueError if it has no text."""
    text = dag.text
    if text is None:
        raise ValueError("the graph was built and has no text")
    start, end, stop = array("i", [0]), array("i", [len(text)]), array("i", [0])
    line_nodes = array("i")
    before = 0
    add_start, add_end = start.append, end.append
    add_stop, add_line = stop.append, line_nodes.append
    find = text.find
    words = _WORD.finditer
    for first, last in zip(dag.start, dag.end, strict=True):
        newline = find(b"\n", last) + 1
        following = newline or len(text)
        node = len(start)
        add_line(node)
        add_start(before)
        add_end(following)
        add_stop(0)
        for word in words(text, first, last):
            begin, finish = word.span()
            add_start(begin)
            add_end(finish)
            node += 1
            add_stop(node + 1)
        stop[line_nodes[-1]] = node + 1
        before = following
    for option in _OPTION.finditer(text, before):
        add_start(option.start())
        add_end(option.end())
        add_stop(len(start))
    stop[0] = len(start)
    return BtorView(Document(text, start, end, stop), dag, line_nodes)
