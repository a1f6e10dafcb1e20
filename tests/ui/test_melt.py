"""What a reduction did can be played, stepped through, linked to and found again."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.ui.browser import SECONDS, Visit, chromium
from tests.ui.serving import Serving, serving
from tests.ui.test_page import GRAPH

pytestmark = [pytest.mark.debian("chromium"), pytest.mark.slow, pytest.mark.nightly]
expect.set_options(timeout=SECONDS * 1000)
FRAMES = """() => {
  window.frames_ = [];
  window.over_ = [];
  window.struck_ = false;
  let last = "";
  const look = () => {
    window.struck_ ||= Boolean(document.querySelector("#text .melting del"));
    const boxes = [...document.querySelectorAll("#graph > svg > g:not(.ghosts) .node")];
    const places = boxes.map((each) => each.getAttribute("transform")).join();
    if (places !== last) {
      window.frames_.push(boxes.length);
      const all = boxes.filter((each) => each.getAttribute("opacity") !== "0")
        .map((each) => each.querySelector(".outline").getBoundingClientRect());
      window.over_.push(all.flatMap((a, at) => all.slice(0, at).filter((b) => a.left < b.right
        && b.left < a.right && a.top < b.bottom && b.top < a.bottom)).length);
    }
    last = places;
    requestAnimationFrame(look);
  };
  look();
}"""
"""Records of each frame in which nodes have moved how many there are and how many overlap, and
whether removed lines have collapsed."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


def example(visit: Visit) -> Page:
    """Reduce the example of the page to its end, recording the frames."""
    page = visit.start()
    page.wait_for_selector("#empty-example:not([disabled])")
    page.evaluate(FRAMES)
    page.click("#empty-example")
    page.wait_for_selector(".run[data-status=done]")
    visit.drawn(3)
    page.wait_for_selector("#graph:not([data-busy])")
    return page


def reduced(visit: Visit) -> Page:
    """Reduce a small graph to its end; show its steps."""
    (visit.served.folder / "graph.btor").write_text(GRAPH)
    page = visit.start()
    visit.reduced()
    page.wait_for_selector("#steps tbody tr")
    return page


@pytest.mark.parametrize(
    ("size", "scheme"),
    [((1400, 900), "light"), ((390, 844), "dark")],
)
def test_the_steps_are_played(
    browser: Browser, served: Serving, size: tuple[int, int], scheme: str
) -> None:
    viewport = {"width": size[0], "height": size[1]}
    visit = Visit(browser, served, viewport=viewport, color_scheme=scheme)
    page = example(visit)
    play = page.locator(".axis .play")
    frames: list[int] = []
    for _ in range(8):  # a loaded machine draws fewer, though in the same time
        if len(frames) < 20:
            page.evaluate("window.frames_.length = 0; window.struck_ = false")
            play.click()
            expect(play).to_have_text("❚❚")
            expect(play).to_have_text("▶", timeout=SECONDS * 2000)
            frames = page.evaluate("window.frames_")
    assert len(frames) >= 20
    assert frames == sorted(frames, reverse=True)  # never blank, and nothing comes back
    assert (frames[0], frames[-1]) == (81, 3)
    assert not any(page.evaluate("window.over_"))
    assert page.evaluate("window.struck_")
    assert page.get_attribute("#steps tr[aria-selected=true]", "data-step") != "0"
    visit.end()


def test_what_is_played_is_stopped(browser: Browser, served: Serving) -> None:
    visit = Visit(browser, served)
    page = example(visit)
    play = page.locator(".axis .play")
    play.click()
    expect(play).to_have_text("❚❚")
    play.click()
    expect(play).to_have_text("▶")
    visit.end()


def test_the_text_of_a_step_is_the_one_that_is_copied_and_saved(
    browser: Browser, served: Serving
) -> None:
    visit = Visit(browser, served)
    visit.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = reduced(visit)
    band = page.locator("#result")
    expect(band).to_contain_text("322 → 32 bytes")
    page.click("#steps tr[data-step='1']")
    expect(band).to_contain_text("Step 1 of")
    text = served.ask("look", run=1, step=1, diagram=False)
    expect(band).to_contain_text(f"{text['size']} bytes")
    assert 32 < text["size"] < 322
    # What is different from step 0 is in view, struck out.
    expect(page.locator("#text .line.gone del").first).to_be_in_viewport()
    assert visit.complaints() == []
    band.locator("button:has-text('Copy')").click()
    expect(page.locator("#notes")).to_contain_text("Step 1 was copied")
    assert page.evaluate("navigator.clipboard.readText()") == text["text"]
    page.click("#save")
    page.click("dialog button:has-text('Save')")
    expect(page.locator("dialog")).not_to_be_visible()
    assert (served.folder / "graph.step-1.btor").read_text() == text["text"]
    band.locator("button:has-text('Back to the result')").click()
    expect(band).to_contain_text("322 → 32 bytes")
    expect(page.locator("#facts")).to_contain_text("32 bytes")
    expect(page.locator("#text .line:is(.gone, .come)")).to_have_count(0)
    visit.end()


def test_a_link_opens_a_step_in_another_browser(browser: Browser, served: Serving) -> None:
    visit = Visit(browser, served)
    visit.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = reduced(visit)
    page.click("#steps tr[data-step='1']")
    expect(page.locator("#result")).to_contain_text("Step 1 of")
    page.click("#link")
    expect(page.locator("#notes")).to_contain_text("link, with the key of this server, was copied")
    link = page.evaluate("navigator.clipboard.readText()")
    other = Visit(browser, served)
    other.start(link)
    expect(other.page.locator("#result")).to_contain_text("Step 1 of")
    assert served.server.token not in other.page.url  # not for whoever looks at the screen
    other.end()
    # Another tab of this browser needs no key in its address.
    tab = visit.context.new_page()
    tab.goto(page.url)
    expect(tab.locator("#result")).to_contain_text("Step 1 of")
    visit.end()


def test_runs_have_the_names_of_their_files(browser: Browser, served: Serving) -> None:
    visit = Visit(browser, served)
    page = reduced(visit)
    expect(page.locator(".group")).to_contain_text("graph.btor")
    expect(page.locator("#tabs [aria-selected=true]")).to_have_text("graph.btor · adaptive")
    assert page.title().endswith("graph.btor · adaptive – reducekit")
    drawn = page.locator(".run .meter")  # and a run has its own curve, not a part of a bar
    expect(drawn).to_have_attribute("aria-label", re.compile("^90 % removed, after .* checks$"))
    box, line = drawn.bounding_box(), drawn.locator(".over").bounding_box()
    assert box is not None
    assert line is not None
    assert line["width"] > 0.97 * box["width"]  # to the end, and down to the lower edge
    assert line["height"] > 0.8 * box["height"]
    visit.end()


def test_runs_are_there_after_a_restart(browser: Browser, tmp_path: Path) -> None:
    """A server in the same folder offers them, with all steps."""
    with serving(tmp_path) as first:
        visit = Visit(browser, first)
        reduced(visit)
        visit.end()
        folder = first.folder
    (tmp_path / "again").mkdir()
    with serving(tmp_path / "again", folder) as second:
        visit = Visit(browser, second)
        page = visit.start()
        row = page.locator("#earlier tr")
        expect(row).to_contain_text("322 → 32 bytes")
        row.locator("button").click()
        expect(page.locator("#result")).to_contain_text("322 → 32 bytes")
        page.click("#steps tr[data-step='1']")
        expect(page.locator("#result")).to_contain_text("Step 1 of")
        assert visit.complaints() == []
        visit.end()


LOOK = """() => {
  window.empty_ = [];
  const look = () => {
    const pane = document.querySelector("#graph");
    const nodes = [...pane.querySelectorAll(".node")].some(each => each.checkVisibility());
    const said = getComputedStyle(pane, "::before").content + pane.innerText;
    const read = /var/.test(document.querySelector("#text").innerText);
    if (read) window.empty_.push(!nodes && !/drawing/.test(said));
    requestAnimationFrame(look);
  };
  look();
}"""
"""Records of each frame in which there is a text whether its graph is missing without a word."""


def test_there_is_always_something_in_the_pane(browser: Browser, served: Serving) -> None:
    """While the first layout takes its time, the pane says so; a later one keeps the last."""
    visit = Visit(browser, served)
    late: list[Route] = []
    ready = threading.Event()
    visit.page.route(
        "**/dagre.js",
        lambda route: route.continue_() if ready.is_set() else late.append(route),
    )
    page = visit.start()
    page.evaluate(LOOK)
    page.wait_for_selector("#empty-example:not([disabled])")
    page.click("#empty-example")
    page.wait_for_selector(".run[data-status=done]")
    served.wait(lambda: page.title() and late)
    assert page.locator("#graph .node").count() == 0
    ready.set()
    for each in late:
        each.continue_()
    visit.drawn(3)
    page.click("#steps tr[data-step='0']")
    visit.drawn(81)
    frames = page.evaluate("window.empty_")
    assert frames
    assert not any(frames)
    visit.end()


def test_a_step_says_what_it_is_and_shows_its_change(browser: Browser, served: Serving) -> None:
    """Also of a run that goes on, and where the change was out of view."""
    (served.folder / "long.smt2").write_text("".join(f"(assert x{n})\n" for n in range(400)))
    go_on = served.folder / "go"
    slow = served.folder / "slow.sh"
    wait = f"while test $(wc -l < $1) -le 60 -a ! -e {go_on}; do sleep 0.2; done"
    slow.write_text(f"#!/bin/sh\n{wait}\ngrep -q 'x0)' $1\n")
    slow.chmod(0o755)
    visit = Visit(browser, served)
    page = visit.start()
    visit.open("long.smt2")
    visit.fails(f"{slow} {{}}")
    visit.algorithms("ddmin")
    page.click("#start")
    page.wait_for_selector("#steps tr[data-step='2']")
    page.click("#steps tr[data-step='1']")  # halves it: what is after line 200 goes
    expect(page.locator("#result")).to_contain_text("Step 1 of")
    expect(page.locator("#text .line.gone del").first).to_be_in_viewport()
    expect(page.locator("#tabs [aria-selected=true]")).to_have_text("long.smt2 · ddmin")
    expect(page.locator("#steps th")).to_have_text(["step", "bytes", "pass · change"])
    page.click("#result button:has-text('Back to the run')")
    expect(page.locator("#tabs [aria-selected=true]")).to_have_text("long.smt2 · ddmin (live)")
    go_on.touch()
    page.wait_for_selector(".run[data-status=done]")
    visit.end()
