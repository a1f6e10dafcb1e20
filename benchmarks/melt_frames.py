"""Counts the frames in which the page draws the steps of a reduction of a large graph.

`python -m benchmarks.melt_frames [NODES]`, with Debian's Chromium: a random BTOR graph of that many
nodes (2,000) is reduced on the page, and its steps are played. A frame is one redrawing of the
graph, or of the map of its nodes.
"""

from __future__ import annotations

import sys
import tempfile
from itertools import pairwise
from pathlib import Path

from playwright.sync_api import expect

from tests.ui.browser import Visit, chromium
from tests.ui.serving import serving

COUNT = """() => {
  const layer = document.querySelector("#graph > svg > g:not(.ghosts)");
  window.drawn_ = [];
  new MutationObserver(() => window.drawn_.push(
    [performance.now(), Number(document.querySelector("#graph").dataset.nodes)]))
    .observe(layer, { attributeFilter: ["transform"] });
}"""
APART = 250  # milliseconds between two frames of one movement, at most


def main() -> None:
    """Print the counts."""
    nodes = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    expect.set_options(timeout=120_000)
    with (
        tempfile.TemporaryDirectory() as folder,
        serving(Path(folder)) as served,
        chromium() as browser,
    ):
        made = served.ask("generate", format="btor", seed=1, values={"nodes": nodes})
        visit = Visit(browser, served)
        page = visit.start()
        page.wait_for_selector(f"#tabs :text('{made['name']}')")
        visit.fails("grep -q redxor {}")
        page.click("#start")
        expect(page.locator(".run[data-status=done]")).to_have_count(1)
        visit.drawn()
        page.wait_for_selector(".axis .play:visible")
        page.evaluate(COUNT)
        page.click(".axis .play")
        expect(page.locator(".axis .play")).to_have_text("❚❚")
        expect(page.locator(".axis .play")).to_have_text("▶")
        frames = page.evaluate("window.drawn_")
        visit.end()
    for name, least in (("all", 0), ("maps of more than 500 nodes", 501)):
        times = [time for time, drawn in frames if drawn >= least]
        gaps = [b - a for a, b in pairwise(times) if b - a < APART]
        rate = 1000 * len(gaps) / max(1.0, sum(gaps))
        print(f"{name}: {len(times):,} frames, {rate:.0f} a second while something moves")


if __name__ == "__main__":
    main()
