"""`reducekit show`: what a BTOR file is made of, and pictures of it."""

from __future__ import annotations

import pytest

from tests.cli.tool import Tool

TEXT = b"1 var 3\n2 not 3 1\n3 mul 3 2 -1\n4 redor 1 3\n5 var 1\n6 root 1 -4\n"


def test_the_summary(tool: Tool) -> None:
    done = tool("show", tool.write("in.btor", TEXT))
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines() == [
        "btor1: 6 nodes in 5 layers",
        "5 edges, 2 of them complements",
        "1 nodes with several edges to them",
        "1 nodes that no root needs",
        "operators: var 2, mul 1, not 1, redor 1, root 1",
        "nodes that others go with:",
        "  6 root: 4",
        "  4 redor: 3",
        "  3 mul: 2",
    ]


@pytest.mark.parametrize(
    ("name", "begin"), [("x.svg", "<svg "), ("x.dot", "digraph "), ("x.graphml", "<graphml ")]
)
def test_files(tool: Tool, name: str, begin: str) -> None:
    done = tool("show", tool.write("in.btor", TEXT), "-o", name)
    assert (done.code, done.out, done.err) == (0, "", "")
    assert (tool.folder / name).read_text().startswith(begin)


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["in.btor", "-o", "x.png"], 2, "what is x.png to be? It may end in .dot, .graphml, .svg"),
        (["bad.btor"], 3, "bad.btor, line 1"),
        (["empty.btor"], 3, "empty.btor, line 1, column 1: the input is empty"),
        (["gone.btor"], 2, "gone.btor does not exist"),
    ],
)
def test_what_is_wrong_is_said(tool: Tool, arguments: list[str], code: int, words: str) -> None:
    tool.write("in.btor", TEXT)
    tool.write("bad.btor", b"1 mul what\n")
    tool.write("empty.btor", b" \n")
    done = tool("show", *arguments)
    assert done.code == code
    assert words in done.err
    assert "Traceback" not in done.err
    assert not (tool.folder / "x.png").exists()
