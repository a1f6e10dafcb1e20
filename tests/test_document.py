"""Rendering sets of edits: equal to a slow recursive reference, and linear however deep."""

import re
from array import array
from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reducekit.change import Template
from reducekit.document import Document, Patched

BLANKS = b" \t\r\n\f\v"
DELIMITERS = BLANKS + b"()"
COMMENT_OR_TOKEN = re.compile(rb'(;[^\n]*)|("[^"]*"|[()]|[^\s()";]+)')

# A tree: the text before each child, the child, and the text behind the last.
Tree = tuple[list[tuple[bytes, "Tree"]], bytes]


def document_of(tree: Tree, delimiters: bytes = b"") -> Document:
    """Lay a tree out as a document."""
    text = bytearray()
    start, end, stop = array("i"), array("i"), array("i")

    def add(node: Tree) -> None:
        number = len(start)
        for numbers in (start, end, stop):
            numbers.append(0)
        start[number] = len(text)
        for before, child in node[0]:
            text.extend(before)
            add(child)
        text.extend(node[1])
        end[number] = len(text)
        stop[number] = len(start)

    add(tree)
    return Document(bytes(text), start, end, stop, delimiters)


def reference(
    document: Document, edits: Mapping[int, Template], node: int = 0, gap: bytes = b""
) -> bytes:
    """Render by the book: recursively, with `gap` around all that an edit put there."""

    def whole(node: int) -> bytes:
        if node in edits:
            parts = (
                part if isinstance(part, bytes) else (kept if part == node else whole)(part)
                for part in edits[node]
            )
            return gap + b"".join(gap + part + gap for part in parts) + gap
        return kept(node)

    def kept(node: int) -> bytes:
        pieces, at = [], document.start[node]
        for child in document.children(node):
            pieces += [document.text[at : document.start[child]], whole(child)]
            at = document.end[child]
        return b"".join(pieces) + document.text[at : document.end[node]]

    return whole(node)


def tokens(text: bytes) -> list[bytes]:
    """Return the tokens of a text without its comments."""
    return [token for _, token in COMMENT_OR_TOKEN.findall(text) if token]


def trees(pieces: st.SearchStrategy[bytes]) -> st.SearchStrategy[Tree]:
    leaves: st.SearchStrategy[Tree] = st.tuples(st.builds(list), pieces)
    return st.recursive(
        leaves,
        lambda below: st.tuples(st.lists(st.tuples(pieces, below), max_size=4), pieces),
        max_leaves=12,
    )


@st.composite
def edits_of(
    draw: st.DrawFn, document: Document, literals: st.SearchStrategy[bytes]
) -> dict[int, Template]:
    """Draw edits of some nodes, which keep any nodes of their subtrees in any order."""
    nodes = draw(st.sets(st.integers(0, len(document) - 1), max_size=len(document)))
    return {
        node: tuple(
            draw(st.lists(literals | st.integers(node, document.stop[node] - 1), max_size=3))
        )
        for node in sorted(nodes)
    }


LETTERS = st.text("ab().", max_size=2).map(str.encode)


@given(st.data())
@settings(max_examples=100, deadline=None)
def test_without_delimiters_rendering_is_the_reference(data: st.DataObject) -> None:
    document = document_of(data.draw(trees(LETTERS)))
    edits = data.draw(edits_of(document, LETTERS))
    assert document.render(edits) == reference(document, edits)
    assert document.render({}) == document.text
    root = data.draw(st.integers(0, len(document) - 1))
    assert document.render(edits, root) == reference(document, edits, root)


def scripts() -> st.SearchStrategy[bytes]:
    """Texts of tokens, lists, blanks of all kinds and comments."""
    gap = st.sampled_from(
        [
            b" ",
            b"\n",
            b"\r\n",
            b"  ",
            b"\t",
            b" ;(\n",
            b";c\n",
            b"\r",
            b"\n ",
            b"",
            b" ;(\n ",
            b"\n\n",
        ]
    )
    atom = st.sampled_from([b"x", b"ab", b'"s p"', b"12"])
    item = st.recursive(
        atom,
        lambda below: st.lists(st.tuples(gap, below), max_size=4).flatmap(
            lambda inner: gap.map(
                lambda last: b"(" + b"".join(g + i + b" " * (not g) for g, i in inner) + last + b")"
            )
        ),
        max_leaves=8,
    )
    listed = st.lists(st.tuples(item, gap.filter(bool)), max_size=5)
    return st.tuples(gap, listed).map(
        lambda parts: parts[0] + b"".join(each + space for each, space in parts[1])
    )


def read(text: bytes) -> Document:
    """Read a text of `scripts` in the simplest way."""
    start, end, stop, path = array("i", [0]), array("i", [len(text)]), array("i", [0]), [0]
    for match in COMMENT_OR_TOKEN.finditer(text):
        token = match.group(2)
        if token == b")":
            node = path.pop()
            end[node] = match.end()
            stop[node] = len(start)
        elif token:
            if token == b"(":
                path.append(len(start))
            start.append(match.start())
            end.append(match.end())
            stop.append(len(start))
    stop[0] = len(start)
    return Document(text, start, end, stop, DELIMITERS)


@given(scripts(), st.data())
@settings(max_examples=200, deadline=None)
def test_with_delimiters_no_token_is_lost_or_joined(text: bytes, data: st.DataObject) -> None:
    document = read(text)
    literals = st.sampled_from([b"true", b"(not", b")", b"", b"0"])
    edits = data.draw(edits_of(document, literals))
    # A line break around what is put in keeps comments and tokens apart.
    assert tokens(document.render(edits)) == tokens(reference(document, edits, gap=b"\n"))
    assert document.render({}) == text


@pytest.mark.slow
@given(scripts(), st.booleans(), st.data())
@settings(max_examples=300, deadline=None)
def test_edits_taken_one_after_another_are_the_edits_together(
    text: bytes, delimited: bool, data: st.DataObject
) -> None:
    document = read(text)
    if not delimited:
        document = Document(text, document.start, document.end, document.stop)
    literals = st.sampled_from([b"true", b"(not", b")", b"", b"0"])
    removals = st.sets(st.integers(1, max(1, len(document) - 1))).map(
        lambda nodes: dict.fromkeys((node for node in nodes if node < len(document)), ())
    )
    patched, together = Patched(document), dict[int, Template]()
    for _ in range(data.draw(st.integers(1, 4))):
        drawn = data.draw(removals | edits_of(document, literals))
        # What is removed stays so, with all that is in it.
        gone = {node for node, each in together.items() if not each}
        more = {
            node: each
            for node, each in drawn.items()
            if not each
            or not gone.intersection((node, *(up for n in each for up in above(document, n))))
        }
        root = data.draw(st.integers(0, len(document) - 1))
        after = together | more
        assert patched.render_with(more) == document.render(after)
        if not any(up in after and not after[up] for up in above(document, root)):
            assert patched.render_with(more, root) == document.render(after, root)
        for one in more.items():  # has a way of its own where nothing else is edited
            edits = together | dict([one])
            for around in (one[0], document.parent[one[0]], root):
                if around > 0 and not any(
                    up in edits and not edits[up] for up in above(document, around)
                ):
                    assert patched.render_with(dict([one]), around) == document.render(
                        edits, around
                    )
        patched, together = patched.with_(more), after
        assert patched.render() == document.render(together)


def above(document: Document, node: int | bytes) -> list[int]:
    """Return what a node lies in, from the bottom up; of a literal nothing."""
    found: list[int] = []
    while isinstance(node, int) and (node := document.parent[node]) >= 0:
        found.append(node)
    return found


def test_removed_neighbours_count_as_one() -> None:
    document = read(b"(a)\n(b x)\n(c)\n;\n(d)\n(e)\n")
    a, b, c, d, e = document.children(0)
    patched = Patched(document).with_({c: ()}).with_({a: (), b: (), b + 1: (b"y",)})
    assert len(patched) == 1
    assert patched.render() == b";\n(d)\n(e)\n"
    assert patched.render_with({d: ()}) == document.render(dict.fromkeys((a, b, c, d), ()))
    # One of them comes back, as it was.
    assert patched.render_with({b: (b"!", b)}) == b"!(b x)\n;\n(d)\n(e)\n"
    assert patched.with_({b: (b, b"!")}).render() == b"(b x)!\n;\n(d)\n(e)\n"
    assert patched.render_with({e: (b"E",)}, e) == b"E"
    assert patched.render(b) == b""


def removed(text: bytes, *what: bytes) -> bytes:
    """Remove the atoms and lists that read as given."""
    document = read(text)
    nodes = [node for node in range(1, len(document)) if document.source(node) in what]
    return document.render(dict.fromkeys(nodes, ()))


@pytest.mark.parametrize(
    ("text", "what", "left"),
    [
        (b"(a x b)", [b"x"], b"(a b)"),
        (b"(x b)", [b"x"], b"(b)"),
        (b"(a x)", [b"x"], b"(a)"),
        (b"(x)", [b"x"], b"()"),
        (b"(a)(x)(b)", [b"(x)"], b"(a)(b)"),
        (b"(a)\n(x)\n(b)\n", [b"(x)"], b"(a)\n(b)\n"),
        (b"(a)\r\n(x)\r\n(b)\r\n", [b"(x)"], b"(a)\r\n(b)\r\n"),
        (b"(x)\n(b)\n", [b"(x)"], b"(b)\n"),
        (b"(a)\n  (x)\n  (y)\n(b)", [b"(x)", b"(y)"], b"(a)\n(b)"),
        (b"a ; why (\nx\nb", [b"x"], b"a ; why (\nb"),
        (b";c\nx\rb", [b"x"], b";c\n\rb"),
        (b"(a\n x\n b)", [b"x", b"b"], b"(a\n)"),
    ],
)
def test_a_removed_node_takes_its_blanks_along(text: bytes, what: list[bytes], left: bytes) -> None:
    assert removed(text, *what) == left


def test_a_blank_goes_where_tokens_would_join() -> None:
    document = read(b"(f(g)x)")
    assert document.render({3: (4,)}) == b"(f g x)"
    assert document.render({3: (b"(h)",)}) == b"(f(h)x)"
    assert document.render({2: (b"0", b"1")}) == b"(0 1(g)x)"


@given(trees(LETTERS))
@settings(deadline=None)
def test_parent_and_children_agree(tree: Tree) -> None:
    document = document_of(tree)
    parent = document.parent
    assert parent[0] == -1
    assert len(parent) == len(document)
    for node in range(len(document)):
        children = list(document.children(node))
        assert all(parent[child] == node for child in children)
        inside = [other for other in range(len(document)) if parent[other] == node]
        assert children == inside


def nested(depth: int) -> Document:
    """An atom in so many lists."""
    text = b"(" * depth + b"x" + b")" * depth
    nodes = depth + 2
    start = array("i", [0, *range(depth + 1)])
    end = array("i", [len(text), *range(len(text), depth, -1)])
    return Document(text, start, end, array("i", [nodes]) * nodes, DELIMITERS)


def test_a_million_levels() -> None:
    document = nested(1_000_000)
    last = len(document) - 1
    assert document.parent[last] == last - 1
    assert document.source(last) == b"x"
    assert document.render({last: (b"y",)}) == document.text.replace(b"x", b"y")
    assert document.render({1: (last,)}) == b"x"


def test_a_hundred_thousand_nested_templates() -> None:
    document = nested(100_000)
    last = len(document) - 1
    assert document.render({node: (node + 1,) for node in range(1, last)}) == b"x"
    assert document.render({node: (b"[", node, b"]") for node in range(1, 4)}) == (
        b"[([([(" + document.text[3:-3] + b")])])]"
    )
