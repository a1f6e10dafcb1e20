"""A real Chromium with the page in it; what must never happen is recorded all the time."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.ui.serving import Serving

SECONDS = 90
"""Until something has to be in the page: much longer than it takes, as machines may be loaded."""
ARGUMENTS = (
    "--no-sandbox",  # root in a container cannot have one
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@contextlib.contextmanager
def chromium() -> Iterator[Browser]:
    """Start Debian's Chromium."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=list(ARGUMENTS)
        )
        try:
            yield browser
        finally:
            browser.close()


class Visit:
    """The page of a server, as somebody uses it."""

    def __init__(self, browser: Browser, served: Serving, **context: Any) -> None:
        self.served = served
        self.origin = served.server.url.partition("/#")[0]
        self.errors: list[str] = []
        self.requests: list[str] = []
        settings: dict[str, Any] = {"viewport": {"width": 1280, "height": 800}, **context}
        self.context = browser.new_context(accept_downloads=True, **settings)
        self.page: Page = self.context.new_page()
        self.page.set_default_timeout(SECONDS * 1000)
        self.page.on("console", self._said)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))

    def _said(self, message: Any) -> None:
        # A request that is refused on purpose is noted by the browser; we show it ourselves.
        refused = any(f"status of {status}" in message.text for status in (400, 403, 501))
        if message.type in ("error", "warning") and not refused:
            self.errors.append(message.text)

    def start(self, url: str = "") -> Page:
        """Go to the start address."""
        self.page.goto(url or self.served.server.url)
        return self.page

    def open(self, name: str) -> None:
        """Open a file by the dialog."""
        self.page.click("#open")
        self.page.click(f"dialog .files button:has-text('{name}')")
        self.page.wait_for_selector(f"#tabs [aria-selected=true]:has-text('{name}')")
        self.page.wait_for_selector("#dialog", state="hidden")  # no key goes elsewhere before

    def fails(self, command: str, kind: str = "test") -> None:
        """Type what fails."""
        if self.page.is_visible("#change"):
            self.page.click("#change")
        self.page.select_option("#kind", kind)
        self.page.fill("#command", command)

    def algorithms(self, *names: str) -> None:
        """Choose algorithms."""
        self.page.click("#algorithm summary")
        for box in self.page.query_selector_all("[name=strategy]"):
            if box.is_checked() != (box.get_attribute("value") in names):
                box.click()

    def reduced(self, *strategies: str) -> None:
        """Reduce the graph by algorithms, or by the one that is chosen, to the end."""
        self.open("graph.btor")
        self.fails("grep -q sext {}")
        if strategies:
            self.algorithms(*strategies)
        self.page.click("#start")
        expect(self.page.locator(".run[data-status=done]")).to_have_count(len(strategies) or 1)

    def drawn(self, nodes: int | None = None) -> None:
        """Wait until a graph is drawn, of that many nodes."""
        count = "" if nodes is None else f'="{nodes}"'
        self.page.wait_for_selector(f"#graph[data-nodes{count}]")

    def complaints(self) -> list[str]:
        """Return what axe finds, of any impact, once nothing fades any more."""
        expect(self.page.locator(".melting, .ghosts")).to_have_count(0)
        found = Axe().run(self.page).response["violations"]
        return [
            f"{each['id']}: {node['html'][:200]} {node['failureSummary'][:300]}"
            for each in found
            for node in each["nodes"]
        ]

    def end(self) -> None:
        """Close the page; what must never happen has not."""
        self.context.close()
        assert self.errors == [], self.errors
        away = [
            url for url in self.requests if not url.startswith((self.origin, f"blob:{self.origin}"))
        ]
        assert away == []

    def picture(self, folder: Path, name: str) -> None:
        """Take a picture, for people to look at."""
        self.page.screenshot(path=folder / f"{name}.png")
