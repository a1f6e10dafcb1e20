"""The film of a reduction: nodes keep their identity, and the picture ends with the result."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from reducekit.diagram import Diagram, Kind, Node
from reducekit.reports.film import chosen, film, film_of
from tests.reports.journals import write

SVG = "{http://www.w3.org/2000/svg}"


def graph(*nodes: tuple[str, tuple[int, ...]]) -> Diagram:
    kind: Kind = "inner"
    return Diagram("graph", [Node(label, "", kind, 0, 1, edges) for label, edges in nodes])


def test_a_node_that_stays_is_drawn_once() -> None:
    """Its number changes from step to step, and `not` goes."""
    before = graph(("3 root", (1,)), ("2 not", (2,)), ("1 var", ()))
    after = graph(("2 root", (1,)), ("1 var", ()))
    drawn = film([(before, "9 bytes"), (after, "5 bytes")])
    root = ElementTree.fromstring(drawn.file("a film"))
    texts = [each.text for each in root.iter(f"{SVG}text")]
    assert texts == ["3 root", "2 not", "1 var", "9 bytes", "5 bytes"]
    passing = [each for each in root.iter(f"{SVG}g") if each.get("class") == "passing"]
    assert [each.text for group in passing for each in group.iter(f"{SVG}text")] == [
        "2 not", "9 bytes",
    ]  # fmt: skip
    (gone,) = re.findall(r"@keyframes n1 \{ (.*) \}", drawn.rules)
    assert gone.endswith("opacity: 0 }")
    assert "scale(0.3)" in gone.replace("scale(.3)", "scale(0.3)")


def test_the_steps_that_removed_most_are_shown() -> None:
    sizes = [10_000, *range(5000, 4900, -1), 10, 9]
    steps = chosen(sizes)
    assert len(steps) <= 17
    assert {0, 1, 101, 102} <= set(steps)
    assert chosen([7]) == [0]


@pytest.mark.parametrize(
    ("frontend", "texts"),
    [
        ("aiger", (b"aag 3 2 0 1 1\n2\n4\n7\n6 2 4\n", b"aag 1 1 0 1 0\n2\n3\n")),
        ("btor", (b"1 var 2\n2 not 2 1\n3 root 2 2\n", b"1 var 2\n2 root 2 1\n")),
        ("cnf", (b"p cnf 3 2\n1 -2 0\n2 3 0\n", b"p cnf 3 1\n2 3 0\n")),
        ("smt2", (b"(assert (not (= 1 2)))\n", b"(assert true)\n")),
    ],
)
def test_each_format_that_is_a_graph_has_a_film(
    frontend: str, texts: tuple[bytes, ...], tmp_path: Path
) -> None:
    made = film_of(write(tmp_path / "x.journal", texts, frontend=frontend))
    assert made is not None
    assert f"{len(texts[0])} → {len(texts[1])} bytes" in made.file("a film")
