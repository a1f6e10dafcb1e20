"""Pictures: well-formed whatever the words, numbers short, attributes spelled as SVG does."""

import xml.etree.ElementTree as ElementTree

from hypothesis import given
from hypothesis import strategies as st

from reducekit import svg

NAMESPACE = "{http://www.w3.org/2000/svg}"


def test_numbers_are_short() -> None:
    assert [svg.number(each) for each in (3, 3.0, 3.04, 2.96, -0.5, 10)] == [
        "3", "3", "3", "3", "-0.5", "10",
    ]  # fmt: skip


def test_attributes_are_spelled_as_in_svg() -> None:
    assert svg.rect(0, 1, 2, 3.25, class_="box", stroke_width=1.5, rx=4, fill="") == (
        '<rect x="0" y="1" width="2" height="3.2" class="box" stroke-width="1.5" rx="4"/>'
    )
    assert svg.path("M", 0, 1.26, "h30", stroke="#333") == '<path d="M 0 1.3 h30" stroke="#333"/>'
    assert svg.circle(1, 2, 3) == '<circle cx="1" cy="2" r="3"/>'


def test_a_group_moves_its_parts() -> None:
    assert svg.group([svg.circle(0, 0, 1)], 5, 0) == (
        '<g transform="translate(5 0)"><circle cx="0" cy="0" r="1"/></g>'
    )
    assert svg.group([], class_="a") == '<g class="a"/>'


@given(st.text())
def test_words_come_back_from_a_reader_of_xml(words: str) -> None:
    parts = [svg.text(1, 2, words, fill=f"<{words!a}>"), svg.tooltip(words), svg.style("a > b {}")]
    root = ElementTree.fromstring(svg.picture(10, 20, parts, title=words))
    (found,) = root.iter(f"{NAMESPACE}text")
    shown = found.text or ""
    assert shown == words if words.isprintable() else shown.isprintable()
    assert found.get("fill") == f"<{words!a}>"


def test_a_picture_says_where_it_begins() -> None:
    root = ElementTree.fromstring(svg.picture(10, 20, [], left=-3))
    assert root.get("viewBox") == "-3 0 10 20"
    assert (root.get("width"), root.get("height")) == ("10", "20")
    white = root.find(f"{NAMESPACE}rect")
    assert white is not None
    assert white.get("x") == "-3"
