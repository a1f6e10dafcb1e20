"""A script as a graph: equal terms are one node, and a let only affects printing.

Sharing is not structure: `(let ((x t)) (f x x))` and `(f t t)` are the same graph,
so no search ever has to reduce a let, and replacing a node replaces it at all its
uses at once.

A node is a shape and its arguments. The shape holds all text around the
arguments, so that every form of SMT-LIB (an application, a quantifier, a match,
an annotation, a whole command) is printed in the same way. A command is a node,
too: the graph has one root per command.

A bound variable is a leaf that belongs to one binder. Two binders of the same
name bind different variables, so names only affect printing, and the context that
a node needs is the set of its free variables.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from reducekit.frontends.smt2.language.constants import literal_value
from reducekit.frontends.smt2.language.sorts import Sort

TIGHT = b"\0"
"""Marks where the input has no blank around an argument, as in `(and(or p q)(not p))`.

It is printed as nothing next to a parenthesis, and as a blank between names that would merge."""
_BESIDE = re.compile(rb"(?<=[()])\0|\0(?=[()])")

RAW = frozenset((-1,))
"""`Shape.raw` of a node in which no let is allowed at all."""
Items = tuple[bytes | int, ...]
"""The text of a shape: bytes, `~i` for its argument i, `v >= 0` for the name of the variable v."""


# Compared and hashed by identity: shapes are interned, and a shape may hold thousands of bytes,
# which every table of nodes would compare again.
@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """A node without its arguments. Shapes are interned: compare them by identity."""

    items: Items
    head: bytes
    """The operator or keyword as written, such as `(_ extract 7 0)`; the text of a leaf."""
    arity: int
    binds: tuple[tuple[int, ...], ...] = ()
    """The variables bound in each argument; empty if none binds any."""
    raw: frozenset[int] = frozenset()
    """Arguments in which no let is allowed, such as those of a `:pattern`; `RAW` for all."""
    uses: tuple[int, ...] = ()
    """The definitions of the script that the text uses."""
    variable: int = -1
    """The number of the bound variable; -1 for any other node."""
    names: tuple[int, ...] = ()
    """The definitions that the text makes by `:named`: it must be printed exactly once."""
    fresh: bytes = b""
    """The declaration of the node, if it is a fresh variable."""
    size: int = 0
    """The size of the text in bytes, without the arguments."""


class Shapes:
    """The table of interned shapes."""

    def __init__(self) -> None:
        self._known: dict[object, Shape] = {}

    def get(self, shape: Shape) -> Shape:
        """Return the interned shape that equals this one."""
        key = (shape.items, shape.binds, shape.raw, shape.uses, shape.names, shape.fresh)
        known = self._known.get(key)
        if known is None:
            size = sum(len(item) if isinstance(item, bytes) else item >= 0 for item in shape.items)
            known = self._known[key] = replace(shape, size=size)
        return known

    def leaf(self, text: bytes, uses: tuple[int, ...] = (), fresh: bytes = b"") -> Shape:
        """Return the shape of a constant or symbol."""
        return self.get(Shape((text,), text, 0, uses=uses, fresh=fresh))

    def application(self, head: bytes, arity: int, uses: tuple[int, ...] = ()) -> Shape:
        """Return the shape of an operator with `arity` arguments, at least one."""
        items: list[bytes | int] = [b"(" + head + b" ", ~0]
        for argument in range(1, arity):
            items += (b" ", ~argument)
        return self.get(Shape((*items, b")"), head, arity, uses=uses))


class ScriptContext(NamedTuple):
    """Facts about the commands and definitions of a script. Lists are indexed by command."""

    nodes: Sequence[int]
    """The commands in the document."""
    gaps: Sequence[bytes]
    """The text before each command, and that after the last one."""
    defines: Sequence[tuple[int, ...]]
    """The definitions removed with the command; empty if the command must stay."""
    outer: Sequence[int]
    """The command before which a declaration must be placed to be visible from a command on."""
    visible: Mapping[int, tuple[int, int]]
    """The range of commands (first, end) in which a definition is visible."""
    named: frozenset[int]
    """The used definitions by `:named`."""
    barrier: bool
    """Whether there is a reset, after which no earlier declaration is visible."""
    spare: Sequence[bytes]
    """An infinite sequence of short symbols that do not occur in the script."""
    tight: bool = True
    """Whether `TIGHT` marks anything: not if the script itself has that character."""

    def text(self, printed: bytes) -> bytes:
        """Return what is printed for a text with marks in it."""
        if not self.tight or TIGHT not in printed:
            return printed
        return _BESIDE.sub(b"", printed).replace(TIGHT, b" ")


@dataclass(frozen=True, slots=True)
class Graph:
    """A script. A change makes a new graph, in which nodes keep their numbers.

    The nodes reachable from the roots never change; nodes are only added, for later graphs.

    `shape`, `args` and `sort` are indexed by node; nodes that no root reaches are
    not part of the script. `roots` are the commands. `bound` are the nodes bound by
    a let in the input. `names` are indexed by variable.
    """

    shape: list[Shape]
    args: list[tuple[int, ...]]
    sort: list[Sort | None]
    roots: tuple[int, ...]
    around: ScriptContext
    shapes: Shapes
    names: list[bytes]
    variables: list[Sort | None]
    bound: frozenset[int] = frozenset()
    fresh: int = 0
    """The number of fresh variables."""
    signatures: Mapping[int, tuple[Sort | None, ...]] = field(default_factory=dict)
    """The sorts of declared functions that differ from the input, the result's last."""
    coarse: bool = False
    """Whether some terms are only text in a node: then a node without arguments is no constant."""
    ordered: bool = True
    """Whether the numbers of nodes follow the order of the input: arguments come first."""

    def add(self, shape: Shape, args: tuple[int, ...], sort: Sort | None) -> int:
        """Add a node that no root reaches yet; return its number.

        All graphs of a search share their shapes, so a number is never reused.
        """
        # Shapes and sorts are lists of the whole search, arguments of one graph: `rebuilt` copies
        # them. So other graphs may have added nodes since, which this graph does not have.
        node = len(self.shape)
        self.shape.append(shape)
        self.sort.append(sort)
        self.args.extend([()] * (node - len(self.args)))
        self.args.append(args)
        return node

    def copy_of(self, variable: int, sort: Sort | None) -> int:
        """Add a bound variable with the name of another one; return its number."""
        self.names.append(self.names[variable])
        self.variables.append(sort)
        return len(self.names) - 1

    def is_operator(self, node: int) -> bool:
        """Return whether a node is an operator of a theory with its arguments, and no more."""
        shape = self.shape[node]
        return not shape.uses and shape is self.shapes.application(shape.head, shape.arity)

    def width(self, node: int) -> int:
        """Return the width of a bit-vector; 0 for other terms."""
        sort = self.sort[node]
        if isinstance(sort, tuple) and sort[0] == "BitVec" and isinstance(sort[1], int):
            return sort[1]
        return 0

    def value(self, node: int) -> int | None:
        """Return the value of a bit-vector literal; None for other terms."""
        shape = self.shape[node]
        if shape.arity or shape.uses or shape.variable >= 0 or not self.width(node):
            return None
        return literal_value(shape.head)

    def live(self) -> list[int]:
        """Return the nodes that the roots reach, arguments before their users."""
        return post_order(self.args, self.roots)

    def rebuilt(self, replaced: Mapping[int, int]) -> Graph:
        """Return the graph with nodes replaced; nodes that become equal are merged.

        A node that is not replaced keeps its number, even if its arguments change.
        """
        shape, args = self.shape, self.args
        # Hash-consing (Ershov 1958; Filliatre and Conchon, ML 2006), one pass from the leaves up:
        # after a replacement, terms that differed only in the replaced part become one node, with
        # all users.
        order = post_order(args, self.roots, replaced)
        after = args[:]
        same = dict(replaced)
        ordered = self.ordered
        known: dict[tuple[Shape, tuple[int, ...]], int] = {}
        for node in order:
            own = args[node]
            if own:
                changed = tuple([follow(same, each) for each in own])
                if changed != own:
                    after[node] = changed
                    own = changed
                    ordered = ordered and not any(each > node and args[each] for each in own)
            first = known.setdefault((shape[node], own), node)
            if first != node:
                same[node] = first
        roots = tuple(follow(same, root) for root in self.roots)
        return replace(self, args=after, roots=roots, ordered=ordered)


def variables_of(shape: Shape) -> list[int]:
    """Return the variables in the text of a shape: those that a plain binder binds."""
    return [item for item in shape.items if isinstance(item, int) and item >= 0]


def follow(same: Mapping[int, int], node: int) -> int:
    """Return the final replacement of a node."""
    while (other := same.get(node, node)) != node:
        node = other
    return node


def post_order(
    args: Sequence[tuple[int, ...]], roots: Iterable[int], replaced: Mapping[int, int] | None = None
) -> list[int]:
    """Return the nodes reached from the roots in post-order, without recursion.

    A node in `replaced` is skipped in favour of its replacement.
    """
    # An opened node stays on the stack until all below it is done. A node that is shared is pushed
    # once for each use, and all but the first find it done: linear in the number of uses.
    order: list[int] = []
    state = bytearray(len(args))  # 1: opened, 2: done
    stack: list[int] = []
    for root in roots:
        stack.append(root)
        while stack:
            node = stack[-1]
            if replaced:
                node = follow(replaced, node)
            if state[node]:
                stack.pop()
                if state[node] == 1:
                    state[node] = 2
                    order.append(node)
                continue
            state[node] = 1
            stack[-1] = node
            stack.extend([each for each in reversed(args[node]) if state[each] != 2])
    return order
