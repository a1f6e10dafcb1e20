"""What the graph says by its drawing: kinds of nodes, what a step removed, where one is."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.ui.browser import SECONDS, Visit, chromium
from tests.ui.serving import Serving

pytestmark = [pytest.mark.debian("chromium"), pytest.mark.slow]
expect.set_options(timeout=SECONDS * 1000)
SMALL = "1 var 2\n2 var 2\n3 constd 2 1\n4 and 2 1 -2\n5 add 2 4 3\n6 root 2 5\n"
SMALLER = "1 var 2\n3 and 2 1 1\n4 root 2 3\n"
"""What is left without a variable and a sum, under other numbers."""
SHAPES = """kind => {
  const shape = root => {
    const { tagName, attributes } = root.querySelector(".outline");
    const round = Number(attributes.rx?.value ?? 0) > 4;
    return [tagName, round, getComputedStyle(root.querySelector(".outline")).stroke].join();
  };
  return [`#graph > svg .node.${kind}`, `.kinds .${kind}`].map(
    each => shape(document.querySelector(each)));
}"""
GHOSTS = """() => {
  const found = [];
  new MutationObserver(changes => changes.forEach(({ addedNodes }) => addedNodes.forEach(each =>
    each.classList?.contains("ghosts")
      && found.push(...[...each.querySelectorAll(".node")].map(node => node.textContent))
  ))).observe(document.querySelector("#graph > svg"), { childList: true });
  window.ghosts = found;
}"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


def looks(browser: Browser, served: Serving, **context: object) -> Visit:
    (served.folder / "small.btor").write_text(SMALL)
    visit = Visit(browser, served, **context)
    visit.start()
    visit.open("small.btor")
    visit.drawn(6)
    return visit


def test_a_legend_says_what_shapes_and_colours_mean(browser: Browser, served: Serving) -> None:
    visit = looks(browser, served)
    entries = visit.page.locator(".kinds li")
    expect(entries).to_have_text(["root", "operator", "variable", "constant", "complemented"])
    shapes = {}
    for kind in ("root", "inner", "leaf", "constant"):
        drawn, explained = visit.page.evaluate(SHAPES, kind)
        assert drawn == explained
        shapes[kind] = drawn
    assert len(set(shapes.values())) == 4
    # Who sees no colours can tell them apart, too; a root is where no edge leads to.
    assert len({shapes[kind].rpartition("rgb")[0] for kind in ("inner", "leaf", "constant")}) == 3
    visit.end()


def reduced(visit: Visit) -> Page:
    """Show a graph after the one that is shown, as a step of a run does."""
    page = visit.page
    page.evaluate(GHOSTS)
    visit.fails("grep -q and {}")
    page.click("#start")
    page.wait_for_selector(".run[data-status=done]")
    return page


def test_what_a_step_removed_fades_away(browser: Browser, served: Serving) -> None:
    visit = looks(browser, served)
    page = reduced(visit)
    page.click("#steps tr[data-step='0']")
    visit.drawn(6)
    page.evaluate("window.ghosts.length = 0")
    page.click("#steps tbody tr >> nth=0")  # the last one
    visit.served.wait(lambda: page.evaluate("window.ghosts.length") > 0)
    gone = page.evaluate("window.ghosts")
    assert any("add" in each for each in gone)
    assert not any("and" in each for each in gone)
    expect(page.locator(".ghosts")).to_have_count(0)
    visit.end()


def test_nothing_moves_for_whom_motion_is_unwelcome(browser: Browser, served: Serving) -> None:
    visit = looks(browser, served, reduced_motion="reduce")
    page = reduced(visit)
    page.click("#steps tr[data-step='0']")
    visit.drawn(6)
    page.click("#steps tbody tr >> nth=0")
    served.wait(lambda: int(page.get_attribute("#graph", "data-nodes") or 9) < 6)
    assert page.evaluate("window.ghosts") == []
    visit.end()


def test_a_map_leads_through_a_large_graph(browser: Browser, served: Serving) -> None:
    visit = looks(browser, served)
    page = visit.page
    small = page.locator("#graph > .minimap")
    expect(small).not_to_be_visible()
    served.ask("generate", format="btor", seed=0, values={"nodes": 400})
    page.click("#tabs [role=tab] >> nth=1")
    expect(small).to_be_visible()
    box = small.bounding_box()
    assert box is not None
    places = []
    for share in (0.1, 0.9):
        small.click(position={"x": box["width"] * share, "y": box["height"] / 2})
        places.append(page.get_attribute("#graph > svg > g", "transform"))
        frame = small.locator(".frame").bounding_box()
        assert frame is not None
        assert frame["x"] <= box["x"] + box["width"] * share <= frame["x"] + frame["width"] + 1
    assert places[0] != places[1]
    page.click("#graph button:has-text('Fit')")
    expect(small).not_to_be_visible()
    visit.end()
