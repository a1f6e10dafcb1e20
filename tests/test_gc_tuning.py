"""The collector of cycles: new objects always, all of them only between texts."""

import gc
import weakref

from reducekit.runtime import collect, only_new


class Node:
    """Refers to itself."""

    def __init__(self) -> None:
        self.itself = self


def old_cycle() -> weakref.ref[Node]:
    """Return a cycle that nothing refers to, and that is no longer new."""
    node = Node()
    found = weakref.ref(node)
    gc.collect(0)
    gc.collect(1)
    del node
    return found


def test_all_objects_are_looked_at_when_asked_only() -> None:
    gc.collect()
    before = gc.get_threshold()
    with only_new():
        old = old_cycle()
        new = weakref.ref(Node())
        collect()
        many = [[] for _ in range(1_000_000)]  # type: ignore[var-annotated]
        assert old() is not None
        assert new() is None
        del many
        collect()
        assert old() is None
    assert gc.get_threshold() == before
