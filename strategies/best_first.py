"""A tree from the top down, where runs of elements of all nodes are tried by weight.

A node that has to stay is opened: its elements are a run. The heaviest run of all is tried next. A
run that fails is cut in two of about the same weight; where a single element has to stay, its moves
are tried, and then it is opened. So a check always asks about as much of the text as is open:
large elements deep in the text come before small ones at the top, and none is looked at before what
surrounds it is known to stay (Herfert, Patra, Pradel: GTR, ASE 2017; the runs are ours).

Of the two halves of a run that failed, the second is not tried as a whole if the first could go: it
is known to fail (Hwang, see `adaptive`).

What other parts seem to need (`WeightedTree.free`: the uses of what it defines are still there) is
put off, and opened meanwhile: when its users are gone it goes in one run, and would hardly before.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import NamedTuple

from reducekit.change import Change
from reducekit.search.problem import NOTHING, Move, Search, Selection, WeightedTree

_NONE: Mapping[int, Selection] = MappingProxyType({})


class Run(NamedTuple):
    """Elements of a node, in order, to be taken as one. The heaviest is tried first."""

    weight: int
    age: int
    """Of equal ones the first that was found: no two have the same."""
    node: int
    positions: tuple[int, ...]
    twin: int = 0
    """The age of the first half of a failing run, if this is its second half."""
    opened: bool = False
    """Whether its elements are open already, as it was put off."""
    waits: bool = False
    """Whether what is set free later may still join it."""


@dataclass(frozen=True, slots=True)
class BestFirst(Search):
    """The state: the runs to come, and the one at hand or the moves of an element."""

    tree: WeightedTree
    pending: tuple[Run, ...] = ()
    """The heaviest comes last."""
    run: Run | None = None
    moves: Sequence[Move] = ()
    at: int = 0
    """`moves[at]` is tried now, if there is one; else the run."""
    taken: Mapping[int, Selection] = field(default_factory=lambda: _NONE)
    """Of each node that lost some."""
    went: frozenset[int] = frozenset()
    """The ages of the runs that could go and have a twin to come."""
    age: int = 0
    gone: bytes = b""
    """Which nodes are gone, as 1; for the tree's use."""
    held: tuple[tuple[int, tuple[int, ...]], ...] = ()
    """What other parts need: a node and its elements."""

    def propose(self) -> Change | None:
        if self.at < len(self.moves):
            return self.moves[self.at].change
        run = self.run
        if run is None:
            return None
        items = self.tree.parts(run.node)
        assert items is not None
        return items.change(frozenset(run.positions), self.taken.get(run.node, NOTHING))

    def after(self, ok: bool) -> BestFirst:
        if self.at < len(self.moves):
            if ok:
                return self._opened(self.moves[self.at].rest)._next()
            state = replace(self, at=self.at + 1)
            return state if state.at < len(state.moves) else state._stays()
        run = self.run
        assert run is not None
        if ok:
            gone = self.taken.get(run.node, NOTHING) | set(run.positions)
            taken = {**self.taken, run.node: gone}
            lost = self.tree.without(self.gone, run.node, run.positions)
            state = replace(self, taken=taken, went=self.went | {run.age}, gone=lost, held=())
            for node, positions in self.held:
                if not (node < len(lost) and lost[node]):
                    state = state._divided(node, positions)
            return state._next()
        return self._failed(run)

    def _failed(self, run: Run) -> BestFirst:
        """Cut a run that cannot go in two; open a single element."""
        if len(run.positions) > 1:
            return self._halved(run)._next()
        node = self.tree.child(run.node, run.positions[0])
        here = run._replace(node=node, positions=())
        state = replace(self, run=here, moves=self.tree.moves(node), at=0)
        return state if state.moves else state._stays()

    def _stays(self) -> BestFirst:
        """Open the element at hand, whose moves have all failed."""
        run = self.run
        assert run is not None
        state = replace(self, moves=(), at=0)
        return (state if run.opened else state._opened((run.node,)))._next()

    def _halved(self, run: Run) -> BestFirst:
        items = self.tree.parts(run.node)
        assert items is not None
        weights = items.weights
        whole = sum(weights[at] for at in run.positions)
        total, cut = weights[run.positions[0]], 1
        while 2 * total < whole and cut < len(run.positions) - 1:
            total += weights[run.positions[cut]]
            cut += 1
        # The second half, which is closer to the end, comes first of two of the same weight.
        first, second = run.positions[cut:], run.positions[:cut]
        state = self._with(run.node, first, opened=run.opened)
        return state._with(run.node, second, twin=state.age, opened=run.opened)

    def _with(
        self,
        node: int,
        positions: Sequence[int],
        *,
        twin: int = 0,
        opened: bool = False,
        waits: bool = False,
    ) -> BestFirst:
        items = self.tree.parts(node)
        assert items is not None
        weight = sum(items.weights[at] for at in positions)
        pending = list(self.pending)
        age = self.age + 1
        insort(pending, Run(weight, -age, node, tuple(positions), -twin, opened, waits))
        return replace(self, pending=tuple(pending), age=age)

    def _divided(self, node: int, positions: tuple[int, ...]) -> BestFirst:
        """Put off what other parts need of some elements that are open; the rest is a run."""
        free = self.tree.free(node, positions, self.gone)
        those, state = {*free}, self
        if free:
            # One check for all that was set free before its turn has come.
            same = [run for run in self.pending if run.waits and run.node == node]
            others = tuple(run for run in self.pending if not (run.waits and run.node == node))
            joined = sorted(those.union(*(run.positions for run in same)))
            state = replace(self, pending=others)._with(node, joined, opened=True, waits=True)
        rest = tuple(at for at in positions if at not in those)
        return replace(state, held=(*state.held, (node, rest))) if rest else state

    def _put_off(self, run: Run) -> BestFirst | None:
        """Put off what other parts need of a run, and open it; None if they need nothing."""
        free = self.tree.free(run.node, run.positions, self.gone)
        if len(free) == len(run.positions):
            return None
        those = {*free}
        rest = tuple(at for at in run.positions if at not in those)
        state = self._with(run.node, free) if free else self
        state = replace(state, held=(*state.held, (run.node, rest)))
        return state._opened([self.tree.child(run.node, at) for at in rest])

    def _opened(self, nodes: Sequence[int]) -> BestFirst:
        """Return the search with the elements of more nodes."""
        state = replace(self, moves=(), at=0)
        for node in nodes:
            items = self.tree.parts(node)
            if items is not None and len(items.weights):
                state = state._with(node, tuple(range(len(items.weights))))
        return state

    def _next(self) -> BestFirst:
        """Turn to the heaviest run that is not known to fail, and is not needed elsewhere."""
        state = self
        while state.pending or state.held:
            if not state.pending:
                # The last resort: perhaps it only seems to be needed.
                held, state = state.held, replace(state, held=())
                for node, positions in held:
                    state = state._with(node, positions, opened=True)
            run = state.pending[-1]
            state = replace(state, pending=state.pending[:-1], run=run)
            if run.node < len(state.gone) and state.gone[run.node]:
                continue
            if run.twin in state.went:
                if len(run.positions) == 1:
                    return state._failed(run)
                state = state._halved(run)
            elif run.opened or (less := state._put_off(run)) is None:
                return state
            else:
                state = less
        return replace(state, run=None)


def best_first(tree: WeightedTree) -> Search:
    """Return the search over a tree."""
    return BestFirst(tree)._opened(tree.roots)._next()
