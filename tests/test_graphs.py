"""Pictures of graphs: where boxes stand, also where edges go in circles."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reducekit.diagram import Diagram, Node
from reducekit.errors import UsageError
from reducekit.graphs import GAP, WIDTH, Box, boxes_of, layers, layout, picture, target


@st.composite
def graphs(draw: st.DrawFn) -> list[list[int]]:
    size = draw(st.integers(0, 30))
    nodes = st.integers(0, max(0, size - 1))
    edge = st.one_of(nodes, nodes.map(lambda node: ~node))
    return [draw(st.lists(edge, max_size=3)) for _ in range(size)]


@given(graphs())
def test_no_two_boxes_overlap(edges: list[list[int]]) -> None:
    places = layout(edges)
    assert len(set(places)) == len(edges)
    rows: dict[int, list[int]] = {}
    for x, y in places:
        rows.setdefault(y, []).append(x)
    assert all(b - a >= WIDTH + GAP - 1 for row in rows.values() for a, b in pairwise(sorted(row)))


@given(graphs())
def test_users_stand_above_unless_in_a_circle(edges: list[list[int]]) -> None:
    forward = [
        [each for each in map(target, below) if each > node] for node, below in enumerate(edges)
    ]
    depth = {node: row for row, nodes in enumerate(layers(forward)) for node in nodes}
    assert all(depth[node] < depth[each] for node, below in enumerate(forward) for each in below)


def test_a_chain_of_a_hundred_thousand_needs_no_recursion() -> None:
    size = 100_000
    assert len(layers([[node + 1] for node in range(size - 1)] + [[0]])) == size


def test_a_diagram_is_drawn_with_its_words() -> None:
    nodes = [Node("and", "Bool", "inner", 0, 1, (1, ~1)), Node("<x>", "", "leaf", 1, 2)]
    drawn = picture(boxes_of(Diagram("graph", nodes))).decode()
    assert "&lt;x&gt;" in drawn
    assert drawn.count('class="edge"') == 3  # and one in the legend
    with pytest.raises(UsageError, match="only graphs"):
        boxes_of(Diagram("timeline", nodes))


def test_very_many_nodes_are_refused() -> None:
    with pytest.raises(UsageError, match="2001 nodes are too many"):
        picture([Box("x", "leaf")] * 2001)
