"""Removes single nodes from small graphs where redirecting an edge past them does not work.

A failure may need the nodes below a node, but not the node itself. Redirecting an edge past the
node would lose some of the nodes below. So the users of the node get another node of its sort, and
in the same step an operand of a remaining node is redirected to the nodes that would be lost. If
no operand has the right sort, an operator over bit-vectors gets the node for all its operands.

Or a failure may need some operator between two lines, whichever it is, also of another width. Then
a unary operator, a bridge, can replace everything in between.

An attached node may come after its new user, so candidates are rewritten as a whole.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, chain
from typing import NamedTuple, TypeAlias

from reducekit.change import Change, Edit
from reducekit.errors import ParseError
from reducekit.frontends.btor.model.dag import (
    BitVec,
    Dag,
    belonging,
    is_value,
    line_of,
    reached,
    reordered,
)
from reducekit.frontends.btor.model.operators import Dialect, Op, spelling
from reducekit.frontends.btor.model.reader import read
from reducekit.frontends.btor.model.view import BtorView
from reducekit.frontends.btor.model.writer import canonical
from reducekit.search.problem import FixedSearch, Search

# The number of nodes tried in place of one; a higher number found no further reductions.
_TARGETS = 2
# Operators whose first operand must be a state or param.
_BOUND = frozenset({Op.INIT, Op.NEXT, Op.LAMBDA})
# Operators that take an operand of any width.
_ANY_WIDTH = frozenset({Op.ROOT, Op.OUTPUT})

Slot: TypeAlias = tuple[int, int]
"""A line and the position of an operand."""


class Shape(NamedTuple):
    """The lines of `dag`, with `args` and `sort` replaced by those given here. Immutable.

    Lines keep their numbers while they get other operands, sorts and operators. Every step copies
    whole tuples, so this is meant for graphs of a few dozen lines.
    """

    dag: Dag
    args: tuple[Sequence[int], ...]
    sort: tuple[int, ...]
    belongs: Mapping[int, Sequence[int]]
    """The init and next lines of each state."""

    def with_(self, line: int, args: Sequence[int], sort: int) -> Shape:
        """Return the graph with other operands and another sort for one line."""
        changed = (*self.args[:line], args, *self.args[line + 1 :])
        sorts = (*self.sort[:line], sort, *self.sort[line + 1 :])
        return self._replace(args=changed, sort=sorts)

    def as_operator(self, line: int, code: Op, numbers: tuple[int, ...], operand: int) -> Shape:
        """Return the graph with an operator of one operand in a line."""
        op = array("i", self.dag.op)
        op[line] = code
        others = {each: found for each, found in self.dag.numbers.items() if each != line}
        dag = replace(self.dag, op=op, numbers={**others, line: numbers} if numbers else others)
        return self.with_(line, (operand,), self.sort[line])._replace(dag=dag)

    def past(self, line: int, target: int) -> tuple[Shape, Collection[Slot]]:
        """Point all edges to a line at another one; return the operands that changed, too."""
        shape = self
        slots = [
            (user, at)
            for user in sorted(self.live())
            for at, each in enumerate(self.args[user])
            if line_of(each) == line
        ]
        for user, at in slots:
            args = list(shape.args[user])
            args[at] = target if args[at] >= 0 else ~target
            shape = shape.with_(user, args, shape.sort[user])
        return shape, slots

    def retyped(self, line: int, operand: int) -> Shape | None:
        """Replace all operands of an operator over bit-vectors by another one, and adopt its width.

        None if they already have that width, or if users of the line need the old one.
        """
        dag, sort = self.dag, self.sort[operand]
        row = spelling(dag.dialect, dag.op[line], not dag.width(line))
        if row is None or not is_value(dag, line) or not isinstance(dag.sorts[sort], BitVec):
            return None
        args = list(self.args[line])
        # All operands of the same letter have to get the new width together.
        at = [at for at, pattern in enumerate(row.operands) if pattern in ("n", "S")]
        if not at or _takes_amount(dag, line) or self.sort[line_of(args[at[0]])] == sort:
            return None
        for each in at:
            args[each] = operand
        if row.result not in ("n", "S"):
            return self.with_(line, args, self.sort[line])
        # A wider or narrower result is only possible if no user asks for the old width.
        users = (user for user in self.live() if line in map(line_of, self.args[user]))
        if all(dag.op[user] in _ANY_WIDTH for user in users):
            return self.with_(line, args, sort)
        return None

    def live(self) -> set[int]:
        """Return the lines that the roots need."""
        return reached(
            self.dag.roots,
            lambda line: (*map(line_of, self.args[line]), *self.belongs.get(line, ())),
        )

    def below(self, line: int) -> set[int]:
        """Return a line and all lines below it."""
        return reached((line,), lambda line: map(line_of, self.args[line]))

    def text(self) -> bytes | None:
        """Return the lines that the roots need, operands first; None if they break a format rule.

        The lines must not form a cycle.
        """
        dag = self.dag
        # Attached lines may stand below their users, so a topological order is made.
        order: dict[int, None] = {}
        for first in sorted(self.live()):
            work = [first]
            while work:
                missing = [each for each in map(line_of, self.args[work[-1]]) if each not in order]
                work += missing
                if not missing:
                    order[work.pop()] = None
        args = array("i", chain.from_iterable(self.args))
        offset = array("i", accumulate(map(len, self.args), initial=0))
        changed = replace(dag, args=args, offset=offset, sort=array("i", self.sort))
        text = canonical(reordered(changed, (line for line in order if dag.op[line] != Op.SORT)))
        try:
            read(text, dag.dialect)
        except ParseError:
            return None
        return text


def shape_of(dag: Dag) -> Shape:
    """Return the unchanged graph."""
    args = tuple(tuple(dag.arguments(line)) for line in range(len(dag)))
    return Shape(dag, args, tuple(dag.sort), belonging(dag))


def _takes_amount(dag: Dag, line: int) -> bool:
    """Return whether the second operand of a line is a shift amount, with its own width."""
    row = spelling(dag.dialect, dag.op[line], not dag.width(line))
    return row is not None and row.operands[1:] in (("log",), ("n/log",))


# A node goes, and what only it led to is attached elsewhere.


def without(shape: Shape, line: int) -> Iterator[bytes]:
    """Yield graphs without a line that keep all other operators that can be attached elsewhere."""
    dag, live = shape.dag, shape.live()
    inner = {each for each in live if shape.args[each] and is_value(dag, each)}
    if line not in inner:
        return
    found = 0
    for target in dict.fromkeys((*map(line_of, shape.args[line]), *sorted(live))):
        # The target has the same sort, and is not above the line.
        same = dag.sort[target] == dag.sort[line] and is_value(dag, target)
        if not same or line in shape.below(target):
            continue
        past, slots = shape.past(line, target)
        lost = inner - past.live() - {line}
        if not lost:
            continue  # equivalent to redirecting a single edge or node
        grafted = _grafted(past, slots, lost, inner - lost - {line})
        if grafted is not None and (text := grafted.text()) is not None:
            yield text
        found += 1
        if found == _TARGETS:
            return


def _grafted(shape: Shape, slots: Collection[Slot], lost: set[int], kept: set[int]) -> Shape | None:
    """Attach the topmost lost lines, each at the first operand of its sort.

    Without such an operand, the line goes and those of its operands that are lost are attached.
    None if nothing could be attached.
    """
    # Topmost: no other lost line has it as an operand.
    inside = {each for line in lost for each in map(line_of, shape.args[line])}
    work = sorted(lost - inside)
    some = False
    while work:
        line = work.pop()
        if line in shape.live():
            continue
        found = next(_places(shape, slots, line, kept), None)
        if found is None:
            work += [each for each in map(line_of, shape.args[line]) if each in lost]
        else:
            shape, some = found, True
    return shape if some else None


def _places(shape: Shape, slots: Collection[Slot], item: int, kept: set[int]) -> Iterator[Shape]:
    """Yield the graphs in which a line is attached and all of `kept` stay.

    The users of the removed line come first, but not in the `slots` where that was.
    """
    op = shape.dag.op
    users = {user for user, _ in slots}
    lines = sorted(shape.live() - shape.below(item), key=lambda line: (line not in users, -line))
    for line in lines:
        args = shape.args[line]
        for at, each in enumerate(args):
            if (line, at) in slots or shape.sort[line_of(each)] != shape.sort[item]:
                continue
            if op[line] == Op.SORT or (at == 0 and op[line] in _BOUND):
                continue
            found = shape.with_(line, (*args[:at], item, *args[at + 1 :]), shape.sort[line])
            if kept <= found.live():
                yield found
    for line in lines:
        whole = shape.retyped(line, item)
        if whole is not None and item in (live := whole.live()) and kept <= live:
            yield whole


# A node leads to a line far below it.


def _is_operator(shape: Shape, line: int) -> bool:
    return bool(shape.args[line]) and is_value(shape.dag, line) and line in shape.live()


def retyped(shape: Shape, line: int) -> Iterator[bytes]:
    """Yield the graph in which a line has an operand of another width, which removes others."""
    if not _is_operator(shape, line):
        return
    before = len(shape.live())
    # Lines nearest to the operator first: they keep most of what is below it.
    for each in sorted(shape.below(line) - {line}, reverse=True):
        found = shape.retyped(line, each)
        if found is not None and len(found.live()) < before and (text := found.text()) is not None:
            yield text
            return


def bridged(shape: Shape, line: int) -> Iterator[bytes]:
    """Yield graphs in which a line becomes a unary operator on a line that was below it.

    The operand is the one that keeps most lines: first among those of the line's sort, then
    among the others.
    """
    dag, width = shape.dag, shape.dag.width(line)
    if not width or not _is_operator(shape, line):
        return
    before = len(shape.live())
    # By whether the operand has the sort of the line.
    best: dict[bool, tuple[int, Shape]] = {}
    for each in sorted(shape.below(line) - {line}):
        if not dag.width(each) or not is_value(dag, each):
            continue
        found = shape.as_operator(line, *_bridge(dag.width(each), width), each)
        left = len(found.live())
        same = dag.width(each) == width
        # Without the amount of a shift the line is shorter, be it needed elsewhere or not.
        goes = left < before or (same and _takes_amount(dag, line))
        if goes and (same not in best or left > best[same][0]):
            best[same] = left, found
    for same in (True, False):
        if same in best and (text := best[same][1].text()) is not None:
            yield text


def _bridge(width: int, wanted: int) -> tuple[Op, tuple[int, ...]]:
    """Return the operator that makes one width of another, and its numbers."""
    if width == wanted:
        return Op.NOT, ()
    if width < wanted:
        return Op.UEXT, (wanted - width,)
    return (Op.REDOR, ()) if wanted == 1 else (Op.SLICE, (wanted - 1, 0))


def resized(shape: Shape, line: int) -> Iterator[bytes]:
    """Yield graphs in which a variable below a line replaces it and gets its width."""
    dag, width = shape.dag, shape.dag.width(line)
    if not width or not _is_operator(shape, line):
        return
    live = shape.live() - {line}
    amounts = {line_of(shape.args[each][1]) for each in live if _takes_amount(dag, each)}
    # The width of a shift amount depends on that of the shifted: it cannot be changed alone.
    for each in sorted(shape.below(line) - amounts):
        if dag.op[each] == Op.INPUT and dag.width(each) not in (0, width):
            past, _ = shape.past(line, each)
            text = past.with_(each, (), dag.sort[line]).text()
            if text is not None:
                yield text


@dataclass(frozen=True, slots=True)
class Grafting(Search):
    """The search: `texts` are the candidates for `line`, those for the lines above come next."""

    shape: Shape
    line: int
    options: bytes
    """What each text ends with."""
    texts: tuple[bytes, ...] = ()

    def propose(self) -> Change | None:
        if not self.texts:
            return None
        return Change((Edit(0, (self.texts[0] + self.options,)),), "graft")

    def after(self, ok: bool) -> Grafting:
        """Restart on the new graph after a success, else continue."""
        # Lines have other numbers now, so nothing that was tried before can be skipped.
        if ok:
            return _grafting(read(self.texts[0], self.shape.dag.dialect), self.options)
        return replace(self, texts=self.texts[1:])._settled()

    def _settled(self) -> Grafting:
        line, texts = self.line, self.texts
        # From the roots up to the leaves: the lines nearest to a root remove the most.
        while not texts and line > 0:
            line -= 1
            ways = (each(self.shape, line) for each in (without, retyped, bridged, resized))
            texts = tuple(chain.from_iterable(ways))
        return replace(self, line=line, texts=texts)


def _grafting(dag: Dag, options: bytes) -> Grafting:
    return Grafting(shape_of(dag), len(dag), options)._settled()


class NodeRemoval:
    """Removes single operators and reattaches their operands, in small graphs."""

    name = "node removal"

    def __init__(self, most: int) -> None:
        self.most = most

    def problem(self, view: BtorView) -> FixedSearch | None:
        """Return the search over the operators."""
        dag = view.dag
        if len(dag) > self.most or dag.dialect is Dialect.BTOR_2007:
            return None
        return FixedSearch(_grafting(dag, view.options))
