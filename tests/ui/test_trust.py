"""What the page says is what is going on: live, in tabs, after a reload, without a server."""

from __future__ import annotations

import itertools
import re
import socket
import threading
from collections.abc import Iterator

import pytest
from playwright.sync_api import APIResponse, Browser, Route, expect

from reducekit.ui.documents import Document
from reducekit.ui.server import Handler
from tests.ui.browser import SECONDS, Visit, chromium
from tests.ui.serving import Serving
from tests.ui.test_page import GRAPH

pytestmark = [pytest.mark.debian("chromium"), pytest.mark.slow]
expect.set_options(timeout=SECONDS * 1000)
TEST = "grep -q sext {}"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


@pytest.fixture
def visit(browser: Browser, served: Serving) -> Iterator[Visit]:
    (served.folder / "graph.btor").write_text(GRAPH)
    for name, line in (("hangs.sh", "sleep 100"), ("slow.sh", 'sleep 0.2; grep -q sext "$1"')):
        path = served.folder / name
        path.write_text(f"#!/bin/sh\n{line}\n")
        path.chmod(0o755)
    found = Visit(browser, served)
    yield found
    found.end()


IN_VIEW = """() => {
  const pane = document.querySelector("#graph svg").getBoundingClientRect();
  return [...document.querySelectorAll("#graph .node")].filter((node) => {
    const box = node.getBoundingClientRect();
    return box.left >= pane.left - 1 && box.right <= pane.right + 1
      && box.top >= pane.top - 1 && box.bottom <= pane.bottom + 1;
  }).length;
}"""


@pytest.mark.parametrize("nodes", [120, 300])
def test_a_graph_is_in_its_pane(visit: Visit, nodes: int) -> None:
    found = visit.served.ask("generate", format="btor", seed=0, values={"nodes": nodes})
    page = visit.start()
    page.wait_for_selector(f"#tabs :text('{found['name']}')")
    visit.drawn()
    drawn = page.locator("#graph .node").count()
    assert 40 <= drawn < 110  # more of them cannot be read at once
    assert page.evaluate(IN_VIEW) >= 8
    page.click("#graph button:has-text('Fit')")
    assert page.evaluate(IN_VIEW) == drawn


def test_the_page_says_that_it_waits_for_the_server(visit: Visit) -> None:
    waiting: list[Route] = []
    visit.page.route("**/api/hello", lambda route: waiting.append(route))
    page = visit.start()
    expect(page.locator("main:visible p:visible")).to_have_text("Connecting to the server…")
    assert visit.complaints() == []
    visit.served.wait(lambda: page.title() and waiting)
    waiting[0].continue_()
    expect(page.locator("#empty")).to_be_visible()
    expect(page.locator("main:visible")).to_have_count(1)


def test_the_page_says_that_a_file_is_being_opened(visit: Visit) -> None:
    waiting: list[Route] = []
    page = visit.start()
    page.route("**/api/open", lambda route: waiting.append(route))
    page.click("#open")
    page.click("dialog .files button:has-text('graph.btor')")
    expect(page.locator("dialog [role=status]")).to_have_text("Opening graph.btor…")
    visit.served.wait(lambda: page.title() and waiting)
    waiting[0].continue_()
    expect(page.locator("dialog")).to_be_hidden()
    page.route("**/api/add", lambda route: route.fulfill(status=400, json={"error": "no room"}))
    page.click("#open")
    page.locator("dialog input[type=file]").set_input_files(
        {"name": "other.btor", "mimeType": "text/plain", "buffer": b"1 var 8\n"}
    )
    expect(page.locator("dialog .problem")).to_have_text("no room")
    expect(page.locator("dialog [role=status]")).to_be_empty()


def test_a_request_without_an_answer_is_mentioned(visit: Visit) -> None:
    waiting: list[Route] = []
    page = visit.start()
    visit.open("graph.btor")
    page.route("**/api/run", lambda route: waiting.append(route))
    visit.fails("grep -c var {}", "fails")
    page.click("#run")
    expect(page.locator("#connection")).to_contain_text("working… ")
    waiting[0].continue_()
    expect(page.locator("#pane-console")).to_contain_text("29")
    expect(page.locator("#connection")).to_be_empty()


def test_seven_tabs_share_one_connection(visit: Visit) -> None:
    page = visit.start()
    visit.open("graph.btor")
    address = visit.served.server.url
    others = [visit.context.new_page() for _ in range(6)]
    for each in others:
        each.goto(address)
    last = others[-1]
    last.wait_for_selector("#tabs [aria-selected=true]:has-text('graph.btor')")
    last.fill("#command", "grep -c var {}")
    last.click("#run")
    expect(last.locator("#pane-console")).to_contain_text("29")
    last.select_option("#kind", "test")
    last.fill("#command", TEST)
    last.click("#start")
    for each in (page, last):  # a run is seen in every tab
        expect(each.locator(".run[data-status=done]")).to_have_count(1)
    last.click("#close")
    last.click("#close")  # and so is a text that is closed
    for each in (page, last):
        expect(each.locator("#tabs")).not_to_contain_text("graph.btor")


@pytest.mark.nightly
def test_twenty_tabs_and_two_hundred_connections(visit: Visit) -> None:
    page = visit.start()
    visit.open("graph.btor")
    address = visit.served.server.url
    port = visit.served.server.server_address[1]
    idle = [socket.create_connection(("127.0.0.1", port)) for _ in range(200)]
    tabs = [visit.context.new_page() for _ in range(19)]
    for each in tabs:
        each.goto(address)
    for each in (page, tabs[9], tabs[-1]):
        each.bring_to_front()
        expect(each.locator("#tabs [aria-selected=true]")).to_have_text("graph.btor")
        each.fill("#command", "grep -c var {}")
        each.click("#run")
        expect(each.locator("#pane-console")).to_contain_text("29")
    for connection in idle:
        connection.close()


SEND = """async () => {
  const headers = {
    "Content-Type": "application/json",
    "X-Reducekit-Token": sessionStorage.getItem("token"),
  };
  const found = [];
  for (const [method, body] of [["POST", "[".repeat(200_000)], ["PUT", "{}"]]) {
    const answer = await fetch("/api/hello", { method, headers, body });
    found.push([answer.status, answer.headers.get("Content-Security-Policy")]);
  }
  return found;
}"""


def test_attacks_disturb_neither_page_nor_terminal(
    visit: Visit, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    page = visit.start()
    answers = page.evaluate(SEND)
    assert [status for status, _ in answers] == [400, 501]
    assert all("default-src 'none'" in policy for _, policy in answers)
    monkeypatch.setattr(Handler, "timeout", 10)
    before = threading.active_count()
    port = visit.served.server.server_port
    half_sent = [socket.create_connection(("127.0.0.1", port)) for _ in range(200)]
    for each in half_sent:
        each.sendall(b"POST /api/hello HTTP/1.1\r\nContent-Length: 9\r\n")
    visit.served.wait(lambda: threading.active_count() >= before + len(half_sent) / 2)
    visit.open("graph.btor")
    visit.drawn(34)
    # The page has connections of its own, six at most.
    visit.served.wait(lambda: threading.active_count() <= before + 6)
    for each in half_sent:
        each.close()
    assert capfd.readouterr().err == ""


def test_a_graph_that_takes_long_is_announced_and_one_too_large_leaves_its_room(
    visit: Visit,
) -> None:
    waiting: list[Route] = []
    page = visit.start()
    page.route("**/api/diagram", lambda route: waiting.append(route))
    visit.open("graph.btor")
    expect(page.locator("#graph")).to_contain_text(f"drawing {len(GRAPH)} bytes…")
    visit.served.wait(lambda: page.title() and waiting)
    waiting[0].continue_()
    visit.drawn(34)
    page.unroute("**/api/diagram")
    (visit.served.folder / "large.smt2").write_text("(assert true)\n" * 160_000)
    visit.open("large.smt2")
    expect(page.locator("#graph")).to_contain_text("drawn up to 2,097,152 bytes")
    text, both = (page.locator(each).bounding_box() for each in ("#text", "#views"))
    assert text is not None
    assert both is not None
    assert text["width"] > 0.7 * both["width"]


def test_thirty_megabytes_leave_the_page_alive(visit: Visit) -> None:
    lines = (f"(assert (= (bvadd x{n} #x00000001) #x{n:08x}))" for n in range(650_000))
    (visit.served.folder / "large.smt2").write_text("\n".join(["(set-logic QF_BV)", *lines, ""]))
    page = visit.start()
    visit.open("large.smt2")
    expect(page.locator("#facts")).to_contain_text("bytes · 650,001 lines")
    expect(page.locator("#text")).to_contain_text("(set-logic QF_BV)")
    visit.fails("grep -c x00000011 {}")
    page.click("#run")
    expect(page.locator("#pane-console")).to_contain_text("grep -c")
    page.fill("#find", "x0009eb0f")  # of a line near the end
    page.press("#find", "Enter")
    expect(page.locator("#text mark").first).to_have_text("x0009eb0f")


def test_a_text_opened_before_the_first_list_has_come_stays(visit: Visit) -> None:
    documents = visit.served.api.documents
    asked, go_on = threading.Event(), threading.Event()
    complete = documents.all
    calls = itertools.count()

    def late() -> list[Document]:
        found = complete()
        if next(calls) == 1:  # 0 is for the start of the page, 1 the first list of its news
            asked.set()
            go_on.wait(SECONDS)
        return found

    documents.all = late  # type: ignore[method-assign]
    page = visit.start()
    assert asked.wait(SECONDS)
    visit.open("graph.btor")
    go_on.set()
    # When a text of another tab is shown, the late list has been taken, and one after it.
    visit.served.ask("add", name="later.btor", data="")
    expect(page.locator("#tabs [role=tab]")).to_have_text(["graph.btor", "later.btor"])
    expect(page.locator("#tabs [aria-selected=true]")).to_have_text("graph.btor")
    expect(page.locator("#start")).to_be_enabled()


def test_the_text_of_a_run_that_is_over_is_its_result(visit: Visit) -> None:
    page = visit.start()
    visit.open("graph.btor")
    visit.fails(f"{visit.served.folder}/slow.sh {{}}")
    page.click("#start")
    expect(page.locator("#tabs")).to_contain_text("adaptive (live)")
    page.wait_for_selector(".run[data-status=done]")
    expect(page.locator("#tabs [aria-selected=true]")).to_have_text("graph.btor · adaptive")
    expect(page.locator("#facts")).to_have_text("graph.btor · adaptive · 32 bytes · 3 lines")
    expect(page.locator("#text")).to_contain_text("2 sext")
    assert page.title() == "32 B ✓ graph.btor · adaptive – reducekit"
    assert page.get_attribute("#icon", "href") == "icon-done.svg"
    expect(page.locator("#notes")).to_contain_text("graph.btor · adaptive: done, 322 → 32 bytes")


def test_a_text_that_took_long_to_come_is_soon_followed_by_the_next(visit: Visit) -> None:
    held: list[tuple[Route, APIResponse]] = []

    def hold_the_first(route: Route) -> None:
        if held:
            route.continue_()
        else:
            held.append((route, route.fetch()))

    page = visit.start()
    visit.open("graph.btor")
    page.route("**/api/best", hold_the_first)
    asked, go_on = visit.served.folder / "asked", visit.served.folder / "go"
    slow = visit.served.folder / "slow.sh"
    # What is held is an early text: the run waits for it, and later until it is paused.
    slow.write_text(
        "#!/bin/sh\necho >> $0.log\nchecks=$(wc -l < $0.log)\n"
        f"while test $checks -ge 3 -a ! -e {asked} -o $checks -ge 12 -a ! -e {go_on}\n"
        'do sleep 0.1; done\ngrep -q sext "$1"\n'
    )
    visit.fails(f"{slow} {{}}")
    page.click("#start")
    visit.served.wait(lambda: page.title() and held)
    state = visit.served.api.runs.get(1)
    size = held[0][1].json()["size"]
    asked.touch()
    visit.served.wait(lambda: page.title() and state.state.get("size", size) < size)
    page.click(".run button:has-text('Pause')")
    expect(page.locator(".run[data-status=paused]")).to_be_visible()
    go_on.touch()
    route, old = held[0]
    route.fulfill(response=old)
    expect(page.locator("#facts")).to_contain_text("updating…")
    expect(page.locator("#facts")).to_have_text(
        re.compile(r"^graph.btor · adaptive · \d+ bytes · \d+ lines$")
    )
    expect(page.locator("#facts")).to_contain_text(f" {state.state['size']} bytes")
    page.click(".run button:has-text('Stop')")


def test_a_command_that_hangs_is_named(visit: Visit) -> None:
    page = visit.start()
    visit.open("graph.btor")
    visit.fails(f"{visit.served.folder}/hangs.sh {{}}", "fails")
    page.click("#run")
    expect(page.locator("#pane-console")).to_contain_text(re.compile(r"running for \d+\.\d s"))
    page.click("#pane-console button:has-text('Stop')")
    page.click("#start")
    slow = page.locator(".run .slow")
    expect(slow).to_contain_text(re.compile(r"a check has been running for \d+ s"))
    first = slow.inner_text()
    expect(slow).not_to_have_text(first)  # the clock goes on
    page.click(".run button:has-text('Stop')")


def test_a_server_that_is_gone_is_noticed(browser: Browser, served: Serving) -> None:
    visit = Visit(browser, served)
    (served.folder / "graph.btor").write_text(GRAPH)
    page = visit.start()
    visit.open("graph.btor")
    visit.fails("sleep 0.3 {}", "test")
    page.click("#start")
    page.wait_for_selector(".run[data-status=running]")
    served.server.stop()
    expect(page.locator("#lost")).to_be_visible()
    expect(page.locator("#lost")).to_contain_text("Connection lost")
    expect(page.locator(".run .pill")).to_have_text(re.compile("Lost|Stopped|Failed"))
    expect(page.locator(".run button:has-text('Pause')")).to_have_count(0)
    expect(page).to_have_title(re.compile("connection lost"))
    visit.context.close()


def test_what_will_be_kept_is_said_before(visit: Visit) -> None:
    solver = visit.served.folder / "solver.sh"
    solver.write_text('#!/bin/sh\necho "line 12: bad term" >&2; echo sat; kill -6 $$\n')
    solver.chmod(0o755)
    page = visit.start()
    visit.open("graph.btor")
    visit.fails(f"{solver} {{}}", "fails")
    page.click("#run")
    verdict = page.locator("#verdict")
    expect(verdict).to_contain_text("This is a failure. Reduce will keep: signal SIGABRT")
    page.click("#pane-console .printed:has-text('bad term')")
    expect(page.locator("#match_err")).to_have_value(r"line \d+: bad term")
    page.click("#run")
    expect(verdict).to_contain_text("Reduce will keep: ")
    printed = page.locator("#pane-console pre").first
    expect(printed).to_have_text(re.compile(r"\(signal SIGABRT, [\d.]+ s\)sat"))  # before all else
    solver.write_text('#!/bin/sh\necho "(error \\"line 12: bad term\\")"\nexit 1\n')
    visit.fails(f"{solver} {{}}", "fails")
    page.click("#run")
    page.click("#verdict button:has-text('Keep only this line')")
    expect(page.locator("#kind")).to_have_value("pattern")
    expect(page.locator("#match_out")).to_have_value(r'\(error "line \d+: bad term"\)')
    visit.fails("true {}", "fails")
    page.click("#run")
    expect(verdict).to_contain_text("No failure: exit status 0")


def test_a_reload_comes_back_to_the_run_and_its_step(visit: Visit) -> None:
    page = visit.start()
    visit.reduced()
    expect(page.locator("#facts")).to_have_text("graph.btor · adaptive · 32 bytes · 3 lines")
    page.reload()
    expect(page.locator("#tabs [aria-selected=true]")).to_have_text("graph.btor · adaptive")
    page.click("#steps tr[data-step='1']")
    expect(page.locator("#facts")).not_to_contain_text("32 bytes")
    size = page.inner_text("#facts")
    page.reload()
    expect(page.locator("#steps tr[aria-selected=true]")).to_have_attribute("data-step", "1")
    expect(page.locator("#facts")).to_have_text(size)


def test_the_result_can_be_copied_and_saved(visit: Visit) -> None:
    visit.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = visit.start()
    visit.open("graph.btor")
    visit.fails(TEST)
    page.click("#start")
    page.click("#result[data-what=result] button:has-text('Copy')")
    expect(page.locator("#notes")).to_contain_text("The reduced file was copied")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert "sext" in copied
    assert len(copied) == 32
    page.click("#result button:has-text('Copy issue')")
    expect(page.locator("#notes")).to_contain_text("The issue text was copied")
    assert "Reduced from 322 to 32 bytes" in page.evaluate("navigator.clipboard.readText()")
    page.click("#save")
    page.click("dialog button:has-text('Save')")
    expect(page.locator("dialog")).not_to_be_visible()
    assert (visit.served.folder / "graph.reduced.btor").read_text() == copied
    assert len(visit.served.api.documents.all()) == 1  # nothing else was opened for it


def test_passes_are_switched_off(visit: Visit) -> None:
    page = visit.start()
    visit.open("graph.btor")
    slow = visit.served.folder / "slow.sh"
    slow.write_text('#!/bin/sh\nsleep 1; grep -q sext "$1"\n')  # the run takes few checks
    visit.fails(f"{slow} {{}}")
    page.click("#start")
    page.click(".run .passes summary")
    page.uncheck(".passes input[value='short-cuts']")
    page.wait_for_selector(".run[data-status=done]")
    expect(page.locator(".passes input[value='short-cuts']")).not_to_be_checked()


def test_an_example_needs_no_solver(visit: Visit) -> None:
    page = visit.start()
    page.click("text=Reduce an example")
    page.wait_for_selector(".run[data-status=done]")
    expect(page.locator("#text")).to_contain_text("redxor")
