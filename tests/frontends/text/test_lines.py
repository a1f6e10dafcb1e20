"""Lines and tokens: any bytes parse, nothing is lost, nodes are nested and ordered."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reducekit.executors.executor import InProcess
from reducekit.format import by_size
from reducekit.frontends.text import Text
from reducekit.frontends.text.lines import GroupTree, Lines, LinesView, drop_groups, parse_lines
from reducekit.reduction import Reduction
from reducekit.registry import FRONTENDS, load, names, strategy
from reducekit.run import Limits
from reducekit.search.problem import Items

texts = st.one_of(
    st.binary(max_size=200),
    st.lists(st.sampled_from([b"(", b")", b"ab", b" ", b"\t", b"\n", b"\r\n", b"\xff", b";"])).map(
        b"".join
    ),
)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (b"", []),
        (b"\n", [(b"\n", [])]),
        (b" a\n\nb", [(b" a\n", [b"a"]), (b"\n", []), (b"b", [b"b"])]),
        (b"(f x)) ;y\r\n", [(b"(f x)) ;y\r\n", [b"(", b"f", b"x", b")", b")", b";y"])]),
        (b"\xff\x00(\x85\xa0", [(b"\xff\x00(\x85\xa0", [b"\xff\x00", b"(", b"\x85\xa0"])]),
    ],
)
def test_lines_and_their_tokens(text: bytes, lines: list[tuple[bytes, list[bytes]]]) -> None:
    document = parse_lines(text)
    found = [
        (document.source(line), [document.source(token) for token in document.children(line)])
        for line in document.children(0)
    ]
    assert found == lines


@given(texts)
def test_nothing_is_lost(text: bytes) -> None:
    document = parse_lines(text)
    assert document.render({}) == text
    assert b"".join(map(document.source, document.children(0))) == text
    tokens = [
        document.source(token) for line in document.children(0) for token in document.children(line)
    ]
    assert b"".join(tokens) == b"".join(text.split())


@given(texts)
def test_nodes_are_nested_and_ordered(text: bytes) -> None:
    document = parse_lines(text)
    start, end, stop, parent = document.start, document.end, document.stop, document.parent
    assert (start[0], end[0], stop[0]) == (0, len(text), len(document))
    for node in range(1, len(document)):
        above = parent[node]
        assert start[above] <= start[node] < end[node] <= end[above]
        assert node < stop[node] <= stop[above]
        if stop[node] < stop[above]:  # the next sibling
            assert end[node] <= start[stop[node]]


@given(texts, st.data())
def test_removing_lines_leaves_the_others(text: bytes, data: st.DataObject) -> None:
    document = parse_lines(text)
    lines = list(document.children(0))
    gone: set[int] = data.draw(st.sets(st.sampled_from(lines))) if lines else set()
    kept = b"".join(document.source(line) for line in lines if line not in gone)
    assert document.render(dict.fromkeys(gone, ())) == kept


def reduce(text: bytes, interesting: Callable[[bytes], bool], name: str = "adaptive") -> bytes:
    executor = InProcess(interesting)
    reduction = Reduction(Lines(), strategy(name), executor, lambda seconds: Limits())
    return reduction.run(text, 0.0).text


def groups_of(text: bytes) -> GroupTree:
    tree = drop_groups.problem(LinesView(parse_lines(text)))
    assert isinstance(tree, GroupTree)
    return tree


def test_the_entry_point() -> None:
    assert load(FRONTENDS, "text") is Text
    assert load(FRONTENDS, "lines") is Lines
    assert "text" in names(FRONTENDS)
    assert "lines" not in names(FRONTENDS)
    assert Lines(".smt2").suffix == ".smt2"


def test_measure() -> None:
    frontend = Lines()
    view = frontend.parse(b"(a b)\n\nc)")
    assert frontend.measure(view) == {"bytes": 9, "lines": 3, "tokens": 6}


def test_groups_are_nested_and_stray_parentheses_are_in_none() -> None:
    tree = groups_of(b") (a (b) (c\n(d))) ( (e)")
    sources = [tree.document.text[tree.document.start[o] : tree.document.end[c]]
               for o, c in tree.groups]  # fmt: skip
    assert sources == [b"(a (b) (c\n(d)))", b"(b)", b"(c\n(d))", b"(d)", b"(e)"]
    assert list(tree.roots) == [0, 4]
    assert [list(tree.children(node, frozenset())) for node in range(5)] == [
        [1, 2],
        [],
        [3],
        [],
        [],
    ]
    assert [tree.weight(node) for node in range(5)] == [len(source) for source in sources]


@pytest.mark.parametrize(
    ("text", "group", "left"),
    [
        (b"x (a) y", 0, b"x  y"),
        (b"x(a)y", 0, b"x y"),
        (b"x(a)\n", 0, b"x\n"),
        (b"(a\nb\nc) d\n", 0, b"\n d\n"),
        (b"(a (b\n\n) c)", 1, b"(a \n c)"),
        (b"(a (b\n\n)\n c)", 1, b"(a \n c)"),
        (b"(a\n)", 0, b"\n"),
    ],
)
def test_a_group_goes_as_a_whole(text: bytes, group: int, left: bytes) -> None:
    tree = groups_of(text)
    (move,) = tree.moves(group)
    assert tree.document.render(dict(move.change.edits)) == left


@given(texts)
def test_every_group_is_balanced(text: bytes) -> None:
    view = LinesView(parse_lines(text))
    for opening, closing in view.groups:
        inside = text[view.document.start[opening] : view.document.end[closing]]
        assert inside.startswith(b"(")
        assert inside.endswith(b")")
        assert inside.count(b"(") == inside.count(b")")


@given(texts)
def test_each_pass_proposes_nothing_but_less(text: bytes) -> None:
    """Every item alone leaves a smaller text, so none is refused by the order."""
    view = Lines().parse(text)
    for each in Lines().schedule("own").rounds:
        problem = each.problem(view)
        if problem is None:
            continue
        if isinstance(problem, GroupTree):
            changes = [m.change for n in range(len(problem.groups)) for m in problem.moves(n)]
        else:
            assert isinstance(problem, Items)
            items = range(len(problem.weights))
            changes = [problem.change(frozenset([n]), frozenset()) for n in items]
        for change in changes:
            assert by_size(view.document.render(dict(change.edits))) < by_size(text)


@pytest.mark.parametrize("name", ["adaptive", "ddmin", "halving", "hdd"])
def test_a_broken_text_is_reduced(name: str) -> None:
    noise = b"".join(b"(assert (> x%d %d))\n" % (n, n) for n in range(30))
    text = noise + b"(assert (and a (crash here) b)\n" + noise + b")) |open\n"
    left = reduce(text, lambda candidate: b"(crash" in candidate and b"|open" in candidate, name)
    assert b" ".join(left.split()) in (b"(crash |open", b"(crash ) |open")


@given(st.lists(st.sampled_from([b"(", b")", b"a", b"b", b" ", b"\n"]), max_size=30).map(b"".join))
def test_no_line_or_token_that_is_left_can_go(text: bytes) -> None:
    def interesting(candidate: bytes) -> bool:
        return candidate.count(b"a") >= min(2, text.count(b"a"))

    document = parse_lines(reduce(text, interesting))
    for node in range(1, len(document)):
        assert not interesting(document.render({node: ()}))


@pytest.mark.slow
def test_deep_nesting() -> None:
    depth = 200_000
    tree = groups_of(b"(f " * depth + b"x" + b")" * depth)
    assert len(tree.groups) == depth
    assert tree.children(depth - 2, frozenset()) == [depth - 1]
    (move,) = tree.moves(1)
    assert tree.document.render(dict(move.change.edits)).split() == [b"(f", b")"]
    left = reduce(b"(" * 300 + b"x" + b")" * 300, lambda candidate: b"x" in candidate)
    assert left == b"x"
