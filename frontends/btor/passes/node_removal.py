"""Removes single nodes from small graphs where redirecting an edge past them does not work.

A failure may need the nodes below a node, but not the node itself. Redirecting an edge past the
node would lose some of the nodes below. So the users of the node get another node of its sort, and
in the same step an operand of a remaining node is redirected to the nodes that would be lost. If
no operand has the right sort, an operator over bit-vectors gets the node for all its operands.

An attached node may come after its new user, so candidates are rewritten as a whole.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from itertools import chain

from reducekit.change import Change, Edit
from reducekit.frontends.btor.model.dag import Dag, line_of
from reducekit.frontends.btor.model.operators import Dialect, Op
from reducekit.frontends.btor.model.reader import read
from reducekit.frontends.btor.model.view import BtorView
from reducekit.frontends.btor.passes.bridges import bridged, resized, retyped
from reducekit.frontends.btor.passes.shape import Shape, Slot, is_value, shape_of
from reducekit.search.problem import FixedSearch, Search

_TARGETS = 2
"""The number of nodes tried in place of one; a higher number found no further reductions."""
_BOUND = frozenset({Op.INIT, Op.NEXT, Op.LAMBDA})
"""Operators whose first operand must be a state or param."""


def _may_replace(shape: Shape, target: int, line: int) -> bool:
    """Return whether a line has the sort of another one and is not above it."""
    dag = shape.dag
    same = dag.sort[target] == dag.sort[line] and is_value(dag, target)
    return same and line not in shape.below(target)


def without(shape: Shape, line: int) -> Iterator[bytes]:
    """Yield graphs without a line that keep all other operators that can be attached elsewhere."""
    live = shape.live()
    inner = {each for each in live if shape.args[each] and is_value(shape.dag, each)}
    if line not in inner:
        return
    found = 0
    for target in dict.fromkeys((*map(line_of, shape.args[line]), *sorted(live))):
        if not _may_replace(shape, target, line):
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
    """Hang in the uppermost lines of what is lost, each in the first place there is.

    One that has no place goes, and its operands are hung in, if they are lost as well.
    None if nothing could be.
    """
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
    """Yield the graphs in which a line is hung in and all of `kept` stay.

    The users of the line that goes come first, but not in the `slots` where that was.
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
        if ok:
            return _grafting(read(self.texts[0], self.shape.dag.dialect), self.options)
        return replace(self, texts=self.texts[1:])._settled()

    def _settled(self) -> Grafting:
        line, texts = self.line, self.texts
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
