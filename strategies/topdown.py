"""A tree from the top down, heaviest node first: each node its moves, then its parts, then below.

A node that can be replaced by something small takes all below it along, so one
check may save thousands; only nodes that have to stay are opened. The order is
by weight over the whole tree, so that what saves most is tried first
(Herfert, Patra, Pradel: GTR, ASE 2017, for substitutions besides deletion).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from reducekit.change import Change
from reducekit.search.problem import NOTHING, Items, Move, Search, Tree
from reducekit.search.selecting import Selecting


@dataclass(frozen=True, slots=True)
class TopDown:
    """The state: nodes to come, and where the search stands within the node at hand.

    `pending` holds pairs of weight and node, heaviest last. `moves[at:]` are
    the substitutions yet to try; `parts` is the search for what the node can
    drop, which follows them.
    """

    tree: Tree
    over_items: Callable[[Items], Selecting]
    pending: tuple[tuple[int, int], ...]
    node: int = -1
    moves: Sequence[Move] = ()
    at: int = 0
    parts: Selecting | None = None

    def propose(self) -> Change | None:
        """Return the next move of the node at hand, or the next drop within it."""
        if self.at < len(self.moves):
            return self.moves[self.at].change
        return None if self.parts is None else self.parts.propose()

    def after(self, ok: bool) -> Search:
        """Leave the node when a move succeeds; open it when all have failed."""
        if self.at < len(self.moves):
            if ok:
                return self._leave(self.moves[self.at].rest)
            return replace(self, at=self.at + 1)._settle()
        assert self.parts is not None
        return replace(self, parts=self.parts.after(ok))._settle()

    def _settle(self) -> TopDown:
        """Go on until there is something to propose, or nothing is left."""
        state = self
        while state.at >= len(state.moves):
            if state.parts is None and state.node >= 0:
                items = state.tree.parts(state.node)
                if items is not None:
                    state = replace(state, parts=state.over_items(items))
            if state.parts is not None and state.parts.propose() is not None:
                break
            if state.node < 0 and not state.pending:
                break
            below: Iterable[int] = ()
            if state.node >= 0:
                dropped = NOTHING if state.parts is None else state.parts.taken
                below = state.tree.children(state.node, dropped)
            state = state._next(below)
        return state

    def _leave(self, rest: Iterable[int]) -> TopDown:
        return self._next(rest)._settle()

    def _next(self, more: Iterable[int]) -> TopDown:
        """Turn to the heaviest pending node."""
        weight = self.tree.weight
        added = [(weight(node), node) for node in more]
        pending = tuple(sorted((*self.pending, *added))) if added else self.pending
        if not pending:
            return TopDown(self.tree, self.over_items, ())
        node = pending[-1][1]
        return TopDown(self.tree, self.over_items, pending[:-1], node, self.tree.moves(node))


def top_down(tree: Tree, over_items: Callable[[Items], Selecting]) -> Search:
    """Return the search over a tree; `over_items` searches what a node can drop."""
    return TopDown(tree, over_items, ())._leave(tree.roots)
