"""Any text has a tree: nothing is lost, nodes nest, and what people see as parts are parts."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reducekit.frontends.text.tree import Kind, tree_of
from reducekit.frontends.text.view import TextView

PIECES = b"""( ) { } [ ] ab , ; " ' /* */ // begin end <a> </a> <!-- --> 1""".split()
PIECES += [b"\n", b"  ", b" ", b"\xff"]
texts = st.one_of(st.binary(max_size=200), st.lists(st.sampled_from(PIECES)).map(b"".join))


@given(texts)
def test_nothing_is_lost_and_nodes_are_nested(text: bytes) -> None:
    whole_and_nested(TextView(tree_of(text)))


def whole_and_nested(grown: TextView) -> None:
    document, text = grown.document, grown.document.text
    assert document.render({}) == text
    assert len(grown.kind) == len(grown.rule) == len(document)
    for node in range(len(document)):
        at = document.start[node]
        for child in document.children(node):
            assert at <= document.start[child] <= document.end[child]
            assert not text[at : document.start[child]].strip()
            at = document.end[child]
        assert at <= document.end[node]
        assert (document.stop[node] == node + 1) or grown.kind[node] < Kind.WORD


def outline(text: str) -> list[str]:
    return outline_of(TextView(tree_of(text.encode())))


def outline_of(grown: TextView) -> list[str]:
    """Return the items of a text, by their first words, indented by how deep they are."""
    document, depth = grown.document, [0] * len(grown.kind)
    found = []
    for node in range(1, len(depth)):
        above = document.parent[node]
        depth[node] = depth[above] + (grown.kind[above] == Kind.ITEM)
        if grown.kind[node] == Kind.ITEM:
            found.append("  " * depth[node] + document.source(node).decode().split("\n")[0])
    return found


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        pytest.param(
            "int f(int a) {\n  a = 1; // one\n  return a;\n}\nint g;\n",
            ["int f(int a) {", "  a = 1; // one", "  return a;", "int g;"],
            id="C",
        ),
        pytest.param(
            "def f(a):\n    if a:\n        b()\n    else:\n        c()\nx = 1\n",
            ["def f(a):", "  if a:", "    b()", "  else:", "    c()", "x = 1"],
            id="Python",
        ),
        pytest.param(
            '{"a": [1, {"b": 2}],\n "c": 3}\n',
            ['"a": [1, {"b": 2}]', '  {"b": 2}', '"c": 3'],
            id="JSON",
        ),
        pytest.param(
            "method m()\n  requires p\n  ensures q\n{\n  x := 1;\n}\nmethod n()\n{\n}\n",
            ["method m()", "  requires p", "  ensures q", "method n()"],
            id="a verifier's language",
        ),
        pytest.param(
            "module m(input a);\n  always begin\n    a <= 1;\n    b <= 2;\n  end\nendmodule\n",
            ["m(input a);", "always begin", "  a <= 1;", "  b <= 2;"],
            id="Verilog",
        ),
        pytest.param("f(a, g(b, c))\n", ["g(b, c)"], id="arguments"),
        pytest.param("a) b\nc (d\n", ["a) b", "c (d"], id="no partner"),
    ],
)  # fmt: skip
def test_what_people_see_as_parts(text: str, parts: list[str]) -> None:
    assert outline(text) == parts


def groups(text: bytes) -> list[bytes]:
    grown = tree_of(text)
    return [grown.document.source(n) for n, kind in enumerate(grown.kind) if kind == Kind.GROUP]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (b"begin a begin b end end", [b"begin a begin b end end", b"begin b end"]),
        (b"case x endcase if y", [b"case x endcase"]),
        (b"{ if (a) end }", [b"{ if (a) end }", b"(a)"]),
        (b"<a x='1'><b/><c>t</c></a>", [b"<a x='1'><b/><c>t</c></a>", b"<c>t</c>"]),
        (b'"(" /* ( */\n// (\n)', []),
        (b"/* ( )", [b"( )"]),
        (b"( ] )", [b"( ] )"]),
        (b"(a [b)", [b"(a [b)"]),
    ],
)
def test_partners(text: bytes, found: list[bytes]) -> None:
    assert groups(text) == found


@pytest.mark.parametrize("unit", [b"(", b"{\n", b"begin ", b"a\n ", b"(a, ", b"/*", b"<a>"])
def test_a_million_levels(unit: bytes) -> None:
    begin = time.process_time()
    text = unit * (10**6 // len(unit))
    assert tree_of(text).document.render({}) == text
    assert time.process_time() - begin < 60, "not linear"


def test_a_comment_begins_where_no_quotient_does() -> None:
    def count(text: bytes) -> int:
        return TextView(tree_of(text)).kind.count(Kind.COMMENT)

    assert count(b"a = (b // c)\nsee http://d.e/f\n") == 0
    assert count(b"a = b; // c\nd // e\n") == 2
    assert count(b"  // c\n") == 1
