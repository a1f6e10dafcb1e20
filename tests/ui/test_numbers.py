"""Panel, report and issue text say the same of a run, and of one that goes on."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.ui.browser import SECONDS, Visit, chromium
from tests.ui.serving import Serving
from tests.ui.test_page import GRAPH, SLOW

pytestmark = [pytest.mark.debian("chromium"), pytest.mark.slow, pytest.mark.nightly]
expect.set_options(timeout=SECONDS * 1000)


def test_a_stopped_run_and_one_that_goes_on_from_it(served: Serving) -> None:
    (served.folder / "graph.btor").write_text(GRAPH)
    slow = served.folder / "slow.sh"
    slow.write_text(SLOW)
    slow.chmod(0o755)
    with chromium() as browser:
        visit = Visit(browser, served)
        page = visit.start()
        visit.open("graph.btor")
        visit.fails(f"{slow} {{}}")
        page.click("#start")
        expect(page.locator(".run")).to_be_visible()  # the request has been answered
        served.wait(lambda: served.api.runs.get(1).state.get("accepted", 0) > 1)
        page.click(".run button:has-text('Stop')")
        expect(page.locator(".run[data-status=stopped]")).to_be_visible()
        issue, report = (served.ask("report", run=1, text=each)["text"] for each in ("issue", "x"))
        size = len(served.api.best(1, diagram=False)["text"])
        checks = re.search(r"\((\d+) checks\)", issue)
        assert checks is not None
        assert f"Reduced from 322 to {size} bytes" in issue
        assert f"<li><b>{checks[1]}</b>checks</li>" in report
        assert "Stopped." in report
        assert "topped: stopped" not in report + page.inner_text("body")
        card = page.locator(".run .facts").first
        expect(card).to_contain_text(re.compile(rf"^{checks[1]} checks"))
        expect(page.locator(".run .size")).to_have_text(str(size))
        # A run from a step of it still tells what the file was.
        page.click("#steps tr[data-step='1']")
        page.click("text=Go on from here")
        expect(page.locator(".run[data-status=done]")).to_be_visible()
        expect(page.locator("#result .story")).to_have_text("322 → 32 bytes")
        expect(page.locator(".run.shown .figures")).to_contain_text("bytes of 322 · 90 % removed")
        assert "Reduced from 322 to 32 bytes" in served.ask("report", run=2, text="issue")["text"]
        assert "322 → 32 bytes" in served.ask("report", run=2, text="x")["text"]
        visit.end()
