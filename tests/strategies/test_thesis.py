"""The algorithms of the thesis on trees and items: names, order of substitutions, calls."""

from collections.abc import Mapping, Sequence

import pytest

from reducekit.change import Change, Edit
from reducekit.registry import strategy
from reducekit.search.problem import NOTHING, Items, Move, Redirect, Selection, Substitute, Tree
from reducekit.strategies.graph import TreeGraph
from tests.simulator import Droppable

NAMES = (
    "ddmin", "hdd", "hdd+", "hdd*", "bfs", "lw", "deltabtor", "changeref", "changeref+", "combine",
)  # fmt: skip


class Terms(Tree):
    """A tree whose nodes can become 0, 1 or any node right below."""

    def __init__(self, below: Mapping[int, Sequence[int]]) -> None:
        self.below = below
        self.roots = (0,)

    def weight(self, node: int) -> int:
        return 1 + sum(map(self.weight, self.below.get(node, ())))

    def moves(self, node: int) -> Sequence[Move]:
        constants = [Move(Change((Edit(node, (text,)),), "constant"), ()) for text in (b"0", b"1")]
        below = self.below.get(node, ())
        return [*constants, *(Move(Change((Edit(node, (each,)),)), (each,)) for each in below)]

    def parts(self, node: int) -> Items | None:
        return None

    def children(self, node: int, dropped: Selection = NOTHING) -> Sequence[int]:
        return self.below.get(node, ())

    def result(self, edits: Mapping[int, tuple[bytes | int, ...]], node: int = 0) -> str:
        """Print the term with the edits."""
        (part,) = edits.get(node, (node,))
        if isinstance(part, bytes):
            return part.decode()
        if part != node:
            return self.result(edits, part)
        below = " ".join(self.result(edits, each) for each in self.below.get(node, ()))
        return f"n{node}({below})" if below else f"n{node}"


TREE = {0: (1, 2), 1: (3, 4), 2: (5, 6), 4: (7, 8), 8: (9,)}


def reduced(name: str, needed: Sequence[str]) -> tuple[str, list[str]]:
    """Reduce TREE while the words needed are in it; return the term and what was tried."""
    tree = Terms(TREE)
    search = strategy(name).start(tree)
    edits: dict[int, tuple[bytes | int, ...]] = {}
    tried = []
    while (change := search.propose()) is not None:
        text = tree.result(edits | dict(change.edits))
        tried.append(text)
        ok = all(word in text for word in needed)
        if ok:
            edits |= dict(change.edits)
        search = search.after(ok)
    return tree.result(edits), tried


@pytest.mark.parametrize("name", NAMES)
def test_trees(name: str) -> None:
    result, tried = reduced(name, ["n8", "n5"])
    assert "n8" in result
    assert "n5" in result
    assert len(result) < len(Terms(TREE).result({}))
    assert tried


@pytest.mark.parametrize("name", ["bfs", "hdd+", "hdd*", "deltabtor", "combine"])
def test_all_that_is_not_needed_goes(name: str) -> None:
    result, _ = reduced(name, ["n8", "n5"])
    assert not {"n3", "n7", "n6", "n9"} & set(result.replace("(", " ").replace(")", " ").split())


def test_hdd_comes_first_in_hdd_plus_and_hdd_star() -> None:
    _, breadth_first = reduced("bfs", ["n8", "n5"])
    _, plus = reduced("hdd+", ["n8", "n5"])
    _, star = reduced("hdd*", ["n8", "n5"])
    once = star.index("0", 1)  # where HDD begins again
    assert plus[:once] == star[:once]
    assert plus[2] == "n0(n1(n3 n4(n7 n8(n9))) 0)"  # a part of a level, not its first node
    assert plus[once:] != star[once:]
    assert plus[once : once + 3] == ["0", "1", "n0(0 n2(n5 0))"]
    assert breadth_first[2] == "n0(0 n2(n5 n6))"


def test_a_node_becomes_zero_before_one() -> None:
    _, tried = reduced("bfs", ["n0("])
    whole = "n0(n1(n3 n4(n7 n8(n9))) n2(n5 n6))"
    assert tried[:3] == ["0", "1", "n0(0 n2(n5 n6))"]
    assert whole not in tried


def test_changeref_hoists_and_tries_the_heaviest_last() -> None:
    """The deepest, which is the lightest, first."""
    result, tried = reduced("changeref", ["n8"])
    assert tried[0] == "n2(n5 n6)"
    assert result == "n8(n9)"


def test_layerwise_takes_whole_layers() -> None:
    result, tried = reduced("lw", ["n1(", "n2("])
    assert tried[2] == "n0(0 0)"
    assert result == "n0(n1(0 0) n2(0 0))"


@pytest.mark.parametrize("name", NAMES)
def test_items(name: str) -> None:
    """Where there is no graph, the algorithm is the nearest one over items."""
    search = strategy(name).start(Droppable(8))
    gone: set[int] = set()
    while (change := search.propose()) is not None:
        more = {edit.node for edit in change.edits}
        ok = not more & {2, 5}
        if ok:
            gone |= more
        search = search.after(ok)
    assert gone == ({0, 1, 3, 4, 6, 7} if name != "lw" else set())


def test_a_tree_as_a_graph_keeps_what_is_left() -> None:
    graph = TreeGraph(Terms(TREE))
    assert graph.size == 10
    assert list(graph.nodes()) == [0, 1, 3, 4, 7, 8, 9, 2, 5, 6]
    assert [list(layer) for layer in graph.layers()] == [[0], [1, 2], [3, 4, 5, 6], [7, 8], [9]]


def test_a_tree_as_a_graph_asks_once_for_the_moves_of_a_node() -> None:
    asked = list[int]()

    class Asked(Terms):
        def moves(self, node: int) -> Sequence[Move]:
            asked.append(node)
            return super().moves(node)

    graph = TreeGraph(Asked(TREE))
    for node in (3, 4, 3):
        found = graph.apply(Substitute((node,), 0))
        assert found is not None
        found.apply(Substitute((5, 6), 0))
    assert sorted(asked) == [3, 4, 5, 6]


def test_a_tree_as_a_graph_goes_on_with_what_a_step_leaves() -> None:
    graph: TreeGraph | None = TreeGraph(Terms(TREE))
    for step in (Redirect(0, 0, 2), Substitute((3,), 0)):  # 0 becomes 1; 3 becomes a constant
        assert graph is not None
        graph = graph.apply(step)
    assert graph is not None
    assert list(graph.nodes()) == [1, 4, 7, 8, 9]
    assert list(graph.children(0)) == [1]
    assert list(graph.children(3)) == []


def test_a_tree_as_a_graph_has_the_nodes_with_moves_only() -> None:
    """Of a text of 15 kB most nodes have none, and sets of them were tried for minutes."""

    class Fixed(Terms):
        def moves(self, node: int) -> Sequence[Move]:
            return () if node in (0, 4, 5) else super().moves(node)

    graph = TreeGraph(Fixed(TREE))
    assert list(graph.nodes()) == [1, 3, 7, 8, 9, 2, 6]
    assert [list(layer) for layer in graph.layers()] == [[], [1, 2], [3, 6], [7, 8], [9]]
    assert graph.size == 7
    assert not graph.alive(4)


def test_a_step_in_a_tree_as_a_graph_does_not_walk_the_tree() -> None:
    walked = list[int]()

    class Walked(Terms):
        def children(self, node: int, dropped: Selection = NOTHING) -> Sequence[int]:
            walked.append(node)
            return super().children(node, dropped)

    graph = TreeGraph(Walked(TREE))
    assert all(graph.apply(Substitute((node,), 0)) for node in range(10))
    assert walked == []
