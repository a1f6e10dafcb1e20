"""Makes the pictures of terminal and page in README and docs: `make captures`, from real runs.

The terminal is tmux's at 80 and 200 columns, the page is in Debian's Chromium.
"""

from __future__ import annotations

import io
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.text import Text

from tests.ui.browser import Visit, chromium
from tests.ui.serving import serving

DOCS = Path(__file__).parent
CHECKOUT = DOCS.parent
REDUCEKIT = [sys.executable, "-m", "reducekit"]
FAULTY = """#!/bin/sh
# Stands for a solver with a bug in its rewriting of writes below reductions.
sleep 0.02
grep -q write "$1" && grep -q redxor "$1" || exit 0
echo "faulty: rewrite.c:812: Assertion failed" >&2
kill -6 $$
"""
_PATIENCE = 120  # seconds


def until(holds: Callable[[], object]) -> None:
    """Wait until something holds."""
    end = time.monotonic() + _PATIENCE
    while not holds():
        if time.monotonic() > end:
            raise TimeoutError
        time.sleep(0.2)


def faulty(folder: Path) -> Path:
    """Write the solver that fails."""
    path = folder / "faulty.sh"
    path.write_text(FAULTY)
    path.chmod(0o755)
    return path


def terminal(columns: int, *, colours: bool = False) -> str:
    """Return what a terminal of that width shows during a reduction."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        faulty(folder)
        text = [*REDUCEKIT, "generate", "btor", "--seed", "11", "--nodes", "3000"]
        subprocess.run([*text, "-o", str(folder / "random.btor")], check=True)
        tmux = ["tmux", "-L", f"captures-{columns}", "-f", "/dev/null"]
        line = f"{' '.join(REDUCEKIT)} btor random.btor --cmd './faulty.sh {{}}'; sleep 60"
        size = ["-x", str(columns), "-y", "9"]
        subprocess.run([*tmux, "new-session", "-d", *size, "-c", name, line], check=True)

        def shown() -> str:
            show = [*tmux, "capture-pane", "-p", *(["-e"] if colours else [])]
            return subprocess.run(show, capture_output=True, text=True, check=True).stdout

        try:
            accepted = re.compile(r"(\d+) accepted")
            until(lambda: (found := accepted.search(shown())) and int(found[1]) >= 7)
            return shown().rstrip()
        finally:
            subprocess.run([*tmux, "kill-server"], check=True)


def picture(columns: int) -> str:
    """Return a terminal of that width during a reduction, in colour, as SVG."""
    console = Console(width=columns, record=True, file=io.StringIO(), force_terminal=True)
    console.print(Text.from_ansi(terminal(columns, colours=True)))
    svg = console.export_svg(
        title="reducekit btor random.btor --cmd './faulty.sh {}'", unique_id="t"
    )
    # The fonts of the viewer: a page without network shows these, too.
    return re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)


def page() -> None:
    """Make the pictures of the page, by the steps that `ui.md` describes."""
    with (
        tempfile.TemporaryDirectory() as name,
        serving(Path(name)) as served,
        chromium() as browser,
    ):
        solver = faulty(served.folder)
        visit = Visit(browser, served)
        shown = visit.start()
        shown.click("#empty-generate")
        shown.fill("dialog [data-option=nodes]", "300")
        shown.fill("dialog [data-name=seed]", "11")
        visit.picture(DOCS, "ui-generate")
        shown.click("dialog button:has-text('Generate')")
        visit.drawn()
        visit.fails(f"{solver} {{}}", "fails")
        visit.algorithms("adaptive", "ddmin", "changeref+", "hdd")
        shown.click("#start")
        until(lambda: "adaptive" in shown.inner_text("#tabs"))
        until(lambda: int(shown.get_attribute("#graph", "data-nodes") or 999) < 40)
        visit.picture(DOCS, "ui-race")
        until(lambda: shown.locator(".run[data-status=done]").count() == 4)
        shown.select_option("#theme", "dark")
        shown.click("#tab-steps")
        shown.wait_for_selector("#pane-steps pre .minus")
        visit.picture(DOCS, "ui-steps")
        visit.end()
    for each in ("generate", "race", "steps"):
        shrink(DOCS / f"ui-{each}.png")


def shrink(path: Path) -> None:
    """Write a picture with 64 colors, which takes a third of the bytes."""
    program = shutil.which("pngquant")
    if program is None:
        sys.exit("captures need pngquant: apt-get install pngquant")
    subprocess.run([program, "--force", "--output", str(path), "64", str(path)], check=True)


def main() -> None:
    """Make all captures."""
    text = (DOCS / "ui.md").read_text()
    before, heading, rest = text.partition("At 80 columns, and at 200:\n\n")
    _, _, _, _, after = rest.split("```", 4)
    shown = "\n\n".join(f"```\n{terminal(columns)}\n```" for columns in (80, 200))
    (DOCS / "ui.md").write_text(before + heading + shown + after)
    (DOCS / "terminal.svg").write_text(picture(100))
    page()


if __name__ == "__main__":
    main()
