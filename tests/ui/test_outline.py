"""The outline of a text on the page: parts with shares, marked with the text, which is coloured."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.ui.browser import SECONDS, Visit, chromium
from tests.ui.serving import Serving

pytestmark = [pytest.mark.debian("chromium"), pytest.mark.slow, pytest.mark.nightly]
expect.set_options(timeout=SECONDS * 1000)
TEXT = '/* é */\nint f() {\n  x = 1;\n  return 17;\n}\nchar *s = "aé";\n' + "".join(
    f"int g{n}(int a) {{\n  while (a) {{\n    a -= {n};\n    f();\n  }}\n}}\n" for n in range(40)
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


@pytest.mark.parametrize(("theme", "width"), [("light", 1400), ("dark", 390)])
def test_an_outline(browser: Browser, served: Serving, theme: str, width: int) -> None:
    (served.folder / "in.kk").write_text(TEXT)
    size = {"width": width, "height": 844}
    visit = Visit(browser, served, viewport=size, color_scheme=theme)
    page = visit.start()
    visit.open("in.kk")
    rows = page.locator(".outline-tree summary")
    expect(rows.first).to_contain_text("int f() {1.7 %")
    # Parts are as they follow each other, with what is within; the text shows the one chosen.
    # The map has a tile for each part, and one for the rest of a part.
    square = page.locator(".treemap .tiles.inner, .treemap .tiles.other").first
    assert (square.get_attribute("d") or "").count("M") >= 80
    rows.filter(has_text="int g39").click()
    marked = page.locator("#text mark")
    expect(marked.first).to_have_text("int g39(int a) {")
    # A place in the text shows the innermost part there.
    page.locator("#text").evaluate("each => { each.scrollTop = 0; }")
    page.locator("#text .line:has-text('return 17')").click()
    expect(page.locator(".outline-tree .selected")).to_contain_text("return 17;")
    expect(marked).to_have_text("return 17;")
    inks = page.locator("#text .line [class]:not(.no)").evaluate_all(
        "all => all.map(each => [each.className, each.textContent])"
    )
    assert inks[:3] == [["other", "/* é */"], ["inner", "int"], ["constant", "1"]]
    assert ["leaf", '"aé"'] in inks
    assert ["constant", "17"] in inks
    assert visit.complaints() == []
    assert page.evaluate("document.documentElement.scrollWidth") == width
    # It follows a reduction.
    visit.fails("grep -q g39 {}")
    page.click("#start")
    page.wait_for_selector(".run[data-status=done]")
    expect(page.locator(".outline-tree :is(summary, button)")).to_have_count(0)  # one word
    expect(page.locator("#text .line")).to_contain_text(["g39"])
    visit.end()
