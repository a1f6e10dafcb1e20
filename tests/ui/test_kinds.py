"""Kinds of failures that ask for numbers: the page takes them, and says what is left."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.session.test_remains import GOOD_RUN, LOST, QUERY
from tests.ui.browser import SECONDS, Visit, chromium
from tests.ui.serving import Serving

pytestmark = [pytest.mark.debian("chromium", "z3"), pytest.mark.slow, pytest.mark.nightly]
expect.set_options(timeout=SECONDS * 1000)


def reduced(page: Page, checks: int) -> None:
    """Reduce the open text with that many checks."""
    if not page.is_visible("#max_checks"):
        page.click("#limits summary")
    page.fill("#max_checks", str(checks))
    page.click("#start")
    expect(
        page.locator(".run.shown[data-status=done], .run.shown[data-status=stopped]")
    ).to_be_visible()


def test_costs_regressions_and_unstable_queries(served: Serving) -> None:
    (served.folder / "query.smt2").write_text(QUERY)
    with chromium() as browser:
        visit = Visit(browser, served)
        page = visit.start()
        visit.open("query.smt2")
        visit.fails(GOOD_RUN.replace("z3", "z3 -st") + " {}", "cost")
        page.click("#start")
        expect(page.locator("#problem")).to_contain_text("Which counter of the program?")
        page.fill("#cost", "quant-instantiations")
        page.click("#start")
        expect(page.locator("#problem")).to_contain_text("From which number on is it high?")
        page.fill("#at_least", "5")
        page.click("#run")
        expect(page.locator("#verdict")).to_contain_text("✓")
        reduced(page, 2)
        expect(page.locator(".group").first).to_contain_text("keeps: quant-instantiations")
        page.click(".run.shown .left summary")
        rows = page.locator(".run.shown .left tbody tr")
        expect(rows).to_have_text([re.compile("^it increases20"), re.compile("^what is asked21")])

        visit.fails(f"{LOST} {{}}", "regressed")
        assert page.locator("#cost").is_hidden()
        page.click("#start")
        expect(page.locator("#problem")).to_contain_text("Which other program?")
        page.fill("#reference", f"{GOOD_RUN} {{}}")
        reduced(page, 2)
        expect(page.locator(".group").first).to_contain_text("keeps: rlimit-count")

        visit.fails(f"{LOST} smt.random_seed={{seed}} {{}}", "unstable")
        page.click("#start")
        expect(page.locator(".run .problem")).to_contain_text("of 8 runs at least 1 answer")
        visit.end()
