"""Algorithms that race: who leads, which line is whose, and who is another one by another name."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, expect

from tests.ui.browser import SECONDS, Visit, chromium
from tests.ui.serving import Serving
from tests.ui.test_page import GRAPH, SCRIPT

pytestmark = [pytest.mark.debian("chromium"), pytest.mark.slow, pytest.mark.nightly]
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


def test_runs_are_rows_below_what_they_share(visit: Visit) -> None:
    page = visit.start()
    visit.open("graph.btor")
    names = ("hdd", "vulcan", "adaptive", "ddmin")
    raced(visit.served, 1, *names)
    rows = page.locator(".run[data-status=done]")
    row = r"{}\d+ checks · [\d.]+ s\d+×"
    expect(rows).to_have_text([re.compile(row.format(name)) for name in names])
    assert {each["height"] for each in map(Locator.bounding_box, rows.all()) if each} == {44}
    expect(page.locator(".run.best .name")).to_have_text("adaptive")
    # The text and the failure are named once.
    expect(page.locator(".group")).to_have_text("graph.btorkeeps: the test accepts the file")
    joined = "vulcan, ddmin"
    expect(page.locator("svg.curve .series")).to_have_count(3)
    ends = page.locator("svg.curve .name")
    assert sorted(ends.all_text_contents()) == sorted(["adaptive", "hdd", joined])
    boxes = [each.bounding_box() for each in [*ends.all(), page.locator("svg.curve")]]
    *found, pane = [each for each in boxes if each is not None]
    assert all(each["x"] + each["width"] <= pane["x"] + pane["width"] for each in found)
    rows.filter(has_text="hdd").get_by_role("button", name="hdd").press("Enter")
    expect(page.locator("#facts")).to_contain_text("hdd · ")
    expect(page.locator(".run.shown .name")).to_be_focused()
    # A second run of an algorithm has another name.
    raced(visit.served, 1, "hdd")
    expect(page.locator(".run .name")).to_have_text(["hdd #5", "hdd #1", *names[1:]])
    expect(ends.filter(has_text="hdd #1, hdd #5")).to_have_count(1)


def test_a_run_is_removed_from_every_tab_and_comes_back_from_its_folder(visit: Visit) -> None:
    page = visit.start()
    visit.open("graph.btor")
    one, other = raced(visit.served, 1, "hdd", "ddmin")
    tab = visit.context.new_page()
    tab.goto(page.url)
    page.click(f".run[data-run='{one}'] [title^=Remove]")
    for each in (page, tab):
        expect(each.locator(".run .name")).to_have_text(["ddmin"])
    page.click(".run .name")
    page.click(".run.shown button:has-text('Remove')")
    expect(page.locator("#tabs [aria-selected=true]")).to_have_text("graph.btor")
    expect(page.locator(".side")).to_be_hidden()
    expect(page.locator("svg.curve .series")).to_have_count(0)
    page.locator("#tabs [aria-selected=true]").press("Delete")
    page.reload()
    expect(page.locator("#earlier tr")).to_have_count(2)
    page.click("#earlier button >> nth=0")
    expect(page.locator("#result .story")).to_contain_text("322 → ")
    assert visit.served.refused("control", run=other, request="burn")


def test_nine_algorithms_have_nine_looks(visit: Visit) -> None:
    made = visit.served.ask("generate", format="btor", seed=0, values={"nodes": 60})
    page = visit.start()
    page.wait_for_selector(f"#tabs :text('{made['name']}')")
    names = ("adaptive", "ddmin", "hdd", "hdd+", "halving", "probdd", "cdd", "bfs", "lw")
    raced(visit.served, made["number"], *names)
    series = page.locator("svg.curve .series")
    expect(page.locator(".run[data-status=done]")).to_have_count(len(names))
    expect(series.nth(7)).to_be_visible()
    page.wait_for_function(
        """count => new Set(Array.from(document.querySelectorAll("svg.curve .series"), one => {
            const style = getComputedStyle(one);
            return [style.stroke, style.strokeDasharray].join(" ");
        })).size === count""",
        arg=len(names),
    )


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
