"""The search of lglddtrace, the reducer for API traces that comes with Lingeling.

Described in Artho, Biere, Seidl, Model-based testing for verification back-ends
(TAP 2013), section 4.3, and done by its code: blocks of half the items, then of
half that size while it is above 4, then of one less each time; each size is one
sweep from left to right, and a block that was taken is not looked at again.
"""

from __future__ import annotations

from reducekit.search.selecting import Selector
from reducekit.search.strategy import Strategy
from reducekit.strategies.halving import Sweeps
from reducekit.strategies.levels import items_by
from reducekit.strategies.topdown import top_down

# The bound in the code of lglddtrace; the paper does not name it.
_FINE = 4
"""Up to this size, blocks get smaller by one."""


def smaller(size: int, left: int) -> int:
    """Return the block size that follows, when `left` items are left; 0 at the end."""
    size = min(size, max(1, left))
    return size // 2 if size > _FINE else size - 1


def selector(count: int) -> Selector:
    """Return the algorithm over `count` items."""
    return Sweeps(tuple(range(count)), max(1, count // 2), smaller)


_over_items = items_by(selector)
lglddtrace = Strategy(
    "lglddtrace", _over_items, lambda tree: top_down(tree, _over_items), passes="classic"
)
