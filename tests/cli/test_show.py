"""`reducekit show`: what a BTOR file is made of, and pictures of it."""

from pathlib import Path

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


PROGRAM = b"""int g; // a global
int f(int a) {
  a = "x";
  while (a) { g = 1; f(a, 23); }
}
"""


def test_any_text_has_an_outline(tool: Tool) -> None:
    done = tool("show", tool.write("in.kk", PROGRAM))
    assert (done.code, done.err) == (0, "")
    assert done.out == (
        "80 bytes\n5 lines\n33 tokens\n"
        " 22.5 %  line     1  int g; // a global\n"
        " 13.8 %  line     1    // a global\n"
        " 75.0 %  line     2  int f(int a) {\n"
        ' 10.0 %  line     3    a = "x";\n'
        " 37.5 %  line     4    while (a) { g = 1; f(a, 23); }\n"
        "  7.5 %  line     4      g = 1;\n"
        " 11.2 %  line     4      f(a, 23);\n"
    )


@pytest.mark.slow
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
        (["in.btor", "-o", "x.png"], 2, "as .png: use the suffix .dot, .graphml, .svg"),
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


@pytest.mark.slow
def test_the_time_line_of_a_trace(tool: Tool) -> None:
    text = (
        "init\noption verbose 1\nadd 1\nadd 0\nsat\nreturn 10\nderef 1\nreturn 1\n"
        "add -1\nadd 0\nassume 2\nsat\nreturn 20\nrelease\n"
    )
    done = tool.ok("show", tool.write("in.trace", text))
    assert done.out.splitlines() == [
        "lgl: 11 calls of lingeling",
        "calls: add 4, sat 2, init 1, option 1, deref 1, assume 1, release 1",
        "time line:",
        "  1 other calls, 1 options, 1 clauses; line 5: sat answers satisfiable (1 clauses)",
        "  1 queries, 1 clauses, 1 assumptions; line 12: sat answers unsatisfiable (2 clauses)",
        "  1 other calls",
    ]
    assert tool("show", "in.trace", "-o", "x.svg").code == 0
    drawn = (tool.folder / "x.svg").read_text()
    assert drawn.startswith("<svg ")
    assert "line 5: sat, satisfiable" in drawn
    assert "2 calls, line 3: add 1 to line 4: add 0" in drawn


@pytest.mark.slow
def test_the_state_chart_of_a_model(tool: Tool) -> None:
    done = tool.ok("show", "ipasir")
    assert done.out.startswith("model of ipasir: ")
    assert tool("show", "ipasir", "-o", "x.svg").code == 0
    assert (tool.folder / "x.svg").read_text().startswith("<svg ")
    model = Path(__file__).parents[2] / "frontends/trace/models/ipasir.toml"
    tool.write("own.toml", model.read_bytes())
    assert tool("show", "own.toml", "-o", "y.svg").code == 0
    assert (tool.folder / "y.svg").read_bytes() == (tool.folder / "x.svg").read_bytes()
    assert tool("show", "own.toml", "-o", "y.dot").code == 2
