"""A script as a graph: equal terms are one node, and a let is only a way to print.

The idea is that sharing is not structure. `(let ((x t)) (f x x))` and `(f t t)`
are the same graph, so no search ever has to reduce a let, and replacing a node
replaces it at all its uses at once.

A node is a shape and its arguments. The shape holds all text around the
arguments, so that any form of SMT-LIB (an application, a quantifier, a match,
an annotation, a whole command) is printed in the same way. A command is a node
too: the graph has one root a command.

A bound variable is a leaf that belongs to one binder. Two binders of the same
name bind different variables, so names are only a matter of printing, and what
a node needs around it is the set of its free variables.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from reducekit.frontends.smt2.sorts import Sort

TIGHT = b"\0"
"""Stands where the input has no blank around an argument, as in `(and(or p q)(not p))`.

It is printed as nothing beside a parenthesis, and as a blank between what would be one name."""
_BESIDE = re.compile(rb"(?<=[()])\0|\0(?=[()])")

Items = tuple[bytes | int, ...]
"""The text of a shape: bytes, `~i` for its argument i, `v >= 0` for the name of the variable v."""


def untight(text: bytes) -> bytes:
    """Return what is printed for a text with `TIGHT` in it."""
    return _BESIDE.sub(b"", text).replace(TIGHT, b" ") if TIGHT in text else text


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """What a node is, apart from its arguments. Shapes are interned: compare them by identity."""

    items: Items
    head: bytes
    """The operator or keyword as it is written, `(_ extract 7 0)` for one; a leaf's text."""
    arity: int
    binds: tuple[tuple[int, ...], ...] = ()
    """The variables bound in each argument; empty if none binds any."""
    raw: frozenset[int] = frozenset()
    """Arguments in which no let may stand, such as those of a `:pattern`."""
    uses: tuple[int, ...] = ()
    """The definitions of the script that the text names."""
    variable: int = -1
    """The bound variable that the node is, -1 for any other node."""
    names: tuple[int, ...] = ()
    """The definitions that the text makes by `:named`: it is to be printed once."""
    fresh: bytes = b""
    """The declaration that the node needs, if it is a variable that a search has made."""
    size: int = 0
    """The bytes of the text without the arguments."""


class Shapes:
    """All shapes, each once."""

    def __init__(self) -> None:
        self._known: dict[object, Shape] = {}

    def get(self, shape: Shape) -> Shape:
        """Return the one shape that is equal to this one."""
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
        """Return the shape of an operator with so many arguments, at least one."""
        items: list[bytes | int] = [b"(" + head + b" ", ~0]
        for argument in range(1, arity):
            items += (b" ", ~argument)
        return self.get(Shape((*items, b")"), head, arity, uses=uses))


@dataclass(frozen=True, slots=True)
class ScriptContext:
    """What is known of the commands and definitions of a script. Lists are by command."""

    nodes: Sequence[int]
    """The commands in the document."""
    gaps: Sequence[bytes]
    """What stands before each command; one more for the end of the text."""
    defines: Sequence[tuple[int, ...]]
    """The definitions that go when the command goes; empty for what is not to be dropped."""
    outer: Sequence[int]
    """The command before which a declaration can be put that is to be seen from a command on."""
    visible: Mapping[int, tuple[int, int]]
    """From which command on, and before which one, a definition is visible."""
    named: frozenset[int]
    """The definitions by `:named` that are used."""
    barrier: bool
    """Whether there is a reset, after which no earlier declaration is visible."""
    spare: Sequence[bytes]
    """Short symbols that mean nothing in the script, without end."""


@dataclass(frozen=True, slots=True)
class Graph:
    """A script. A changed graph is another one, in which nodes keep their numbers.

    What the roots reach never changes; nodes are only added, for the graphs to come.

    `shape`, `args` and `sort` are by node; nodes that no root reaches are not
    part of the script. `roots` are the commands. `bound` are the nodes that a
    let has bound in the input. `names` are by variable.
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
    """How many variables a search has made."""
    signatures: Mapping[int, tuple[Sort | None, ...]] = field(default_factory=dict)
    """The sorts of declared functions that are not those of the input, the result's last."""
    ordered: bool = True
    """Whether the numbers of nodes follow the order of the input: arguments come first."""

    def add(self, shape: Shape, args: tuple[int, ...], sort: Sort | None) -> int:
        """Add a node that no root reaches yet; return its number.

        All graphs of a search share their shapes, so a number is never given twice.
        """
        node = len(self.shape)
        self.shape.append(shape)
        self.sort.append(sort)
        self.args.extend([()] * (node - len(self.args)))
        self.args.append(args)
        return node

    def live(self) -> list[int]:
        """Return the nodes that the roots reach, arguments before those that use them."""
        return post_order(self.args, self.roots)

    def rebuilt(self, replaced: Mapping[int, int]) -> Graph:
        """Return the graph with nodes replaced; what is equal then is one node.

        A node that stays keeps its number, and so does one whose arguments change.
        """
        shape, args = self.shape, self.args
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


def follow(same: Mapping[int, int], node: int) -> int:
    """Return what stands for a node in the end."""
    while (other := same.get(node, node)) != node:
        node = other
    return node


def post_order(
    args: Sequence[tuple[int, ...]], roots: Iterable[int], replaced: Mapping[int, int] | None = None
) -> list[int]:
    """Return what is reached from the roots, each node after all that it uses; without recursion.

    A node in `replaced` is passed over for the one that replaces it.
    """
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
