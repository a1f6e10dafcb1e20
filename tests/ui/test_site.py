"""The documentation as a site, and what a notebook shows, in a browser."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.session.test_report import made
from tests.ui.browser import SECONDS, chromium

pytestmark = [pytest.mark.debian("chromium"), pytest.mark.slow, pytest.mark.nightly]
expect.set_options(timeout=SECONDS * 1000)
ROOT = Path(__file__).parents[2]
READ = "docs/index.md,docs/tutorial.md,docs/cnf.md,docs/cli/show.md,docs/cli/report.md"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


def test_commands_of_the_site_are_copied_as_they_are(browser: Browser, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "sphinx", "-q", "-c", "docs", "-D", f"include_patterns={READ}"]
    subprocess.run([*command, "-d", tmp_path / "trees", ".", tmp_path], cwd=ROOT, check=True)
    page = browser.new_page()
    for name, option in (("show", "--output"), ("report", "--film")):
        page.goto((tmp_path / f"docs/cli/{name}.html").as_uri())
        said = page.inner_text("article")
        assert option in said
        assert "\N{EN DASH}" not in said
    for name, blocks in (("index", 2), ("tutorial", 12), ("cnf", 0)):
        page.goto((tmp_path / f"docs/{name}.html").as_uri())
        expect(page.locator(".copybtn")).not_to_have_count(0)
        assert page.locator(".highlight-console").count() >= blocks
    page.goto((tmp_path / "docs/index.html").as_uri())
    assert page.locator(".sd-card").count() == 6
    assert page.locator("article img").count() == 1
    assert page.locator("article").bounding_box()["height"] < 2500  # type: ignore[index]
    page.close()


def test_a_notebook_shows_no_empty_box(browser: Browser) -> None:
    page = browser.new_page()
    page.set_content(made()._repr_html_())
    assert page.locator("pre").count() >= 1
    assert all(words.strip() for words in page.locator("pre").all_inner_texts())
    page.close()
