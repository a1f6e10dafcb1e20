"""Comparisons as pictures."""

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from reducekit.compare.tables import chart
from tests.compare.made_runs import AUTO, SLOW, run
from tests.ui.browser import chromium


def test_the_chart_is_a_picture_with_a_line_for_each_algorithm() -> None:
    odd = run("a<b&c", [(0, 100), (3, 0)], 400)
    picture = ET.fromstring(chart([AUTO[0], SLOW[0], odd, run("x", [(0, 9)], 1, settings=())]))
    assert picture.tag.endswith("svg")
    words = [element.text for element in picture.iter() if element.tag.endswith("text")]
    assert "a<b&c (0 %)" in words
    assert "auto (8 %)" in words
    assert "btor, simplify on" in words
    assert "btor" in words
    dots = [element for element in picture.iter() if element.tag.endswith("circle")]
    assert len(dots) == 4
    size = float(picture.get("width", "0")), float(picture.get("height", "0"))
    for dot in dots:
        assert 0 <= float(dot.get("cx", "-1")) <= size[0]
        assert 0 <= float(dot.get("cy", "-1")) <= size[1]


def test_no_two_lines_look_alike() -> None:
    names = ("adaptive", "auto", "ddmin", "hdd", "bfs", "cdd", "probdd", "lw", "vulcan", "perses")
    picture = ET.fromstring(chart([run(name, [(0, 100), (3, 9)], 100) for name in names]))
    paths = [each for each in picture.iter() if each.tag.endswith("path")]
    kinds = [(each.get("class"), each.get("stroke-dasharray")) for each in paths]
    looks = {each for each in kinds if each[0] and each[0].startswith("line ")}
    assert len(looks) == len(names)
    assert kinds.count(("line thick", None)) + kinds.count(("line thick", "")) == 2  # and a legend


def test_what_is_above_the_field_does_not_touch_it() -> None:
    picture = ET.fromstring(chart(AUTO))
    (subtitle,) = (each for each in picture.iter() if "left, percent" in (each.text or ""))
    rules = [each.get("d", "") for each in picture.iter() if each.get("class") == "rule"]
    top = min(float(way.split()[2]) for way in rules if "h" in way)
    assert float(subtitle.get("y", "")) + 12 < top  # a line of text


LOOKS = """each => each.map(one => {
  const { stroke, strokeWidth, strokeDasharray } = getComputedStyle(one);
  return [stroke, strokeWidth, strokeDasharray].join(" ");
})"""


@pytest.mark.debian("chromium")
@pytest.mark.slow
def test_what_a_browser_shows_can_be_told_apart(tmp_path: Path) -> None:
    names = ("adaptive", "auto", "ddmin", "hdd", "bfs", "cdd", "probdd", "lw", "vulcan", "perses")
    (tmp_path / "chart.svg").write_text(
        chart([run(name, [(0, 100), (3, 9)], 100) for name in names])
    )
    with chromium() as browser:
        page = browser.new_page()
        page.goto((tmp_path / "chart.svg").as_uri())
        looks = page.locator("path.line").evaluate_all(LOOKS)
        # A line and its sample in the legend, for each.
        assert len(looks) == 2 * len(set(looks)) == 2 * len(names)
        subtitle = page.get_by_text("left, percent").bounding_box()
        top = page.locator("path.rule").evaluate_all(
            "each => Math.min(...each.map(one => one.getBoundingClientRect().top))"
        )
    assert subtitle is not None
    assert subtitle["y"] + subtitle["height"] < top
