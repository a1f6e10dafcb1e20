"""The outline of any text: its largest parts, each within the one that is around it."""

from hypothesis import given

from reducekit.frontends.text import Text
from reducekit.frontends.text.outline import diagram, lines, parts
from tests.frontends.text.test_tree import texts

TEXT = b"""int g; // a global
int f(int a) {
  a = "x";
  while (a) { g = 1; f(a, 23); }
}
"""


def test_tokens_have_colours() -> None:
    found = diagram(Text().parse(TEXT)).inks
    assert [(each.kind, TEXT[each.start : each.end]) for each in found] == [
        ("inner", b"int"), ("other", b"// a global"), ("inner", b"int"), ("inner", b"int"),
        ("leaf", b'"x"'), ("inner", b"while"), ("constant", b"1"), ("constant", b"23"),
    ]  # fmt: skip


@given(texts)
def test_parts_are_nested_and_colours_in_order(text: bytes) -> None:
    view = Text().parse(text)
    found = diagram(view)
    nodes = found.nodes
    above = {below: number for number, node in enumerate(nodes) for below in node.edges}
    assert sorted(above) == list(range(1, len(nodes)))
    for below, number in above.items():
        assert nodes[number].start <= nodes[below].start <= nodes[below].end <= nodes[number].end
    ends = [0, *(at for ink in found.inks for at in ink[:2]), len(text)]
    assert ends == sorted(ends)
    assert len(list(lines(view))) <= len(nodes)


def test_of_many_parts_the_largest_are_shown() -> None:
    text = b"".join(b"f(%d, a%s);\n" % (n, b" + b" * (n % 7)) for n in range(3000))
    view = Text().parse(text)
    found = parts(view, 1000, 0)
    least = min(view.weight(node) for node, _, _ in found)
    assert len(found) == 1000
    assert least == 27
    deep = Text().parse(b"{ a;\n" * 10**5 + b"}" * 10**5)
    assert max(depth for _, depth, _ in parts(deep, 1000, 0)) < 40
    assert len(list(lines(deep))) < 40
