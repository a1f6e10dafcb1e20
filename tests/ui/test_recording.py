"""The recording in the README: it plays in a browser, and stands still for who wants no motion."""

from __future__ import annotations

from pathlib import Path

import pytest

from docs.animation import Screen, animation
from tests.ui.browser import chromium

README = Path(__file__).parents[2] / "README.md"
RECORDING = README.parent / "docs" / "terminal.svg"
SCREENS = [
    Screen(0.0, ["\x1b[1;34mname", "\x1b[0m100 bytes", "", "\x1b[7mkeys\x1b[0m"]),
    Screen(1.0, ["\x1b[1;34mname", "7 <b> bytes", "", "\x1b[0;7mkeys\x1b[0m"]),
    Screen(2.5, ["done", "7 <b> bytes"]),
]
VISIBLE = """milliseconds => {
    for (const each of document.getAnimations()) { each.pause(); each.currentTime = milliseconds }
    return [...document.querySelectorAll('use')]
        .filter(each => getComputedStyle(each).visibility === 'visible')
        .map(each => document.querySelector(each.getAttribute('href')).textContent)
}"""


@pytest.mark.debian("chromium")
def test_it_shows_each_screen_in_its_time() -> None:
    drawn = animation(SCREENS, 20, "reducekit --tui")
    assert drawn.count("<g id=") == 6  # each line once, and the second in two colours
    assert drawn.count("font-weight: bold") == 1
    with chromium() as browser:
        page = browser.new_page()
        page.set_content(drawn)
        for now, shown in (
            (500, ["name", "100 bytes", "keys"]),
            (1500, ["name", "7 <b> bytes", "keys"]),
            (6000, ["done", "7 <b> bytes"]),
        ):
            assert sorted(page.evaluate(VISIBLE, now)) == sorted(shown)
        page.emulate_media(reduced_motion="reduce")
        assert page.evaluate("document.getAnimations().length") == 0
        assert page.evaluate(VISIBLE, 0) == ["done", "7 <b> bytes"]


@pytest.mark.debian("chromium")
def test_the_one_in_the_readme_is_small_and_ends_with_the_result() -> None:
    assert "](docs/terminal.svg)" in README.read_text("utf-8")
    assert RECORDING.stat().st_size <= 150_000
    with chromium() as browser:
        page = browser.new_page()
        page.set_content(RECORDING.read_text("utf-8"))
        begin, end = (page.evaluate(VISIBLE, now) for now in (100, 19_000))
    assert any("Running" in line for line in begin)
    assert "$ cat random.reduced.btor" in end
    assert len(end) > 12
