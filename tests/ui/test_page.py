"""The page in a real Chromium, used as people use it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.ui.browser import SECONDS, Visit, chromium
from tests.ui.serving import Serving

pytestmark = [pytest.mark.debian("chromium"), pytest.mark.slow]
expect.set_options(timeout=SECONDS * 1000)

VARIABLES = "".join(f"{n} var 1\n" for n in range(1, 30))
GRAPH = VARIABLES + "30 and 1 1 -2\n31 and 1 30 3\n32 sext 2 31 1\n33 redor 1 32\n34 root 1 33\n"
SCRIPT = """(set-logic QF_BV)
(declare-const x (_ BitVec 8))
(declare-const y (_ BitVec 8))
(assert (let ((s (bvadd x y))) (= (bvmul s s) (bvudiv s #x03))))
(assert (= x y))
(check-sat)
"""
TRACE = "init\nadd 1\nadd 2\nadd 0\nsat\nreturn 10\nderef 1\nreturn 1\nadd -1\nadd 0\nrelease\n"
SLOW = """#!/bin/sh
echo >> $0.log
test $(wc -l < $0.log) -lt 10 || sleep 1
sleep 0.15
grep -q sext "$1"
"""
"""A test that is slow in the end: a run goes on until it is stopped, on a loaded machine, too."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


@pytest.fixture
def visit(browser: Browser, served: Serving) -> Iterator[Visit]:
    (served.folder / "graph.btor").write_text(GRAPH)
    (served.folder / "script.smt2").write_text(SCRIPT)
    (served.folder / "calls.trace").write_text(TRACE)
    slow = served.folder / "slow.sh"
    slow.write_text(SLOW)
    slow.chmod(0o755)
    found = Visit(browser, served)
    yield found
    found.end()


def test_open_look_and_select(visit: Visit) -> None:
    page = visit.start()
    visit.open("graph.btor")
    visit.drawn(34)
    assert visit.served.server.token not in page.url
    expect(page.locator("#facts")).to_have_text(f"btor · {len(GRAPH)} bytes · 34 lines")
    page.locator(".node", has_text="32 sext").click()
    expect(page.locator("#text mark")).to_have_text("32 sext 2 31 1")
    page.locator("#graph svg").first.press("ArrowDown")
    expect(page.locator(".node.selected")).to_have_text("31 and")
    expect(page.locator("#text mark")).to_have_text("31 and 1 30 3")
    page.locator(".line", has_text="33 redor").click(position={"x": 90, "y": 10})
    expect(page.locator(".node.selected")).to_have_text("33 redor")
    page.locator(".node", has_text="32 sext").hover()
    tip = page.locator("#graph > .tip")
    expect(tip).to_contain_text("width 2")
    expect(tip).to_contain_text("line 32")
    assert page.locator(".edge.complement").count() == 1
    visit.open("graph.btor")  # as long as it has not changed, that is the same text
    expect(page.locator("#tabs [role=tab]")).to_have_count(1)
    (visit.served.folder / "graph.btor").write_text("1 var 8\n")
    visit.open("graph.btor")
    expect(page.locator("#tabs [role=tab]")).to_have_count(2)


def test_terms_share_what_is_bound(visit: Visit) -> None:
    page = visit.start()
    visit.open("script.smt2")
    visit.drawn()
    assert page.locator(".node", has_text="bvadd").count() == 1
    page.locator(".line", has_text="bvmul").click(position={"x": 60 + 8 * 60, "y": 10})
    assert page.locator("#text mark").inner_text() != ""
    page.locator(".node", has_text="bvadd").click()
    expect(page.locator("#text mark")).to_have_text("(bvadd x y)")
    assert page.locator(".edge.near").count() == 5  # two operands, three uses


def test_a_trace_is_a_line_of_time_with_states(visit: Visit) -> None:
    page = visit.start()
    visit.open("calls.trace")
    page.wait_for_selector(".timeline .chart[data-nodes]")
    expect(page.locator(".timeline .small")).to_contain_text("call 1 of 9: init")
    page.locator(".line", has_text="deref").click(position={"x": 90, "y": 10})
    expect(page.locator(".timeline .small")).to_contain_text("call 6 of 9: deref 1")
    assert page.locator(".node.now").count() == 1
    page.locator(".timeline input").press("End")
    expect(page.locator("#text mark")).to_have_text("release")


def test_run_the_command_and_see_its_console(visit: Visit) -> None:
    page = visit.start()
    visit.open("graph.btor")
    visit.fails("grep -c var {}", "fails")
    page.click("#run")
    expect(page.locator("#pane-console")).to_contain_text("29")
    expect(page.locator("#pane-console")).to_contain_text("exit status 0")


def test_reduce_see_it_shrink_step_back_and_go_on(visit: Visit) -> None:
    page = visit.start()
    visit.reduced()
    visit.drawn(3)
    expect(page.locator("#text")).to_contain_text("2 sext 1 1 0")
    expect(page.locator(".run .size")).to_have_text("32")
    expect(page.locator(".curve .series")).to_have_count(1)
    first = page.locator("#steps tr[data-step='1']")
    first.click()
    expect(page.locator("#steps pre .minus").first).to_be_visible()
    page.fill("[aria-label='Compare with step']", "3")
    page.press("[aria-label='Compare with step']", "Enter")
    expect(page.locator("#steps pre .plus").first).to_be_visible()
    page.click("text=Go on from here")
    expect(page.locator(".run[data-status=done]")).to_have_count(2)
    expect(page.locator("#tabs")).to_contain_text("graph@adaptive-1.btor")


def test_a_click_on_the_curve_goes_to_the_step(visit: Visit) -> None:
    page = visit.start()
    visit.reduced()
    expect(page.locator("#result[data-what=result]")).to_be_visible()  # as is the whole curve
    curve = page.locator("svg.curve")
    box = curve.bounding_box()
    assert box is not None
    steps = visit.served.api.runs.get(1).points
    checks, _, size = steps[1]
    most = max(visit.served.api.runs.get(1).state["checks"], steps[-1][0])
    left, right = 58, 12  # the margins of the curve
    at = left + (box["width"] - left - right) * (checks + 0.5) / most
    curve.hover(position={"x": at, "y": 30})
    expect(page.locator(".curve-box .tip")).to_have_text(
        re.compile(rf"^adaptive: {size} bytes after {checks} checks?, ")
    )
    curve.click(position={"x": at, "y": 30})
    chosen = page.locator("#steps tr[aria-selected=true]")
    expect(chosen.locator("td").nth(1)).to_have_text(str(size))
    expect(page.locator("#text")).to_contain_text("sext")
    assert page.evaluate("location.hash").endswith(f"step={chosen.get_attribute('data-step')}")


def test_stop_pause_and_resume(visit: Visit) -> None:
    page = visit.start()
    visit.open("graph.btor")
    visit.fails(f"{visit.served.folder}/slow.sh {{}}")
    visit.algorithms("ddmin")
    page.click("#start")
    page.click(".run button:has-text('Pause')")
    expect(page.locator(".run[data-status=paused]")).to_be_visible()
    tab = visit.context.new_page()  # a new tab shows the run that goes on
    tab.goto(visit.served.server.url)
    expect(tab.locator("#tabs [aria-selected=true]")).to_have_text("graph.btor · ddmin (live)")
    tab.close()
    page.click(".run button:has-text('Resume')")
    expect(page.locator(".run[data-status=running]")).to_be_visible()
    visit.served.wait(
        lambda: visit.served.api.runs.get(1).state.get("size", len(GRAPH)) < len(GRAPH)
    )
    page.click(".run button:has-text('Stop')")
    expect(page.locator(".run[data-status=stopped]")).to_be_visible()
    page.click(".run button:has-text('Open result')")
    expect(page.locator("#tabs [aria-selected=true]")).to_have_text(re.compile("graph@ddmin-"))
    assert b"sext" in visit.served.api.documents.all()[-1].text


def test_algorithms_race(visit: Visit, tmp_path: Path) -> None:
    page = visit.start()
    visit.open("graph.btor")
    visit.fails("grep -q sext {}")
    visit.algorithms("adaptive", "ddmin", "hdd")
    expect(page.locator("#start")).to_have_text("Race 3 algorithms")
    page.click("#start")
    expect(page.locator(".run[data-status=done]")).to_have_count(3)
    expect(page.locator(".curve .series")).to_have_count(3)
    page.click(".run .name:has-text('hdd')")
    expect(page.locator("#facts")).to_contain_text("hdd")
    with page.expect_download() as download:
        page.click(".run:has-text('hdd') button:has-text('Report')")
    assert download.value.suggested_filename == "graph-1.hdd.html"
    target = tmp_path / "report.html"
    download.value.save_as(target)
    assert target.read_text().startswith("<!DOCTYPE html>")


def test_generate_with_settings(visit: Visit) -> None:
    page = visit.start()
    page.click("#empty-generate")
    for name, value in (("nodes", "25"), ("variables", "3"), ("max_width", "2")):
        page.fill(f"dialog [data-option={name}]", value)
    page.fill("dialog [data-name=seed]", "7")
    page.click("dialog button:has-text('Generate')")
    expect(page.locator("#tabs")).to_contain_text("seed-7.btor")
    visit.drawn()
    assert len(visit.served.ask("text", document=1)["text"].splitlines()) <= 30
    page.click("#generate")  # the next seed, the same settings
    assert page.input_value("dialog [data-name=seed]") == "8"
    assert page.input_value("dialog [data-option=nodes]") == "25"
    page.fill("dialog [data-option=nodes]", "many")
    page.click("dialog button:has-text('Generate')")
    expect(page.locator("dialog .problem")).to_contain_text("is no whole number")


def test_presets_and_words_on_each_setting(visit: Visit) -> None:
    page = visit.start()
    page.click("#generate")
    page.fill("dialog [data-option=nodes]", "25")
    page.check("dialog [data-option=aig]")
    page.click("dialog .presets >> text=for model checkers")
    assert page.input_value("dialog [data-option=nodes]") == "300"
    assert page.is_checked("dialog [data-option=system]")
    assert not page.is_checked("dialog [data-option=aig]")
    page.focus("dialog [data-option=depth]")
    expect(page.locator("dialog .hint")).to_have_text("Depth at which merging starts.")
    page.click("dialog .presets >> text=as usual")
    assert page.input_value("dialog [data-option=nodes]") == "9999"
    assert not page.is_checked("dialog [data-option=system]")
    page.select_option("dialog [data-name=format]", "smt2")
    page.click("dialog .presets >> text=strings")
    page.click("dialog button:has-text('Generate')")
    expect(page.locator("#tabs")).to_contain_text(".smt2")
    assert "(set-logic QF_SLIA)" in visit.served.ask("text", document=1)["text"]


def test_bug_search_with_its_buckets(visit: Visit) -> None:
    solver = visit.served.folder / "solver.sh"
    solver.write_text('#!/bin/sh\ngrep -q " and " "$1" && kill -11 $$\nexit 0\n')
    solver.chmod(0o755)
    page = visit.start()
    page.click("#hunt")
    page.fill("dialog textarea", f"{solver} {{}}")
    page.fill("dialog [placeholder='until stopped']", "8")
    page.click("dialog summary")
    page.fill("dialog [data-option=nodes]", "40")
    page.click("dialog button:has-text('Search')")
    expect(page.locator(".run[data-status=done]")).to_be_visible()
    expect(page.locator("#pane-bugs tbody tr")).to_have_count(1)
    expect(page.locator("#pane-bugs tbody")).to_contain_text("SIGSEGV")
    page.click("#pane-bugs >> text=Open reduced")
    expect(page.locator("#text")).to_contain_text("and")


def test_save_and_options_that_stay(visit: Visit) -> None:
    page = visit.start()
    visit.open("graph.btor")
    visit.fails("grep -q sext {}")
    page.keyboard.press("Tab")
    page.click("#save")
    page.fill("dialog [aria-label=Name]", "copy.btor")
    page.click("dialog button:has-text('Save')")
    expect(page.locator("dialog")).not_to_be_visible()
    assert (visit.served.folder / "copy.btor").read_text() == GRAPH
    visit.served.wait(
        lambda: "grep -q sext" in (
            visit.served.api.settings.path.read_text()
            if visit.served.api.settings.path.exists() else ""
        )
    )  # fmt: skip
    page.reload()
    expect(page.locator("#command")).to_have_value("grep -q sext {}")
    expect(page.locator("#tabs")).to_contain_text("graph.btor")


def test_a_run_without_a_result_says_so_when_it_is_saved(visit: Visit) -> None:
    page = visit.start()
    visit.open("graph.btor")
    visit.fails("no-such-solver {}")
    page.click("#start")
    expect(page.locator(".run[data-status=failed]")).to_be_visible()
    page.click("#save")
    expect(page.locator("#notes")).to_contain_text("this run has no result to save")
    page.click(".run button:has-text('Remove')")
    expect(page.locator(".run")).to_have_count(0)


def test_the_programs_of_a_bug_search_have_the_width_of_the_dialog(visit: Visit) -> None:
    page = visit.start()
    page.click("#hunt")
    sizes = page.evaluate(
        """() => {
          const form = document.querySelector("dialog form").getBoundingClientRect();
          const area = document.querySelector("dialog textarea");
          const box = area.getBoundingClientRect();
          return [box.width / form.width, box.top - area.parentElement.getBoundingClientRect().top,
                  area.scrollHeight - area.clientHeight];
        }"""
    )
    assert sizes[0] > 0.9
    assert sizes[1] > 12  # its label is above it
    assert sizes[2] <= 0  # and all of its hint is seen


def test_a_text_opens_at_its_beginning(visit: Visit) -> None:
    for name in ("long", "other"):
        lines = "".join(f"(declare-const {name}{n} Bool)\n" for n in range(3000))
        (visit.served.folder / f"{name}.smt2").write_text(lines + "(check-sat)\n")
    page = visit.start()
    visit.open("long.smt2")
    expect(page.locator("#text")).to_contain_text("long0 ")
    page.locator("#text").focus()
    page.keyboard.press("End")
    expect(page.locator("#text")).to_contain_text("long2999")
    visit.open("other.smt2")
    expect(page.locator("#text")).to_contain_text("other0 ")


def test_the_curve_and_the_console_are_of_what_is_shown(visit: Visit) -> None:
    page = visit.start()
    visit.open("graph.btor")
    curves = page.locator(".curve .series")
    for count, command in enumerate(("grep -q sext {}", "grep -q redor {}"), 1):
        visit.fails(command)
        page.click("#start")
        expect(page.locator(".run[data-status=done]")).to_have_count(count)
        expect(curves).to_have_count(1)  # the other one is of another failure
    page.click("#tab-console")
    visit.fails("grep -c var {}", "fails")
    page.click("#run")
    expect(page.locator("#pane-console")).to_contain_text("29")
    visit.open("calls.trace")
    expect(page.locator("#pane-console")).not_to_contain_text("29")
    page.click("#tab-progress")
    expect(curves).to_have_count(0)


def test_another_text_has_its_curve_before_any_news(visit: Visit) -> None:
    visit.page.clock.install()
    page = visit.start()
    visit.open("calls.trace")
    visit.reduced()
    page.click("#tab-progress")
    expect(page.locator(".curve .series")).to_have_count(1)
    page.clock.pause_at(page.evaluate("Date.now()") + 1000)
    page.click("#tabs [role=tab]:has-text('calls.trace')")
    expect(page.locator("#facts")).to_have_text(f"trace · {len(TRACE)} bytes · 11 lines")
    page.clock.run_for(500)
    # The next news is seconds away, as is the next attempt of `expect`.
    assert page.locator(".curve .series").count() == 0


def test_a_difference_is_not_made_longer_by_what_it_leaves_out(visit: Visit) -> None:
    names = ["a" * 150, "b" * 500]  # a line of 171 characters, and one of 521
    lines = "".join(f"(declare-const {each} Bool)\n" for each in [*names, "keep"])
    (visit.served.folder / "long.smt2").write_text(lines)
    page = visit.start()
    visit.open("long.smt2")
    visit.fails("grep -q keep {}")
    page.click("#start")
    page.wait_for_selector(".run[data-status=done]")
    page.click("#steps tr[data-step='0']", modifiers=["Shift"])
    removed = page.locator("#steps pre .minus")
    expect(removed).to_contain_text([names[0], "b [361 more characters] b"])


def test_errors_are_said_where_they_arise(visit: Visit) -> None:
    page = visit.start()
    visit.open("graph.btor")
    page.click("#start")
    expect(page.locator("#problem")).to_contain_text("Type its command")
    page.fill("#command", "no-such-solver {}")
    page.click("#start")
    expect(page.locator(".run .problem")).to_contain_text("no-such-solver")
    (visit.served.folder / "broken.smt2").write_text("(assert")
    visit.open("broken.smt2")
    visit.fails("grep -q assert {}")
    page.click("#start")
    expect(page.locator(".run .problem").first).to_contain_text(
        "“reduce by lines what does not parse”"
    )


def test_a_step_that_is_lost_is_told(visit: Visit) -> None:
    page = visit.start()
    visit.reduced()
    page.click("#steps tr[data-step='1']")
    for journal in visit.served.folder.rglob("*.journal"):
        journal.unlink()
    for words in ("Open", "Go on from here"):
        page.click(f"#steps button:text-is('{words}')")
        expect(
            page.locator("#notes > div", has_text="there is no history yet").last
        ).to_be_visible()


def test_no_sign_needs_a_font_for_emoji(visit: Visit) -> None:
    (visit.served.folder / "a folder").mkdir()
    page = visit.start()
    visit.open("graph.btor")
    page.click("#open")
    expect(page.locator("dialog .files")).to_contain_text("a folder")
    assert page.evaluate(r"document.body.innerText.match(/\p{Emoji_Presentation}/u)") is None


def test_a_step_is_chosen_by_keys(visit: Visit) -> None:
    page = visit.start()
    visit.reduced()
    rows = page.locator("#steps tbody tr")
    last = visit.served.ask("history", run=1)["current"]
    expect(rows.first).to_have_attribute("data-step", str(last))  # the list may come late
    page.focus(".axis input")
    page.keyboard.press("Tab")  # to what scrolls, and into it
    page.keyboard.press("Tab")
    expect(page.locator("#steps tr:focus")).to_have_attribute("data-step", str(last))
    page.keyboard.press("ArrowDown")
    before = page.locator("#steps tr:focus")
    expect(before).to_have_attribute("data-step", str(last - 1))
    expect(before).to_have_attribute("aria-selected", "true")


def test_the_way_to_reduce_by_keys_is_short(visit: Visit) -> None:
    page = visit.start()
    visit.open("graph.btor")
    page.focus("#open")
    for _ in range(9):
        page.keyboard.press("Tab")
    expect(page.locator("#start")).to_be_focused()


@pytest.mark.parametrize(
    ("width", "scheme"), [(1280, "light"), pytest.param(390, "dark", marks=pytest.mark.nightly)]
)
def test_everybody_can_use_it(browser: Browser, served: Serving, scheme: str, width: int) -> None:
    (served.folder / "graph.btor").write_text(GRAPH)
    visit = Visit(browser, served, color_scheme=scheme, viewport={"width": width, "height": 800})
    page = visit.start()
    page.wait_for_selector("#open:not(:disabled)")
    assert visit.complaints() == []
    visit.open("graph.btor")
    done, slow = served.folder / "done", served.folder / "slow.sh"
    slow.write_text(f'#!/bin/sh\ntest -e {done} || sleep 1\ngrep -q sext "$1"\n')
    slow.chmod(0o755)
    visit.fails(f"{slow} {{}}")
    page.click("summary")
    assert visit.complaints() == []
    page.click("#start")
    page.wait_for_selector(".run[data-status=running]")
    assert visit.complaints() == []
    done.touch()
    page.wait_for_selector(".run[data-status=done]")
    visit.drawn(3)
    assert visit.complaints() == []
    page.wait_for_selector("#steps tr[data-step='1']")
    assert visit.complaints() == []
    for button in ("#generate", "#hunt", "#open", "#help"):
        page.click(button)
        page.wait_for_selector("dialog[open]")
        assert visit.complaints() == []
        page.keyboard.press("Escape")
    overflow = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert overflow <= 0
    visit.end()


def test_keys_alone_reduce_a_file(visit: Visit) -> None:
    page = visit.start()
    page.wait_for_selector("#open:not(:disabled)")
    page.keyboard.press("o")
    page.wait_for_selector("dialog .files button")
    for _ in range(20):
        focused = page.evaluate("document.activeElement.closest('button')?.textContent ?? ''")
        if "graph.btor" in focused:
            break
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_selector("#dialog", state="hidden")  # behind it nothing takes the focus
    page.focus("#kind")
    # By arrows: what is typed is put together only if one key follows another soon enough.
    for _ in range(20):
        if "a test" in page.evaluate("document.activeElement.selectedOptions[0].textContent"):
            break
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Tab")
    page.keyboard.type("grep -q sext {}")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".run[data-status=done]")).to_have_count(1)


def test_of_a_large_graph_all_is_shown_or_a_neighbourhood(visit: Visit) -> None:
    lines = ["1 var 8"] + [f"{n} add 8 {n - 1} {max(1, n // 2)}" for n in range(2, 20_000)]
    text = "\n".join([*lines, "20000 redor 1 19999", "20001 root 1 20000", ""])
    (visit.served.folder / "large.btor").write_text(text)
    page = visit.start()
    visit.open("large.btor")
    visit.drawn()
    expect(page.locator(".hint")).to_contain_text("20,001 nodes, a tile each")
    assert page.locator(".line").count() < 100
    page.fill("#find", "7000 add")
    page.press("#find", "Enter")
    expect(page.locator(".node.selected")).to_have_text("7000 add")
    expect(page.locator(".hint")).to_contain_text("40 of 20,001 nodes")
    page.locator(".node.cone").first.dispatch_event("click")
    expect(page.locator(".node.selected")).not_to_have_text("7000 add")
    page.press("#find", "Enter")
    page.press("#find", "Shift+Enter")
    expect(page.locator(".node.selected")).to_have_text("7000 add")
    expect(page.locator("#text mark")).to_have_text("7000 add")


EVIL = "<img src=x onerror=alert(1)>"


def test_nothing_that_is_shown_is_markup(visit: Visit) -> None:
    folder = visit.served.folder
    script = f'(declare-const |{EVIL}| Bool)\n(assert |{EVIL}|)\n(echo "{EVIL}\u202e")\n'
    (folder / f"{EVIL.replace('/', '')}.smt2").write_text(script)
    solver = folder / "solver.sh"
    solver.write_text(f"#!/bin/sh\necho '{EVIL}<script>alert(1)</script>'\nexit 3\n")
    solver.chmod(0o755)
    page = visit.start()
    visit.page.on("dialog", lambda dialog: visit.errors.append(dialog.message))
    visit.open("onerror")
    visit.drawn()
    page.locator(".node").first.hover()
    visit.fails(f"{solver} {{}}", "fails")
    page.click("#run")
    expect(page.locator("#pane-console")).to_contain_text("<script>alert(1)</script>")
    page.fill("#command", f"grep -q '{EVIL}' {{}}")
    page.select_option("#kind", "test")
    page.click("#start")
    page.wait_for_selector(".run[data-status=done]")
    page.wait_for_selector("#steps tr[data-step='1']")
    assert (
        page.locator("img:not([src='melt.svg']), script:not([src='main.js']), iframe").count() == 0
    )
    assert "\u202e" not in page.inner_text("body")


def test_without_the_token_nothing_is_shown(visit: Visit) -> None:
    page = visit.start(visit.origin + "/")
    expect(page.locator("#locked")).to_contain_text("the token is missing")
    assert visit.complaints() == []
    for hidden in ("#form", "#page"):
        expect(page.locator(hidden)).not_to_be_visible()
    page.goto("about:blank")
    page.goto(visit.origin + "/#wrong")
    expect(page.locator("#locked")).to_contain_text("the token is missing")


def test_another_page_cannot_use_the_server(browser: Browser, served: Serving) -> None:
    """A page of another origin can neither read an answer nor make the server do anything."""
    (served.folder / "graph.btor").write_text(GRAPH)
    visit = Visit(browser, served)
    page = visit.page
    page.route("http://evil.example/**", lambda route: route.fulfill(
        body="<title>evil</title>", content_type="text/html"))  # fmt: skip
    page.goto("http://evil.example/")
    body = {"method": "POST", "body": '{"path": "graph.btor"}'}
    own = {"Content-Type": "application/json", "X-Reducekit-Token": served.server.token}
    tries = [
        ["/api/open", body],
        ["/api/open", {**body, "mode": "no-cors"}],
        ["/api/open", {**body, "headers": own}],
        ["/main.js", {}],
    ]
    said = page.evaluate(
        """async ([origin, tries]) => {
            const found = [];
            for (const [path, options] of tries) {
              try {
                const reply = await fetch(origin + path, options);
                found.push(reply.type + (await reply.text()).length);
              } catch {
                found.push("failed");
              }
            }
            return found;
        }""",
        [visit.origin, tries],
    )
    assert said == ["failed"] * 4
    assert served.api.documents.all() == []
    framed = page.evaluate(
        """(origin) => new Promise((resolve) => {
            const frame = document.createElement("iframe");
            frame.src = origin;
            frame.onload = () => {
              try { resolve(frame.contentDocument ? "readable" : "closed"); }
              catch { resolve("closed"); }
            };
            document.body.append(frame);
        })""",
        visit.origin,
    )
    assert framed == "closed"
    visit.context.close()


def report_of(served: Serving) -> Path:
    """Reduce a graph; return the file of its report."""
    (served.folder / "graph.btor").write_text(GRAPH)
    document = served.ask("open", path="graph.btor")["number"]
    run = served.ask(
        "reduce", document=document, strategies=["adaptive"], options={"oracle": "grep -q sext {}"}
    )["runs"][0]
    served.finished(run)
    path = served.folder / "report.html"
    path.write_text(served.ask("report", run=run, text="page")["text"])
    return path


def test_the_report_is_readable_without_scripts(browser: Browser, served: Serving) -> None:
    path = report_of(served)
    for scheme, width in (("light", 1280), ("dark", 390)):
        window = {"width": width, "height": 800}
        visit = Visit(browser, served, color_scheme=scheme, viewport=window)
        visit.start(path.as_uri())
        assert visit.complaints() == []
        assert visit.errors == []
        assert all(url.startswith(("file:", "data:")) for url in visit.requests)
        visit.context.close()
    plain = Visit(browser, served, java_script_enabled=False)
    plain.start(path.as_uri())
    assert re.search(r"32\s*bytes after", plain.page.inner_text("body"))
    assert plain.page.locator("figure svg").count() == 5  # four curves and the film
    plain.context.close()
