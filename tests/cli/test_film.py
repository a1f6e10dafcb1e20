"""`report --film`, and the film in a report."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.cli.tool import Tool
from tests.ui.browser import chromium


def reduced(tool: Tool, nodes: int = 80, kept: tuple[str, ...] = ("redxor",)) -> None:
    assert (
        tool("generate", "btor", "--seed", "11", "--nodes", str(nodes), "-o", "in.btor").code == 0
    )
    test = tool.script("test.sh", " && ".join(f'grep -q " {each} " "$1"' for each in kept))
    assert tool("btor", "in.btor", "--oracle", test, "-q").code == 0


def test_the_command(tool: Tool) -> None:
    reduced(tool)
    done = tool("report", "in.reduced.btor", "--film", "film.svg")
    assert (done.code, done.err) == (0, "")
    text = (tool.folder / "film.svg").read_text()
    assert "32 bytes</text>" in text
    assert "<script" not in text
    assert tool("report", "in.reduced.btor", "--film", "film.gif").code == 2
    for other, option in ((["--issue"], "--issue"), (["-o", "x.html"], "-o")):
        done = tool("report", "in.reduced.btor", "--film", "film.svg", *other)
        assert done.code == 2
        assert f"--film and {option} are mutually exclusive: give one" in done.err
    tool.write("in.txt", "a\nb\n" * 40)
    assert tool("text", "in.txt", "--oracle", "grep -q a", "-q").code == 0
    done = tool("report", "in.reduced.txt", "--film", "film.svg")
    assert (done.code, "its format has no graphs" in done.err) == (2, True)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


@pytest.mark.slow
@pytest.mark.debian("chromium")
def test_the_report_moves_and_prints_on_three_pages(tool: Tool, browser: Browser) -> None:
    reduced(tool, 200, ("write", "udiv", "sext", "redor", "cond", "slice"))
    assert len((tool.folder / "in.reduced.btor").read_text().splitlines()) >= 10
    assert tool("report", "in.reduced.btor", "-o", "r.html").code == 0
    page = browser.new_page()
    errors: list[str] = []
    page.on("console", lambda message: errors.append(message.text))
    page.goto((tool.folder / "r.html").as_uri())
    places = "[...document.querySelectorAll('.film [id^=n]')].map(e => e.getBoundingClientRect().x)"
    first = page.evaluate(places)
    page.wait_for_timeout(3000)
    assert page.evaluate(places) != first
    size = page.evaluate("document.querySelector('svg.chart text').getBoundingClientRect().height")
    assert size < 24  # of a label: smaller than a heading
    assert errors == []
    page.emulate_media(media="print")  # no heading is alone at the end of a page
    style = "each => [getComputedStyle(each).breakAfter, getComputedStyle(each).breakInside]"
    assert page.locator("h2").first.evaluate(style)[0] == "avoid"
    assert page.locator("figure").first.evaluate(style)[1] == "avoid"
    printed = page.pdf(format="A4")
    assert 1 <= len(re.findall(rb"/Type\s*/Page\b", printed)) <= 3
    assert str(tool.folder) not in (tool.folder / "r.html").read_text()
    page.close()
