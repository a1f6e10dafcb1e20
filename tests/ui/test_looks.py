"""What the page looks like in its states: nothing cut, nothing astray, and words that agree."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, ViewportSize, expect

from tests.ui.browser import SECONDS, Visit, chromium
from tests.ui.serving import Serving
from tests.ui.test_page import GRAPH, report_of

pytestmark = [pytest.mark.debian("chromium"), pytest.mark.slow, pytest.mark.nightly]
expect.set_options(timeout=SECONDS * 1000)
DESKTOP = ViewportSize(width=1400, height=900)
PHONE = ViewportSize(width=390, height=844)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


@pytest.fixture
def visit(browser: Browser, served: Serving) -> Iterator[Visit]:
    (served.folder / "graph.btor").write_text(GRAPH)
    slow = served.folder / "slow.sh"
    slow.write_text('#!/bin/sh\nsleep 0.3\ngrep -q sext "$1"\n')
    slow.chmod(0o755)
    found = Visit(browser, served, viewport=DESKTOP)
    yield found
    found.end()


def tops(visit: Visit, where: str) -> list[float]:
    """Return where the elements begin, from above: as many as they have rows."""
    boxes = [each.bounding_box() for each in visit.page.locator(where).all()]
    return sorted({round(box["y"] + box["height"] / 2) for box in boxes if box is not None})


def done(visit: Visit, *strategies: str) -> None:
    visit.reduced(*strategies)
    expect(visit.page.locator("#result[data-what=result]")).to_be_visible()


def test_the_buttons_of_the_result_are_one_row(visit: Visit) -> None:
    solver = visit.served.folder / "solver.sh"
    words = "solver: rewrite.c:812: Assertion of a long name failed"
    solver.write_text(f'#!/bin/sh\ngrep -q sext "$1" || exit 0\necho "{words}" >&2\nkill -6 $$\n')
    solver.chmod(0o755)
    page = visit.start()
    visit.open("graph.btor")
    visit.fails(f"{solver} {{}}", "fails")
    page.click("#start")
    expect(page.locator("#result[data-what=result]")).to_be_visible()
    assert visit.page.locator("#result button").count() == 5
    assert len(tops(visit, "#result button")) == 1


def test_on_a_phone_the_tab_that_is_shown_is_in_view(visit: Visit) -> None:
    page = visit.start()
    visit.page.set_viewport_size(PHONE)
    for name in ("a-long-name.btor", "another-long-name.btor"):
        visit.served.ask("add", name=name, data="")
        page.wait_for_selector(f"#tabs :text('{name}')")
    done(visit)
    box = page.locator("#tabs [aria-selected=true]").bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= PHONE["width"]


def test_on_a_phone_bar_and_tools_take_two_rows(visit: Visit) -> None:
    visit.start()
    visit.page.set_viewport_size(PHONE)
    visit.open("graph.btor")
    assert len(tops(visit, ".bar > :visible:not(.grow, #connection)")) <= 2
    assert len(tops(visit, "#tools > :visible:not(.grow, #found)")) <= 2
    kind = visit.page.locator("#kind")
    for value in ("test", "regressed"):  # the longest of its words
        kind.select_option(value)
        box = kind.bounding_box()
        assert box is not None
        assert box["x"] + box["width"] <= PHONE["width"]


def test_the_bar_keeps_its_height_and_a_tab_has_its_own_close(visit: Visit) -> None:
    page = visit.start()
    visit.open("graph.btor")
    for width in (PHONE["width"], 700):  # a phone, and a desktop at 200 %
        page.set_viewport_size({"width": width, "height": 844})
        heights = [page.locator(".bar").bounding_box()]
        page.evaluate("document.querySelector('#connection').textContent = 'working… 33 s'")
        heights.append(page.locator(".bar").bounding_box())
        page.evaluate("document.querySelector('#connection').textContent = ''")
        assert heights[0] == heights[1]
    tab = page.locator("#tabs [aria-selected=true]")
    expect(tab.locator("#close")).to_be_visible()
    tab.press("Delete")
    expect(page.locator("#tabs [role=tab]")).to_have_count(0)


SIZES = """() => [...new Set([...document.querySelectorAll("body *")]
  .filter(each => each.checkVisibility() && [...each.childNodes].some(
    child => child.nodeType === 3 && child.textContent.trim()))
  .map(each => parseFloat(getComputedStyle(each).fontSize)))]"""


def test_there_are_six_sizes_of_type_and_four_colours_of_text(visit: Visit) -> None:
    page = visit.start()
    expect(page.locator("#empty")).to_be_visible()
    sizes = set(page.evaluate(SIZES))
    done(visit, "adaptive", "hdd")
    sizes |= set(page.evaluate(SIZES))
    page.click("#help")
    sizes |= set(page.evaluate(SIZES))
    assert sizes == {12, 13, 14, 18, 28, 44}
    page.keyboard.press("Escape")
    (visit.served.folder / "a.smt2").write_text("; why\n(assert (= x 17))\n")
    visit.open("a.smt2")
    line = page.locator("#text .line")
    expect(line.first.locator(".other")).to_have_text("; why")
    expect(line.nth(1).locator(".inner")).to_have_text(["assert", "="])
    expect(line.nth(1).locator(".constant")).to_have_text("17")
    inked = "each => getComputedStyle(each).color"
    colours = [page.locator(f"#text .{each}").first.evaluate(inked)
               for each in ("other", "inner", "constant", "line")]  # fmt: skip
    assert len(set(colours)) == 4


def test_on_a_phone_the_curve_has_the_width_of_the_page(visit: Visit) -> None:
    page = visit.start()
    visit.page.set_viewport_size(PHONE)
    done(visit, "adaptive", "hdd")
    box = page.locator("svg.curve").bounding_box()
    assert box is not None
    assert box["width"] > 0.85 * PHONE["width"]
    assert box["x"] + box["width"] <= PHONE["width"]
    plot = "document.querySelector('svg.curve .series').getBoundingClientRect().width"
    assert page.evaluate(plot) > 0.4 * PHONE["width"]


def test_on_a_phone_other_runs_come_last(visit: Visit) -> None:
    page = visit.start()
    visit.page.set_viewport_size(PHONE)
    done(visit, "adaptive", "ddmin", "hdd")
    places = [
        page.evaluate(f"document.querySelector('{each}').getBoundingClientRect().top")
        for each in (".run.shown", "svg.curve", "#text", ".run:not(.shown)")
    ]
    assert places == sorted(places)


@pytest.mark.parametrize("height", [PHONE["height"], 600])
def test_on_a_phone_the_buttons_of_a_dialog_are_in_view(visit: Visit, height: int) -> None:
    page = visit.start()
    visit.page.set_viewport_size(ViewportSize(width=PHONE["width"], height=height))
    page.click("#empty-generate")
    for each in page.locator("dialog .end button").all():
        box = each.bounding_box()
        assert box is not None
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= height
    assert page.locator("dialog .end button").count() >= 2


def test_on_a_phone_nothing_of_the_report_is_cut(browser: Browser, served: Serving) -> None:
    path = report_of(served)
    visit = Visit(browser, served, viewport=PHONE)
    page = visit.start(path.as_uri())
    for details in page.locator("details").all():
        details.evaluate("each => { each.open = true; }")
    # What is wider than the page can be scrolled in its own box.
    cut = page.evaluate(
        """() => [...document.querySelectorAll("table, figure, pre")].filter(each => {
            const box = each.getBoundingClientRect();
            if (box.right <= innerWidth + 1) return false;
            for (let at = each; at; at = at.parentElement)
                if (["auto", "scroll"].includes(getComputedStyle(at).overflowX)) return false;
            return true;
        }).map(each => each.outerHTML.slice(0, 80))"""
    )
    assert cut == []
    assert page.locator("table").count() >= 2
    visit.context.close()


def test_a_name_in_a_choice_is_not_cut(visit: Visit) -> None:
    page = visit.start()
    page.click("#empty-generate")
    wide: Any = page.evaluate(
        """() => {
            const select = document.querySelector("dialog select[data-name=format]");
            const brush = document.createElement("canvas").getContext("2d");
            brush.font = getComputedStyle(select).font;
            const words = brush.measureText(select.selectedOptions[0].textContent).width;
            return [words, select.clientWidth];
        }"""
    )
    assert wide[0] + 30 < wide[1]  # and an arrow


def test_the_first_page_has_no_form_before_there_is_a_text(visit: Visit) -> None:
    visit.served.ask("close", document=visit.served.ask("example")["document"]["number"])
    page = visit.start()
    expect(page.locator("#empty")).to_be_visible()
    expect(page.locator("#empty .formats")).to_contain_text(re.compile("AIGER.*CNF.*any text"))
    visit.served.ask("add", name="late.btor", data="")  # the news have come
    page.wait_for_selector("#tabs :text('late.btor')")
    page.click("#close")
    expect(page.locator("#empty")).to_be_visible()
    expect(page.locator("#empty")).not_to_contain_text("seconds")  # which depend on the machine
    expect(page.locator("#form")).not_to_be_visible()
    visit.served.ask("add", name="later.btor", data="MSB2YXIgMQo=")  # as another page does
    expect(page.locator("#tabs [aria-selected=true]")).to_have_text("later.btor")
    expect(page.locator("#text")).to_contain_text("1 var 1")


def test_one_step_is_no_steps(visit: Visit) -> None:
    visit.start()
    done(visit, "hdd")
    expect(visit.page.locator(".run .facts").first).to_contain_text(" · 1 step · ")


def test_a_paused_run_does_not_run(visit: Visit) -> None:
    page = visit.start()
    visit.open("graph.btor")
    visit.fails(f"{visit.served.folder}/slow.sh {{}}")
    page.click("#start")
    page.click(".run button:has-text('Pause')")
    expect(page.locator(".run .pill")).to_have_text("Paused")
    page.click(".run button:has-text('Stop')")
    expect(page.locator(".run[data-status=stopped]")).to_have_count(1)


def test_a_running_run_beats_without_an_animation(visit: Visit) -> None:
    """A browser that animates takes a tenth of a core from the checks."""
    page = visit.start()
    visit.open("graph.btor")
    visit.fails(f"{visit.served.folder}/slow.sh {{}}")
    page.click("#start")
    pill = page.locator(".run[data-status=running] .pill")
    expect(pill).to_be_visible()
    for seen in ("none", re.compile("3px")):
        expect(pill).to_have_css("box-shadow", seen)
    endless = "document.getAnimations().filter((e) => e.effect.getTiming().iterations > 9).length"
    assert page.evaluate(endless) == 0
    page.click(".run button:has-text('Stop')")


def test_a_run_that_starts_is_in_view(visit: Visit) -> None:
    """Also in a window so low that the graph has no room, where nothing may be drawn."""
    page = visit.start()
    visit.page.set_viewport_size({"width": 1400, "height": 500})
    done(visit, "adaptive", "ddmin", "hdd", "halving")
    page.evaluate("document.querySelector('.side').scrollTop = 10000")
    visit.fails(f"{visit.served.folder}/slow.sh {{}}")
    page.click("#start")
    card = page.locator(".run.shown[data-status=running]")
    expect(card).to_be_in_viewport(ratio=0.5)
    page.locator(".run button:has-text('Stop')").first.click()


def test_without_a_server_nothing_is_offered_and_nothing_live(
    browser: Browser, served: Serving
) -> None:
    (served.folder / "graph.btor").write_text(GRAPH)
    hangs = served.folder / "hangs.sh"
    hangs.write_text("#!/bin/sh\nsleep 100\n")
    hangs.chmod(0o755)
    visit = Visit(browser, served, viewport={"width": 1400, "height": 500})
    page = visit.start()
    done(visit)
    visit.fails(f"{hangs} {{}}")
    page.click("#start")
    page.wait_for_selector(".run[data-status=running]")
    expect(page.locator("#tabs")).to_contain_text("adaptive (live)")
    served.server.stop()
    expect(page.locator("#lost")).to_be_visible()
    expect(page.locator("#tabs [aria-selected=true]")).to_have_text("graph.btor · adaptive (lost)")
    expect(page.locator("#facts")).not_to_contain_text("updating")
    expect(page.locator(".runs button:enabled")).to_have_count(0)
    assert visit.complaints() == []  # such as a pane that scrolls, but not by keys
    visit.context.close()


def test_a_bug_found_has_no_empty_column(visit: Visit) -> None:
    program = visit.served.folder / "fails.sh"
    program.write_text('#!/bin/sh\ngrep -q " and " "$1" && kill -11 $$\nexit 0\n')
    program.chmod(0o755)
    page = visit.start()
    page.click("#empty-hunt")
    page.fill("dialog textarea", f"{program} {{}}")
    page.fill("dialog [placeholder='until stopped']", "8")
    page.click("dialog summary")
    page.fill("dialog [data-option=nodes]", "40")
    page.click("dialog button:has-text('Search')")
    expect(page.locator("#pane-bugs tbody tr")).to_have_count(1)
    expect(page.locator("#pane-bugs button:has-text('Open reduced')")).to_be_visible()
    cells = page.locator("#pane-bugs tbody td").all_inner_texts()
    assert all(cells)
    assert len(cells) == page.locator("#pane-bugs th").count()
