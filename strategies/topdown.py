"""A tree from the top down, heaviest node first: each node its moves, then its parts, then below.

A node that can be replaced by something small takes all below it along, so one
check may save thousands; only nodes that have to stay are opened. The order is
by weight over the whole tree, so that what saves most is tried first
(Herfert, Patra, Pradel: GTR, ASE 2017, for substitutions besides deletion).
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from reducekit.change import Change
from reducekit.search.problem import NOTHING, Divisible, Items, Move, Search, Tree
from reducekit.search.selecting import Selecting

# With few workers, looking ahead along failures keeps all of them busy, as most substitutions
# fail. By hand.
_FEW = 8
_MANY = 20
"""This many nodes for each worker are worth dividing."""
# Weight and node in one 64-bit number: sorting and comparing them is one operation, and an array
# of them takes 8 bytes a node, where tuples take 100.
_SHIFT = 32  # bits for a node, below its weight
_NODE = (1 << _SHIFT) - 1
_HEAVIEST = (1 << 31) - 1


class Pending(NamedTuple):
    """Nodes to come, as a queue by weight, of equal ones by number; the greatest is next.

    Sorted arrays of weight and node in one number, each with how much of it is left. A new array is
    merged with those that are not larger than twice its size, so adding and taking cost the
    logarithm of what is there, and no step copies it all.
    """

    runs: tuple[tuple[array[int], int], ...] = ()

    def with_(self, nodes: Iterable[int], weight: Callable[[int], int]) -> Pending:
        """Return the queue with more nodes in it."""
        new = sorted(min(weight(node), _HEAVIEST) << _SHIFT | node for node in nodes)
        if not new:
            return self
        runs = list(self.runs)
        # As in a binomial heap: run lengths stay geometric, so there are at most a logarithm of
        # them.
        while runs and runs[-1][1] <= 2 * len(new):
            keys, left = runs.pop()
            new = sorted((*keys[:left], *new))
        return Pending((*runs, (array("q", new), len(new))))

    def merged(self, other: Pending) -> Pending:
        """Return the queue with all of another one in it."""
        return Pending((*self.runs, *other.runs))

    def heaviest(self) -> int:
        """Return the node that is next. Raises ValueError if there is none."""
        return max(keys[left - 1] for keys, left in self.runs) & _NODE

    def without_heaviest(self) -> Pending:
        """Return the queue without the node that is next."""
        at = max(range(len(self.runs)), key=lambda each: self.runs[each][0][self.runs[each][1] - 1])
        keys, left = self.runs[at]
        rest = ((keys, left - 1),) if left > 1 else ()
        return Pending((*self.runs[:at], *rest, *self.runs[at + 1 :]))


@dataclass(frozen=True, slots=True)
class TopDown(Divisible):
    """The state: nodes to come, and where the search stands within the node at hand.

    `moves[at:]` are the substitutions yet to try; they may be made only when
    they are looked at. `parts` is the search for what the node can drop, which
    follows them. With `alone` the search ends with this node, and what is
    pending then is for others.
    """

    tree: Tree
    over_items: Callable[[Items], Selecting]
    pending: Pending
    node: int = -1
    moves: Sequence[Move] = ()
    at: int = 0
    parts: Selecting | None = None
    alone: bool = False

    @property
    def left(self) -> int:
        return sum(left for _, left in self.pending.runs) + (self.node >= 0)

    def worth_dividing(self, parts: int) -> bool:
        """Return whether there is enough for that many workers.

        Most substitutions fail, so looking ahead keeps a few of them busy.
        """
        return parts > _FEW and self.left >= _MANY * parts

    def divide(self, parts: int) -> tuple[TopDown, TopDown]:
        """Give out the node at hand, else the heaviest pending one."""
        state = self if self.node >= 0 else self._next(())
        rest = TopDown(self.tree, self.over_items, state.pending)
        return rest, replace(state, pending=Pending(), alone=True)._settle()

    def join(self, part: TopDown) -> TopDown:
        return replace(self, pending=self.pending.merged(part.pending))

    def whole(self) -> Search | None:
        return None

    @property
    def move(self) -> Move | None:
        """The substitution to try now; None when all have been."""
        try:
            return self.moves[self.at]
        except IndexError:
            return None

    def propose(self) -> Change | None:
        """Return the next move of the node at hand, or the next drop within it."""
        move = self.move
        if move is not None:
            return move.change
        return None if self.parts is None else self.parts.propose()

    def after(self, ok: bool) -> Search:
        """Leave the node when a move succeeds; open it when all have failed."""
        move = self.move
        if move is not None:
            # The rest of the node is queued by its weight, among all others.
            if ok:
                return self._leave(move.rest)
            return self._at(self.at + 1, None)._settle()
        assert self.parts is not None
        return self._at(self.at, self.parts.after(ok))._settle()

    def _settle(self) -> TopDown:
        """Go on until there is something to propose, or nothing is left."""
        state = self
        while state.move is None:
            # All moves have failed: the node stays, so what it can drop comes next.
            if state.parts is None and state.node >= 0:
                items = state.tree.parts(state.node)
                if items is not None:
                    state = state._at(state.at, state.over_items(items))
            if state.parts is not None and state.parts.propose() is not None:
                break
            if state.node < 0 and (state.alone or not state.pending.runs):
                break
            below: Iterable[int] = ()
            if state.node >= 0:
                # Then what is below it, without what was dropped.
                dropped = NOTHING if state.parts is None else state.parts.taken
                below = state.tree.children(state.node, dropped)
            state = state._next(below)
        return state

    def _at(self, at: int, parts: Selecting | None) -> TopDown:
        """Return the state at another move of the same node, or within its parts."""
        # Not by dataclasses.replace, which takes five times as long: every check comes here.
        return TopDown(
            self.tree,
            self.over_items,
            self.pending,
            self.node,
            self.moves,
            at,
            parts,
            self.alone,
        )

    def _leave(self, rest: Iterable[int]) -> TopDown:
        return self._next(rest)._settle()

    def _next(self, more: Iterable[int]) -> TopDown:
        """Turn to the heaviest pending node."""
        pending = self.pending.with_(more, self.tree.weight)
        # A part that was given out ends with its node; what is pending goes back to the pool.
        if not pending.runs or self.alone:
            return TopDown(self.tree, self.over_items, pending, alone=self.alone)
        node = pending.heaviest()
        moves = self.tree.moves(node)
        return TopDown(self.tree, self.over_items, pending.without_heaviest(), node, moves)


def top_down(tree: Tree, over_items: Callable[[Items], Selecting]) -> Search:
    """Return the search over a tree; `over_items` searches what a node can drop."""
    return TopDown(tree, over_items, Pending())._leave(tree.roots)
