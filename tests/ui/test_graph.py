"""What the graph says by its drawing: kinds of nodes, what a step removed, where one is."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.ui.browser import SECONDS, Visit, chromium
from tests.ui.serving import Serving

pytestmark = [pytest.mark.debian("chromium"), pytest.mark.slow, pytest.mark.nightly]
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
    ends = "document.querySelector('#graph > svg').getBoundingClientRect().bottom"
    begins = "document.querySelector('#graph > .hint').getBoundingClientRect().top"
    assert visit.page.evaluate(f"{ends} <= {begins}")  # it covers no node
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


@pytest.mark.parametrize(
    ("name", "text", "nodes"),
    [
        ("in.aag", "aag 3 2 0 1 1\n2\n4\n7\n6 2 4\n", 4),
        ("in.cnf", "p cnf 3 2\n1 -2 0\n2 3 0\n", 5),
        ("in.smt2", "(declare-const x Bool)\n(assert (not x))\n(check-sat)\n", 3),
    ],
)
def test_each_format_is_drawn_on_the_page_and_by_show(
    browser: Browser, served: Serving, name: str, text: str, nodes: int
) -> None:
    path = served.folder / name
    path.write_text(text)
    visit = Visit(browser, served)
    refused: list[str] = []
    visit.page.on("response", lambda each: refused.append(each.url) if each.status > 399 else None)
    page = visit.start()
    visit.open(name)
    visit.drawn(nodes)
    visit.end()
    assert refused == []
    picture = path.with_suffix(".svg")
    command = [sys.executable, "-m", "reducekit", "show", str(path), "-o", str(picture)]
    subprocess.run(command, check=True)
    page = browser.new_page()
    page.goto(picture.as_uri())
    assert page.locator("svg :is(rect, circle, ellipse, polygon, path)").count() >= nodes
    page.close()


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


def test_a_map_of_many_nodes_melts(browser: Browser, served: Serving) -> None:
    """Above 500 nodes each is a tile; what a step removes shrinks, and the others glide."""
    made = served.ask("generate", format="btor", seed=1, values={"nodes": 1500})
    visit = Visit(browser, served)
    page = visit.start()
    page.wait_for_selector(f"#tabs :text('{made['name']}')")
    visit.drawn()
    count = int(page.get_attribute("#graph", "data-nodes") or 0)
    assert count > 1400
    expect(page.locator(".hint")).to_contain_text(f"{count:,} nodes, a tile each")
    areas = page.evaluate(
        """() => [...document.querySelectorAll("#graph .tiles:not(.gone, .selected)")].flatMap(
          path => [...path.getAttribute("d").matchAll(/h([\\d.]+)v([\\d.]+)/g)].map(
            ([, w, t]) => (Number(w) + 1) * (Number(t) + 1)))"""
    )
    assert len(areas) == count
    pane = page.locator("#graph > svg")
    box = pane.bounding_box()
    assert box is not None
    each = box["width"] * (box["height"] - 40) / count  # and all have the same room
    assert sum(0.8 * each < area < 1.1 * each for area in areas) > 0.9 * count
    pane.hover(position={"x": box["width"] / 3, "y": box["height"] / 3})
    expect(page.locator("#graph > .tip")).to_contain_text("line ")
    visit.fails("grep -q redxor {}")
    visit.algorithms("ddmin")  # halves it first
    page.click("#start")
    page.wait_for_selector(".run[data-status=done]")
    page.wait_for_selector("tr[data-step='1']")
    page.click("tr[data-step='0']")
    visit.drawn(count)
    page.evaluate(
        """() => {
          window.ways = new Set();
          new MutationObserver(() => window.ways.add(
            document.querySelector("#graph .tiles.inner")?.getAttribute("d")
          )).observe(document.querySelector("#graph > svg"), { subtree: true, attributes: true });
        }"""
    )
    after = len(served.ask("look", run=2, step=1, diagram=True)["diagram"]["labels"])
    assert 500 < after < count

    def seen_on_the_way() -> bool:
        """Play the step; a loaded machine draws few frames of it."""
        page.click("tr[data-step='0']")
        visit.drawn(count)
        page.click("tr[data-step='1']")
        visit.drawn(after)
        page.wait_for_selector("#graph:not([data-busy])")
        return int(page.evaluate("window.ways.size")) >= 6

    served.wait(seen_on_the_way)
    # A click leads to what is near a node, and back.
    page.click("tr[data-step='0']")
    visit.drawn(count)
    pane.click(position={"x": box["width"] / 3, "y": box["height"] / 3})
    expect(page.locator(".node.selected")).to_have_count(1)
    expect(page.locator("#text mark").first).to_be_visible()
    page.click("#graph button:has-text('All nodes')")
    visit.drawn(count)
    assert visit.complaints() == []
    visit.end()
