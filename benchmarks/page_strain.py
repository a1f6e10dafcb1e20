"""Measures how soon the page says something where it is strained, in a real Chromium.

`python -m benchmarks.page_strain > benchmarks/results/page_strain.md`, with Debian's Chromium

Seconds from the action to the first word or picture, medians of three; the aims are 1 s for a word
on what is going on and 2 s for the first picture of a graph. The machine should be idle.
"""

from __future__ import annotations

import argparse
import socket
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import NamedTuple

from playwright.sync_api import Browser, expect

from tests.ui.browser import SECONDS, Visit, chromium
from tests.ui.serving import Serving, serving

_RUNS = 3
_TABS, _CONNECTIONS, _LINES, _NODES = 20, 200, 650_000, 20_000
Strain = Callable[[Browser, Serving], float]


class Row(NamedTuple):
    """What strains the page, what is waited for, and for how many seconds it may be."""

    name: str
    sign: str
    aim: float
    measure: Strain


def many_tabs(browser: Browser, served: Serving) -> float:
    """Run a command in the last of many tabs, beside connections that send nothing."""
    (served.folder / "graph.btor").write_text("1 var 8\n2 redor 1 1\n3 root 1 2\n")
    visit = Visit(browser, served)
    page = visit.start()
    visit.open("graph.btor")
    port = served.server.server_address[1]
    idle = [socket.create_connection(("127.0.0.1", port)) for _ in range(_CONNECTIONS)]
    for _ in range(_TABS - 1):
        page = visit.context.new_page()
        page.goto(served.server.url)
    expect(page.locator("#tabs [aria-selected=true]")).to_have_text("graph.btor")
    page.fill("#command", "grep -c var {}")
    begin = time.monotonic()
    page.click("#run")
    expect(page.locator("#pane-console")).to_contain_text("grep -c")
    taken = time.monotonic() - begin
    for each in idle:
        each.close()
    visit.context.close()
    return taken


def lost_server(browser: Browser, served: Serving) -> float:
    """End the server below an open page."""
    visit = Visit(browser, served)
    page = visit.start()
    begin = time.monotonic()
    served.server.stop()
    expect(page.locator("#lost")).to_contain_text("Connection lost")
    taken = time.monotonic() - begin
    visit.context.close()
    return taken


def _opened(text: str, name: str, sign: str) -> Strain:
    """Return what opens a text, and waits until an element is there."""

    def measure(browser: Browser, served: Serving) -> float:
        (served.folder / name).write_text(text)
        visit = Visit(browser, served)
        page = visit.start()
        page.click("#open")
        begin = time.monotonic()
        page.click(f"dialog .files button:has-text('{name}')")
        page.wait_for_selector(sign)
        taken = time.monotonic() - begin
        visit.context.close()
        return taken

    return measure


def _large_script() -> str:
    lines = (f"(assert (= (bvadd x{n} #x00000001) #x{n:08x}))" for n in range(_LINES))
    return "\n".join(["(set-logic QF_BV)", *lines, ""])


def _large_graph() -> str:
    lines = [f"{n} add 8 {n - 1} {max(1, n // 2)}" for n in range(2, _NODES)]
    return "\n".join(["1 var 8", *lines, f"{_NODES} root 8 {_NODES - 1}", ""])


def main() -> None:
    """Print the table."""
    argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0]).parse_args()
    expect.set_options(timeout=SECONDS * 1000)
    rows = (
        Row(f"{_TABS} tabs, {_CONNECTIONS} connections", "the console names the run", 1, many_tabs),
        Row("the server ends", "the page says so", 1, lost_server),
        Row("30 MB are opened", "the dialog says so", 1,
            _opened(_large_script(), "large.smt2", "dialog :text('Opening large.smt2')")),
        Row("30 MB are opened", "the first line", 2,
            _opened(_large_script(), "large.smt2", "#text :text('set-logic')")),
        Row(f"{_NODES:,} nodes are opened", "the first node is drawn", 2,
            _opened(_large_graph(), "large.btor", "#graph .node")),
    )  # fmt: skip
    print((__doc__ or "").rstrip())
    print("\n| strain | sign | aim, s | s |\n|---|---|--:|--:|")
    for row in rows:
        times = []
        for _ in range(_RUNS):
            with (
                tempfile.TemporaryDirectory() as folder,
                serving(Path(folder)) as served,
                chromium() as browser,
            ):
                times.append(row.measure(browser, served))
        print(f"| {row.name} | {row.sign} | {row.aim:g} | {median(times):.2f} |", flush=True)


if __name__ == "__main__":
    main()
