"""Algorithms that race: who leads, which line is whose, and who is another one by another name."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.ui.browser import SECONDS, Visit, chromium
from tests.ui.serving import Serving
from tests.ui.test_page import GRAPH, SCRIPT

pytestmark = [pytest.mark.debian("chromium"), pytest.mark.slow]
expect.set_options(timeout=SECONDS * 1000)


@pytest.fixture
def visit(served: Serving) -> Iterator[Visit]:
    (served.folder / "graph.btor").write_text(GRAPH)
    (served.folder / "script.smt2").write_text(SCRIPT)
    with chromium() as browser:
        found = Visit(browser, served)
        yield found
        found.end()


def raced(served: Serving, document: int, *strategies: str) -> list[int]:
    runs: list[int] = served.ask(
        "reduce",
        document=document,
        strategies=strategies,
        options={"oracle": "grep -q sext {}"},
    )["runs"]
    for each in runs:
        served.finished(each)
    return runs


def test_the_leaderboard_joins_one_curve_under_its_names(visit: Visit) -> None:
    page = visit.start()
    visit.open("graph.btor")
    raced(visit.served, 1, "hdd", "vulcan", "adaptive", "ddmin")
    rows = page.locator(".board tbody tr")
    expect(rows).to_have_count(3)
    expect(rows.first).to_have_text(re.compile(r"^1\.adaptive32\d+"))
    expect(rows.nth(1)).to_contain_text("hdd")
    sizes = [int(each) for each in page.locator(".board td:nth-child(3)").all_inner_texts()]
    assert sizes == sorted(sizes)
    joined = "vulcan, ddmin"
    expect(page.locator(".board")).to_contain_text(joined)
    expect(page.locator("svg.curve .series")).to_have_count(3)
    names = page.locator("svg.curve .name")
    assert sorted(names.all_text_contents()) == sorted(["adaptive", "hdd", joined])
    boxes = [each.bounding_box() for each in [*names.all(), page.locator("svg.curve")]]
    *found, pane = [each for each in boxes if each is not None]
    assert all(each["x"] + each["width"] <= pane["x"] + pane["width"] for each in found)
    page.click(".board button:has-text('hdd')")
    expect(page.locator("#facts")).to_contain_text("hdd · ")
    # A second run of an algorithm has another name.
    raced(visit.served, 1, "hdd")
    expect(page.locator(".board")).to_contain_text("hdd #1, hdd #5")


def test_nine_algorithms_have_nine_looks(visit: Visit) -> None:
    made = visit.served.ask("generate", format="btor", seed=0, values={"nodes": 60})
    page = visit.start()
    page.wait_for_selector(f"#tabs :text('{made['name']}')")
    names = ("adaptive", "ddmin", "hdd", "hdd+", "halving", "probdd", "cdd", "bfs", "lw")
    raced(visit.served, made["number"], *names)
    series = page.locator("svg.curve .series")
    expect(page.locator(".run[data-status=done]")).to_have_count(len(names))
    assert series.count() >= 8
    looks = series.evaluate_all(
        """each => each.map(one => {
            const style = getComputedStyle(one);
            return [style.stroke, style.strokeDasharray].join(" ");
        })"""
    )
    assert len(set(looks)) == len(looks)


def test_algorithms_that_have_nothing_of_their_own_are_grey(visit: Visit) -> None:
    page = visit.start()
    visit.open("graph.btor")
    visit.algorithms("ddmin", "hdd")
    vulcan = page.locator(".strategy:has([value=vulcan])")
    expect(vulcan).to_have_text("vulcan here as ddmin")
    expect(vulcan.locator("input")).to_be_disabled()
    expect(vulcan).to_have_attribute("title", re.compile("no other way to search this text"))
    visit.open("script.smt2")  # vulcan has a grammar of it
    expect(vulcan).to_have_text("vulcan")
    vulcan.locator("input").check()
    expect(page.locator("#start")).to_have_text("Race 3 algorithms")
    page.click("#tabs [role=tab]:has-text('graph.btor')")
    expect(page.locator("#start")).to_have_text("Race 2 algorithms")
