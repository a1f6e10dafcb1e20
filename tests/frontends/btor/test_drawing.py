"""Graphs for networkx: dominators, layers, pictures and files."""

import io
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import networkx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reducekit.ui
from reducekit.diagram import COLOURS
from reducekit.errors import UsageError
from reducekit.frontends.btor.drawing.drawing import cone, dot, graph_of, graphml, svg
from reducekit.frontends.btor.generate.generator import Parameters, generate
from reducekit.frontends.btor.model.operators import Dialect, Op
from reducekit.frontends.btor.model.reader import read
from reducekit.frontends.btor.model.view import view_of
from reducekit.frontends.btor.model.writer import canonical
from reducekit.frontends.btor.passes.line_graph import line_graph
from tests.frontends.btor.walking import rooted

APP_STYLE = Path(reducekit.ui.__file__).parent / "static" / "app.css"
INNER = 'shape=box color="#2159b8"'
TEXT = (
    b'1 var 3 a"\\b\n2 not 3 1\n3 mul 3 2 -1\n4 slice 1 3 2 2\n'
    b"5 eq 1 -3 2\n6 and 1 4 5\n7 root 1 6\n"
)


def test_nodes_say_what_goes_with_them() -> None:
    graph = graph_of(read(TEXT))
    assert dict(graph.nodes(data="dominator")) == {1: 6, 2: 6, 3: 6, 4: 6, 5: 6, 6: 7, 7: 0}
    assert dict(graph.nodes(data="alone")) == {1: 1, 2: 1, 3: 1, 4: 1, 5: 1, 6: 6, 7: 7}
    assert dict(graph.nodes(data="layer")) == {7: 0, 6: 1, 4: 2, 5: 2, 3: 3, 2: 4, 1: 5}
    assert graph.nodes[4] == {
        "op": "slice", "sort": "width 1", "label": "slice 2 2", "layer": 2, "dominator": 6,
        "alone": 1, "kind": "inner",
    }  # fmt: skip
    assert [edge for edge in graph.edges(data=True) if edge[0] == 5] == [
        (5, 3, {"position": 0, "complement": True}),
        (5, 2, {"position": 1, "complement": False}),
    ]


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), dialect=st.sampled_from([Dialect.BTOR1, Dialect.BTOR2]))
def test_what_goes_with_a_node_is_what_is_reached_no_more_without_it(
    seed: int, dialect: Dialect
) -> None:
    """And where one edge leads to it, that is what the reduction finds by its own arrays."""
    view = view_of(read(canonical(rooted(seed, dialect, nodes=20)), dialect))
    dag, graph = view.dag, graph_of(view.dag)
    flow = networkx.DiGraph(graph.edges())
    flow.add_edges_from((0, dag.ids[root]) for root in dag.roots)
    for line, code in enumerate(dag.op):
        if code in (Op.INIT, Op.NEXT):
            flow.add_edge(dag.ids[dag.arguments(line)[0]], dag.ids[line])
    reached = networkx.descendants(flow, 0)
    for node, alone in graph.nodes(data="alone"):
        if node not in reached:
            assert alone == 0
            continue
        without = flow.copy()
        without.remove_node(node)
        assert alone == len(reached) - len(networkx.descendants(without, 0))
    if dialect is Dialect.BTOR1 and len(reached) == len(graph):
        for line, saved in enumerate(line_graph(view).saved):
            if saved:
                assert saved == graph.nodes[dag.ids[line]]["alone"]


def test_a_cone_is_what_a_node_depends_on() -> None:
    graph = graph_of(read(TEXT))
    assert sorted(cone(graph, [4])) == [1, 2, 3, 4]
    assert cone(graph, [3]).number_of_edges() == 3
    assert sorted(cone(graph, [2, 4])) == [1, 2, 3, 4]
    assert cone(graph, [4]).nodes[4]["alone"] == 1
    with pytest.raises(UsageError, match="there is no node 9"):
        cone(graph, [9])


def test_the_files_are_read_by_those_they_are_for() -> None:
    graph = graph_of(generate(Parameters(seed=3, nodes=60)))
    again = networkx.read_graphml(io.BytesIO(graphml(graph)), node_type=int, force_multigraph=True)
    assert dict(again.nodes(data=True)) == dict(graph.nodes(data=True))
    assert sorted(again.edges()) == sorted(graph.edges())
    picture = ElementTree.fromstring(svg(graph))
    named = [each.text or "" for each in picture.iter("{http://www.w3.org/2000/svg}text")]
    nodes, legend = named[: len(graph)], named[len(graph) :]
    assert sorted(int(name.split()[0]) for name in nodes) == sorted(graph)
    assert legend == ["root", "operator", "variable", "constant", "complement"]


def test_the_page_has_the_same_colours() -> None:
    light, dark = APP_STYLE.read_text("utf-8").split(':root[data-theme="dark"]')
    for kind, (on_light, on_dark) in COLOURS.items():
        assert f"--{kind}: {on_light};" in light
        assert f"--{kind}: {on_dark};" in dark.partition("* {")[0]


def test_graphviz_gets_all_edges_in_order() -> None:
    assert dot(graph_of(read(TEXT))).decode().splitlines() == [
        "digraph btor {",
        "  ordering=out;",
        '  1 [label="1 var a\\"\\\\b\\nwidth 3" shape=box style=rounded color="#17653a"];',
        f'  2 [label="2 not\\nwidth 3" {INNER}];',
        f'  3 [label="3 mul\\nwidth 3" {INNER}];',
        f'  4 [label="4 slice 2 2\\nwidth 1" {INNER}];',
        f'  5 [label="5 eq\\nwidth 1" {INNER}];',
        f'  6 [label="6 and\\nwidth 1" {INNER}];',
        '  7 [label="7 root\\nwidth 1" shape=box penwidth=2 color="#7a3fb8"];',
        "  2 -> 1;",
        "  3 -> 2;",
        "  3 -> 1 [style=dashed];",
        "  4 -> 3;",
        "  5 -> 3 [style=dashed];",
        "  5 -> 2;",
        "  6 -> 4;",
        "  6 -> 5;",
        "  7 -> 6;",
        "}",
    ]


def test_a_picture_of_very_many_nodes_is_refused() -> None:
    with pytest.raises(UsageError, match=r"too many for a picture: write \.dot or \.graphml"):
        svg(graph_of(generate(Parameters(seed=1, nodes=2500))))


def test_a_file_without_lines() -> None:
    graph = graph_of(read(b"", Dialect.BTOR1))
    assert len(graph) == 0
    assert svg(graph).startswith(b"<svg ")
