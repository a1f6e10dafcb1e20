"""Python's collector of reference cycles, kept from huge heaps.

It looks at all objects again and again as their number grows. Of a million nested terms that
took half of a reduction's time, and a signal waits until a look is over: seconds. So only new
objects are looked at while a text is searched, and all of them when another text takes its
place, where few are left.
"""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator

_NEVER = 2**31 - 1
_MANY = 100  # looks at new objects; about 700,000 objects


@contextlib.contextmanager
def only_new() -> Iterator[None]:
    """Look only at new objects within."""
    first, second, third = gc.get_threshold()
    gc.set_threshold(first, second, _NEVER)
    try:
        yield
    finally:
        gc.set_threshold(first, second, third)


def collect() -> None:
    """Look at all objects, if many were made since the last time."""
    if gc.get_count()[2] >= _MANY:
        gc.collect()
